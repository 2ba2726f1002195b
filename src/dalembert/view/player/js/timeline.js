// The row of controls: play, the time with marks of events, speed, forces, view.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const STEPS = 1000;

class Timeline {
  constructor(player) {
    const { clock, data } = player;
    Object.assign(this, { player, clock });
    this.events = data.scenes.flatMap((scene) => scene.events).sort((a, b) => a.time - b.time);
    this.play = element("button", { type: "button", class: "play" });
    this.slider = element("input", { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": "Time" });
    this.marks = element("canvas", { class: "marks", "aria-hidden": "true" });
    this.readout = element("output", { class: "time" });
    this.speed = this.speeds(data.speed);
    this.forces = element("button", { type: "button", "aria-pressed": "true", text: "Forces" });
    this.repeat = element("button", { type: "button", "aria-pressed": "false", text: "Repeat" });
    this.home = element("button", { type: "button", text: "Reset view" });
    const hasForces = data.scenes.some((scene) => scene.shapes.some(isForce));
    const track = element("div", { class: "track" }, this.slider, this.marks);
    const last = element("div", { class: "choices" }, element("label", { class: "speed" }, "Speed ", this.speed),
      this.repeat, hasForces ? this.forces : null, data.scenes.length ? this.home : null);
    this.element = element("div", { class: "controls", role: "group", "aria-label": "Playback" },
      this.play, track, this.readout, last);
    this.listen();
  }

  speeds(chosen) {
    const far = chosen > 4 || chosen < 0.1;
    const all = far ? SPEEDS.map((one) => one * chosen) : [...new Set([...SPEEDS, chosen])].sort((a, b) => a - b);
    const options = all.map((one) => element("option", { value: String(one), text: `${numberText(one, 3)}×` }));
    const list = element("select", {}, ...options);
    list.value = String(all.find((one) => Math.abs(one - chosen) < 1e-9 * chosen));
    return list;
  }

  listen() {
    const { clock, player } = this;
    this.play.addEventListener("click", () => clock.toggle());
    this.slider.addEventListener("input", () => {
      clock.pause();
      clock.seek(clock.start + (Number(this.slider.value) / STEPS) * (clock.end - clock.start));
    });
    this.speed.addEventListener("change", () => {
      clock.speed = Number(this.speed.value);
      player.redraw();
    });
    this.repeat.addEventListener("click", () => player.setRepeat(!clock.repeat));
    this.forces.addEventListener("click", () => player.setForces(!player.forces));
    this.home.addEventListener("click", () => player.resetViews());
  }

  // What the clock says, in every control.
  show(theme) {
    const { clock, player } = this;
    const span = clock.end - clock.start || 1;
    this.slider.value = String(((clock.time - clock.start) / span) * STEPS);
    const unitText = player.data.unit ? ` ${player.data.unit}` : "";
    const text = (time) => tickText(time, this.fine);
    const now = `${text(clock.time)}${unitText}`;
    this.slider.setAttribute("aria-valuetext", now);
    const whole = `${text(clock.time)} / ${text(clock.end)}${unitText}`;
    if (this.readout.textContent !== whole) this.readout.textContent = whole;
    const wanted = clock.playing ? "pause" : "play";
    if (this.play.dataset.shows !== wanted) {
      this.play.dataset.shows = wanted;
      this.play.replaceChildren(symbol(wanted));
      this.play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    }
    if (fitCanvas(this.marks) || this.marked !== theme.name) this.mark(theme);
  }

  get fine() {
    return roundStep((this.clock.end - this.clock.start) / 500);
  }

  mark(theme) {
    this.marked = theme.name;
    const { width, height } = this.marks;
    const context = this.marks.getContext("2d");
    const span = this.clock.end - this.clock.start || 1;
    context.clearRect(0, 0, width, height);
    for (const event of this.events) {
      context.fillStyle = event.kind === "impact" ? theme.role("nonideal") : theme.role("impressed");
      const x = ((event.time - this.clock.start) / span) * width;
      context.fillRect(Math.round(clamp(x, 1, width - 1)) - 1, 0, Math.max(2, width / 600), height);
    }
  }

  // The event after this moment, or before it.
  jump(direction) {
    const { clock } = this;
    const apart = 1e-6 * (clock.end - clock.start);
    const found = direction > 0
      ? this.events.find((event) => event.time > clock.time + apart)
      : this.events.findLast((event) => event.time < clock.time - apart);
    if (!found) return;
    clock.pause();
    clock.seek(found.time);
    this.player.say(found.name);
  }
}
