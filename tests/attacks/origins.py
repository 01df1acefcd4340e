"""Attacks on `weir proxy` by consumers, and by origins that they make it ask."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from _packets import ANY_FRESH, FRAGMENT, LINK, NACK, interest, uri
from _producer import elements
from support import children, content, weir
from support.children import Child, wait_until
from support.origin import Origin

PATIENCE = 60
ALONE = {"udp": "off", "tcp": "off"}
# Every Interest reaches the proxy: no cached answer stops it.
NO_CACHE = {"capacity": "0 B"}
# A NackReason of NDNLPv2.
REASON, CONGESTION = 0x321, 50
# The program has about 20 MB; 8 MB for Interests that wait, by their packets and names, and as
# much again for the maps that they are in.
MEMORY = 80 * content.MEGABYTE
BATCH = 100


class Floods(unittest.TestCase):
    """A proxy for two origins, and a consumer that sends what it likes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder, self.program = Path(folder.name), weir.program()
        self.daemon = weir.Daemon(self.program, self.folder, "daemon", listen=ALONE, store=NO_CACHE)
        self.daemon.start()
        self.addCleanup(self.daemon.process.kill)
        self.slow, self.other = Origin(), Origin()
        self.addCleanup(self.slow.close)
        self.addCleanup(self.other.close)
        self.data = self.other.files["/file"] = os.urandom(2 * content.MEGABYTE)
        out = self.folder / "proxy.json"
        argv = [self.program, "proxy", f"/slow={self.slow.url}", f"/other={self.other.url}"]
        argv += ["--json", "--socket", self.daemon.socket, "--origin-timeout", "60 s"]
        self.proxy = Child(argv, self.folder / "proxy.log", out)
        self.addCleanup(self.proxy.kill)
        wait_until(lambda: out.read_text(encoding="utf-8"), "the proxy to serve")
        self.peer = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.peer.close)
        self.peer.connect(str(self.daemon.socket))
        self.waiting, self.nacks = b"", 0

    def get(self, name):
        """Fetch by name."""
        argv = [self.program, "cat", name, "--socket", self.daemon.socket]
        done = subprocess.run(argv, capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def send(self, packets):
        """Send packets, and read what comes meanwhile."""
        self.peer.setblocking(True)
        self.peer.sendall(b"".join(packets))
        self.read()

    def read(self):
        """Count the Nacks with the reason Congestion."""
        self.peer.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while got := self.peer.recv(65536):
                self.waiting += got
        whole = 0
        for kind, value in elements(self.waiting):
            head = 4 if len(value) >= 253 else 2
            whole += head + len(value)
            fields = dict(elements(value)) if kind == LINK else {}
            if FRAGMENT in fields and NACK in fields:
                reason = dict(elements(fields[NACK])).get(REASON, b"\0")
                self.nacks += int.from_bytes(reason, "big") == CONGESTION
        self.waiting = self.waiting[whole:]

    def test_a_slow_origin_holds_up_no_other(self):
        """Thousands of Interests for a file that does not come, and for as many names there."""
        self.slow.special["/stall"] = lambda handler: handler.stall()
        names = [f"/slow/stall/v=1/seg={n}" for n in range(8000)]
        names += [f"/slow/{n}" for n in range(4000)]
        for at in range(0, len(names), BATCH):
            some = enumerate(names[at : at + BATCH], at)
            self.send([interest(uri(name), nonce=n, lifetime_ms=30_000) for n, name in some])
        begun = time.monotonic()
        self.assertTrue(self.get("/other/file") == self.data)
        # Far less than the lifetime of the Interests that wait.
        self.assertLess(time.monotonic() - begun, 25)
        wait_until(lambda: self.read() or self.nacks > 1000, "rejections instead of silence")
        self.assertLess(children.peak_bytes(self.proxy.pid), MEMORY)

    def test_missing_names_displace_no_content(self):
        """More names than the proxy remembers, none of which the origin has."""
        self.assertTrue(self.get("/other/file") == self.data)
        for at in range(0, 3000, BATCH):
            names = [uri(f"/other/none{n}") for n in range(at, at + BATCH)]
            before = len(self.other.requests)
            some = enumerate(names, at)
            self.send([interest(name, nonce=n, flags=ANY_FRESH) for n, name in some])
            wait_until(lambda: len(self.other.requests) >= before + BATCH, "the origin's answers")
        self.assertTrue(self.get("/other/file") == self.data)
        self.assertEqual(self.other.sent["/file"], len(self.data))


if __name__ == "__main__":
    unittest.main()
