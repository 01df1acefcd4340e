"""Tools on hosts without a daemon: the forwarder in their process, and who may use it."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support import content, ndn, weir
from support.children import Child, Failed, wait_until
from support.namespaces import Network
from tools import FAILED, INTERRUPTED, NO_FORWARDER, NOT_FOUND, USAGE, catches
from tree_case import listing, small_files

PATIENCE = 60
# Types of packets, and of fields of the link protocol.
DATA, LINK, FRAGMENT, NACK = 6, 0x64, 0x50, 0x320
# A folder in the place of /run, where a daemon of this machine may have its socket.
OWN_RUN = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /run && exec "$@"']


def elements(data):
    """Types and values of TLV elements one after the other."""
    at = 0

    def number():
        nonlocal at
        first = data[at]
        length = {253: 2, 254: 4, 255: 8}.get(first, 0)
        value = int.from_bytes(data[at + 1 : at + 1 + length]) if length else first
        at += 1 + length
        return value

    while at < len(data):
        kind, length = number(), number()
        yield kind, data[at : at + length]
        at += length


class Peer:
    """The test as a peer by UDP: packets that came, by the names in them."""

    def __init__(self, own, to=None):
        self.socket = own
        self.socket.settimeout(PATIENCE)
        self.to = to

    @property
    def address(self):
        """Where it is, as `--peer` takes it."""
        host, port = self.socket.getsockname()[:2]
        return f"{host}:{port}"

    def send(self, packet):
        """To who sent last."""
        self.socket.sendto(packet, self.to)

    def receive(self):
        """The next frame."""
        frame, self.to = self.socket.recvfrom(65536)
        return frame

    def until(self, word):
        """Frames up to the one with the word in it."""
        frames = [self.receive()]
        while word.encode() not in frames[-1]:
            frames.append(self.receive())
        return frames

    def pending(self):
        """Frames that have come."""
        self.socket.setblocking(False)
        frames = []
        try:
            while True:
                frames.append(self.receive())
        except BlockingIOError:
            return frames
        finally:
            self.socket.settimeout(PATIENCE)


class Stream(Peer):
    """The same by TCP: the tool connects."""

    def __init__(self, listener):
        super().__init__(listener)
        self.connection = None

    @property
    def address(self):
        """Where it is, as `--peer` takes it."""
        return f"tcp://{super().address}"

    def accept(self, word):
        """Take connections until one sends an Interest with the word."""
        while True:
            self.connection, _ = self.socket.accept()
            self.connection.settimeout(PATIENCE)
            if self.receive():
                break
        while word.encode() not in self.receive():
            pass

    def send(self, packet):
        """To the tool."""
        self.connection.sendall(packet)

    def receive(self):
        """Bytes that came."""
        return self.connection.recv(65536)


class WithoutDaemon(unittest.TestCase):
    """Hosts whose /run is a folder of the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.program = weir.program()
        (self.here / "run").mkdir()
        (self.here / "tmp").mkdir()
        given = {"WEIR_HOME": str(self.here / "home"), "TEST_HOME": str(self.here)}
        given |= {"TMPDIR": str(self.here / "tmp"), "NDN_CLIENT_TRANSPORT": ""}
        patch = unittest.mock.patch.dict(os.environ, given)
        patch.start()
        self.addCleanup(patch.stop)
        self.network = Network()
        self.addCleanup(self.network.__exit__, None, None, None)
        self.host = self.network.host("near")
        self.folder = self.here / "published"
        self.folder.mkdir()
        small_files(self.folder, 20)
        content.make(self.folder / "large", 3 * content.MEGABYTE)

    def command(self, *words, host=None):
        """A tool on a host, as it has to be started."""
        run = [*OWN_RUN, str(self.here / "run"), str(self.program), *map(str, words)]
        return (host or self.host).command(*run)

    def weir(self, *words, status=0, host=None):
        """Run a tool to its end; returns its messages."""
        done = subprocess.run(
            self.command(*words, host=host),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            cwd=self.here,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        if status not in (0, INTERRUPTED):
            self.assertRegex(done.stderr, r"\Aweir: [^A-Z\n]+[^\n]*; [^;\n]+\n\Z")
        return done.stderr

    def start(self, *words, host=None):
        """Begin a tool that runs until the test ends."""
        log = self.here / f"{len(list(self.here.glob('*.log')))}.log"
        child = Child(self.command(*words, host=host), log)
        self.addCleanup(child.kill)
        return child

    def serve(self, *words, host=None):
        """Begin to publish; returns the process and its messages."""
        child = self.start(*words, host=host)

        def ready():
            if not child.running:
                raise Failed(child.last_words())
            return "serving" in child.log.read_text(encoding="utf-8")

        wait_until(ready, "something to be published")
        return child, child.log.read_text(encoding="utf-8")

    def peer(self, kind=socket.SOCK_DGRAM):
        """A socket of the test on the host."""

        def bind():
            own = socket.socket(socket.AF_INET, kind)
            own.bind(("127.0.0.1", 0))
            if kind == socket.SOCK_STREAM:
                own.listen()
            return own

        own = self.host.inside(bind)
        self.addCleanup(own.close)
        return own

    def is_free(self, address, port, host=None):
        """True if no program listens there for UDP."""

        def bind():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind((address, port))
                except OSError:
                    return False
                return True

        return (host or self.host).inside(bind)

    def attack(self, attacker, victims, served=()):
        """No name from outside is forwarded, and no command is answered.

        The Nack for the last Interest shows that those before it have been processed.
        """
        management = [("localhost", "nfd", "status", "general"), ("localhop", "nfd", "rib", "list")]
        names = [*management, *served, ("elsewhere", "attack")]
        for nonce, name in enumerate(names, 1000):
            attacker.send(ndn.interest(*name, nonce=nonce))
        answers = []
        while not any(b"attack" in answer for answer in answers):
            answers.append(attacker.receive())
            for victim in victims:
                self.assertFalse([f for f in victim.pending() if b"attack" in f], "forwarded")
        kinds = packets(b"".join(answers))
        self.assertNotIn(DATA, kinds, "management has answered")
        self.assertIn(NACK, kinds)

    def test_a_tree_by_the_address_of_its_publisher(self):
        """`weir share` on one host, `weir get --peer` on another, and nothing is left."""
        far = self.network.host("far")
        address = self.network.cable(self.host, far).addresses[0]
        share, said = self.serve("share", "/tree", self.folder)
        self.assertRegex(said, r"\Ano forwarder on this host: .* listens on udp4://0\.0\.0\.0:6363")
        self.assertRegex(said, r"peers: none\n")
        copy = self.here / "copy"
        self.weir("get", "/tree/", copy, "--peer", address, host=far)
        self.assertEqual(listing(copy), listing(self.folder))
        got = self.weir("get", "/tree/large", "-o", "large", "--peer", address, host=far)
        self.assertNotIn("forwarder", got)
        self.assertEqual(content.sha256(self.here / "large"), content.sha256(copy / "large"))
        self.weir("ls", "/tree", "--peer", f"{address}:6363", host=far)
        self.assertEqual(share.stop(), 0, share.last_words())
        self.assertTrue(self.is_free("0.0.0.0", 6363))
        self.assertEqual(os.listdir(self.here / "run"), [])
        self.assertEqual(os.listdir(self.here / "tmp"), [])

    def test_neighbours_are_found(self):
        """Without `--peer` tools find each other on a link and on one host."""
        far = self.network.host("far")
        self.network.cable(self.host, far)
        _, said = self.serve("put", "/file", self.folder / "large")
        self.assertIn(f"the local network ({self.host.interfaces[0]})", said)
        for number, host in enumerate((far, self.host)):
            self.weir("get", "/file", "-o", f"copy-{number}", host=host)
            copied = content.sha256(self.here / f"copy-{number}")
            self.assertEqual(copied, content.sha256(self.folder / "large"))
        said = self.weir("cat", "/none", "--patience", "1 s", status=NO_FORWARDER, host=far)
        self.assertIn(f"none on the local network answered ({far.interfaces[0]})", said)
        self.assertIn("start one with `weir daemon`, or name one elsewhere with --peer HOST", said)

    def test_a_consumer_has_no_transit(self):
        """Its peers cannot send Interests through it, and other hosts cannot reach it."""
        attacker, victim = Peer(self.peer()), Peer(self.peer())
        outsider = Peer(self.peer())
        peers = ("--peer", attacker.address, "--peer", victim.address)
        get = self.start("get", "/wanted", "-o", self.here / "x", *peers)
        attacker.until("wanted")
        self.attack(attacker, [victim], served=[("wanted",)])
        # The kernel passes on only what comes from the peer.
        outsider.socket.connect(attacker.to)
        outsider.socket.send(ndn.interest("elsewhere"))
        with self.assertRaises(ConnectionRefusedError):
            outsider.socket.recv(1)
        os.kill(get.pid, signal.SIGINT)
        self.assertEqual(get.wait(PATIENCE), INTERRUPTED, get.last_words())

    def test_a_peer_on_this_host_is_no_application(self):
        """Neither by TCP, by which applications connect as well."""
        attacker, victim = Stream(self.peer(socket.SOCK_STREAM)), Peer(self.peer())
        peers = ("--peer", attacker.address, "--peer", victim.address)
        get = self.start("get", "/wanted", "-o", self.here / "x", *peers)
        attacker.accept("wanted")
        self.attack(attacker, [victim])
        get.kill()

    def test_a_producer_serves_its_own_names(self):
        """All other names of other hosts are rejected, and management is silent."""
        victim = Peer(self.peer())
        _, said = self.serve("put", "/file", self.folder / "large", "--peer", victim.address)
        self.assertRegex(said, rf"\Aa forwarder in this process .*; peers: udp4://{victim.address}\n")
        attacker = Peer(self.peer(), ("127.0.0.1", 6363))
        served = ndn.tlv(5, ndn.name("file") + ndn.tlv(0x21, b"") + ndn.tlv(0x0A, b"\0\0\0\1"))
        attacker.send(served)
        frames = attacker.until("file")
        self.assertIn(DATA, packets(frames[-1]))
        self.attack(attacker, [victim])

    def test_a_daemon_is_used_if_there_is_one(self):
        """With `--peer` and `--listen` it is not."""
        daemon = weir.Daemon(self.program, self.here, "daemon", self.host)
        daemon.listen = {"unix": "/run/nfd/nfd.sock", "udp": "off", "tcp": "off"}
        daemon.config.write_text(daemon.text(), encoding="utf-8")
        process = self.start("daemon", "--config", daemon.config)
        there = self.here / "run/nfd/nfd.sock"
        wait_until(lambda: process.running and there.exists(), "the daemon")
        _, said = self.serve("put", "/with", self.folder / "large")
        self.assertNotIn("in this process", said)
        self.weir("get", "/with", "-o", "x")
        _, said = self.serve("put", "/own", self.folder / "large", "--listen", "127.0.0.2")
        self.assertRegex(said, r"\Aa forwarder in this process listens on udp4://127\.0\.0\.2:6363; ")
        self.assertIn("no route leads to", self.weir("get", "/own", "-o", "y", status=NOT_FOUND))
        self.weir("get", "/own", "-o", "y", "--peer", "127.0.0.2")
        self.weir("get", "/with", "-o", "z", "--peer", "127.0.0.2", status=NOT_FOUND)

    def test_addresses_to_listen_at(self):
        """Another port if 6363 is in use, and an error for one that is named."""
        taken = self.host.inside(lambda: bound("0.0.0.0", 6363))
        self.addCleanup(taken.close)
        share, said = self.serve("share", "/tree", self.folder)
        port = re.search(r"udp4://0\.0\.0\.0:(\d+),", said).group(1)
        self.assertNotEqual(port, "6363")
        self.weir("get", "/tree/large", "-o", "x", "--peer", f"127.0.0.1:{port}")
        os.kill(share.pid, signal.SIGINT)
        self.assertEqual(share.wait(PATIENCE), 0, share.last_words())
        listen = ("--listen", "127.0.0.1")
        said = self.weir("put", "/x", self.folder / "large", *listen, status=FAILED)
        self.assertIn("cannot listen at udp4://127.0.0.1:6363: Address already in use", said)

    def test_messages(self):
        """They name the reason, and a next step that helps."""
        what_to_do = "start one with `weir daemon`, or name one elsewhere with --peer HOST"
        said = self.weir("get", "/x", status=NO_FORWARDER)
        self.assertIn("no forwarder runs on this host, and it has no network", said)
        self.assertIn(what_to_do, said)
        for uri, shown in (("127.0.0.1:7", "udp4"), ("tcp://127.0.0.1:7", "tcp4")):
            said = self.weir("get", "/x", "--peer", uri, status=NO_FORWARDER)
            self.assertIn(f"at {shown}://127.0.0.1:7: no program listens there", said)
        said = self.weir("get", "/x", "--peer", "192.0.2.1", status=NO_FORWARDER)
        self.assertIn("udp4://192.0.2.1:6363: Network is unreachable", said)
        silent = Peer(self.peer())
        options = ("--patience", "1 s", "--peer", silent.address)
        for words in (("get", "/x"), ("get", "/x/"), ("ls", "/x"), ("cat", "/x")):
            said = self.weir(*words, *options, status=NO_FORWARDER)
            self.assertIn(f"udp4://{silent.address}: nothing came from there", said)
        said = self.weir("ls", "/x", "--peer", "no.such.invalid", status=USAGE)
        self.assertIn("`udp://no.such.invalid:6363` is not found", said)
        for wrong in ("", "a b", "unix:///x", "udp4://224.0.23.170", "host:99999"):
            said = self.weir("get", "/x", "--peer", wrong, status=USAGE)
            self.assertIn("write it like router.example", said)
        self.weir("get", "/x", "--peer", "a", "--socket", "/b", status=USAGE)

    def test_signals(self):
        """Both ends of a transfer end at the first Ctrl-C."""
        silent = Peer(self.peer())
        get = self.start("get", "/wanted", "-o", self.here / "x", "--peer", silent.address)
        silent.until("wanted")
        put = self.start("put", "/file", self.folder / "large")
        wait_until(lambda: "serving" in put.log.read_text(encoding="utf-8"), "a producer")
        for child, status in ((get, INTERRUPTED), (put, 0)):
            self.assertTrue(catches(child.pid, signal.SIGINT))
            os.kill(child.pid, signal.SIGINT)
            self.assertEqual(child.wait(PATIENCE), status, child.last_words())
        self.assertTrue(self.is_free("0.0.0.0", 6363))
        self.assertEqual(os.listdir(self.here / "run"), [])


def bound(address, port):
    """A socket for UDP that has the address for itself."""
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind((address, port))
    return own


def packets(frames):
    """The types of the packets in frames: NACK for a rejected Interest."""
    kinds = set()
    for kind, value in elements(frames):
        fields = dict(elements(value)) if kind == LINK else {}
        if kind != LINK or NACK in fields:
            kinds.add(NACK if NACK in fields else kind)
        elif FRAGMENT in fields:
            kinds |= packets(fields[FRAGMENT])
    return kinds


if __name__ == "__main__":
    raise SystemExit("run tests/end_to_end/run without_daemon")
