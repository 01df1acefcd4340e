"""Attacks with forged senders over UDP, and with many peers: amplification and lock-out.

The daemon's site has a router before it, so that no attacker is in a network of the daemon's host:
those are exempt by default. `away` has 10.200.0.0/16 besides its own address. It stands for an
attacker and for the victims whose addresses he forges, and what it receives is what they would.
"""

import contextlib
import itertools
import os
import socket
import struct
import tempfile
import threading
import time
import unittest
from pathlib import Path

from support import content, ndn, weir
from support.children import Failed, let_pass, run, wait_until
from support.namespaces import Network

PORT = 6363
PATIENCE = 60
# The version that `weir put` gives a file is the time of its last change in milliseconds.
VERSION_MS = 1_700_000_000_000
SEGMENTS = 256
RANGE = 0x360
ETHERNET = 14
# Whole packets pass; faces cut theirs at 1,472 bytes unless they are told.
MTU = 9200


def nni(number):
    """A NonNegativeInteger."""
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return number.to_bytes(size, "big")


def segment(number, nonce):
    """An Interest for one segment of the published file."""
    name = ndn.tlv(8, b"film") + ndn.tlv(0x36, nni(VERSION_MS)) + ndn.tlv(0x32, nni(number))
    fields = ndn.tlv(0x0A, struct.pack(">I", nonce)) + ndn.tlv(0x0C, nni(4000))
    return ndn.tlv(5, ndn.tlv(7, name) + fields)


def ranged(nonce):
    """The same for 256 segments at once."""
    count = b"\xfd" + struct.pack(">H", SEGMENTS)
    return ndn.tlv(0x64, ndn.tlv(RANGE, count) + ndn.tlv(0x50, segment(0, nonce)))


def marker(number):
    """An Interest that is answered by a Nack at once."""
    return ndn.interest("nothing", number, nonce=number)


def is_nack(frame):
    """True if the frame is the answer to a marker."""
    return frame[0] == 0x64 and b"\xfd\x03\x20" in frame[:24]


class Attack(unittest.TestCase):
    """A daemon with a file in its content store, and hosts behind a router."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = weir.program()
        network = Network()
        self.addCleanup(network.__exit__, None, None, None)
        names = ("far", "router", "away", "other")
        self.far, self.router, self.away, self.other = map(network.host, names)
        self.address = network.cable(self.far, self.router, MTU).addresses[0]
        self.far.run("ip", "route", "add", "default", "via", "10.77.0.2")
        for number, host in enumerate((self.away, self.other), 1):
            network.cable(self.router, host, MTU)
            host.run("ip", "route", "add", "default", "via", f"10.77.{number}.1")
        self.router.forward_ip()
        self.router.run("ip", "route", "add", "10.200.0.0/16", "via", "10.77.1.2")
        self.away.run("ip", "route", "add", "local", "10.200.0.0/16", "dev", "lo")

    def start(self, **on_demand):
        """The daemon under attack, with the file in its content store."""
        self.film = content.make(self.folder / "film", SEGMENTS * 8000)
        os.utime(self.film, ns=(0, VERSION_MS * 1_000_000))
        daemon = weir.Daemon(self.program, self.folder, "far", self.far)
        daemon.sections["on_demand"] = on_demand
        daemon.start()
        self.addCleanup(daemon.process.kill)
        producer = daemon.put("/film", self.film, options=["--segment-size", "8000 B"])
        self.addCleanup(producer.kill)
        daemon.get("/film", self.folder / "copy").finish(PATIENCE)
        return daemon

    def peer(
        self, host, address="0.0.0.0", kind=socket.SOCK_DGRAM, buffer=1 << 22, to=None
    ):
        """A socket on a host, connected to the daemon; nothing waits for ever on it."""

        def make():
            made = socket.socket(socket.AF_INET, kind)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            made.settimeout(PATIENCE)
            made.bind((address, 0))
            made.connect((to or self.address, PORT))
            return made

        made = host.inside(make)
        self.addCleanup(made.close)
        return made

    def face(self, daemon, uri):
        """The daemon's counters of the face to that URI."""
        faces = daemon.status()["faces"]
        return next((face for face in faces if face["uri"].startswith(uri)), None)


