// What a scene looks like at one time, as lists of what is to be drawn. Lengths are in units of the scene's half-
// diagonal, so that one choice of "as large as looks well" serves all.

const STRAIGHT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const MARK = { disk: 1, sphere: 2, hoop: 3 };
const FORCE_ROLES = ["impressed", "ideal", "nonideal", "contact"];
const half = (length) => (length === undefined ? undefined : length / 2);
const isForce = (shape) => (shape.kind === "arrow" || shape.kind === "cone") && FORCE_ROLES.includes(shape.role);

class Drawing {
  constructor(scene, theme, camera) {
    Object.assign(this, { scene, theme, camera });
    Object.assign(this, { solid: new Map(), clear: new Map(), segments: [], polylines: [], planes: [], labels: [] });
  }

  body(key, axes, at, colour, alpha, mark = 0, make = BODIES[key]) {
    const batches = alpha < 1 ? this.clear : this.solid;
    if (!batches.has(key)) batches.set(key, { make, data: [] });
    batches.get(key).data.push(...axes[0], ...axes[1], ...axes[2], ...at, ...colour, alpha, mark);
  }

  line(from, to, colour, width) {
    this.segments.push(...from, ...to, ...colour, 1, width);
  }

  ring(at, axes, radius, colour, width) {
    const point = (k) => {
      const [x, y] = circle(k / 48);
      return add(at, add(times(axes[0], radius * x), times(axes[1], radius * y)));
    };
    for (let k = 0; k < 48; k++) this.line(point(k), point(k + 1), colour, width);
  }

  // A round bar between two points.
  bar(from, to, radius, colour, alpha) {
    const run = minus(to, from);
    if (size(run) < 1e-9) return;
    const [x, y] = across(unit(run));
    this.body("cylinder", [times(x, radius), times(y, radius), run], from, colour, alpha);
  }

  ball(at, radius, colour, alpha, mark = 0, axes = STRAIGHT) {
    this.body("sphere", axes.map((axis) => times(axis, radius)), at, colour, alpha, mark);
  }
}

