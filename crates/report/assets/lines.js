// Lines over an axis: time series and distributions. `drawLines` is a function of its arguments
// alone: the page and the downloaded file are drawn by it. `DASHES`, the line styles, and `MARKS`,
// the corners of marks for a size of 1, are written before the scripts, and so is
// `ROOM_FOR_INTERVALS`, the factor by which an interval extends an axis at most. A mark without
// corners is a circle.

// From where to where an axis goes, as places on it.
function xRange(picture, panels) {
  let last = picture.x.most || 0;
  if (!last) {
    for (const line of panels.flatMap((panel) => panel.lines)) {
      for (const values of [line.raw, line.smooth, line.published]) {
        // The points of a scatter are in no order.
        for (let i = 0; i < values.length; i += 2) last = Math.max(last, values[i]);
      }
    }
    const most = last * ROOM_FOR_INTERVALS;
    for (const { across = [] } of panels.flatMap((panel) => panel.lines)) {
      for (let i = 2; i < across.length; i += 3) last = Math.max(last, Math.min(across[i], most));
    }
    // Published results are shown too, unless all else would be squeezed for them.
    for (const moment of panels.flatMap((panel) => panel.moments)) {
      if (moment.value < last * 2.5) last = Math.max(last, moment.value);
    }
    last *= picture.x.log ? 1.15 : 1.05;
  }
  return picture.x.log
    ? [picture.x.log, Math.max(last, picture.x.log * 1.1)].map(Math.log10) : [0, last || 1];
}

// The least and the greatest value in sight.
function yRange(picture, panels, shown, places) {
  let low = 0;
  let high = 0;
  const view = places.map((place) => atPlace(picture.x, place));
  const look = (values, stride, least = -Infinity, most = Infinity) => {
    for (let i = 0; i < values.length; i += stride) {
      const next = values[i + stride];
      const before = values[i - stride];
      const isNear = !(next < view[0]) && !(before > view[1]);
      if (!isNear) continue;
      for (let j = 1; j < stride; j++) {
        low = Math.min(low, Math.max(values[i + j], least));
        high = Math.max(high, Math.min(values[i + j], most));
      }
    }
  };
  const all = panels.flatMap((panel) => panel.lines.filter((_, i) => shown(panel, i)));
  for (const line of all) {
    look(line.raw, 2);
    look(line.smooth, 2);
    look(line.published, 2);
  }
  // A wide interval must not squeeze the lines: it is cut.
  const [least, most] = [low, high].map((end) => end * ROOM_FOR_INTERVALS);
  for (const line of all) look(line.band, 3, least, most);
  for (const panel of panels) {
    for (const limit of panel.limits) {
      if (high < limit.value && limit.value < high * 8) high = limit.value;
    }
  }
  // An axis ends at the largest possible value, or earlier if half of it would be empty.
  const limit = picture.y.most;
  const end = limit && high * 2 > limit ? limit : niceEnd(high * 1.02, 5);
  return [low < 0 ? -niceEnd(-low, 4) : 0, end];
}

function frame(picture, panel, width, view, range) {
  const tall = Math.round(clamp(width * 0.5, 210, 330));
  const yTicks = ticks(range[0], range[1], tall / 55);
  const yTexts = yTicks.map((tick) => tickText(tick, yTicks));
  const left = Math.max(...yTexts.map(textWidth)) + 12;
  const right = width - 12;
  const x = (value) =>
    left + ((placeOf(picture.x, value) - view[0]) / (view[1] - view[0])) * (right - left);
  const moments = momentRows(panel.moments, axisText(picture.y), x, [left, right]);
  const more = 15 * Math.max(0, ...moments.map(({ row }) => row));
  const height = tall + more;
  const box = { left, right, top: 24 + more, bottom: height - 42 };
  const [xTicks, xTexts] = axisTicks(picture, view, right - left);
  return {
    width, height, ...box, xTicks, xTexts, yTicks, yTexts, moments, x,
    y: (value) => box.bottom - ((value - range[0]) / (range[1] - range[0])) * (box.bottom - box.top),
    value: (at) =>
      atPlace(picture.x, view[0] + ((at - left) / (right - left)) * (view[1] - view[0])),
  };
}

