"""Sequential designs: error rates over thousands of synthetic sweeps, and real ones."""

import random
import statistics
import tempfile
import unittest
from dataclasses import dataclass, field

import weir
from _network import SCENARIO
from weir._design import Comparison, Design, Until, mean_interval, median_interval

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

    def test_equal_schemes_are_told_apart_as_seldom_as_stated(self):
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
                        # Three standard deviations of a share of so many runs.
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


class Designs(unittest.TestCase):
    """Comparisons of several schemes under several conditions."""

    def test_only_open_comparisons_get_seeds(self):
        """And the error is divided among all of them."""

        def points(seeds):
            return [
                Synthetic({"control": control, "loss": loss}, seed)
                for control in "abc"
                for loss in "01"
                for seed in seeds
            ]

        design = Design(Until("measure"), points(range(10)))
        self.assertEqual(design.over, "control")
        self.assertEqual(len(design.comparisons), 6)
        numbers = random.Random(7)
        levels = {"a": 0, "b": 0, "c": 100}
        values = {
            point.key: levels[point.settings["control"]] + numbers.random()
            for point in points(range(15))
        }
        design.look(points(range(15)), lambda point: values[point.key])
        found = {(one.a, one.b): one.outcome for one in design.comparisons}
        self.assertEqual(found, {("a", "b"): None, ("a", "c"): "less", ("b", "c"): "less"})
        wanted = {p.settings["control"] for p in points([15]) if design.wants(p)}
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
            same = weir.sweep(
                scenario, place, link__delay=["5 ms", "50 ms"], repetitions=one.seeds
            )
            self.assertEqual(same.new, 0)
            self.assertEqual(same.flows.to_pylist(), made.flows.to_pylist())
            with self.assertRaisesRegex(ValueError, "there is no measure `speed`; .*`fct_s`"):
                weir.sweep(scenario, place, control=["aimd", "cubic"], until="speed")

    def test_bad_designs(self):
        """Before anything is run."""
        for options in ({"confidence": 1}, {"margin": -1}, {"of": "mode"}, {"first": 0}):
            with self.assertRaises(ValueError):
                Until("measure", **options)
        with self.assertRaisesRegex(ValueError, "leave out `repetitions`"):
            weir.sweep("absent.toml", "absent", until="fct_s", repetitions=3)
