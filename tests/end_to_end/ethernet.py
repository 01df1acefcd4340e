"""Faces over Ethernet without IP: stations, groups, VLANs, attacks, interfaces that change."""

import contextlib
import json
import re
import socket
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import content, ndn, weir
from support.children import Failed, wait_until
from support.namespaces import Network

SIZE = 4 * content.MEGABYTE
PATIENCE = 60
GROUP = "ether://[01:00:5e:00:17:aa]"
ETHERTYPE = 0x8624
OFF = {"udp": "off", "tcp": "off"}
FAILED = 1
# Stations that no host has.
FORGED = "02:77:00:00:{:02x}:{:02x}"


def packed(address):
    """The bytes of an address."""
    return bytes(int(part, 16) for part in address.split(":"))


def frame(to, source, payload, ethertype=ETHERTYPE):
    """An Ethernet frame, which no card pads."""
    return packed(to) + packed(source) + struct.pack(">H", ethertype) + payload


def tagged(vlan, bytes_of_frame):
    """The same frame with the tag of a VLAN (IEEE 802.1Q)."""
    tag = struct.pack(">HH", 0x8100, vlan)
    return bytes_of_frame[:12] + tag + bytes_of_frame[12:]


class Wire:
    """A program that sends any frame by an interface of a host."""

    def __init__(self, host, interface):
        self.interface = interface

        def make():
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
            made.bind((interface, ETHERTYPE))
            made.settimeout(PATIENCE)
            return made

        self.socket = host.inside(make)

    def send(self, *frames):
        """Send them in this order."""
        for one in frames:
            self.socket.send(one)

    def receive(self, source):
        """The next frame of NDN from a station, without its header."""
        while True:
            got = self.socket.recv(65536)
            if got[6:12] == packed(source) and got[12:14] == struct.pack(">H", ETHERTYPE):
                return got[14:]


