"""Sweeps on clusters: a real one of Ray and a real one of Dask, whose workers die in mid-sweep."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import distributed
import ray
import weir
from _network import SCENARIO
from support import weir as weir_of_tests
from weir import _cluster, _engines, _weir

PROGRAM = Path(sysconfig.get_path("scripts"), "weir")
TWO = weir.Scenario.from_text(SCENARIO, name="two.toml")


class Deadly(weir.WindowLaw):
    """Ends its worker until a file has as many bytes as this has lives."""

    lives = weir.Param(0, low=0, high=100)

    def __init__(self):
        self.window = 4.0
        main, file = os.environ["WEIR_TEST_LIVES"].split(maxsplit=1)
        file = Path(file)
        if os.getpid() != int(main) and len(file.read_bytes()) < self.lives:
            with file.open("ab") as more:
                more.write(b".")
            os.kill(os.getpid(), signal.SIGKILL)

    def on_congestion(self, cx, signal, rtt):
        """Nothing changes."""


class Wrong(weir.WindowLaw):
    """Raises."""

    def on_ack(self, cx, ack):
        raise RuntimeError("wrong on purpose")

    def on_congestion(self, cx, signal, rtt):
        """Nothing changes."""


class OnCluster:
    """The tests for each engine."""

    engine = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name, "results")

    def sweep(self, **settings):
        """Schemes and losses, on the cluster."""
        settings = {"control": ["aimd", "cubic"], "link__loss": ["0 %", "1 %"], **settings}
        return weir.sweep(TWO, self.place, **{"engine": self.engine, **settings})

    def spent(self):
        """Lives that `deadly` has spent."""
        return len(LIVES.read_bytes())

    def test_results_are_those_of_this_process(self):
        """And a point is never run twice, whichever engine has run it."""
        made = self.sweep(repetitions=3)
        self.assertEqual((len(made), made.new, made.done, made.failed), (12, 12, 12, {}))
        found = made.flows.to_pylist()
        self.assertEqual(self.sweep(repetitions=3, engine="local").new, 0)
        other = self.place.with_name("other")
        self.place, here = other, self.place
        local = self.sweep(repetitions=3, engine="local")
        self.assertEqual(local.flows.to_pylist(), found)
        self.place = here
        self.assertEqual(self.sweep(repetitions=4).new, 4)

    def test_a_scheme_in_python_goes_to_the_workers(self):
        """With its parameters; its failures come back with their traceback."""
        made = self.sweep(control=["deadly", "wrong"])
        self.assertEqual((made.new, len(made.failed)), (2, 2))
        for (key, *_), error in made.failed.items():
            self.assertEqual(key, ("control", "wrong"))
            self.assertIsInstance(error, weir.SchemeError)
            trace = "(?s)of simulated time.*line [0-9]+, in on_ack.*wrong on purpose"
            self.assertRegex(str(error), trace)

    def test_nothing_is_lost_or_doubled_when_workers_die(self):
        """Twice in mid-sweep."""
        LIVES.write_bytes(b"")
        made = self.sweep(control=["aimd", "deadly:lives=2", "cubic"], repetitions=4)
        self.assertEqual(self.spent(), 2)
        self.assertEqual((len(made), made.new, made.failed), (24, 24, {}))
        self.assertEqual(len(list(self.place.iterdir())), 24)
        flows = made.flows.to_pandas()
        self.assertEqual(list(flows["run"]), list(range(24)))
        LIVES.write_bytes(b"")

    def test_a_point_that_always_ends_its_worker_is_reported(self):
        """After three attempts. All others have results."""
        LIVES.write_bytes(b"")
        made = self.sweep(control=["aimd", "deadly:lives=100"], link__loss="0 %", repetitions=2)
        LIVES.write_bytes(b"")
        self.assertEqual((made.new, len(made.failed)), (2, 2))
        for error in made.failed.values():
            self.assertIsInstance(error, weir.RunError)
            self.assertIn("its worker ended 3 times", str(error))
        self.assertEqual(self.sweep(control="deadly", link__loss="0 %").new, 1, "it is well again")

    def test_ctrl_c_keeps_what_has_come_back(self):
        """The same call runs the rest."""

        def interrupt(share, ended):
            if ended >= 1:
                raise KeyboardInterrupt

        with self.assertRaises(weir.Interrupted) as caught:
            self.sweep(repetitions=5, progress=interrupt)
        done = caught.exception.results.done
        self.assertGreaterEqual(done, 1)
        self.assertEqual(self.sweep(repetitions=5).new, 20 - done)

    def study(self, *words):
        """Run `weir study` with these words; its outcome, without times."""
        command = [PROGRAM, "study", *words, "--quick", "--json", "--out", self.place]
        environment = {**os.environ, **self.cluster()}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=weir_of_tests.ROOT
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return without_times(json.loads(done.stdout)), done.stderr

    def test_a_study_has_the_numbers_of_this_process(self):
        """Those of a run without a cluster, and a run is never done twice."""
        words = ["crates/study/tests/bottleneck"]
        alone, _ = self.study(*words)
        records = self.place / "records"
        self.assertFalse(records.exists())
        found, said = self.study(*words, "--engine", self.engine)
        self.assertEqual(found, alone)
        kept = {file: file.stat().st_mtime_ns for file in records.iterdir()}
        self.assertGreater(len(kept), 1)
        self.assertRegex(said, f"(?m)^{len(kept)} runs, {len(kept)} of them new")
        # An interruption has left all but one.
        lost = sorted(kept)[0]
        lost.unlink()
        again, said = self.study(*words, "--engine", self.engine)
        self.assertEqual(again, alone)
        self.assertRegex(said, f"(?m)^{len(kept)} runs, 1 of them new")
        del kept[lost]
        self.assertEqual({file: file.stat().st_mtime_ns for file in kept}, kept)

    def test_a_part_of_the_arena_has_the_numbers_of_this_process(self):
        """Optima, scores and regrets of one cell."""
        words = ["scenarios/arena", "--only", "short"]
        alone, _ = self.study(*words)
        self.assertEqual(len(alone["cells"]), 1)
        self.place = self.place.with_name("other")
        found, _ = self.study(*words, "--engine", self.engine)
        self.assertEqual(found, alone)

    def test_a_worker_with_another_version_ends_the_sweep(self):
        """Its results would be of another program."""
        with mock.patch.object(_weir, "BUILD", "9.9.9 (123456789, 2026-11-29)"):
            with self.assertRaisesRegex(weir.WeirError, "a worker has Weir .* 9.9.9"):
                self.sweep()
        with self.assertRaisesRegex(ValueError, "`jobs` is for the engine `local`"):
            self.sweep(jobs=2)


def without_times(outcome):
    """An outcome without the times that runs took, and the processes that did them."""
    if isinstance(outcome, list):
        return [without_times(one) for one in outcome]
    if isinstance(outcome, dict):
        times = {"wall_s", "run_s", "cpu_s", "jobs"}
        return {name: without_times(one) for name, one in outcome.items() if name not in times}
    return outcome


class Tasks(unittest.TestCase):
    """Tasks of half a minute, by an engine that runs them at once and has a clock of its own."""

    class Engine:
        """Two places; each point takes two seconds."""

        LOST = ()

        def __init__(self):
            self.sizes = []

        def workers(self):
            """Tasks that run at a time."""
            return 2

        def submit(self, task):
            """Begin a task."""
            self.sizes.append(len(_engines._worker.pickle.loads(task)[1]))
            return len(self.sizes), task

        def wait(self, handles, seconds):
            """The first one has ended."""
            return list(handles)[:1]

        def result(self, handle):
            """Answers without tables."""
            jobs = _engines._worker.pickle.loads(handle[1])[1]
            answers = [_engines._worker.Answer(job.key, 2.0) for job in jobs]
            return _engines._worker.pickle.dumps(answers)

        def cancel(self, handles):
            """There are none."""

    def test_tasks_take_half_a_minute_and_the_last_ones_end_together(self):
        """15 points of two seconds each."""
        engine, kept = self.Engine(), []
        with mock.patch.dict(_engines.ENGINES, {"ray": lambda: engine}):
            keep = mock.patch("weir._store.Disk.keep", lambda _, point, tables: kept.append(point))
            with keep:
                with tempfile.TemporaryDirectory(prefix="weir-") as place:
                    made = weir.sweep(TWO, place, engine="ray", repetitions=200)
        self.assertEqual((made.new, len({point.key for point in kept})), (200, 200))
        self.assertEqual(engine.sizes[:4], [1] * 4, "nothing is known of them")
        self.assertEqual(max(engine.sizes), 15)
        self.assertLess(engine.sizes[-1], 5)
        self.assertEqual(sum(engine.sizes), 200)

    def test_a_cluster_without_workers_is_left(self):
        """With what has come back."""
        engine = self.Engine()
        engine.workers = lambda: 0
        engine.wait = lambda handles, seconds: self.fail("Ray raises ValueError without tasks")
        with (
            mock.patch.dict(_engines.ENGINES, {"ray": lambda: engine}),
            mock.patch.object(_cluster, "EMPTY_SECONDS", 0.3),
            tempfile.TemporaryDirectory(prefix="weir-") as place,
            self.assertRaisesRegex(weir.WeirError, "has had no worker for"),
        ):
            weir.sweep(TWO, place, engine="ray")


class OnRay(OnCluster, unittest.TestCase):
    """Two workers."""

    engine = "ray"

    @classmethod
    def setUpClass(cls):
        options = {"include_dashboard": False, "object_store_memory": 100_000_000}
        # At its usual low priority, workers stand still beside the other suites.
        os.environ["RAY_worker_niceness"] = "0"
        ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR", **options)
        cls.addClassCleanup(ray.shutdown)

    def cluster(self):
        """The cluster for another process."""
        return {"RAY_ADDRESS": ray.get_runtime_context().gcs_address}


class OnDask(OnCluster, unittest.TestCase):
    """Two workers."""

    engine = "dask"

    @classmethod
    def setUpClass(cls):
        quiet = {"silence_logs": 50, "dashboard_address": None}
        cluster = distributed.LocalCluster(n_workers=0, **quiet)
        cls.addClassCleanup(cluster.close)
        cls.client = distributed.Client(cluster)
        cls.addClassCleanup(cls.client.close)
        cls.has_ended, cls.processes = threading.Event(), [None, None]
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        command += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        command += ["--local-directory", folder.name]
        for place in range(2):
            threading.Thread(target=cls.keep, args=(place, command), daemon=True).start()
        cls.addClassCleanup(cls.end)
        cls.client.wait_for_workers(2)

    @classmethod
    def keep(cls, place, command):
        """A worker that is started again when it ends, as batch systems do.

        Dask's own nannies do not start one again that ends while they start it.
        """
        while not cls.has_ended.is_set():
            cls.processes[place] = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            cls.processes[place].wait()

    @classmethod
    def end(cls):
        """End the workers."""
        cls.has_ended.set()
        for process in filter(None, cls.processes):
            process.kill()

    def cluster(self):
        """The cluster for another process."""
        return {"DASK_SCHEDULER_ADDRESS": self.client.scheduler.address}


class Absent(unittest.TestCase):
    """There is no cluster."""

    def test_a_package_is_not_installed(self):
        """The extra that installs it is named."""
        with (
            tempfile.TemporaryDirectory(prefix="weir-") as place,
            mock.patch.dict(sys.modules, {"ray": None}),
            self.assertRaisesRegex(weir.WeirError, r"`ray` is not installed.*\[ray\]"),
        ):
            weir.sweep(TWO, place, engine="ray")

    def test_a_missing_cluster_is_reported_with_advice(self):
        """For either engine."""
        for engine, variable in [("ray", "RAY_ADDRESS"), ("dask", "DASK_SCHEDULER_ADDRESS")]:
            with (
                tempfile.TemporaryDirectory(prefix="weir-") as place,
                mock.patch.dict(os.environ, {variable: "127.0.0.1:9"}),
                mock.patch.object(_engines, "SECONDS", 1.0),
                self.assertRaisesRegex(weir.WeirError, f"there is no .* cluster.*{variable}"),
            ):
                weir.sweep(TWO, place, engine=engine)


LIVES = Path(tempfile.mkstemp(prefix="weir-lives-")[1])
os.environ["WEIR_TEST_LIVES"] = f"{os.getpid()} {LIVES}"
unittest.addModuleCleanup(LIVES.unlink, missing_ok=True)
