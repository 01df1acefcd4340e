// The page: pictures are drawn when they come into sight, and answer pointer and keys.

// Times are shown alike in all pictures.
const shared = { view: null };
const drawn = [];

function isOverTime(picture) {
  return picture.form === "time";
}

function drawPanel(picture, panel, state, width, clip) {
  if (picture.form === "map") return drawMap(panel, width, state.zoom, state.chosen);
  const view = state.view();
  if (picture.form === "dots") {
    return drawDots(picture, panel, { width, view, shown: state.shown, clip });
  }
  const range = yRange(picture, picture.panels, state.shown, view);
  return drawLines(picture, panel, { width, view, range, shown: state.shown, clip });
}

// The visible part of a picture.
function newState(picture) {
  const hidden = new Set();
  const whole = picture.form === "dots"
    ? dotsRange(picture, picture.panels) : xRange(picture, picture.panels);
  const state = {
    whole,
    own: null,
    zoom: { scale: 1, by: [0, 0] },
    chosen: null,
    shown: (panel, i) => !hidden.has(`${picture.panels.indexOf(panel)} ${i}`),
    toggle: (panel, i) => {
      const key = `${panel} ${i}`;
      if (!hidden.delete(key)) hidden.add(key);
      return !hidden.has(key);
    },
    view: () => (isOverTime(picture) ? shared.view : state.own) || whole,
    set: (view) => {
      if (isOverTime(picture)) shared.view = view;
      else state.own = view;
    },
  };
  return state;
}

function show(picture, figure, state) {
  const plots = figure.querySelectorAll(".plot");
  plots.forEach((plot, i) => {
    const width = plot.clientWidth;
    if (!width) return;
    const result = drawPanel(picture, picture.panels[i], state, width, `clip-${picture.id}-${i}`);
    const { height } = result.frame;
    plot.firstElementChild.innerHTML =
      `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"` +
      ` aria-hidden="true">${result.inside}<g class="cursor"></g></svg>`;
    plot.result = result;
  });
  const isWhole = picture.form === "map"
    ? state.zoom.scale === 1 && !state.zoom.by[0] && !state.zoom.by[1]
    : state.view() === state.whole;
  figure.querySelector("[data-do=all]").disabled = isWhole;
}

function showAll(picture, figure, state) {
  if (!isOverTime(picture)) return show(picture, figure, state);
  for (const other of drawn) if (isOverTime(other.picture)) show(other.picture, other.figure, other.state);
}

// Magnifies around a place between 0 and 1 of the visible part.
function zoomBy(picture, figure, state, factor, around = 0.5) {
  if (picture.form === "map") {
    state.zoom.scale = clamp(state.zoom.scale * factor, 1, 40);
    if (state.zoom.scale === 1) state.zoom.by = [0, 0];
    return show(picture, figure, state);
  }
  const [low, high] = state.view();
  const span = clamp((high - low) / factor, (state.whole[1] - state.whole[0]) / 1e6, Infinity);
  const at = low + (high - low) * around;
  move(picture, figure, state, at - span * around, at + span * (1 - around));
}

function move(picture, figure, state, low, high) {
  const [first, last] = limits(picture, state);
  const span = Math.min(high - low, last - first);
  const start = clamp(low, first, last - span);
  const isWhole = Math.abs(start - state.whole[0]) < span * 1e-9
    && Math.abs(start + span - state.whole[1]) < span * 1e-9;
  state.set(isWhole ? null : [start, start + span]);
  showAll(picture, figure, state);
}

// The limits of movement: a run may go on behind the last flow's end.
function limits(picture, state) {
  if (!isOverTime(picture)) return state.whole;
  let last = state.whole[1];
  for (const line of picture.panels.flatMap((panel) => panel.lines)) {
    for (const values of [line.raw, line.smooth]) {
      if (values.length) last = Math.max(last, values[values.length - 2]);
    }
  }
  return [0, last];
}

function showWhole(picture, figure, state) {
  state.set(null);
  state.zoom = { scale: 1, by: [0, 0] };
  showAll(picture, figure, state);
}

