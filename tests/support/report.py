"""Runs unittest cases and says how each went, in the words that `scripts/suite` counts."""

import os
import sys
import tempfile
import time
import unittest
import unittest.mock


class Result(unittest.TestResult):
    """Says how each test went, with the time that it took."""

    passed = 0
    # Called after each test that passed; a failure in it is one of the test.
    afterwards = staticmethod(lambda: None)
    # Errors and skips before the first test of a class have no start of their own.
    began = time.monotonic()

    def startTest(self, test):  # noqa: N802 (the library's name)
        """Note the time."""
        super().startTest(test)
        self.began = time.monotonic()

    def say(self, test, how, why=""):
        """One line a test, and the reason if it did not pass."""
        print(f"{how:>7} {time.monotonic() - self.began:6.1f} s  {test.id()}", flush=True)
        if why:
            print(why, flush=True)

    def addSuccess(self, test):  # noqa: N802
        """Count and say, unless what belongs to the test fails afterwards."""
        try:
            self.afterwards()
        except test.failureException:
            self.addFailure(test, sys.exc_info())
            return
        self.passed += 1
        self.say(test, "passed")

    def addFailure(self, test, err):  # noqa: N802
        """Count and say."""
        super().addFailure(test, err)
        self.say(test, "FAILED", self.failures[-1][1])

    def addError(self, test, err):  # noqa: N802
        """Count and say."""
        super().addError(test, err)
        self.say(test, "FAILED", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):  # noqa: N802
        """Say which part failed; the whole is counted once."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            broken = not issubclass(err[0], test.failureException)
            self.say(subtest, "FAILED", (self.errors if broken else self.failures)[-1][1])

    def addSkip(self, test, reason):  # noqa: N802
        """Count and say."""
        super().addSkip(test, reason)
        self.say(test, "SKIPPED", reason)


def run(names, before_counts=None, afterwards=None):
    """Run the named tests, say the counts on the last line, and return the exit status.

    `before_counts` is called when all tests have ended, and `afterwards` when one has passed.
    """
    result = Result()
    if afterwards:
        result.afterwards = afterwards
    # No test uses the state directory of the user, or leaves something there.
    with (
        tempfile.TemporaryDirectory(prefix="weir-home-") as home,
        unittest.mock.patch.dict(os.environ, {"WEIR_HOME": home}),
    ):
        unittest.defaultTestLoader.loadTestsFromNames(names).run(result)
    if before_counts:
        before_counts()
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0)
