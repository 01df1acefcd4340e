"""A description of the machine."""

import os
import platform
import re
from pathlib import Path

from support.children import Failed, run


def describe():
    """Print the machine, the tools and the version measured."""
    limit = Path("/proc/sys/net/core/rmem_max").read_text(encoding="utf-8").strip()
    rows = {
        "processor": f"{field('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores",
        "memory": f"{int(field('/proc/meminfo', 'MemTotal').split()[0]) / 1e6:.1f} GB",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "sockets": f"receive buffers of {limit} bytes at most",
        "compiler": first_line("rustc", "--version"),
        "weir": first_line("git", "describe", "--always", "--dirty"),
        "peers": ", ".join(filter(None, (version(*peer) for peer in PEERS))) or "none installed",
    }
    print("Machine")
    for name, value in rows.items():
        print(f"  {name:<10} {value}")


PEERS = [("nginx", "-v"), ("curl", "--version"), ("iperf3", "--version")]


def field(path, name):
    """The value of the first line `name: value` of a file of /proc."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "unknown"


def first_line(*argv):
    """The first line that a command prints."""
    try:
        return (run(argv).splitlines() or ["unknown"])[0]
    except (Failed, FileNotFoundError):
        return "unknown"


def version(program, flag):
    """Name and version of a peer; empty if it is not installed."""
    # nginx prints its version on standard error.
    said = first_line("sh", "-c", f"{program} {flag} 2>&1")
    found = re.search(r"\d+(\.\d+)+", said)
    return f"{program} {found.group()}" if found else None
