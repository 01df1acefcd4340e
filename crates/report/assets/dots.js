// A row for each of several things: a dot at its value, a bar for its interval.

const ROW = 26;

function dotsRange(picture, panels) {
  let high = picture.x.most || 0;
  let low = 0;
  for (const line of panels.flatMap((panel) => panel.lines)) {
    high = picture.x.most || Math.max(high, line.raw[2], line.published[0] || 0);
    low = Math.min(low, line.raw[1], line.published[0] || 0);
  }
  return [Math.min(low, 0), picture.x.most || niceEnd(high * 1.02, 5)];
}

function drawDots(picture, panel, options) {
  const { width, view, shown, clip } = options;
  const lines = panel.lines.filter((_, i) => shown(panel, i));
  const longest = Math.max(...panel.lines.map((line) => textWidth(line.label)));
  // Without room beside the dots, names are above them.
  const isBeside = longest + 16 < width * 0.45;
  const row = isBeside ? ROW : ROW + 12;
  const left = isBeside ? longest + 16 : 10;
  const right = width - 16;
  const top = 10;
  const bottom = top + row * Math.max(lines.length, 1);
  const height = bottom + 42;
  const x = (value) => left + ((value - view[0]) / (view[1] - view[0])) * (right - left);
  const xTicks = ticks(view[0], view[1], (right - left) / 75);
  const parts = xTicks.map((tick) => {
    const at = x(tick).toFixed(1);
    return `<line class="grid" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>` +
      `<text class="tick" x="${at}" y="${bottom + 16}" text-anchor="middle">` +
      `${tickText(tick, xTicks)}</text>`;
  });
  parts.push(`<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`);
  parts.push(`<text class="name" x="${right}" y="${height - 5}" text-anchor="end">` +
    `${escaped(axisText(picture.x))}</text>`);
  parts.push(`<clipPath id="${clip}"><rect x="${left - 6}" y="0" width="${right - left + 12}"` +
    ` height="${bottom}"/></clipPath>`);
  const marks = [];
  const rows = lines.map((line, i) => {
    const y = top + row * (i + (isBeside ? 0.5 : 0.72));
    const [value, low, high] = line.raw;
    const label = isBeside
      ? `<text class="label" x="${left - 10}" y="${y}" dy=".32em" text-anchor="end">`
      : `<text class="label" x="${left}" y="${y - 10}">`;
    parts.push(`${label}${escaped(line.label)}</text>`);
    const ends = [low, high].map((end) => x(end).toFixed(1));
    if (high > low) {
      marks.push(`<path class="line c${line.colour}" d="M${ends[0]} ${y}H${ends[1]}` +
        `M${ends[0]} ${y - 4}v8M${ends[1]} ${y - 4}v8"/>`);
    }
    marks.push(`<circle class="f${line.colour}" cx="${x(value).toFixed(1)}" cy="${y}" r="4"/>`);
    if (line.published.length) marks.push(diamond(x(line.published[0]), y, line.colour));
    return { line, y };
  });
  parts.push(`<g clip-path="url(#${clip})">${marks.join("")}</g>`);
  const frame = {
    width, height, left, right, top, bottom, x, rows,
    value: (at) => view[0] + ((at - left) / (right - left)) * (view[1] - view[0]),
  };
  return { inside: parts.join(""), frame };
}
