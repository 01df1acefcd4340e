"""A store for each test, the commands that work on it, and a daemon that all tests share."""

import json
import os
import subprocess
import unittest.mock

from alone import Alone
from support import content
from support.children import Child, Failed, wait_until

PATIENCE = 60


class Stored(Alone):
    """A store for each test; the daemon is shared."""

    def setUp(self):
        super().setUp()
        home = {"WEIR_HOME": str(self.here / "home")}
        self.enterContext(unittest.mock.patch.dict(os.environ, home))
        self.store = self.here / "store"

    def command(self, *words):
        """A command that works on the store."""
        return [str(word) for word in (self.program, "repo", *words, "--store", self.store)]

    def repo(self, *words, status=0, before=()):
        """Run a command on the store; return its standard output, and its messages."""
        argv = [*before, *self.command(*words)]
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("panicked", done.stderr)
        return done.stdout, done.stderr

    def json(self, *words, **about):
        """The objects that a command prints."""
        out, _ = self.repo(*words, "--json", **about)
        return [json.loads(line) for line in out.splitlines()]

    def weir(self, *words, status=0):
        """Run a command that uses the daemon; return its standard output."""
        argv = [self.program, *words, "--socket", self.daemon.socket]
        done = subprocess.run(
            [str(word) for word in argv], capture_output=True, timeout=PATIENCE, check=False
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def key(self, name):
        """Make the default key; return the file of its certificate."""
        made = subprocess.run(
            [self.program, "key", "new", name, "--default"], capture_output=True, check=True
        )
        certificate = self.here / "certificate"
        certificate.write_bytes(made.stdout)
        return certificate

    def serve(self, *options):
        """Serve the store until the test ends."""
        log = self.here / "run.log"
        log.unlink(missing_ok=True)
        child = Child([*self.command("run"), "--socket", self.daemon.socket, *options], log)
        self.addCleanup(child.kill)

        def ready():
            if not child.running:
                raise Failed(child.last_words())
            return "serving" in log.read_text(encoding="utf-8")

        wait_until(ready, "the store to be served")
        return child

    def fetched(self, name, *options, status=0):
        """Fetch an object; return its digest."""
        got = self.here / "got"
        got.unlink(missing_ok=True)
        self.weir("get", name, "-o", got, "--quiet", *options, status=status)
        return content.sha256(got) if status == 0 else None
