// Numbers as text, and round steps for axes and grids.

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const power = (exponent) => "10" + [...String(exponent)].map((sign) => RAISED[sign]).join("");

// 1, 2 or 5 times a power of ten, not less than what is wanted.
function roundStep(wanted) {
  if (!(wanted > 0) || !Number.isFinite(wanted)) return 1;
  const ten = 10 ** Math.floor(Math.log10(wanted));
  return ten * ([1, 2, 5].find((digit) => digit * ten >= wanted * 0.999) ?? 10);
}

// With this many digits; very large and very small ones with a power of ten.
function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const amount = Math.abs(value);
  if (amount !== 0 && (amount >= 1e5 || amount < 1e-3)) {
    const [digitsOnly, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
    return `${minusSign(String(Number(digitsOnly)))}·${power(Number(exponent))}`;
  }
  return minusSign(String(Number(value.toPrecision(digits))));
}

const minusSign = (text) => text.replace("-", "−");

// Values on an axis with a given step, all with the same number of decimals.
function tickText(value, step) {
  const amount = Math.max(Math.abs(value), step);
  if (amount >= 1e5 || step < 1e-4) return value === 0 ? "0" : numberText(Number(value.toPrecision(6)), 5);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return minusSign((Math.abs(value) < step * 1e-6 ? 0 : value).toFixed(decimals));
}

function ticksBetween(least, most, count) {
  const step = roundStep((most - least) / Math.max(1, count));
  const ticks = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most + step * 1e-9; k++) ticks.push(k * step);
  return { step, ticks };
}

// Whole powers of ten, few enough to be read.
function powersBetween(least, most, count) {
  const [first, last] = [Math.ceil(Math.log10(least) - 1e-9), Math.floor(Math.log10(most) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
  const ticks = [];
  for (let k = first; k <= last; k += every) ticks.push(k);
  return ticks;
}

// The least and greatest of several lists, null where they have none; for logarithms only what is positive counts.
function limitsOf(lists, log) {
  let [least, most] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list) {
      if (!Number.isFinite(value) || (log && value <= 0)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least <= most ? [least, most] : null;
}