// The thing at a place of a plot: its text, and its marks there.
function answer(picture, panel, plot, state, x, y) {
  const { frame, spots } = plot.result;
  if (picture.form === "map") {
    const found = pick(panel, spots, x, y);
    if (!found) return null;
    return { found, text: found.node !== undefined ? panel.nodes[found.node].says : panel.links[found.link].says };
  }
  if (picture.form === "dots") {
    const row = frame.rows.reduce((best, row) =>
      Math.abs(row.y - y) < Math.abs(best.y - y) ? row : best, frame.rows[0]);
    if (!row) return null;
    const [value, low, high] = row.line.raw;
    const interval = high > low ? ` (${shortNumber(low)} to ${shortNumber(high)})` : "";
    return {
      text: `${row.line.label}: ${withUnit(value, picture.x.unit)}${interval}`,
      cursor: `<line class="cursor" x1="${frame.left}" x2="${frame.right}" y1="${row.y}" y2="${row.y}"/>`,
    };
  }
  if (picture.form === "scatter") return answerPoint(picture, panel, frame, state, x, y);
  const at = frame.value(clamp(x, frame.left, frame.right));
  const isStep = picture.form === "cdf";
  const rows = [];
  const marks = [];
  panel.lines.forEach((line, i) => {
    const found = state.shown(panel, i) && nearest(line, at, isStep);
    if (!found) return;
    const unit = picture.y.unit;
    rows.push(`${line.label}: ${isStep ? `${Math.round(found[1] * 100)} %` : withUnit(found[1], unit)}`);
    const [cx, cy] = [isStep ? clamp(x, frame.left, frame.right) : frame.x(found[0]), frame.y(found[1])];
    if (cx >= frame.left && cx <= frame.right) {
      marks.push(`<circle class="f${line.colour}" cx="${cx}" cy="${cy}" r="3.5"/>`);
    }
  });
  const here = clamp(x, frame.left, frame.right);
  return {
    text: [`${picture.x.label} ${withUnit(at, picture.x.unit)}`].concat(rows).join("\n"),
    cursor: `<line class="cursor" x1="${here}" x2="${here}" y1="${frame.top}" y2="${frame.bottom}"/>` +
      marks.join(""),
  };
}

// The points that are shown, from left to right.
function pointsOf(panel, frame, state) {
  const all = [];
  panel.lines.forEach((line, i) => {
    if (!state.shown(panel, i)) return;
    for (let j = 0; j < line.raw.length; j += 2) {
      const [x, y] = [line.raw[j], line.raw[j + 1]];
      all.push({ line, x, y, at: [frame.x(x), frame.y(y)] });
    }
  });
  return all.sort((a, b) => a.at[0] - b.at[0]);
}

function answerPoint(picture, panel, frame, state, x, y) {
  const far = ({ at }) => (at[0] - x) ** 2 + (at[1] - y) ** 2;
  const all = pointsOf(panel, frame, state);
  if (!all.length) return null;
  const best = all.reduce((near, point) => (far(point) < far(near) ? point : near));
  const [cx, cy] = best.at.map((value) => value.toFixed(1));
  return {
    text: [best.line.label, `${picture.x.label} ${withUnit(best.x, picture.x.unit)}`,
      `${picture.y.label} ${withUnit(best.y, picture.y.unit)}`].filter(Boolean).join("\n"),
    cursor: `<circle class="line c${best.line.colour}" fill="none" cx="${cx}" cy="${cy}" r="8"/>`,
  };
}

function say(plot, found, x, y) {
  const tip = plot.querySelector(".tip");
  plot.querySelector("g.cursor").innerHTML = found?.cursor || "";
  tip.hidden = !found;
  if (!found) return;
  tip.textContent = found.text;
  const room = plot.clientWidth - tip.offsetWidth;
  tip.style.left = `${clamp(x + 14 > room ? x - tip.offsetWidth - 14 : x + 14, 0, Math.max(room, 0))}px`;
  tip.style.top = `${Math.max(y - tip.offsetHeight - 8, 0)}px`;
}

function followPointer(picture, panel, plot, figure, state) {
  let from = null;
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plot.result) return;
    from = place(event);
    from.by = state.zoom.by.slice();
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    if (!plot.result) return;
    const [x, y] = place(event);
    if (from && picture.form === "map" && state.zoom.scale > 1) {
      state.zoom.by = [from.by[0] + x - from[0], from.by[1] + y - from[1]];
      return show(picture, figure, state);
    }
    const found = answer(picture, panel, plot, state, x, y);
    if (found && from && picture.form !== "map") {
      const { left, right, top, bottom } = plot.result.frame;
      const [a, b] = [from[0], x].map((at) => clamp(at, left, right)).sort((p, q) => p - q);
      found.cursor += `<rect class="chosen" x="${a}" y="${top}" width="${b - a}" height="${bottom - top}"/>`;
    }
    say(plot, found, x, y);
  });
  plot.addEventListener("pointerup", (event) => {
    const [x] = place(event);
    const start = from;
    from = null;
    if (!start || picture.form === "map" || Math.abs(x - start[0]) < 6) return;
    const { left, right, value } = plot.result.frame;
    const [a, b] = [start[0], x]
      .map((at) => placeOf(picture.x, value(clamp(at, left, right))))
      .sort((p, q) => p - q);
    move(picture, figure, state, a, b);
  });
  plot.addEventListener("pointercancel", () => { from = null; });
  plot.addEventListener("pointerleave", () => { if (!from) say(plot, null); });
  plot.addEventListener("dblclick", () => showWhole(picture, figure, state));
  plot.addEventListener("wheel", (event) => {
    // Without a key the wheel scrolls the page.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, right } = plot.result.frame;
    const around = clamp((place(event)[0] - left) / (right - left), 0, 1) || 0.5;
    zoomBy(picture, figure, state, event.deltaY < 0 ? 1.25 : 0.8, around);
  }, { passive: false });
}