// The places of ticks along a drawing, and their texts.
function axisTicks(picture, view, width) {
  if (!picture.x.log) {
    const even = ticks(view[0], view[1], width / 75);
    return [even, even.map((tick) => tickText(tick, even))];
  }
  const lines = picture.panels.flatMap((panel) => panel.lines);
  const hasZero = ["curve", "sweep", "scatter"].includes(picture.form)
    && lines.some((line) => line.raw.some((value, i) => i % 2 === 0 && value <= 0));
  const all = logTicks(view, width, hasZero ? picture.x.log * 9 : 0);
  const texts = all.map((tick) => String(tick));
  const isZeroSeen = hasZero && view[0] <= placeOf(picture.x, 0);
  return isZeroSeen ? [[picture.x.log, ...all], ["0", ...texts]] : [all, texts];
}

function drawAxes(f, picture) {
  const parts = [];
  f.yTicks.forEach((tick, i) => {
    const y = f.y(tick).toFixed(1);
    parts.push(`<line class="grid" x1="${f.left}" x2="${f.right}" y1="${y}" y2="${y}"/>`);
    parts.push(`<text class="tick" x="${f.left - 6}" y="${y}" dy=".32em" text-anchor="end">` +
      `${f.yTexts[i]}</text>`);
  });
  f.xTicks.forEach((tick, i) => {
    const x = f.x(tick).toFixed(1);
    parts.push(`<line class="axis" x1="${x}" x2="${x}" y1="${f.bottom}" y2="${f.bottom + 4}"/>`);
    parts.push(`<text class="tick" x="${x}" y="${f.bottom + 17}" text-anchor="middle">` +
      `${f.xTexts[i]}</text>`);
  });
  parts.push(`<line class="axis" x1="${f.left}" x2="${f.right}" y1="${f.bottom}" y2="${f.bottom}"/>`);
  parts.push(`<text class="name" x="0" y="12">${escaped(axisText(picture.y))}</text>`);
  parts.push(`<text class="name" x="${f.right}" y="${f.height - 5}" text-anchor="end">` +
    `${escaped(axisText(picture.x))}</text>`);
  return parts.join("");
}

// The part of a line that is in sight, and one point more at each side.
function path(values, f, isStep) {
  const parts = [];
  for (let i = 0; i < values.length; i += 2) {
    if (values[i + 2] < f.value(f.left) || values[i - 2] > f.value(f.right)) continue;
    const x = f.x(values[i]).toFixed(1);
    const y = f.y(values[i + 1]).toFixed(1);
    parts.push(parts.length === 0 ? `M${x} ${y}` : isStep ? `H${x}V${y}` : `L${x} ${y}`);
  }
  if (isStep && values.length) parts.push(`H${f.right}`);
  return parts.join("");
}

function bandPath(values, f) {
  const there = [];
  const back = [];
  for (let i = 0; i < values.length; i += 3) {
    const x = f.x(values[i]).toFixed(1);
    there.push(`${x} ${f.y(values[i + 2]).toFixed(1)}`);
    back.unshift(`${x} ${f.y(values[i + 1]).toFixed(1)}`);
  }
  return there.length ? `M${there.concat(back).join("L")}Z` : "";
}

// The mark of a point of the nth line.
function markPath(number, x, y, size) {
  const corners = MARKS[number % MARKS.length];
  if (!corners.length) {
    const r = size.toFixed(1);
    return `M${(x + size).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 1 ${(-2 * size).toFixed(1)} 0` +
      `a${r} ${r} 0 1 1 ${(2 * size).toFixed(1)} 0Z`;
  }
  const places = corners.map(([a, b]) =>
    `${(x + a * size).toFixed(1)} ${(y + b * size).toFixed(1)}`);
  return `M${places.join("L")}Z`;
}

function drawPointMarks(line, f) {
  const parts = [];
  for (let i = 0; i < line.raw.length; i += 2) {
    const shape = markPath(line.dash, f.x(line.raw[i]), f.y(line.raw[i + 1]), 3.5);
    parts.push(`<path class="f${line.colour}" d="${shape}"/>`);
  }
  return parts.join("");
}

// Both intervals of points, without ends: there are many.
function drawIntervals(line, f) {
  const parts = [];
  const add = (x1, y1, x2, y2) => parts.push(`<path class="line thin c${line.colour}" ` +
    `d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`);
  const { band } = line;
  const across = line.across || [];
  for (let i = 0; i < band.length; i += 3) {
    add(f.x(band[i]), f.y(band[i + 1]), f.x(band[i]), f.y(band[i + 2]));
  }
  for (let i = 0; i < across.length; i += 3) {
    add(f.x(across[i + 1]), f.y(across[i]), f.x(across[i + 2]), f.y(across[i]));
  }
  return parts.join("");
}

