"""Results as tables, data frames, plots, and in notebooks."""

import unittest

import matplotlib
import pandas
import polars
import pyarrow
import weir
from _network import SCENARIO
from matplotlib import pyplot
from weir import _weir

SWEEP = (
    SCENARIO
    + '\n[sweep]\ncontrol = ["aimd", "cubic"]\nlink.loss = ["0 %", "1 %"]\nrepetitions = 2\n'
)

# The body of a scheme without a colour of its own.
PLAIN = {
    "window": 10.0,
    "step": weir.Param(1.0, help="segments less"),
    "on_congestion": lambda self, cx, signal, rtt: None,
}


class Results(unittest.TestCase):
    """Results that the tests only read."""

    @classmethod
    def setUpClass(cls):
        cls.one = weir.run(weir.Scenario.from_text(SCENARIO, name="two.toml"))
        cls.sweep = weir.run(weir.Scenario.from_text(SWEEP, name="two.toml"))

    def test_every_library_reads_the_same_table(self):
        """pyarrow, polars and pandas through the PyCapsule interface."""
        arrow = pyarrow.table(self.one.flows)
        goodput = self.one.summary["flows"][0]["goodput_mbps"]
        self.assertEqual(arrow["goodput_mbps"].to_pylist(), [goodput])
        self.assertEqual(polars.DataFrame(self.one.flows)["goodput_mbps"].to_list(), [goodput])
        self.assertEqual(self.one.flows.to_polars().height, 1)
        self.assertEqual(list(self.one.flows.to_pandas()["goodput_mbps"]), [goodput])
        self.assertEqual(list(pandas.DataFrame.from_arrow(self.one.flows)["control"]), ["aimd"])
        self.assertIn(b"help", arrow.schema.field("fct_s").metadata)
        self.assertEqual(self.one.flows.columns["bytes"], "Bytes of received content.")

    def test_buffers_are_shared(self):
        """Two readers of one table see the same memory."""
        first, second = (pyarrow.table(self.one.series) for _ in range(2))
        address = [table["value"].chunk(0).buffers()[1].address for table in (first, second)]
        self.assertEqual(address[0], address[1])
        self.assertGreater(len(first), 1000)

    def test_the_series_are_those_of_the_program(self):
        """The bytes of a flow at the end, and the rate of its link."""
        frame = self.one.series.to_pandas()
        flow = frame[(frame.kind == "flow") & (frame.quantity == "bytes")]
        self.assertTrue(900_000 < flow.value.iloc[-1] <= self.one.summary["flows"][0]["bytes"])
        rate = frame[(frame.entity == "far > near") & (frame.quantity == "capacity_mbps")]
        self.assertEqual(set(rate.value), {10.0})

    def test_runs_of_a_sweep_have_their_settings_as_columns(self):
        """Texts as texts, shares as numbers; each table has them."""
        self.assertEqual(len(self.sweep), 8)
        runs = self.sweep.runs.to_pandas()
        self.assertEqual(list(runs["control"]), ["aimd"] * 4 + ["cubic"] * 4)
        self.assertEqual(list(runs["link.loss"]), [0, 0, 0.01, 0.01] * 2)
        self.assertEqual(list(runs["seed"]), [1, 2] * 4)
        for table in (self.sweep.flows, self.sweep.links, self.sweep.nodes, self.sweep.series):
            frame = table.to_pandas()
            self.assertEqual(set(frame["run"]), set(range(8)))
            self.assertEqual(set(frame[frame["run"] == 7]["link.loss"]), {0.01})

    def test_lines_have_the_colours_and_the_axes_of_the_report(self):
        """The colour of a scheme is the same everywhere."""
        axes = self.one.plot("window")
        self.addCleanup(pyplot.close, axes.figure)
        (line,) = axes.get_lines()
        self.assertEqual(matplotlib.colors.to_hex(line.get_color()), weir.colour("aimd"))
        self.assertEqual(axes.get_ylabel(), "window (segments)")
        self.assertEqual(axes.get_ylim()[0], 0)
        axes = self.sweep.plot_sweep("link.loss", "goodput")
        self.addCleanup(pyplot.close, axes.figure)
        colours = [matplotlib.colors.to_hex(line.get_color()) for line in axes.get_lines()]
        self.assertEqual(colours, [weir.colour("aimd"), weir.colour("cubic")])
        self.assertEqual([t.get_text() for t in axes.get_legend().get_texts()], ["aimd", "cubic"])
        self.assertEqual(axes.get_xlabel(), "link.loss (%)")
        self.assertEqual(list(axes.get_lines()[0].get_xdata()), [0, 1])
        styles = _weir.line_styles(["aimd", "cubic"])
        self.assertNotEqual(*styles)

    def test_lines_of_several_plots_differ_in_one_picture(self):
        """Colour and style differ each, the title has all, and nothing is after the end."""
        scenario = weir.Scenario.from_text(SCENARIO)
        controls = ["plain", "plain:step=2", "cubic"]
        type("Plain", (weir.WindowLaw,), PLAIN)
        axes = None
        for control in controls:
            results = weir.run(scenario, control=control)
            axes = results.plot("window", ax=axes)
            self.addCleanup(pyplot.close, axes.figure)
        lines = axes.get_lines()
        self.assertEqual(len({line.get_color() for line in lines}), 3)
        self.assertEqual(len({str(line._unscaled_dash_pattern) for line in lines}), 3)
        self.assertIn("cubic, plain, plain:step=2", axes.get_title(loc="left"))
        end = results.summary["flows"][0]["end_s"]
        self.assertTrue(end < axes.get_xlim()[1] < 1.5 * end, axes.get_xlim())

    def test_times_of_unfinished_flows_are_no_completion_times(self):
        """No point where no flow finishes; a bound where one of two does."""
        # In 2 s come 2.5 MB, 125 kB, or 2.5 kB: of the objects of 1 MB and 8 kB both, one, none.
        rates = '\n[sweep]\nlink.rate = ["10 Mbit/s", "0.5 Mbit/s", "10 kbit/s"]\n'
        small = '\n[[content]]\nname = "/small"\nat = "far"\nsize = "8 kB"\n'
        small += '\n[[consumer]]\nat = "near"\nname = "/small"\ncontrol = "aimd"\n'
        sweep = weir.run(weir.Scenario.from_text(SCENARIO + small + rates))
        axes = sweep.plot_sweep("link.rate", "completion")
        self.addCleanup(pyplot.close, axes.figure)
        self.assertEqual(axes.get_xlabel(), "link.rate (Mbit/s)")
        (line,) = axes.get_lines()
        for place, rate in zip(line.get_xdata(), (10.0, 0.5), strict=True):
            self.assertAlmostEqual(place, rate)
        self.assertIn("lower bounds where flows did not finish", axes.get_title(loc="left"))
        axes = sweep.plot_sweep("link.rate")
        self.addCleanup(pyplot.close, axes.figure)
        self.assertEqual(axes.get_ylabel(), "goodput after the warm-up (Mbit/s)")

    def test_a_wrong_quantity_names_the_valid_ones(self):
        """So do a wrong measure and a wrong field."""
        with self.assertRaisesRegex(KeyError, "goodput_mbps"):
            self.one.plot("speed")
        with self.assertRaisesRegex(KeyError, "`link.loss`"):
            self.sweep.plot_sweep("link.rate")
        with self.assertRaisesRegex(KeyError, "goodput"):
            self.sweep.plot_sweep("link.loss", "speed")

    def test_a_notebook_shows_network_and_flows(self):
        """As SVG and HTML, with names escaped."""
        scenario = weir.Scenario.from_text(SCENARIO.replace('"two"', '"<two>"'))
        svg = scenario._repr_svg_()
        self.assertTrue(svg.startswith("<svg") and "near" in svg and "10.0 Mbit/s" in svg, svg)
        html = weir.run(scenario)._repr_html_()
        self.assertIn("&lt;two&gt;", html)
        self.assertIn("data:image/svg+xml;base64,", html)
        self.assertIn("aimd", html)
        self.assertIn("10.0 Mbit/s", str(scenario))
