"""Test 2.3: a short path and a long one, alone and together, in both orders of the table."""

from ccnx_programs import CHUNKS, PATHS, SETTINGS, Ftp, Weir
from experiment import MEGABIT, MEGABYTE, attempt
from standing import Standing, passed
from table import Table

CASES = (
    ("short", 1, 1),
    ("long", 1, 100),
    ("both, short first", 2, 1),
    ("both, long first", 2, 100),
)


def measure(lab):
    """All cases, and FTP by the short path."""
    size = lab.size(50)
    table = Table(
        f"Test 2.3: {size // MEGABYTE} MB to PC1 and then PC2, strategy ccnd, MTU 1500",
        "",
        "PC1 Mbit/s",
        "PC2 Mbit/s",
        "Interests short",
        "long",
        "Data short",
        "long",
        "asked of CS",
        width=28,
    )
    for chunk in CHUNKS:
        for label, paths, metric in CASES:
            with attempt(table, label):
                about = (f"scenario.paths={paths}", f"link.CCNx1-CCNx2.metric={metric}")
                rates, sent = transfers(lab, Weir(chunk), size, about)
                counts = (
                    sent["CCNx1", "CCNx2"].interests,
                    sent["CCNx1", "CCNx3"].interests,
                    sent["CCNx2", "CCNx1"].data,
                    sent["CCNx3", "CCNx1"].data,
                    sent["CCNx2", "CS"].interests,
                )
                table.row(f"weir, {chunk}, {label}", *rates, *counts)
    with attempt(table, Ftp.label):
        rates, _ = transfers(lab, Ftp(), size, ())
        table.row(Ftp.label, *rates, *(None for _ in range(5)))


def transfers(lab, program, size, about):
    """Both goodputs, and the traffic of all ends of links."""
    with Standing(lab, PATHS, (*SETTINGS, *about)) as network:
        with program.serving(lab, network, size) as serving:
            before = network.sent()
            seconds = [serving.fetch(node).seconds for node in ("PC1", "PC2")]
            sent = passed(network.sent(), before)
    return [size * 8 / one / MEGABIT for one in seconds], sent
