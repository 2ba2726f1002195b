// How values become pixels in a plot.

// A little room on both sides; a constant stands in the middle of its own size.
function withRoom([least, most], log) {
  if (log) {
    const [low, high] = [Math.log10(least), Math.log10(most)];
    const room = Math.max(0.04 * (high - low), 0.15);
    return [10 ** (low - room), 10 ** (high + room)];
  }
  const apart = most - least;
  const amount = Math.max(Math.abs(least), Math.abs(most));
  if (apart <= 1e-9 * amount) return [least - (0.5 * amount || 1), most + (0.5 * amount || 1)];
  return [least - 0.05 * apart, most + 0.05 * apart];
}

class Scale {
  // limits of the values, and pixels of both ends.
  constructor([least, most], first, last, log = false) {
    Object.assign(this, { least, most, first, last, log });
  }

  part(value) {
    if (!this.log) return (value - this.least) / (this.most - this.least);
    return Math.log(Math.max(value, this.least) / this.least) / Math.log(this.most / this.least);
  }

  pixel(value) {
    return this.first + this.part(value) * (this.last - this.first);
  }

  value(pixel) {
    const part = (pixel - this.first) / (this.last - this.first);
    return this.log ? this.least * (this.most / this.least) ** part : this.least + part * (this.most - this.least);
  }

  // [value, its text] of each tick.
  ticks(count) {
    if (this.log) {
      const powers = powersBetween(this.least, this.most, count);
      if (powers.length > 1) return powers.map((k) => [10 ** k, power(k)]);
      return [this.least * 1.0001, this.most].map((value) => [value, numberText(value, 2)]);
    }
    const { step, ticks } = ticksBetween(this.least, this.most, count);
    return ticks.map((value) => [value, tickText(value, step)]);
  }
}

// Two scales with the same length of pixels for one unit.
function sameScale(x, y) {
  const perX = (x.most - x.least) / Math.abs(x.last - x.first);
  const perY = (y.most - y.least) / Math.abs(y.last - y.first);
  const widen = (scale, by) => {
    const [middle, half] = [(scale.least + scale.most) / 2, ((scale.most - scale.least) / 2) * by];
    [scale.least, scale.most] = [middle - half, middle + half];
  };
  if (perX > perY) widen(y, perX / perY);
  else widen(x, perY / perX);
}
