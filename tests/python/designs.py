"""Sequential designs: error rates over thousands of synthetic sweeps, and real ones."""

import math
import os
import random
import re
import statistics
import tempfile
import unittest
from dataclasses import dataclass, field
from fractions import Fraction
from unittest import mock

import weir
from _network import SCENARIO
from weir import _weir
from weir._design import (
    Comparison,
    Design,
    Until,
    _least,
    mean_interval,
    median_interval,
)

# A short transfer over a link that loses packets, so that seeds differ.
LOSSY = SCENARIO.replace('"20 packets"', '"20 packets"\nloss = "2 %"').replace("1 MB", "40 kB")


@dataclass
class Synthetic:
    """A point without a scenario."""

    settings: dict
    seed: int
    key: tuple = field(init=False)

    def __post_init__(self):
        self.key = (*self.settings.items(), self.seed)


def decide(draw, until):
    """A comparison whose differences are drawn until it is decided or given up."""
    made, seeds = Comparison({}, "a", "b"), until.first
    while True:
        for seed in range(len(made.found), seeds):
            made.found[seed] = draw()
        made.look(until, 1 - until.confidence)
        if made.outcome is not None or seeds == until.most:
            return made
        seeds = min(seeds + until.step, until.most)


class Errors(unittest.TestCase):
    """The rate of wrong decisions, by draws whose order is known."""

    RUNS = 2000

    def wrong(self, draw, is_wrong, **options):
        """The share of wrong decisions."""
        until = Until("measure", **{"most": 60, "step": 3, "first": 3, **options})
        made = [decide(draw, until) for _ in range(self.RUNS)]
        return sum(is_wrong(one.outcome) for one in made) / self.RUNS

    def test_false_differences_are_as_rare_as_stated(self):
        """After every third seed, for several distributions and confidences."""
        numbers = random.Random(1)

        def skewed():
            # The median of an exponential distribution is log 2.
            return numbers.expovariate(1.0) - 0.6931471805599453

        def of_two_skewed():
            return numbers.lognormvariate(0, 1) - numbers.lognormvariate(0, 1)

        def ties():
            return numbers.choice([0, 0, 0, -1, 1])

        def normal():
            return numbers.gauss(0, 1)

        for kind, draws in {
            "median": (skewed, of_two_skewed, ties, normal),
            "mean": (of_two_skewed, normal),
        }.items():
            for draw in draws:
                for confidence in (0.8, 0.95):
                    with self.subTest(kind=kind, draw=draw.__name__, confidence=confidence):
                        options = {"of": kind, "confidence": confidence}
                        rate = self.wrong(draw, ("more", "less").__contains__, **options)
                        # Three standard deviations of a share of RUNS runs.
                        error = 1 - confidence
                        spread = 3 * (error * (1 - error) / self.RUNS) ** 0.5
                        self.assertLess(rate, error + spread)

    def test_fixed_intervals_would_fail_this_test(self):
        """Student's interval for the number of seeds at hand, after every seed."""
        numbers, wrong = random.Random(2), 0
        for _ in range(500):
            values = [numbers.gauss(0, 1) for _ in range(60)]
            # 2.0 is the quantile of Student's distribution for about 60 seeds.
            wrong += any(
                abs(statistics.fmean(values[:n])) > 2.0 * statistics.stdev(values[:n]) / n**0.5
                for n in range(10, 61)
            )
        self.assertGreater(wrong / 500, 0.12)

    def test_a_known_order_is_found(self):
        """The wrong order is as rare as stated, also where the mean has the other sign."""
        numbers = random.Random(3)

        def small():
            return numbers.gauss(0.2, 1)

        def skewed():
            # The median is above 0 and the mean below it.
            return 1.2 - numbers.lognormvariate(0, 1)

        self.assertLess(statistics.fmean(skewed() for _ in range(2000)), 0)
        for draw in (small, skewed):
            self.assertLess(self.wrong(draw, lambda outcome: outcome == "less"), 0.05)

    def test_large_differences_stop_early_and_equal_ones_are_given_up(self):
        """By the number of seeds."""
        numbers = random.Random(4)
        for kind in ("median", "mean"):
            until = Until("measure", of=kind, first=5, step=1, most=100)
            large = [decide(lambda: numbers.gauss(4, 1), until) for _ in range(50)]
            self.assertEqual({one.outcome for one in large}, {"more"})
            self.assertLess(statistics.fmean(one.seeds for one in large), 9)
            none = decide(lambda: 0.0, until)
            expected = ("equal", 8) if kind == "median" else (None, 100)
            self.assertEqual((none.outcome, none.seeds), expected)
            open_ = [decide(lambda: numbers.gauss(0, 1), until) for _ in range(40)]
            self.assertGreater(sum(one.seeds == 100 for one in open_), 34)

    def test_differences_within_the_margin_are_equal(self):
        """As soon as the interval is within it."""
        numbers = random.Random(5)
        for kind in ("median", "mean"):
            until = Until("measure", of=kind, margin=1.0, most=400)
            made = decide(lambda: numbers.gauss(0.1, 1), until)
            self.assertEqual(made.outcome, "equal")
            self.assertLess(made.seeds, 200)

    def test_intervals_are_those_of_numerical_mixtures(self):
        """The ratios of likelihoods by integration, at the ends of the intervals."""
        numbers = random.Random(6)
        values = [numbers.gauss(0, 1) for _ in range(31)]

        def ratio(k, n, steps=5000):
            # The alternative is uniform over (1/2, 1].
            middles = (0.5 + (i + 0.5) / (2 * steps) for i in range(steps))
            return sum((2 * p) ** k * (2 - 2 * p) ** (n - k) for p in middles) / steps

        low, high = median_interval(values, 0.1)
        above_low = sum(value >= low for value in values)
        below_high = sum(value <= high for value in values)
        self.assertEqual(above_low, below_high)
        self.assertGreaterEqual(ratio(above_low, 31), 20)
        self.assertLess(ratio(above_low - 1, 31), 20)
        low, high = mean_interval(values, 0.05)
        t = (high + low) / (high - low)
        half = (high - low) / 2 / (statistics.stdev(values) / 31**0.5)
        # The Bayes factor of a t test with a standard normal effect size (J. Rouder et al.,
        # Bayesian t tests, Psychonomic Bulletin & Review 16, 2009, eq. 1 with g fixed).
        factor = (1 + half**2 / 30) / (1 + half**2 / (30 * 32))
        self.assertAlmostEqual(32**-0.5 * factor ** (31 / 2), 20, places=6)
        self.assertTrue(-1 < t < 1)
        median_interval([0.1 * i for i in range(3000)], 0.05)


