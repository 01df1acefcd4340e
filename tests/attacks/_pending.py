"""Sends Interests that nothing answers, at a steady rate, from many ports or over one connection.

    _pending.py HOW PORT FACES COUNT RATE LIFETIME_MS PREFIXES

HOW is `udp` or `tcp`. COUNT Interests leave over FACES sockets, RATE of them a second, with names
under /void, or with a first component of their own each if PREFIXES is `many`. The first third
of them leaves by one socket. Says `ready` before
it sends and `sent` behind it, and holds the sockets open until it is ended.
"""

import contextlib
import signal
import socket
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from support import ndn  # noqa: E402

# Interests go in bursts of this number, which is small beside the buffer of a socket.
BURST = 100


def connect(how, port):
    """One more peer."""
    kind = {"udp": socket.SOCK_DGRAM, "tcp": socket.SOCK_STREAM}[how]
    peer = socket.socket(socket.AF_INET, kind)
    peer.connect(("127.0.0.1", port))
    return peer


def interest(number, lifetime_ms, prefixes):
    """One that differs from all others."""
    words = (number, "x") if prefixes == "many" else ("void", number)
    return ndn.interest(*words, nonce=number, lifetime_ms=lifetime_ms)


def send(peer, how, packets):
    """Send a burst; a datagram that finds no room is lost, as on any network."""
    if how == "tcp":
        peer.sendall(b"".join(packets))
        return
    for packet in packets:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            peer.send(packet)


def main(how, port, faces, count, rate, lifetime_ms, prefixes):
    """Do it."""
    peers = [connect(how, int(port)) for _ in range(int(faces))]
    packets = [interest(number, int(lifetime_ms), prefixes) for number in range(int(count))]
    print("ready", flush=True)
    begun = time.monotonic()
    for turn, at in enumerate(range(0, len(packets), BURST)):
        # The first one takes what is for whichever peer comes first, then each its share.
        peer = peers[0 if at < len(packets) // 3 else turn % len(peers)]
        ahead = at / int(rate) - (time.monotonic() - begun)
        if ahead > 0:
            time.sleep(ahead)
        send(peer, how, packets[at : at + BURST])
    print("sent", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
