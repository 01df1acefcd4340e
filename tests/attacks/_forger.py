"""A producer that forges: it answers whatever it is asked for, and signs by a digest.

    _forger.py PORT static|fresh

It listens for UDP datagrams. Metadata announce version 2^63. With `static` the same question always
brings the same answer, with `fresh` each answer is another packet. An Interest with a digest
stays unanswered: a digest cannot be forged.
"""

import hashlib
import itertools
import socket
import struct
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from support.ndn import tlv  # noqa: E402

INTEREST, DATA, NAME, LINK, FRAGMENT = 5, 6, 7, 0x64, 0x50
DIGEST, KEYWORD, SEGMENT, VERSION = 1, 32, 50, 54
HUGE = 1 << 63
HOUR_MS = 3_600_000


def number(wire):
    """A number as NDN writes types and lengths, and how many bytes it takes."""
    size = {253: 2, 254: 4, 255: 8}.get(wire[0], 0)
    return (int.from_bytes(wire[1 : 1 + size], "big") if size else wire[0]), 1 + size


def elements(wire):
    """Type and value of each element."""
    while wire:
        kind, size = number(wire)
        wire = wire[size:]
        length, size = number(wire)
        yield kind, wire[size : size + length]
        wire = wire[size + length :]


def asked(frame):
    """The components of an Interest's name, each with its type; None in any other frame."""
    for kind, value in elements(frame):
        if kind == LINK:
            inner = [packet for field, packet in elements(value) if field == FRAGMENT]
            return asked(inner[0]) if inner else None
        if kind == INTEREST:
            names = (name for what, name in elements(value) if what == NAME)
            return next((list(elements(name)) for name in names), None)
    return None


def encoded(components):
    """A name."""
    return tlv(NAME, b"".join(tlv(kind, value) for kind, value in components))


def data(components, content):
    """A Data packet, fresh for an hour, signed by its digest."""
    meta = tlv(0x14, tlv(0x19, struct.pack(">I", HOUR_MS)))
    signed = encoded(components) + meta + tlv(0x15, content) + tlv(0x16, tlv(0x1B, b"\0"))
    return tlv(DATA, signed + tlv(0x17, hashlib.sha256(signed).digest()))


def forge(components, salt):
    """The answer to an Interest of that name; None if there is none."""
    kinds = [kind for kind, _ in components]
    if DIGEST in kinds or (8, b"KEY") in components:
        return None
    version = (VERSION, struct.pack(">Q", HUGE))
    if components[-1] == (KEYWORD, b"metadata"):
        content = encoded([*components[:-1], version]) + tlv(0xF502, salt)
        return data([*components, version, (SEGMENT, b"\0")], content)
    if (KEYWORD, b"head-segment") in components:
        return data([*components, version], b"forged" + salt)
    if SEGMENT not in kinds and KEYWORD not in kinds:
        # A bare name, with a version or without.
        version = [] if VERSION in kinds else [version]
        return data([*components, *version, (SEGMENT, b"\0")], b"forged" + salt)
    return data(components, b"forged" + salt)


def main(port, kind):
    """Answer until killed."""
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind(("0.0.0.0", int(port)))
    print("ready", flush=True)
    for count in itertools.count():
        frame, peer = here.recvfrom(65536)
        components = asked(frame)
        salt = struct.pack(">Q", count if kind == "fresh" else 0)
        if components and (packet := forge(components, salt)):
            here.sendto(packet, peer)


if __name__ == "__main__":
    main(*sys.argv[1:])
