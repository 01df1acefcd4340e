"""Common parts of the benchmark: a folder, contents, daemons, sizes, time limits."""

import contextlib
import functools
import tempfile
from pathlib import Path

from support import content, weir
from support.children import Failed

MEGABYTE = content.MEGABYTE
MEGABIT = 1e6
GIGABIT = 1e9


class Lab:
    """The folder of one run; it is deleted when the `with` block ends."""

    def __init__(self, quick=False):
        self.quick = quick
        self._place = tempfile.TemporaryDirectory(prefix="weir-bench-")
        self.folder = Path(self._place.name)
        self._contents = {}

    @functools.cached_property
    def weir(self):
        """The program, built on first use."""
        return weir.program("release")

    def size(self, megabytes):
        """A size in bytes; a tenth of it in a quick run."""
        return megabytes * MEGABYTE // (10 if self.quick else 1)

    def runs(self, count):
        """A number of runs; at most two in a quick run."""
        return min(count, 2) if self.quick else count

    def content(self, name, size):
        """A file of that size, made once."""
        if self._contents.get(name) != size:
            content.make(self.folder / name, size, seed=len(self._contents))
            self._contents[name] = size
        return self.folder / name

    def daemon(self, name, **settings):
        """A daemon that has not started."""
        return weir.Daemon(self.weir, self.folder, name, **settings)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._place.cleanup()


@contextlib.contextmanager
def attempt(table, label):
    """Turn a failure into a row of the table, so that the other rows are still measured."""
    try:
        yield
    except Failed as error:
        table.failed(label, error)
