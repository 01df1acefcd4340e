"""Unknown peers and broken programs attack a daemon on this host, all at once.

    misbehave.py SOCKET PORT NAME

Asks for NAME and never reads the answers, begins packets and never ends them, asks under /void for
what never comes; says `sent` and holds everything open until it is ended.
"""

import contextlib
import signal
import socket
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from support import ndn  # noqa: E402

PEERS = 200
READERS = 60
ASKED = 400
BEGUN = 64
# Two minutes, the longest that a daemon honours.
VOID = 60_000
VOID_MS = 120_000


def peer_socket(port):
    """One more peer over UDP."""
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.connect(("127.0.0.1", port))
    return peer


def reader(path):
    """One more application."""
    application = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    application.connect(path)
    application.setblocking(False)
    return application


def send(to, data):
    """Send, or let it be where the other end takes no more."""
    with contextlib.suppress(BlockingIOError, ConnectionError):
        to.send(data)


def main(path, port, name):
    """Do it all, in rounds, so that all of it is there at once."""
    peers = [peer_socket(int(port)) for _ in range(PEERS)]
    readers = [reader(path) for _ in range(READERS)]
    words = name.strip("/").split("/")
    for number in range(ASKED):
        for application in readers:
            send(application, ndn.interest(*words, nonce=number, lifetime_ms=1000))
    for number in range(BEGUN):
        for peer in peers:
            send(peer, ndn.fragment(number * 10, 0, 10, bytes([5]) * 1200))
    for number in range(VOID):
        peer = peers[number % PEERS]
        send(peer, ndn.interest("void", number, nonce=number, lifetime_ms=VOID_MS))
    print("sent", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
