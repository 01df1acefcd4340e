"""A video behind three routers, in players: when it begins, how often it stands still.

Test 2.2 of the CCNx testbed's report with real players: two of them play one film, one after the
other or overlapping, so that the second is served from the cache of the first one's router.
"""

import time

from experiment import MEGABYTE, attempt
from support import players
from support.playback import NAME, PLAYERS, Playback
from table import Table

WIRELESS = "20 Mbit/s"
# Less than the film needs: checks that stalls are detected.
SLOW = "4 Mbit/s"
KINDS = (players.VLC_INPUT, players.VLC_HTTP, players.CHROMIUM)
PATIENCE = 60


def measure(lab):
    """Each player in turn, and at the end alone on a slow link."""
    seconds = 4 if lab.quick else 8
    film = players.film(lab.folder / "film.webm", seconds)
    table = Table(
        f"A video of {seconds} s, {film.stat().st_size / MEGABYTE:.1f} MB, behind three routers; "
        f"{WIRELESS} to each player",
        "player, when the second begins",
        "first begins s",
        "stalls",
        "still s",
        "second begins s",
        "stalls",
        "still s",
        "late pictures",
        "crossed routers",
        width=40,
    )
    for kind in KINDS:
        for when, later in (
            (f"{seconds * 5 // 8} s later", seconds * 5 / 8),
            ("in sequence", None),
        ):
            label = f"{kind}, {when}"
            with attempt(table, label):
                table.row(label, *both(lab, kind, film, later))
    for kind in KINDS:
        label = f"{kind}, alone at {SLOW}"
        with attempt(table, label):
            with Playback(lab.weir, lab.folder, film, wireless=SLOW) as network:
                seen = play(lab, kind, network, PLAYERS[0]).finish()
                row = (seen.start, seen.stalls, seen.stalled, "-", "-", "-", seen.dropped)
                table.row(label, *row, network.copies())
    table.note("begins: from the start of VLC, or from the page's asking, to moving pictures")
    table.note("crossed routers: bytes that the routers brought, in copies of the film")


def both(lab, kind, film, later):
    """Two players: the second begins this much later, or after the first has ended."""
    with Playback(lab.weir, lab.folder, film) as network:
        first = play(lab, kind, network, PLAYERS[0])
        with first.child:
            if later is None:
                first.child.wait(PATIENCE)
            else:
                time.sleep(later)
            second = play(lab, kind, network, PLAYERS[1])
            with second.child:
                one, other = first.finish(), second.finish()
        copies = network.copies()
    seen = (one.start, one.stalls, one.stalled, other.start, other.stalls, other.stalled)
    return (*seen, one.dropped + other.dropped, copies)


def play(lab, kind, network, player):
    """Begin to play at a node."""
    return players.Playing(kind, network[player], NAME, lab.folder, PATIENCE)