class Decisions(unittest.TestCase):
    """Single comparisons, with differences that are written down."""

    def test_the_numbers_of_the_sign_test_are_those_of_its_definition(self):
        """By sums of binomial coefficients."""

        def defined(count, error):
            for k in range(count // 2 + 1, count + 1):
                below = sum(math.comb(count + 1, j) for j in range(k + 1))
                if below >= (count + 1) * math.comb(count, k) * Fraction(error):
                    return k
            return None

        for error in (0.9, 0.5, 0.025, 1e-6):
            inverse = 1 / Fraction(error)
            for count in range(80):
                expected = defined(count, inverse)
                self.assertEqual(_least(count, error), expected, (count, error))

    def test_the_interval_is_the_intersection_of_all_so_far(self):
        """The last one alone may be wider."""
        one, until = Comparison({}, "a", "b"), Until("measure", first=1)
        one.found = dict(enumerate([-1.0, 1.0] * 5))
        one.look(until, 0.05)
        self.assertEqual((one.low, one.high, one.outcome), (-1.0, 1.0, None))
        one.found |= dict(enumerate([-9.0, 9.0] * 5, 10))
        self.assertEqual(median_interval(one.found.values(), 0.05), (-9.0, 9.0))
        one.look(until, 0.05)
        self.assertEqual((one.low, one.high, one.outcome), (-1.0, 1.0, None))

    def test_an_empty_intersection_decides_nothing(self):
        """A margin would hold for its ends in the wrong order."""
        one = Comparison({}, "a", "b", low=-9.0, high=3.0)
        one.found = dict(enumerate([5.0] * 40))
        one.look(Until("measure", margin=4.0), 0.05)
        self.assertEqual((one.low, one.high, one.outcome), (5.0, 3.0, None))

    def test_differences_that_are_always_0_are_equal_within_a_margin(self):
        """After as many seeds as the sign test needs."""
        for kind in ("median", "mean"):
            until = Until("measure", of=kind, margin=0.5, first=1, step=1, most=100)
            made = decide(lambda: 0.0, until)
            self.assertEqual((made.outcome, made.seeds), ("equal", 8))
            self.assertEqual((made.low, made.high), (0.0, 0.0))
            made = decide(lambda: 2.0, until)
            self.assertEqual((made.outcome, made.seeds), ("more", 8))

    def test_bounds_count_for_the_order(self):
        """Differences to runs that did not finish in time are at least, or at most, so large."""
        one, until = Comparison({}, "a", "b"), Until("fct_s")
        one.found = {seed: -1.0 for seed in range(11)}
        one.look(until, 0.05)
        self.assertEqual((one.outcome, one.seeds, one.bounded), ("less", 11, 0))
        # Some of a take longer than b, by an unknown time.
        other = Comparison({}, "a", "b")
        other.found = {seed: -1.0 for seed in range(11)}
        other.bounds = {seed: (0.5, math.inf) for seed in range(11, 18)}
        other.look(until, 0.05)
        self.assertEqual((other.outcome, other.seeds, other.bounded), (None, 18, 7))
        self.assertEqual((other.low, other.high), (-1.0, math.inf))
        # All of them: the order is known, and the difference is not.
        other = Comparison({}, "a", "b")
        other.bounds = {seed: (0.5, math.inf) for seed in range(10)}
        other.look(until, 0.05)
        self.assertEqual((other.outcome, other.low, other.high), ("more", 0.5, math.inf))
        # Seeds of which nothing is known could be on either side.
        other = Comparison({}, "a", "b")
        other.found = {seed: -1.0 for seed in range(8)}
        other.bounds = {seed: (-math.inf, math.inf) for seed in range(8, 13)}
        other.look(until, 0.05)
        self.assertEqual((other.outcome, other.seeds, other.bounded), (None, 8, 0))
        mean = Comparison({}, "a", "b")
        mean.found, mean.bounds = {seed: -1.0 - seed for seed in range(50)}, {50: (0.5, math.inf)}
        mean.look(Until("fct_s", of="mean"), 0.05)
        self.assertEqual((mean.outcome, mean.is_open), (None, False))
        self.assertIn("flows of 1 seeds did not finish", mean.reason)

    def test_designs_that_cannot_decide_are_errors(self):
        """The number that they need is the smallest one that can."""
        points = [Synthetic({"control": str(n)}, seed) for n in range(4) for seed in range(3)]
        for kind in ("median", "mean"):
            with self.subTest(kind=kind):
                until = {"measure": "fct_s", "of": kind, "first": 2, "step": 1}
                with self.assertRaisesRegex(
                    ValueError, "2 seeds cannot decide a comparison of 6"
                ) as caught:
                    Design(Until(most=2, **until), points)
                least = int(re.search("set `most` to ([0-9]+)", str(caught.exception)).group(1))
                with self.assertRaisesRegex(ValueError, "cannot decide"):
                    Design(Until(most=least - 1, **until), points)
                design = Design(Until(most=least, **until), points)
                # Differences that are as clear as can be.
                values = {str(n): 1000.0 * n for n in range(4)}
                noise = random.Random(11)
                seeds = [Synthetic({"control": str(n)}, s) for n in range(4) for s in range(least)]
                design.look(seeds, lambda p: values[p.settings["control"]] + 1e-9 * noise.random())
                self.assertEqual({one.outcome for one in design.comparisons}, {"less"})


def grid(schemes, seeds):
    """Points of schemes under two conditions."""
    return [
        Synthetic({"control": control, "loss": loss}, seed)
        for control in schemes
        for loss in "01"
        for seed in seeds
    ]


class Designs(unittest.TestCase):
    """Comparisons of several schemes under several conditions."""

    def test_the_error_is_divided_among_all_comparisons(self):
        """Sixteen schemes that are equal: 120 comparisons hold together."""
        numbers, runs, wrong = random.Random(8), 40, 0
        for _ in range(runs):
            until = Until("measure", of="mean", confidence=0.5, first=10)
            points = [Synthetic({"control": str(n)}, seed) for n in range(16) for seed in range(10)]
            design = Design(until, points)
            design.look(points, lambda point: numbers.gauss(0, 1))
            wrong += any(one.outcome is not None for one in design.comparisons)
        # Without the division, nearly all sweeps have a wrong decision.
        self.assertLess(wrong / runs, 0.5)

    def test_conditions_are_apart(self):
        """A scheme that is decided under one condition is open under another one."""
        design = Design(Until("measure"), grid("ab", range(10)))
        numbers = random.Random(9)

        def value_of(point):
            apart = point.settings == {"control": "a", "loss": "0"}
            return numbers.random() + 100 * apart

        design.look(grid("ab", range(10)), value_of)
        found = {one.settings["loss"]: one.outcome for one in design.comparisons}
        self.assertEqual(found, {"0": "more", "1": None})
        wanted = [p.settings for p in grid("ab", [10]) if design.wants(p)]
        self.assertEqual([one["loss"] for one in wanted], ["1", "1"])

    def test_seeds_without_a_value_do_not_count(self):
        """Missing ones, undefined numbers, and infinite ones."""
        points = [Synthetic({"control": c}, seed) for c in "ab" for seed in range(12)]
        for nothing in (None, math.nan, math.inf):
            design = Design(Until("measure", first=4), points)

            def value_of(point, nothing=nothing):
                if point.seed < 3 and point.settings["control"] == "a":
                    return nothing
                return 5.0 if point.settings["control"] == "a" else 7.0

            design.look(points, value_of)
            (one,) = design.comparisons
            self.assertEqual((one.seeds, one.missing), (9, 3))
            self.assertEqual((one.difference, one.low, one.high), (-2.0, -2.0, -2.0))
            self.assertEqual((one.outcome, one.reason), ("less", None))

    def test_values_that_never_come_end_a_comparison(self):
        """After the first seeds; the others go on."""
        points = [Synthetic({"control": c}, seed) for c in "abc" for seed in range(10)]
        design, numbers = Design(Until("measure", first=10), points), random.Random(10)
        design.look(
            points,
            lambda point: None if point.settings["control"] == "b" else numbers.random(),
            lambda point: "it broke",
        )
        reasons = {(one.a, one.b): one.reason for one in design.comparisons}
        text = "none of 10 seeds has a value for both; b: it broke"
        self.assertEqual(reasons, {("a", "b"): text, ("a", "c"): None, ("b", "c"): text})
        wanted = {c for c in "abc" if design.wants(Synthetic({"control": c}, 10))}
        self.assertEqual(wanted, {"a", "c"})

    def test_a_scheme_that_always_fails_ends_its_comparisons(self):
        """A real one, with its error; the default `most` is 200 seeds."""

        class Broken(weir.WindowLaw):
            """Never works."""

            def on_ack(self, cx, ack):
                raise RuntimeError("out of order")

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        scenario = weir.Scenario.from_text(LOSSY, name="two.toml")
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            made = weir.sweep(scenario, place, control=["broken", "aimd"], until="fct_s")
            self.assertEqual((len(made), made.new, len(made.failed)), (20, 10, 10))
            (one,) = made.comparisons
            self.assertEqual((one.seeds, one.missing, one.outcome), (0, 10, None))
            self.assertRegex(one.reason, "^none of 10 seeds .*; broken: .*RuntimeError.*order")
            self.assertNotIn("aimd:", one.reason)

    def test_completion_times_of_unfinished_flows_are_not_known(self):
        """They would be equal: the duration of the scenario."""
        scenario = weir.Scenario.from_text(LOSSY, name="two.toml").set(scenario__duration="30 ms")
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            settings = {"control": ["aimd", "fixed"]}
            made = weir.sweep(scenario, place, until=Until("fct_s", first=8), **settings)
            (one,) = made.comparisons
            self.assertEqual((one.seeds, one.missing, one.outcome), (0, 8, None))
            self.assertIn("aimd: not all flows finished, so that `fct_s` is not known", one.reason)
            self.assertEqual(set(made.runs["finished_ratio"].to_pylist()), {0.0})
            # A run that finished in the same time was faster.
            longer = scenario.set(scenario__duration="500 ms", control="fixed")
            until = Until("fct_s", over="link.delay", first=8, most=8)
            made = weir.sweep(longer, place, until=until, link__delay=["1 ms", "300 ms"])
            (one,) = made.comparisons
            self.assertEqual((one.seeds, one.bounded, one.outcome), (8, 8, "less"))
            self.assertEqual(one.low, -math.inf)
            self.assertLess(one.high, -0.2)
            self.assertEqual(made.runs["finished_ratio"].to_pylist(), [1.0] * 8 + [0.0] * 8)
            # Another measure has a value.
            until = Until("goodput_mbps", first=8, most=8)
            (one,) = weir.sweep(scenario, place, until=until, **settings).comparisons
            self.assertEqual((one.seeds, one.missing), (8, 0))

    def test_seeds_are_added_in_steps(self):
        """And the runs of a scenario are listed once a round, whatever its repetitions."""
        text = LOSSY + '\n[sweep]\ncontrol = ["aimd", "cubic"]\nrepetitions = 3\n'
        scenario, seeds = weir.Scenario.from_text(text, name="two.toml"), []

        def look(design, points, *rest):
            seeds.append(sorted({point.seed for point in points}))
            self.assertEqual(len(points), 2 * len(seeds[-1]))

        shares = []
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            until = Until("fct_s", first=4, step=3, most=9)
            with mock.patch.object(Design, "look", look):
                progress = {"progress": lambda share, ended: shares.append(share), "jobs": 1}
                made = weir.sweep(scenario, place, until=until, **progress)
            self.assertEqual(shares, sorted(shares))
            # The rounds end after 4, 7 and 9 of 9 seeds.
            for end in (4 / 9, 7 / 9, 1.0):
                self.assertTrue(any(abs(share - end) < 1e-9 for share in shares), end)
            self.assertEqual(seeds, [[1, 2, 3, 4], [5, 6, 7], [8, 9]])
            self.assertEqual(len(made), 18)
            same = weir.sweep(
                weir.Scenario.from_text(text.replace("= 3\n", "= 9\n"), name="two.toml"), place
            )
            self.assertEqual(same.new, 0)
            self.assertEqual([p.key for p in same._points], [p.key for p in made._points])

    def test_work_is_linear_in_the_points(self):
        """Runs are listed once for a sweep, and a store is asked once for a point of a design."""
        listed, asked = [], []
        runs, has = _weir.Scenario.runs, weir._store.Disk.has

        class Counted:
            """A scenario that counts how often its runs are listed."""

            def __init__(self, inner):
                self.inner = inner

            @property
            def runs(self):
                """The list that is made at each access."""
                listed.append(1)
                return runs.__get__(self.inner)

            def __getattr__(self, name):
                return getattr(self.inner, name)

        def counted(store, key):
            asked.append(key)
            return has(store, key)

        text = LOSSY + '\n[sweep]\ncontrol = ["aimd", "cubic"]\nrepetitions = 30\n'
        scenario = weir.Scenario.from_text(text, name="two.toml")
        points = weir._sweep._points(weir.Scenario._of(Counted(scenario._scenario)))
        self.assertEqual((len(points), len(listed)), (60, 1))
        scenario = weir.Scenario.from_text(LOSSY, name="two.toml")
        settings = {"control": ["aimd", "cubic"], "until": Until("fct_s", step=1, most=30)}
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            made = weir.sweep(scenario, place, **settings)
            with mock.patch.object(weir._store.Disk, "has", counted):
                again = weir.sweep(scenario, place, **settings)
            # Once before it would be run, and once when it is read.
            self.assertEqual((again.new, len(asked)), (0, 2 * len(made)))

    def test_only_open_comparisons_get_seeds(self):
        """And the error is divided among all of them."""
        design = Design(Until("measure"), grid("abc", range(10)))
        self.assertEqual(design.over, "control")
        self.assertEqual(len(design.comparisons), 6)
        numbers = random.Random(7)
        levels = {"a": 0, "b": 0, "c": 100}
        values = {
            point.key: levels[point.settings["control"]] + numbers.random()
            for point in grid("abc", range(15))
        }
        design.look(grid("abc", range(15)), lambda point: values[point.key])
        found = {(one.a, one.b): one.outcome for one in design.comparisons}
        self.assertEqual(found, {("a", "b"): None, ("a", "c"): "less", ("b", "c"): "less"})
        wanted = {p.settings["control"] for p in grid("abc", [15]) if design.wants(p)}
        self.assertEqual(wanted, {"a", "b"})

    def test_a_real_sweep_is_decided_and_continues(self):
        """The same call runs nothing again, and has the same decisions."""
        scenario = weir.Scenario.from_text(LOSSY, name="two.toml")
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            until = Until("fct_s", first=3, step=3, most=12, confidence=0.8)
            settings = {"link__delay": ["5 ms", "50 ms"], "until": until}
            with self.assertRaisesRegex(ValueError, "no schemes are swept; name .* `link.delay`"):
                weir.sweep(scenario, place, **settings)
            until = Until("fct_s", over="link.delay", first=3, step=3, most=12, confidence=0.8)
            settings["until"] = until
            made = weir.sweep(scenario, place, **settings)
            (one,) = made.comparisons
            self.assertEqual((one.a, one.b, one.outcome), ("5 ms", "50 ms", "less"))
            self.assertEqual(made.new, 2 * one.seeds)
            self.assertLess(one.high, 0)
            again = weir.sweep(scenario, place, **settings)
            self.assertEqual((again.new, again.comparisons), (0, made.comparisons))
            # Seeds are those of repetitions.
            same = weir.sweep(scenario, place, link__delay=["5 ms", "50 ms"], repetitions=one.seeds)
            self.assertEqual(same.new, 0)
            self.assertEqual(same.flows.to_pylist(), made.flows.to_pylist())
            with self.assertRaisesRegex(ValueError, "there is no measure `speed`; .*`fct_s`"):
                weir.sweep(scenario, place, control=["aimd", "cubic"], until="speed")

    def test_bad_designs(self):
        """Before anything is run."""
        for options, text in (
            ({"confidence": "0.9"}, "`confidence` is a number, not '0.9'"),
            ({"margin": None}, "`margin` is a number, not None"),
            ({"first": 2.5}, "`first` is a whole number, not 2.5"),
            ({"step": True}, "`step` is a whole number, not True"),
            ({"over": 3}, "`over` is the name of a field, not 3"),
        ):
            with self.assertRaisesRegex(TypeError, text):
                Until("measure", **options)
        for options in ({"confidence": 1}, {"margin": -1}, {"of": "mode"}, {"first": 0}):
            with self.assertRaises(ValueError):
                Until("measure", **options)
        with self.assertRaisesRegex(ValueError, "leave out `repetitions`"):
            weir.sweep("absent.toml", "absent", until="fct_s", repetitions=3)
        scenario = weir.Scenario.from_text(LOSSY, name="two.toml")
        settings = {"control": ["aimd", "cubic"]}
        with tempfile.TemporaryDirectory(prefix="weir-") as place:
            for seed in ("seed", "scenario__seed"):
                with self.assertRaisesRegex(ValueError, "leave out the sweep of `seed`"):
                    weir.sweep(scenario, place, until="fct_s", **{seed: [1, 2]}, **settings)
            with self.assertRaisesRegex(ValueError, "is a measure or a weir.Until, not 5"):
                weir.sweep(scenario, place, until=5, **settings)
            for name in ("run", "seed", "interrupted"):
                text = f"there is no measure `{name}`; there are `settled_goodput_mbps`.*`fct_s`"
                with self.assertRaisesRegex(ValueError, text):
                    weir.sweep(scenario, place, until=name, **settings)
            self.assertEqual(os.listdir(place), [])
