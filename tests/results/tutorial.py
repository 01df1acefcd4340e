"""The tutorial is followed: every command prints what the page shows, apart from times."""

import tempfile
import unittest

from support import tutorial, weir

PAGE = weir.ROOT / "docs/tutorial/your-own-network.md"


class Tutorial(unittest.TestCase):
    """Typed in an empty folder."""

    def test_it_can_be_followed(self):
        self.assertGreater(len(tutorial.steps(PAGE.read_text(encoding="utf-8"))), 8)
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            tutorial.follow(PAGE, folder, weir.program(), weir.ROOT)
