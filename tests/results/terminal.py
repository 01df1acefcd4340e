"""The terminal during a run."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import tempfile
import termios
import time
import unittest
from pathlib import Path

from support import weir

NETWORK = """
[[node]]
name = ["near", "far"]
[[link]]
between = ["near", "far"]
rate = "100 Mbit/s"
"""
# Long enough that the bar is drawn at least once, ended by the test.
SCENARIO = """
[scenario]
name = "a-name-that-is-longer-than-it-should-be"
duration = "100000 s"
[[content]]
name = "/film"
at = "far"
size = "50 MB"
segment = "100 B"
[[consumer]]
at = "near"
name = "/film"
rate = "1000 /s"
""" + NETWORK
# The first request is for the root of a manifest, for which all of it is hashed: minutes of work
# that take no simulated time.
HASHED = """
[scenario]
name = "large"
duration = "10 s"
[[content]]
name = "/film"
at = "far"
size = "200 GB"
[[consumer]]
at = "near"
name = "/film"
""" + NETWORK
PATIENCE = 60
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(unittest.TestCase):
    """The program on a terminal of its own."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def frames(self, columns, scenario=SCENARIO, awaited=b"events/s", arguments=()):
        """The drawn frames, until some contain the awaited text."""
        file = self.folder / "long.toml"
        file.write_text(scenario, encoding="utf-8")
        child, terminal = pty.fork()
        if child == 0:
            size = struct.pack("HHHH", 30, columns, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.chdir(self.folder)
            os.execv(self.program, ["weir", "sim", "run", "long.toml", *arguments])
        self.addCleanup(os.close, terminal)
        drawn, ended, told = b"", False, False
        until = time.monotonic() + PATIENCE
        while not ended:
            if not select.select([terminal], [], [], PATIENCE)[0] or time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                self.fail(f"it is not over after {PATIENCE} s: {drawn[-400:]}")
            try:
                drawn += os.read(terminal, 65536)
            except OSError:
                ended = True
            if not told and drawn.count(awaited) >= 8:
                # As a person does it.
                os.write(terminal, b"\x03")
                told = True
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = CONTROL.sub("", drawn.decode()).replace("^C", "")
        return status, re.split(r"[\r\n]+", text)

    def test_hashing_is_shown_and_ended_like_all_else(self):
        arguments = ("--out", "out", "--pcap", "run.pcapng")
        status, lines = self.frames(100, HASHED, b"hashing /film: ", arguments)
        self.assertEqual(status, 5)
        shares = [float(x) for x in re.findall(r"hashing /film: (\d+) %", "\n".join(lines))]
        self.assertTrue(shares and max(shares) < 100, "it was in the middle")
        said = "weir: interrupted; the results shown and kept in out are incomplete"
        self.assertTrue(any(line.startswith(said) for line in lines), lines)
        # Nothing was fetched, and nothing is left but what was asked for.
        summary = json.loads((self.folder / "out/summary.json").read_text(encoding="utf-8"))
        self.assertTrue(summary["interrupted"])
        self.assertLess(summary["duration_s"], 1)
        [flow] = summary["flows"]
        self.assertEqual((flow["bytes"], flow["complete"]), (0, False))
        left = {path.name for path in self.folder.iterdir()}
        self.assertEqual(left, {"long.toml", "out", "run.pcapng"})

    def test_a_narrow_terminal_has_a_share_and_lists_for_tables(self):
        status, lines = self.frames(40, awaited=b" %")
        self.assertEqual(status, 5)
        shown = [line.rstrip() for line in lines if not line.startswith("weir: ")]
        self.assertLessEqual(max(map(len, shown)), 40, shown)
        bars = [line for line in shown if re.search(r"\d %", line)]
        self.assertRegex(bars[-1], r"^a-n.+ \d+ %")
        # Nothing is cut: the row of a consumer is a list.
        place = shown.index("consumer near")
        self.assertRegex(shown[place + 1], r"^  control +constant-rate$")
        self.assertRegex(shown[place + 2], r"^  goodput \(Mbit/s\) +[\d.]+$")
        self.assertFalse(any(line.endswith("…") for line in shown), shown)

    def test_the_bar_fits_and_says_time_events_and_what_is_left(self):
        for columns in (60, 80, 120):
            status, lines = self.frames(columns)
            self.assertEqual(status, 5)
            # An error says what it has to say, however wide that is.
            shown = [line for line in lines if not line.startswith("weir: ")]
            self.assertLessEqual(max(map(len, shown)), columns, shown)
            bars = [line for line in lines if "events/s" in line]
            self.assertRegex(bars[-1], r"[\d.]+ of 100000 s, [\d.]+ [kM] events/s")
            self.assertEqual("[" in bars[-1], columns >= 80)
            self.assertTrue(bars[-1].startswith("a-na" if columns > 60 else "a-"), bars[-1])
            self.assertIn("weir: interrupted", "".join(lines))
