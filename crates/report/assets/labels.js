// Places of names in a drawing of lines: beside each other, and where no line goes through them.

const LINE_HEIGHT = 14;

// The lines of a drawing as they are seen: pixels, one number behind the other.
function seen(lines, f, isStep) {
  return lines.flatMap((line) => [line.raw, line.smooth]).map((values) => {
    const points = [];
    for (let i = 0; i < values.length; i += 2) {
      const [x, y] = [f.x(values[i]), f.y(values[i + 1])];
      if (isStep && i) points.push(x, points[points.length - 1]);
      points.push(x, y);
    }
    if (isStep && points.length) points.push(f.right, points[points.length - 1]);
    return points;
  });
}

// The number of pieces of such lines that go through a box.
function crossings(box, all) {
  let count = 0;
  for (const points of all) {
    for (let i = 0; i + 3 < points.length; i += 2) {
      const [x0, y0, x1, y1] = points.slice(i, i + 4);
      if (x1 < box.left || x0 > box.right) continue;
      const at = (x) => y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
      const ends = x1 > x0
        ? [at(Math.max(x0, box.left)), at(Math.min(x1, box.right))] : [y0, y1];
      if (Math.min(...ends) < box.bottom && Math.max(...ends) > box.top) count += 1;
    }
  }
  return count;
}

function isOver(box, other) {
  return box.left < other.right && other.left < box.right
    && box.top < other.bottom && other.top < box.bottom;
}

// The box of a text that begins at `x` with the baseline `y`.
function textBox(text, x, y) {
  const [right, top] = [x + textWidth(text) + 2, y - LINE_HEIGHT + 3];
  return { left: x - 2, right, top, bottom: y + 3, x, y };
}

// The first of several boxes that no line goes through, and otherwise the one with the fewest. It
// never overlaps boxes in `taken`.
function bestOf(boxes, f, taken, all) {
  let best = null;
  for (const box of boxes) {
    const isOut = box.left < f.left - 2 || box.right > f.right + 2
      || box.top < f.top - 6 || box.bottom > f.bottom;
    if (isOut || taken.some((other) => isOver(box, other))) continue;
    const count = crossings(box, all);
    if (!best || count < best.count) best = { ...box, count };
    if (!count) break;
  }
  if (best) taken.push(best);
  return best;
}

// Level lines, their names above or below them, as far to the right as there is room.
function drawLimits(panel, f, range, taken, all) {
  return panel.limits
    .filter((limit) => limit.value <= range[1])
    .map((limit) => {
      const y = f.y(limit.value);
      const boxes = [];
      const last = f.right - 2 - textWidth(limit.label);
      for (let i = 0; i <= 24; i++) {
        const x = last - (i * (last - f.left)) / 24;
        boxes.push(textBox(limit.label, x, y - 4), textBox(limit.label, x, y + 13));
      }
      const at = bestOf(boxes, f, taken, all) || boxes[0];
      return `<line class="limit" x1="${f.left}" x2="${f.right}" y1="${y.toFixed(1)}"` +
        ` y2="${y.toFixed(1)}"/><text class="note halo" x="${at.x.toFixed(1)}"` +
        ` y="${at.y.toFixed(1)}">${escaped(limit.label)}</text>`;
    })
    .join("");
}

// The names of upright lines, in rows above the drawing, the first beside the axis' own name: for
// each where it is, and its row.
function momentRows(moments, name, x, [left, right]) {
  const ends = [textWidth(name) + 10];
  return moments
    .filter((moment) => x(moment.value) >= left - 1 && x(moment.value) <= right + 1)
    .sort((a, b) => a.value - b.value)
    .map((moment) => {
      const width = textWidth(moment.label);
      const start = clamp(x(moment.value) - width / 2, 0, right - width);
      let row = ends.findIndex((end) => end <= start);
      if (row < 0) row = ends.length;
      ends[row] = start + width + 8;
      return { moment, row, start };
    });
}

// Instants that something happened at.
function drawMoments(f) {
  return f.moments
    .map(({ moment, row, start }) => {
      const x = f.x(moment.value).toFixed(1);
      return `<line class="limit" x1="${x}" x2="${x}" y1="${f.top - 6}" y2="${f.bottom}"/>` +
        `<text class="note" x="${start.toFixed(1)}" y="${12 + 15 * row}">` +
        `${escaped(moment.label)}</text>`;
    })
    .join("");
}

// More medians than these have no names in the picture: the table has them anyway.
const MOST_NAMED = 3;

// Medians, with their names where no line goes.
function drawMarks(lines, f, taken, all) {
  const marked = lines.filter((line) => line.mark).sort((a, b) => a.mark[1] - b.mark[1]);
  const isNamed = marked.length <= MOST_NAMED;
  const y = f.y(0.5);
  const uprights = marked.map((line) => [f.x(line.mark[1]), y, f.x(line.mark[1]), f.bottom]);
  return marked
    .map((line) => {
      const x = f.x(line.mark[1]);
      if (x < f.left || x > f.right) return "";
      const text = marked.length > 1 ? `${line.label}: ${line.mark[0]}` : line.mark[0];
      const boxes = [];
      for (let away = 7; away < 250; away += 40) {
        for (let up = f.bottom - 8; up > f.top; up -= 15) {
          boxes.push(textBox(text, x + away, up), textBox(text, x - away - textWidth(text), up));
        }
      }
      const at = isNamed && bestOf(boxes, f, taken, all.concat(uprights));
      return `<line class="mark c${line.colour}" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}"` +
        ` y1="${y}" y2="${f.bottom}"/><circle class="f${line.colour}" cx="${x.toFixed(1)}"` +
        ` cy="${y}" r="3.5"/>` + (at && !at.count ? `<text class="note halo"` +
        ` x="${at.x.toFixed(1)}" y="${at.y.toFixed(1)}">${escaped(text)}</text>` : "");
    })
    .join("");
}
