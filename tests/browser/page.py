"""The report as a browser shows it: nothing goes wrong, nothing is asked for, all answers."""

import csv
import io
import xml.etree.ElementTree as xml
from pathlib import Path

from opened import Browser

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = ["network", "rates", "windows", "rtt", "queues", "use", "completion"]

# Two flows over one link, one of them from a store that has seen the other's content.
TWO = """
[scenario]
name = "two"
question = "Who <wins> & why?"
duration = "4 s"
[[node]]
name = ["one", "two", "origin"]
[[node]]
name = "hub"
content_store = "8 MB"
[[link]]
between = ["one", "hub"]
rate = "20 Mbit/s"
delay = "2 ms"
[[link]]
between = ["two", "hub"]
rate = "20 Mbit/s"
delay = "2 ms"
[[link]]
between = ["hub", "origin"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "40 packets"
[[content]]
name = "/film"
at = "origin"
size = "1 MB"
[[consumer]]
at = "one"
name = "/film"
control = "cubic"
[[consumer]]
at = "two"
name = "/film"
control = "aimd"
start = "1 s"
"""


class Page(Browser):
    """Two flows alone, two results beside each other, a sweep."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "two.toml").write_text(TWO, encoding="utf-8")
        cls.weir("sim", "run", "two.toml", "--out", "first")
        cls.weir("sim", "run", "two.toml", "--out", "second", "--set", "consumer.one.control=aimd")
        cls.weir("report", "first", "second", "-o", "both.html")
        cls.weir("compare", "first", "second")
        sweep = '\n[sweep]\nlink.hub-origin.loss = ["0 %", "2 %"]\nrepetitions = 3\n'
        (cls.folder / "sweep.toml").write_text(TWO + sweep, encoding="utf-8")
        cls.weir("sim", "run", "sweep.toml", "--out", "sweep")

    def test_every_picture_is_drawn_and_said_in_words(self):
        for width in (1280, 390):
            page = self.open("first/report.html", width)
            self.assertEqual(page.locator("h1").inner_text(), "Who <wins> & why?")
            for name in [*PICTURES, "hits"]:
                figure = self.figure(page, name)
                self.assertGreater(figure.locator(".plot svg *").count(), 10, name)
                self.assertGreater(len(figure.locator("figcaption").inner_text()), 20, name)
                if name != "network":
                    self.assertGreater(figure.locator("table td").count(), 2, name)
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, "nothing sticks out")

    def test_on_paper_every_picture_is_drawn(self):
        # Headless Chromium prints without being scrolled; what was never in sight is printed too.
        page = self.open("first/report.html")
        printed = page.pdf(format="A4")
        self.assertGreater(len(printed), 10_000)
        count = "plot.querySelectorAll('svg *').length"
        drawn = f"all => all.map((plot) => [plot.closest('figure').id, {count}])"
        pictures = page.eval_on_selector_all("figure .plot", drawn)
        self.assertGreater(len(pictures), len(PICTURES))
        self.assertEqual([name for name, parts in pictures if parts <= 10], [])

    def test_light_and_dark(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        light, dark = (self.open("first/report.html", scheme=s) for s in ("light", "dark"))
        self.assertEqual(light.evaluate(ground), "rgb(255, 255, 255)")
        self.assertEqual(dark.evaluate(ground), "rgb(20, 23, 26)")

    def ticks(self, figure):
        """The texts along the axes."""
        return figure.locator(".plot text.tick").all_text_contents()

    def test_zoom_by_buttons_pointer_and_keys_goes_for_all_times_alike(self):
        page = self.open("first/report.html")
        windows, rates = self.figure(page, "windows"), self.figure(page, "rates")
        whole = [self.ticks(windows), self.ticks(rates)]
        everything = rates.locator("[data-do=all]")
        self.assertTrue(everything.is_disabled())

        def zoomed(how):
            now = [self.ticks(windows), self.ticks(rates)]
            self.assertNotEqual(now[0], whole[0], how)
            self.assertNotEqual(now[1], whole[1], how)
            everything.click()
            self.assertEqual([self.ticks(windows), self.ticks(rates)], whole, how)

        rates.locator("[data-do=in]").click()
        zoomed("button")
        plot = rates.locator(".plot")
        box = plot.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.4, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=4)
        page.mouse.up()
        zoomed("pointer")
        plot.focus()
        page.keyboard.press("+")
        zoomed("key")

    def test_values_under_pointer_and_keys(self):
        page = self.open("first/report.html")
        rates = self.figure(page, "rates")
        plot, tip = rates.locator(".plot"), rates.locator(".tip")
        self.assertFalse(tip.is_visible())
        plot.hover()
        self.assertTrue(tip.is_visible())
        self.assertRegex(tip.inner_text(), r"^time \d.* s\n(.|\n)*at one: \d.* Mbit/s")
        page.mouse.move(0, 0)
        self.assertFalse(tip.is_visible())
        plot.focus()
        page.keyboard.press("ArrowRight")
        first = tip.inner_text()
        page.keyboard.press("ArrowRight")
        self.assertNotEqual(tip.inner_text(), first)
        network = self.figure(page, "network")
        network.locator(".plot").focus()
        page.keyboard.press("ArrowRight")
        self.assertIn("one: consumer; cubic asks for /film", network.locator(".tip").inner_text())

    def test_a_line_goes_and_comes_back(self):
        page = self.open("first/report.html")
        rates = self.figure(page, "rates")
        lines = rates.locator(".plot path.line")
        before = lines.count()
        button = rates.locator("button[data-line]").first
        button.press("Enter")
        pressed = "aria-pressed"
        self.assertEqual((lines.count(), button.get_attribute(pressed)), (before - 1, "false"))
        button.click()
        self.assertEqual((lines.count(), button.get_attribute(pressed)), (before, "true"))

    def download(self, page, figure, what):
        """The text of a saved file."""
        with page.expect_download() as saved:
            figure.locator(f"[data-do={what}]").click()
        return Path(saved.value.path()).read_text(encoding="utf-8")

    def test_every_picture_can_be_saved(self):
        for name in [*PICTURES, "hits"]:
            # Browsers take no more than ten files from a page without asking.
            page = self.open("first/report.html", scheme="dark")
            figure = self.figure(page, name)
            text = self.download(page, figure, "svg")
            self.assertNotIn("var(", text, "colours are in the file")
            root = xml.fromstring(text)
            self.assertEqual(root.tag, SVG + "svg")
            self.assertEqual(root.find(SVG + "title").text, figure.locator("h2").inner_text())
            self.assertGreater(len(list(root.iter())), 15, name)
            rows = list(csv.reader(io.StringIO(self.download(page, figure, "csv"))))
            self.assertGreater(len(rows), 1, name)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)
        text = self.download(page, self.figure(page, "rates"), "csv")
        rates = list(csv.DictReader(io.StringIO(text)))
        lines = {row["line"] for row in rates}
        self.assertEqual(lines, {"cubic at one", "aimd at two"})
        self.assertTrue(all(0 <= float(row["time (s)"]) <= 4 for row in rates))

    def test_several_results_are_compared_in_one_picture(self):
        page = self.open("both.html")
        rates = self.figure(page, "rates")
        labels = rates.locator("button[data-line]").all_inner_texts()
        self.assertEqual(len(labels), 4)
        self.assertTrue(any(label.startswith("second") for label in labels), labels)
        self.assertEqual(rates.locator(".plot").count(), 1)

    def test_two_results_side_by_side_have_their_differences_before_the_same_pictures(self):
        for width in (1280, 390):
            page = self.open("compare.html", width)
            self.assertIn("how does second differ from first?", page.locator("h1").inner_text())
            row = page.locator("tr", has=page.locator("td", has_text="goodput (Mbit/s)")).first
            self.assertEqual(row.locator("td").count(), 6)
            labels = self.figure(page, "rates").locator("button[data-line]").all_inner_texts()
            self.assertEqual(len(labels), 4)
            page.locator("summary", has_text="All differences").click()
            self.assertTrue(page.locator("td", has_text="99 % RTT (ms)").first.is_visible())
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width, "nothing sticks out")

    def test_a_sweep_shows_its_intervals(self):
        page = self.open("sweep/report.html")
        goodput = self.figure(page, "sweep-settled-goodput")
        self.assertEqual(goodput.locator(".plot path.f0:not(.band)").count(), 2)
        self.assertEqual(goodput.locator(".plot path.band").count(), 1)
        self.figure(page, "settled-goodput-and-queue-delay")
        self.assertEqual(self.figure(page, "rates").locator("path.band").count(), 4)

    def test_many_samples_make_no_large_page(self):
        self.weir("sim", "run", "two.toml", "--out", "fine", "--set", "record.interval=1 ms")
        coarse = (self.folder / "first/report.html").stat().st_size
        fine = (self.folder / "fine/report.html").stat().st_size
        self.assertLess(fine, 1_500_000, f"{coarse} at the default interval")
        self.figure(self.open("fine/report.html"), "rates")
