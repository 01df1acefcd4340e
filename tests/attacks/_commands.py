"""Management commands signed by a digest, which anyone can make, in both forms."""

import hashlib
import struct
import time

from support import ndn

DIGEST = bytes.fromhex("16031b0100")


def component(value):
    """A generic component."""
    return ndn.tlv(8, value)


def command(verb, **fields):
    """The components of a command: /localhost/nfd, the verb and ControlParameters."""
    numbers = {"uri": 0x72, "face": 0x69, "name": 0x07}
    body = b"".join(ndn.tlv(numbers[field], value) for field, value in fields.items())
    words = [b"localhost", b"nfd", *verb.encode().split(b"/"), ndn.tlv(0x68, body)]
    return b"".join(map(component, words))


def old_form(components, time_ms, nonce):
    """The components with timestamp, nonce and a signature by digest behind them."""
    signed = components + component(struct.pack(">Q", time_ms)) + component(nonce)
    signed += component(DIGEST)
    return signed + component(ndn.tlv(0x17, hashlib.sha256(signed).digest()))


def old_interest(components, time_ms, nonce, link_nonce):
    """An Interest for a command of the old form. The link's nonce is not signed."""
    named = ndn.tlv(7, old_form(components, time_ms, nonce))
    return ndn.tlv(5, named + ndn.tlv(0x0A, link_nonce))


def new_interest(components, time_ms, nonce, link_nonce):
    """A signed Interest of packet format v0.3."""
    info = DIGEST[2:] + ndn.tlv(0x26, nonce) + ndn.tlv(0x28, struct.pack(">Q", time_ms))
    parameters, info = ndn.tlv(0x24, b""), ndn.tlv(0x2C, info)
    value = ndn.tlv(0x2E, hashlib.sha256(components + parameters + info).digest())
    digest = hashlib.sha256(parameters + info + value).digest()
    named = ndn.tlv(7, components + ndn.tlv(2, digest))
    return ndn.tlv(5, named + ndn.tlv(0x0A, link_nonce) + parameters + info + value)


def now_ms():
    """As commands have it."""
    return time.time_ns() // 1_000_000