// The points of a line, each with its interval.
function drawPoints(line, f) {
  const parts = [];
  for (let i = 0; i < line.band.length; i += 3) {
    const [x, low, high] = [f.x(line.band[i]), f.y(line.band[i + 1]), f.y(line.band[i + 2])];
    parts.push(`<path class="line c${line.colour}" d="M${x.toFixed(1)} ${low.toFixed(1)}` +
      `V${high.toFixed(1)}M${(x - 4).toFixed(1)} ${low.toFixed(1)}h8M${(x - 4).toFixed(1)} ` +
      `${high.toFixed(1)}h8"/>`);
  }
  for (let i = 0; i < line.raw.length; i += 2) {
    parts.push(`<circle class="f${line.colour}" cx="${f.x(line.raw[i]).toFixed(1)}"` +
      ` cy="${f.y(line.raw[i + 1]).toFixed(1)}" r="3.5"/>`);
  }
  return parts.join("");
}

// Published results: hollow diamonds.
function diamond(x, y, colour) {
  return `<path class="published c${colour}" d="M${(x - 7).toFixed(1)} ${y.toFixed(1)}` +
    `l7 -7l7 7l-7 7Z"/>`;
}

function drawPublished(line, f) {
  const parts = [];
  for (let i = 0; i < line.published.length; i += 2) {
    parts.push(diamond(f.x(line.published[i]), f.y(line.published[i + 1]), line.colour));
  }
  return parts.join("");
}

function drawLine(line, f, form) {
  const isStep = form === "cdf";
  const isCurve = form === "curve";
  if (form === "scatter" && line.raw.length) return drawIntervals(line, f) + drawPointMarks(line, f);
  const style = `class="line c${line.colour}" stroke-dasharray="${DASHES[line.dash]}"`;
  const parts = [];
  if (form === "sweep" && line.band.length === 3) {
    parts.push(drawIntervals(line, f));
  } else if (line.band.length && !isCurve) {
    parts.push(`<path class="band f${line.colour}" d="${bandPath(line.band, f)}"/>`);
  }
  if (line.smooth.length) {
    if (line.raw.length) parts.push(`<path class="raw c${line.colour}" d="${path(line.raw, f)}"/>`);
    parts.push(`<path ${style} d="${path(line.smooth, f)}"/>`);
  } else if (line.raw.length) {
    parts.push(`<path ${style} d="${path(line.raw, f, isStep)}"/>`);
  }
  if (isCurve) parts.push(drawPoints(line, f));
  if (form === "sweep") parts.push(drawPointMarks(line, f));
  parts.push(drawPublished(line, f));
  return parts.join("");
}

// Dashed lines are drawn on top: on an equal line they are seen.
function inOrder(lines) {
  return lines.filter((line) => !line.dash).concat(lines.filter((line) => line.dash));
}

// One panel as the inside of an SVG element; `clip` is a name that no other has.
function drawLines(picture, panel, options) {
  const { width, view, range, shown, clip } = options;
  const f = frame(picture, panel, width, view, range);
  const isStep = picture.form === "cdf";
  const lines = panel.lines.filter((_, i) => shown(panel, i));
  const [taken, all] = [[], seen(lines, f, isStep)];
  // Marks at the edges are whole.
  const more = ["sweep", "scatter"].includes(picture.form) ? 6 : 0;
  const inside =
    `<clipPath id="${clip}"><rect x="${f.left - more}" y="${f.top - 4}"` +
    ` width="${f.right - f.left + 2 * more}" height="${f.bottom - f.top + 5 + more}"/></clipPath>` +
    drawAxes(f, picture) +
    `<g clip-path="url(#${clip})">` +
    inOrder(lines).map((line) => drawLine(line, f, picture.form)).join("") + "</g>" +
    drawLimits(panel, f, range, taken, all) + drawMoments(f) + drawMarks(lines, f, taken, all);
  return { inside, frame: f };
}

// The sample that is nearest to an instant; of steps, the one before it.
function nearest(line, x, isStep) {
  const values = line.raw.length ? line.raw : line.smooth;
  let low = 0;
  let high = values.length / 2 - 1;
  if (high < 0) return null;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (values[2 * middle] <= x) low = middle;
    else high = middle - 1;
  }
  const after = low + 1;
  const isAfter = !isStep && values[2 * after] - x < x - values[2 * low];
  const at = isAfter ? after : low;
  return [values[2 * at], values[2 * at + 1]];
}
