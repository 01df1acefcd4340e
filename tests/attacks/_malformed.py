"""Packets that follow no format, or follow it to its bounds: made from seeds, without end."""

import struct

import _packets
from support.ndn import fragment, tlv

LARGEST = 8800
SEGMENTS_IN_BLOCK = 256
WORDS = 1 << 64
# 2^64 over the golden ratio, which spreads numbers that no attacker can choose.
GOLDEN = 0x9E3779B97F4A7C15
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3

# Both bits, in a frame of its own.
CAPABILITY = tlv(0x64, tlv(0x388, b"\3"))


def templates():
    """Valid packets of every kind."""
    name = _packets.uri("/victim/x/v=1/seg=3")
    ranged = _packets.interest(name, options=tlv(0x360, b"\x08\xff"))
    asked = _packets.interest(name, flags=_packets.ANY_FRESH)
    plain = _packets.data(name, b"content", fresh_ms=1000, last=_packets.uri("/seg=9"))
    fields = tlv(0x62, b"\1\2\3\4") + tlv(0x340, b"\1") + tlv(0x348, bytes(8))
    linked = tlv(0x64, fields + tlv(0x50, asked))
    acked = tlv(0x64, tlv(0x344, bytes(8)) * 3 + tlv(0x50, plain))
    return [ranged, asked, plain, linked, acked, CAPABILITY, _packets.nack(asked, 50)]


def mutated(dice):
    """A valid packet with some bytes changed, doubled or missing."""
    packet = bytearray(dice.choice(templates()))
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(packet))
        how = dice.randrange(3)
        if how == 0:
            packet[at] = dice.randrange(256)
        elif how == 1:
            packet[at:at] = dice.randbytes(dice.randint(1, 9))
        elif len(packet) > 2:
            del packet[at]
    return bytes(packet)


def truncated(dice):
    """A valid packet without its end."""
    packet = dice.choice(templates())
    return packet[: dice.randrange(1, len(packet))]


def noise(dice):
    """Bytes, some of them behind the beginning of a packet."""
    begin = dice.choice([b"", b"\x05", b"\x06", b"\x64", b"\x64\xfd\x05\x00"])
    return begin + dice.randbytes(dice.randint(1, 1400))


def huge(dice):
    """An element that says it is larger than memory, on each level."""
    length = dice.choice([b"\xfd\xff\xff", b"\xfe\x7f\xff\xff\xff", b"\xff" + b"\xff" * 8])
    lie = dice.choice([b"\x05", b"\x06", b"\x64", b"\x07", b"\x50"]) + length
    outer = dice.choice([b"", b"\x64", b"\x05", b"\x06"])
    return (outer + bytes([len(lie) + 20]) if outer else b"") + lie + dice.randbytes(20)


def nested(dice):
    """Elements within elements, hundreds deep."""
    inside = b""
    for _ in range(dice.randint(50, 400)):
        inside = tlv(dice.choice([0x50, 0x64, 5, 6, 7, 0x1E]), inside)
    return tlv(dice.choice([0x64, 5, 6]), inside)


FORMS = {form.__name__: form for form in (mutated, truncated, noise, huge, nested)}


def packets(dice, forms):
    """Malformed packets of these forms in turn."""
    while True:
        for form in forms:
            yield FORMS[form](dice)


def lonely_fragment(number, ports):
    """The first part of a packet whose other parts never come; each port has its sequences."""
    sequence = number // ports * 10
    return fragment(sequence, 0, 10, b"\x05" + bytes(1000))


def contradicting_fragment(dice):
    """A part of one of few packets: of other counts, behind the last, with other contents."""
    index = dice.choice([0, 1, 2, 9, 100, 65_535])
    count = dice.choice([0, 1, 2, 3, 10, 400, 65_535])
    sequence = dice.choice([0, 1, 2, 3, (1 << 64) - 1, (1 << 63)])
    return fragment(sequence, index, count, dice.randbytes(dice.randint(0, 1200)))


def colliding_blocks(prefix):
    """Ranges in blocks of segments whose numbers a multiplicative hash puts into one place.

    For block b the odd number GOLDEN (2 b + 1) modulo 2^64 has the same upper half for all of
    them. A segment's number has 64 bits, so that b has 56.
    """
    inverse = pow(GOLDEN, -1, WORDS)
    object_name = _packets.uri(prefix)
    number, high = 0, 0x12345678 << 32
    while True:
        twice = inverse * (high | 2 * number + 1) % WORDS
        number += 1
        if twice >> 57 == 0:
            segment = (twice >> 1) * SEGMENTS_IN_BLOCK
            name = object_name + tlv(_packets.SEGMENT, _packets.nni(segment))
            yield _packets.interest(name, number % (1 << 32), 60_000, options=tlv(0x360, b"\x02"))


def fnv(wire, value):
    """The lower 12 bits of FNV-1a, a hash without a key that many tables use."""
    for byte in wire:
        value = (value ^ byte) * FNV_PRIME & 0xFFF
    return value


def colliding_names(prefix):
    """Names of which FNV-1a has the same lower 12 bits: one bucket of a table of 4,096."""
    begin = _packets.uri(prefix)
    state, number = fnv(begin, FNV_OFFSET & 0xFFF), 0
    while True:
        word = tlv(8, struct.pack(">I", number))
        number += 1
        before = fnv(word[:-1], state)
        # The last byte is chosen so that the product is 0, where eight bits suffice for it.
        if before < 256:
            yield _packets.interest(begin + word[:-1] + bytes([before]), number, 60_000)
        else:
            # All others with this beginning have the same state before the last byte.
            number |= 0xFF


COLLIDING = {"blocks": colliding_blocks, "names": colliding_names}


def largest(number, prefix):
    """An Interest of 8,800 bytes: empty components, one long one, or a long option."""
    begin = _packets.uri(prefix) + tlv(8, struct.pack(">I", number))
    room = LARGEST - 100 - len(begin)
    form = number % 3
    if form == 0:
        return _packets.interest(begin + b"\x08\x00" * (room // 2), number)
    if form == 1:
        return _packets.interest(begin + tlv(8, bytes(room)), number)
    # PathLabel, Anticipated, SteeringHint and one that is not known, as large as they get.
    option = (0x370, 0x378, 0x374, 0x3AC)[number // 3 % 4]
    return _packets.interest(begin, number, options=tlv(option, bytes([1]) * room))