// One function for each kind of shape: ({ shape, value, at, axes, colour, alpha, drawing, width }); value(key) is at
// this time, or undefined where the shape has no such key.
const KINDS = {
  point: ({ at, value, colour, alpha, drawing }) => drawing.ball(at, value("radius") ?? 0.022, colour, alpha),

  sphere: ({ at, axes, value, colour, alpha, drawing }) =>
    drawing.ball(at, value("radius") ?? 0.05, colour, alpha, MARK.sphere, axes),

  disk: ({ shape, at, axes, value, colour, alpha, drawing }) => {
    const radius = value("radius") ?? 0.1;
    const thickness = value("thickness") ?? 0.12 * radius;
    const key = shape.hollow ? "hoop" : "disk";
    const sizes = shape.hollow ? [radius, radius, radius] : [radius, radius, Math.max(thickness / 2, 1e-4)];
    drawing.body(key, axes.map((axis, i) => times(axis, sizes[i])), at, colour, alpha, MARK[key]);
  },

  box: ({ at, axes, value, colour, alpha, drawing, width }) => {
    const edges = value("size");
    const sizes = edges.map((edge) => Math.max(edge / 2, 1e-5));
    const sides = axes.map((axis, i) => times(axis, sizes[i]));
    drawing.body("box", sides, at, colour, alpha);
    const edge = between(colour, [0, 0, 0], 0.45);
    const corner = (k) => sides.reduce((sum, side, i) => add(sum, times(side, (k >> i) & 1 ? 1 : -1)), at);
    for (let k = 0; alpha === 1 && k < 8; k++) {
      for (const bit of [1, 2, 4]) if (!(k & bit)) drawing.line(corner(k), corner(k | bit), edge, 0.6 * width);
    }
  },

  rod: ({ value, colour, alpha, drawing }) => {
    const [from, to] = [value("from"), value("to")];
    const radius = half(value("width")) ?? 0.008;
    drawing.bar(from, to, radius, colour, alpha);
    drawing.ball(from, radius, colour, alpha);
    drawing.ball(to, radius, colour, alpha);
  },

  spring: ({ shape, value, colour, alpha, drawing }) => {
    const from = value("from");
    const run = minus(value("to"), from);
    if (size(run) < 1e-9) return;
    const radius = half(value("width")) ?? 0.035;
    const [x, y] = across(unit(run)).map((axis) => times(axis, radius));
    const wire = clamp(0.13 * radius, 0.003, 0.02);
    drawing.body("wire", [run, x, y], from, colour, alpha, Math.min(shape.coils ?? 10, 40) + wire, WIRE);
  },

  trace: ({ shape, at, colour, drawing, place, width }) => {
    const { scene, theme, time } = drawing;
    if (shape.position.length < 2) return;
    const shown = shape.role === "ghost" ? between(colour, theme.background, 0.45) : colour;
    shape.way ??= wayOf(shape.position, scene.times, scene.smooth);
    const { points, starts } = shape.way;
    const pieces = (starts[place.frame + 1] ?? points.length) - starts[place.frame];
    const last = starts[place.frame] + Math.min(pieces - 1, Math.floor(place.part * pieces));
    const first = shape.seconds ? starts[lastBefore(scene.times, time - shape.seconds)] : 0;
    if (first > 0) for (let k = first; k < last; k++) drawing.line(points[k], points[k + 1], shown, width);
    else drawing.polylines.push({ points, count: last + 1, colour: [...shown, 1], width });
    drawing.line(points[last], at, shown, width);
  },

  curve: ({ shape, at, axes, colour, drawing, width }) => {
    const moves = (shape.position?.length ?? 1) > 1 || (shape.rotation?.length ?? 1) > 1;
    const onto = (p) => add(at, add(times(axes[0], p[0]), add(times(axes[1], p[1]), times(axes[2], p[2]))));
    if (!shape.placed) shape.placed = shape.points.map(onto); // where it stands if it does not move
    const shown = shape.role === "ghost" ? between(colour, drawing.theme.background, 0.45) : colour;
    const { placed } = shape;
    if (!moves) drawing.polylines.push({ points: placed, count: placed.length, colour: [...shown, 1], width });
    else shape.points.map(onto).forEach((p, k, all) => k && drawing.line(all[k - 1], p, shown, width));
  },

  mesh: ({ shape, at, axes, colour, alpha, drawing }) =>
    drawing.body(shape, axes, at, colour, alpha, 0, () => facets(shape.vertices, shape.faces)),

  arrow: ({ at, value, colour, alpha, drawing }) => {
    const vector = value("vector");
    const long = size(vector);
    if (!(long > 2e-3)) return;
    const radius = Math.min(0.011, 0.12 * long);
    const head = Math.min(5 * radius, 0.6 * long);
    const direction = times(vector, 1 / long);
    const neck = add(at, times(direction, long - head));
    const [x, y] = across(direction).map((axis) => times(axis, 2.5 * radius));
    drawing.bar(at, neck, radius, colour, alpha);
    drawing.body("cone", [x, y, times(direction, head)], neck, colour, alpha);
  },

  cone: ({ at, value, colour, drawing }) => {
    const axis = times(unit(value("normal") ?? [0, 0, 1]), value("size") ?? 0.2);
    const radius = size(axis) * Math.tan(clamp(value("angle") ?? 0.3, 0, 1.5));
    if (!(size(axis) > 1e-6) || !(radius > 1e-6)) return;
    const [x, y] = across(unit(axis)).map((one) => times(one, radius));
    drawing.body("funnel", [x, y, axis], at, colour, 0.3);
  },

  plane: ({ at, axes, value, colour, drawing, width }) => {
    const { scene, theme, camera } = drawing;
    const normal = unit(value("normal") ?? [0, camera.flat ? 1 : 0, camera.flat ? 0 : 1]);
    const reach = value("size") ?? 2.4;
    if (camera.flat) { // a line with strokes on the side where nothing can be
      const along = [normal[1], -normal[0], 0];
      drawing.line(add(at, times(along, -reach / 2)), add(at, times(along, reach / 2)), colour, 1.2 * width);
      const pale = between(colour, theme.background, 0.45);
      const stroke = add(times(along, -0.035), times(normal, -0.045));
      for (let k = Math.ceil(-reach / 0.1); k <= reach / 0.1; k++) {
        const foot = add(at, times(along, k * 0.05));
        drawing.line(foot, add(foot, stroke), pale, 0.5 * width);
      }
      return;
    }
    const cell = roundStep((reach * scene.unit) / 16) / scene.unit; // a round length in the model's own units
    const cells = reach / 2 / cell;
    drawing.planes.push({
      middle: at, alongX: times(axes[0], reach / 2), alongY: times(axes[1], reach / 2), cells: [cells, cells],
      colour: [...colour, 0.16], lines: [...colour, 0.55],
    });
  },

  dial: ({ at, axes, value, colour, drawing, width }) => {
    const radius = value("radius") ?? 0.15;
    const [x, y] = STRAIGHT;
    const hand = times(axes[0], radius);
    const pale = between(colour, drawing.theme.background, 0.5);
    drawing.ring(at, [x, y], radius, pale, 0.8 * width);
    for (let k = 0; k < 12; k++) {
      const [cosine, sine] = circle(k / 12);
      const direction = add(times(x, cosine), times(y, sine));
      drawing.line(add(at, times(direction, 0.88 * radius)), add(at, times(direction, radius)), pale, 0.6 * width);
    }
    drawing.line(at, add(at, times(hand, 0.92)), colour, 1.6 * width);
    drawing.ball(at, 0.07 * radius, colour, 1);
  },
};

