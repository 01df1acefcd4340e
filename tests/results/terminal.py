"""What a person sees while a run goes on."""

import fcntl
import os
import pty
import re
import select
import struct
import tempfile
import termios
import unittest
from pathlib import Path

from support import weir

# Long enough that the bar is drawn at least once, ended by the test.
SCENARIO = """
[scenario]
name = "a-name-that-is-longer-than-it-should-be"
duration = "100000 s"
[[node]]
name = ["near", "far"]
[[link]]
between = ["near", "far"]
rate = "100 Mbit/s"
[[content]]
name = "/film"
at = "far"
size = "50 MB"
segment = "100 B"
[[consumer]]
at = "near"
name = "/film"
rate = "1000 /s"
"""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(unittest.TestCase):
    """The program on a terminal of its own."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()

    def frames(self, columns):
        """What was drawn, from frame to frame, until there were some with a rate."""
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            file = Path(folder) / "long.toml"
            file.write_text(SCENARIO, encoding="utf-8")
            child, terminal = pty.fork()
            if child == 0:
                size = struct.pack("HHHH", 30, columns, 0, 0)
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                os.execv(self.program, ["weir", "sim", "run", str(file)])
            drawn, ended, told = b"", False, False
            while not ended:
                if not select.select([terminal], [], [], 60)[0]:
                    self.fail(f"nothing is said any more: {drawn[-400:]}")
                try:
                    drawn += os.read(terminal, 65536)
                except OSError:
                    ended = True
                if not told and drawn.count(b"events/s") >= 8:
                    # As a person does it.
                    os.write(terminal, b"\x03")
                    told = True
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            os.close(terminal)
        text = CONTROL.sub("", drawn.decode()).replace("^C", "")
        return status, re.split(r"[\r\n]+", text)

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
