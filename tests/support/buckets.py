"""A real S3 server for tests, and a proxy before it that goes wrong in the ways of servers."""

import contextlib
import http.client
import http.server
import os
import socket
import subprocess
import threading
import unittest

from support import weir
from support.children import die_with_caller, wait_until

PROGRAM = weir.ROOT / ".venv/bin/versitygw"
NEEDS = weir.ROOT / "tests/support/s3/go.mod"
KEYS = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret-of-tests"}


def environment(address):
    """The variables of a client of the server at this address."""
    address = {"AWS_ENDPOINT_URL": f"http://{address}", "AWS_REGION": "us-east-1"}
    return KEYS | address | {"AWS_EC2_METADATA_DISABLED": "true"}


def need():
    """Install the server, or skip the test."""
    if not PROGRAM.exists():
        command = [weir.ROOT / "scripts/need", NEEDS]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            raise unittest.SkipTest("scripts/need cannot install versitygw")


class Server:
    """An S3 server of a folder, on a port of the loopback. Its buckets are folders in it."""

    def __init__(self, folder):
        need()
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        """Start it, and wait until it answers."""
        keys = {"ROOT_ACCESS_KEY": "tester", "ROOT_SECRET_KEY": "secret-of-tests"}
        command = [PROGRAM, "--quiet", "--port", self.address, "posix", str(self.folder)]
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **keys},
            stdout=subprocess.DEVNULL,
            preexec_fn=die_with_caller(os.getpid()),
        )
        wait_until(self.answers, "the S3 server")

    def answers(self):
        """True if it takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Proxy:
    """Passes requests to a server. `fault` is called with each request, and may return another
    answer: `Status`, `Cut`, `Lost`, `Silence`, or a dictionary of headers, where None removes one.
    """

    def __init__(self, port):
        self.port = port
        self.fault = None
        # The methods and paths of all requests.
        self.requests = []
        self.stopping = threading.Event()
        handler = type("Handler", (Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        """Its host and port."""
        return f"127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        """End it."""
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    def count(self, method, part):
        """The requests with this method and this part of a path."""
        return sum(verb == method and part in path for verb, path in self.requests)


class Status:
    """An answer without success."""

    def __init__(self, number, code):
        self.number = number
        self.body = f"<Error><Code>{code}</Code><Message>of a test</Message></Error>".encode()


class Cut:
    """The connection ends after this number of bytes of the body."""

    def __init__(self, after):
        self.after = after


class Lost:
    """The server receives the request, and the connection ends without an answer."""


class Silence:
    """There is no answer."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers for a `Proxy`."""

    protocol_version = "HTTP/1.1"
    proxy = None

    def log_message(self, *_):
        """Print nothing."""

    def handle(self):
        """Answer, until the client ends the connection, which it may do at any time."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self):  # noqa: N802
        """Pass a request on, or do what the fault says."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        self.proxy.requests.append((self.command, path))
        fault = self.proxy.fault and self.proxy.fault(self.command, path)
        if isinstance(fault, Status):
            self.answer(fault.number, {}, fault.body, len(fault.body))
            return
        if isinstance(fault, Silence):
            self.proxy.stopping.wait()
            self.close_connection = True
            return
        headers = dict(self.headers.items())
        for name, value in (fault if isinstance(fault, dict) else {}).items():
            headers = {key: old for key, old in headers.items() if key.lower() != name}
            headers |= {} if value is None else {name: value}
        server = http.client.HTTPConnection("127.0.0.1", self.proxy.port)
        with contextlib.closing(server):
            server.request(self.command, self.path, body, headers)
            response = server.getresponse()
            content = response.read()
        if isinstance(fault, Lost):
            self.close_connection = True
            return
        sent = content[: fault.after] if isinstance(fault, Cut) else content
        self.answer(response.status, dict(response.getheaders()), sent, len(content))
        self.close_connection = self.close_connection or len(sent) < len(content)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def answer(self, status, headers, body, length):
        """Send an answer."""
        self.send_response_only(status)
        skipped = ("connection", "content-length", "transfer-encoding")
        for name, value in headers.items():
            if name.lower() not in skipped:
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
