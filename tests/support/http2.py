"""A client of HTTP/2 (RFC 9113) that decides which bytes of an answer it takes, and when."""

import socket
import struct

PATIENCE = 60
DATA, HEADERS, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 4, 6, 7, 8
ACKNOWLEDGED = END_OF_STREAM = 1
END_OF_HEADERS = 4
INITIAL_WINDOW = 4


class Client:
    """A connection with one stream, whose first answer has room for `window` bytes."""

    def __init__(self, host, port, window):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.send(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, window))
        self.body = b""
        self.is_complete = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, kind, flags, stream, payload):
        """Send a frame."""
        head = struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream)
        self.socket.sendall(head + payload)

    def get(self, path):
        """Ask for a path."""
        # By the static table of HPACK: GET, http; literal values of :path and :authority.
        fields = b"\x82\x86"
        for index, text in ((4, path), (1, "localhost")):
            fields += bytes([index, len(text)]) + text.encode()
        self.send(HEADERS, END_OF_STREAM | END_OF_HEADERS, 1, fields)

    def widen(self, count):
        """Take this many more bytes of the answer."""
        self.send(WINDOW_UPDATE, 0, 1, struct.pack(">I", count))

    def exactly(self, count):
        """This many bytes, or fewer at the end of the connection."""
        taken = b""
        while len(taken) < count and (some := self.socket.recv(count - len(taken))):
            taken += some
        return taken

    def frames_until(self, last):
        """The kinds of the frames up to one of this kind, or the end of the connection."""
        while len(head := self.exactly(9)) == 9:
            length = int.from_bytes(head[:3])
            kind, flags = head[3], head[4]
            payload = self.exactly(length)
            if kind == DATA:
                self.body += payload
                self.is_complete = bool(flags & END_OF_STREAM)
            if kind in (SETTINGS, PING) and not flags & ACKNOWLEDGED:
                self.send(kind, ACKNOWLEDGED, 0, payload if kind == PING else b"")
            yield kind
            if kind == last:
                return
