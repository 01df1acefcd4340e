"""Files between every two of Weir's, python-ndn's, NDNts's and ndnd's tools, through a Weir daemon."""

import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import clients
from support import content, weir

SIZE = 300_000


class Transfer(unittest.TestCase):
    """One daemon, and a file that is a number of segments and a rest."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-clients-")))
        listen = {"udp": "off", "tcp": "off"}
        self.daemon = weir.Daemon(weir.program(), self.folder, "node", listen=listen)
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder)}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.file = content.make(self.folder / "file", SIZE)
        self.enterContext(self.daemon)

    def test_everybody_fetches_what_anybody_publishes(self):
        """What ends with all of a file is the file."""
        for publisher in clients():
            name = f"/demo/{publisher.name}"
            with publisher.publishing(self.daemon, name, self.file):
                for consumer in clients():
                    with self.subTest(publisher=publisher.name, consumer=consumer.name):
                        copy = self.folder / f"{publisher.name}-{consumer.name}"
                        consumer.get(self.daemon, name, copy)
                        self.assertEqual(content.sha256(copy), content.sha256(self.file))
