"""Producers that answer an Interest as no honest one does: each gives the packets to send back.

The forging one serves /forged/CASE/v=1, an object of three segments in a manifest of two levels, as
`docs/reference/wire.md` has it, but for what the case says.
"""

import hashlib

import _packets
from support.ndn import tlv

# As many bytes of content as fit one datagram over a cable's MTU.
ROOM = 1200
# Frames of larger Data are left to IP's fragments.
LARGE = 7000
MANIFEST = tlv(_packets.KEYWORD, b"manifest")
METADATA = tlv(_packets.KEYWORD, b"metadata")


def junk(asked, _about):
    """Whatever is asked for, exactly and large."""
    yield _packets.data(_packets.name_of(asked), bytes(LARGE), fresh_ms=3_600_000)


def garbage(asked, _about):
    """Data of that name that is none: no object, another object's, one without a signature."""
    name = _packets.name_of(asked)
    yield _packets.data(name, b"\xff" * ROOM, fresh_ms=3_600_000, last=_packets.uri("/seg=0"))
    yield _packets.data(name + _packets.uri("/v=99999999999999/seg=0"), b"x", fresh_ms=3_600_000)
    yield tlv(_packets.DATA, tlv(_packets.NAME, name) + tlv(0x15, b"unsigned"))


def rejecting(asked, _about):
    """A Nack for everything."""
    yield _packets.nack(asked, 150)


def mute(_asked, _about):
    """Nothing."""
    return ()


# Three segments, two of which a leaf lists.
COUNT, FANOUT = 3, 2
# The greatest number of segments that there may be, and one that there may not.
MOST, BEYOND = 1 << 48, 1 << 63


def forging(asked, _about):
    """An object whose manifest is forged; the case is in its name."""
    name = _packets.name_of(asked)
    words = [value.decode("utf-8", "replace") for _, value, _ in _packets.elements(name)]
    if len(words) < 2 or words[1] not in CASES:
        return
    if packet := Forged(words[1]).packet(name):
        yield packet


class Forged:
    """One forged object."""

    def __init__(self, case):
        self.case = {"count": COUNT, "fanout": FANOUT, "level": 1, "first": 0, **CASES[case]}
        self.name = _packets.uri(f"/forged/{case}")
        self.object = self.name + _packets.uri("/v=1")
        self.segments = [self.segment(number) for number in range(COUNT)]
        listed = [hashlib.sha256(packet).digest() for packet in self.segments]
        if "lies" in self.case:
            listed = [hashlib.sha256(digest).digest() for digest in listed]
        leaves = [self.node(0, 0, 0, listed[:2]), self.node(1, 0, 2, listed[2:])]
        digests = [hashlib.sha256(leaf).digest() for leaf in leaves]
        self.nodes = [*leaves, self.root(digests)]

    def segment(self, number):
        """One of the segments."""
        name = self.object + _packets.uri(f"/seg={number}")
        return _packets.data(name, b"segment", 3_600_000, last=_packets.uri(f"/seg={COUNT - 1}"))

    def node_name(self, number):
        """The name of a manifest node."""
        return self.object + MANIFEST + _packets.uri(f"/seg={number}")

    def node(self, number, level, first, digests, begin=b"", last=None):
        """A node's packet."""
        fields = tlv(0xF607, _packets.nni(level)) + tlv(0xF609, _packets.nni(first))
        listed = b"".join(digests) + self.case.get("more", b"")
        listed = listed[: len(listed) - self.case.get("less", 0)]
        content = self.case.get("content", begin + fields + tlv(0xF60B, listed))
        kind = self.case.get("type", _packets.MANIFEST_TYPE)
        return _packets.data(self.node_name(number), content, 3_600_000, kind, last)

    def root(self, digests):
        """The root's packet."""
        number = root_number(self.case["count"], self.case["fanout"])
        begin = tlv(0xF603, _packets.nni(self.case["count"]))
        begin += tlv(0xF605, _packets.nni(self.case["fanout"]))
        last = _packets.uri(f"/seg={number}")
        return self.node(number, self.case["level"], self.case["first"], digests, begin, last)

    def metadata(self, name):
        """The packet that announces the object and its manifest."""
        digest = hashlib.sha256(self.nodes[-1]).digest()
        announced = tlv(0xF603, _packets.nni(self.case["count"]))
        announced += tlv(0xF605, _packets.nni(self.case["fanout"]))
        announced += tlv(0xF60D, self.case.get("announced", digest))
        content = tlv(_packets.NAME, self.object)
        if size := self.case.get("size"):
            content += tlv(0xF500, _packets.nni(7)) + tlv(0xF502, _packets.nni(size))
        content += tlv(0xF600, announced)
        return _packets.data(name + _packets.uri("/v=1/seg=0"), content, 4000)

    def packet(self, name):
        """The answer to an Interest for the name; None if there is none."""
        if name.startswith(self.name + METADATA):
            return self.metadata(self.name + METADATA)
        if name.startswith(self.object + MANIFEST):
            kept = (
                packet for packet in self.nodes if _packets.name_of(packet) == name[: _end(name)]
            )
            # A node that there is not: what lists other nodes than those of its number.
            missing = _packets.data(name[: _end(name)], b"", 1000, _packets.MANIFEST_TYPE)
            return next(kept, missing)
        for packet in self.segments:
            if _packets.name_of(packet) == name[: _end(name)]:
                return packet
        return None


def _end(name):
    """Where a name's implicit digest begins, or its end."""
    return len(name) - 34 if name[-34:-32] == b"\x01\x20" else len(name)


def root_number(count, fanout):
    """The number of the root of a manifest; 0 where there is none."""
    total, level = 0, count
    if not 2 <= fanout <= 256 or not 1 <= count <= MOST:
        return 0
    while True:
        level = -(-level // fanout)
        total += level
        if level == 1:
            return total - 1


CASES = {
    "digests-of-other-segments": {"lies": True},
    "most-segments": {"count": MOST, "fanout": 256, "level": 5},
    "too-many-segments": {"count": BEYOND},
    "no-segments": {"count": 0},
    "fan-out-of-one": {"fanout": 1},
    "endless-fan-out": {"fanout": 1 << 40},
    "wrong-level": {"level": 7},
    "endless-level": {"level": BEYOND},
    "wrong-first": {"first": 1},
    "too-few-digests": {"less": 32},
    "too-many-digests": {"more": bytes(3200)},
    "broken-digest": {"less": 1},
    "root-without-content": {"content": b""},
    "root-of-another-type": {"type": 0},
    "another-root-announced": {"announced": bytes(32), "lies": True},
    "endless-size": {"size": 1 << 60, "lies": True},
}
