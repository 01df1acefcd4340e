"""The page of a study, at the widths that people have."""

import re
from pathlib import Path

from opened import Browser, save_pictures
from support import weir

STUDY = weir.ROOT / "crates/study/tests/bottleneck"
TEXTS = Path(__file__).with_name("texts.js").read_text(encoding="utf-8")
# The names that a line of their drawing goes through.
CROSSED = """(figure) => {
  const wrong = [];
  for (const text of figure.querySelectorAll(".plot text.note")) {
    const box = text.getBBox();
    for (const line of text.closest("svg").querySelectorAll("path.line, path.raw")) {
      const whole = line.getTotalLength();
      for (let at = 0; at <= whole; at += 1) {
        const { x, y } = line.getPointAtLength(at);
        const isIn = x > box.x && x < box.x + box.width
          && y > box.y + 2 && y < box.y + box.height - 2;
        if (isIn) {
          wrong.push(text.textContent);
          break;
        }
      }
    }
  }
  return wrong;
}"""
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

    def test_names_are_those_that_people_read(self):
        page = self.shown()
        rate = self.figure(page, "bottleneck-bottleneck-rate")
        legend = [button.inner_text() for button in rate.locator(".legend button").all()]
        self.assertEqual(legend, ["AIMD", "CUBIC", "stop-and-wait"])
        curve = self.figure(page, "bottleneck-window-curve")
        self.assertEqual(curve.get_by_text("queue of the link (packets)", exact=True).count(), 1)
        self.assertEqual(page.get_by_text("link.queue").count(), 0)

    def test_a_logarithm_gives_equal_room_to_equal_ratios(self):
        page = self.shown()
        curve = self.figure(page, "bottleneck-window-curve")
        ticks = curve.locator(".plot text[text-anchor=middle]").all()
        at = {float(tick.text_content()): float(tick.get_attribute("x")) for tick in ticks}
        self.assertLessEqual({20, 50, 100}, at.keys())
        points = [float(dot.get_attribute("cx")) for dot in curve.locator(".plot circle").all()]
        self.assertAlmostEqual(points[0], at[50], delta=0.2)
        self.assertAlmostEqual(points[1], at[100], delta=0.2)
        self.assertGreater((at[50] - at[20]) / (at[100] - at[50]), 1.2)

    def test_no_two_lines_look_alike(self):
        page = self.shown()
        for name in PICTURES:
            for plot in self.figure(page, f"bottleneck-{name}").locator(".plot").all():
                lines = plot.locator("path.line[stroke-dasharray]").all()
                looks = [
                    (line.get_attribute("class"), line.get_attribute("stroke-dasharray"))
                    for line in lines
                ]
                self.assertEqual(len(set(looks)), len(looks), name)

    def test_names_of_values_stand_where_no_line_goes(self):
        page = self.shown(width=420)
        for name in ("bottleneck-rate", "beyond-fct"):
            self.assertEqual(self.figure(page, f"bottleneck-{name}").evaluate(CROSSED), [], name)

    def test_a_failed_claim_links_to_its_explanation(self):
        page = self.shown()
        row = page.locator("tr", has_text="stop and wait fills it")
        self.assertIn("no, explained", row.inner_text())
        target = row.locator("a").get_attribute("href")
        self.assertEqual(page.locator(target).inner_text(), "It does not")

    def test_pictures_can_be_saved(self):
        page = self.shown()
        files = save_pictures(page, self.folder)
        self.assertEqual(
            [file.stem for file in files],
            [
                f"bottleneck-{name}"
                for name in ("bottleneck-rate", "short-values", "beyond-fct", "window-curve")
            ],
        )
        for file in files:
            text = file.read_text(encoding="utf-8")
            self.assertRegex(text, r"^<svg ")
            self.assertNotIn("var(--", text)
            self.assertTrue(re.search(r"bottleneck\.toml", text), file)


if __name__ == "__main__":
    import unittest

    unittest.main()
