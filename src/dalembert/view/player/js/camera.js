// Where a scene is seen from. Scenes come with their middle at the origin and a half-diagonal of one.

const HOME = { azimuth: -1.05, elevation: 0.4 }; // from the front right, a little above
const HALF_VIEW = Math.tan((15 * Math.PI) / 180);

class Camera {
  constructor(flat, extent) {
    this.flat = flat; // 2-D: straight on, without perspective
    this.extent = extent; // half the box that is to be seen: [x, y, z]
    this.reset();
  }

  reset() {
    Object.assign(this, HOME);
    this.target = [0, 0, 0];
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

  // Half the height of what is seen at the target, so that the whole box fits the shape of the view.
  halfHeight(aspect) {
    if (this.flat) return (1.08 * Math.max(this.extent[1], this.extent[0] / aspect, 1e-3)) / this.zoom;
    const [right, up, back] = this.axesAt(HOME);
    let distance = 1e-2; // from which every corner is within the view
    for (let k = 0; k < 8; k++) {
      const corner = this.extent.map((half, i) => ((k >> i) & 1 ? half : -half));
      const aside = Math.max(Math.abs(dot(up, corner)), Math.abs(dot(right, corner)) / aspect);
      distance = Math.max(distance, dot(back, corner) + aside / (0.92 * HALF_VIEW));
    }
    return (distance * HALF_VIEW) / this.zoom;
  }

  matrices(aspect) {
    const [right, up, back] = this.axes;
    const half = this.halfHeight(aspect);
    if (this.flat) {
      const view = seenFrom(add(this.target, times(back, 50)), right, up, back);
      return { view, projection: orthographic(half, aspect, 1, 100), half };
    }
    const distance = half / HALF_VIEW;
    const view = seenFrom(add(this.target, times(back, distance)), right, up, back);
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
    const scale = (2 * this.halfHeight(aspect)) / height;
    this.target = add(this.target, add(times(right, -dx * scale), times(up, dy * scale)));
  }

  magnify(factor) {
    this.zoom = clamp(this.zoom * factor, 0.1, 60);
  }
}
