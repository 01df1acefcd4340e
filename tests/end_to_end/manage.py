"""A running forwarder is changed from the command line, by NFD's management protocol."""

import json
import os
import subprocess
import unittest.mock

from alone import Alone

USAGE, NOT_FOUND = 2, 3
PATIENCE = 60
PEER = "udp4://127.0.0.1:9"


class Manage(Alone):
    """One daemon without neighbours; tests leave it as it was."""

    def weir(self, *arguments):
        """The program's output."""
        argv = [str(self.program), *map(str, arguments), "--socket", str(self.daemon.socket)]
        given = {"stdin": subprocess.DEVNULL, "cwd": self.here, "timeout": PATIENCE}
        return subprocess.run(argv, text=True, check=False, capture_output=True, **given)

    def said(self, *arguments):
        """Its output when successful."""
        done = self.weir(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def object(self, *arguments):
        """The same as an object."""
        return json.loads(self.said(*arguments, "--json"))

    def rejected(self, status, part, *arguments):
        """It fails with one line."""
        done = self.weir(*arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Aweir: [^A-Z\n]+.*; [^;]+\n\Z")
        self.assertIn(part, done.stderr)

    def test_faces_and_routes(self):
        """A neighbour gets a face and a route, and loses them."""
        made = self.object("face", "create", "udp://127.0.0.1:9", "--mtu", 1400)
        self.assertEqual((made["uri"], made["mtu"], made["created"]), (PEER, 1400, True))
        again = self.object("face", "create", PEER)
        self.assertEqual((again["id"], again["created"]), (made["id"], False))
        changed = self.object("face", "update", PEER, "--persistency", "permanent")
        self.assertEqual(changed["persistency"], "permanent")
        faces = {face["id"]: face for face in self.object("face", "list")}
        self.assertEqual(faces[made["id"]]["uri"], PEER)
        self.assertIn(PEER, self.said("face", "list"))
        self.said("route", "add", "/far", PEER, "--cost", 7, "--capture", "--expires", "1 min")
        (route,) = [r for r in self.object("route", "list") if r["prefix"] == "/far"]
        self.assertLess(route.pop("expires_ms"), 60_001)
        flags = ["inherit", "capture"]
        expected = {"prefix": "/far", "face": made["id"], "origin": 255, "cost": 7, "flags": flags}
        self.assertEqual(route, expected)
        self.assertRegex(self.said("route", "list"), r"/far +\d+ +7 +static +inherit capture")
        self.said("route", "remove", "/far", PEER)
        self.assertEqual(self.object("route", "list"), [])
        self.said("face", "destroy", PEER)
        self.rejected(NOT_FOUND, "has no face", "face", "destroy", PEER)
        self.rejected(NOT_FOUND, "has no face", "route", "add", "/far", made["id"])
        self.rejected(USAGE, "is not a face URI", "face", "create", "127.0.0.1")

    def test_strategies(self):
        """A strategy is named by a word or as the protocol does."""
        chosen = self.object("strategy", "set", "/a", "multicast")
        self.assertRegex(chosen["strategy"], r"\A/localhost/nfd/strategy/multicast/v=\d+\Z")
        self.assertIn(chosen, self.object("strategy", "list"))
        self.rejected(NOT_FOUND, "404", "strategy", "set", "/a", "nosuch")
        self.said("strategy", "unset", "/a")
        self.assertNotIn(chosen, self.object("strategy", "list"))

    def test_key_that_is_not_there(self):
        """A command is not sent with a weaker signature than the one that is wanted."""
        with unittest.mock.patch.dict(os.environ, {"WEIR_HOME": str(self.here)}):
            self.rejected(7, "/nobody", "cs", "erase", "/", "--sign", "/nobody")

    def test_content_store(self):
        """It is bounded, switched off and on again, and emptied."""
        before = self.object("cs", "info")["capacity"]
        told = self.object("cs", "config", "--capacity", 100, "--admit", "off")
        self.assertEqual(told, {"capacity": 100, "flags": ["serve"]})
        self.assertIn("at most 100 packets; admit off, serve on", self.said("cs", "info"))
        self.said("cs", "config", "--capacity", before, "--admit", "on")
        self.assertIn("erased", self.object("cs", "erase", "/"))
