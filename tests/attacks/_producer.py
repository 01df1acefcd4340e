"""A producer in Python that lies about the size of what it has."""

import contextlib
import hashlib
import socket
import struct
import threading

from support.ndn import tlv, var

SEGMENT = 8000


def number(value):
    """A NonNegativeInteger."""
    for width, form in ((1, ">B"), (2, ">H"), (4, ">I")):
        if value < 1 << (8 * width):
            return struct.pack(form, value)
    return struct.pack(">Q", value)


def elements(text):
    """The elements of a value: type and value of each."""
    at = 0
    while at < len(text):
        head = []
        for _ in range(2):
            first, at = text[at], at + 1
            if first >= 253:
                width = 2 << (first - 253)
                first, at = int.from_bytes(text[at : at + width], "big"), at + width
            head.append(first)
        if at + head[1] > len(text):
            return
        yield head[0], text[at : at + head[1]]
        at += head[1]


class Hostile:
    """A producer at the far end of a TCP link that claims any size for `/evil/file`.

    It has no manifest, signs by digest, as anyone can, and answers `serves` segments of its
    claim. It ignores other Interests.
    """

    PREFIX = tlv(8, b"evil") + tlv(8, b"file")
    OBJECT = PREFIX + tlv(54, number(7))

    def __init__(self, claims, serves):
        self.claims, self.serves, self.answered = claims, serves, set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                with peer:
                    self._serve(peer)

    def _serve(self, peer):
        waiting = b""
        while got := peer.recv(65536):
            waiting += got
            whole = 0
            for kind, value in elements(waiting):
                whole += len(var(kind)) + len(var(len(value))) + len(value)
                if answer := self._answer(kind, value):
                    peer.sendall(answer)
            waiting = waiting[whole:]

    def _answer(self, kind, value):
        fields = [(kind, value)] if kind == 5 else list(elements(value))
        token = next((v for k, v in fields if k == 0x62), None)
        packet = fields[0][1] if kind == 5 else next((v for k, v in fields if k == 0x50), b"")
        if kind != 5:
            packet = next((v for k, v in elements(packet) if k == 5), b"")
        name = next((v for k, v in elements(packet) if k == 7), None)
        data = name and self._data(name)
        if data and token is not None:
            return tlv(0x64, tlv(0x62, token) + tlv(0x50, data))
        return data

    def _data(self, name):
        last = list(elements(name))[-1]
        end = tlv(50, number(max(self.claims // SEGMENT, 1)))
        if name == self.PREFIX + tlv(32, b"metadata"):
            name += tlv(54, number(1)) + tlv(50, number(0))
            sizes = tlv(0xF500, number(SEGMENT)) + tlv(0xF502, number(self.claims))
            return signed(name, tlv(7, self.OBJECT) + tlv(0x1A, end) + sizes)
        if name.startswith(self.OBJECT) and last[0] == 50:
            segment = int.from_bytes(last[1], "big")
            if segment < self.serves:
                self.answered.add(segment)
                return signed(name, bytes(SEGMENT))
        return None

    def close(self):
        """Stop listening."""
        self._listener.close()


class Plain(Hostile):
    """One that answers whatever is asked for below `/hello` with a packet of that name."""

    def __init__(self):
        self.asked = 0
        super().__init__(0, 0)

    def _data(self, name):
        self.asked += 1
        return signed(name, b"hello")


def signed(name, value):
    """A Data packet, signed by its digest."""
    freshness = tlv(0x14, tlv(0x19, number(1000)))
    covered = tlv(7, name) + freshness + tlv(0x15, value) + tlv(0x16, tlv(0x1B, b"\0"))
    return tlv(6, covered + tlv(0x17, hashlib.sha256(covered).digest()))
