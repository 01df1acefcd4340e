"""The page of a study, at the widths that people have."""

import re
from pathlib import Path

from opened import Browser, save_pictures
from support import weir

STUDY = weir.ROOT / "crates/study/tests/bottleneck"
TEXTS = Path(__file__).with_name("texts.js").read_text(encoding="utf-8")
PICTURES = ["bottleneck-rate", "window-curve", "short-values", "beyond-fct"]


class Study(Browser):
    """A small study with a picture of every kind."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weir("study", STUDY, "--out", "out")

    def shown(self, width=1400, scheme="light"):
        """The page with all of its pictures in sight and drawn."""
        page = self.open("out/bottleneck.html", width, scheme)
        for name in PICTURES:
            self.figure(page, f"bottleneck-{name}")
        return page

    def test_pictures_are_there_and_nothing_sticks_out(self):
        for width in (380, 768, 1400):
            page = self.shown(width, "dark" if width == 768 else "light")
            self.assertEqual(page.evaluate(TEXTS), [], width)
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, f"the page sticks out at {width}")

    def test_published_values_are_marked(self):
        page = self.shown()
        rate = self.figure(page, "bottleneck-bottleneck-rate")
        self.assertEqual(rate.get_by_text("paper 9", exact=True).count(), 1)
        fct = self.figure(page, "bottleneck-beyond-fct")
        self.assertEqual(fct.get_by_text("paper 1.2", exact=True).count(), 1)
        values = self.figure(page, "bottleneck-short-values")
        self.assertEqual(values.locator(".plot path.published").count(), 2)
        curve = self.figure(page, "bottleneck-window-curve")
        self.assertEqual(curve.locator(".plot circle").count(), 2)

    def test_what_does_not_hold_leads_to_why(self):
        page = self.shown()
        row = page.locator("tr", has_text="stop and wait fills it")
        self.assertIn("no, explained", row.inner_text())
        target = row.locator("a").get_attribute("href")
        self.assertEqual(page.locator(target).inner_text(), "It does not")

    def test_pictures_can_be_saved(self):
        page = self.shown()
        files = save_pictures(page, self.folder)
        self.assertEqual([file.stem for file in files], [f"bottleneck-{name}" for name in (
            "bottleneck-rate", "short-values", "beyond-fct", "window-curve")])
        for file in files:
            text = file.read_text(encoding="utf-8")
            self.assertRegex(text, r"^<svg ")
            self.assertNotIn("var(--", text)
            self.assertTrue(re.search(r"bottleneck\.toml", text), file)


if __name__ == "__main__":
    import unittest

    unittest.main()
