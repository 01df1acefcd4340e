"""The tools around one daemon, run to their ends, and the form of their messages."""

import os
import re
import subprocess
import unittest.mock
from pathlib import Path

from alone import Alone

# The exit codes of `weir --help`.
FAILED, USAGE, NOT_FOUND, NOT_VERIFIED, INTERRUPTED, NO_FORWARDER, FILE = range(1, 8)
PATIENCE = 60


class Tools(Alone):
    """Programs run in the test's own folder, with keys of the test's own."""

    def keep(self, context):
        """Enter a context for as long as the test takes."""
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def setUp(self):
        super().setUp()
        # Keys of the test's own, and no forwarder but the one that is named.
        given = {"WEIR_HOME": str(self.here / "home")}
        given["NDN_CLIENT_TRANSPORT"] = f"unix://{self.folder}/no.sock"
        self.keep(unittest.mock.patch.dict(os.environ, given))

    def run_weir(self, *arguments, before=(), **options):
        """Run the program to its end, in the test's own folder."""
        argv = [*map(str, before), str(self.program), *map(str, arguments)]
        given = {"stdin": subprocess.DEVNULL, "cwd": self.here, "timeout": PATIENCE, **options}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run(argv, text=True, check=False, **{**streams, **given})

    def rejected(self, status, parts, *arguments, **options):
        """The program ends with the status and one line that has all the parts."""
        done = self.run_weir(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assert_message(done.stderr, parts)
        self.assertFalse(done.stdout, "a failure has no result")
        return done

    def assert_message(self, said, parts):
        """One line: lower case, without the system's numbers or Rust's names, what to do last.

        With `--json` an object for programs follows it.
        """
        said = re.sub(r'(?m)^\{"error":.*\n\Z', "", said)
        lines = said.splitlines()
        self.assertEqual(len(lines), 1, said)
        self.assertRegex(said, r"\Aweir: [^A-Z]")
        self.assertRegex(said, r"; [^;]+\n\Z", "what to do next is missing")
        self.assertNotRegex(said, r"os error|panicked|[A-Z][a-z]+ ?[({]|!|\.\n")
        for part in parts:
            self.assertIn(part, said)

    def on_daemon(self, *arguments):
        """Arguments with the daemon's address."""
        return (*arguments, "--socket", self.daemon.socket)

    def put(self, name, *files, options=()):
        """Publish for as long as the test takes."""
        return self.keep(self.daemon.put(name, *(files or [self.sent]), options=options))

    def new_key(self, identity):
        """Make a key, and return its certificate's file."""
        made = self.run_weir("key", "new", identity)
        self.assertEqual(made.returncode, 0, made.stderr)
        path = self.here / "certificate"
        path.write_text(made.stdout, encoding="utf-8")
        return path


def catches(pid, number):
    """True if a process has a handler for the signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[1], 16)
    return bool(caught >> (number - 1) & 1)
