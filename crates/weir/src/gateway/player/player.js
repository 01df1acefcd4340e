// Plays content by its name, and shows start-up delay, stalls, rate, round trips and origins.
{
  // The largest playlist, and the largest segment, in bytes. Both are in memory as a whole.
  const LARGEST_LIST = 4e6;
  const LARGEST_SEGMENT = 2e8;
  // A film of a week has fewer, in segments of two seconds.
  const MOST_SEGMENTS = 500_000;
  const LONGEST_TEXT = 500;
  // A video that waits with more in hand, in seconds, waits for its own decoder.
  const IN_HAND = 0.5;
  const LOOK = 250;
  const LIBRARY = "library.js";
  const HLS = "application/vnd.apple.mpegurl";
  const DASH = "application/dash+xml";
  const LISTS = new Map([
    [HLS, HLS], ["application/x-mpegurl", HLS], ["audio/mpegurl", HLS], ["audio/x-mpegurl", HLS],
    [DASH, DASH],
  ]);
  const UNKNOWN = ["application/octet-stream", "application/mp4", "application/ogg", ""];

  const find = (selector) => document.querySelector(selector);
  const video = find("video");
  const [form, field, message, again] = ["#ask", "#name", "#message", "#again"].map(find);
  let isChanged = true;
  const requests = new Requests(() => (isChanged = true));
  let library;
  let policy;
  let player;
  // Counts contents: what comes for an earlier one is dropped.
  let turn = 0;
  // The content as it was asked for, and its address.
  let wanted = "";
  let address;
  let state = fresh();

  function fresh() {
    return {
      asked: 0, startup: undefined, stalls: [], pending: new Set(),
      isSeeking: false, hasFailed: false,
    };
  }

  function say(text, hasFailed) {
    message.textContent = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) + "…" : text;
    message.className = hasFailed ? "failed" : "";
    again.hidden = !hasFailed || address === undefined;
  }

  // A function that is true until other content is opened.
  function current() {
    const own = turn;
    return () => own === turn;
  }

  function fail(text) {
    if (state.hasFailed) return;
    state.hasFailed = true;
    say(text, true);
  }

  // The address of a name; undefined if it is none of this gateway.
  function located(text) {
    const path = text.trim().replace(/^ndn:(\/\/(?=\/))?/, "");
    if (!path.startsWith("/")) return undefined;
    try {
      const url = new URL(path.replace(/[?#\\]/g, encodeURIComponent), location.origin);
      return url.origin === location.origin && url.pathname !== "/" ? url : undefined;
    } catch {
      return undefined;
    }
  }

  // Asks for the first byte: the type of the content, or why there is none.
  async function probe(url) {
    const controller = new AbortController();
    const headers = { Range: "bytes=0-0" };
    // With one byte of it in the cache, the browser would ask for the rest, and not for the whole.
    const asked = { headers, cache: "no-store", signal: controller.signal };
    const answer = await fetch(url, asked);
    const isWhole = answer.ok && answer.status !== 206;
    if (isWhole) controller.abort();
    const text = isWhole ? "" : await answer.text();
    const type = (answer.headers.get("Content-Type") || "").split(";")[0].trim().toLowerCase();
    if (answer.status === 416) return { wrong: "the content is empty" };
    return answer.ok ? { type } : { wrong: `${text.trim()} (status ${answer.status})` };
  }

  // The library, or null if this gateway has none. It may have one later.
  function loaded() {
    library ??= new Promise((done) => {
      const script = document.createElement("script");
      // A page may make it only once.
      policy ??= window.trustedTypes?.createPolicy("weir-player", {
        createScriptURL: () => LIBRARY,
      });
      script.src = policy ? policy.createScriptURL("") : LIBRARY;
      const end = () => {
        if (window.shaka === undefined) library = undefined;
        script.remove();
        done(window.shaka ?? null);
      };
      for (const outcome of ["load", "error"]) script.addEventListener(outcome, end);
      document.head.append(script);
    });
    return library;
  }

  // The library's own requests, within limits.
  function limit(shaka) {
    const { RequestType, PluginPriority, registerScheme } = shaka.net.NetworkingEngine;
    const parse = (uri, request, type, progress, headers, config) => {
      const most = type === RequestType.MANIFEST ? LARGEST_LIST : LARGEST_SEGMENT;
      const { pending } = state;
      let bytes = 0;
      const check = (size) => {
        if (size <= most) return;
        operation.abort();
        const name = label(new URL(uri).pathname);
        const isCurrent = pending === state.pending;
        if (isCurrent) fail(`${name} is too large for this page: more than ${most / 1e6} MB`);
      };
      const operation = shaka.net.HttpFetchPlugin.parse(
        uri, request, type,
        (time, some, left) => {
          check((bytes += some));
          progress(time, some, left);
        },
        (fields) => {
          check(Number(fields["content-length"] || 0));
          headers(fields);
        },
        config,
      );
      pending.add(uri);
      return operation.finally(() => pending.delete(uri));
    };
    for (const scheme of ["http", "https"]) {
      registerScheme(scheme, parse, PluginPriority.APPLICATION, true);
    }
    return RequestType;
  }

  async function playByLibrary(shaka, url, type, isCurrent) {
    const types = limit(shaka);
    const own = new shaka.Player();
    player = own;
    const reject = (text) => {
      if (isCurrent()) fail(text);
      throw new Error(text);
    };
    await own.attach(video);
    // The gateway has the patience, and answers with an error at its end.
    const retryParameters = {
      maxAttempts: 2, baseDelay: 500, timeout: 0, stallTimeout: 0, connectionTimeout: 0,
    };
    own.configure({
      manifest: { retryParameters },
      streaming: { retryParameters },
      drm: { retryParameters },
    });
    const engine = own.getNetworkingEngine();
    engine.registerRequestFilter((_, request) => {
      // The library tries one address after the other.
      const isOwn = (uri) =>
        uri.startsWith("data:") || (URL.canParse(uri) && new URL(uri).origin === location.origin);
      if (request.uris.every(isOwn)) return;
      reject(
        "the playlist names content of another host, and this page plays content by name only",
      );
    });
    engine.registerResponseFilter((kind, response) => {
      if (kind !== types.MANIFEST) return;
      if (segmentsOf(new TextDecoder().decode(response.data)) <= MOST_SEGMENTS) return;
      reject("the playlist has too many segments for this page");
    });
    own.addEventListener("error", (event) => isCurrent() && failOf(event.detail));
    own.addEventListener("buffering", (event) => {
      if (isCurrent()) (event.buffering ? waits : goesOn)();
    });
    await own.load(url.href, undefined, type);
  }

  // Codes of errors: https://shaka-project.github.io/shaka-player/docs/api/shaka.util.Error.html
  function failOf(error) {
    const [where, status, text] = Array.isArray(error?.data) ? error.data : [];
    const name = typeof where === "string" && where.startsWith(location.origin)
      ? label(new URL(where).pathname) : "the content";
    if (error?.code === 1001) {
      fail(`${name} does not arrive: ${String(text || "").trim()} (status ${status})`);
    } else if (error?.code === 1002) {
      fail(`${name} does not arrive: the gateway ended the connection before all of it came`);
    } else if (error?.category === 4) {
      const what = "it is malformed, or this browser does not know its kind";
      fail(`the playlist cannot be played: ${what} (code ${error.code})`);
    } else {
      // Not every error of the library has a code.
      const what = error?.code === undefined ? error : `code ${error.code}`;
      fail(`${name} cannot be played (${what})`);
    }
  }

  async function open(text) {
    turn += 1;
    const isCurrent = current();
    const before = player;
    player = undefined;
    wanted = text;
    address = located(text);
    state = fresh();
    requests.restart();
    video.removeAttribute("src");
    video.load();
    await before?.destroy();
    if (!isCurrent()) return;
    if (address === undefined) {
      return fail("this is not a name of content; write one such as /example/film.m3u8");
    }
    document.title = `${label(address.pathname)} – Player`;
    find("h1").textContent = label(address.pathname);
    say("asking for it …");
    state.asked = performance.now();
    const silent = { wrong: "the gateway does not answer; look if it runs" };
    const { type, wrong } = await probe(address).catch(() => silent);
    if (!isCurrent()) return;
    if (wrong !== undefined) return fail(wrong);
    await play(address, type, isCurrent).catch((error) => isCurrent() && failOf(error));
  }

  async function play(url, type, isCurrent) {
    const list = LISTS.get(type);
    if (list === undefined && !/^(video|audio)\//.test(type) && !UNKNOWN.includes(type)) {
      return fail(`this is not video or audio: its type is ${type}`);
    }
    const shaka = list === undefined ? null : await loaded();
    if (!isCurrent()) return;
    if (list === undefined || (shaka === null && video.canPlayType(list) !== "")) {
      video.src = url.href;
    } else if (shaka === null || !shaka.Player.isBrowserSupported()) {
      return fail(shaka === null
        ? "this gateway has no library for HLS and DASH; `scripts/player` of Weir gets it"
        : "this browser has no Media Source Extensions, which HLS and DASH need");
    } else {
      await playByLibrary(shaka, url, list, isCurrent);
      if (!isCurrent()) return;
    }
    if (!state.hasFailed && state.startup === undefined) say("loading …");
    try {
      await video.play();
    } catch (error) {
      // The browser wants a click first. The delay counts from there.
      if (isCurrent() && error.name === "NotAllowedError") say("press play to begin");
    }
  }

  // Seconds of the content that are there.
  function inHand() {
    const [ranges, at] = [video.buffered, video.currentTime];
    for (let number = 0; number < ranges.length; number++) {
      const [from, to] = [ranges.start(number), ranges.end(number)];
      if (from <= at + 0.1 && at <= to) return to - at;
    }
    return 0;
  }

  const isStalled = () => state.stalls.length > 0 && state.stalls.at(-1)[1] === undefined;

  // The picture stands still for want of bytes.
  function waits() {
    const isMeant = video.paused || video.ended || video.seeking || state.isSeeking;
    if (state.startup === undefined || isMeant || isStalled() || inHand() >= IN_HAND) return;
    state.stalls.push([performance.now(), undefined, video.currentTime]);
    const [first] = state.pending;
    const awaited = first === undefined ? "content" : label(new URL(first).pathname);
    if (!state.hasFailed) say(`waiting for ${awaited} …`);
    isChanged = true;
  }

  function goesOn() {
    if (video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA) return;
    if (state.startup === undefined && !video.paused && address !== undefined) {
      state.startup = performance.now() - state.asked;
    }
    if (!video.seeking) state.isSeeking = false;
    endStall();
    if (!state.hasFailed) say("");
    isChanged = true;
  }

  function endStall() {
    if (isStalled()) state.stalls.at(-1)[1] = performance.now();
  }

  async function broke() {
    const { error } = video;
    // The library reports errors of its own.
    if (error === null || player !== undefined || address === undefined) return;
    const [isCurrent, url] = [current(), address];
    const { MEDIA_ERR_NETWORK, MEDIA_ERR_SRC_NOT_SUPPORTED } = MediaError;
    if (![MEDIA_ERR_NETWORK, MEDIA_ERR_SRC_NOT_SUPPORTED].includes(error.code)) {
      return fail("this browser cannot decode the content");
    }
    // The gateway has the reason, and the element keeps it to itself.
    const { wrong } = await probe(url).catch(() => ({ wrong: "the gateway does not answer" }));
    if (!isCurrent()) return;
    const otherwise = error.code === MEDIA_ERR_NETWORK
      ? "the content stopped arriving" : "this browser cannot play content of this type";
    fail(wrong ?? otherwise);
  }

  function show() {
    const now = performance.now();
    const put = (id, text) => {
      const place = find("#" + id);
      if (place.textContent !== text) place.textContent = text;
    };
    const stood = state.stalls.reduce((sum, [from, to]) => sum + (to ?? now) - from, 0);
    const [rate, roundTrip] = [requests.rate(), requests.roundTrip()];
    put("startup", state.startup === undefined ? "–" : seconds(state.startup));
    const waiting = isStalled() ? ", waiting now" : "";
    const stalls = state.stalls.length;
    put("stalls", stalls === 0 ? "0" : `${stalls} (${seconds(stood)}${waiting})`);
    put("rate", rate === undefined ? "–" : digits(rate) + " Mbit/s");
    put("rtt", roundTrip === undefined
      ? "–" : `${digits(roundTrip[0])} ms, smallest ${digits(roundTrip[1])} ms`);
    put("origin", requests.good().at(-1)?.origin ?? "–");
    put("picture", video.videoWidth > 0 ? `${video.videoWidth} × ${video.videoHeight}` : "–");
    put("buffer", address === undefined ? "–" : seconds(inHand() * 1000));
    find("#requests").hidden = requests.all.length === 0;
    if (!isChanged && !isStalled()) return;
    isChanged = false;
    showTable(find("tbody"), requests);
    const last = requests.all.at(-1)?.to ?? requests.began;
    const until = isStalled() ? now : Math.max(last, ...state.stalls.map((stall) => stall[1]));
    showPicture(find("figure > svg"), requests, state.stalls, until);
    showKey(find("#key"), requests);
  }

  video.addEventListener("play", () => {
    if (state.startup !== undefined || video.readyState < HTMLMediaElement.HAVE_METADATA) return;
    // It had to wait for a click.
    if (message.textContent === "press play to begin") state.asked = performance.now();
  });
  video.addEventListener("waiting", waits);
  video.addEventListener("playing", goesOn);
  video.addEventListener("timeupdate", () => {
    if (isStalled() && video.currentTime > state.stalls.at(-1)[2]) goesOn();
  });
  video.addEventListener("seeking", () => {
    endStall();
    state.isSeeking = true;
  });
  for (const name of ["pause", "ended"]) video.addEventListener(name, endStall);
  video.addEventListener("ended", () => state.hasFailed || say("played to its end"));
  video.addEventListener("error", broke);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = new URLSearchParams({ name: field.value.trim() });
    history.pushState(null, "", `?${query}`);
    open(field.value);
  });
  again.querySelector("button").addEventListener("click", () => {
    // If it has begun, it goes on from there.
    const goes = state.startup !== undefined && video.error === null && player?.retryStreaming();
    if (!goes) return open(wanted);
    state.hasFailed = false;
    say("asking again …");
  });
  addEventListener("resize", () => (isChanged = true));
  addEventListener("popstate", begin);
  setInterval(() => document.hidden || show(), LOOK);

  function begin() {
    field.value = new URLSearchParams(location.search).get("name") ?? "";
    if (field.value !== "") open(field.value);
  }
  begin();
}
