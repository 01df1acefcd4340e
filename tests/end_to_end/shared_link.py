"""Two hosts on one link that find each other by a group or by link-local addresses."""

import re
import tempfile
import unittest
from pathlib import Path

from support import content, weir
from support.children import wait_until
from support.namespaces import Network, has_ipv6

SIZE = content.MEGABYTE
PATIENCE = 60
OFF = {"udp": "off", "tcp": "off"}


def link_local(host, interface):
    """The address of an interface that no wait for a duplicate holds up any more."""
    found = []

    def ready():
        said = host.run(
            "ip", "-6", "-oneline", "address", "show", "dev", interface, "scope", "link"
        )
        found[:] = re.findall(r"inet6 (fe80:[0-9a-f:]+)/", said)
        return found and "tentative" not in said

    wait_until(ready, f"the link-local address of {interface}")
    return found[0]


class SharedLink(unittest.TestCase):
    """A producer and a consumer, each with a daemon."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = weir.program()
        self.sent = content.make(self.folder / "sent", SIZE)
        network = Network()
        self.addCleanup(network.__exit__, None, None, None)
        self.hosts = [network.host("near"), network.host("far")]
        self.cable = network.cable(*self.hosts)

    def daemon(self, end, uri, listen, **more):
        """The daemon of one host, with a face there."""
        name = ("near", "far")[end]
        faces = [("link", uri, more)]
        routes = [("/shared", "link")] if end == 0 else []
        made = weir.Daemon(self.program, self.folder, name, self.hosts[end], faces, routes, listen)
        made.start()
        self.addCleanup(made.process.kill)
        return made

    def crosses(self, near, far):
        """A file comes from far to near."""
        server = far.put("/shared/file", self.sent)
        self.addCleanup(server.kill)
        output = self.folder / "received"
        near.get("/shared/file", output).finish(PATIENCE)
        self.assertEqual(content.sha256(output), content.sha256(self.sent))

    def test_group_of_ipv4(self):
        """Neither knows the other's address: the group is named, and the interface."""
        ends = [
            self.daemon(end, "udp4://224.0.23.170", OFF, interface=self.cable.interfaces[end])
            for end in (0, 1)
        ]
        self.crosses(*ends)
        face = next(face for face in ends[0].status()["faces"] if face["name"] == "link")
        self.assertEqual(face["uri"], "udp4://224.0.23.170:56363")
        self.assertEqual(face["drops"].get("duplicate", 0), 0, "no host receives its own packets")

    @unittest.skipUnless(has_ipv6(), "this host has no IPv6")
    def test_group_of_ipv6(self):
        """The interface may stand in the URI."""
        for end in (0, 1):
            link_local(self.hosts[end], self.cable.interfaces[end])
        uris = [f"udp6://[ff02::1234%25{name}]" for name in self.cable.interfaces]
        self.crosses(*(self.daemon(end, uris[end], OFF) for end in (0, 1)))

    @unittest.skipUnless(has_ipv6(), "this host has no IPv6")
    def test_link_local_address(self):
        """A peer's address that means something on one interface alone."""
        peer = link_local(self.hosts[1], self.cable.interfaces[1])
        own = link_local(self.hosts[0], self.cable.interfaces[0])
        near, far = self.cable.interfaces
        listen = {"udp": "[::]:6363", "tcp": "off"}
        ends = [
            self.daemon(0, f"udp6://[{peer}%25{near}]:6363", listen),
            self.daemon(1, f"udp6://[{own}%{far}]:6363", listen),
        ]
        self.crosses(*ends)
        uris = [face["uri"] for face in ends[0].status()["faces"]]
        self.assertIn(f"udp6://[{peer}%{near}]:6363", uris)
        self.assertEqual(sum("udp6" in uri for uri in uris), 1, "one face at each end")
