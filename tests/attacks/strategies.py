"""A next hop is silent beside one that works: by fault or by intent, nothing says that it is dead.

left -- cheap -- right
     \\- dear  -/

Both middle daemons lead to the same producer. The producer paces what it sends, so that the machine
is not the limit. A daemon is silent while it is stopped by SIGSTOP: its socket takes what comes.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import _service
from support import content, namespaces, weir
from support.children import wait_until

BITS_PER_SECOND = 8_000_000
SIZE = 4 * content.MEGABYTE
PORTS = {"left": 6401, "cheap": 6402, "dear": 6403, "right": 6404}
# The share of their rate that others must keep during the attack.
KEPT = 0.9
# How long it may take to learn of the silence, in seconds: two timeouts of a consumer, which are
# a second each as long as nothing was measured, and a machine that is late.
LEARNING = 5
# Copies leave for a silent next hop every 30 s at the latest.
LONGEST_PAUSE = 30
PATIENCE = 120


def uri(name):
    """Where a daemon listens."""
    return f"udp4://127.0.0.1:{PORTS[name]}"


class SilentNextHop(unittest.TestCase):
    """A transfer over two routes; the cheaper one leads to a daemon that may be stopped."""

    def setUp(self):
        stack = self.enterContext(contextlib.ExitStack())
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        host = stack.enter_context(namespaces.Network()).host("only")
        self.daemons = {}
        for name, port in PORTS.items():
            here = f"127.0.0.1:{port}"
            daemon = weir.Daemon(weir.program(), self.folder, name, host, listen={"udp": here})
            daemon.listen["tcp"] = "off"
            daemon.store = {"capacity": "0 B"}
            self.daemons[name] = daemon
        self.daemons["left"].faces = [(name, uri(name)) for name in ("cheap", "dear")]
        for name in ("cheap", "dear"):
            self.daemons[name].faces = [("right", uri("right"))]
            self.daemons[name].routes = [("/x", "right")]
        paced = {"rate": f"{BITS_PER_SECOND // 1_000_000} Mbit/s"}
        self.daemons["right"].sections["on_demand"] = paced
        for daemon in self.daemons.values():
            stack.enter_context(daemon)
        for cost, name in enumerate(("cheap", "dear"), 1):
            self.weir("route", "add", "/x", uri(name), "--cost", cost)
        self.sent = content.make(self.folder / "sent", SIZE)
        # A stopped process could not be ended in order otherwise.
        stack.callback(self.signal, signal.SIGCONT)
        published = self.daemons["right"].put("/x/file", self.sent)
        stack.callback(published.kill)

    def weir(self, *arguments):
        """Run a command on the left daemon and return what it printed."""
        left = self.daemons["left"]
        argv = left.command(left.weir, *arguments, "--socket", left.socket)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def signal(self, number):
        """Send a signal to the cheap daemon."""
        os.kill(self.daemons["cheap"].process.pid, number)

    def begin(self, name="got"):
        """Begin a transfer."""
        return self.daemons["left"].get("/x/file", self.folder / name)

    def fetch(self):
        """Transfer the file and return how long it took, in seconds."""
        fetch = self.begin().finish(PATIENCE)
        self.assertEqual(content.sha256(self.folder / "got"), content.sha256(self.sent))
        return fetch.child.seconds

    def data_from(self, name):
        """Data packets that the left daemon has from one of the two."""
        faces = self.daemons["left"].status()["faces"]
        return sum(face["received"]["data"] for face in faces if face["uri"] == uri(name))

    @_service.repeated
    def test_a_route_to_a_silent_face(self):
        """The cheaper route leads to a face that never answers: the transfer keeps its rate."""
        undisturbed = self.fetch()
        # One segment takes 8 ms here, and most of the path next to nothing.
        self.assertLess(undisturbed, SIZE * 8 / BITS_PER_SECOND / KEPT + 1)
        self.assertGreater(self.data_from("cheap"), 10 * max(1, self.data_from("dear")))
        self.signal(signal.SIGSTOP)
        taken = self.fetch()
        print(f"silent next hop: {taken:.1f} s, undisturbed {undisturbed:.1f} s")
        self.assertLess(taken, undisturbed / KEPT + LEARNING)
        # The next one has nothing to learn.
        taken = self.fetch()
        print(f"silent next hop, known: {taken:.1f} s")
        self.assertLess(taken, undisturbed / KEPT + 1)

    @_service.repeated
    def test_a_next_hop_dies_in_mid_transfer_and_comes_back(self):
        """The best next hop falls silent in a transfer, and answers again later."""
        undisturbed = self.fetch()
        before, segments = self.data_from("cheap"), SIZE // 8000
        fetch = self.begin()
        wait_until(lambda: self.data_from("cheap") > before + segments // 4, "a quarter", PATIENCE)
        self.signal(signal.SIGSTOP)
        fetch.finish(PATIENCE)
        taken = fetch.child.seconds
        print(f"next hop dies: {taken:.1f} s, undisturbed {undisturbed:.1f} s")
        self.assertLess(taken, undisturbed / KEPT + LEARNING)
        self.signal(signal.SIGCONT)
        back, before = time.monotonic(), self.data_from("cheap")
        while self.data_from("cheap") < before + segments // 2:
            waited = time.monotonic() - back
            self.assertLess(waited, LONGEST_PAUSE + 2 * undisturbed + LEARNING, "not used again")
            self.fetch()
        print(f"next hop is used again after {time.monotonic() - back:.1f} s")


if __name__ == "__main__":
    unittest.main()
