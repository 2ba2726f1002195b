// One scene on the page: its canvas, camera, labels and flashes, and what pointers do to it.

const FLASH_SECONDS = 0.6; // of the viewer's time
const NO_WEBGL = "This browser shows no WebGL 2, which the drawing needs. Plots and times work without it.";

class View {
  constructor(player, scene) {
    Object.assign(this, { player, scene });
    this.camera = new Camera(scene.dimensions === 2, outlineOf(scene));
    const turning = scene.dimensions === 2 ? "" : " Drag to turn it.";
    const label = `Drawing of ${scene.name}.${turning}`;
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": label });
    this.labels = element("div", { class: "labels", "aria-hidden": "true" });
    this.event = element("div", { class: "event", "aria-hidden": "true" });
    this.frame = element("div", { class: "view" }, this.canvas, this.labels, this.event);
    this.element = element("figure", { class: "scene" },
      player.data.scenes.length > 1 ? element("figcaption", { text: scene.name }) : null, this.frame, this.legend());
    this.texts = new Map();
    this.pointers = new Map();
    this.listen();
    if (!renderer().gl) this.frame.append(element("p", { class: "missing", role: "alert", text: NO_WEBGL }));
  }

  // Which colours of arrows mean what; nothing where no forces are drawn.
  legend() {
    const drawn = new Set(this.scene.shapes.filter(isForce).map((shape) => shape.role));
    const roles = FORCE_ROLES.filter((role) => drawn.has(role));
    const words = { impressed: "impressed forces", ideal: "ideal constraint forces",
      nonideal: "nonideal constraint forces", contact: "friction cones" };
    const entries = roles.map((role) =>
      element("li", {}, element("span", { class: `swatch ${role}`, "aria-hidden": "true" }), words[role]));
    if (this.scene.note) entries.push(element("li", { text: this.scene.note }));
    this.forces = element("ul", { class: "legend" }, ...entries);
    return entries.length ? this.forces : null;
  }

  draw(time, theme) {
    fitCanvas(this.canvas);
    if (!renderer().gl || renderer().lost) return;
    const width = 2.4 * pixelRatio(this.canvas);
    const drawing = drawingAt(this.scene, time, { theme, camera: this.camera, forces: this.player.forces, width });
    this.flash(drawing, time, theme, width);
    renderer().draw(this.canvas, drawing, this.camera, theme.background);
    this.write(drawing.labels);
  }

  // Events of a moment ago: a ring that widens where it happened, the frame where that is not known, and its name.
  flash(drawing, time, theme, width) {
    const lasting = FLASH_SECONDS * this.player.clock.speed;
    const recent = this.scene.events.filter((event) => time >= event.time && time - event.time < lasting).slice(-20);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const event of recent) {
      if (!event.position || calm) continue;
      const age = (time - event.time) / lasting;
      const colour = between(rgb(theme.role("nonideal")), theme.background, age);
      drawing.ring(event.position, this.camera.axes, 0.04 + 0.16 * age, colour, 1.6 * width * (1 - 0.6 * age));
    }
    const names = [...new Set(recent.map((event) => event.name).filter(Boolean))];
    const text = names.slice(-3).join(", ");
    if (this.event.textContent !== text) this.event.textContent = text;
    this.frame.classList.toggle("flashing", recent.some((event) => !event.position) && !calm);
  }

  write(labels) {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const { view, projection } = this.camera.matrices(width / height);
    const both = product(projection, view);
    const shown = new Set();
    for (const { shape, at } of labels) {
      const [x, y, , w] = onto(both, at);
      if (!(w > 0)) continue;
      if (!this.texts.has(shape)) {
        this.texts.set(shape, element("span", { text: shape.label }));
        this.labels.append(this.texts.get(shape));
      }
      const left = clamp((0.5 + x / w / 2) * width, 0, width - 30); // at the edge rather than beyond it
      const top = clamp((0.5 - y / w / 2) * height, 24, height);
      this.texts.get(shape).style.transform = `translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
      shown.add(shape);
    }
    for (const [shape, text] of this.texts) text.hidden = !shown.has(shape);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    canvas.addEventListener("wheel", (event) => {
      // In a longer page the wheel scrolls, unless this drawing was chosen before.
      if (this.player.data.inside && !event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.camera.magnify(Math.exp(-clamp(event.deltaY, -200, 200) * 0.0015));
      this.player.redraw();
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.reset());
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.pointers.set(event.pointerId, now);
    if (this.pointers.size === 2) { // two fingers: apart and together, and along
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const spread = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.camera.magnify(spread(now) / Math.max(1, spread(before)));
      this.camera.pan(dx / 2, dy / 2, height, width / height);
    } else if (this.camera.flat || event.shiftKey || event.buttons > 1) {
      this.camera.pan(dx, dy, height, width / height);
    } else this.camera.orbit(dx, dy);
    this.player.redraw();
  }

  reset() {
    this.camera.reset();
    this.player.redraw();
  }
}
