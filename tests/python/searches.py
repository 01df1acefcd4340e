"""Searches: the best value of an exhaustive sweep, the front by brute force."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

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

    def test_failing_and_pruned_trials_are_told(self):
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

    def test_bad_searches(self):
        """Before anything is run."""
        measures = {"fct_s": "minimize"}
        for options, text in (
            ({"measures": {}}, "at least one measure"),
            ({"measures": {"fct_s": "up"}}, "minimize or maximize, not `up`"),
            ({"measures": measures, "parameters": {"queue": (9, 2)}}, "has a range"),
            ({"measures": measures, "parameters": {"other": (1, 2)}}, "has the parameter {other}"),
            ({"measures": measures, "link__delay": "{d} ms"}, "no range of {d}"),
            ({"measures": measures, "link__delay": ["1 ms"]}, "several values"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                self.search(**options)
        with mock.patch.dict("sys.modules", {"optuna": None}):
            with self.assertRaisesRegex(weir.WeirError, r"`optuna` is not installed.*\[optuna\]"):
                self.search(measures)