function followKeys(picture, panel, plot, figure, state) {
  let at = null;
  const step = (by) => {
    const { frame, spots } = plot.result;
    if (picture.form === "map") {
      const count = panel.nodes.length + panel.links.length;
      at = at === null ? 0 : (at + by + count) % count;
      const isNode = at < panel.nodes.length;
      state.chosen = isNode ? { node: at } : { link: at - panel.nodes.length };
      show(picture, figure, state);
      const link = panel.links[at - panel.nodes.length];
      const middle = isNode ? spots[at]
        : [0, 1].map((i) => (spots[link.from][i] + spots[link.to][i]) / 2);
      return say(plot, { text: isNode ? panel.nodes[at].says : link.says }, ...middle);
    }
    if (picture.form === "dots") {
      at = clamp(at === null ? 0 : at + by, 0, frame.rows.length - 1);
      const y = frame.rows[at].y;
      return say(plot, answer(picture, panel, plot, state, frame.left, y), frame.left, y);
    }
    if (picture.form === "scatter") {
      const all = pointsOf(panel, frame, state);
      if (!all.length) return;
      at = clamp(at === null ? 0 : at + by, 0, all.length - 1);
      const [x, y] = all[at].at;
      return say(plot, answerPoint(picture, panel, frame, state, x, y), x, y);
    }
    const middle = (frame.left + frame.right) / 2;
    at = clamp((at ?? middle) + (by * (frame.right - frame.left)) / 50, frame.left, frame.right);
    say(plot, answer(picture, panel, plot, state, at, frame.top), at, frame.top);
  };
  plot.addEventListener("keydown", (event) => {
    if (!plot.result || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      ArrowUp: () => step(-1), ArrowDown: () => step(1),
      "+": () => zoomBy(picture, figure, state, 2, share()),
      "=": () => zoomBy(picture, figure, state, 2, share()),
      "-": () => zoomBy(picture, figure, state, 0.5, share()),
      0: () => showWhole(picture, figure, state),
      Escape: () => { state.chosen = null; showWhole(picture, figure, state); say(plot, null); },
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  const share = () => {
    const { left, right } = plot.result.frame;
    return ["map", "dots", "scatter"].includes(picture.form) || at === null
      ? 0.5 : clamp((at - left) / (right - left), 0, 1);
  };
  plot.addEventListener("blur", () => { at = null; state.chosen = null; say(plot, null); });
}

function connect(picture, figure, state) {
  figure.querySelectorAll(".plot").forEach((plot, i) => {
    followPointer(picture, picture.panels[i], plot, figure, state);
    followKeys(picture, picture.panels[i], plot, figure, state);
  });
  figure.querySelectorAll("button[data-line]").forEach((button) => {
    const [panel, line] = button.dataset.line.split(" ").map(Number);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(state.toggle(panel, line)));
      show(picture, figure, state);
    });
  });
  const does = {
    in: () => zoomBy(picture, figure, state, 2),
    out: () => zoomBy(picture, figure, state, 0.5),
    all: () => showWhole(picture, figure, state),
    svg: () => save(`${picture.id}.svg`, "image/svg+xml", pictureFile(picture, state)),
    csv: () => save(`${picture.id}.csv`, "text/csv", pictureTable(picture)),
  };
  figure.querySelectorAll("[data-do]").forEach((button) => {
    button.addEventListener("click", does[button.dataset.do]);
  });
}

function begin() {
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  const draw = (picture) => {
    const figure = document.getElementById(picture.id);
    sight.unobserve(figure);
    if (drawn.some((one) => one.picture === picture)) return;
    const state = newState(picture);
    drawn.push({ picture, figure, state });
    show(picture, figure, state);
    connect(picture, figure, state);
  };
  const sight = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      draw(pictures.find((one) => one.id === entry.target.id));
    }
  }, { rootMargin: "600px" });
  for (const picture of pictures) sight.observe(document.getElementById(picture.id));
  const again = () => drawn.forEach(({ picture, figure, state }) => show(picture, figure, state));
  new ResizeObserver(again).observe(document.querySelector("main"));
  // On paper everything is in sight.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.more")) details.open = true;
    pictures.forEach(draw);
    again();
  });
}

begin();
