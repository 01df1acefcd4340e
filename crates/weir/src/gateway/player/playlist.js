"use strict";
// An estimate of the segments that a playlist of DASH names. A few bytes can stand for billions of
// segments, and the library makes an object of each in the representations that it plays. So a
// template counts once, however many representations have it. It is read as text: segments that are
// hidden from this reading cost the memory of this page alone.

// The rest of a tag ends at the first `>` outside quotes.
const TAGS =
  /<(?:\w+:)?(MPD|Period|SegmentTemplate|SegmentList|S)\b((?:[^>"']+|"[^"]*"|'[^']*')*)/g;
// The lookbehinds let a match begin only where a word begins: others make long words quadratic.
const ATTRIBUTE = /(?<![\w:])([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
// Of a duration: the part before T, and the part behind it.
const PARTS = /(?<![\d.])([\d.]+)([YMDHS])/g;
const DAYS = { Y: 31_536_000, M: 2_592_000, D: 86_400 };
const HOURS = { H: 3600, M: 60, S: 1 };

// Of a duration as ISO 8601 has it.
function isoSeconds(text) {
  const [days, hours = ""] = text.split("T");
  let sum = 0;
  for (const [part, units] of [[days, DAYS], [hours, HOURS]]) {
    for (const [, number, unit] of part.matchAll(PARTS)) sum += Number(number) * (units[unit] ?? 0);
  }
  return sum;
}

function segmentsOf(text) {
  let [count, duration, timescale] = [0, 0, 1];
  for (const [, tag, rest] of text.matchAll(TAGS)) {
    const attributes = new Map();
    for (const [, name, one, other] of rest.matchAll(ATTRIBUTE)) attributes.set(name, one ?? other);
    const number = (name) => Number(attributes.get(name) ?? NaN);
    if (tag === "MPD" || tag === "Period") {
      const stated = attributes.get(tag === "MPD" ? "mediaPresentationDuration" : "duration");
      duration = Math.max(duration, isoSeconds(stated ?? ""));
    } else if (tag === "S") {
      const repeats = number("r") || 0;
      const isOpen = repeats < 0 && number("d") > 0;
      count += isOpen ? (duration * timescale) / number("d") : Math.max(repeats, 0) + 1;
    } else {
      timescale = number("timescale") > 0 ? number("timescale") : timescale;
      if (number("duration") > 0) count += (duration * timescale) / number("duration");
    }
  }
  return count;
}
