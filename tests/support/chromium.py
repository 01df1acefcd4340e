"""Plays a video in Chromium without a window and prints what its viewer sees, as JSON.

    chromium.py URL PATIENCE [SECONDS]      from there on, as who seeks as soon as it can

A program of its own, so that it can run in a namespace where the video is to be had.
"""

import json
import shutil
import sys
import urllib.parse

from playwright.sync_api import sync_playwright

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
# Without a sandbox of its own it runs for root, as in a container; what it opens is ours.
FOR_ROOT = "--no-sandbox"
OPTIONS = [FOR_ROOT, "--autoplay-policy=no-user-gesture-required", "--mute-audio"]

PAGE = "<!doctype html><title>player</title><body></body>"

# Times are seconds from the moment at which the page asks for the video. It may also wait for its
# own decoder, with this many seconds of the video in hand: the machine is the cause.
IN_HAND = 0.5
WATCH = """async ([url, patience, inHand, from]) => {
  const video = document.createElement("video");
  const events = [];
  const began = performance.now();
  const now = () => (performance.now() - began) / 1000;
  const ahead = () => {
    const ranges = video.buffered;
    for (let i = 0; i < ranges.length; i++)
      if (ranges.start(i) <= video.currentTime && video.currentTime <= ranges.end(i))
        return ranges.end(i) - video.currentTime;
    return 0;
  };
  for (const name of ["playing", "stalled", "ended", "error"])
    video.addEventListener(name, () => events.push([now(), name]));
  const waiting = () => events.push([now(), ahead() < inHand ? "waiting" : "behind"]);
  video.addEventListener("waiting", waiting);
  const over = new Promise((done) => {
    for (const name of ["ended", "error"]) video.addEventListener(name, done);
    setTimeout(done, patience * 1000);
  });
  if (from) video.addEventListener("loadedmetadata", () => (video.currentTime = from));
  document.body.append(video);
  video.src = url;
  video.play().catch(() => {});
  await over;
  const quality = video.getVideoPlaybackQuality();
  const error = video.error && (video.error.message || String(video.error.code));
  return { events, error, pictures: quality.totalVideoFrames, dropped: quality.droppedVideoFrames };
}"""


def installed():
    """The browser of this machine; None if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def main(url, patience, start=0):
    """Play it to its end, or until patience is at its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=OPTIONS)
        page = browser.new_page()
        # A page of the same origin, or the browser would not let it near the video.
        place = urllib.parse.urljoin(url, "/player")
        page.route(place, lambda route: route.fulfill(content_type="text/html", body=PAGE))
        page.goto(place)
        print(json.dumps(page.evaluate(WATCH, [url, float(patience), IN_HAND, float(start)])))
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
