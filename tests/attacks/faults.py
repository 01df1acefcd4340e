"""Commands sent again, clocks that jump, processes that stop or die, disks that are full."""

import base64
import hashlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import _packets
import _service
from support import content, namespaces, weir
from support.children import Child, run, wait_until
from support.ndn import tlv

KILLS = int(os.environ.get("WEIR_ATTACKS_KILLS", "20"))
STOPPED_SECONDS = 3
ACCEPTED, DENIED = 200, 403
ED25519 = 5
LIBRARIES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1")


class Key:
    """An Ed25519 key of openssl, and its certificate."""

    def __init__(self, folder, identity):
        self.path = folder / "key.pem"
        run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.path])
        argv = ["openssl", "pkey", "-in", self.path, "-pubout", "-outform", "DER"]
        public = subprocess.run(argv, capture_output=True, check=True).stdout
        self.name = _packets.uri(identity) + tlv(8, b"KEY") + tlv(8, b"1")
        self.certificate = folder / "key.cert"
        valid = tlv(0xFE, b"20200101T000000") + tlv(0xFF, b"20500101T000000")
        info = self.info(tlv(0xFD, valid))
        name = self.name + _packets.uri("/self/v=1")
        packet = _packets.data(name, public, 3_600_000, 2, signature=(info, self.sign))
        self.certificate.write_bytes(base64.b64encode(packet))

    def info(self, more=b"", number=0x16):
        """SignatureInfo, or an Interest's."""
        locator = tlv(0x1C, tlv(_packets.NAME, self.name))
        return tlv(number, tlv(0x1B, _packets.nni(ED25519)) + locator + more)

    def sign(self, data):
        """The signature of some bytes."""
        message = self.path.with_name("message")
        message.write_bytes(data)
        argv = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.path, "-in", message]
        return subprocess.run([str(word) for word in argv], capture_output=True, check=True).stdout

    def register(self, prefix, time_ms):
        """A command to register a prefix for the face that it comes by: packet format v0.3."""
        parameters = tlv(0x68, tlv(_packets.NAME, _packets.uri(prefix)))
        name = _packets.uri("/localhop/nfd/rib/register") + tlv(8, parameters)
        info = self.info(tlv(0x26, os.urandom(8)) + tlv(0x28, _packets.nni(time_ms)), 0x2C)
        value = tlv(0x24, b"") + info
        value += tlv(0x2E, self.sign(name + value))
        name += tlv(2, hashlib.sha256(value).digest())
        return lambda nonce: tlv(
            _packets.INTEREST,
            tlv(_packets.NAME, name) + tlv(0x0A, struct.pack(">I", nonce)) + value,
        )


def answer(peer):
    """Status code and text of management's answer on a stream; None if there is none in time."""
    data = b""
    try:
        while True:
            packet = _packets.inner(data)
            if packet and packet[0] == _packets.DATA:
                break
            more = peer.recv(65536)
            if not more:
                return None
            data += more
    except TimeoutError:
        return None
    for _, value, _ in _packets.elements(packet[1]):
        for number, inside, _ in _packets.elements(value):
            if number == 0x15:
                response = next(_packets.elements(inside))[1]
                code, text = [value for _, value, _ in _packets.elements(response)][:2]
                return int.from_bytes(code, "big"), text.decode()
    return None


# Between a socket that it is given as standard input and a connection to the router.
RELAY = """
import socket, sys, threading
near, far = socket.socket(fileno=0), socket.create_connection((sys.argv[1], 6363))
def pass_on(source, target):
    while part := source.recv(65536):
        target.sendall(part)
threading.Thread(target=pass_on, args=(near, far), daemon=True).start()
pass_on(far, near)
"""


class Commands(_service.Kept):
    """A peer that may register from afar, and one that has received its command."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        network = self.enterContext(namespaces.Network())
        host, self.host = network.host("router"), network.host("peer")
        self.address = network.cable(host, self.host).addresses[0]
        subprocess.run([weir.ROOT / "scripts/need", "openssl"], check=True, capture_output=True)
        self.key = Key(self.folder, "/operator")
        rule = {"from": "remote", "key": str(self.key.certificate), "prefix": "/customer"}
        self.daemon = weir.Daemon(
            _service.PROGRAM(), self.folder, "router", host, sections={"[authorize]": rule}
        )
        self.enterContext(self.daemon)

    def peer(self):
        """A connection from the other host: through a relay there, since this program is not."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        argv = [sys.executable, "-c", RELAY, self.address]
        child = subprocess.Popen(self.host.command(*argv), stdin=theirs)
        theirs.close()
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        ours.settimeout(10)
        return ours

    def routes(self):
        """Routes below /customer."""
        argv = [_service.PROGRAM(), "route", "list", "--json", "--socket", self.daemon.socket]
        listed = json.loads(run(argv))
        return [route for route in listed if route["prefix"].startswith("/customer")]

    def assert_answer(self, peer, code):
        """The peer is answered with this status code."""
        answered = answer(peer)
        self.assertIsNotNone(answered, "no answer")
        self.assertEqual(answered[0], code, answered[1])

    def test_replayed_commands(self):
        """A signed command that was received is sent again, by its sender and by others.

        Only the first one is executed: the prefix stays with the face of the peer that signed it.
        """
        command = self.key.register("/customer/site", int(time.time() * 1000))
        honest, other = self.peer(), self.peer()
        honest.sendall(command(1))
        self.assert_answer(honest, ACCEPTED)
        routes = self.routes()
        self.assertEqual(len(routes), 1, routes)
        for nonce, peer in enumerate([honest, other, self.peer()], start=2):
            peer.sendall(command(nonce))
            self.assert_answer(peer, DENIED)
        old = self.key.register("/customer/other", int(time.time() * 1000) - 3_600_000)
        other.sendall(old(9))
        self.assert_answer(other, DENIED)
        self.assertEqual(self.routes(), routes)
        self.record({"replayed commands": 3, "old commands": 1}, "all denied")


