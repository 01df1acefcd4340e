// The network: nodes by role, links by rate and use.

// More links than these have no labels of their own: hardly any would have room.
const MOST_LABELS = 40;
const STEPS = [0.01, 0.2, 0.4, 0.6, 0.8];

function useClass(used) {
  return `u${STEPS.filter((step) => used >= step).length}`;
}

// Wider is faster: a pixel for each doubling from 1 Mbit/s on.
function linkWidth(rate) {
  return rate ? clamp(1.5 + Math.log2(Math.max(rate, 1)) * 0.75, 1.5, 9) : 2;
}

// A drawing beside others is not as high as one alone.
function place(panel, width, zoom) {
  const most = width < 420 ? 320 : 480;
  const xs = panel.nodes.map((node) => node.x);
  const ys = panel.nodes.map((node) => node.y);
  let size = [Math.max(...xs), Math.max(...ys)];
  // A long drawing is turned to lie down in a wide page, and to stand in a narrow one.
  const turned = width < 560 && size[0] > size[1];
  if (turned) size = [size[1], size[0]];
  const margin = { x: Math.min(64, width / 6), y: 40 };
  const wide = width - 2 * margin.x;
  const unit = Math.min(size[0] > 0 ? wide / size[0] : 170, 280);
  const down = size[1] > 0 ? clamp(unit, 60, Math.max(60, most / size[1])) : 0;
  const height = Math.max(size[1] * down + 2 * margin.y, 110);
  const start = (width - size[0] * unit) / 2;
  const centre = [width / 2, height / 2];
  const spots = panel.nodes.map((node) => {
    const [x, y] = turned ? [node.y, node.x] : [node.x, node.y];
    const at = [start + x * unit, (height - size[1] * down) / 2 + y * down];
    return at.map((value, i) => centre[i] + (value - centre[i]) * zoom.scale + zoom.by[i]);
  });
  return { spots, height, turned };
}

function nodeShape(role, [x, y], small) {
  const r = small ? 4 : 9;
  const [a, b] = [x.toFixed(1), y.toFixed(1)];
  const box = (s, extra) =>
    `<rect class="node ${extra}" x="${(x - s).toFixed(1)}" y="${(y - s).toFixed(1)}"` +
    ` width="${2 * s}" height="${2 * s}"/>`;
  if (role === "producer") return box(r - 1, "producer");
  const circle = (s, kind) => `<circle class="node ${kind}" cx="${a}" cy="${b}" r="${s}"/>`;
  if (role === "consumer") return circle(r, "consumer");
  if (role === "consumer and producer") return box(r, "producer") + circle(r - 4, "consumer");
  return circle(small ? 3 : 6, "forwarder");
}

// The two ends of a direction, moved to its right-hand side.
function ends(link, spots) {
  const [a, b] = [spots[link.from], spots[link.to]];
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(dx, dy) || 1;
  const aside = linkWidth(link.rate) / 2 + 0.75;
  const [ox, oy] = [(-dy / length) * aside, (dx / length) * aside];
  return { a: [a[0] + ox, a[1] + oy], b: [b[0] + ox, b[1] + oy], dx, dy, length };
}

function drawMap(panel, width, zoom, chosen) {
  const { spots, height, turned } = place(panel, width, zoom);
  const small = panel.nodes.length > 60;
  const parts = [];
  const labels = [];
  panel.links.forEach((link, i) => {
    const { a, b } = ends(link, spots);
    const isChosen = chosen && chosen.link === i ? " chosen" : "";
    parts.push(`<line class="way ${useClass(link.used)}${isChosen}" x1="${a[0].toFixed(1)}"` +
      ` y1="${a[1].toFixed(1)}" x2="${b[0].toFixed(1)}" y2="${b[1].toFixed(1)}"` +
      ` stroke-width="${linkWidth(link.rate).toFixed(1)}"/>`);
  });
  // Links make room for nodes and their names.
  const taken = spots.map((spot) => spot.slice());
  panel.nodes.forEach((node, i) => {
    const isChosen = chosen && chosen.node === i ? ' class="chosen"' : "";
    parts.push(`<g${isChosen}>${nodeShape(node.role, spots[i], small)}</g>`);
    if (small) return;
    const [x, y] = spots[i];
    const at = turned
      ? `x="${(x - 14).toFixed(1)}" y="${y.toFixed(1)}" dy=".32em" text-anchor="end"`
      : `x="${x.toFixed(1)}" y="${(y + 25).toFixed(1)}" text-anchor="middle"`;
    labels.push(`<text class="label halo" ${at}>${escaped(node.name)}</text>`);
    taken.push(...(turned ? along(node.name, [x - 14, y], [1, 0], "end")
      : along(node.name, [x, y + 21], [1, 0], "middle")));
  });
  if (panel.links.length / 2 <= MOST_LABELS) {
    labels.unshift(...linkLabels(panel, spots, turned, taken));
  }
  return { inside: parts.join("") + labels.join(""), spots, frame: { width, height } };
}

