"""One daemon that peers cannot reach, one file, and a folder for each test."""

import tempfile
import unittest
from pathlib import Path

from support import content, schemas, weir

SIZE = 2 * content.MEGABYTE
# A daemon that peers cannot reach.
ALONE = {"udp": "off", "tcp": "off"}


class Alone(unittest.TestCase):
    """Files in `sent` may be published at `daemon`; `here` is the test's own folder."""

    faces = ()
    routes = ()
    # The section of its configuration.
    store = {}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.program = weir.program()
        cls.sent = content.make(cls.folder / "sent", SIZE)
        cls.daemon = weir.Daemon(
            cls.program,
            cls.folder,
            "daemon",
            faces=cls.faces,
            routes=cls.routes,
            listen=ALONE,
            store=cls.store,
        )
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.folder)
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)

    def assert_documented(self, command, summary):
        """The summary is as the schema of the command says, and has no other fields."""
        schemas.check(command.removeprefix("weir ").replace(" ", "-"), summary)
