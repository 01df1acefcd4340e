"""The command `weir sweep`: the program of the wheel, and the module behind it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

from _network import SCENARIO

PROGRAM = Path(sysconfig.get_path("scripts"), "weir")
SWEPT = SCENARIO.replace("1 MB", "20 kB") + '\n[sweep]\ncontrol = ["aimd", "fixed"]\n'
# Seconds for a command.
PATIENCE = 120


class Commands(unittest.TestCase):
    """A sweep of two points."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.file = self.place / "two.toml"
        self.file.write_text(SWEPT, encoding="utf-8")

    def sweep(self, *options, program=PROGRAM, file=None, **more):
        """Run the command."""
        command = [program, "sweep", file or self.file, "--out", self.place / "results", *options]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE, **more
        )
        self.assertNotIn("Traceback", done.stderr)
        return done

    def test_a_sweep_is_run_once(self):
        """Texts, JSON, and silence."""
        done = self.sweep()
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, done.stdout.strip()))
        self.assertEqual(done.stdout, "2 of 2 points have results, 2 of them new\n")
        self.assertIn(f"written to {self.place / 'results'}", done.stderr)
        again = json.loads(self.sweep("--json").stdout)
        self.assertEqual((again["points"], again["done"], again["new"]), (2, 2, 0))
        self.assertEqual((again["failed"], again["comparisons"]), ([], []))
        quiet = self.sweep("--quiet", "--set", "link.delay=6 ms")
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))
        self.assertEqual(len(list((self.place / "results").iterdir())), 4)

    def test_a_sequential_design(self):
        """Without losses, all seeds have the same difference."""
        done = self.sweep("--until", "fct_s", "--most", "10", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (one,) = json.loads(done.stdout)["comparisons"]
        self.assertEqual((one["a"], one["b"], one["seeds"]), ("aimd", "fixed", 10))
        self.assertIn(one["outcome"], ("more", "less", "equal"))
        shown = self.sweep("--until", "fct_s", "--most", "10")
        self.assertRegex(shown.stdout, r"(?m)^aimd [<>=] fixed: .* 10 seeds$")

    def test_bad_input_has_the_exit_codes_of_other_commands(self):
        """And one line that names the remedy."""
        (self.place / "wrong.toml").write_text("[scenario]\nspeed = 1\n", encoding="utf-8")
        for code, options, text in (
            (7, {"file": self.place / "absent.toml"}, "cannot read the scenario"),
            (2, {"file": self.place / "wrong.toml"}, "wrong.toml:2:1"),
            (2, {"options": ("--until", "speed")}, "there is no measure `speed`"),
            (2, {"options": ("--until", "fct_s", "--confidence", "2")}, "`confidence` is between"),
            (2, {"options": ("--engine", "clouds")}, "possible values: local, ray, dask"),
            (2, {"options": ("--margin", "1")}, "--until"),
            (7, {"options": ("--out", self.file)}, "choose another folder"),
        ):
            with self.subTest(text=text):
                more = options.pop("options", ())
                if "--out" in more:
                    command = [PROGRAM, "sweep", self.file, *more]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                else:
                    done = self.sweep(*more, **options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(text, done.stderr)
        absent = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
        done = self.sweep("--engine", "ray", env=absent)
        self.assertEqual(done.returncode, 1)
        self.assertIn("weir: there is no Ray cluster at `127.0.0.1:1`", done.stderr)

    def test_an_interruption_keeps_what_is_done(self):
        """The same command runs the rest."""
        long = SWEPT.replace("20 kB", "2 MB") + "repetitions = 200\n"
        self.file.write_text(long, encoding="utf-8")
        results = self.place / "results"
        command = [PROGRAM, "sweep", self.file, "--out", results, "--jobs", "1"]
        pipe = subprocess.PIPE
        for number in (signal.SIGINT, signal.SIGTERM):
            before = len(list(results.glob("*/point.json")))
            with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
                while len(list(results.glob("*/point.json"))) <= before:
                    self.assertIsNone(process.poll())
                process.send_signal(number)
                said, complaint = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 5, complaint)
            self.assertIn("interrupted; the same command runs the points that are left", complaint)
            self.assertNotIn("Traceback", complaint)
            kept = len(list(results.glob("*/point.json")))
            self.assertIn(f"{kept} of 400 points have results, {kept - before} of them new", said)
        self.assertEqual(list(results.glob(".unfinished-*")), [])

    def test_a_program_without_the_package(self):
        """The message names it."""
        alone = self.place / "weir"
        shutil.copy(PROGRAM, alone)
        bare = self.place / "bin"
        bare.mkdir()
        done = self.sweep(program=alone, env={"PATH": str(bare)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("sweeps need Python, and cannot start python3", done.stderr)
        (bare / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        (bare / "python3").chmod(0o755)
        done = self.sweep(program=alone, env={"PATH": str(bare)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("python3 has no package `weir` with sweeps; install", done.stderr)
