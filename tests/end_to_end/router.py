"""The small forwarder, `weir-router`: it does as `weir daemon`, and names what it leaves out."""

import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import manage
import service
from chain import ENDS, Chain
from support import content, weir

SIZE = 10 * content.MEGABYTE
PATIENCE = 120
FAILED, USAGE, FILE = 1, 2, 7


class Router:
    """The forwarders of these tests are the small program."""

    @classmethod
    def setUpClass(cls):
        given = {"WEIR_ROUTER": str(weir.router())}
        patch = unittest.mock.patch.dict(os.environ, given)
        patch.start()
        cls.addClassCleanup(patch.stop)
        super().setUpClass()


class AsService(Router, service.Service):
    """Readiness, reload, metrics."""


class Managed(Router, manage.Manage):
    """Faces, routes, strategies and the content store, by NFD's management protocol."""


class Traffic(Router, unittest.TestCase):
    """Files pass through three of them."""

    def test_file_arrives(self):
        """The file arrives at the other end unchanged."""
        with Chain() as chain:
            sent = content.make(chain.folder / "sent", SIZE)
            source, target = (chain.daemons[end] for end in ENDS)
            chain.enter_context(source.put(f"/{ENDS[0]}/file", sent))
            fetch = target.get(f"/{ENDS[0]}/file", chain.folder / "received")
            chain.enter_context(fetch.child)
            fetch.finish(PATIENCE)
            self.assertEqual(content.sha256(chain.folder / "received"), content.sha256(sent))
            self.assertGreater(target.status()["satisfied"], 0)


class Parts(unittest.TestCase):
    """Its command line, and the parts that it is built without."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.router = weir.router()

    def run_with(self, *arguments, stdout=subprocess.PIPE):
        """Runs it with these arguments, and returns status and output."""
        argv = [str(self.router), *map(str, arguments)]
        given = {"stdin": subprocess.DEVNULL, "cwd": self.folder, "timeout": PATIENCE}
        given |= {"stdout": stdout, "stderr": subprocess.PIPE}
        return subprocess.run(argv, text=True, check=False, **given)

    def check(self, text):
        """Has it check a configuration."""
        (self.folder / "router.toml").write_text(text, encoding="utf-8")
        return self.run_with("--check", "--config", "router.toml")

    def test_command_line(self):
        """It checks its configuration, and explains itself."""
        done = self.check("[listen]\nudp = 6363\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("router.toml: no mistakes", done.stdout)
        self.assertRegex(self.run_with("--version").stdout, r"\Aweir-router \d")
        self.assertIn("--config", self.run_with("--help").stdout)
        done = self.run_with("--verbose")
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn("--verbose", done.stderr)

    def test_output_full(self):
        """Full standard output is an error with a message; for a reader that has gone, without."""
        with open("/dev/full", "wb") as full:
            done = self.run_with("--help", stdout=full)
        self.assertEqual(done.returncode, FILE)
        self.assertRegex(done.stderr, "cannot write standard output: No space left on device; ")
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_with("--help", stdout=writer)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (FILE, ""))

    def test_websocket(self):
        """A listener that it cannot have is a mistake with its line."""
        done = self.check('[listen]\nwebsocket = "off"\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.check("[listen]\nwebsocket = 9696\n")
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertRegex(done.stderr, r"router\.toml:2:.*`websocket`: .*without WebSocket; .*off")
        self.assertIn("weir-router --check --config router.toml", done.stderr)

    def test_rsa(self):
        """A certificate that it cannot use is named, with the reason."""
        home = {**os.environ, "WEIR_HOME": str(self.folder)}
        new = [str(weir.program()), "key", "new", "/operator", "--type"]
        for kind, status in (("rsa", FAILED), ("ecdsa", 0)):
            with self.subTest(kind=kind):
                made = subprocess.run([*new, kind], env=home, check=True, capture_output=True)
                (self.folder / "operator.cert").write_bytes(made.stdout)
                key = self.folder / "operator.cert"
                done = self.check(f'[[authorize]]\nfrom = "remote"\nkey = "{key}"\n')
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual("built without RSA" in done.stderr, status == FAILED, done.stderr)
