"""Attacks by web pages and clients on log lines about them, and on the daemon's counters."""

import contextlib
import fcntl
import http.client
import os
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import _service
from support import content, weir
from support.children import wait_until
from support.gateway import PATIENCE
from support.ports import free_port

MEGABYTE = content.MEGABYTE
# Applications of this host alone.
ALONE = {"udp": "off", "tcp": "off"}


def connect(port):
    """A connection to an HTTP server here."""
    return http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)


def listens(port):
    """True if a connection is possible there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Lines(unittest.TestCase):
    """The effects of clients and pages on the gateway's and the daemon's output, and on its
    readers."""

    # A request that is rejected, from a page of another site.
    CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    # More than a log needs of it.
    PATH = "/" + "x" * 30_000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.port = Path(folder.name), free_port()
        metrics = {"listen": f"127.0.0.1:{cls.port}"}
        cls.daemon = weir.Daemon(
            weir.program(), cls.folder, "daemon", listen=ALONE, sections={"metrics": metrics}
        )
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        (cls.folder / "note").write_bytes(b"a note")
        cls.addClassCleanup(cls.daemon.put("/site/note", cls.folder / "note").kill)

    def gateway(self, **streams):
        """A gateway that writes lines for people; its process and port."""
        port = free_port()
        words = ["gateway", "--listen", f"127.0.0.1:{port}", "--prefix", "/site"]
        argv = self.daemon.command(self.daemon.weir, *words, "--socket", self.daemon.socket)
        child = subprocess.Popen([str(word) for word in argv], **streams)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        wait_until(lambda: listens(port), "the gateway to listen")
        return port

    def rejected(self, port, count, path=PATH):
        """Send `count` requests that are rejected, on one connection."""
        with contextlib.closing(connect(port)) as client:
            for _ in range(count):
                client.request("GET", path, headers=self.CROSS)
                answer = client.getresponse()
                answer.read()
                self.assertEqual(answer.status, 403)

    def served(self, port):
        """The status of a request for content."""
        with contextlib.closing(connect(port)) as client:
            client.request("GET", "/site/note")
            return client.getresponse().status

    def test_rejected_requests_do_not_fill_the_disk(self):
        """2,000 requests of 30 kB, 60 MB, which a page sends in a second."""
        log = self.folder / "lines.log"
        with log.open("wb") as out:
            port = self.gateway(stderr=out)
        self.rejected(port, 2000)
        self.assertEqual(self.served(port), 200)
        wait_until(lambda: "left out" in log.read_text("utf-8"), "the number of lines left out")
        self.assertLess(log.stat().st_size, 3 * MEGABYTE)

    def test_a_full_standard_error_does_not_block_requests(self):
        """Standard error leads to a pipe that is full (`2>&1 | less`)."""
        reads, writes = os.pipe()
        self.addCleanup(os.close, reads)
        fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
        port = self.gateway(stderr=writes)
        os.close(writes)
        self.rejected(port, 300)
        self.assertEqual(self.served(port), 200)

    def test_control_characters_do_not_reach_the_terminal(self):
        """Those of C1 and of writing direction, which no percent sign has to stand for."""
        log = self.folder / "control.log"
        with log.open("wb") as out:
            port = self.gateway(stderr=out)
        evil = "\u009b31m\u009d0;title\u009c\u202ecod\u2066"
        head = f"GET /site/{evil} HTTP/1.1\r\nHost: localhost\r\nOrigin: {evil}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            client.sendall(head.encode())
            self.assertEqual(client.recv(100).split()[1], b"403")
        wait_until(lambda: "403" in log.read_text("utf-8"), "the line")
        text = log.read_text("utf-8")
        self.assertEqual([c for c in text if c in evil and not c.isascii()], [], ascii(text))
        self.assertIn(r"/site/\u{9b}31m", text)

    def test_a_page_does_not_read_the_counters(self):
        """DNS rebinding to the metrics, and requests of pages; collectors are served."""

        def status(**fields):
            with contextlib.closing(connect(self.port)) as client:
                named = {field.replace("_", "-"): value for field, value in fields.items()}
                client.request("GET", "/metrics", headers=named)
                return client.getresponse().status

        self.assertEqual(status(), 200)
        self.assertEqual(status(Host=f"localhost:{self.port}"), 200)
        self.assertEqual(status(Host=f"attacker.example:{self.port}"), 421)
        self.assertEqual(status(Origin="http://attacker.example"), 403)
        self.assertEqual(status(**self.CROSS), 403)


class Collectors(unittest.TestCase):
    """Clients of the counters that ask too much, or nothing, at a daemon with many faces."""

    # Their counters are three megabytes, which take the daemon a tenth of a second here.
    FACES = 3_000
    # More than the daemon reads in the five seconds after which it counts as blocked.
    GONE = 1_000
    # More than the places for connections.
    SILENT = 100

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="weir-"))
        self.port = free_port()
        faces = [(f"f{n}", f"udp4://127.0.0.1:{20_000 + n}") for n in range(self.FACES)]
        self.daemon = weir.Daemon(
            weir.program(),
            Path(folder),
            "daemon",
            faces=faces,
            listen=ALONE,
            # The faces have to fit.
            about={"memory": "256 MB"},
            sections={"metrics": {"listen": f"127.0.0.1:{self.port}"}},
        )
        self.enterContext(self.daemon)
        wait_until(lambda: listens(self.port), "the counters' listener")

    def ask(self, path):
        """The status and the length of an answer."""
        with contextlib.closing(connect(self.port)) as client:
            client.request("GET", path)
            answer = client.getresponse()
            return answer.status, len(answer.read())

    def test_questions_without_a_reader_do_not_stop_the_daemon(self):
        """Connections that are closed behind their questions, one after the other."""
        for _ in range(self.GONE):
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.ask("/healthz")[0], 200)
        argv = [weir.program(), "cs", "info", "--socket", self.daemon.socket]
        done = subprocess.run(argv, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, length = self.ask("/metrics")
        self.assertEqual((status, length > 100 * self.FACES), (200, True), length)

    @_service.repeated
    def test_silent_connections_make_room(self):
        """The oldest one is closed for a question, and the others are not waited for."""
        with contextlib.ExitStack() as stack:

            def open_one():
                client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                return stack.enter_context(client)

            silent = [open_one() for _ in range(self.SILENT)]
            self.assertEqual(self.ask("/healthz")[0], 200)
            self.assertEqual(silent[0].recv(1), b"")
            # One that needed no other's time to end, and ends by its own soon.
            silent[50].setblocking(False)
            with self.assertRaises(BlockingIOError, msg="it was waited for"):
                silent[50].recv(1)
