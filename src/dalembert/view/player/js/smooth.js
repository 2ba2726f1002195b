// Ways of points between frames, as smooth as they are: cubic curves through four frames, except near events, where
// there may be corners.

const PIECES = 4; // straight pieces of a trace between two frames

// Whether each interval between frames, and both beside it, are free of events.
function smoothIntervals(frameTimes, events) {
  const smooth = new Uint8Array(Math.max(0, frameTimes.length - 1)).fill(1);
  for (const { time } of events) {
    const frame = lastBefore(frameTimes, time);
    for (let k = frame - 2; k <= frame + 1; k++) if (k >= 0 && k < smooth.length) smooth[k] = 0;
  }
  return smooth;
}

// A cubic from rows[k] to rows[k + 1], whose slopes at both ends are those of parabolas through three frames.
function along(rows, frameTimes, k, part) {
  const [a, b] = [rows[k], rows[k + 1]];
  const step = frameTimes[k + 1] - frameTimes[k];
  const before = k > 0 ? frameTimes[k] - frameTimes[k - 1] : 0;
  const after = k + 2 < rows.length ? frameTimes[k + 2] - frameTimes[k + 1] : 0;
  const place = [0, 0, 0];
  for (let i = 0; i < 3; i++) {
    const rise = b[i] - a[i];
    const earlier = before > 0 ? ((a[i] - rows[k - 1][i]) / before) * step : rise; // in the time of this interval
    const later = after > 0 ? ((rows[k + 2][i] - b[i]) / after) * step : rise;
    const first = before > 0 ? (earlier * step + rise * before) / (step + before) : rise;
    const last = after > 0 ? (rise * after + later * step) / (step + after) : rise;
    const [u, v] = [1 - part, part];
    place[i] = a[i] + rise * v * v * (3 - 2 * v) + u * v * (first * u - last * v);
  }
  return place;
}

// A place at a moment; one row stands for all frames.
function placeAlong(rows, frameTimes, smooth, place) {
  if (rows.length > 1 && place.part > 0 && smooth[place.frame]) return along(rows, frameTimes, place.frame, place.part);
  return valueAt(rows, place);
}

// All of a way as straight pieces, and the number of pieces before each frame.
function wayOf(rows, frameTimes, smooth) {
  const [points, starts] = [[], []];
  rows.forEach((row, k) => {
    starts.push(points.length);
    points.push(row);
    if (!smooth[k]) return;
    for (let piece = 1; piece < PIECES; piece++) points.push(along(rows, frameTimes, k, piece / PIECES));
  });
  return { points, starts };
}
