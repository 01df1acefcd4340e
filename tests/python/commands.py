"""The command `weir sweep`: the program of the wheel, and the module behind it."""

import contextlib
import io
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
from unittest import mock

import weir
from _network import SCENARIO
from support import schemas
from weir import _command

PROGRAM = Path(sysconfig.get_path("scripts"), "weir")
SWEPT = SCENARIO.replace("1 MB", "20 kB") + '\n[sweep]\ncontrol = ["aimd", "fixed"]\n'
# Seconds for a command.
PATIENCE = 120
# The options of a command line as the program gives them to the module.
OPTIONS = {"set": [], "seed": None, "engine": "local", "jobs": 1, "json": False, "quiet": False}
UNTIL = {"measure": None, "over": None, "confidence": 0.95, "margin": 0.0, "most": 200}


def may_be_interrupted():
    """Before a program begins: a suite in the background has children that ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


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
        schemas.check("sweep", again)
        self.assertEqual((again["points"], again["done"], again["new"]), (2, 2, 0))
        self.assertEqual((again["failed"], again["comparisons"]), ([], []))
        quiet = self.sweep("--quiet", "--set", "link.delay=6 ms")
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))
        self.assertEqual(len(list((self.place / "results").iterdir())), 4)

    def test_a_sequential_design(self):
        """Without losses, all seeds have the same difference."""
        done = self.sweep("--until", "fct_s", "--most", "10", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        schemas.check("sweep", json.loads(done.stdout))
        (one,) = json.loads(done.stdout)["comparisons"]
        self.assertEqual((one["a"], one["b"], one["seeds"]), ("aimd", "fixed", 10))
        self.assertIn(one["outcome"], ("more", "less", "equal"))
        shown = self.sweep("--until", "fct_s", "--most", "10")
        self.assertRegex(shown.stdout, r"(?m)^aimd [<>=] fixed: .* 10 seeds$")

    def test_a_failure_is_an_object_for_programs(self):
        """The last line on standard error; the one before it is for people."""
        absent = self.place / "absent.toml"
        done = self.sweep("--json", file=absent)
        schemas.failed(7, done.stderr)
        line, error = done.stderr.splitlines()
        error = json.loads(error)["error"]
        self.assertEqual((done.returncode, done.stdout, error["kind"]), (7, "", "file"))
        self.assertEqual(line, f"weir: {error['message']}")

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
            options = {"stdout": pipe, "stderr": pipe, "preexec_fn": may_be_interrupted}
            with subprocess.Popen(command, text=True, **options) as process:
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

    def test_an_interruption_while_the_package_is_imported(self):
        """A line and no traceback."""
        # A signal in the middle of the package, whatever the time that its parts take.
        (self.place / "sitecustomize.py").write_text(
            "import os, signal, sys\n"
            "class Finder:\n"
            "    def find_spec(self, name, path, target=None):\n"
            "        if name == 'weir._results':\n"
            "            os.kill(os.getpid(), getattr(signal, os.environ['NUMBER']))\n"
            "sys.meta_path.insert(0, Finder())\n",
            encoding="utf-8",
        )
        paths = os.pathsep.join([str(self.place), os.environ.get("PYTHONPATH", "")])
        for number in ("SIGINT", "SIGTERM"):
            env = {**os.environ, "PYTHONPATH": paths, "NUMBER": number}
            # The program looks for the package, and would get the signal there.
            asked = self.asked()
            command = [sys.executable, "-P", "-m", "weir._command", json.dumps(asked)]
            done = subprocess.run(
                command,
                env=env,
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=may_be_interrupted,
            )
            self.assertEqual(done.stderr, "weir: interrupted before anything was run\n")
            self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertFalse((self.place / "results").exists())
        # Programs that import the module keep their own handlers.
        code = "import signal, weir._command; print(signal.getsignal(signal.SIGTERM).name)"
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, preexec_fn=may_be_interrupted
        )
        self.assertEqual(done.stdout, "SIG_DFL\n")

    def asked(self, **more):
        """The options that the program gives to the module."""
        until = {**UNTIL, **more.pop("until", {})}
        place = str(self.place / "results")
        return {**OPTIONS, "file": str(self.file), "out": place, "until": until, **more}

    def main(self, **more):
        """The module in this process: exit code, output, complaints."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _command.main(json.dumps(self.asked(**more)))
        return code, out.getvalue(), err.getvalue()

    def test_failed_points_have_an_exit_code(self):
        """They are listed, and a comparison without values has their error."""

        class Moody(weir.WindowLaw):
            """Raises as long as a test sets it."""

            broken = True

            def on_ack(self, cx, ack):
                if self.broken:
                    raise RuntimeError("not today")

            def on_congestion(self, cx, signal, rtt):
                """Nothing changes."""

        swept = SWEPT.replace('"fixed"', '"moody"')
        self.file.write_text(swept, encoding="utf-8")
        code, out, err = self.main()
        self.assertEqual((code, out), (1, "1 of 2 points have results, 1 of them new\n"))
        self.assertRegex(err, "(?m)^weir: control=moody seed=1 failed: .*not today")
        code, out, err = self.main(until={"measure": "fct_s"})
        self.assertEqual(code, 1)
        self.assertRegex(out, "(?m)^aimd undecided with moody: none of 10 seeds .*moody: .*today")
        self.assertIn("weir: 5 more points failed; --json lists them", err)
        code, out, _ = self.main(until={"measure": "fct_s"}, json=True)
        shown = json.loads(out)
        self.assertEqual((code, len(shown["failed"]), shown["done"]), (1, 10, 10))
        (one,) = shown["comparisons"]
        self.assertEqual((one["seeds"], one["missing"], one["outcome"]), (0, 10, None))
        self.assertIn("not today", one["reason"])
        Moody.broken = False
        self.assertEqual(self.main()[0], 0)

    def test_seeds_without_a_value_are_shown(self):
        """Beside those that count."""
        one = weir.Comparison({"loss": "1 %"}, "a", "b", 0.5, 0.25, 0.75, 12, "more", 3)
        text = "a > b loss=1 %: 0.5 (0.25 to 0.75), 12 seeds, 3 more without a value"
        self.assertEqual(_command.sentence(one), text)
        one = weir.Comparison({}, "a", "b", 0.5, 0.25, 0.75, 12, "more")
        self.assertEqual(_command.sentence(one), "a > b: 0.5 (0.25 to 0.75), 12 seeds")

    def test_measures_that_are_none(self):
        """Columns that tell runs apart, and a design that chooses seeds that the file sweeps."""
        for name in ("run", "seed"):
            code, _, err = self.main(until={"measure": name})
            self.assertEqual(code, 2)
            self.assertIn(f"weir: there is no measure `{name}`; there are ", err)
        self.file.write_text(SWEPT + "seed = [1, 2]\n", encoding="utf-8")
        code, _, err = self.main(until={"measure": "fct_s"})
        text = "weir: `until` chooses the seeds; leave out the sweep of `seed`\n"
        self.assertEqual((code, err), (2, text))

    def test_unexpected_errors_are_lines(self):
        """With the place, for a report; and a disk that is full of output."""
        with mock.patch.object(_command, "sweep", side_effect=RuntimeError("so what")):
            code, _, err = self.main()
        self.assertEqual(code, 1)
        self.assertRegex(err, r"^weir: unexpected RuntimeError at mock\.py:\d+: so what; complete")
        for error in (KeyError("x"), TypeError("x"), OSError(5, "Input/output error")):
            with mock.patch.object(_command, "sweep", side_effect=error):
                code, out, err = self.main()
            self.assertEqual((code, out, len(err.splitlines())), (1, "", 1))
        with open("/dev/full", "w", encoding="utf-8") as full:
            command = [PROGRAM, "sweep", self.file, "--out", self.place / "results"]
            pipe = {"stdout": full, "stderr": subprocess.PIPE, "text": True}
            done = subprocess.run(command, check=False, **pipe)
        text = "weir: cannot write the output: No space left on device; the points are kept\n"
        self.assertEqual((done.returncode, done.stderr), (7, text))

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
