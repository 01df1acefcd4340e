"""`weir status --watch` shows the state of a forwarder again and again."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import termios

from alone import ALONE, Alone
from support import weir
from support.children import wait_until

NO_FORWARDER = 6
PATIENCE = 60
ROWS, COLUMNS = 8, 60
HOME = "\x1b[H"


class Watch(Alone):
    """One daemon without neighbours."""

    def watch(self, out, *options, daemon=None):
        """Begin to watch, into a file or a terminal."""
        socket = (daemon or self.daemon).socket
        argv = [self.program, "status", "--watch", "--socket", socket, *options]
        with open(self.here / "errors", "wb") as errors:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def into_file(self, *options, daemon=None):
        """The same, into a file."""
        path = self.here / "out"
        with open(path, "wb") as out:
            return self.watch(out, *options, daemon=daemon), path

    def end(self, child, number=signal.SIGINT):
        """Interrupt it: that is how it ends."""
        child.send_signal(number)
        self.assertEqual(child.wait(PATIENCE), 0, (self.here / "errors").read_text())
        self.assertEqual((self.here / "errors").read_text(), "")

    def test_one_block_after_the_other(self):
        """Without a terminal: blocks with an empty line between them, and no control sequences."""
        child, out = self.into_file()
        wait_until(lambda: out.read_text().count("up ") >= 2, "a second block", PATIENCE)
        self.end(child)
        text = out.read_text()
        self.assertNotIn("\x1b", text)
        first, second = text.split("\n\nup ")[:2]
        self.assertRegex(first, r"\Aup .*\ncontent store ")
        self.assertEqual(first.splitlines()[1], second.splitlines()[1])

    def test_an_object_per_second(self):
        """Objects as of `weir status --json`, one per line, a second from each other."""
        child, out = self.into_file("--json")
        wait_until(lambda: out.read_text().count("\n") >= 3, "three objects", PATIENCE)
        self.end(child, signal.SIGTERM)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(set(lines[0]), set(self.daemon.status()))
        times = [line["uptime_ms"] for line in lines]
        for before, after in zip(times, times[1:], strict=False):
            # The answers may take unequal times.
            self.assertGreater(after - before, 500)

    def test_a_terminal_is_drawn_again(self):
        """Each drawing begins at the top and leaves room for the cursor."""
        terminal, end = os.openpty()
        self.addCleanup(os.close, terminal)
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        child = self.watch(end)
        os.close(end)
        shown = ""
        while shown.count(HOME) < 3:
            shown += os.read(terminal, 65536).decode()
        self.end(child)
        before, first, second, _ = shown.split(HOME, 3)
        self.assertEqual(before, "\x1b[2J")
        for drawing in (first, second):
            lines = drawing.replace("\x1b[K", "").replace("\x1b[J", "").split("\r\n")
            self.assertTrue(lines[0].startswith("up "), lines)
            self.assertLessEqual(len(lines), ROWS)
            self.assertEqual(lines[-1], "")
            self.assertLessEqual(max(map(len, lines)), COLUMNS)

    def test_the_forwarder_ends(self):
        """One line says so."""
        folder = self.here / "other"
        folder.mkdir()
        other = weir.Daemon(self.program, folder, "other", listen=ALONE)
        with other:
            child, out = self.into_file(daemon=other)
            wait_until(lambda: "up " in out.read_text(), "a block", PATIENCE)
        self.assertEqual(child.wait(PATIENCE), NO_FORWARDER)
        self.assertRegex((self.here / "errors").read_text(), r"\Aweir: .*; [^;\n]+\n\Z")
