"""The guide to plots is followed: every command prints what the page shows, and draws its file."""

import re
import tempfile
import unittest
from pathlib import Path

from support import tutorial, weir

PAGE = weir.ROOT / "docs/how-to/plot-a-sweep.md"


class Plots(unittest.TestCase):
    """Typed beside the scenarios of the repository."""

    def test_every_command_runs_as_printed(self):
        text = PAGE.read_text(encoding="utf-8")
        wanted = re.findall(r"^\$ weir plot .* -o (\S+)$", text, re.MULTILINE)
        self.assertGreater(len(wanted), 4)
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            Path(folder, "scenarios").symlink_to(weir.ROOT / "scenarios")
            tutorial.follow(PAGE, folder, weir.program(), weir.ROOT)
            # The last command is wrong, and draws nothing.
            for name in wanted[:-1]:
                self.assertGreater(Path(folder, name).stat().st_size, 1000, name)
            self.assertFalse(Path(folder, wanted[-1]).exists())
