"""A daemon with a limit on its memory stays within it, whatever passes through."""

import contextlib
import sys
import tempfile
import unittest
from pathlib import Path

from support import content, namespaces, weir
from support.children import Child, memory_bytes, wait_until

HERE = Path(__file__).resolve().parent
LIMIT = 32_000_000
SIZE = 40 * content.MEGABYTE
FILES = 3
# An address without a listener: packets are lost, and Interests stay unanswered.
NOWHERE = "udp4://127.0.0.1:9"
PORT = 6363
# Far more than a working transfer needs on the slowest machine; what hangs is told apart by it.
PATIENCE = 300


class Memory(unittest.TestCase):
    """One router of 32 MB in a namespace of its own."""

    def setUp(self):
        self.ends = contextlib.ExitStack()
        self.addCleanup(self.ends.close)
        self.folder = Path(self.ends.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        self.host = self.ends.enter_context(namespaces.Network()).host("router")
        self.daemon = weir.Daemon(
            weir.program(),
            self.folder,
            "router",
            host=self.host,
            faces=[("nowhere", NOWHERE)],
            routes=[("/void", "nowhere")],
            listen={"udp": f"127.0.0.1:{PORT}", "tcp": "off"},
            about={"memory": "32 MB", "log": "warn"},
        )
        self.ends.enter_context(self.daemon)

    def check(self, when):
        """Its peak is within the limit."""
        peak = memory_bytes(self.daemon.process.pid, "VmHWM")
        said = self.daemon.status()["memory"]
        self.assertLessEqual(peak, LIMIT, f"{when}: {said}")
        self.assertLessEqual(said["bytes"], said["limit"], when)
        return said

    def test_whatever_passes_it_stays_within_its_limit(self):
        """Transfers, readers that do not read, parts of packets, Interests for nothing."""
        self.check("at the start")
        self.fetch_files()
        full = self.check("after the transfers")
        self.assertGreater(full["content_store"], full["limit"] // 2, "a store of what is left")
        self.misbehave()
        self.fetch(self.publish("/last", 1), "/last")
        pressed = self.check("after everything")
        self.assertLess(pressed["content_store"], full["content_store"], "it gave way")

    def publish(self, name, seed, size=content.MEGABYTE):
        """Serve a new file."""
        path = content.make(self.folder / f"sent{seed}", size, seed)
        self.ends.enter_context(self.daemon.put(name, path))
        return path

    def fetch(self, *files_and_names):
        """Fetch all at once; what arrives is what was sent."""
        running = []
        for path, name in zip(files_and_names[::2], files_and_names[1::2]):
            target = self.folder / f"received{len(running)}"
            running.append((path, target, self.daemon.get(name, target)))
            self.ends.enter_context(running[-1][2].child)
        for path, target, fetch in running:
            fetch.finish(PATIENCE)
            self.assertEqual(content.sha256(target), content.sha256(path))

    def fetch_files(self):
        """Several files, each by two consumers at the same time."""
        files = [(self.publish(f"/file/{n}", n + 10, SIZE), f"/file/{n}") for n in range(FILES)]
        self.fetch(*[word for pair in files * 2 for word in pair])

    def misbehave(self):
        """Everything at once that a remote peer may do, until the daemon has had to reject."""
        self.publish("/wanted", 2)
        argv = [sys.executable, HERE / "misbehave.py", self.daemon.socket, PORT, "/wanted"]
        log = self.folder / "misbehave.log"
        child = self.ends.enter_context(Child(self.host.command(*argv), log))

        def sent():
            self.assertTrue(child.running, child.last_words())
            return "sent" in log.read_text(encoding="utf-8")

        wait_until(sent, "all of it to be sent", PATIENCE)

        def rejected():
            return self.daemon.status()["memory"]["refused"]["interests"] > 0

        wait_until(rejected, "the daemon to reject Interests")
