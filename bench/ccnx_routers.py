"""Routers in two sizes: the default, and a home router, whose memory the report's routers
exhausted."""

from ccnx_cache import ROUTERS
from ccnx_programs import CHUNKS, FORWARDING, SETTINGS, Ftp, Proxies, Weir
from experiment import MEGABIT, MEGABYTE, attempt
from standing import Routers, Standing
from table import Table

# 32 MB for everything, and one slow core.
HOME = "testbed/home-routers"
CPUS = ("100 %", "10 %", "5 %")


def measure(lab):
    """Files that are larger than the routers' memory."""
    table = Table(
        "Routers in two sizes: the file to PC1 and then PC2, MTU 1500",
        "",
        "PC1 Mbit/s",
        "PC2 Mbit/s",
        "most MB of a router",
        "CPU s of a router",
        width=44,
    )
    small, large = lab.size(50), lab.size(200)
    kinds = [*(Weir(chunk) for chunk in CHUNKS[::2]), Proxies(ROUTERS, megabytes=16), Ftp()]
    for kind in kinds:
        label = f"{small // MEGABYTE} MB, {kind.label}, unlimited"
        row(lab, table, label, kind, small, (FORWARDING, SETTINGS))
    for cpu in CPUS:
        for kind in kinds[:-1]:
            label = f"{small // MEGABYTE} MB, {kind.label}, 32 MB, {cpu}"
            row(lab, table, label, kind, small, home(cpu))
    # Four times as much through the same memory.
    label = f"{large // MEGABYTE} MB, {kinds[1].label}, 32 MB, {CPUS[1]}"
    row(lab, table, label, kinds[1], large, home(CPUS[1]))
    table.note("nginx: its memory is not limited and not shown; its cache is to have 16 MB")


def home(cpu):
    """The home routers, with a share of a processor other than the scenario's."""
    return HOME, [f"node.{name}.cpu={cpu}" for name in ROUTERS]


def row(lab, table, label, kind, size, place):
    """One transfer to each."""
    with attempt(table, label):
        with Standing(lab, *place) as network:
            with kind.serving(lab, network, size) as serving:
                with Routers([network[name] for name in ROUTERS]) as routers:
                    seconds = [serving.fetch(node).seconds for node in ("PC1", "PC2")]
        rates = [size * 8 / one / MEGABIT for one in seconds]
        taken = (routers.most() / MEGABYTE, routers.cpu_seconds()) if kind.is_ndn else (None, None)
        table.row(label, *rates, *taken)
