"""Attacks on `weir gateway` by the means of HTTP/2: resets, headers, windows."""

import contextlib
import socket
import struct
import tempfile
import unittest
from pathlib import Path

from support import children, content, weir
from support.children import wait_until
from support.gateway import PATIENCE, Gateway

MEGABYTE = content.MEGABYTE
# Applications of this host alone.
ALONE = {"udp": "off", "tcp": "off"}
# The program itself, three answers of 4 MB with a thread and a fetch each, and what a connection
# may have in its buffers.
MEMORY = 45 * MEGABYTE + 3 * 6 * MEGABYTE + 4 * MEGABYTE

# RFC 9113, section 3.4 and 6: the preface, types of frames, flags, settings.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE = 4


def frame(kind, flags=0, stream=0, payload=b""):
    """A frame (RFC 9113, section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A field without an index; short ones only (RFC 7541, section 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def get(path, authority=b"localhost", method=b"GET"):
    """The fields of a request, by default a GET."""
    pseudo = ((b":method", method), (b":scheme", b"http"), (b":authority", authority))
    return b"".join(literal(*field) for field in (*pseudo, (b":path", path)))


class Connection:
    """A client that sends frames as it likes."""

    def __init__(self, port, settings=b""):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.sendall(PREFACE + frame(SETTINGS, payload=settings))
        self.read = b""

    def send(self, *frames):
        """Send. Returns false if the gateway has closed the connection."""
        try:
            self.socket.sendall(b"".join(frames))
        except ConnectionError:
            return False
        return True

    def exactly(self, size):
        """The next `size` bytes, or nothing at the end of the connection."""
        while len(self.read) < size:
            try:
                some = self.socket.recv(65_536)
            except ConnectionError:
                some = b""
            if not some:
                return b""
            self.read += some
        taken, self.read = self.read[:size], self.read[size:]
        return taken

    def next(self):
        """The next frame's kind, stream and payload; None at the end of the connection."""
        head = self.exactly(9)
        if not head:
            return None
        size, kind, stream = int.from_bytes(head[:3], "big"), head[3], head[5:]
        payload = self.exactly(size) if size else b""
        return kind, int.from_bytes(stream, "big"), payload

    def until(self, *kinds):
        """The next frame of one of these kinds; None at the end of the connection."""
        while (got := self.next()) is not None:
            if got[0] in kinds:
                return got
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class ByFrames(unittest.TestCase):
    """A gateway with a small and a large object, and a client that speaks HTTP/2."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.daemon = weir.Daemon(weir.program(), cls.folder, "daemon", listen=ALONE)
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        for name, size in (("/site/small", 20_000), ("/site/large", 16 * MEGABYTE)):
            path = content.make(cls.folder / Path(name).name, size)
            cls.addClassCleanup(cls.daemon.put(name, path).kill)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def gateway(self, *options):
        """A gateway with four slots, of which its own user has three."""
        gateway = Gateway(self.daemon, self.here, "--clients", "4", *options)
        self.addCleanup(gateway.child.kill)
        return gateway

    def connect(self, gateway, settings=b""):
        """A connection for as long as the test takes."""
        return self.enterContext(Connection(gateway.port, settings))

    def assert_well(self, gateway):
        """Others are served, and memory is bounded."""
        self.assertEqual(gateway.ask("/site/small")[0], 200)
        self.assertLess(children.peak_bytes(gateway.child.pid), MEMORY)

    def test_requests_that_are_taken_back_at_once(self):
        """Rapid reset (CVE-2023-44487): the connection is closed long before all are sent."""
        gateway, path = self.gateway(), b"/site/large"
        client = self.connect(gateway)
        for n in range(100_000):
            stream = 2 * n + 1
            begun = frame(HEADERS, END_HEADERS | END_STREAM, stream, get(path))
            if not client.send(begun, frame(RESET, 0, stream, struct.pack(">I", 8))):
                break
        else:
            self.fail("the gateway has read all requests")
        self.assert_well(gateway)

    def test_headers_without_an_end(self):
        """CONTINUATION frames that go on and on (CVE-2024-27316), and fields that are too long."""
        gateway = self.gateway()
        client = self.connect(gateway)
        client.send(frame(HEADERS, END_STREAM, 1, get(b"/site/small")))
        more = frame(CONTINUATION, 0, 1, literal(b"x-a", b"y" * 120) * 100)
        went = 0
        while went < 10_000 and client.send(more):
            went += 1
        self.assertLess(went, 10_000)
        self.assert_well(gateway)
        large = self.connect(gateway)
        large.send(frame(HEADERS, END_STREAM, 1, get(b"/site/small")))
        for n in range(5):
            last = END_HEADERS if n == 4 else 0
            large.send(frame(CONTINUATION, last, 1, literal(b"x-a", b"y" * 120) * 100))
        kind, _, payload = large.until(HEADERS, RESET, GOAWAY)
        self.assertTrue(kind != HEADERS or huffman(b"431") in payload, payload)
        self.assert_well(gateway)

    def test_more_streams_than_a_connection_may_have(self):
        """Those beyond the announced number are rejected, and the connection goes on."""
        gateway = self.gateway()
        closed = struct.pack(">HI", INITIAL_WINDOW_SIZE, 0)
        client = self.connect(gateway, closed)
        for n in range(40):
            client.send(frame(HEADERS, END_HEADERS | END_STREAM, 2 * n + 1, get(b"/site/large")))
        # REFUSED_STREAM (RFC 9113, section 7).
        kind, _, payload = client.until(RESET, GOAWAY)
        self.assertEqual((kind, payload), (RESET, struct.pack(">I", 7)))
        self.assert_well_beside(gateway, client)

    def assert_well_beside(self, gateway, client):
        """Memory is bounded, and the connection is served still."""
        client.send(frame(PING, payload=b"12345678"))
        self.assertEqual(client.until(PING, GOAWAY)[2], b"12345678")
        self.assertLess(children.peak_bytes(gateway.child.pid), MEMORY)

    def test_a_window_that_stays_closed(self):
        """Streams whose client takes nothing give way to others, and their connection stays."""
        gateway = self.gateway("--client-timeout", "1 s")
        client = self.connect(gateway, struct.pack(">HI", INITIAL_WINDOW_SIZE, 100))
        for stream in (1, 3, 5):
            client.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, get(b"/site/large")))
            while not client.until(DATA)[2]:
                pass
        self.assertEqual(gateway.ask("/site/small")[0], 200, "it waited in turn")
        self.assertEqual(client.until(RESET, GOAWAY)[0], RESET)
        self.assert_well_beside(gateway, client)

    def test_names_of_others_and_two_names(self):
        """:authority is checked as Host is, and no Host may contradict it."""
        gateway = self.gateway()
        for n, (fields, status) in enumerate(
            (
                (get(b"/site/small"), b"200"),
                (get(b"/site/small", b"attacker.example"), b"421"),
                (get(b"/site/small") + literal(b"host", b"attacker.example"), b"400"),
                (
                    get(b"/site/small") + literal(b"origin", b"http://attacker.example"),
                    b"403",
                ),
                (get(b"/localhost/nfd/faces/list"), b"403"),
            )
        ):
            client = self.connect(gateway)
            client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, fields))
            payload = client.until(HEADERS)[2]
            # 200 and 400 are in the static table (RFC 7541, appendix A).
            indexed = {b"200": b"\x88", b"400": b"\x8c"}
            known = payload.startswith(indexed.get(status, b"\0")) or huffman(status) in payload
            self.assertTrue(known, (n, status, payload))

    def test_an_upload_that_breaks_off_replaces_nothing(self):
        """A reset is no end of the body, also with NO_ERROR (RFC 9113, section 8.1)."""
        store = self.here / "store"
        gateway = self.gateway("--put", "/up", "--store", store)
        part = frame(DATA, 0, 1, b"y" * 10_000)
        for n, (size, code) in enumerate(
            (size, code) for size in (b"1000000", b"30000", None) for code in (0, 8)
        ):
            # The name of the upload before is free soon after its bytes are gone.
            wait_until(lambda: put(gateway, "/up/x", b"x" * 1000) == 201, "the name to be free")
            client = self.connect(gateway)
            fields = get(b"/up/x", method=b"PUT")
            fields += literal(b"content-length", size) if size else b""
            client.send(frame(HEADERS, END_HEADERS, 1, fields), part * 3)
            wait_until(lambda: parts(store) == 30_000, "the bytes to come")
            client.send(frame(RESET, 0, 1, struct.pack(">I", code)))
            wait_until(lambda: not list((store / "incoming").glob("*")), "the upload to be over")
            self.assertEqual(gateway.ask("/up/x")[2], b"x" * 1000, (n, size, code))
        self.assert_well(gateway)

    def test_an_upload_that_is_taken_back_is_logged(self):
        store = self.here / "store"
        gateway = self.gateway("--put", "/up", "--store", store)
        client = self.connect(gateway)
        fields = get(b"/up/x", method=b"PUT")
        client.send(frame(HEADERS, END_HEADERS, 1, fields), frame(DATA, 0, 1, b"y" * 100))
        wait_until(lambda: parts(store) == 100, "the bytes to come")
        client.send(frame(RESET, 0, 1, struct.pack(">I", 8)))
        said = gateway.answered(1)[0]
        self.assertEqual((said["method"], said["path"], said["status"]), ("PUT", "/up/x", 400))
        self.assertGreater(said["duration_s"], 0)
        self.assertTrue(said["error"], said)

    def test_an_upload_is_logged_as_stored_if_it_is_although_its_client_has_left(self):
        """The reset comes after the end of the body."""
        store = self.here / "store"
        gateway = self.gateway("--put", "/up", "--store", store)

        def has_come(count):
            """Bytes of the upload have come, or it is stored already."""
            return parts(store) or len(list((store / "blobs").glob("*/*"))) == count

        for n in range(20):
            client = self.connect(gateway)
            fields = get(b"/up/%d" % n, method=b"PUT")
            body = frame(DATA, END_STREAM, 1, b"%05d" % n * 2000)
            client.send(frame(HEADERS, END_HEADERS, 1, fields), body)
            wait_until(lambda n=n: has_come(n + 1), "the body to come")
            client.send(frame(RESET, 0, 1, struct.pack(">I", 8)))
            said = gateway.answered(2 * n + 1)[-1]
            found = gateway.ask(f"/up/{n}")[0]
            self.assertIn((said["status"], found), ((201, 200), (400, 404)), said)
            gateway.answered(2 * n + 2)

    def test_an_upload_with_an_end_is_stored(self):
        """With and without trailers, and with a length."""
        gateway = self.gateway("--put", "/up", "--store", self.here / "store")
        for n, (last, more) in enumerate(
            (
                (END_STREAM, b""),
                (0, frame(HEADERS, END_HEADERS | END_STREAM, 1, literal(b"x-a", b"b"))),
                (END_STREAM, b""),
            )
        ):
            client = self.connect(gateway)
            fields = get(b"/up/%d" % n, method=b"PUT")
            if n == 2:
                fields += literal(b"content-length", b"10")
            body = frame(DATA, last, 1, b"y" * 10)
            client.send(frame(HEADERS, END_HEADERS, 1, fields), body, more)
            self.assertTrue(huffman(b"201") in client.until(HEADERS)[2], n)
            self.assertEqual(gateway.ask(f"/up/{n}")[2], b"y" * 10)


def put(gateway, path, body):
    """The status of an upload by HTTP/1.1."""
    with contextlib.closing(gateway.connect()) as connection:
        connection.request("PUT", path, body=body)
        return connection.getresponse().status


def parts(store):
    """Bytes of uploads that are not stored yet."""
    return sum(path.stat().st_size for path in (store / "incoming").glob("*/*.part"))


def huffman(digits):
    """A status in the code of RFC 7541, appendix B: digits 0 to 2 have 5 bits, 3 to 9 have 6."""
    codes = {b: (b - 48, 5) for b in b"012"} | {b: (b - 51 + 0x19, 6) for b in b"3456789"}
    bits = "".join(f"{codes[b][0]:0{codes[b][1]}b}" for b in digits)
    bits += "1" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
