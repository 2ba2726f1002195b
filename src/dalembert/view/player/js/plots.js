// A panel of curves. What stays is drawn once; the cursor moves on a second canvas above it.

const MARKERS = ["points", "start", "end"];
const SWATCHES = { points: "dot", start: "ring", end: "square", impressed: "dotted", nonideal: "dashed",
  other: "dashed", ghost: "dashed", limit: "dashed" };
const MARGIN = { left: 62, right: 12, top: 8, bottom: 38 };

class Plot {
  constructor(player, panel) {
    Object.assign(this, { player, panel });
    this.back = element("canvas", { role: "img", "aria-label": `Plot: ${panel.title}` });
    this.front = element("canvas", { class: "cursor", "aria-hidden": "true" });
    this.values = [];
    const legend = element("ul", { class: "legend" });
    panel.curves.forEach((curve) => {
      const value = element("span", { class: "value" });
      this.values.push(value);
      if (!curve.label) return;
      const swatch = element("span", { class: `swatch ${SWATCHES[curve.role] ?? ""}`, "aria-hidden": "true" });
      legend.append(element("li", {}, swatch, `${curve.label} `, value));
    });
    this.legend = legend;
    const body = panel.text
      ? element("p", { class: "nothing", text: panel.text })
      : element("div", { class: "plot" }, this.back, this.front);
    this.element = element("figure", { class: "panel" }, element("figcaption", { text: panel.title }), legend, body);
    if (panel.rows?.length) body.style.height = `${46 + 34 * panel.rows.length}px`;
    if (!panel.text) this.listen();
  }

  colour(curve, theme) {
    if (curve.role === "limit") return theme.faint;
    return curve.hue < 0 ? theme.text : theme.curve(curve.hue);
  }

  layout() {
    const { panel } = this;
    const ratio = pixelRatio(this.back);
    const edge = Object.fromEntries(Object.entries(MARGIN).map(([name, value]) => [name, value * ratio]));
    const { width, height } = this.back;
    const { start, end } = this.player.clock;
    const xs = panel.over_time ? [start, end > start ? end : start + 1]
      : withRoom(limitsOf(panel.curves.map((curve) => curve.x), false) ?? [0, 1], false);
    const rows = panel.rows ?? [];
    const values = limitsOf(panel.curves.map((curve) => curve.y), panel.log) ?? (panel.log ? [0.1, 1] : [0, 1]);
    const ys = rows.length ? [rows.length, 0] : withRoom(values, panel.log);
    this.x = new Scale(xs, edge.left, width - edge.right);
    this.y = new Scale(ys, height - edge.bottom, edge.top, panel.log);
    if (panel.equal) sameScale(this.x, this.y);
    this.ratio = ratio;
  }

  // The part that does not change with time.
  draw(theme) {
    this.theme = theme;
    this.layout();
    const { panel, ratio, x, y } = this;
    const context = this.back.getContext("2d");
    context.clearRect(0, 0, this.back.width, this.back.height);
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    this.axes(context, theme);
    context.save();
    context.beginPath();
    context.rect(x.first, y.last, x.last - x.first, y.first - y.last);
    context.clip();
    for (const band of panel.bands ?? []) this.band(context, band, theme);
    this.markEvents(context, theme);
    for (const curve of panel.curves) this.curve(context, curve, theme);
    context.restore();
    const swatches = this.legend.querySelectorAll(".swatch");
    panel.curves.filter((curve) => curve.label).forEach((curve, i) => {
      swatches[i].style.color = this.colour(curve, theme);
    });
  }

  axes(context, theme) {
    const { x, y, ratio, panel } = this;
    const across = Math.max(2, Math.floor((x.last - x.first) / (80 * ratio)));
    const up = Math.max(2, Math.floor((y.first - y.last) / (36 * ratio)));
    context.lineWidth = ratio;
    context.textBaseline = "middle";
    context.fillStyle = theme.faint;
    context.strokeStyle = theme.line;
    const stroke = (x0, y0, x1, y1) => {
      context.beginPath();
      context.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
      context.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
      context.stroke();
    };
    context.textAlign = "center";
    for (const [value, text] of x.ticks(across)) {
      stroke(x.pixel(value), y.last, x.pixel(value), y.first);
      context.fillText(text, x.pixel(value), y.first + 11 * ratio);
    }
    context.textAlign = "right";
    const rows = panel.rows ?? [];
    const ticks = rows.length ? rows.map((name, row) => [row + 0.5, shortened(context, name, x.first - 10 * ratio)])
      : y.ticks(up);
    for (const [value, text] of ticks) {
      if (!rows.length) stroke(x.first, y.pixel(value), x.last, y.pixel(value));
      context.fillText(text, x.first - 6 * ratio, y.pixel(value));
    }
    context.strokeRect(x.first, y.last, x.last - x.first, y.first - y.last);
    context.fillStyle = theme.text;
    context.textAlign = "center";
    context.fillText(panel.x_label, (x.first + x.last) / 2, y.first + 28 * ratio);
    if (rows.length) return;
    context.save();
    context.translate(10 * ratio, (y.first + y.last) / 2);
    context.rotate(-Math.PI / 2);
    const room = y.first - y.last + 16 * ratio;
    const wide = context.measureText(panel.y_label).width;
    context.font = `${12 * ratio * clamp(room / wide, 0.75, 1)}px system-ui, sans-serif`; // a long one is set smaller
    context.fillText(shortened(context, panel.y_label, room), 0, 0);
    context.restore();
  }

