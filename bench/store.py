"""A store in a bucket: what it reads and serves, beside the range reads of the S3 server itself."""

import os
from unittest import mock

from experiment import GIGABIT, MEGABYTE, attempt
from support import buckets
from support.children import Child, Failed, wait_until
from table import Table

# The ranges that curl requests, and how many at a time: as `weir repo` does.
RANGE = 2 * 1024 * 1024
PARALLEL = 6
PATIENCE = 600
BUCKET = "s3://bench/store"


def measure(lab):
    """One object: by curl, as a file, and by name from a bucket and from a folder."""
    size = lab.size(1000)
    table = Table(f"{size // MEGABYTE} MB from versitygw on this host", "", "Gbit/s", "of curl's")
    root = lab.folder / "buckets"
    (root / "bench").mkdir(parents=True)
    server = buckets.Server(root)
    server.start()
    settings = buckets.environment(server.address) | {"XDG_CACHE_HOME": str(lab.folder / "cache")}
    try:
        with mock.patch.dict(os.environ, settings):
            compare(lab, table, server, size)
    finally:
        server.stop()


def compare(lab, table, server, size):
    """All rows; the ratio is to the best of curl's."""
    path = lab.content("stored", size)
    for store in (BUCKET, lab.folder / "kept"):
        run(lab, [lab.weir, "repo", "put", "/bench/stored", path, "--store", store, "--quiet"])
    [key] = [path for path in (lab.folder / "buckets/bench/store/blobs").rglob("*-*")]
    url = f"http://{server.address}/{key.relative_to(lab.folder / 'buckets')}"
    rates = []
    steps = {"curl, one range": size, f"curl, 2 MiB, {PARALLEL} at a time": RANGE}
    for label, step in steps.items():
        with attempt(table, label):
            rates.append(size * 8 / run(lab, curl(lab, url, size, step)))
            table.row(label, rates[-1] / GIGABIT, "")
    best = max(rates, default=0)
    with attempt(table, "weir repo export"):
        export = [lab.weir, "repo", "export", "/bench/stored", "/dev/null", "--store", BUCKET]
        add_row(table, "weir repo export", size * 8 / run(lab, export), best)
    for label, store in {"bucket": BUCKET, "folder": lab.folder / "kept"}.items():
        label = f"weir get, from weir repo run: {label}"
        with attempt(table, label):
            add_row(table, label, size * 8 / served(lab, store), best)


def add_row(table, label, rate, best):
    """A rate, and its ratio to the best of the server's own."""
    table.row(label, rate / GIGABIT, f"{rate / best:.0%}" if best else "-")


def curl(lab, url, size, step):
    """The command that reads the object by ranges of `step` bytes."""
    keys = ":".join(buckets.KEYS.values())
    one = f'url = "{url}"\noutput = "/dev/null"\nuser = "{keys}"\n'
    one += 'aws-sigv4 = "aws:amz:us-east-1:s3"\n'
    # Older versions of curl do not send it.
    one += 'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\n'
    starts = range(0, size, step)
    parts = [f'{one}range = "{at}-{min(at + step, size) - 1}"\n' for at in starts]
    file = lab.folder / "curl.config"
    file.write_text("next\n".join(parts), encoding="utf-8")
    parallel = ["--parallel", "--parallel-max", PARALLEL] if len(parts) > 1 else []
    words = ["curl", "--silent", "--show-error", "--fail", "--no-progress-meter"]
    return [*words, *parallel, "--config", file]


def run(lab, argv):
    """The seconds that a command takes."""
    child = Child(argv, lab.folder / "store.log")
    if child.wait(PATIENCE) != 0:
        raise Failed(child.last_words())
    return child.seconds


def served(lab, store):
    """The seconds of a fetch from a server of the store."""
    daemon = lab.daemon("store", listen={"udp": "off", "tcp": "off"})
    log = lab.folder / "run.log"
    log.unlink(missing_ok=True)
    with daemon:
        argv = [lab.weir, "repo", "run", "--store", store, "--socket", daemon.socket]
        with Child(argv, log):
            wait_until(lambda: "serving 1" in log.read_text(encoding="utf-8"), "the store")
            return run(lab, [lab.weir, "get", "/bench/stored", "-o", "/dev/null", "--quiet"]
                       + ["--socket", daemon.socket])
