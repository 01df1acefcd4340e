"""The programs of docs/how-to/attach-your-program.md, run as they are there."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import HERE, NDND, TOOLS
from support import content, weir
from support.children import Child, wait_until

PAGE = weir.ROOT / "docs/how-to/attach-your-program.md"
# The page's socket is the standard one.
STANDARD = "/run/nfd/nfd.sock"
# A block, which names its file in its first line.
BLOCK = re.compile(r"^```(?:python|js|sh)\n(?:#|//) (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMANDS = {".py": [sys.executable], ".mjs": ["node"], ".sh": ["sh", "-e"]}
SIZE = 300_000


class Page(unittest.TestCase):
    """One daemon, and the page's programs in a folder."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-page-")))
        listen = {"udp": "off", "tcp": "off"}
        # Before the home changes: cargo looks for its tools there.
        self.weir = weir.program()
        self.daemon = weir.Daemon(self.weir, self.folder, "node", listen=listen)
        socket = str(self.daemon.socket)
        for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            path = self.folder / name
            self.assertFalse(path.exists(), f"two programs are called {name}")
            path.write_text(text.replace(STANDARD, socket), encoding="utf-8")
        (self.folder / "node_modules").symlink_to(HERE / "node_modules")
        path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder), "PATH": path}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.enterContext(self.daemon)

    def program(self, name, *words):
        """The command of a program."""
        return [*COMMANDS[Path(name).suffix], self.folder / name, *words]

    def running(self, name, prefix):
        """A program that serves a prefix, for as long as that lasts."""
        child = self.enterContext(Child(self.program(name), self.folder / f"{name}.log"))

        def registered():
            self.assertTrue(child.running, child.last_words())
            routes = ["route", "list", "--socket", self.daemon.socket]
            return prefix in self.output([self.weir, *routes])

        wait_until(registered, f"{name} to register {prefix}")

    def output(self, argv):
        """The output of a command, which must succeed."""
        argv = [str(word) for word in argv]
        done = subprocess.run(
            argv, cwd=self.folder, capture_output=True, text=True, check=False, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_consumers_print_what_producers_answer(self):
        """Each of python-ndn and NDNts, of both."""
        self.running("greet.py", "/demo/python")
        self.running("greet.mjs", "/demo/ndnts")
        for consumer in ("ask.py", "ask.mjs"):
            for name, words in (("python", "from python-ndn"), ("ndnts", "from NDNts")):
                with self.subTest(consumer=consumer, name=name):
                    said = self.output(self.program(consumer, f"/demo/{name}"))
                    self.assertEqual(said, f"{words}\n")

    @unittest.skipUnless(NDND.exists(), "ndnd is not installed")
    def test_ndnd_publishes_and_fetches(self):
        """Its own object, which Weir fetches as well."""
        photo = content.make(self.folder / "photo.jpg", SIZE)
        script = self.folder / "publish.sh"
        script.write_text(f"cd {self.folder}\n{script.read_text('utf-8')}", encoding="utf-8")
        self.running("publish.sh", "/demo/ndnd")
        self.output(self.program("fetch.sh"))
        self.assertEqual(content.sha256(self.folder / "copy.jpg"), content.sha256(photo))
        shutil.move(self.folder / "copy.jpg", self.folder / "first.jpg")
        get = ["get", "/demo/ndnd", "-o", "copy.jpg", "--socket", self.daemon.socket]
        self.output([self.weir, *get])
        self.assertEqual(content.sha256(self.folder / "copy.jpg"), content.sha256(photo))
