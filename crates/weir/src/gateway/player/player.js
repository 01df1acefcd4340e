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
  let player;
  // Counts contents: what comes for an earlier one is dropped.
  let turn = 0;
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
    const answer = await fetch(url, { headers, signal: controller.signal });
    const isWhole = answer.ok && answer.status !== 206;
    if (isWhole) controller.abort();
    const text = isWhole ? "" : await answer.text();
    const type = (answer.headers.get("Content-Type") || "").split(";")[0].trim().toLowerCase();
    if (answer.status === 416) return { wrong: "the content is empty" };
    return answer.ok ? { type } : { wrong: `${text.trim()} (status ${answer.status})` };
  }

  // The library, or null if this gateway has none.
  function loaded() {
    library ??= new Promise((done) => {
      const script = document.createElement("script");
      const source = { createScriptURL: () => LIBRARY };
      const policy = window.trustedTypes?.createPolicy("weir-player", source);
      script.src = policy ? policy.createScriptURL("") : LIBRARY;
      script.addEventListener("load", () => done(window.shaka ?? null));
      script.addEventListener("error", () => done(null));
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

  async function playList(shaka, url, type, mine) {
    const types = limit(shaka);
    player = new shaka.Player();
    await player.attach(video);
    // The gateway has the patience, and answers with an error at its end.
    const retryParameters = {
      maxAttempts: 2, baseDelay: 500, timeout: 0, stallTimeout: 0, connectionTimeout: 0,
    };
    player.configure({
      manifest: { retryParameters },
      streaming: { retryParameters },
      drm: { retryParameters },
    });
    const engine = player.getNetworkingEngine();
    engine.registerRequestFilter((_, request) => {
      const foreign = request.uris.find((uri) => new URL(uri).origin !== location.origin);
      if (foreign === undefined || foreign.startsWith("data:")) return;
      fail("the playlist names content of another host, and this page plays content by name only");
      throw new Error("another host");
    });
    engine.registerResponseFilter((kind, response) => {
      if (kind !== types.MANIFEST) return;
      if (segmentsOf(new TextDecoder().decode(response.data)) <= MOST_SEGMENTS) return;
      fail("the playlist has too many segments for this page");
      throw new Error("too many segments");
    });
    player.addEventListener("error", (event) => mine() && failOf(event.detail));
    player.addEventListener("buffering", (event) => (event.buffering ? waits() : goesOn()));
    await player.load(url.href, undefined, type);
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
      fail(`${name} cannot be played (code ${error?.code ?? error})`);
    }
  }

  async function open(text) {
    const mine = ((number) => () => number === turn)(++turn);
    const before = player;
    player = undefined;
    address = located(text);
    state = fresh();
    requests.restart();
    video.removeAttribute("src");
    video.load();
    await before?.destroy();
    if (!mine()) return;
    if (address === undefined) {
      return fail("this is no name of content; write one such as /example/film.m3u8");
    }
    document.title = `${label(address.pathname)} – Player`;
    find("h1").textContent = label(address.pathname);
    say("asking for it …");
    state.asked = performance.now();
    try {
      const { type, wrong } = await probe(address);
      if (!mine()) return;
      if (wrong !== undefined) return fail(wrong);
      await play(address, type, mine);
    } catch (error) {
      if (!mine()) return;
      if (error?.code !== undefined && error?.category !== undefined) failOf(error);
      else fail("the gateway does not answer; look if it runs");
    }
  }

  async function play(url, type, mine) {
    const list = LISTS.get(type);
    if (list === undefined && !/^(video|audio)\//.test(type) && !UNKNOWN.includes(type)) {
      return fail(`this is no video or audio: its type is ${type}`);
    }
    const shaka = list === undefined ? null : await loaded();
    if (!mine()) return;
    if (list === undefined || (shaka === null && video.canPlayType(list) !== "")) {
      video.src = url.href;
    } else if (shaka === null || !shaka.Player.isBrowserSupported()) {
      return fail(shaka === null
        ? "this gateway has no library for HLS and DASH; `scripts/player` of Weir gets it"
        : "this browser has no Media Source Extensions, which HLS and DASH need");
    } else {
      await playList(shaka, url, list, mine);
      if (!mine()) return;
    }
    if (!state.hasFailed && state.startup === undefined) say("loading …");
    try {
      await video.play();
    } catch (error) {
      // The browser wants a click first. The delay counts from there.
      if (mine() && error.name === "NotAllowedError") say("press play to begin");
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
    const [mine, url] = [((number) => () => number === turn)(turn), address];
    const { MEDIA_ERR_NETWORK, MEDIA_ERR_SRC_NOT_SUPPORTED } = MediaError;
    if (![MEDIA_ERR_NETWORK, MEDIA_ERR_SRC_NOT_SUPPORTED].includes(error.code)) {
      return fail("this browser cannot decode the content");
    }
    // The gateway has the reason, and the element keeps it to itself.
    const { wrong } = await probe(url).catch(() => ({ wrong: "the gateway does not answer" }));
    if (!mine()) return;
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
    if (!goes) return open(field.value);
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
