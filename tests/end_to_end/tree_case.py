"""Folders as trees: one folder for each test, published and fetched by the tools."""

import hashlib
import json
import os
import stat
import unittest.mock
from pathlib import Path

from alone import Alone
from support import content
from support.children import Child, Failed, wait_until


def listing(folder):
    """Everything below a folder: type, permissions, time, and content or target."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        meta = path.lstat()
        kind = stat.S_IFMT(meta.st_mode)
        about = [kind, meta.st_mtime_ns]
        if path.is_symlink():
            about.append(os.readlink(path))
        else:
            about.append(stat.S_IMODE(meta.st_mode))
            about.append(content.sha256(path) if path.is_file() else None)
        found[str(path.relative_to(folder))] = about
    return found


def small_files(folder, count, size=200):
    """Many small files in some directories."""
    for number in range(count):
        path = folder / f"d{number % 7}" / f"f{number:05}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(hashlib.sha256(str(number).encode()).digest() * (size // 32))


class TreeCase(Alone):
    """One folder for each test; the daemon is shared."""

    def setUp(self):
        super().setUp()
        home = {"WEIR_HOME": str(self.here / "home")}
        self.enterContext(unittest.mock.patch.dict(os.environ, home))
        self.folder = self.here / "published"
        self.folder.mkdir()
        self.copy = self.here / "copy"

    def serve(self, name, *options, command="put", folder=None):
        """Publish the folder until the test ends."""
        argv = [self.program, command, name, folder or self.folder, "--socket", self.daemon.socket]
        log = self.here / f"{command}.log"
        log.unlink(missing_ok=True)
        child = Child([*argv, *options], log)
        self.addCleanup(child.kill)

        def ready():
            if not child.running:
                raise Failed(child.last_words())
            return "serving" in log.read_text(encoding="utf-8")

        wait_until(ready, f"{name} to be published")
        return child

    def weir(self, *words, status=0, timeout=60):
        """Run a command; return its standard output, and its messages."""
        out, log = self.here / "out", self.here / "messages"
        out.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        child = Child([self.program, *words, "--socket", self.daemon.socket], log, out)
        ended = child.wait(timeout)
        said = log.read_text(encoding="utf-8")
        self.assertEqual(ended, status, said)
        return out.read_text(encoding="utf-8"), said

    def fetch(self, name, *options, **about):
        """Fetch a tree and return its summary."""
        out, _ = self.weir("get", name, self.copy, "--json", "--quiet", *options, **about)
        return json.loads(out) if out else None
