"""The tools that write and follow pages."""

import sys
import unittest
from pathlib import Path

from support import tutorial

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
sys.path.append(str(SCRIPTS))

from comparison import merge  # noqa: E402

PAGE = """# Compared

About.

## Rows

| scheme | goodput |
|---|---|
| `aimd` | 1 |
| `bbr` | 2 |
"""


class Pages(unittest.TestCase):
    """Parts of a page that are renewed, and parts of an output that a page shows."""

    def test_merged_schemes_are_missing_from_pictures_or_older_there(self):
        first = merge.with_remarks(PAGE, ["copa"])
        self.assertIn(f"\n\n{merge.ABSENT}`copa`.\n", first)
        self.assertNotIn("earlier runs", first)
        with_row = first + "| `copa` | 3 |\n"
        second = merge.with_remarks(with_row, ["copa", "bbr"])
        self.assertEqual(second.count("The pictures lack"), 1)
        self.assertIn(f"{merge.ABSENT}`copa`.\n\n{merge.EARLIER}`bbr`.\n\n## Rows", second)
        self.assertEqual(merge.with_remarks(second, ["bbr"]), second)

    def test_each_picture_has_a_note_on_what_is_older_in_it(self):
        picture = "\n![rows](pictures/rows.svg)\n\nRates.\n"
        first = merge.with_remarks(PAGE + picture, ["copa"])
        self.assertIn("svg)\n\n<sub>This picture lacks `copa`.</sub>\n\nRates.", first)
        second = merge.with_remarks(first, ["bbr"])
        self.assertIn("svg)\n\n<sub>This picture lacks `copa` and shows earlier runs", second)
        self.assertEqual(second.count("<sub>"), 1)

    def test_a_merge_needs_a_name(self):
        self.assertIn("needs names", merge.mistake(["--merge"]))
        self.assertIn("--quick", merge.mistake(["--merge", "--quick", "bbr"]))
        self.assertIsNone(merge.mistake(["--merge", "bbr"]))
        self.assertIsNone(merge.mistake([]))

    def test_the_lines_that_a_page_shows_are_compared(self):
        page = "scheme  parts\naimd    consumer\n…\nweighted  strategy"
        step = tutorial.Step("weir schemes", page)
        whole = "scheme  parts\naimd    consumer\nbbr\ncubic\nweighted  strategy"
        self.assertEqual(step.differs(whole), "")
        self.assertEqual(step.shown(whole), step.answer.splitlines())
        for wrong in ("aimd    consumer", "weighted  strategy"):
            self.assertIn("-" + wrong, step.differs(whole.replace(wrong, "other")))
        self.assertNotEqual(step.differs("scheme  parts"), "")