class Amplification(Attack):
    """Small datagrams with forged senders must not bring much to those senders."""

    def test_a_range_from_a_new_address_brings_what_a_plain_interest_brings(self):
        """One datagram with a Range of 256 segments from an address that has proved nothing."""
        daemon = self.start()
        packets = (segment(0, 1), ranged(2))
        plain, range_ = map(len, packets)
        back = []
        for number, packet in enumerate(packets):
            address = f"10.200.{number}.1"
            self.peer(self.away, address).send(packet)
            back.append(self.bytes_sent(daemon, f"udp4://{address}"))
        plain_back, range_back = back
        for what, asked, came in (("plain", plain, plain_back), ("Range", range_, range_back)):
            print(f"\n  {what}: {asked} to {came} bytes, {came / asked:.0f} times", end="")
        print()
        # Besides, a challenge of 19 bytes: who sends ranges can prove itself.
        self.assertLessEqual(range_back, plain_back + 19)
        self.assertGreaterEqual(plain_back, 8000)

    def bytes_sent(self, daemon, uri):
        """The bytes sent to an address after the Interest from there has been processed."""
        faces = []

        def is_quiet():
            face = self.face(daemon, uri)
            faces.append(face)
            return face and face["received"]["interests"] == 1 and face["queue"]["packets"] == 0

        wait_until(is_quiet, "an answer")
        return faces[-1]["sent"]["bytes"]

    def test_a_flood_from_forged_addresses_brings_no_more_than_the_limit(self):
        """Plain Interests for what is cached from 200 addresses in as many subnets.

        The limit is set to what any machine exceeds. Meanwhile `weir status` is answered, and a
        file comes to a daemon that has proved its address, whose face drops nothing.
        """
        rate = 20_000_000
        daemon = self.start(unproved_total_rate="20 Mbit/s")
        near = self.near_daemon()
        peers = [self.peer(self.away, f"10.200.{n}.7", buffer=4096) for n in range(200)]
        interface = self.away.interfaces[0]
        before, begin = self.away.received_bytes(interface), time.monotonic()
        fetch = near.get("/film", self.folder / "received", ["--range", "32"])
        asked = 0
        for turn in range(20):
            for peer in peers:
                peer.send(segment(turn, turn * 1000 + 1))
                asked += 1
            daemon.status()
        fetch.finish(PATIENCE)
        face = self.face(daemon, "udp4://10.77.2.2")
        dropped = daemon.status()["drops"].get("unproved-limit", 0)
        received = self.away.received_bytes(interface) - before
        most = (rate * (time.monotonic() - begin + 0.2)) / 8
        print(f"\n  {asked} Interests, {received} bytes came back, at most {most:.0f}", end="")
        print(f"; {dropped} packets dropped")
        # The kernel's count has Ethernet headers, and each bucket may be overdrawn by a packet.
        self.assertLessEqual(received, most * (1 + ETHERNET / 1000) + 10_000)
        self.assertGreater(dropped, 0)
        self.assertEqual((face["proved"], face["drops"].get("unproved-limit", 0)), (True, 0))
        self.assertEqual((self.folder / "received").read_bytes(), self.film.read_bytes())

    def test_a_neighbour_that_forges_an_address_brings_no_more_than_the_limit(self):
        """Plain Interests for what is cached, from a router's address in the daemon's network.

        It stands for the sender that was forged: it proves nothing. The limit is set to what any
        machine exceeds. A daemon behind the same address, which proves it, is not limited.
        """
        rate = 8_000_000
        daemon = self.start(unproved_local_rate="8 Mbit/s")
        victim = self.peer(self.router, buffer=4096)
        interface = self.router.interfaces[0]
        before, begin = self.router.received_bytes(interface), time.monotonic()
        for number in range(4000):
            victim.send(segment(number % SEGMENTS, number + 1))
        uri = f"udp4://10.77.0.2:{victim.getsockname()[1]}"
        wait_until(
            lambda: self.face(daemon, uri)["received"]["interests"] > 1000, "Interests to come"
        )
        daemon.status()
        face, received = self.face(daemon, uri), self.router.received_bytes(interface) - before
        most = (rate * (time.monotonic() - begin + 0.2)) / 8
        dropped = face["drops"].get("unproved-limit", 0)
        print(f"\n  {received} bytes came back, at most {most:.0f}; {dropped} packets dropped")
        self.assertLessEqual(received, most * (1 + ETHERNET / 1000) + 10_000)
        self.assertGreater(dropped, 0)
        self.assertFalse(face["proved"])

    def near_daemon(self):
        """Another daemon, which is configured with a face to the one under attack."""
        faces, routes = [("up", f"udp4://{self.address}")], [("/film", "up")]
        daemon = weir.Daemon(self.program, self.folder, "near", self.other, faces, routes)
        daemon.start()
        self.addCleanup(daemon.process.kill)
        return daemon

    def test_nothing_is_sent_to_a_port_that_the_network_reports_closed(self):
        """A peer asks for 2 MB and closes its socket in the middle.

        The face is slow, so that the answer is on its way for seconds. Counted are datagrams that
        found no socket.
        """
        daemon = self.start(rate="4 Mbit/s")
        peer = self.peer(self.away)
        for number in range(200):
            peer.send(segment(number, number + 1))
        for _ in range(10):
            peer.recv(1 << 16)
        self.assertIsNotNone(self.face(daemon, "udp4://10.77.1.2"))
        peer.close()
        wait_until(lambda: self.face(daemon, "udp4://10.77.1.2") is None, "the face to end")
        late = self.away.counters("snmp", "Udp")["NoPorts"]
        sent = daemon.status()["sent"]["frames"]
        print(f"\n  {late} datagrams came to the closed port")
        self.assertGreater(late, 0)
        # A batch of 44 in the daemon and the kernel, and those before it.
        self.assertLess(late, 100)
        daemon.status()
        self.assertLess(daemon.status()["sent"]["frames"] - sent, 20, "status alone")


