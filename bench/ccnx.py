"""The CCNx testbed's tests on real daemons, beside FTP and a chain of caching HTTP proxies.

docs/explanation/ccnx-testbed.md says what the report measured, and what comes of it here.
"""

import ccnx_cache
import ccnx_paths
import ccnx_routers
from ccnx_programs import CHUNKS, RATE, SETTINGS, TRANSFER, Weir, programs
from experiment import MEGABIT, attempt
from standing import Standing, passed
from table import Table

# The report's Ethernet, and frames that hold a whole chunk of 8192 bytes.
MTUS = (1500, 9216)


def measure(lab):
    """All tests."""
    for mtu in MTUS:
        one_link(lab, mtu)
    small_files(lab)
    ccnx_cache.measure(lab)
    ccnx_paths.measure(lab)
    ccnx_routers.measure(lab)


def one_link(lab, mtu):
    """Test 1: a file over one link, by chunk size."""
    size = lab.size(50)
    table = Table(
        f"Test 1: {size // 1_000_000} MB over one link of 100 Mbit/s, MTU {mtu}; "
        "overhead in % of the content",
        "",
        "Mbit/s",
        "link filled %",
        "NDN overhead",
        "wire overhead",
        "back NDN",
        "back wire",
        "frames",
        "drops",
    )
    for program in (*programs(CHUNKS), Weir(CHUNKS[-1], at_once=8)):
        with attempt(table, program.label):
            seconds, there, back = over_one_link(lab, program, size, mtu)
            ndn, wire, *backs = (
                100 * (carried - content) / size if carried else None
                for carried, content in (
                    (there.bytes if program.is_ndn else 0, size),
                    (there.wire_bytes, size),
                    (back.bytes if program.is_ndn else 0, 0),
                    (back.wire_bytes, 0),
                )
            )
            filled = there.wire_bytes * 8 / seconds / RATE * 100
            rate = size * 8 / seconds / MEGABIT
            frames = there.frames + back.frames
            table.row(program.label, rate, filled, ndn, wire, *backs, frames, there.drops)
    table.note("NDN: packets and their link headers; wire: with Ethernet, IP and UDP or TCP")


def over_one_link(lab, program, size, mtu=1500):
    """The seconds of one transfer, and the traffic of both ends of the link."""
    with Standing(lab, TRANSFER, SETTINGS, mtu) as network:
        with program.serving(lab, network, size) as serving:
            before = network.sent()
            seconds = serving.fetch("PC1").seconds
            sent = passed(network.sent(), before)
    return seconds, sent["CS", "PC1"], sent["PC1", "CS"]


def small_files(lab):
    """Test 1 with the report's smaller files, of which start-up is a part."""
    table = Table(
        "Test 1: smaller files over the same link, MTU 1500: seconds", "", "500 kB", "5 MB"
    )
    for program in programs(CHUNKS):
        with attempt(table, program.label):
            times = [over_one_link(lab, program, size)[0] for size in (500_000, 5_000_000)]
            table.row(program.label, *times)
