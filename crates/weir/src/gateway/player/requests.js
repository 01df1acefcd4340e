// The requests of the player: the browser's times, and what the gateway's Server-Timing says of the
// network behind it.

// Requests that are kept, and rows and points of them that are shown.
const MOST_KEPT = 500;
const MOST_SHOWN = 100;
// The rate is that of the latest requests.
const RECENT = 10;
// Origins with a colour of their own.
const COLOURS = 4;
const LONGEST_LABEL = 80;
// The time of a smaller answer, in bytes, is that of the round trip: it has no rate.
const LEAST_RATED = 10_000;
// Bytes of `transferSize` that stand for headers of any length (Resource Timing, `transferSize`).
const HEADERS = 300;

// Three significant digits, as everywhere in Weir.
function digits(number) {
  if (!(number > 0)) return "0";
  const behind = Math.max(0, 2 - Math.floor(Math.log10(number)));
  return number >= 1000 ? String(Math.round(number)) : number.toFixed(Math.min(behind, 6));
}

function seconds(ms) {
  return ms < 1000 ? digits(ms) + " ms" : digits(ms / 1000) + " s";
}

// The end of a path, without version and percent signs.
function label(path) {
  const parts = path.split("/").filter((part) => part !== "" && !/^(v|54|35)=/.test(part));
  let text = parts.slice(-1).join("") || path;
  try {
    text = decodeURIComponent(text);
  } catch {
    // It is shown as it is.
  }
  // Directions and control characters of a hostile name would change the line around it.
  text = text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
  return text.length > LONGEST_LABEL ? text.slice(0, LONGEST_LABEL - 1) + "…" : text;
}

function read(entry) {
  const said = new Map(entry.serverTiming.map((one) => [one.name, one]));
  const took = entry.responseEnd - entry.startTime;
  const bytes = entry.encodedBodySize;
  // An answer from the browser's own cache has the fields of the time when it was stored.
  const isCached = entry.transferSize === 0 && bytes > 0;
  // The rest was in the browser's cache: all of it before a status 304, or a part of a file.
  const come = Math.min(bytes, Math.max(0, entry.transferSize - HEADERS));
  const fact = (name) => (isCached ? undefined : said.get(name));
  const isRated = took > 0 && come >= LEAST_RATED && entry.responseStatus < 400;
  return {
    label: label(new URL(entry.name).pathname),
    from: entry.startTime,
    to: entry.responseEnd,
    bytes,
    isCached,
    // A browser that has enough of a file ends the request (status 0): what has come counts.
    hasFailed: entry.responseStatus >= 400 || (entry.responseStatus === 0 && !isRated),
    status: entry.responseStatus,
    come,
    rate: isRated ? (come * 8) / took / 1000 : undefined,
    firstByte: entry.responseStart > 0 ? entry.responseStart - entry.startTime : undefined,
    roundTrip: fact("rtt")?.duration,
    origin: origin(isCached, fact("node")?.description, fact("hops")?.description),
  };
}

function origin(isCached, node, hops) {
  if (isCached) return "browser's cache";
  if (node === undefined || hops === undefined) return "not reported";
  if (hops === "0") return "gateway's forwarder";
  return `node ${node.slice(0, 8)}, ${hops} ${hops === "1" ? "hop" : "hops"}`;
}

class Requests {
  constructor(changed) {
    this.all = [];
    this.origins = [];
    this.began = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) this.add(entry);
      changed();
    });
    observer.observe({ type: "resource", buffered: true });
  }

  // Forgets the requests for earlier content.
  restart() {
    this.all = [];
    this.origins = [];
    this.began = performance.now();
  }

  add(entry) {
    const url = new URL(entry.name);
    const isOwn = url.pathname.startsWith(location.pathname);
    if (url.origin !== location.origin || isOwn || entry.startTime < this.began) return;
    const request = read(entry);
    const after = this.all.findLastIndex((one) => one.from <= request.from) + 1;
    this.all.splice(after, 0, request);
    if (this.all.length > MOST_KEPT) this.all.shift();
    const isNew = !request.hasFailed && !this.origins.includes(request.origin);
    // One more than have a colour shows that there are others.
    if (isNew && this.origins.length <= COLOURS) this.origins.push(request.origin);
    // The browser's own list is not needed.
    performance.clearResourceTimings();
  }

  good() {
    return this.all.filter((one) => !one.hasFailed);
  }

  // In Mbit/s, over the time in which one of the latest requests was under way.
  rate() {
    const recent = this.good().filter((one) => one.rate !== undefined).slice(-RECENT);
    const [bytes, busy] = [recent.reduce((sum, one) => sum + one.come, 0), union(recent)];
    return busy > 0 ? (bytes * 8) / busy / 1000 : undefined;
  }

  // The latest one and the smallest one.
  roundTrip() {
    const known = this.all.map((one) => one.roundTrip).filter((one) => one !== undefined);
    return known.length > 0 ? [known[known.length - 1], Math.min(...known)] : undefined;
  }

  colour(origin) {
    const at = this.origins.indexOf(origin);
    return at < 0 ? COLOURS : Math.min(at, COLOURS);
  }
}

