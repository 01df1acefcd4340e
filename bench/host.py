"""One host: a file through one forwarder, compared with HTTP and plain datagrams."""

import peers
from experiment import GIGABIT, MEGABYTE, attempt
from table import Table
from transfer import fetch, published

STORE = "256 MiB"
# As those that it is compared with.
SEGMENTS = ("--segment-size", "8000 B")
PATIENCE = 600


def measure(lab):
    """All rows of the part."""
    large, small = lab.size(1000), lab.size(100)
    table = Table(
        f"One host, one forwarder, 8 kB segments, verified; content store {STORE}",
        "",
        "Gbit/s",
        "producer CPU s",
        "forwarder CPU s",
        "consumer CPU s",
        "peak MB of each",
    )
    daemon = lab.daemon("one", listen={"udp": "off", "tcp": "off"}, store={"capacity": STORE})
    with daemon:
        row = f"weir, {large // MEGABYTE} MB"
        through_weir(lab, table, daemon, "/bench/file", row, large)
        # The effect of range Interests.
        row += ", --range 32"
        through_weir(lab, table, daemon, "/bench/ranges", row, large, ("--range", "32"))
        # A new name, so that the second fetch is the first that the store can answer.
        with published(
            daemon, "/bench/again", lab.content("again", small), SEGMENTS
        ) as thing:
            for label in ("first time", "again, from the store"):
                row = f"weir, {small // MEGABYTE} MB, {label}"
                with attempt(table, row):
                    add_row(table, row, fetch(thing, [daemon], lab.folder, PATIENCE))
    with attempt(table, "curl from nginx"):
        by_http(lab, table, large)
    with attempt(table, "iperf3, 8 kB datagrams"):
        arrived, sent = peers.iperf3_udp(lab.folder)
        table.row("iperf3, 8 kB datagrams", arrived / GIGABIT, "-", "-", "-", "-")
        table.note(f"iperf3: what arrived of {sent / GIGABIT:.1f} Gbit/s that were sent")


def through_weir(lab, table, daemon, name, label, size, options=()):
    """One object, fetched once with these options."""
    path = lab.content("file", size)
    with attempt(table, label), published(daemon, name, path, SEGMENTS) as thing:
        add_row(table, label, fetch(thing, [daemon], lab.folder, PATIENCE, options))


def by_http(lab, table, size):
    """The same file by curl from nginx, to a file too."""
    path = lab.content("file", size)
    with peers.Nginx(lab.folder) as nginx:
        child = nginx.fetch(path.name, lab.folder / "by-http", lab.folder / "curl.log", PATIENCE)
        server, client = nginx.child.usage(), child.usage()
    (lab.folder / "by-http").unlink()
    peaks = f"{megabytes(server)}, -, {megabytes(client)}"
    rate = size * 8 / child.seconds / GIGABIT
    table.row("curl from nginx", rate, server.cpu_seconds, "-", client.cpu_seconds, peaks)


def add_row(table, label, done):
    """One Weir transfer as a row."""
    forwarder = done.forwarders[0]
    peaks = ", ".join(megabytes(used) for used in (done.producer, forwarder, done.consumer))
    cpu = (used.cpu_seconds for used in (done.producer, forwarder, done.consumer))
    table.row(label, done.rate / GIGABIT, *cpu, peaks)


def megabytes(usage):
    """A peak, in whole MB."""
    return f"{usage.peak_bytes / MEGABYTE:.0f}"
