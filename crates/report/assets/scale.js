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

// The place of a value along an axis, before it is stretched to pixels. With equal room for equal
// ratios it is its logarithm, and smaller values have the place of the axis' beginning.
function placeOf(axis, value) {
  return axis.log ? Math.log10(Math.max(value, axis.log)) : value;
}

function atPlace(axis, place) {
  return axis.log ? 10 ** place : place;
}

// Ticks between two places of such an axis that is so wide, those greater than `least`: as many to
// each power of ten as there is room for.
function logTicks([low, high], width, least) {
  const found = (steps) => {
    const all = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        const at = Math.log10(tick);
        if (at >= low - 1e-9 && at <= high + 1e-9 && tick > least) all.push(tick);
      }
    }
    return all;
  };
  const isRoomy = (all) => all.every((tick, i) =>
    !i || (Math.log10(tick / all[i - 1]) / (high - low)) * width > 28 + 4 * String(tick).length);
  const sets = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]].map(found);
  const all = sets.find(isRoomy) || sets[sets.length - 1];
  // So near that no power of ten is in sight.
  const even = () => ticks(10 ** low, 10 ** high, width / 75).filter((tick) => tick > least);
  return all.length > 1 ? all : even();
}

// The next greater end that can have a tick.
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
