"""The speed of `weir put --sign-segments` by type of key, until it serves."""

import os
import time
import unittest.mock

from experiment import MEGABIT, MEGABYTE, attempt
from support.children import memory_bytes, run
from table import Table
from transfer import fetch, published

KINDS = ["ed25519", "ecdsa", "rsa", "hmac"]
# The default segment size of `weir put` under a short name.
SEGMENT = 8000
PATIENCE = 120


def measure(lab):
    """A row for each type of key, after one for the manifest alone."""
    size = lab.size(100)
    file = lab.content("signing", size)
    segments = -(-size // SEGMENT)
    table = Table(
        f"{size // MEGABYTE} MB, {segments} segments, signed one by one before they are served",
        "key",
        "s until it serves",
        "segments a second",
        "resident MB",
        "first weir get, Mbit/s",
    )
    home = {"WEIR_HOME": str(lab.folder / "keys")}
    daemon = lab.daemon("signing", listen={"udp": "off", "tcp": "off"})
    with unittest.mock.patch.dict(os.environ, home), daemon:
        for kind in ["the manifest alone", *KINDS]:
            identity, options = "/bench", ()
            if kind in KINDS:
                identity = f"/bench/{kind}"
                run([lab.weir, "key", "new", identity, "--type", kind])
                options = ("--sign", identity, "--sign-segments")
            with attempt(table, kind):
                table.row(kind, *publish(lab, daemon, f"{identity}/file", file, options))


def publish(lab, daemon, name, file, options):
    """Seconds, segments a second, megabytes, and the goodput of the first fetch."""
    began = time.monotonic()
    with published(daemon, name, file, options) as thing:
        seconds = time.monotonic() - began
        resident = memory_bytes(thing.producer.pid, "VmHWM") / MEGABYTE
        rate = fetch(thing, [daemon], lab.folder, PATIENCE).rate / MEGABIT
    return seconds, file.stat().st_size / SEGMENT / seconds, resident, rate