  band(context, { row, start, end, state }, theme) {
    const { x, y, ratio } = this;
    const [left, right] = [x.pixel(start), x.pixel(end)];
    const [top, bottom] = [y.pixel(row + 0.15), y.pixel(row + 0.85)].sort((a, b) => a - b);
    const colour = theme.state(state);
    context.fillStyle = colour;
    context.fillRect(left, top, Math.max(ratio, right - left), bottom - top);
    if (context.measureText(state).width + 8 * ratio > right - left) return;
    context.fillStyle = luminance(rgb(colour)) > 0.18 ? "#000000" : "#ffffff";
    context.textAlign = "center";
    context.fillText(state, (left + right) / 2, (top + bottom) / 2);
  }

  markEvents(context, theme) {
    if (!this.panel.over_time) return;
    context.strokeStyle = theme.faint;
    context.setLineDash([2 * this.ratio, 3 * this.ratio]);
    for (const mark of (this.panel.marks ?? []).slice(0, 400)) {
      context.beginPath();
      context.moveTo(this.x.pixel(mark.time), this.y.first);
      context.lineTo(this.x.pixel(mark.time), this.y.last);
      context.stroke();
    }
    context.setLineDash([]);
  }

  curve(context, curve, theme) {
    const { x, y, ratio } = this;
    context.strokeStyle = context.fillStyle = this.colour(curve, theme);
    const stroke = this.player.data.strokes[curve.role] ?? { dash: [], width: 1.4 };
    context.lineWidth = 1.2 * stroke.width * ratio;
    context.lineJoin = "round";
    if (MARKERS.includes(curve.role)) {
      const radius = (curve.role === "points" ? (curve.x.length > 500 ? 1.2 : 2.2) : 4) * ratio;
      for (let k = 0; k < curve.x.length; k++) {
        const [px, py] = [x.pixel(curve.x[k]), y.pixel(curve.y[k])];
        context.beginPath();
        if (curve.role === "end") context.rect(px - radius, py - radius, 2 * radius, 2 * radius);
        else context.arc(px, py, radius, 0, 2 * Math.PI);
        if (curve.role === "start") context.stroke();
        else context.fill();
      }
      return;
    }
    context.setLineDash(stroke.dash.map((length) => length * 1.2 * ratio));
    context.beginPath();
    let open = false; // whether a point before this one is there to go on from
    for (let k = 0; k < curve.x.length; k++) {
      const [px, py] = [x.pixel(curve.x[k]), y.pixel(curve.y[k])];
      const is = Number.isFinite(px) && Number.isFinite(py) && Number.isFinite(curve.y[k]);
      if (is && open) context.lineTo(px, py);
      else if (is) context.moveTo(px, py);
      open = is;
    }
    context.stroke();
    context.setLineDash([]);
  }

  // The cursor, a dot on each curve, and values in the legend.
  show(time, theme) {
    if (this.panel.text) return;
    const changed = fitCanvas(this.back);
    if (changed || this.theme?.name !== theme.name) this.draw(theme);
    fitCanvas(this.front);
    const { x, y, ratio, panel } = this;
    const context = this.front.getContext("2d");
    context.clearRect(0, 0, this.front.width, this.front.height);
    if (panel.over_time) {
      context.strokeStyle = theme.text;
      context.lineWidth = 1.4 * ratio;
      context.beginPath();
      context.moveTo(x.pixel(time), y.first);
      context.lineTo(x.pixel(time), y.last);
      context.stroke();
    }
    panel.curves.forEach((curve, i) => {
      const list = panel.over_time ? curve.x : curve.t;
      if (!list?.length || curve.role === "limit" || MARKERS.includes(curve.role)) return;
      const place = placeIn(list, time);
      const [cx, cy] = [valueAt(curve.x, place, mixNumbers), valueAt(curve.y, place, mixNumbers)];
      if (panel.over_time) {
        const text = numberText(cy, 3);
        if (this.values[i].textContent !== text) this.values[i].textContent = text;
      }
      if (!Number.isFinite(cy) || (panel.log && cy <= 0)) return;
      context.beginPath();
      context.arc(panel.over_time ? x.pixel(time) : x.pixel(cx), y.pixel(cy), 3.6 * ratio, 0, 2 * Math.PI);
      context.fillStyle = this.colour(curve, theme);
      context.fill();
      context.strokeStyle = theme.panel;
      context.lineWidth = 1.2 * ratio;
      context.stroke();
    });
  }

  // The time at a place of the plot: along the axis, or of the nearest point of a curve.
  timeAt(px, py) {
    if (this.panel.over_time) return this.x.value(px);
    let [best, found] = [Infinity, null];
    for (const curve of this.panel.curves) {
      if (!curve.t?.length) continue;
      for (let k = 0; k < curve.x.length; k++) {
        const far = Math.hypot(this.x.pixel(curve.x[k]) - px, this.y.pixel(curve.y[k]) - py);
        if (far < best) [best, found] = [far, curve.t[k]];
      }
    }
    return found;
  }

  listen() {
    const go = (event) => {
      const box = this.front.getBoundingClientRect();
      const time = this.timeAt((event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio);
      if (time === null) return;
      this.player.clock.pause();
      this.player.clock.seek(time);
    };
    this.front.addEventListener("pointerdown", (event) => {
      this.front.setPointerCapture(event.pointerId);
      go(event);
    });
    this.front.addEventListener("pointermove", (event) => event.buttons & 1 && go(event));
  }
}

// As much of a text as fits, with an ellipsis.
function shortened(context, text, width) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
  return shown;
}
