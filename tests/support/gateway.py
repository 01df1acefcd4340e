"""The gateway as a test drives it: its process, requests to it, and what it says of its answers."""

import contextlib
import http.client
import json
import socket

from .children import Child, wait_until

PATIENCE = 60


class Gateway:
    """A gateway on a port of its own, on the daemon's host, and what it says of its answers."""

    def __init__(self, daemon, folder, *options):
        self.out = folder / "gateway.json"
        listen = "0.0.0.0:0" if daemon.host else "127.0.0.1:0"
        argv = [daemon.weir, "gateway", "--listen", listen, "--json"]
        prefix = [] if "--prefix" in options else ["--prefix", "/"]
        argv += ["--socket", daemon.socket, *prefix, *options]
        self.child = Child(daemon.command(*argv), folder / "gateway.log", self.out)
        wait_until(self.said, "the gateway to listen")
        self.host, _, port = self.said()[0]["listening"].partition(":")
        self.port = int(port)

    def said(self):
        """Every line of its standard output."""
        text = self.out.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def answered(self, count):
        """Its lines about this many answers, after it has printed them."""
        wait_until(lambda: len(self.said()) > count, f"{count} answers")
        return self.said()[1:]

    def ask(self, path, method="GET", **headers):
        """One request on a connection of its own: status, headers, body."""
        with contextlib.closing(self.connect()) as connection:
            named = {field.replace("_", "-"): value for field, value in headers.items()}
            connection.request(method, path, headers=named)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def connect(self):
        """A connection."""
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)

    def begin(self, path):
        """Ask for something and do not read the answer."""
        connection = socket.create_connection((self.host, self.port), timeout=PATIENCE)
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
