"""A real Prometheus watches real forwarders with traffic.

Every expression of the dashboard and of the alerts is asked. In good times none of them raises an
alert; then things go wrong, one after the other.
"""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import unittest
import unittest.mock
import urllib.request
from pathlib import Path

import expressions
from server import Prometheus
from support import content, ndn, weir
from support.children import run, wait_until
from support.ports import free_port

PATIENCE = 60
# A packet of 8 kB takes 80 ms of the slow link, and its queue lasts for half a second.
SLOW = {"rate": "800 kbit/s", "queue": "50 kB", "loss": "20 %"}
# Panels without data while nothing is lost, nothing is malformed, and no signature is wrong.
QUIET = {
    "Drops by reason",
    "Drops by face and reason",
    "Options removed from packets",
}
TRAFFIC_CLASS = 0x0364


class Watched(unittest.TestCase):
    """A forwarder `near` that is watched, `far` behind TCP, and this test behind a slow link."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        # Cargo has its toolchain in the user's home.
        cls.program = weir.program()
        home = {"HOME": str(cls.folder), "WEIR_HOME": str(cls.folder)}
        stack.enter_context(unittest.mock.patch.dict(os.environ, home))
        certificate = cls.folder / "operator.cert"
        certificate.write_text(run([cls.program, "key", "new", "/operator"]), encoding="utf-8")
        run([cls.program, "key", "new", "/other"])
        cls.peer = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        cls.peer.bind(("127.0.0.1", 0))
        cls.udp, tcp, cls.metrics = free_port(), free_port(), f"127.0.0.1:{free_port()}"
        listen = {"udp": "off", "tcp": f"127.0.0.1:{tcp}"}
        cls.far = weir.Daemon(cls.program, cls.folder, "far", listen=listen)
        cls.uri = f"tcp4://127.0.0.1:{tcp}"
        cls.slow = f"udp4://127.0.0.1:{cls.peer.getsockname()[1]}"
        cls.near = weir.Daemon(
            cls.program,
            cls.folder,
            "near",
            faces=[("far", cls.uri), ("slow", cls.slow, SLOW)],
            routes=[("/far", "far"), ("/nothing", "slow")],
            listen={"udp": f"127.0.0.1:{cls.udp}", "tcp": "off"},
            # Less than the file has, so that `far` is asked each time.
            store={"capacity": "400 kB"},
            sections={
                "metrics": {"listen": cls.metrics},
                "[authorize]": {"key": str(certificate)},
            },
        )
        for daemon in (cls.far, cls.near):
            stack.callback(lambda daemon=daemon: daemon.process and daemon.process.kill())
            daemon.start()
        stack.callback(cls.far.put("/far/file", cls.sent()).kill)
        cls.prometheus = Prometheus(cls.folder, [cls.metrics])
        stack.callback(cls.prometheus.stop)

    @classmethod
    def sent(cls):
        """The file that `far` publishes."""
        return content.make(cls.folder / "sent", content.MEGABYTE)

    def fetch(self):
        """Has a consumer at `near` fetch the file."""
        fetch = self.near.get("/far/file", self.folder / "received").finish(PATIENCE)
        self.assertEqual(fetch.child.status, 0)

    def work(self):
        """Make the usual traffic, and send a command."""
        self.fetch()
        self.command("/operator", True)

    def command(self, key, works):
        """Sends a signed command."""
        argv = [self.program, "cs", "erase", "/elsewhere", "--sign", key]
        argv += ["--socket", self.near.socket]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(done.returncode == 0, works, done.stderr)

    def receive(self, *packets):
        """Has `near` receive these from the slow link."""
        for packet in packets:
            self.peer.sendto(packet, ("127.0.0.1", self.udp))

    def until(self, expression, act=None):
        """Asks until there is a result, and acts before each time; returns the result."""
        found = []

        def has_result():
            if act:
                act()
            found[:] = self.prometheus.ask(expression)
            return bool(found)

        wait_until(has_result, f"a result of {expression}", PATIENCE)
        return found

    def until_alert(self, name, uri="", act=None):
        """Waits until an alert waits or fires, of a face by its URI."""

        def is_raised():
            if act:
                act()
            return (name, uri) in self.prometheus.alerts()

        wait_until(is_raised, f"{name} of {uri}", PATIENCE)

    def test_everything_is_asked(self):
        """In health, with packets lost, and with parts that have ended."""
        self.check_metrics()
        self.check_health()
        self.overload()
        self.check_everything()
        self.break_parts()

    def check_metrics(self):
        """promtool finds no mistake in what the forwarder answers."""
        self.fetch()
        with urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=PATIENCE) as answer:
            text = answer.read()
        argv = ["promtool", "check", "metrics"]
        done = subprocess.run(argv, input=text, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertIn(b"weir_face_round_trip_seconds_bucket", text)

    def check_health(self):
        """Almost all panels have data, and no alert waits."""
        for title, expression in expressions.of_panels():
            if title not in QUIET:
                self.until(expression, self.work)
        self.assertEqual(self.prometheus.alerts(), set())
        for name, expression in expressions.of_alerts().items():
            self.assertEqual(self.prometheus.ask(expression), [], name)

    def overload(self):
        """The slow link gets more than it can take, and what is sent is wrong or unanswered."""
        stem = self.object_name()
        numbers = iter(range(1, 1 << 30))

        def act():
            segments = range(40)
            self.receive(*(stem(segment, next(numbers)) for segment in segments))
            self.receive(*[b"junk"] * 40)
            self.unanswered(next(numbers))

        self.until_alert("WeirQueueOverflows", self.slow, act)
        self.until_alert("WeirQueueingDelay", self.slow, act)
        self.until_alert("WeirLinkRefuses", self.slow, act)
        self.until_alert("WeirUnanswered", act=act)
        self.until_alert("WeirMalformedPackets", act=act)
        faces = [uri for name, uri in self.prometheus.alerts() if name == "WeirQueueOverflows"]
        self.assertEqual(faces, [self.slow], "the other link has room")
        self.command("/other", False)

    def object_name(self):
        """The maker of Interests for segments of the file, which `near` has in its store."""
        fetch = self.near.get("/far/file", self.folder / "received").finish(PATIENCE)
        *components, version = fetch.summary["name"].strip("/").split("/")
        version = int(version.removeprefix("v="))

        def interest(segment, nonce):
            name = b"".join(ndn.tlv(8, word.encode()) for word in components)
            name += ndn.tlv(54, number(version)) + ndn.tlv(50, number(segment))
            fields = ndn.tlv(7, name) + ndn.tlv(0x0A, nonce.to_bytes(4, "big"))
            return ndn.tlv(5, fields + ndn.tlv(0x0C, (4000).to_bytes(2, "big")))

        return interest

    def unanswered(self, nonce):
        """Applications ask for what never comes, with an option that is none."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
            application.connect(str(self.near.socket))
            names = range(nonce * 20, nonce * 20 + 20)
            asked = [ndn.interest("nothing", name, nonce=name, lifetime_ms=10) for name in names]
            wrong = ndn.tlv(TRAFFIC_CLASS, b"\x09") + ndn.tlv(0x50, asked.pop())
            application.sendall(b"".join(asked) + ndn.tlv(0x64, wrong))

    def check_everything(self):
        """All panels have data, and so has what each alert compares with its limit."""
        for title, expression in expressions.of_panels():
            with self.subTest(title):
                self.until(expression, self.work)
        invalid = 'weir_verification_seconds_count{of="command", result="invalid"}'
        self.until(f"rate({invalid}[1m])")
        for expression in expressions.of_alerts().values():
            self.until(expressions.without_limit(expression))

    def break_parts(self):
        """A file with a mistake, a peer that has ended, and the end of the forwarder."""
        self.near.config.write_text("[daemon]\nwrong = 1\n", encoding="utf-8")
        os.kill(self.near.process.pid, signal.SIGHUP)
        self.until_alert("WeirConfigurationNotApplied")
        self.far.process.kill()
        self.until_alert("WeirFaceDown", self.uri)
        self.near.process.kill()
        self.until_alert("WeirDown")


def number(value):
    """A NonNegativeInteger."""
    length = next(size for size in (1, 2, 4, 8) if value < 1 << 8 * size)
    return value.to_bytes(length, "big")
