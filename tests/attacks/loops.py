"""Routes that lead in a circle: Interests end, are few, and nothing is left to do."""

import contextlib
import socket
import tempfile
import threading
import time
from pathlib import Path

import _packets
import _service
from support import namespaces, weir
from support.children import wait_until

INJECTED, PER_SECOND = 600, 600
LIFETIME_MS = 1000
PORT = 7001


class Loops(_service.Kept):
    """Daemons on one host, each with its next ones as next hops."""

    def ring(self, size, strategy=None, steps=(1,), routes=True):
        """Daemons of which each leads to those that many steps ahead."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        host = self.enterContext(namespaces.Network()).host("ring")
        chosen = {"[strategy]": {"prefix": "/loop", "strategy": strategy}} if strategy else {}
        daemons = []
        for at in range(size):
            ports = [PORT + (at + step) % size for step in steps]
            faces = [(f"to{port}", f"udp4://127.0.0.1:{port}") for port in ports]
            daemons.append(
                weir.Daemon(
                    _service.PROGRAM(),
                    folder,
                    f"daemon{at}",
                    host,
                    faces=faces,
                    routes=[("/loop", name) for name, _ in faces] if routes else [],
                    listen={"udp": f"127.0.0.1:{PORT + at}", "tcp": "off"},
                    sections=chosen,
                )
            )
        for daemon in daemons:
            self.enterContext(daemon)
        return daemons

    def inject(self, daemon):
        """Interests without a hop limit, as an application asks; answers are not waited for."""
        prefix = _packets.uri("/loop")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
            application.connect(str(daemon.socket))
            application.setblocking(False)
            begun = time.monotonic()
            for number in range(INJECTED):
                name = prefix + _packets.uri(f"/{number}")
                packet = _packets.interest(name, number + 1, LIFETIME_MS)
                application.setblocking(True)
                application.sendall(packet)
                late = begun + number / PER_SECOND - time.monotonic()
                threading.Event().wait(max(0, late))
                application.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    application.recv(1 << 16)

    @staticmethod
    def pending(daemon):
        """Interests that are pending there."""
        return daemon.status()["pit"]["entries"]

    @staticmethod
    def crossed(daemons):
        """Interests that came in over links between the daemons."""
        faces = [face for daemon in daemons for face in daemon.status()["faces"]]
        return sum(face["received"]["interests"] for face in faces if not face["local"])

    def check(self, links, *of_ring, **options):
        """An Interest crosses each link once at most; afterwards nothing is pending or busy."""
        daemons = self.ring(*of_ring, **options)
        # The question itself is pending, too.
        before = max(self.pending(daemon) for daemon in daemons)
        self.inject(daemons[0])
        for daemon in daemons:
            wait_until(lambda at=daemon: self.pending(at) <= before, "no pending Interests", 60)
        crossed = self.crossed(daemons)
        self.assertGreaterEqual(crossed, INJECTED, "they were never sent around")
        self.assertLessEqual(crossed, links * INJECTED)
        _service.wait_idle(self, [daemon.process for daemon in daemons])
        self.assertEqual(self.crossed(daemons), crossed, "some go around still")
        note = f"{crossed / INJECTED:.1f} links crossed by each, at most {links}"
        self.record({"Interests": INJECTED}, note)

    def test_ring_of_three(self):
        """Three daemons, best-route: an Interest goes around once."""
        self.check(3, 3)

    def test_ring_of_five(self):
        """Five daemons, best-route: an Interest goes around once."""
        self.check(5, 5)

    def test_two_parallel_rings(self):
        """Five daemons, each with routes to both neighbours: around in both directions, once."""
        self.check(10, 5, steps=(1, -1))

    def test_multicast_in_two_parallel_rings(self):
        """The same where each daemon asks both neighbours at once."""
        self.check(10, 5, "multicast", steps=(1, -1))

    def test_self_learning_in_two_parallel_rings(self):
        """The same without routes, where each daemon asks all others."""
        self.check(10, 5, "self-learning", steps=(1, -1), routes=False)
