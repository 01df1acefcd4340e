"""The pictures of workloads, videos and content stores, at the widths that people have."""

import re
from pathlib import Path

from opened import Browser
from support import weir

SCENARIOS = weir.ROOT / "scenarios"
TEXTS = Path(__file__).with_name("texts.js").read_text(encoding="utf-8")
WIDTHS = (380, 768, 1400)

# The special content of each report, besides the common one.
REPORTS = {
    "mice": (
        ["workloads/mice-elephants.toml", "scenario.duration=20 s"],
        ["arrivals", "running", "times", "workload-rates", "completion"],
    ),
    "requests": (
        ["workloads/poisson-zipf.toml", "caching.warmup=20 s"],
        ["arrivals", "running", "times", "workload-rates", "hit-ratio", "hits"],
    ),
    "video": (
        # Narrower than in the file and to the end, or nothing stalls; and long enough that what
        # has stalled still ends, or there is no completion to be shown.
        ["workloads/video.toml", "fault.rate=400 kbit/s", "scenario.duration=240 s"],
        ["rates", "buffers", "quality", "stalls", "completion"],
    ),
    "copies": (
        ["caching/copies.toml", "scenario.duration=20 s"],
        ["hit-ratio", "node-hit-ratio", "hit-ratio-mean", "hits", "completion"],
    ),
    "sources": (["workloads/two-sources.toml"], ["goodput", "rates", "use"]),
}


class Demand(Browser):
    """A report of each of the scenarios that come with the program."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, ((file, *settings), _) in REPORTS.items():
            changes = [word for setting in settings for word in ("--set", setting)]
            cls.weir("sim", "run", SCENARIOS / file, "--out", name, *changes)

    def shown(self, name, width=1400, scheme="light"):
        """A report with all of its pictures in sight and drawn."""
        page = self.open(f"{name}/report.html", width, scheme)
        for details in page.locator("details").all():
            details.evaluate("details => { details.open = true; }")
        for figure in page.locator("figure").all():
            figure.scroll_into_view_if_needed()
            for plot in figure.locator(".plot").all():
                plot.locator("svg").first.wait_for()
        return page

    def test_pictures_are_there_and_their_texts_can_be_read(self):
        for name, (_, pictures) in REPORTS.items():
            for width in WIDTHS:
                page = self.shown(name, width)
                for picture in pictures:
                    self.assertEqual(page.locator(f"figure#{picture}").count(), 1, picture)
                self.assertEqual(page.evaluate(TEXTS), [], f"{name} at {width}")
                wide = page.evaluate("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"{name} sticks out at {width}")

    def test_every_line_of_a_legend_is_drawn(self):
        for name in REPORTS:
            page = self.shown(name)
            for figure in page.locator("figure:has(table.legend)").all():
                for panel in figure.locator(".panel").all():
                    look = "line => [line.classList[1], line.getAttribute('stroke-dasharray')]"
                    keys = [key.evaluate(look) for key in panel.locator("button line").all()]
                    lines = panel.locator(".plot path.line")
                    # Dashed lines are drawn on top, each kind in the order of the legend.
                    order = sorted(keys, key=lambda look: look[1] != "")
                    self.assertEqual([line.evaluate(look) for line in lines.all()], order)
                    self.assertEqual(len({tuple(key) for key in keys}), len(keys), "look alike")
                    for line in lines.all():
                        self.assertRegex(line.get_attribute("d"), r"^M[\d.-]+ [\d.-]+[LHV]")

    def test_values_of_classes_under_pointer_and_keys(self):
        page = self.shown("mice")
        arrivals = page.locator("figure#arrivals")
        plot, tip = arrivals.locator(".plot"), arrivals.locator(".tip")
        said = r"^time \d\S* s\n/flows mice: \d\S* flows/s\n/flows elephants: \d\S* flows/s$"
        self.assertFalse(tip.is_visible())
        plot.hover()
        self.assertRegex(tip.inner_text(), said)
        page.mouse.move(0, 0)
        self.assertFalse(tip.is_visible())
        plot.focus()
        page.keyboard.press("ArrowRight")
        first = tip.inner_text()
        self.assertRegex(first, said)
        page.keyboard.press("ArrowRight")
        self.assertNotEqual(tip.inner_text(), first)
        hits = self.shown("copies").locator("figure#hits")
        hits.locator(".plot").focus()
        hits.page.keyboard.press("ArrowDown")
        self.assertRegex(hits.locator(".tip").inner_text(), r"^n\d: .+: \d\S* %$")

    def test_the_end_of_the_warm_up_is_marked_where_it_is(self):
        page = self.shown("requests")
        for picture in ("hit-ratio", "arrivals"):
            figure = page.locator(f"figure#{picture}")
            label = figure.get_by_text("warm-up ends", exact=True)
            mark = label.evaluate("text => Number(text.previousElementSibling.getAttribute('x1'))")
            ticks = figure.locator("text.tick[text-anchor=middle]")
            tick = ticks.filter(has_text=re.compile("^20$"))
            self.assertAlmostEqual(mark, float(tick.get_attribute("x")), delta=0.2)
        self.assertIn("after the warm-up", page.locator(".answer").inner_text())

    def test_small_shares_are_not_drawn_on_the_ground(self):
        # No link is in use for more than three hundredths of the time.
        page = self.shown("copies")
        for plot in page.locator("figure#use .plot").all():
            ticks = plot.locator("text.tick[text-anchor=end]").all_text_contents()
            self.assertLessEqual(max(map(float, ticks)), 5)
        page = self.shown("mice")
        ticks = page.locator("figure#use text.tick[text-anchor=end]").all_text_contents()
        self.assertEqual(max(map(float, ticks)), 100)

    def test_many_medians_have_dots_and_no_names(self):
        copies = self.shown("copies").locator("figure#completion")
        self.assertEqual(copies.locator(".plot circle").count(), 7)
        self.assertEqual(copies.get_by_text(re.compile("^.*: median ")).count(), 0)
        names = copies.locator("button[data-line]").all_inner_texts()
        self.assertIn("probcache", names, "one catalogue needs no name")
        mice = self.shown("mice").locator("figure#completion")
        self.assertEqual(mice.get_by_text(re.compile("^/flows .*: median .* s$")).count(), 2)

    def test_tables_of_numbers_fit_a_narrow_page_or_are_scrolled_by_keys(self):
        for name in REPORTS:
            page = self.shown(name, 380)
            for table in page.locator(".scroll").all():
                over = table.evaluate("table => table.scrollWidth - table.clientWidth")
                is_legend = table.locator("table.legend").count() > 0
                if over <= 1:
                    continue
                self.assertFalse(is_legend, f"{name}: {over} too wide: {table.inner_text()}")
                table.focus()
                page.keyboard.press("End")
                page.keyboard.press("ArrowRight")
                page.wait_for_function("table => table.scrollLeft > 0", arg=table.element_handle())

    def test_counts_are_integers_and_unused_classes_have_no_column(self):
        video = self.shown("video").locator("figure#stalls")
        counts = video.locator("td:not(.left)").all_inner_texts()
        self.assertTrue(counts and all(count.isdigit() for count in counts), counts)
        self.assertNotIn(".", video.locator("h2").inner_text())
        heads = self.shown("requests").locator("table").first.locator("th").all_inner_texts()
        self.assertNotIn("class", heads)
        heads = self.shown("mice").locator("table").first.locator("th").all_inner_texts()
        self.assertIn("class", heads)
