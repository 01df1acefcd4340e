"""Files between every two of the tools of Weir, python-ndn, NDNts and ndnd, by a Weir daemon."""

import os
import re
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import NDNTS, Client, clients
from support import content, weir
from support.children import wait_until

SIZE = 300_000


class Transfer(unittest.TestCase):
    """One daemon, and a file that is a number of segments and a rest."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-clients-")))
        listen = {"udp": "off", "tcp": "off"}
        program = weir.program()
        self.clients = clients(program)
        self.daemon = weir.Daemon(program, self.folder, "node", listen=listen)
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder)}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.file = content.make(self.folder / "file", SIZE)
        self.enterContext(self.daemon)

    def test_everybody_fetches_what_anybody_publishes(self):
        """Output that ends with the whole file is the file."""
        for publisher in self.clients:
            name = f"/demo/{publisher.name}"
            with publisher.publishing(self.daemon, name, self.file):
                for consumer in self.clients:
                    # From the first on the content store answers as well.
                    with self.subTest(publisher=publisher.name, consumer=consumer.name):
                        self.fetch(consumer, name)

    def test_a_version_is_found_by_the_bare_name(self):
        """As NDNts does if there are no metadata."""
        weir_itself, *_ = self.clients
        ndnts = Client("NDNts", [], "", [*NDNTS, "@", "discover", "NAME", "FILE"])
        with weir_itself.publishing(self.daemon, "/demo/bare", self.file):
            self.fetch(ndnts, "/demo/bare")

    def test_programs_in_browsers_publish_and_fetch_by_websocket(self):
        """NDNts does both over its WebSocket transport."""
        self.daemon.listen["websocket"] = "127.0.0.1:0"
        self.daemon.sections["on_demand"] = {"local": True}
        self.daemon.process.kill()
        self.daemon.start()
        # The port is known from the log, which is written after local programs can connect.
        log, listener = self.folder / "node.log", r"ws://127\.0\.0\.1:\d+"
        wait_until(lambda: re.search(listener, log.read_text(encoding="utf-8")), "a listener")
        uri = re.search(listener, log.read_text(encoding="utf-8")).group()
        page = [*NDNTS, uri]
        publish, fetch = [*page, "serve", "NAME", "FILE"], [*page, "fetch", "NAME", "FILE"]
        browser = Client("browser", publish, "/8=demo", fetch)
        weir_itself, *_ = self.clients
        for publisher, consumer in ((browser, weir_itself), (weir_itself, browser)):
            with self.subTest(publisher=publisher.name):
                name = f"/demo/{publisher.name}"
                with publisher.publishing(self.daemon, name, self.file):
                    self.fetch(consumer, name)

    def fetch(self, consumer, name):
        """The file, whole."""
        copy = self.folder / "copy"
        copy.unlink(missing_ok=True)
        consumer.get(self.daemon, name, copy)
        self.assertEqual(content.sha256(copy), content.sha256(self.file))
