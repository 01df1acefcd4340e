"""The packages made once more, with other settings of the user: the same bytes."""

import os
import subprocess
import unittest

import packages
from support import content, weir

PATIENCE = 600


class Reproducible(unittest.TestCase):
    """The folder of the packages, which the build makes again."""

    def test_same_commit_gives_the_same_bytes(self):
        """Time zone, language and mask of the user have no effect."""
        if not packages.BUILD:
            self.skipTest("the packages were not built here")
        names = sorted(path.name for path in packages.FOLDER.iterdir())
        self.assertEqual(len(names), len(packages.BUILD[1:]) or 3)
        first = {name: content.sha256(packages.FOLDER / name) for name in names}
        other = {"TZ": "Asia/Kathmandu", "LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8"}
        made = subprocess.run(
            ["scripts/packages", *packages.BUILD],
            cwd=weir.ROOT,
            env={**os.environ, **other},
            umask=0o077,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self.assertEqual(made.returncode, 0, made.stderr)
        again = {name: content.sha256(packages.FOLDER / name) for name in names}
        self.assertEqual(again, first)