// Places along a text, so close that nothing fits between them.
function along(text, [x, y], [dx, dy], anchor) {
  const length = textWidth(text) * 0.9;
  const start = anchor === "start" ? 0 : anchor === "end" ? -length : -length / 2;
  const count = Math.ceil(length / 10) + 1;
  return Array.from({ length: count }, (_, i) => {
    const at = start + (length * i) / Math.max(count - 1, 1);
    return [x + dx * at, y + dy * at];
  });
}

// Whether there is room at these places, which are taken then.
function take(taken, places) {
  const isNear = ([x, y]) => taken.some(([a, b]) => Math.abs(a - x) < 11 && Math.abs(b - y) < 12);
  if (places.some(isNear)) return false;
  taken.push(...places);
  return true;
}

// The label of a link and its place: rate and delay on one side, use on the other.
function linkLabel(there, back, spots, turned, isShort) {
  const [a, b] = [spots[there.from], spots[there.to]];
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const what = there.label === back.label ? there.label : `${there.label} / ${back.label}`;
  const used = `${Math.round(Math.max(there.used, back.used) * 100)} % used`;
  const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const text = (line, x, y, anchor) =>
    `<text class="note halo" x="${x.toFixed(1)}" y="${y.toFixed(1)}" dy=".32em"` +
    ` text-anchor="${anchor}">${escaped(line)}</text>`;
  const aside = linkWidth(there.rate) + linkWidth(back.rate);
  if (turned || Math.abs(dy) > Math.abs(dx) * 2) {
    const lines = isShort ? [used] : what.split(", ").concat(used);
    const first = y - (lines.length - 1) * 7;
    const at = (i) => [x + aside / 2 + 9, first + i * 14];
    return {
      inside: lines.map((line, i) => text(line, ...at(i), "start")).join(""),
      places: lines.flatMap((line, i) => along(line, at(i), [1, 0], "start")),
    };
  }
  // Along the link, never upside down.
  const slope = Math.atan(dy / (dx || 1e-9));
  const [cos, sin] = [Math.cos(slope), Math.sin(slope)];
  const room = Math.hypot(dx, dy) - 40;
  const up = aside / 2 + 10;
  const whole = room < textWidth(what) ? what.split(", ") : [what];
  const above = isShort ? [] : whole.map((line, i) => [line, -up - (whole.length - 1 - i) * 14]);
  const lines = above.concat([[used, up]]);
  return {
    inside: `<g transform="translate(${x.toFixed(1)} ${y.toFixed(1)})` +
      ` rotate(${((slope * 180) / Math.PI).toFixed(1)})">` +
      lines.map(([line, by]) => text(line, 0, by, "middle")).join("") + "</g>",
    places: lines.flatMap(([line, by]) => along(line, [x - sin * by, y + cos * by], [cos, sin], "middle")),
  };
}

// The labels that have room: the most used links come first. A label becomes shorter before it is
// omitted.
function linkLabels(panel, spots, turned, taken) {
  const pairs = [];
  // Directions come in pairs with one label.
  for (let i = 0; i + 1 < panel.links.length; i += 2) {
    pairs.push([panel.links[i], panel.links[i + 1]]);
  }
  const use = ([there, back]) => Math.max(there.used, back.used);
  pairs.sort((a, b) => use(b) - use(a));
  return pairs.map(([there, back]) => {
    const labels = [false, true].map((isShort) => linkLabel(there, back, spots, turned, isShort));
    const fits = labels.find((label) => take(taken, label.places));
    return fits ? fits.inside : "";
  });
}

// The thing at the pointer: a node, else a link.
function pick(panel, spots, x, y) {
  let best = { distance: 16 };
  panel.nodes.forEach((_, i) => {
    const distance = Math.hypot(spots[i][0] - x, spots[i][1] - y) - 6;
    if (distance < best.distance) best = { distance, node: i };
  });
  if (best.node !== undefined && best.distance < 8) return best;
  panel.links.forEach((link, i) => {
    const { a, b } = ends(link, spots);
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const along = clamp(((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1), 0, 1);
    const distance = Math.hypot(a[0] + along * dx - x, a[1] + along * dy - y);
    if (distance < best.distance) best = { distance, link: i };
  });
  return best.node === undefined && best.link === undefined ? null : best;
}
