"""Opens what a gateway serves in Chromium, and a foreign page that wants it; prints what happens.

    foreign.py GATEWAY            such as http://127.0.0.1:8080

A program of its own, because it needs the packages of the browser's driver. Below /site the gateway
serves page.html, picture.svg, picture.png, code.js, note.txt and tone.wav.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from playwright.sync_api import sync_playwright

from chromium import OPTIONS, installed

# Every request of the page ends in one way or the other.
FOREIGN = """<!doctype html><body><script>
const ends = (element, to) => new Promise((done) => {
  element.onload = element.onloadedmetadata = () => done("loaded");
  element.onerror = () => done("refused");
  element.src = to;
  document.body.append(element);
});
window.tries = async (gateway) => {
  const script = ends(document.createElement("script"), gateway + "/site/code.js");
  const image = ends(new Image(), gateway + "/site/picture.png");
  const audio = ends(document.createElement("audio"), gateway + "/site/tone.wav");
  const fetched = fetch(gateway + "/site/page.html").then(() => "loaded", () => "refused");
  const blind = fetch(gateway + "/site/page.html", { mode: "no-cors" })
    .then(() => "loaded", () => "refused");
  const [s, i, a, f, b] = await Promise.all([script, image, audio, fetched, blind]);
  return { script: s, image: i, audio: a, fetched: f, blind: b, ran: window.ran === true };
};
</script></body>"""


class Page(BaseHTTPRequestHandler):
    """A server of another origin on this host."""

    def do_GET(self):  # noqa: N802 (the library's name)
        """The page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(FOREIGN.encode())

    def log_message(self, *_):
        """Nothing."""


def shown(page, gateway):
    """A reader's view of the addresses."""
    seen = {}
    page.goto(gateway + "/site/page.html")
    seen["page"] = page.title(), page.inner_text("p")
    seen["color"] = page.evaluate("getComputedStyle(document.querySelector('p')).color")
    page.goto(gateway + "/site/picture.svg")
    seen["svg"] = page.evaluate("[document.documentElement.nodeName, document.documentElement.id]")
    page.goto(gateway + "/site/picture.png")
    seen["image"] = page.evaluate("document.images[0].naturalWidth")
    page.goto(gateway + "/site/note.txt")
    seen["text"] = page.inner_text("body")
    page.goto(gateway + "/site/tone.wav")
    length = "() => { const v = document.querySelector('video'); return v && v.duration; }"
    seen["audio"] = page.wait_for_function(length).json_value()
    return seen


def main(gateway):
    """Open all of it."""
    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=OPTIONS)
        page = browser.new_page()
        seen = shown(page, gateway)
        page.goto(f"http://localhost:{server.server_port}/")
        seen["foreign"] = page.evaluate("(gateway) => window.tries(gateway)", gateway)
        browser.close()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