class Peers(Attack):
    """Those who can prove their addresses, and those of other projects, are served as ever."""

    def fetch(self, daemon, prepare):
        """Fetch by ranges; return what the daemon under attack counts of the face."""
        get, env = prepare()
        get += ["--range", "32", "--json", "--quiet", "-o", self.folder / "received"]
        run(self.other.command("env", *env, *get), PATIENCE)
        self.assertEqual((self.folder / "received").read_bytes(), self.film.read_bytes())
        return self.face(daemon, "udp4://10.77.2.2")

    def over_own_daemon(self):
        """By way of a daemon with a configured face."""
        faces, routes = [("up", f"udp4://{self.address}")], [("/film", "up")]
        near = weir.Daemon(self.program, self.folder, "near", self.other, faces, routes)
        near.start()
        self.addCleanup(near.process.kill)
        return [self.program, "get", "/film", "--socket", near.socket], []

    def over_udp(self):
        """Straight over UDP."""
        transport = f"NDN_CLIENT_TRANSPORT=udp4://{self.address}:{PORT}"
        return [self.program, "get", "/film"], [transport]

    def ranges_are_used(self, prepare):
        """A fetch costs few more Interests than where the address is exempt from proof.

        256 segments by 32 are 8 Interests. Before the proof there is one round trip, and one
        window of single Interests at most.
        """
        # `weir get` over UDP puts no fragments together.
        daemon = self.start(mtu=9000)
        face = self.fetch(daemon, prepare)
        interests = face["received"]["interests"]
        print(f"\n  {interests} Interests for {SEGMENTS} segments")
        self.assertTrue(face["proved"])
        self.assertLess(interests, SEGMENTS / 2)
        self.assertEqual(face["malformed_options"].get("range-unproved", 0), 0)

    def test_a_daemon_uses_ranges_after_the_proof(self):
        """An application fetches through its own daemon, which has a configured face."""
        self.ranges_are_used(self.over_own_daemon)

    def test_an_application_over_udp_uses_ranges_after_the_proof(self):
        """`weir get` with NDN_CLIENT_TRANSPORT=udp4://... has no daemon of its own."""
        self.ranges_are_used(self.over_udp)

    def test_a_consumer_without_the_proof_loses_nothing(self):
        """A consumer that knows plain Interests alone fetches 2 MB with a window of 16."""
        daemon = self.start()
        peer = self.peer(self.away)
        asked, came = 0, set()
        nonce = 0
        frames = {}
        while len(came) < SEGMENTS:
            while asked < SEGMENTS and asked - len(came) < 16:
                nonce += 1
                peer.send(segment(asked, nonce))
                asked += 1
            frame = peer.recv(1 << 16)
            sequence, index, count = fragment_of(frame)
            parts = frames.setdefault(sequence - index, set())
            parts.add(index)
            if len(parts) == count:
                came.add(sequence - index)
        face = self.face(daemon, "udp4://10.77.1.2")
        self.assertEqual(face["drops"], {})
        self.assertEqual((face["proved"], face["sent"]["data"]), (False, SEGMENTS))
        self.assertEqual(face["idle"], 0)


def fragment_of(frame):
    """Sequence, index and count of a fragment; of NDNLPv2 in its usual order."""
    at, numbers = 4 if frame[1] == 0xFD else 2, {}
    while at < len(frame):
        typ = frame[at]
        if typ == 0xFD:
            length = frame[at + 3]
            at += 4 + length
            continue
        if typ == 0x50:
            break
        length = frame[at + 1]
        numbers[typ] = int.from_bytes(frame[at + 2 : at + 2 + length], "big")
        at += 2 + length
    return numbers[0x51], numbers.get(0x52, 0), numbers.get(0x53, 1)


