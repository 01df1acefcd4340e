"""The folder that `--out` names, as other programs find it."""

import csv
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import pyarrow.parquet as parquet
from support import weir

USAGE, INTERRUPTED, FILE = 2, 5, 7
LARGE = 400_000
NAMES = {
    "command.txt", "flows.parquet", "layout.json", "report.html", "scenario.toml",
    "runs.csv", "series.parquet", "summary.json", "version.txt",
}
# A consumer behind a slow link, whose first segments a router has from the time before.
SCENARIO = """
[scenario]
name = "two"
duration = "3 s"
[[node]]
name = ["near", "far"]
[[link]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "0.5 %"
[[content]]
name = "/film"
at = "far"
size = "1 MB"
[[consumer]]
at = "near"
name = "/film"
control = "aimd"
"""
SWEEP = '\n[sweep]\nlink.rate = ["10 Mbit/s", "20 Mbit/s"]\nrepetitions = 2\n'


class Folder(unittest.TestCase):
    """A fresh place for each test."""

    @classmethod
    def setUpClass(cls):
        cls.program = weir.program()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        (self.here / "one.toml").write_text(SCENARIO, encoding="utf-8")
        (self.here / "many.toml").write_text(SCENARIO + SWEEP, encoding="utf-8")

    def run_it(self, *arguments, **options):
        """Run a scenario; the finished process."""
        command = [self.program, "sim", "run", *arguments]
        return subprocess.run(
            command, cwd=self.here, capture_output=True, text=True, check=False, **options
        )

    def names(self, folder="out"):
        """The content of a folder."""
        return {path.name for path in (self.here / folder).iterdir()}

    def summary(self, folder="out"):
        """The summary in a folder."""
        return json.loads((self.here / folder / "summary.json").read_text(encoding="utf-8"))

    def read(self, name, folder="out"):
        """The rows of a Parquet file."""
        return parquet.read_table(self.here / folder / name)

    def test_another_reader_finds_the_same_in_parquet_as_in_json(self):
        done = self.run_it("one.toml", "--out", "out", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), NAMES)
        result = json.loads(done.stdout)
        self.assertEqual(self.summary(), result)
        flows = self.read("flows.parquet").to_pylist()
        for row, flow in zip(flows, result["flows"], strict=True):
            self.assertEqual(row, {"run": 0, "seed": 1, "scenario": "two", "settings": "", **flow})
        series = self.read("series.parquet")
        columns = {field.name: str(field.type) for field in series.schema}
        self.assertEqual(
            columns,
            {"run": "int64", "time_s": "double", "kind": "string", "entity": "string",
             "quantity": "string", "value": "double"},
        )
        rows = series.to_pylist()
        of = lambda *what: [  # noqa: E731
            row["value"] for row in rows if (row["kind"], row["entity"], row["quantity"]) == what
        ]
        for link in result["links"]:
            way = f"{link['from']} > {link['to']}"
            drops = of("link", way, "drops")
            self.assertEqual(drops[-1], link["drops"])
            self.assertEqual(drops, sorted(drops))
            # 1000 samples of 3 ms: what was sent is the sum of what was sent between them.
            used = of("link", way, "utilization")
            self.assertAlmostEqual(sum(used) / len(used), link["utilization"], places=9)
        self.assertTrue(of("flow", result["flows"][0]["flow"], "window"))
        self.assertEqual(of("node", "near", "pit")[-1], 0)

    def test_the_number_of_jobs_does_not_show(self):
        for jobs in ("1", "3"):
            done = self.run_it("many.toml", "--out", jobs, "--jobs", jobs)
            self.assertEqual(done.returncode, 0, done.stderr)
        files = [(self.here / jobs / "series.parquet").read_bytes() for jobs in ("1", "3")]
        self.assertEqual(files[0], files[1])
        runs = self.read("series.parquet", "1").column("run").unique().to_pylist()
        self.assertEqual(runs, [0, 1, 2, 3])
        settings = self.read("flows.parquet", "3").column("settings").to_pylist()
        self.assertEqual(settings, ["link.rate=10 Mbit/s"] * 2 + ["link.rate=20 Mbit/s"] * 2)
        for name in ("flows.parquet", "series.parquet"):
            rates = self.read(name, "1").column("link.rate").unique().to_pylist()
            self.assertEqual(rates, [10e6, 20e6], name)
        with (self.here / "1/runs.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        runs = self.summary("1")["runs"]
        for row, run in zip(rows, runs, strict=True):
            self.assertEqual(float(row["link.rate"]), run["swept"]["link.rate"])
            goodput = run["settled"]["goodput_mbps"]
            self.assertEqual(float(row["settled_goodput_mbps"]), goodput)

    def test_the_scenario_in_it_is_the_same_run(self):
        self.run_it("one.toml", "--out", "out", "--set", "link.loss=1 %", "--seed", "7")
        done = self.run_it("out/scenario.toml", "--json")
        again = json.loads(done.stdout)
        self.assertEqual((again["seed"], again["trace_hash"]), (7, self.summary()["trace_hash"]))

    def test_recorded_samples_survive_an_interrupt(self):
        # Minutes of work, of which it needs to do none.
        text = SCENARIO.replace('control = "aimd"', 'rate = "1000 /s"').replace("0.5 %", "0 %")
        text = text.replace('"1 MB"', '"50 MB"\nsegment = "100 B"')
        (self.here / "one.toml").write_text(text, encoding="utf-8")
        command = [self.program, "sim", "run", "one.toml", "--out", "out"]
        command += ["--set", "scenario.duration=100000 s", "--set", "record.interval=1 s"]
        child = subprocess.Popen(
            command, cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        # Its part of the folder is there before the first event.
        until = time.monotonic() + 60
        while not list(self.here.glob(".weir-unfinished-*/series-0.part")):
            self.assertLess(time.monotonic(), until)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
        self.assertEqual(child.returncode, INTERRUPTED, said)
        self.assertIn("interrupted; the results shown and kept in out are incomplete", said)
        self.assertEqual(self.names(), NAMES)
        summary = self.summary()
        self.assertTrue(summary["interrupted"])
        last = max(self.read("series.parquet").column("time_s").to_pylist())
        self.assertLessEqual(last, summary["duration_s"])
        left = {path.name for path in self.here.iterdir()}
        self.assertEqual(left, {"one.toml", "many.toml", "out"})

    def test_an_interrupted_sweep_is_resumed_to_the_same_results(self):
        # Seconds for each run, so that the signal comes after some of them.
        text = (self.here / "many.toml").read_text(encoding="utf-8")
        text = text.replace('"3 s"', '"300 s"').replace('"1 MB"', '"100 MB"')
        (self.here / "many.toml").write_text(text, encoding="utf-8")
        command = [self.program, "sim", "run", "many.toml", "--out", "out", "--jobs", "1"]
        child = subprocess.Popen(
            command, cwd=self.here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + 120
        while not list(self.here.glob(".weir-unfinished-*/series-2.part")):
            self.assertLess(time.monotonic(), until)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
        self.assertEqual(child.returncode, INTERRUPTED, said)
        self.assertIn("run the same command with --resume to run the rest", said)
        runs = self.summary()["runs"]
        self.assertEqual([run["interrupted"] for run in runs], [False, False, True])
        page = (self.here / "out/report.html").read_text(encoding="utf-8")
        self.assertIn("One run was interrupted and is left out.", page)
        counted = [combination["interrupted"] for combination in self.summary()["combinations"]]
        self.assertEqual(counted, [0, 1])
        other = self.run_it("many.toml", "--out", "out", "--resume", "--set", "link.delay=6 ms")
        self.assertEqual(other.returncode, FILE)
        self.assertIn("results of another scenario", other.stderr)
        for out, more in (("out", ["--resume"]), ("whole", [])):
            done = self.run_it("many.toml", "--out", out, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("series.parquet", "flows.parquet"):
            resumed, whole = [(self.here / out / name).read_bytes() for out in ("out", "whole")]
            self.assertEqual(resumed, whole, name)

    def test_a_second_run_takes_the_place_of_the_first_and_of_nothing_else(self):
        self.run_it("many.toml", "--out", "out")
        self.assertIn("scenario-1.toml", self.names())
        (self.here / "out/notes.md").write_text("mine", encoding="utf-8")
        done = self.run_it("one.toml", "--out", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), NAMES | {"notes.md"})
        self.assertIn("flows", self.summary())

    def test_a_scenario_with_a_mistake_leaves_nothing(self):
        done = self.run_it("one.toml", "--out", "out", "--set", "consumer.control=amid")
        self.assertEqual(done.returncode, USAGE)
        self.assertEqual({path.name for path in self.here.iterdir()}, {"one.toml", "many.toml"})

    def test_a_folder_that_cannot_be_written_is_found_before_anything_is_run(self):
        done = self.run_it("one.toml", "--out", "one.toml/out", "--set", "scenario.duration=1000 h")
        self.assertEqual(done.returncode, FILE)
        said = r"^weir: cannot write one\.toml/out: .*; make room there, or choose another"
        self.assertRegex(done.stderr, said)
        self.assertEqual(done.stdout, "")

    def test_a_full_disk_leaves_nothing_half_written(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE, LARGE))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        # Only the series become larger than that.
        command = ["one.toml", "--out", "out", "--set", "record.interval=50 us"]
        done = self.run_it(*command, preexec_fn=small, restore_signals=False)
        self.assertEqual(done.returncode, FILE, done.stderr)
        said = "^weir: cannot write .*: File too large; make room there, or choose another"
        self.assertRegex(done.stderr, said)
        self.assertEqual({path.name for path in self.here.iterdir()}, {"one.toml", "many.toml"})

    def test_a_report_of_what_is_no_result(self):
        for folder in ("nowhere", "."):
            done = subprocess.run(
                [self.program, "report", folder], cwd=self.here, capture_output=True, text=True,
                check=False, env={**os.environ, "NO_COLOR": "1"},
            )
            self.assertEqual(done.returncode, FILE)
            self.assertIn("has no summary.json", done.stderr)
