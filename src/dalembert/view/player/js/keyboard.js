// Keys, where a control has no use of its own for them.

const KEYS = [
  ["Space", "play or pause"], ["← →", "back and forth, with Shift further"], ["Home, End", "first and last moment"],
  ["E, Shift+E", "next event, the one before"], ["F", "forces"], ["W A S D", "turn the drawing"],
  ["+ −", "larger, smaller"], ["R", "reset the view"],
];

function pressed(player, event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const kind = event.target.tagName;
  const own = { INPUT: /^(Arrow|Home|End|Page)/, SELECT: /./, BUTTON: /^( |Enter)$/, SUMMARY: /^( |Enter)$/,
    TEXTAREA: /./ }[kind];
  if (own?.test(event.key) || event.target.isContentEditable) return;
  const { clock, timeline } = player;
  const step = (clock.end - clock.start) * (event.shiftKey ? 0.1 : 0.01);
  const go = (time) => {
    clock.pause();
    clock.seek(time);
  };
  const turn = (x, y) => player.views.forEach((view) => view.camera.orbit(x, y));
  const zoom = (factor) => player.views.forEach((view) => view.camera.magnify(factor));
  const actions = {
    " ": () => clock.toggle(),
    arrowleft: () => go(clock.time - step),
    arrowright: () => go(clock.time + step),
    home: () => go(clock.start),
    end: () => go(clock.end),
    e: () => timeline.jump(event.shiftKey ? -1 : 1),
    f: () => player.setForces(!player.forces),
    r: () => player.resetViews(),
    a: () => turn(-12, 0), d: () => turn(12, 0), w: () => turn(0, 12), s: () => turn(0, -12),
    "+": () => zoom(1.15), "=": () => zoom(1.15), "-": () => zoom(1 / 1.15),
  };
  const action = actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
  player.redraw();
}

function keysHelp() {
  const rows = KEYS.map(([keys, meaning]) =>
    element("div", {}, element("dt", {}, element("kbd", { text: keys })), element("dd", { text: meaning })));
  return element("details", { class: "keys" }, element("summary", { text: "Keys" }), element("dl", {}, ...rows));
}
