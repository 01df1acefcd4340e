"""Files both ways between `weir put`/`get` and python-ndn's `putchunks`/`catchunks`."""

import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from support import content, report, weir  # noqa: E402
from support.children import Child, wait_until  # noqa: E402

# python-ndn's tools stand beside the interpreter of the virtual environment.
PYNDNTOOLS = Path(sys.executable).parent / "pyndntools"
PYNFDC = Path(sys.executable).parent / "pynfdc"
SIZE = 300_000


class PythonNdn(unittest.TestCase):
    """One daemon, and a file that is a number of segments and a rest."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-pyndn-")))
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder)}
        listen = {"udp": "off", "tcp": "off"}
        self.daemon = weir.Daemon(weir.program(), self.folder, "node", listen=listen)
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.file = self.folder / "file"
        content.make(self.file, SIZE)
        self.copy = self.folder / "copy"
        self.enterContext(self.daemon)

    def check(self):
        """The copy is the file."""
        self.assertEqual(content.sha256(self.copy), content.sha256(self.file))

    def tool(self, program, *argv):
        """A tool of python-ndn's as a child, and what it says."""
        log = self.folder / f"{argv[0]}.log"
        return self.enterContext(Child([program, *argv], log)), log

    def test_putchunks_to_get(self):
        """python-ndn publishes."""
        child, log = self.tool(PYNDNTOOLS, "putchunks", "/demo/py", self.file)
        wait_until(lambda: "Start serving" in log.read_text(), f"{child.name} to serve")
        self.daemon.get("/demo/py", self.copy).finish(60)
        self.check()

    def test_put_to_catchunks(self):
        """python-ndn fetches."""
        self.enterContext(self.daemon.put("/demo/weir", self.file))
        child, log = self.tool(PYNDNTOOLS, "catchunks", "-o", self.copy, "/demo/weir")
        child.wait(60)
        self.assertTrue(self.copy.exists(), log.read_text()[-500:])
        self.check()

    def test_datasets(self):
        """Its management client reads the forwarder's state."""
        child, log = self.tool(PYNFDC, "Get-Status")
        child.wait(20)
        self.assertIn("weir", log.read_text())
        child, log = self.tool(PYNFDC, "Get-Route")
        child.wait(20)
        self.assertIn("/localhost/nfd", log.read_text())

    def asked(self, *argv):
        """What its management client says."""
        log = self.folder / f"{argv[0]}.log"
        log.unlink(missing_ok=True)
        child, log = self.tool(PYNFDC, *argv)
        child.wait(20)
        return log.read_text()

    def test_commands(self):
        """Its management client makes a face, a route and a choice, and takes them back."""
        peer = "udp4://127.0.0.1:7777"
        self.assertIn("200", self.asked("New-Face", peer))
        self.assertIn("409", self.asked("New-Face", peer))
        self.assertIn("406", self.asked("New-Face", "ether://[01:00:5e:00:17:aa]"))
        (line,) = [line for line in self.asked("Get-Face").splitlines() if peer in line]
        face = line.split()[0]
        self.assertIn("200", self.asked("New-Route", "/demo", face))
        self.assertIn("/demo", self.asked("Get-Route"))
        self.assertIn("200", self.asked("Remove-Route", "/demo", face))
        self.assertNotIn("/demo", self.asked("Get-Route"))
        strategy = "/localhost/nfd/strategy/multicast"
        self.assertIn("200", self.asked("Set-Strategy", "/demo", strategy))
        self.assertIn(strategy, self.asked("Get-Strategy"))
        self.assertIn("200", self.asked("Remove-Strategy", "/demo"))
        self.assertIn("200", self.asked("Remove-Face", peer))
        self.assertNotIn(peer, self.asked("Get-Face"))


if __name__ == "__main__":
    sys.exit(report.run(["__main__"]))
