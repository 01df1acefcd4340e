// Scales, ticks and numbers.

// Steps of 1, 2 or 5 times a power of ten, about `wanted` of them between the ends.
function ticks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

// The next greater end at which a tick can stand.
function niceEnd(value, wanted) {
  if (!(value > 0)) return 1;
  const all = ticks(0, value, wanted);
  const step = all.length > 1 ? all[1] - all[0] : value;
  return Number((Math.ceil(value / step - 1e-9) * step).toPrecision(12));
}

// A tick with just as many digits as its neighbours need.
function tickText(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(value) || 1;
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toFixed(digits);
}

// Three digits that matter.
function shortNumber(value) {
  if (value === 0 || !Number.isFinite(value)) return "0";
  const size = Math.abs(value);
  const places = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return size < 0.0005 ? value.toExponential(1) : value.toFixed(places);
}

function withUnit(value, unit) {
  return unit ? `${shortNumber(value)} ${unit}` : shortNumber(value);
}

function axisText(axis) {
  return axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
}

function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (c) => names[c]);
}

// Pixels that a text of the plots' size takes, near enough for a margin.
function textWidth(text) {
  return String(text).length * 7.2;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