// The time in which one of the requests was under way, in ms.
function union(requests) {
  let [sum, end] = [0, -Infinity];
  for (const { from, to } of [...requests].sort((one, other) => one.from - other.from)) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}

function cell(text, isLeft) {
  const cell = document.createElement("td");
  cell.textContent = text;
  if (isLeft) {
    cell.className = "left";
    cell.title = text;
  }
  return cell;
}

// The newest first.
function showTable(body, requests) {
  const rows = requests.all.slice(-MOST_SHOWN).reverse().map((one) => {
    const row = document.createElement("tr");
    const known = (number) => (number === undefined ? "–" : digits(number));
    const outcome = one.status === 0 ? "ended early" : `status ${one.status}`;
    row.append(
      cell(((one.from - requests.began) / 1000).toFixed(2)),
      cell(one.label, true),
      cell(digits(one.bytes / 1000)),
      cell(known(one.rate)),
      cell(known(one.firstByte)),
      cell(known(one.roundTrip)),
      cell(one.hasFailed ? outcome : one.origin, true),
    );
    return row;
  });
  body.replaceChildren(...rows);
}

const SVG = "http://www.w3.org/2000/svg";

function draw(parent, name, attributes, text) {
  const one = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  parent.append(one);
  return one;
}

// A round number that is not smaller.
function ceiling(number) {
  const unit = 10 ** Math.floor(Math.log10(number || 1));
  return unit * [1, 2, 5, 10].find((factor) => factor * unit >= number);
}

// Rate above, round trip below, over the same time.
function showPicture(picture, requests, stalls, now) {
  const [width, high, left, top] = [picture.clientWidth || 600, 110, 44, 22];
  const from = requests.began;
  const shown = requests.good().slice(-MOST_SHOWN);
  const since = shown.length > 0 && requests.good().length > MOST_SHOWN ? shown[0].from : from;
  const x = (at) => left + ((at - since) / Math.max(now - since, 1000)) * (width - left - 8);
  picture.replaceChildren();
  picture.setAttribute("viewBox", `0 0 ${width} ${2 * (high + top) + 22}`);
  const panels = [
    ["Rate (Mbit/s)", (one) => one.rate],
    ["Round trip (ms)", (one) => one.roundTrip],
  ];
  panels.forEach(([title, value], number) => {
    const base = (number + 1) * (high + top);
    const points = shown.filter((one) => value(one) !== undefined);
    const largest = ceiling(Math.max(0, ...points.map(value)));
    const y = (one) => base - (value(one) / largest) * (high - 8);
    for (const [begin, end] of stalls) {
      if ((end ?? now) < since) continue;
      const [one, other] = [x(Math.max(begin, since)), x(end ?? now)];
      const size = { width: Math.max(other - one, 1), height: high - 8 };
      draw(picture, "rect", { class: "band", x: one, y: base - high + 8, ...size });
    }
    draw(picture, "text", { class: "title", x: left, y: base - high }, title);
    for (const part of [0, 0.5, 1]) {
      const at = base - part * (high - 8);
      draw(picture, "line", { class: "grid", x1: left, x2: width - 8, y1: at, y2: at });
      const shownAs = { x: left - 6, y: at + 4, "text-anchor": "end" };
      draw(picture, "text", shownAs, part === 0 ? "0" : digits(largest * part));
    }
    for (const one of points) {
      const ends = { x1: x(Math.max(one.from, since)), x2: Math.max(x(one.to), x(one.from) + 3) };
      const mark = { class: `mark o${requests.colour(one.origin)}`, y1: y(one), y2: y(one) };
      const line = draw(picture, "line", { ...mark, ...ends });
      draw(line, "title", {}, `${one.label}: ${digits(value(one))}, ${one.origin}`);
    }
  });
  const below = 2 * (high + top) + 16;
  const ends = [[left, since, "start"], [width - 8, Math.max(now, since + 1000), "end"]];
  for (const [at, time, anchor] of ends) {
    const text = digits((time - from) / 1000) + " s";
    draw(picture, "text", { x: at, y: below, "text-anchor": anchor }, text);
  }
}

function showKey(key, requests) {
  const named = requests.origins.slice(0, COLOURS);
  const others = requests.origins.length > COLOURS ? ["other origins"] : [];
  const items = [...named, ...others].map((origin, number) => {
    const item = document.createElement("li");
    const mark = draw(item, "svg", { viewBox: "0 0 24 12", "aria-hidden": "true" });
    draw(mark, "line", { class: `mark o${number}`, x1: 0, x2: 24, y1: 6, y2: 6 });
    item.append(origin);
    return item;
  });
  key.replaceChildren(...items);
}
