"""Players of a video, and what a viewer sees: when it begins, how often it stands still."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from .children import Child, Failed, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# The programs and Python packages that all of this needs, as scripts/need knows them.
NEEDS = ["ffmpeg", "vlc", "chromium", "tests/browser/requirements.txt"]
VLC_INPUT, VLC_HTTP, CHROMIUM = "VLC, standard input", "VLC, HTTP", "Chromium, HTTP"

# A pattern that moves, with noise that takes all of the rate that it is given.
PICTURES = "testsrc2=size=640x360:rate=25,noise=alls=40:allf=t"
# A format that every browser plays, one key picture a second. (Over HTTP, VLC shows MP4 files only
# after all of them has arrived, from any server.)
CODING = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1"]
CODING += ["-pix_fmt", "yuv420p", "-g", "25"]


def film(path, seconds, megabits=6.07):
    """Make a video of about `megabits` megabits a second, and return its path."""
    rate = [f"{megabits}M"]
    bound = ["-b:v", *rate, "-minrate", *rate, "-maxrate", *rate]
    argv = ["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", PICTURES]
    run([*argv, "-t", seconds, *CODING, *bound, path])
    return path


@dataclass
class Seen:
    """A viewer's observations."""

    # Seconds until pictures moved; None if they never did.
    start: float
    # How often they stood still before the end for want of bytes, and for how many seconds in all.
    stalls: int
    stalled: float
    # Pictures that came too late to be shown.
    dropped: int
    # It was played to its end.
    ended: bool


def seen(said):
    """The same from a player's events."""
    start, since, ended, waits = None, None, False, []
    for at, name in said["events"]:
        if name == "playing":
            if start is None:
                start = at
            elif since is not None:
                waits.append(at - since)
            since = None
        elif name == "waiting" and start is not None and since is None:
            since = at
        elif name == "ended":
            ended = True
            if since is not None:
                waits.append(at - since)
                since = None
    return Seen(start, len(waits), sum(waits), said["dropped"], ended and not said["error"])


class Playing:
    """A player that plays at a node: what it reads comes from the node's own forwarder.

    Chromium can be told to seek to a second of the film as soon as it knows what the film is.
    """

    def __init__(self, kind, node, name, folder, patience, start=0):
        self._out = Path(folder) / f"{node.name}-played.json"
        self._out.unlink(missing_ok=True)
        self._patience = patience
        address = f"http://127.0.0.1:8080{name}"
        python = [sys.executable]
        if kind == CHROMIUM:
            python = [ROOT / ".venv/bin/python"]
            words = ["chromium.py", address, patience, start]
        elif kind == VLC_HTTP:
            words = ["vlc.py", address]
        else:
            words = ["vlc.py", "-", node.weir, "get", name, "-o", "-", "--socket", node.socket]
        argv = node.command(*python, HERE / words[0], *words[1:])
        self.child = Child(argv, Path(folder) / f"{node.name}-played.log", self._out)

    def finish(self):
        """Wait for its end, and return what was seen."""
        if self.child.wait(self._patience + 30) != 0:
            words = self.child.last_words()
            raise Failed(f"{self.child.name}: status {self.child.status}\n{words}")
        return seen(json.loads(self._out.read_text(encoding="utf-8")))
