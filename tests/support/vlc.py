"""Plays a video in VLC without a display and prints what its viewer sees, as JSON.

    vlc.py URL
    vlc.py - COMMAND...     what the command prints goes to the player's standard input

A program of its own, so that it can run in a namespace where the video is to be had. VLC refuses to
be root, so it is the user `nobody`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.children import die_with_caller  # noqa: E402

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# A change of the user would discard the tie to our life.
AS_NOBODY += ["--pdeathsig", "KILL"]
VLC = ["vlc", "-vv", "--no-color", "--intf", "dummy", "--vout", "dummy", "--aout", "dummy"]
VLC += ["--play-and-exit"]

# Its messages (VLC 3), and their meaning for a viewer, in the words of browsers.
WORDS = {
    "playing": re.compile(r"Decoder wait done"),
    # The read-ahead is used up; it reads ahead again before it continues.
    "waiting": re.compile(r"ES_OUT_SET_\(GROUP_\)PCR +is called too late"),
    "dropped": re.compile(r"picture is too late to be displayed"),
    "ended": re.compile(r"input debug: EOF reached"),
    "error": re.compile(r"unable to open the MRL|cannot (connect|open|start)"),
}


def main(source, *feeder):
    """Play it to its end. Times are seconds from the start of the player, and of the command."""
    began = time.monotonic()
    caller = die_with_caller(os.getpid())
    feed = None
    if feeder:
        feed = subprocess.Popen(feeder, stdout=subprocess.PIPE, preexec_fn=caller)
    with tempfile.TemporaryDirectory(prefix="vlc-") as home:
        os.chown(home, NOBODY, NOBODY)
        player = subprocess.Popen(
            [*AS_NOBODY, "env", f"HOME={home}", f"XDG_RUNTIME_DIR={home}", *VLC, source],
            stdin=feed.stdout if feed else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=caller,
        )
        if feed:
            feed.stdout.close()
        events = list(watch(player.stderr, began))
        player.wait()
    dropped = sum(name == "dropped" for _, name in events)
    events = [event for event in events if event[1] != "dropped"]
    print(json.dumps({"events": events, "error": None, "dropped": dropped}))
    return player.returncode or (feed.wait() if feed else 0)


def watch(said, began):
    """The messages that a viewer would notice, with times."""
    has_begun = False
    for line in said:
        at, text = time.monotonic() - began, line.decode("utf-8", "replace")
        for name, pattern in WORDS.items():
            if pattern.search(text):
                has_begun |= name == "playing"
                # The list of what to play has an end, too, before the video begins.
                if has_begun or name == "error":
                    yield at, name


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
