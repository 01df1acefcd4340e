"""Pages of trees, made byte by byte: those that no publisher makes, too."""

import hashlib
import struct

from support import ndn

# The keyword of pages in a name, as bytes.
PAGE = b"\x20\x04page"


def number(kind, value):
    """A TLV with a number."""
    sizes = {1: ">B", 2: ">H", 4: ">I", 8: ">Q"}
    size = next(size for size in sizes if value < 256**size)
    return ndn.tlv(kind, struct.pack(sizes[size], value))


def packet(base, page):
    """The packet of a page."""
    generic = b"".join(ndn.tlv(8, part.encode()) for part in base.strip("/").split("/"))
    key = hashlib.sha256(page).digest()[:16]
    name = ndn.tlv(7, generic + PAGE + ndn.tlv(8, key) + ndn.tlv(0x32, b"\0"))
    signed = name + ndn.tlv(0x15, page) + ndn.tlv(0x16, ndn.tlv(0x1B, b"\0"))
    return ndn.tlv(6, signed + ndn.tlv(0x17, hashlib.sha256(signed).digest()))


def root(page, entries):
    """The root of a tree with one page."""
    content_of = page.partition(PAGE)[2]
    key, digest = content_of[2:18], hashlib.sha256(page).digest()
    fields = [number(0xF651, 1), number(0xF653, 2), number(0xF65F, 0o755), number(0xF661, 7)]
    fields += [ndn.tlv(0xF66B, key + digest), number(0xF66D, entries), number(0xF66F, 0)]
    return b"".join(fields)
