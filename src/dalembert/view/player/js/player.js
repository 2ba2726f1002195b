// A player: scenes side by side, controls and plots, all at the time of one clock. All players of a page share one
// renderer and are redrawn together, and only when something has changed.

const players = new Set();
let pending = 0;
let shared = null;

function renderer() {
  shared ??= new Renderer();
  return shared;
}

function wake() {
  pending ||= requestAnimationFrame((now) => {
    pending = 0;
    for (const player of players) player.tick(now);
    if ([...players].some((player) => player.clock.playing)) wake();
  });
}

function redrawAll() {
  for (const player of players) player.redraw();
}

class Player {
  constructor(root) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    this.root = root;
    this.data = { ...data, scenes: data.scenes.map(unpackScene), panels: data.panels.map(unpackPanel) };
    this.clock = new Clock(data.start, data.end, data.speed);
    this.forces = true;
    this.changed = true;
    this.printing = false;
    this.inSight = true;
    this.views = this.data.scenes.map((scene) => new View(this, scene));
    this.timeline = new Timeline(this);
    this.plots = this.data.panels.map((panel) => new Plot(this, panel));
    this.spoken = element("p", { class: "spoken", "aria-live": "polite" });
    this.build();
    this.clock.listeners.push(() => this.redraw());
    players.add(this);
    this.listen();
    this.setRepeat(Boolean(data.repeat));
    if (data.autoplay && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.clock.play();
    this.redraw();
  }

  build() {
    const scenes = element("div", { class: "scenes" }, ...this.views.map((view) => view.element));
    const drawn = this.views.length ? scenes : null;
    const main = element("div", { class: "main" }, drawn, this.timeline.element, keysHelp());
    const plots = element("div", { class: "plots" }, ...this.plots.map((plot) => plot.element));
    this.body = element("div", { class: "body" }, main, this.plots.length ? plots : null, this.spoken);
    this.body.classList.toggle("beside", this.views.length === 1 && this.plots.length > 0);
    this.root.append(this.body);
  }

  listen() {
    const keys = this.data.inside ? this.root : document;
    keys.addEventListener("keydown", (event) => pressed(this, event));
    new ResizeObserver(() => this.redraw()).observe(this.root);
    new IntersectionObserver((entries) => {
      this.inSight = entries[entries.length - 1].isIntersecting;
      this.redraw();
    }).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  // On paper: light, at the moment that is shown.
  print(printing) {
    this.printing = printing;
    this.root.classList.toggle("printing", printing);
    this.render();
  }

  redraw() {
    this.changed = true;
    wake();
  }

  tick(now) {
    this.clock.advance(now);
    if (!this.inSight || !(this.changed || this.clock.playing)) return;
    this.render();
  }

  render() {
    this.changed = false;
    const theme = themeOf(this.root, this.printing, this.data.palette);
    for (const view of this.views) view.draw(this.clock.time, theme);
    this.timeline.show(theme);
    for (const plot of this.plots) plot.show(this.clock.time, theme);
  }

  setForces(shown) {
    this.forces = shown;
    this.timeline.forces.setAttribute("aria-pressed", String(shown));
    this.redraw();
  }

  setRepeat(on) {
    this.clock.repeat = on;
    this.timeline.repeat.setAttribute("aria-pressed", String(on));
  }

  resetViews() {
    for (const view of this.views) view.reset();
  }

  say(text) {
    this.spoken.textContent = text;
  }
}

function begin() {
  for (const root of document.querySelectorAll(".dalembert-player")) root.dalembert ??= new Player(root);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
