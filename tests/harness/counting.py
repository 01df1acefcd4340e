"""`scripts/suite`: nothing that failed is lost, nothing that was skipped counts as passed."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SUITE = TESTS.parent / "scripts/suite"
# Tests that cannot begin, as the runner of a suite sees them.
CANNOT_BEGIN = """
import unittest
class Absent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("nothing to play with")
    def test(self):
        pass
class Broken(Absent):
    @classmethod
    def setUpClass(cls):
        raise OSError("it broke")
"""
RUN = """
import sys
sys.path[:0] = sys.argv[1:]
from support import report
sys.exit(report.run(["cannot_begin"]))
"""
CARGO = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out"


class Counting(unittest.TestCase):
    """Each case runs small suites and reads the sum."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.env = {**os.environ, "WEIR_SUITES": str(Path(place.name) / "record")}

    def lines(self, *arguments):
        """Exit status and lines of `scripts/suite`."""
        done = subprocess.run(
            [SUITE, *arguments], env=self.env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()

    def call(self, *arguments):
        """Exit status and last line of `scripts/suite`."""
        status, lines = self.lines(*arguments)
        return status, lines[-1] if lines else ""

    def suite(self, script, *flags):
        """Run one suite, a line of shell."""
        return self.call(*flags, "name", "sh", "-c", script)[0]

    def test_cargo_says_it_once_for_each_binary(self):
        """Sums are over all of them."""
        self.assertEqual(self.suite(f"echo '{CARGO}'; echo noise; echo '{CARGO}'"), 0)
        self.assertEqual(self.call("--total"), (0, "6 passed, 0 failed"))

    def test_the_last_plain_line_counts(self):
        """Other lines of a suite are not its result."""
        self.suite("echo '1 passed, 0 failed'; echo '5 passed, 0 failed, 2 skipped'")
        self.assertEqual(self.call("--total"), (0, "5 passed, 0 failed"))

    def test_a_suite_that_breaks_has_failed(self):
        """Even if everything that it counted had passed."""
        self.assertEqual(self.suite("echo '5 passed, 0 failed'; exit 3"), 3)
        self.assertEqual(self.call("--total"), (1, "5 passed, 1 failed"))

    def test_a_program_that_is_not_there_has_failed(self):
        """It cannot even say so itself."""
        self.assertEqual(self.call("name", "./no-such-program")[0], 127)
        self.assertEqual(self.call("--total"), (1, "0 passed, 1 failed"))

    def test_the_names_of_what_failed_are_repeated(self):
        """Cargo's tests, examples in documentation, and tests in Python; with the sums."""
        said = [
            "test tables::pit::grows ... ok",
            "test tables::pit::shrinks ... FAILED",
            "test src/lib.rs - Name (line 3) ... FAILED",
            " FAILED   12.5 s  mount.Reading.test_one (size=3)",
            " passed    0.5 s  mount.Reading.test_two",
            "3 passed, 3 failed",
        ]
        self.suite("; ".join(f"echo '{line}'" for line in said) + "; false")
        lines = self.lines("--total")[1]
        self.assertEqual(
            [line for line in lines if line.startswith("failed")],
            [
                "failed: name",
                "failed: name: tables::pit::shrinks",
                "failed: name: src/lib.rs - Name (line 3)",
                "failed: name: mount.Reading.test_one (size=3)",
            ],
        )

    def test_skipped_is_not_passed(self):
        """Status 77 adds nothing to either sum."""
        self.assertEqual(self.suite("echo '5 passed, 0 failed'; exit 77"), 0)
        self.assertEqual(self.call("--total"), (0, "0 passed, 0 failed"))

    def test_a_silent_suite_is_one_test(self):
        """Passed, by its status."""
        self.suite("true")
        self.assertEqual(self.call("--total"), (0, "1 passed, 0 failed"))

    def test_a_check_counts_only_if_it_fails(self):
        """It is no test."""
        self.suite(f"echo '{CARGO}'", "--check")
        self.assertEqual(self.call("--total"), (0, "0 passed, 0 failed"))
        self.suite("false", "--check")
        self.assertEqual(self.call("--total"), (1, "0 passed, 1 failed"))

    def test_a_suite_has_no_input(self):
        """One that asks a question gets an end of file, not the terminal."""
        self.assertEqual(self.suite("! read answer"), 0)

    def test_failed_and_skipped_test_classes_are_counted(self):
        """Skipped or failed by its class, before there is a test to tell of."""
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "cannot_begin.py").write_text(CANNOT_BEGIN, encoding="utf-8")
            argv = [sys.executable, "-c", RUN, place, str(TESTS)]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed, 1 skipped")
        self.assertIn("nothing to play with", done.stdout)
        self.assertIn("it broke", done.stdout)