def in_turn(peers):
    """Have them send, each once a second, until what is returned is called.

    Each Interest is another one.
    """
    ended = threading.Event()

    def send():
        numbers = itertools.count(10_000)
        while not ended.wait(1):
            for peer in peers:
                peer.send(marker(next(numbers)))

    thread = threading.Thread(target=send)
    thread.start()

    def end():
        ended.set()
        thread.join()

    return end


class LockOut(Attack):
    """Many peers at once must not keep others out."""

    def is_served(self, peer, number):
        """True if a new peer gets its answer; the number of Interests that it sent."""
        peer.settimeout(0.1)
        for attempt in range(1, 600):
            peer.send(marker(number))
            with contextlib.suppress(TimeoutError):
                if is_nack(peer.recv(1 << 16)):
                    return attempt
        raise Failed("a new peer is not served")

    def others_are_served(self, daemon, attempts):
        """A new UDP peer, a new TCP peer and an operator come to a daemon under attack."""
        begin = time.monotonic()
        tcp = self.peer(self.other, kind=socket.SOCK_STREAM)
        tcp.send(marker(7000))
        self.assertTrue(is_nack(tcp.recv(1 << 16)))
        status = daemon.status()
        after = self.is_served(self.peer(self.other), 7001)
        seconds = time.monotonic() - begin
        print(f"\n  TCP, status and UDP after {seconds:.2f} s; UDP asked {after} times")
        self.assertLessEqual(after, attempts)
        return [face["uri"] for face in status["faces"]]

    def test_datagrams_from_300_ports_of_one_address(self):
        """One datagram from each; the address gets 64 faces, and others theirs at once."""
        daemon = self.start()
        for number, peer in enumerate([self.peer(self.away) for _ in range(300)]):
            peer.send(marker(number + 1))
        uris = self.others_are_served(daemon, attempts=10)
        self.assertLessEqual(sum(uri.startswith("udp4://10.77.1.2") for uri in uris), 64)
        log = (self.folder / "far.log").read_text(encoding="utf-8")
        self.assertIn("no room for another face", log)
        self.assertLess(len(log.splitlines()), 100, "it is logged once a second")

    def test_datagrams_from_300_addresses(self):
        """One datagram from each address, in 150 subnets: all places are taken for a moment.

        A new peer takes the place of one that sent a single datagram and was quiet for 250 ms.
        """
        daemon = self.start()
        addresses = [f"10.200.{n // 2}.{n % 2 + 1}" for n in range(300)]
        for number, address in enumerate(addresses):
            self.peer(self.away, address).send(marker(number + 1))
        self.others_are_served(daemon, attempts=20)

    def test_300_programs_of_the_same_host(self):
        """They need no proof, and are not quiet; others have half of the places all the same."""
        daemon = self.start()
        for number in range(300):
            self.peer(self.far, f"127.0.1.{number % 8 + 1}", to="127.0.0.1").send(marker(number))
        self.others_are_served(daemon, attempts=10)

    def test_300_addresses_that_send_again_and_again(self):
        """One datagram every second from each of 300 addresses, for ever.

        None of them is ever quiet for long, and none proves that it receives. A new peer gets a
        place among them, and keeps it for as long as it sends more often than they do.
        """
        daemon = self.start()
        addresses = [f"10.200.{n // 2}.{n % 2 + 1}" for n in range(300)]
        peers = [self.peer(self.away, address) for address in addresses]
        with contextlib.ExitStack() as ends:
            ends.callback(in_turn(peers))
            wait_until(lambda: len(daemon.status()["faces"]) > 250, "all places to be taken", 20)
            # They are no newcomers any more.
            let_pass(11)
            self.others_are_served(daemon, attempts=20)
            peer = self.peer(self.other)
            self.is_served(peer, 1)
            again = [self.is_served(peer, number) for number in range(2, 60)]
        self.assertLessEqual(sum(again), 80, again)

    def test_five_thousand_connections_from_one_address(self):
        """Each is kept open as long as the attacker has descriptors; none says anything."""
        daemon = self.start()

        def connect():
            opened = []
            for _ in range(5000):
                made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                made.setblocking(False)
                made.connect_ex((self.address, PORT))
                opened.append(made)
                if len(opened) > 500:
                    opened.pop(0).close()
            return opened

        opened = self.away.inside(connect)
        uris = self.others_are_served(daemon, attempts=10)
        for made in opened:
            made.close()
        self.assertLessEqual(sum(uri.startswith("tcp4://10.77.1.2") for uri in uris), 64)

