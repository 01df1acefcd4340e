"""python-ndn's `pynfdc`, NDNts's management package and ndnd's tools manage a Weir daemon."""

import json
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import NDND, NDNTS, TOOLS
from support import weir
from support.children import Child, wait_until

# An address without a listener: a UDP face to it can still be created.
PEER = "udp4://127.0.0.1:7777"


class Managed(unittest.TestCase):
    """One daemon, which the tools are told of by the environment."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-manage-")))
        listen = {"udp": "127.0.0.1:0", "tcp": "off"}
        self.daemon = weir.Daemon(weir.program(), self.folder, "node", listen=listen)
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder)}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.enterContext(self.daemon)

    def tool(self, *argv):
        """The output of a tool, which must succeed."""
        argv = [str(word) for word in argv]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Pynfdc(Managed):
    """Every command of python-ndn's `pynfdc`."""

    def nfdc(self, *argv):
        """Its output."""
        return self.tool(TOOLS / "pynfdc", *argv)

    def face(self, uri):
        """The number of a face in its list."""
        rows = [line.split() for line in self.nfdc("Get-Face").splitlines()]
        return next((row[0] for row in rows if uri in row[1:2]), None)

    def test_status(self):
        self.assertIn("weir", self.nfdc("Get-Status"))

    def test_faces_come_and_go(self):
        self.assertIn("200", self.nfdc("New-Face", PEER))
        number = self.face(PEER)
        self.assertIsNotNone(number)
        self.assertIn(PEER, self.nfdc("Get-Face", number))
        self.assertIn(number, self.nfdc("Get-Face", PEER))
        self.assertIn("409", self.nfdc("New-Face", PEER))
        self.assertIn("200", self.nfdc("Remove-Face", number))
        self.assertIsNone(self.face(PEER))
        self.assertIn("No face is found", self.nfdc("Get-Face", PEER))

    def test_a_face_of_a_scheme_that_is_not_known_is_rejected(self):
        self.assertIn("406", self.nfdc("New-Face", "carrier://pigeon:1"))

    def test_routes_come_and_go(self):
        self.nfdc("New-Face", PEER)
        number = self.face(PEER)
        self.assertIn("200", self.nfdc("New-Route", "/there", number))
        forwarding, routing = self.nfdc("Get-Route", "/there").split("Routing Table")
        self.assertIn(f"FaceID={number}", forwarding)
        self.assertIn(f"FaceID={number}", routing)
        self.assertIn("200", self.nfdc("Remove-Route", "/there", number))
        self.assertNotIn("FaceID", self.nfdc("Get-Route", "/there"))

    def test_strategies_are_chosen(self):
        self.assertIn("200", self.nfdc("Set-Strategy", "/demo", "multicast"))
        self.assertIn("/strategy/multicast/", self.nfdc("Get-Strategy", "/demo"))
        self.assertIn("404", self.nfdc("Set-Strategy", "/demo", "/localhost/nfd/strategy/none"))
        self.assertIn("200", self.nfdc("Remove-Strategy", "/demo"))
        self.assertEqual(self.nfdc("Get-Strategy", "/demo"), "")


