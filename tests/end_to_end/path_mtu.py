"""The path takes only shorter packets from the middle of a transfer on."""

import contextlib
import tempfile
import unittest
from pathlib import Path

from chain import face_uri
from support import content, namespaces, weir
from support.children import wait_until

SIZE = 20 * content.MEGABYTE
# Slow enough that a transfer of two seconds can be caught in the middle.
RATE = 80_000_000
NARROW = 1280
PATIENCE = 120


class PathMtu(unittest.TestCase):
    """left -- router -- right: two daemons, and between them a host that forwards IP packets."""

    def setUp(self):
        opened = contextlib.ExitStack()
        self.addCleanup(opened.close)
        self.enter = opened.enter_context
        self.folder = Path(self.enter(tempfile.TemporaryDirectory(prefix="weir-")))
        self.sent = content.make(self.folder / "sent", SIZE)
        self.target = self.folder / "received"

    def build(self, version):
        """Cables of 1500 bytes, IP routes, daemons; returns the interfaces by (host, towards)."""
        network = self.enter(namespaces.Network())
        hosts = {name: network.host(name) for name in ("left", "router", "right")}
        hosts["router"].forward_ip(version)
        cables = {end: network.cable(hosts["router"], hosts[end], version=version)
                  for end in ("left", "right")}
        interfaces = {}
        for end, other in (("left", "right"), ("right", "left")):
            interfaces["router", end], interfaces[end, "router"] = cables[end].interfaces
            far, gateway = cables[other].addresses[1], cables[end].addresses[0]
            hosts[end].run("ip", f"-{version}", "route", "add", far, "via", gateway)
        for at in (("right", "router"), ("router", "left")):
            hosts[at[0]].shape(interfaces[at], RATE, limit_bytes=300_000)
        self.daemons = {}
        for end, other in (("left", "right"), ("right", "left")):
            uri = face_uri(version, cables[other].addresses[1])
            self.daemons[end] = self.enter(
                weir.Daemon(
                    weir.program(), self.folder, end, hosts[end],
                    faces=[(other, uri)], routes=[(f"/{other}", other)],
                )
            )
        return hosts, interfaces

    def check(self, version, at, towards):
        """The interface `at` a host gets a smaller MTU in mid-transfer; the file arrives whole."""
        hosts, interfaces = self.build(version)
        self.enter(self.daemons["right"].put("/right/file", self.sent))
        fetch = self.daemons["left"].get("/right/file", self.target)
        self.enter(fetch.child)
        left, inlet = hosts["left"], interfaces["left", "router"]

        def half():
            self.assertTrue(fetch.child.running, fetch.child.last_words())
            return left.received_bytes(inlet) >= SIZE // 2

        wait_until(half, "half of the file to arrive", PATIENCE)
        hosts[at].run("ip", "link", "set", interfaces[at, towards], "mtu", NARROW)
        fetch.finish(PATIENCE)
        self.assertEqual(content.sha256(self.target), content.sha256(self.sent))
        mtus = {face["name"]: face["mtu"] for face in self.daemons["right"].status()["faces"]}
        # IP and UDP headers are no part of a frame.
        self.assertEqual(mtus["left"], NARROW - (48 if version == 6 else 28))

    def test_next_link(self):
        """The sender's own interface."""
        self.check(4, "right", "router")

    def test_far_link(self):
        """A link behind a router, which says so."""
        self.check(4, "router", "left")

    def test_far_link_ipv6(self):
        """The same with IPv6, whose routers have other words for it."""
        if not namespaces.has_ipv6():
            self.skipTest("this kernel has no IPv6")
        self.check(6, "router", "left")
