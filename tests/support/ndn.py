"""As much of NDN's packet format as a test needs that misbehaves on purpose."""

import struct


def tlv(number, value):
    """One element."""
    return var(number) + var(len(value)) + value


def var(number):
    """A number as NDN writes types and lengths."""
    if number < 253:
        return bytes([number])
    return b"\xfd" + struct.pack(">H", number)


def name(*components):
    """A name of generic components."""
    return tlv(7, b"".join(tlv(8, str(word).encode()) for word in components))


def interest(*components, nonce=1, lifetime_ms=4000):
    """An Interest for exactly this name."""
    fields = tlv(0x0A, struct.pack(">I", nonce)) + tlv(0x0C, struct.pack(">I", lifetime_ms))
    return tlv(5, name(*components) + fields)


def fragment(sequence, index, count, payload):
    """An NDNLPv2 frame with a part of a packet."""
    numbers = tlv(0x51, struct.pack(">Q", sequence))
    numbers += tlv(0x52, struct.pack(">H", index)) + tlv(0x53, struct.pack(">H", count))
    return tlv(0x64, numbers + tlv(0x50, payload))
