// Data of the page: arrays are unpacked, and asked for at any time between frames.

// Numbers travel as plain lists, or packed: base64 of little-endian floats, `of` numbers to an entry.
function unpack(packed) {
  if (packed === null || packed === undefined || Array.isArray(packed)) return packed;
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const flat = packed.wide ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  if (packed.of === 1) return flat;
  const rows = [];
  for (let i = 0; i < flat.length; i += packed.of) rows.push(Array.from(flat.subarray(i, i + packed.of)));
  return rows;
}

// The last entry of a rising list that is not beyond a value, at least the first; -1 for an empty list.
function lastBefore(list, value) {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return list.length ? low : -1;
}

// A place among frames: the frame before a time, and the part of the way to the next.
function placeIn(list, time) {
  const frame = lastBefore(list, time);
  const step = frame + 1 < list.length ? list[frame + 1] - list[frame] : 0;
  return { frame, part: step > 0 ? clamp((time - list[frame]) / step, 0, 1) : 0 };
}

// One entry stands for all frames.
function valueAt(rows, place, mix = between) {
  if (rows.length === 1) return rows[0];
  const before = rows[Math.min(place.frame, rows.length - 1)];
  const after = rows[Math.min(place.frame + 1, rows.length - 1)];
  return place.part > 0 ? mix(before, after, place.part) : before;
}

const PACKED = ["position", "rotation", "from", "to", "vector", "normal", "points", "vertices", "faces", "visible"];

function unpackScene(scene) {
  const shapes = scene.shapes.map((shape) => {
    const own = { ...shape };
    for (const key of PACKED) if (key in own) own[key] = unpack(own[key]);
    return own;
  });
  const frameTimes = unpack(scene.times);
  return { ...scene, times: frameTimes, smooth: smoothIntervals(frameTimes, scene.events), shapes };
}

function unpackPanel(panel) {
  const curves = panel.curves.map((curve) => ({
    ...curve, x: unpack(curve.x), y: unpack(curve.y), t: unpack(curve.t),
  }));
  return { ...panel, curves };
}
