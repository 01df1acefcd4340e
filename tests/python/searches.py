"""Searches: the best value of an exhaustive sweep, the front by brute force."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy
import optuna
import weir
from _network import SCENARIO

TWO = weir.Scenario.from_text(SCENARIO.replace("1 MB", "200 kB"), name="two.toml")
QUEUES = [2, 4, 8, 16]


class Searches(unittest.TestCase):
    """A window law and a queue."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "results")

    def search(self, measures, **options):
        """Queues, of which a sweep has all."""
        options = {
            "parameters": {"queue": QUEUES},
            "link__queue": "{queue} packets",
            "trials": 12,
            "batch": 4,
            **options,
        }
        return weir.search(TWO, self.place, measures=measures, **options)

    def exhaustive(self, *measures):
        """Each queue's measures, by a sweep."""
        queues = [f"{queue} packets" for queue in QUEUES]
        rows = weir.sweep(TWO, self.place, link__queue=queues).runs.to_pylist()
        return {queue: tuple(row[m] for m in measures) for queue, row in zip(QUEUES, rows)}

    def test_the_best_value_is_that_of_all(self):
        """And the points of a sweep are not run again."""
        found = self.search({"fct_s": "minimize"})
        self.assertLessEqual(found.new, len(QUEUES))
        all_ = self.exhaustive("fct_s")
        tried = {trial.params["queue"] for trial in found.study.trials}
        self.assertEqual(tried, set(QUEUES))
        self.assertEqual(found.best[0].values, list(min(all_.values())))
        self.assertEqual(self.search({"fct_s": "minimize"}, seed=9).new, 0)

    def test_the_front_is_that_of_brute_force(self):
        """Two measures that conflict."""
        measures = {"fct_s": "minimize", "queue_delay_mean_ms": "minimize"}
        found = self.search(measures, trials=16)
        all_ = self.exhaustive(*measures)

        def beats(a, b):
            return a != b and all(x <= y for x, y in zip(a, b))

        front = {one for one in all_.values() if not any(beats(o, one) for o in all_.values())}
        self.assertGreater(len(front), 1)
        self.assertEqual({tuple(trial.values) for trial in found.best}, front)
        times = [trial.values[0] for trial in found.best]
        self.assertEqual(times, sorted(times))
        told = [trial.values[0] for trial in found.study.trials]
        self.assertEqual(list(found.to_pandas()["fct_s"]), told)

    def test_an_interrupted_search_goes_on_where_it_was(self):
        """With the trials of one that was not."""

        def interrupt(share, ended):
            if share > 0.5:
                raise KeyboardInterrupt

        options = {"parameters": {"queue": (2, 16)}, "trials": 6, "batch": 2}
        with self.assertRaises(weir.Interrupted) as caught:
            self.search({"fct_s": "minimize"}, progress=interrupt, **options)
        states = {trial.state.name for trial in caught.exception.results.study.trials}
        self.assertEqual(states, {"COMPLETE", "FAIL"})
        before = len(list(self.place.iterdir()))
        rest = self.search({"fct_s": "minimize"}, **options)
        self.assertEqual(len(list(self.place.iterdir())), before + rest.new)
        self.place = self.place.with_name("other")
        whole = self.search({"fct_s": "minimize"}, **options)
        shown = [(trial.params, trial.values) for trial in rest.study.trials]
        self.assertEqual(shown, [(trial.params, trial.values) for trial in whole.study.trials])

    def test_failed_and_pruned_trials_are_reported(self):
        """The study has their states; the others go on."""
        found = self.search(
            {"fct_s": "minimize"},
            control="aimd:beta={beta}",
            parameters={"queue": [4], "beta": [0.5, 7.0]},
        )
        states = {trial.params["beta"]: trial.state.name for trial in found.study.trials}
        self.assertEqual(states, {0.5: "COMPLETE", 7.0: "FAIL"})
        reasons = {t.user_attrs.get("error", "") for t in found.study.trials}
        self.assertRegex("".join(reasons), "beta")
        study = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(upper=0.0))
        found = self.search({"fct_s": "minimize"}, study=study, repetitions=3, trials=2)
        self.assertEqual({trial.state.name for trial in study.trials}, {"PRUNED"})
        self.assertLessEqual(found.new, 2, "one seed each")

    def test_each_failed_point_has_its_own_error(self):
        """Trials differ by their parameters only, and not by the settings of a sweep."""

        class Picky(weir.WindowLaw):
            """Raises unless it likes its parameter."""

            liking = weir.Param(1.0, help="a number")

            def on_ack(self, cx, ack):
                if self.liking != 3.0:
                    raise RuntimeError(f"it was {self.liking:g}")

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        found = self.search(
            {"fct_s": "minimize"},
            link__queue="8 packets",
            control="picky:liking={liking}",
            parameters={"liking": [1.0, 2.0, 3.0]},
            repetitions=2,
        )
        told = {t.params["liking"]: t.user_attrs.get("error", "") for t in found.study.trials}
        self.assertEqual(set(told), {1.0, 2.0, 3.0})
        for liking in (1.0, 2.0):
            self.assertIn(f"it was {liking:g}", told[liking])
            for seed in (1, 2):
                error = found.failed[("liking", liking), ("seed", seed)]
                self.assertIn(f"it was {liking:g}", str(error))
        self.assertEqual((told[3.0], len(found.failed)), ("", 4))

    def test_small_numbers_are_written_without_an_exponent(self):
        """The units of scenarios take none. A format of the user's own is kept."""
        found = self.search(
            {"rtt_mean_ms": "minimize"},
            parameters={"delay": [1e-5, 2.5e-7, 30.0], "loss": [0.125]},
            link__queue="8 packets",
            link__delay="{delay} ms",
            link__loss="{loss:.2f} %",
        )
        self.assertEqual(found.failed, {})
        self.assertEqual({trial.state.name for trial in found.study.trials}, {"COMPLETE"})
        times = {trial.params["delay"]: trial.values[0] for trial in found.study.trials}
        self.assertEqual(set(times), {1e-5, 2.5e-7, 30.0})
        filled = weir._search._filled("{d} {d!r} {d:.1e}", {"d": 1e-5})
        self.assertEqual(filled, "0.00001 0.00001 1.0e-05")
        # Two ways of a link.
        self.assertGreater(times[30.0] - times[1e-5], 20)
        self.assertLess(abs(times[1e-5] - times[2.5e-7]), 1)

    def test_completion_times_of_unfinished_flows_are_no_values(self):
        """The reason is that of the point."""
        found = self.search({"fct_s": "minimize"}, scenario__duration="30 ms", trials=2)
        states = {(t.state.name, t.user_attrs["error"]) for t in found.study.trials}
        text = "not all flows finished, so that `fct_s` is not known; take a longer duration"
        self.assertEqual(states, {("FAIL", text)})

    def test_a_study_of_ones_own_gets_the_trials_that_it_lacks(self):
        """Those that wait are run, and those that failed or were left behind do not count."""
        study = optuna.create_study()
        for value in (None, 7.0):
            trial = study.ask({"queue": optuna.distributions.CategoricalDistribution(QUEUES)})
            state = optuna.trial.TrialState.FAIL if value is None else None
            study.tell(trial, value, state=state)
        study.ask()
        study.enqueue_trial({"queue": 16})
        states = [trial.state.name for trial in study.trials]
        self.assertEqual(states, ["FAIL", "COMPLETE", "RUNNING", "WAITING"])
        self.search({"fct_s": "minimize"}, study=study, trials=3)
        states = [trial.state.name for trial in study.trials]
        self.assertEqual(states, ["FAIL", "COMPLETE", "RUNNING", "COMPLETE", "COMPLETE"])
        self.assertEqual(study.trials[3].params, {"queue": 16})
        self.search({"fct_s": "minimize"}, study=study, trials=3)
        self.assertEqual(len(study.trials), 5)

    def test_only_the_trials_of_a_pruner_end_early(self):
        """Each seed is reported; the mean of all seeds is the value of a trial that is kept."""
        pruner = optuna.pruners.ThresholdPruner(upper=0.5)
        study = optuna.create_study(pruner=pruner)
        for size in ("20 kB", "1 MB"):
            study.enqueue_trial({"size": size})
        found = self.search(
            {"fct_s": "minimize"},
            study=study,
            parameters={"size": ["20 kB", "1 MB"]},
            link__queue="8 packets",
            content__size="{size}",
            link__loss="1 %",
            repetitions=3,
            trials=2,
        )
        by_size = {trial.params["size"]: trial for trial in study.trials}
        kept, ended = by_size["20 kB"], by_size["1 MB"]
        self.assertEqual((kept.state.name, ended.state.name), ("COMPLETE", "PRUNED"))
        self.assertEqual((sorted(kept.intermediate_values), found.new), ([0, 1], 4))
        self.assertEqual(list(ended.intermediate_values), [0])
        settings = {"content__size": "20 kB", "link__queue": "8 packets", "link__loss": "1 %"}
        runs = weir.sweep(TWO, self.place, repetitions=3, **settings)
        self.assertEqual(runs.new, 0)
        times = runs.runs["fct_s"].to_pylist()
        self.assertAlmostEqual(kept.values[0], sum(times) / 3)
        self.assertAlmostEqual(kept.intermediate_values[1], sum(times[:2]) / 2)

    def test_a_file_is_read_once(self):
        """All trials are of one scenario, also if the file is edited meanwhile."""
        file = self.place.with_name("two.toml")
        file.write_text(TWO.text, encoding="utf-8")

        def edit(share, ended):
            file.write_text(TWO.text.replace('"5 ms"', '"80 ms"'), encoding="utf-8")

        found = weir.search(
            file,
            self.place,
            link__queue="{queue} packets",
            parameters={"queue": [20]},
            measures={"rtt_mean_ms": "minimize"},
            trials=3,
            batch=1,
            progress=edit,
        )
        self.assertEqual(len({trial.values[0] for trial in found.study.trials}), 1)
        self.assertIn("80 ms", file.read_text(encoding="utf-8"))

    def test_samplers_that_have_tried_everything_end_a_search(self):
        """With fewer trials than the grid has points, with as many, and with more."""
        kinds = (
            optuna.samplers.GridSampler({"queue": QUEUES}),
            optuna.samplers.BruteForceSampler(),
        )
        for sampler in kinds:
            for trials, batch in ((3, 2), (4, 8), (4, 1), (9, 1), (9, 2)):
                with self.subTest(sampler=type(sampler).__name__, trials=trials, batch=batch):
                    study = optuna.create_study(sampler=sampler)
                    options = {"study": study, "trials": trials, "batch": batch}
                    found = self.search({"fct_s": "minimize"}, **options)
                    self.assertIs(found.study, study)
                    self.assertEqual({one.state.name for one in study.trials}, {"COMPLETE"})
                    tried = {one.params["queue"] for one in study.trials}
                    self.assertEqual(len(tried), min(trials, len(QUEUES)))
                    self.assertLessEqual(len(study.trials), min(trials, len(QUEUES) + batch))
                    self.assertNotIn("stop", vars(study))

    def test_mistakes_that_all_trials_share_end_a_search(self):
        """Those without a parameter before the first trial, others after eight."""
        measures, study = {"fct_s": "minimize"}, optuna.create_study()
        for settings, text in (
            ({"link__colour": "red"}, "colour"),
            ({"control": "absent"}, "absent"),
        ):
            with self.assertRaisesRegex(weir.ScenarioError, text):
                self.search(measures, study=study, **settings)
        with self.assertRaisesRegex(weir.WeirError, "absent.toml"):
            weir.search(
                "absent.toml",
                self.place,
                parameters={"queue": QUEUES},
                link__queue="{queue} packets",
                measures=measures,
                study=study,
            )
        self.assertEqual(study.trials, [])

        class Broken(weir.WindowLaw):
            """Raises, at a time that depends on its parameter."""

            def on_ack(self, cx, ack):
                raise RuntimeError("on purpose")

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        options = {
            "link__delay": "{d} ms",
            "parameters": {"d": (1, 20)},
            "link__queue": "9 packets",
        }
        with self.assertRaisesRegex(weir.SchemeError, "on purpose") as caught:
            self.search(measures, control="broken", study=study, trials=50, **options)
        self.assertEqual([one.state.name for one in study.trials], ["FAIL"] * 8)
        self.assertRegex(caught.exception.__notes__[0], "^All 8 trials")
        self.assertIn("8 trials, 0 best, 8 failed", repr(caught.exception.results))
        with self.assertRaisesRegex(weir.ScenarioError, "nonsense"):
            options["parameters"] = {"d": [1, 2]}
            self.search(measures, **{**options, "link__delay": "{d} nonsense"})

    def test_values_and_nested_settings(self):
        """Fields that take no text, and schemes as dictionaries."""

        class Sized(weir.WindowLaw):
            """Has a window of a fixed size."""

            size = weir.Param(1.0, low=1, high=99, help="segments")

            def __init__(self):
                self.window = self.size

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        line = weir.Scenario.from_text(
            """[scenario]
duration = "1 s"
[topology]
generator = "line"
size = 4
rate = "10 Mbit/s"
delay = "5 ms"
[[content]]
name = "/film"
at = "n0"
size = "40 kB"
[[consumer]]
at = "n1"
name = "/film"
"""
        )
        found = weir.search(
            line,
            self.place,
            topology__size="{size}",
            topology__delay="{delay}",
            parameters={"size": (3, 9), "delay": [0.001, 0.03]},
            measures={"rtt_mean_ms": "minimize"},
            trials=6,
        )
        self.assertEqual(found.failed, {})
        times = {trial.params["delay"]: trial.values[0] for trial in found.study.trials}
        self.assertGreater(times[0.03], times[0.001] + 50, "numbers are seconds")
        found = self.search(
            {"fct_s": "minimize"},
            control={"scheme": "sized", "size": "{size}"},
            link__queue="50 packets",
            link__measured="{measured}",
            parameters={"size": (numpy.int64(2), numpy.int64(30)), "measured": [True, False]},
            trials=8,
        )
        self.assertEqual(found.failed, {})
        self.assertEqual({type(trial.params["size"]) for trial in found.study.trials}, {int})
        self.assertGreater(len({trial.values[0] for trial in found.study.trials}), 1)

    def test_bad_searches(self):
        """Before anything is run."""
        measures = {"fct_s": "minimize"}
        for options, text in (
            ({"measures": measures, "trials": 1.5}, "`trials` is a whole number, not 1.5"),
            ({"measures": measures, "batch": True}, "`batch` is a whole number, not True"),
            ({"measures": measures, "jobs": "2"}, "`jobs` is a whole number, not '2'"),
            ({"measures": ["fct_s"]}, "`measures` is a dictionary of measures"),
            ({"measures": measures, "parameters": None}, "`parameters` is a dictionary"),
        ):
            with self.assertRaisesRegex(TypeError, text):
                self.search(**options)
        for options, text in (
            ({"measures": {}}, "at least one measure"),
            ({"measures": {"fct_s": "up"}}, "minimize or maximize, not `up`"),
            ({"measures": {"speed": "maximize"}}, "there is no measure `speed`; .*`fct_s`"),
            ({"measures": measures, "repetitions": 0}, "`repetitions` is at least 1, not 0"),
            ({"measures": measures, "link__queue": "{queue"}, "`link__queue`: .*; parameters are"),
            ({"measures": measures, "parameters": {"queue": (9, 2)}}, "has a range"),
            ({"measures": measures, "parameters": {"other": (1, 2)}}, "has the parameter {other}"),
            ({"measures": measures, "link__delay": "{d} ms"}, "no range of {d}"),
            ({"measures": measures, "link__delay": ["1 ms"]}, "several values"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                self.search(**options)
        self.assertFalse(self.place.exists())
        with mock.patch.dict("sys.modules", {"optuna": None}):
            with self.assertRaisesRegex(weir.WeirError, r"`optuna` is not installed.*\[optuna\]"):
                self.search(measures)
