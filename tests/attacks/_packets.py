"""Packets that attackers send and read, beyond those of `support.ndn`: Data, Nacks, typed names."""

import hashlib
import struct

from support.ndn import tlv

INTEREST, DATA, NAME, LINK, FRAGMENT, NACK = 5, 6, 7, 0x64, 0x50, 0x320
KEYWORD, SEGMENT, VERSION = 32, 50, 54
DIGEST_SHA256 = tlv(0x16, tlv(0x1B, b"\0"))
MANIFEST_TYPE = 4


def nni(number):
    """A NonNegativeInteger in its shortest form."""
    for size, form in ((1, ">B"), (2, ">H"), (4, ">I")):
        if number < 1 << (8 * size):
            return struct.pack(form, number)
    return struct.pack(">Q", number)


def uri(text):
    """The components of a name such as /a/32=manifest/v=1/seg=2, encoded, without their head."""
    typed = {"seg": SEGMENT, "v": VERSION}
    encoded = b""
    for word in text.strip("/").split("/"):
        kind, equals, value = word.partition("=")
        if equals and kind in typed:
            encoded += tlv(typed[kind], nni(int(value)))
        elif equals:
            encoded += tlv(int(kind), value.encode())
        elif word:
            encoded += tlv(8, word.encode())
    return encoded


def interest(components, nonce=1, lifetime_ms=4000, flags=b"", options=b""):
    """An Interest for the encoded components; `flags` follow the name, options are the link's."""
    fields = flags + tlv(0x0A, struct.pack(">I", nonce)) + tlv(0x0C, nni(lifetime_ms))
    packet = tlv(INTEREST, tlv(NAME, components) + fields)
    return tlv(LINK, options + tlv(FRAGMENT, packet)) if options else packet


ANY_FRESH = tlv(0x21, b"") + tlv(0x12, b"")


def data(components, content=b"", fresh_ms=None, content_type=None, last=None, signature=None):
    """A Data packet signed by digest, or with a SignatureInfo and a value that are given."""
    meta = b""
    if content_type is not None:
        meta += tlv(0x18, nni(content_type))
    if fresh_ms is not None:
        meta += tlv(0x19, nni(fresh_ms))
    if last is not None:
        meta += tlv(0x1A, last)
    info, sign = signature or (DIGEST_SHA256, lambda signed: hashlib.sha256(signed).digest())
    signed = tlv(NAME, components) + tlv(0x14, meta) + tlv(0x15, content) + info
    return tlv(DATA, signed + tlv(0x17, sign(signed)))


def nack(packet, reason):
    """The Nack of an Interest."""
    return tlv(LINK, tlv(NACK, tlv(0x321, nni(reason))) + tlv(FRAGMENT, packet))


def head(wire, at):
    """The number at a place and the place behind it; IndexError where it is cut off."""
    first = wire[at]
    size = {253: 2, 254: 4, 255: 8}.get(first, 0)
    if at + 1 + size > len(wire):
        raise IndexError
    return (int.from_bytes(wire[at + 1 : at + 1 + size], "big") if size else first), at + 1 + size


def elements(wire):
    """Type, value and whole encoding of each element; ends before one that is cut off."""
    at = 0
    while at < len(wire):
        try:
            number, behind = head(wire, at)
            length, begin = head(wire, behind)
        except IndexError:
            return
        if begin + length > len(wire):
            return
        yield number, wire[begin : begin + length], wire[at : begin + length]
        at = begin + length


def inner(frame):
    """The network packet in a frame: type and whole encoding. None in an idle or a part."""
    for number, value, whole in elements(frame):
        if number in (INTEREST, DATA):
            return number, whole
        if number == LINK:
            for field, packet, _ in elements(value):
                if field == FRAGMENT:
                    return inner(packet)
    return None


def name_of(packet):
    """The encoded components of a packet's name."""
    for _, value, _ in elements(packet):
        for number, components, _ in elements(value):
            if number == NAME:
                return components
    return b""
