// Where a scene is seen from. Scenes come with their middle at the origin and a half-diagonal of one.

const HOME = { azimuth: -1.05, elevation: 0.4 }; // from the front right, a little above
const HALF_VIEW = Math.tan((15 * Math.PI) / 180);
const ROOM = 1.08; // around what is to be seen

class Camera {
  // points: what is to be seen from home, around the origin. flat: straight on, without perspective (2-D).
  constructor(flat, points) {
    Object.assign(this, { flat, points, homes: new Map() });
    this.reset();
  }

  reset() {
    Object.assign(this, HOME);
    this.moved = [0, 0, 0];
    this.zoom = 1;
  }

  // Right, up, and back towards the eye.
  get axes() {
    return this.flat ? [[1, 0, 0], [0, 1, 0], [0, 0, 1]] : this.axesAt(this);
  }

  axesAt({ azimuth, elevation }) {
    const [ca, sa] = [Math.cos(azimuth), Math.sin(azimuth)];
    const [ce, se] = [Math.cos(elevation), Math.sin(elevation)];
    const back = [ce * ca, ce * sa, se];
    const right = [-sa, ca, 0];
    return [right, cross(back, right), back];
  }

  // The middle of the view and half its height there, so that all points are just inside; found once for each shape.
  home(aspect) {
    const key = aspect.toFixed(2);
    if (!this.homes.has(key)) this.homes.set(key, this.flat ? this.fitFlat(aspect) : this.fit(aspect));
    return this.homes.get(key);
  }

  fitFlat(aspect) {
    const [x, y] = [0, 1].map((i) => limitsOf([this.points.map((point) => point[i])]) ?? [-1, 1]);
    const half = ROOM * Math.max((y[1] - y[0]) / 2, (x[1] - x[0]) / 2 / aspect, 1e-3);
    return { target: [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2, 0], half };
  }

  // Moving sideways changes how far away the eye must be, a little: after a few rounds both agree.
  fit(aspect) {
    const [right, up, back] = this.axesAt(HOME);
    let [target, distance] = [[0, 0, 0], 4];
    for (let round = 0; round < 6; round++) {
      const own = this.points.map((point) => minus(point, target));
      const seen = own.map((p) => [dot(right, p), dot(up, p), dot(back, p)]);
      const wanted = ([x, y, z]) => z + (ROOM * Math.max(Math.abs(y), Math.abs(x) / aspect)) / HALF_VIEW;
      distance = seen.reduce((most, point) => Math.max(most, wanted(point)), 0.02);
      const [x, y] = [0, 1].map((i) => limitsOf([seen.map((p) => p[i] / (distance - p[2]))]) ?? [0, 0]);
      const aside = add(times(right, (x[0] + x[1]) / 2), times(up, (y[0] + y[1]) / 2));
      if (round < 5) target = add(target, times(aside, distance));
    }
    return { target, half: distance * HALF_VIEW };
  }

  matrices(aspect) {
    const [right, up, back] = this.axes;
    const home = this.home(aspect);
    const [half, target] = [home.half / this.zoom, add(home.target, this.moved)];
    if (this.flat) {
      const view = seenFrom(add(target, times(back, 50)), right, up, back);
      return { view, projection: orthographic(half, aspect, 1, 100), half };
    }
    const distance = half / HALF_VIEW;
    const view = seenFrom(add(target, times(back, distance)), right, up, back);
    const near = Math.max(distance - 6, distance * 0.02);
    return { view, projection: perspective(HALF_VIEW, aspect, near, distance + 12), half };
  }

  orbit(dx, dy) {
    if (this.flat) return;
    this.azimuth -= dx * 0.008;
    this.elevation = clamp(this.elevation + dy * 0.008, -1.55, 1.55);
  }

  // By pixels of a view of this height.
  pan(dx, dy, height, aspect) {
    const [right, up] = this.axes;
    const scale = (2 * this.matrices(aspect).half) / height;
    this.moved = add(this.moved, add(times(right, -dx * scale), times(up, dy * scale)));
  }

  magnify(factor) {
    this.zoom = clamp(this.zoom * factor, 0.1, 60);
  }
}