// Points that enclose what moves: places at some frames, with the size of what is there, and tips of arrows. In a
// plane, and where there are none, the corners of the bounds.
function outlineOf(scene) {
  const [low, high] = scene.bounds;
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i])));
  if (scene.dimensions === 2) return corners;
  const found = [];
  const solid = scene.shapes.filter(({ kind }) => kind !== "plane");
  const most = Math.max(4, Math.ceil(2000 / (solid.length || 1))); // frames of each, so that all are found at once
  for (const shape of solid) {
    const own = [...(shape.vertices ?? []), ...(shape.points ?? []), Array.isArray(shape.size) ? times(shape.size, 0.5)
      : [shape.radius ?? 0, 0, 0]];
    const reach = own.reduce((far, point) => Math.max(far, size(point)), 0);
    const rows = [shape.position, shape.from, shape.to].filter(Boolean);
    if (shape.vector) rows.push(shape.vector.map((vector, k) => add(shape.position[k] ?? shape.position[0], vector)));
    for (const list of rows) {
      for (let k = 0; k < list.length; k += Math.ceil(list.length / most)) {
        for (const axis of STRAIGHT) found.push(add(list[k], times(axis, reach)), add(list[k], times(axis, -reach)));
      }
    }
  }
  const inside = found.filter((point) => point.every(Number.isFinite));
  return inside.length ? inside : corners;
}

const PLACED = ["position", "from", "to"];
const mixNumbers = (a, b, part) => (Array.isArray(a) ? between(a, b, part) : a + (b - a) * part);

// All of a scene at a time. forces: whether arrows and cones of forces are shown; width: of lines, in pixels.
function drawingAt(scene, time, { theme, camera, forces, width }) {
  const drawing = new Drawing(scene, theme, camera);
  const place = placeIn(scene.times, time);
  drawing.time = time;
  for (const shape of scene.shapes) {
    if (!forces && isForce(shape)) continue;
    if (shape.visible && !shape.visible[Math.min(place.frame, shape.visible.length - 1)]) continue;
    const value = (key) => {
      const given = shape[key];
      if (given === undefined || given === null || typeof given === "number") return given ?? undefined;
      if (typeof given[0] === "number") return given; // edges of a box, the same throughout
      if (PLACED.includes(key)) return placeAlong(given, scene.times, scene.smooth, place);
      return valueAt(given, place, mixNumbers);
    };
    const at = value("position") ?? value("from") ?? [0, 0, 0];
    if (!at.every(Number.isFinite)) continue;
    const axes = shape.rotation ? axesOf(valueAt(shape.rotation, place, slerp)) : STRAIGHT;
    const alpha = (shape.opacity ?? 1) * (shape.role === "ghost" ? 0.4 : 1);
    KINDS[shape.kind]?.({ shape, value, at, axes, colour: colourOf(shape, theme), alpha, drawing, place, width });
    if (!shape.label) continue;
    const tip = shape.vector && add(at, value("vector"));
    const middle = shape.to ? between(at, value("to"), 0.5) : tip || at;
    drawing.labels.push({ shape, at: add(middle, times(camera.axes[1], value("radius") ?? 0)) });
  }
  return drawing;
}
