"""10 GB through a forwarder with a limit of 32 MB: its memory meanwhile."""

import threading

from experiment import MEGABYTE, attempt
from support.children import Child, Failed, memory_bytes
from table import Table
from transfer import published

MEMORY = "32 MB"
# Each fetch is one object; the store is far too small to answer the next one.
OBJECT = 500 * MEGABYTE
CONSUMERS = 2
PATIENCE = 600
SAMPLE_SECONDS = 0.05
PARTS = 10


def measure(lab):
    """A row for each tenth of the traffic."""
    total = lab.size(10_000)
    size = min(OBJECT, total // PARTS)
    table = Table(
        f"{total // MEGABYTE} MB through one forwarder with memory = {MEMORY!r}, "
        f"{CONSUMERS} consumers at once",
        "passed MB",
        "resident MB, least",
        "most",
        "of the memory shared MB",
        "content store MB",
    )
    daemon = lab.daemon("small", listen={"udp": "off", "tcp": "off"}, about={"memory": MEMORY})
    with attempt(table, "weir"), daemon, published(
        daemon, "/bench/memory", lab.content("memory", size)
    ) as thing, Watch(daemon.process.pid) as watch:
        passed = 0
        while passed < total:
            goal = passed + total // PARTS
            while passed < goal:
                fetch(daemon, thing, lab.folder)
                passed += CONSUMERS * size
            least, most = watch.take()
            shared = daemon.status()["memory"]
            parts = (least, most, shared["bytes"], shared["content_store"])
            table.row(str(passed // MEGABYTE), *(part / MEGABYTE for part in parts))
        table.note(f"VmHWM: {memory_bytes(daemon.process.pid, 'VmHWM') / MEGABYTE:.1f} MB")


def fetch(daemon, thing, folder):
    """The object to nowhere, by all consumers at once."""
    argv = [daemon.weir, "get", thing.name, "-o", "-", "--quiet", "--socket", daemon.socket]
    children = [
        Child(argv, folder / f"consumer{number}.log", "/dev/null") for number in range(CONSUMERS)
    ]
    for child in children:
        with child:
            if child.wait(PATIENCE) != 0:
                raise Failed(f"{child.name}: status {child.status}\n{child.last_words()}")


class Watch:
    """Looks at a process's memory all the time."""

    def __init__(self, pid):
        self._pid = pid
        self._seen = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self._end.wait(SAMPLE_SECONDS):
            self._seen.append(memory_bytes(self._pid, "VmRSS"))

    def take(self):
        """The least and the most since the last time."""
        seen, self._seen = self._seen, []
        return min(seen, default=0), max(seen, default=0)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
