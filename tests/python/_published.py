"""A daemon that peers cannot reach, with keys of its own, for tests of transfers."""

import os
import subprocess
import sysconfig
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import weir
from support import weir as daemons

PROGRAM = Path(sysconfig.get_path("scripts"), "weir")


class WithDaemon(unittest.TestCase):
    """One daemon for all tests of a class. Keys of /alice and /mallory exist."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.daemon = daemons.Daemon(
            PROGRAM, cls.folder, "daemon", listen={"udp": "off", "tcp": "off"}
        )
        cls.daemon.start()
        cls.addClassCleanup(cls.daemon.process.kill)
        cls.socket = str(cls.daemon.socket)
        home = {"WEIR_HOME": str(cls.folder / "home")}
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, home))
        for name in ("alice", "mallory"):
            made = subprocess.run(
                [PROGRAM, "key", "new", f"/{name}"], capture_output=True, check=True
            )
            cls.folder.joinpath(f"{name}.cert").write_bytes(made.stdout)

    def publish(self, name, content, **options):
        """Published until the test has ended."""
        made = weir.publish(name, content, socket=self.socket, **options)
        self.addCleanup(made.close)
        return made
