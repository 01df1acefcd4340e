"""Tests 2.1 and 2.2: two consumers behind three routers, one after the other or overlapping."""

import time

from ccnx_programs import CHUNKS, FORWARDING, PATIENCE, RATE, SETTINGS, Ftp, Proxies, Weir
from experiment import MEGABIT, MEGABYTE, attempt
from standing import Routers, Standing, passed
from table import Table

ROUTERS = ("CCNx1", "CCNx2", "CCNx3")
# The report's video, of 8 s.
VIDEO = 6_300_000
# A home's uplink: near content is faster than remote content.
UPLINK = 20
LOOK_SECONDS = 0.02


def measure(lab):
    """Both tests, and the traffic of the routers in one of them."""
    size = lab.size(50)
    kinds = [*(Weir(chunk) for chunk in CHUNKS), Ftp(), Proxies(ROUTERS)]
    for what, amount, uplink in (
        (f"Test 2.1: {size // MEGABYTE} MB to PC1 and PC2", size, None),
        (f"The same, with {UPLINK} Mbit/s at the source", size, UPLINK),
        ("Test 2.2: the video of 6.3 MB, fetched", VIDEO, None),
    ):
        table = Table(
            f"{what}, MTU 1500",
            "",
            "PC1 Mbit/s",
            "PC2 Mbit/s",
            "PC2 faster by",
            "from CS MB",
            "joined: PC1 Mbit/s",
            "PC2 Mbit/s",
            "from CS MB",
            width=24,
        )
        for kind in kinds:
            with attempt(table, kind.label):
                rates, at_source = one_after_the_other(lab, kind, amount, uplink)
                joined, together = overlapping(lab, kind, amount, uplink)
                faster = rates[1] / rates[0]
                table.row(kind.label, *rates, faster, at_source, *joined, together)
        table.note("joined: PC2 begins when PC1 has half of it; MB with all headers")
    closely(lab, size)


def settings(uplink):
    """Settings of the scenario."""
    return (*SETTINGS, f"link.CCNx1-CS.rate={uplink} Mbit/s") if uplink else SETTINGS


def one_after_the_other(lab, kind, size, uplink):
    """Both goodputs, and the traffic of the source's link in MB."""
    with Standing(lab, FORWARDING, settings(uplink)) as network:
        with kind.serving(lab, network, size) as serving:
            before = network.sent()
            seconds = [serving.fetch(node).seconds for node in ("PC1", "PC2")]
            sent = passed(network.sent(), before)
    rates = [size * 8 / one / MEGABIT for one in seconds]
    return rates, sent["CS", "CCNx1"].wire_bytes / MEGABYTE


def overlapping(lab, kind, size, uplink):
    """The same, but PC2 begins when PC1 has half of the file."""
    with Standing(lab, FORWARDING, settings(uplink)) as network:
        with kind.serving(lab, network, size) as serving:
            before = network.sent()
            with (first := serving.begin("PC1")).child:
                wait_for(network, before, size / 2, first)
                with (second := serving.begin("PC2")).child:
                    done = [first.finish(), second.finish()]
            sent = passed(network.sent(), before)
    rates = [size * 8 / one.seconds / MEGABIT for one in done]
    return rates, sent["CS", "CCNx1"].wire_bytes / MEGABYTE


def wait_for(network, before, size, running):
    """Waits until this many bytes have gone to PC1, or it has all, as small files soon have."""
    way = "CCNx3", "PC1"
    end = time.monotonic() + PATIENCE
    while running.child.running and time.monotonic() < end:
        if network.carried(*way) - before[way].wire_bytes >= size:
            return
        time.sleep(LOOK_SECONDS)


def closely(lab, size):
    """The traffic of each interface and the load of each router while PC1 and PC2 fetch."""
    chunk = CHUNKS[1]
    with Standing(lab, FORWARDING, SETTINGS) as network:
        with Weir(chunk).serving(lab, network, size) as serving:
            before = network.sent()
            with Routers([network[name] for name in ROUTERS]) as routers:
                seconds = sum(serving.fetch(node).seconds for node in ("PC1", "PC2"))
            sent = passed(network.sent(), before)
    table = Table(
        f"Test 2.1 by interface: weir, {chunk}, PC1 and then PC2",
        "sent by, to",
        "Interests",
        "  Data",
        "Nacks",
        "NDN kB",
        "frames",
        "wire kB",
        "drops",
        "mean Mbit/s",
        width=16,
    )
    for (here, there), one in sent.items():
        kilobytes = (f"{sent / 1000:.0f}" for sent in (one.bytes, one.wire_bytes))
        ndn, wire = kilobytes
        mean = min(one.wire_bytes * 8 / seconds, RATE) / MEGABIT
        counts = one.interests, one.data, one.nacks, ndn, one.frames, wire, one.drops, mean
        table.row(f"{here}, {there}", *counts)
    over_time(routers, seconds)


def over_time(routers, seconds):
    """Processor and memory by quarters of the time."""
    quarters = [f"{end * seconds / 4:.1f} s" for end in range(1, 5)]
    heads = [f"{what} to {end}" for what in ("CPU %", "MB") for end in quarters]
    table = Table("The routers meanwhile, by quarters of the time", "", *heads, width=8)
    for name in ROUTERS:
        parts = routers.parts(name)
        table.row(name, *(cpu for cpu, _ in parts), *(memory for _, memory in parts))
