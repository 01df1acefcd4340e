"""An application at a real daemon, for tests."""

import json
import sys
from pathlib import Path

import weir
from _published import PROGRAM, WithDaemon
from support.children import Child, run

# Seconds, longer than anything takes on the slowest machine.
LONG = 60
# Seconds of an Interest that is not answered.
SHORT = 0.05
# Bytes that operations may leave behind: none of them has a buffer of this size.
ROOM = 24 << 20
# Threads and descriptors of this process.
TASKS, FILES = Path("/proc/self/task"), Path("/proc/self/fd")

HEAD = """
import os, signal, sys, threading, time
import weir
app = weir.Application(sys.argv[1])
"""


class WithApplication(WithDaemon):
    """An application for each test."""

    def setUp(self):
        self.app = weir.Application(self.socket)
        self.addCleanup(self.app.close)

    def ask(self, name, **options):
        """The answer to an Interest, for which there is time."""
        return self.app.express(name, **{"lifetime": LONG, **options})

    def prefixes(self):
        """The prefixes of applications at the daemon."""
        listed = run([PROGRAM, "route", "list", "--json", "--socket", self.socket])
        names = {route["prefix"] for route in json.loads(listed)}
        # The keys of the tests' certificates are registered as well.
        own = {name for name in names if "/KEY/" not in name}
        return {name for name in own if not name.startswith("/localhost")}

    def script(self, text):
        """A program with an application `app`, which has not ended yet."""
        file = self.folder / f"{self._testMethodName}.py"
        file.write_text(HEAD + text, encoding="utf-8")
        log, out = file.with_suffix(".log"), file.with_suffix(".out")
        child = Child([sys.executable, file, self.socket], log, out)
        self.addCleanup(child.kill)
        return child, out

    def check_end(self, child, out, expected):
        """The program ends well, with this output and no other."""
        self.assertEqual(child.wait(LONG), 0, child.last_words())
        self.assertEqual(child.log.read_text(encoding="utf-8"), "")
        self.assertEqual(out.read_text(encoding="utf-8").split(), expected)