class Ndnts(Managed):
    """Every command and every dataset that `@ndn/nfdmgmt` knows."""

    def ask(self, verb, name, /, **what):
        """The reply."""
        words = [json.dumps(what)] if what else []
        return json.loads(self.tool(*NDNTS, self.daemon.socket, verb, name, *words))

    def command(self, name, status=200, /, **parameters):
        """A command's body, if its status is as expected."""
        answer = self.ask("command", name, **parameters)
        self.assertEqual(answer["statusCode"], status, answer)
        return answer["body"]

    def test_faces(self):
        made = self.command("faces/create", uri=PEER)
        self.assertEqual(made["uri"], PEER)
        again = self.command("faces/create", 409, uri=PEER)
        self.assertEqual(again["faceId"], made["faceId"])
        number = made["faceId"]
        changed = self.command("faces/update", faceId=number, mtu=1200, facePersistency=2)
        self.assertEqual((changed["mtu"], changed["facePersistency"]), (1200, 2))
        (face,) = self.ask("list", "faces/query", uri=PEER)
        self.assertEqual((face["faceId"], face["mtu"], face["faceScope"]), (number, 1200, 0))
        self.assertIn(PEER, [face["uri"] for face in self.ask("list", "faces/list")])
        self.command("faces/destroy", faceId=number)
        self.assertEqual(self.ask("list", "faces/query", uri=PEER), [])
        # A missing face may be destroyed again.
        self.command("faces/destroy", faceId=number)
        self.command("faces/update", 404, faceId=number, mtu=1200)

    def test_routes(self):
        number = self.command("faces/create", uri=PEER)["faceId"]
        route = {"name": "/there", "faceId": number, "origin": 255}
        added = self.command(
            "rib/register", **route, cost=7, flagChildInherit=True, expirationPeriod=3_600_000
        )
        self.assertEqual((added["cost"], added["flags"], added["origin"]), (7, 1, 255))
        entries = {entry["name"]: entry["route"] for entry in self.ask("list", "rib/list")}
        (shown,) = entries["/8=there"]
        self.assertEqual((shown["faceId"], shown["cost"]), (number, 7))
        self.assertTrue(0 < shown["expirationPeriod"] <= 3_600_000)
        self.command("rib/unregister", **route)
        self.assertNotIn("/8=there", [entry["name"] for entry in self.ask("list", "rib/list")])

    def test_strategies(self):
        multicast = "/localhost/nfd/strategy/multicast"
        chosen = self.command("strategy-choice/set", name="/demo", strategy=multicast)
        self.assertIn("multicast", chosen["strategy"])
        listed = {row["name"]: row["strategy"] for row in self.ask("list", "strategy-choice/list")}
        self.assertEqual(listed["/8=demo"], chosen["strategy"])
        self.command("strategy-choice/unset", name="/demo")
        listed = [row["name"] for row in self.ask("list", "strategy-choice/list")]
        self.assertEqual(listed, ["/"])

    def test_the_content_store(self):
        self.assertEqual(self.command("cs/config", capacity=1000)["capacity"], 1000)
        (info,) = self.ask("list", "cs/info")
        # Bit 0 is admission, bit 1 serving.
        self.assertEqual((info["capacity"], info["flags"]), (1000, 3))
        changed = self.command("cs/config", flags=0, mask=1)
        self.assertEqual(changed["flags"], 2)
        self.assertEqual(self.command("cs/erase", name="/demo", count=10)["count"], 0)

    def test_status_and_channels(self):
        (status,) = self.ask("list", "status/general")
        self.assertIn("weir", status["nfdVersion"])
        channels = [channel["localUri"] for channel in self.ask("list", "faces/channels")]
        self.assertTrue(any(uri.startswith("unix://") for uri in channels), channels)

    def test_a_prefix_is_announced(self):
        log = self.folder / "announce.log"
        with Child([*NDNTS, self.daemon.socket, "announce", "/announced"], log):

            def routed():
                entries = {entry["name"]: entry["route"] for entry in self.ask("list", "rib/list")}
                return [route["origin"] for route in entries.get("/8=announced", [])] == [129]

            wait_until(routed, "the route to be there")
            answer = self.ask("ask", "/announced/something")
            self.assertEqual(answer["content"], [0x57])


# Only a socket: nothing that it could share with another one on this host.
NDND_CONFIG = """
faces:
  udp: {{enabled_unicast: false, enabled_multicast: false}}
  tcp: {{enabled: false}}
  websocket: {{enabled: false}}
  unix: {{enabled: true, socket_path: "{socket}"}}
"""


@unittest.skipUnless(NDND.exists(), "ndnd could not be installed")
class OfOthers(unittest.TestCase):
    """Weir's tools at ndnd's forwarder, which sends no Nacks."""

    def test_status_asks_for_nothing_twice(self):
        """Missing and known items are requested together, and the answer covers both."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-manage-")))
        socket, config = folder / "ndnd.sock", folder / "ndnd.yml"
        config.write_text(NDND_CONFIG.format(socket=socket), encoding="utf-8")
        log = folder / "ndnd.log"
        with Child([NDND, "fw", "run", config], log):
            listens = "Listening for connections"
            wait_until(lambda: listens in log.read_text(encoding="utf-8"), "ndnd to listen")
            argv = [weir.program(), "status", "--json", "--socket", socket]
            done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        status = json.loads(done.stdout)
        self.assertEqual(status["missing"], ["/localhost/weir/counters"])
        mine = max(status["faces"], key=lambda face: face["id"])
        # The counters, the status, the faces.
        self.assertEqual(mine["received"]["interests"], 3)


@unittest.skipUnless(NDND.exists(), "ndnd could not be installed")
class Ndnd(Managed):
    """ndnd's own tools for a forwarder."""

    def test_datasets(self):
        for what in ("status", "face-list", "fib-list", "cs-info", "strategy-list"):
            with self.subTest(what):
                self.assertNotEqual(self.tool(NDND, "fw", what), "")
        # There is no registration.
        self.assertEqual(self.tool(NDND, "fw", "route-list"), "")

    def test_faces_routes_and_strategies(self):
        self.tool(NDND, "fw", "face-create", f"remote={PEER}")
        self.assertIn(PEER, self.tool(NDND, "fw", "face-list"))
        self.tool(NDND, "fw", "route-add", "prefix=/there", f"face={PEER}")
        self.assertIn("/there", self.tool(NDND, "fw", "route-list"))
        multicast = "/localhost/nfd/strategy/multicast"
        self.tool(NDND, "fw", "strategy-set", "prefix=/demo", f"strategy={multicast}")
        self.assertIn("/demo", self.tool(NDND, "fw", "strategy-list"))