class Clocks(_service.Kept):
    """A clock of the day that jumps while the daemon runs; the monotonic one goes on."""

    def test_clock_jumps(self):
        """The host's clock jumps by a day, back by two, and to 1971. Others keep their service."""
        subprocess.run([weir.ROOT / "scripts/need", "faketime"], check=False, capture_output=True)
        library = next((path for where in LIBRARIES for path in Path("/").glob(where[1:])), None)
        if not library:
            self.skipTest("there is no libfaketime here, and scripts/need cannot install it")
        ended = threading.Event()
        jumps = []

        def jump(router):
            while not ended.wait(0.6):
                offset = ("+1d", "-2d", "@1971-01-01 00:00:00", "+0")[len(jumps) % 4]
                (router.folder / "time").write_text(f"{offset}\n", encoding="utf-8")
                jumps.append(offset)

        def attack(router):
            ended.clear()
            threading.Thread(target=jump, args=(router,), daemon=True).start()

        def after(router):
            wait_until(lambda: len(jumps) >= 4, "every jump")
            ended.set()
            maps = Path(f"/proc/{router.daemon.process.pid}/maps").read_text(encoding="utf-8")
            self.assertIn(library.name, maps)
            (router.folder / "time").write_text("+0\n", encoding="utf-8")
            faces = router.daemon.status()["faces"]
            face = next(face["id"] for face in faces if face["name"] == "silent")
            argv = [_service.PROGRAM(), "route", "add", "/jumped", face]
            argv += ["--socket", router.daemon.socket]

            def executed():
                done = subprocess.run(
                    [str(word) for word in argv], capture_output=True, check=False
                )
                return done.returncode == 0

            wait_until(executed, "the execution of a command, now that the clock is right")
            return f"{len(jumps)} jumps"

        # The file is there before the daemon, or the library looks for it in vain.
        wrapped = (
            f"env LD_PRELOAD={library} FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_CACHE_DURATION=1 "
            'FAKETIME_TIMESTAMP_FILE="$FOLDER/time" "$WEIR" "$@"'
        )
        self.keep(attack, after, wrapped=wrapped)


class Processes(_service.Kept):
    """A router that stops for a while, dies, or cannot write its log."""

    def test_router_that_stops_for_three_seconds(self):
        """SIGSTOP in mid-transfer, SIGCONT after 3 s: the transfer goes on and ends by itself.

        It takes the undisturbed time and the pause, and as much again for finding its way back.
        """
        before = _service.Undisturbed.of(again=False)
        with _service.Router() as router:
            name, path = router.publish()
            target = router.folder / "received"
            fetch = router.daemon.get(name, target)
            router.enter_context(fetch.child)
            cables = router.hosts["router"]
            at = cables.received_bytes(cables.interfaces[0])
            wait_until(
                lambda: cables.received_bytes(cables.interfaces[0]) - at > _service.SIZE / 3,
                "a third of the file",
            )
            os.kill(router.daemon.process.pid, signal.SIGSTOP)
            threading.Event().wait(STOPPED_SECONDS)
            os.kill(router.daemon.process.pid, signal.SIGCONT)
            fetch.finish(_service.PATIENCE)
            self.assertEqual(content.sha256(target), content.sha256(path))
            took = fetch.summary["duration_s"]
            usual = _service.SIZE * 8 / 1e6 / before.mbps
            self.assertLess(took, 2 * (usual + STOPPED_SECONDS))
            before, after = self.keep_on(router, before)
            note = f"took {took:.1f} s instead of {usual:.1f} s; the next one undisturbed"
            self.record({"stops of 3 s": 1}, note, before, after)

    def test_router_that_is_killed_again_and_again(self):
        """SIGKILL at any time, also while it starts: each start is clean, and it serves at once.

        WEIR_ATTACKS_KILLS=1000 does it as often.
        """
        before, dice = _service.Undisturbed.of(again=False), random.Random(1)
        with _service.Router(listen={"unix_links": [], "unix_mode": "600"}) as router:
            daemon = router.daemon
            for _ in range(KILLS):
                daemon.process.kill()
                argv = daemon.command(daemon.weir, "daemon", "--config", daemon.config)
                with Child(argv, router.folder / "early.log"):
                    threading.Event().wait(dice.uniform(0, 0.05))
                daemon.start()
            log = (router.folder / "router.log").read_text(encoding="utf-8")
            early = (router.folder / "early.log").read_text(encoding="utf-8")
            for line in (log + early).splitlines():
                self.assertNotRegex(line, r"\b(WARN|ERROR)\b|panicked")
            before, after = self.keep_on(router, before)
            self.record({"kills": 2 * KILLS}, "each start clean", before, after)

    def test_log_on_a_full_disk(self):
        """The daemon's log cannot be written, while connections make it log much.

        Others keep their service.
        """

        def attack(router):
            router.attack("connections", mode="half", rate=300, total=1500, port=6363)
            router.attack("malformed", forms=["mutated"], rate=1000, seed=5, stream=True)

        self.keep(attack, wrapped='"$WEIR" "$@" 2>/dev/full')
