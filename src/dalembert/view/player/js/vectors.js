// Vectors of three numbers, unit quaternions (w, x, y, z) and 4×4 matrices by columns, all plain arrays.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.hypot(a[0], a[1], a[2]);
const between = (a, b, part) => [
  a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

function unit(a, otherwise = [0, 0, 1]) {
  const long = size(a);
  return long > 1e-12 ? times(a, 1 / long) : otherwise;
}

// Two unit vectors at right angles to a direction and to each other. They follow the z axis, so that they do not jump
// while the direction moves, except where it passes through vertical.
function across(direction) {
  const reference = Math.abs(direction[2]) > 0.999 ? [1, 0, 0] : [0, 0, 1];
  const first = unit(cross(reference, direction));
  return [first, cross(direction, first)];
}

// The axes of a body turned by q.
function axesOf([w, x, y, z]) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}

// From one rotation to another at a steady rate, by the shorter way.
function slerp(a, b, part) {
  let cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const sign = cosine < 0 ? -1 : 1;
  cosine *= sign;
  let [first, second] = [1 - part, part * sign];
  if (cosine < 0.9995) { // nearly equal ones are mixed straight, because the angle divides
    const angle = Math.acos(cosine);
    first = Math.sin((1 - part) * angle) / Math.sin(angle);
    second = (sign * Math.sin(part * angle)) / Math.sin(angle);
  }
  const mixed = a.map((value, i) => first * value + second * b[i]);
  const long = Math.hypot(...mixed) || 1;
  return mixed.map((value) => value / long);
}

function product(a, b) {
  const result = new Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      result[4 * column + row] = sum;
    }
  }
  return result;
}

function perspective(halfHeight, aspect, near, far) {
  const depth = 1 / (near - far);
  return [1 / (halfHeight * aspect), 0, 0, 0, 0, 1 / halfHeight, 0, 0, 0, 0, (near + far) * depth, -1, 0, 0,
    2 * near * far * depth, 0];
}

function orthographic(halfHeight, aspect, near, far) {
  const depth = 1 / (near - far);
  return [1 / (halfHeight * aspect), 0, 0, 0, 0, 1 / halfHeight, 0, 0, 0, 0, 2 * depth, 0, 0, 0,
    (near + far) * depth, 1];
}

// The world as seen by an eye whose axes are right, up and back.
function seenFrom(eye, right, up, back) {
  return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
}

// Where a matrix takes a point, before the division by w.
const onto = (m, p) => [0, 1, 2, 3].map((row) => m[row] * p[0] + m[4 + row] * p[1] + m[8 + row] * p[2] + m[12 + row]);
