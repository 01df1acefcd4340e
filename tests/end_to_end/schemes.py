"""Every scheme that `weir schemes` lists, between two daemons with a slow link between them."""

import contextlib
import json
import tempfile
import unittest
from pathlib import Path

from chain import face_uri
from support import content, namespaces, weir
from support.children import run

SIZE = 3 * content.MEGABYTE
# The link is emulated by the faces: what schemes are told of its rate is what it has.
LINK = {"rate": "40 Mbit/s", "delay": "10 ms", "queue": "250 kB"}
# The consumer of schemes without one, and of a startup.
CONSUMER = "aimd"
AT_DAEMONS = {"marker", "shaper", "stamper", "strategy"}
PATIENCE = 120


class Schemes(unittest.TestCase):
    """left asks, right publishes."""

    def test_a_file_arrives_under_each(self):
        """Whole and unchanged, whatever governs the consumer, the links and the forwarding."""
        said = run([weir.program(), "schemes", "--json"])
        for scheme in json.loads(said):
            with self.subTest(scheme=scheme["name"]):
                self.fetch(scheme["name"], set(scheme["parts"]))

    def fetch(self, name, parts):
        """A file from right to left under the scheme."""
        about = {"scheme": name} if parts & AT_DAEMONS else {}
        control = {True: name, False: CONSUMER}["controller" in parts]
        if "startup" in parts:
            control = f"{name}+{CONSUMER}"
        with contextlib.ExitStack() as opened:
            enter = opened.enter_context
            folder = Path(enter(tempfile.TemporaryDirectory(prefix="weir-")))
            sent, target = content.make(folder / "sent", SIZE), folder / "received"
            left, right = self.daemons(enter, folder, about)
            enter(right.put("/right/file", sent))
            fetch = left.get("/right/file", target, options=["--control", control])
            enter(fetch.child)
            fetch.finish(PATIENCE)
            self.assertEqual(content.sha256(target), content.sha256(sent))
            self.assertEqual(fetch.summary["control"].split(":")[0], control)

    def daemons(self, enter, folder, about):
        """Two hosts, a cable and a daemon on each."""
        network = enter(namespaces.Network())
        hosts = {name: network.host(name) for name in ("left", "right")}
        cable = network.cable(hosts["left"], hosts["right"])
        for at, (end, other) in enumerate((("left", "right"), ("right", "left"))):
            uri = face_uri(4, cable.addresses[1 - at])
            yield enter(
                weir.Daemon(
                    weir.program(), folder, end, hosts[end], about=about,
                    faces=[(other, uri, LINK)], routes=[(f"/{other}", other)],
                )
            )