class Ethernet(unittest.TestCase):
    """Two hosts on one cable, whose interfaces have no address of IP."""

    def setUp(self):
        opened = contextlib.ExitStack()
        self.addCleanup(opened.close)
        self.enter = opened.enter_context
        self.folder = Path(self.enter(tempfile.TemporaryDirectory(prefix="weir-")))
        self.program = weir.program()
        self.network = self.enter(Network())
        self.near, self.far = (self.network.host(name) for name in ("near", "far"))
        cable = self.network.cable(self.near, self.far)
        self.names = dict(zip((self.near, self.far), cable.interfaces))
        for host in self.names:
            host.run("ip", "address", "flush", "dev", self.names[host])
        self.sent = content.make(self.folder / "sent", SIZE)

    def address(self, host, interface=None):
        """The address of a host's interface."""
        shown = host.run("ip", "-oneline", "link", "show", "dev", interface or self.names[host])
        return re.search(r"link/ether ([0-9a-f:]{17})", shown)[1]

    def daemon(self, host, faces=(), routes=(), listen=(), **sections):
        """A daemon that has nothing but Ethernet. Each face is a name, a URI and its options."""
        made = weir.Daemon(
            self.program, self.folder, host.name, host, list(faces), list(routes),
            {**OFF, "ether": list(listen)}, sections=sections,
        )
        self.enter(made)
        # Applications can connect before frames can come in.
        self.logs(made, "the forwarder is up")
        return made

    def link(self, host, uri, interface=None, **options):
        """A face of the configuration."""
        return ("link", uri, {"interface": interface or self.names[host], **options})

    def to_far(self, **options):
        """A daemon on the near host with a face to the far host, and a route."""
        uri = f"ether://[{self.address(self.far)}]"
        return self.daemon(self.near, [self.link(self.near, uri, **options)], [("/far", "link")])

    def faces(self, daemon, uri=""):
        """Its faces over Ethernet."""
        found = [face for face in daemon.status()["faces"] if face["uri"].startswith("ether://")]
        return [face for face in found if uri in face["uri"]]

    def crosses(self, near, far, name="/far/file"):
        """A file comes from far to near."""
        server = far.put(name, self.sent)
        output = self.folder / "received"
        near.get(name, output).finish(PATIENCE)
        self.assertEqual(content.sha256(output), content.sha256(self.sent))
        server.kill()

    def log(self, daemon):
        """The text of its log."""
        return (self.folder / f"{daemon.name}.log").read_text(encoding="utf-8")

    def logs(self, daemon, text):
        """Wait until the log has this text."""
        wait_until(lambda: text in self.log(daemon), f"`{text}` in the log of {daemon.name}")

    def said(self, daemon, *arguments, status=0):
        """The output of the program for a daemon."""
        argv = [self.program, *arguments, "--socket", daemon.socket]
        done = subprocess.run(
            daemon.command(*argv), capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_a_station(self):
        """A face to a station, and the face on demand that its first frame makes."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        near = self.to_far()
        self.crosses(near, far)
        (face,) = self.faces(near)
        self.assertEqual(face["uri"], f"ether://[{self.address(self.far)}]")
        self.assertEqual(face["local_uri"], f"dev://{self.names[self.near]}")
        self.assertEqual(face["mtu"], 1500)
        # Segments are longer than a frame.
        self.assertGreater(face["received"]["frames"], 2 * face["received"]["data"])
        (other,) = self.faces(far)
        self.assertEqual(other["uri"], f"ether://[{self.address(self.near)}]")
        self.assertEqual(other["local_uri"], f"dev://{self.names[self.far]}")

    def test_a_group(self):
        """Neither host knows the other's address."""
        far = self.daemon(self.far, [self.link(self.far, GROUP)])
        near = self.daemon(self.near, [self.link(self.near, GROUP)], [("/far", "link")])
        self.crosses(near, far)
        (face,) = self.faces(near)
        self.assertEqual(face["uri"], GROUP)
        self.assertEqual(face["drops"].get("duplicate", 0), 0, "no frame comes back")

    def test_options_of_links(self):
        """Rate, reliability and MTU count as over UDP."""
        lossy = {"reliability": True, "loss": "2 %"}
        far = self.daemon(self.far, listen=[self.names[self.far]], on_demand=lossy)
        near = self.to_far(rate="40 Mbit/s", mtu=900, **lossy)
        self.crosses(near, far)
        self.assertEqual(self.faces(near)[0]["mtu"], 900)
        (face,) = [
            face for face in json.loads(self.said(near, "face", "list", "--json"))
            if face["uri"].startswith("ether://")
        ]
        self.assertIn("reliability", face["flags"])

    def test_commands(self):
        """A face is made by NFD's command, is there once, and survives its interface."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        near = self.daemon(self.near)
        uri, local = f"ether://[{self.address(self.far)}]", f"dev://{self.names[self.near]}"
        create = ["face", "create", uri, "--local", local, "--json"]
        made = json.loads(self.said(near, *create))
        self.assertEqual((made["uri"], made["local_uri"]), (uri, local))
        again = json.loads(self.said(near, *create))
        self.assertEqual((again["id"], again["created"]), (made["id"], False))
        self.said(near, "route", "add", "/far", uri)
        self.crosses(near, far)
        for text, arguments in [
            ("needs the interface as LocalUri", [uri]),
            ("only the configuration can create multicast faces", [GROUP, "--local", local]),
            ("is the address of", [f"ether://[{self.address(self.near)}]", "--local", local]),
            ("`nosuch0` is not there", [uri, "--local", "dev://nosuch0"]),
            ("`lo` is not an Ethernet interface", [uri, "--local", "dev://lo"]),
        ]:
            with self.subTest(text=text):
                self.assertIn(text, self.said(near, "face", "create", *arguments, status=FAILED))
        self.assertEqual(len(self.faces(near)), 1, "a rejected command leaves no face")
        self.said(near, "face", "destroy", uri)
        self.assertEqual(self.faces(near), [])

    def test_vlan(self):
        """The interface of a VLAN is one of its own, and its frames are not the parent's."""
        inner = {host: f"vlan-{host.name}.5" for host in self.names}
        for host, name in inner.items():
            self.stack(host, name, "type", "vlan", "id", 5)
        far = self.daemon(self.far, listen=[self.names[self.far], inner[self.far]])
        uri = f"ether://[{self.address(self.far, inner[self.far])}]"
        link = self.link(self.near, uri, inner[self.near])
        near = self.daemon(self.near, [link], [("/far", "link")])
        self.crosses(near, far)
        (face,) = self.faces(far)
        self.assertEqual(face["local_uri"], f"dev://{inner[self.far]}")

    def stack(self, host, name, *kind):
        """Make an interface on top of the cable's."""
        try:
            host.run("ip", "link", "add", "link", self.names[host], "name", name, *kind)
        except Failed as error:
            if "Unknown device type" in str(error):
                self.skipTest(f"this kernel has no interfaces of {' '.join(map(str, kind))}")
            raise
        host.run("ip", "link", "set", name, "up")

    def test_an_interface_on_top(self):
        """The kernel shows its frames to sockets of the parent, too, as it does with VLANs."""
        self.stack(self.far, "top", "type", "macvlan", "mode", "passthru")
        self.assertEqual(self.address(self.far, "top"), self.address(self.far))
        far = self.daemon(self.far, listen=[self.names[self.far], "top"])
        self.crosses(self.to_far(), far)
        self.assertEqual([face["local_uri"] for face in self.faces(far)], ["dev://top"])

    def test_tagged_frames(self):
        """Frames of a VLAN of which the host has no interface count for nothing."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        wire = Wire(self.near, self.names[self.near])
        interest = ndn.interest("far", "vlan")
        own = self.address(self.far)
        forged = [FORGED.format(0, number) for number in (1, 2)]
        wire.send(tagged(7, frame(own, forged[0], interest)), frame(own, forged[1], interest))
        wait_until(lambda: self.faces(far, forged[1]), "a face for the frame without a tag")
        self.assertEqual(self.faces(far, forged[0]), [], "a tagged frame is not the parent's")

    def test_hostile_frames(self):
        """No face for frames that no station sends. Padding behind a packet does no harm."""
        far = self.daemon(self.far, [self.link(self.far, GROUP)], listen=[self.names[self.far]])
        wire = Wire(self.near, self.names[self.near])
        own, interest = self.address(self.far), ndn.interest("far", "x")
        number = iter(range(1, 100))

        def station():
            return FORGED.format(1, next(number))

        wire.send(
            frame(own, "01:00:5e:00:17:aa", interest),
            frame(own, "ff:ff:ff:ff:ff:ff", interest),
            frame(own, "00:00:00:00:00:00", interest),
            frame(own, own, interest),
            frame("01:00:5e:00:17:aa", own, interest),
            frame("02:00:00:00:00:99", station(), interest),
            frame("01:00:5e:00:17:bb", station(), interest),
            frame(own, station(), interest, 0x0800),
            frame(own, station(), b""),
            frame(own, station(), bytes(46)),
            frame(own, station(), interest[:-1]),
            frame(own, station(), b"\x05\xfe\xff\xff\xff\xff" + bytes(40)),
            frame(own, station(), b"\x64\xfd\x05\xd8" + bytes(100)),
            frame(own, station(), b"\x99" * 1500),
        )
        last = station()
        wire.send(frame(own, last, interest.ljust(46, b"\0")))
        wait_until(lambda: self.faces(far, last), "a face for a padded frame")
        stations = [face for face in self.faces(far) if face["uri"] != GROUP]
        self.assertEqual([face["uri"] for face in stations], [f"ether://[{last}]"])
        self.assertEqual(stations[0]["received"]["interests"], 1)

    def test_a_station_that_is_no_weir(self):
        """Plain packets, padded as by a card, are answered by frames without padding."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        self.enter(far.put("/far/small", content.make(self.folder / "small", 3000)))
        wire = Wire(self.near, self.names[self.near])
        source, own = self.address(self.near), self.address(self.far)
        interest = ndn.interest("far", "nothing", lifetime_ms=1000)
        wire.send(frame(own, source, interest.ljust(46, b"\0")))
        # The route of the producer does not lead there: a Nack with the Interest in it.
        got = wire.receive(own)
        self.assertEqual(got[0], 0x64)
        self.assertIn(ndn.name("far", "nothing"), got)

    def test_flood(self):
        """Forged stations get at most the faces that there are, and a peer is served meanwhile."""
        most = 20
        limits = {"max": most}
        far = self.daemon(self.far, listen=[self.names[self.far]], on_demand=limits)
        near = self.to_far()
        wire = Wire(self.near, self.names[self.near])
        own = self.address(self.far)

        def flood(first, last):
            for number in range(first, last):
                name = FORGED.format(number >> 8, number & 255)
                wire.send(frame(own, name, ndn.interest("flood", number, nonce=number + 1)))

        flood(0, 3000)
        server = far.put("/far/file", self.sent)
        output = self.folder / "received"
        fetch = near.get("/far/file", output)
        number = 3000
        while fetch.child.running and number < 60_000:
            flood(number, number + 100)
            number += 100
            if number % 1000 == 0:
                self.assertLessEqual(len(self.faces(far)), most)
        fetch.finish(PATIENCE)
        self.assertEqual(content.sha256(output), content.sha256(self.sent))
        self.assertLessEqual(len(self.faces(far)), most)
        server.kill()

    def test_interface_down_and_up(self):
        """The face goes down with a line in the log, and comes back with its interface."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        near = self.to_far()
        self.crosses(near, far)
        name = self.names[self.near]
        self.near.run("ip", "link", "set", name, "down")
        wait_until(lambda: not self.faces(near)[0]["up"], "the face to be down")
        self.logs(near, "an Ethernet interface is down")
        # The other end has lost its carrier.
        self.logs(far, "an Ethernet interface is down")
        self.near.run("ip", "link", "set", name, "up")
        wait_until(lambda: self.faces(near)[0]["up"], "the face to be up")
        self.logs(far, "an Ethernet interface is up")
        self.crosses(near, far)

    def test_interface_disappears(self):
        """An interface that is removed and made again has its faces again; it may come late."""
        near_name, far_name = self.names[self.near], self.names[self.far]
        addresses = [self.address(host) for host in self.names]
        self.near.run("ip", "link", "delete", near_name)
        far = self.daemon(self.far, listen=[far_name])
        self.logs(far, "no Ethernet frames arrive until the interface is up")
        uri = f"ether://[{addresses[1]}]"
        near = self.daemon(self.near, [self.link(self.near, uri)], [("/far", "link")])
        self.assertFalse(self.faces(near)[0]["up"])
        for _ in range(2):
            self.plug(addresses)
            wait_until(lambda: self.faces(near)[0]["up"], "the face to be up")
            self.logs(far, "an Ethernet interface is up")
            self.crosses(near, far)
            self.near.run("ip", "link", "delete", near_name)
            wait_until(lambda: not self.faces(near)[0]["up"], "the face to be down")
            self.logs(near, f"the interface `{near_name}` is not there")

    def plug(self, addresses):
        """Make the cable with these addresses of the near and the far end."""
        names = [self.names[self.near], self.names[self.far]]
        peer = ["peer", "name", names[1], "address", addresses[1], "netns", self.far.pid]
        self.near.run(
            "ip", "link", "add", names[0], "address", addresses[0], "type", "veth", *peer
        )
        for host, name in zip((self.near, self.far), names):
            host.run("ip", "link", "set", name, "up")

    def test_address_changes(self):
        """An interface with a new address sends from it."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        near = self.to_far()
        self.crosses(near, far)
        new = "02:00:00:00:77:01"
        self.near.run("ip", "link", "set", self.names[self.near], "address", new)
        self.logs(near, "was replaced by another one")
        wait_until(lambda: self.faces(near)[0]["up"], "the face to be up")
        self.crosses(near, far)
        self.assertEqual(len(self.faces(far, new)), 1)

    def test_mtu(self):
        """Frames follow the interface's MTU."""
        far = self.daemon(self.far, listen=[self.names[self.far]])
        near = self.to_far()
        for mtu in (1500, 1100, 4000):
            for host, name in self.names.items():
                host.run("ip", "link", "set", name, "mtu", mtu)
            wait_until(lambda: self.faces(near)[0]["mtu"] == mtu, f"an MTU of {mtu}")
            self.crosses(near, far)
            self.assertEqual(self.faces(far)[0]["mtu"], mtu)
        # No fragment has room.
        self.near.run("ip", "link", "set", self.names[self.near], "mtu", 500)
        self.logs(near, "takes 500 bytes a frame")

    def test_without_the_capability(self):
        """The daemon does not start, and says what it lacks; without Ethernet it needs nothing."""
        name = self.names[self.near]
        drop = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]
        uri = f"ether://[{self.address(self.far)}]"
        face = f'[[face]]\nuri = "{uri}"\ninterface = "{name}"\n'
        for start, text in [
            (f"cannot use dev://{name}: ", f'[listen]\nether = "{name}"\n'),
            (f"cannot use {uri}: ", face),
        ]:
            config = self.folder / "lacking.toml"
            listen = text if "[listen]" in text else "[listen]\n" + text
            unix = f'[listen]\nudp = "off"\ntcp = "off"\nunix = "{self.folder}/lacking.sock"'
            config.write_text(listen.replace("[listen]", unix), encoding="utf-8")
            argv = [*drop, *weir.forwarder(self.program), "--config", config]
            done = subprocess.run(
                self.near.command(*argv), capture_output=True, text=True, check=False, timeout=60
            )
            self.assertEqual(done.returncode, FAILED)
            self.assertIn("or leave out `ether` under [listen]", done.stderr)
            self.assertIn(start, done.stderr)
            self.assertIn("need the capability CAP_NET_RAW", done.stderr)
            self.assertIn("AmbientCapabilities=CAP_NET_RAW", done.stderr)
        argv = self.near.command(*drop, self.program, "doctor", "--json")
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        (check,) = [one for one in json.loads(done.stdout) if one["check"] == "ethernet"]
        self.assertEqual(check["result"], "advice")
        self.assertIn("CAP_NET_RAW", check["change"])

    def test_reload(self):
        """A daemon begins and ends to listen on an interface while it runs."""
        far = self.daemon(self.far)
        near = self.to_far()
        far.listen["ether"] = [self.names[self.far]]
        self.reload(far)
        self.crosses(near, far)
        far.listen["ether"] = []
        self.reload(far)
        wire = Wire(self.near, self.names[self.near])
        forged = FORGED.format(3, 1)
        own = self.address(self.far)
        before = self.faces(far)[0]["received"]["interests"]
        wire.send(
            frame(own, forged, ndn.interest("far", "x")),
            frame(own, self.address(self.near), ndn.interest("far", "y")),
        )
        # The face that is there stays.
        wait_until(
            lambda: self.faces(far)[0]["received"]["interests"] > before, "a frame of a known peer"
        )
        self.assertEqual(self.faces(far, forged), [])

    def reload(self, daemon):
        """Have it read its configuration again."""
        daemon.config.write_text(daemon.text(), encoding="utf-8")
        note = "configuration reloaded"
        count = self.log(daemon).count(note)
        subprocess.run(["kill", "-HUP", str(daemon.process.pid)], check=True)
        wait_until(lambda: self.log(daemon).count(note) > count, "the configuration")
