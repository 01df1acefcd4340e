"""`scripts/suite`: nothing that failed is lost, nothing that was skipped counts as passed."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SUITE = Path(__file__).resolve().parents[2] / "scripts/suite"
CARGO = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out"


class Counting(unittest.TestCase):
    """Each case runs small suites and reads the sum."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.env = {**os.environ, "WEIR_SUITES": str(Path(place.name) / "record")}

    def call(self, *arguments):
        """Exit status and last line of `scripts/suite`."""
        done = subprocess.run(
            [SUITE, *arguments], env=self.env, capture_output=True, text=True, check=False
        )
        lines = done.stdout.splitlines()
        return done.returncode, lines[-1] if lines else ""

    def suite(self, script, *flags):
        """Run one suite, a line of shell."""
        return self.call(*flags, "name", "sh", "-c", script)[0]

    def test_cargo_says_it_once_for_each_binary(self):
        """Sums are over all of them."""
        self.assertEqual(self.suite(f"echo '{CARGO}'; echo noise; echo '{CARGO}'"), 0)
        self.assertEqual(self.call("--total"), (0, "6 passed, 0 failed"))

    def test_the_last_plain_line_counts(self):
        """What a suite says on the way is not its result."""
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
