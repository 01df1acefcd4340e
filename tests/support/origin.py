"""An HTTP server as an origin: files with ranges, and the ways in which servers go wrong."""

import collections
import contextlib
import hashlib
import http.server
import re
import ssl
import threading
import time
import urllib.parse

DATE = "Fri, 20 Nov 2026 13:24:39 GMT"


class Origin:
    """Serves `files` (path: bytes), and counts what it sends of each."""

    def __init__(self, certificate=None):
        """With the files of a certificate and its key, by HTTPS."""
        self.files = {}
        # Answers of another kind: a function of the handler.
        self.special = {}
        # By path: bytes of bodies that were sent, and the requests' headers.
        self.sent = collections.Counter()
        self.requests = []
        self.validates = True
        self.has_ranges = True
        self.stopping = threading.Event()
        handler = type("Handler", (Handler,), {"origin": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            # The thread of the connection shakes hands, and holds up no other.
            options = {"server_side": True, "do_handshake_on_connect": False}
            self.server.socket = context.wrap_socket(self.server.socket, **options)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self):
        """Its port."""
        return self.server.server_address[1]

    @property
    def url(self):
        """Its base."""
        return f"{self.scheme}://127.0.0.1:{self.port}/"

    def close(self):
        """End it."""
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for an `Origin`."""

    protocol_version = "HTTP/1.1"
    origin = None

    def log_message(self, *_):
        """Print nothing."""

    def handle(self):
        """Answer, until the client ends the connection, which it may do at any time."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            super().handle()

    def do_GET(self):  # noqa: N802
        """Answer."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.origin.requests.append((self.path, dict(self.headers)))
        if path in self.origin.special:
            self.origin.special[path](self)
            return
        content = self.origin.files.get(path)
        if content is None:
            self.answer(404, b"nothing here\n", {"X-Error-Code": "EntryNotFound"})
            return
        self.file(path, content)

    do_HEAD = do_GET  # noqa: N815

    def file(self, path, content, **more):
        """A file, or a part of it."""
        headers = {"Content-Type": "application/x-test"}
        if self.origin.validates:
            headers |= {"ETag": self.tag(content), "Last-Modified": DATE}
        headers |= more
        if self.origin.validates and self.headers.get("If-None-Match") == headers["ETag"]:
            self.answer(304, b"", headers)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or not self.origin.has_ranges:
            self.answer(200, content, headers, path)
            return
        first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        if first >= len(content):
            self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        self.answer(206, content[first : last + 1], headers, path)

    @staticmethod
    def tag(content):
        """A strong tag."""
        return f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def answer(self, status, body, headers=None, path=None):
        """Send an answer."""
        self.send_response(status)
        for field, value in (headers or {}).items():
            self.send_header(field, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        try:
            for at in range(0, len(body), 65536):
                piece = body[at : at + 65536]
                self.wfile.write(piece)
                self.origin.sent[path] += len(piece)
        except OSError:
            self.close_connection = True

    def begin(self, size, sent, first=0):
        """The head of an answer of `size` bytes, and some of the body."""
        self.send_response(206)
        self.send_header("ETag", '"begun"')
        last = min(first + size, 10_000_000) - 1
        self.send_header("Content-Range", f"bytes {first}-{last}/10000000")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(sent)
        self.wfile.flush()

    def stall(self):
        """Send nothing until the test is over."""
        self.origin.stopping.wait(60)
        self.close_connection = True

    def trickle(self):
        """Begin an answer, and send a byte now and then."""
        self.begin(1_024_000, b"x")
        while not self.origin.stopping.is_set():
            try:
                self.wfile.write(b"x")
                self.wfile.flush()
            except OSError:
                break
            time.sleep(0.2)
        self.close_connection = True
