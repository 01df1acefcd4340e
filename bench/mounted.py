"""A file read from end to end through `weir mount`, beside `weir get` of the same object."""

import statistics
import time

from experiment import MEGABIT, MEGABYTE, attempt
from support.children import Child, Failed, run, wait_until
from table import Table
from transfer import published

NAME = "/bench/mounted"
RUNS = 5
PATIENCE = 600


def measure(lab):
    """A row for each way, and the ratio of each pair of runs."""
    size, rates = lab.size(1000), {"weir get": [], "weir mount, cat": []}
    title = f"{size // MEGABYTE} MB from one producer through one forwarder, to /dev/null"
    table = Table(f"{title}, {lab.runs(RUNS)} runs", "way", "Mbit/s", "least", "most")
    daemon = lab.daemon("mounted", listen={"udp": "off", "tcp": "off"})
    content = lab.content("mounted", size)
    with attempt(table, "weir"), daemon, published(daemon, NAME, content) as thing:
        for _ in range(lab.runs(RUNS)):
            for way, work in (("weir get", fetch), ("weir mount, cat", read)):
                run([lab.weir, "cs", "erase", NAME, "--socket", daemon.socket])
                rates[way].append(size * 8 / work(lab, daemon, thing) / MEGABIT)
        for way, found in rates.items():
            table.row(way, statistics.median(found), min(found), max(found))
        pairs = zip(rates["weir mount, cat"], rates["weir get"])
        ratios = [mounted / fetched for mounted, fetched in pairs]
        table.note(f"median ratio of the pairs: {statistics.median(ratios):.2f}")


def timed(argv, log):
    """The seconds that a command takes; its output is thrown away."""
    with Child(argv, log, "/dev/null") as child:
        if child.wait(PATIENCE) != 0:
            raise Failed(f"{child.name}: status {child.status}\n{child.last_words()}")
        return child.seconds


def fetch(lab, daemon, thing):
    """Fetch the object."""
    argv = [lab.weir, "get", thing.name, "-o", "-", "--quiet", "--socket", daemon.socket]
    return timed(argv, lab.folder / "get.log")


def read(lab, daemon, thing):
    """Mount the object, and read its file."""
    point, out = lab.folder / "mnt", lab.folder / "mount.out"
    point.mkdir(exist_ok=True)
    out.unlink(missing_ok=True)
    argv = [lab.weir, "mount", thing.name, point, "--json", "--socket", daemon.socket]
    with Child(argv, lab.folder / "mount.log", out) as mount:
        ready = lambda: not mount.running or out.read_text(encoding="utf-8")  # noqa: E731
        wait_until(ready, "the mount")
        if not mount.running:
            raise Failed(mount.last_words())
        # The object is known to both from here on; `get` looks it up within its time.
        began = time.monotonic()
        timed(["cat", next(point.iterdir())], lab.folder / "cat.log")
        took = time.monotonic() - began
        mount.stop()
        return took
