"""`weir-router` as `make router` builds it: a static program within its limits."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class RouterSize(unittest.TestCase):
    """Its size on disk, and in memory when idle."""

    def test_the_limits_are_kept(self):
        """`scripts/sizes` has the limits."""
        done = subprocess.run(
            [ROOT / "scripts/sizes", "weir-router"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr[-2000:]}")
