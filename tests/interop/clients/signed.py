"""Objects whose every segment is signed, between Weir, python-ndn, NDNts and ndnd."""

import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from clients import NDND, NDNTS, TO_FILE, TOOLS, Client
from keys import KINDS, PATIENCE, PYTHON, Keys, way
from support import content, weir
from support.children import Child, Failed

SIZE = 100_000
# The signer is unknown: its certificate is self-signed, or its named certificate is missing.
STRANGE = "is self-signed, and is not one of the anchors|is needed and could not be fetched"


class Signed(unittest.TestCase):
    """A daemon, a file, keys of every kind, and an unknown peer's keys of the same names."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-signed-")))
        self.program = weir.program()
        listen = {"udp": "off", "tcp": "off"}
        self.daemon = weir.Daemon(self.program, self.folder, "node", listen=listen)
        home = {"HOME": str(self.folder), "WEIR_HOME": str(self.folder / "weir")}
        environment = {**home, "NDN_CLIENT_TRANSPORT": f"unix://{self.daemon.socket}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, environment))
        self.keys = Keys(self.program, self.folder)
        self.file = content.make(self.folder / "file", SIZE)
        self.copy = self.folder / "copy"
        self.enterContext(self.daemon)

    def publishing(self, kind):
        """Content of `weir put`, with each segment signed."""
        options = ("--sign", f"/site/{kind}", "--sign-segments")
        return self.daemon.put(f"/site/{kind}/file", self.file, options=options)

    def fetched(self, argv, status=0):
        """A program ends so, with a file or without."""
        self.copy.unlink(missing_ok=True)
        log = self.folder / "fetch.log"
        log.unlink(missing_ok=True)
        child = Child(argv, log)
        self.assertEqual(child.wait(PATIENCE), status, child.last_words())
        if status == 0:
            self.assertEqual(content.sha256(self.copy), content.sha256(self.file))
        else:
            self.assertFalse(self.copy.exists())
        return child.last_words()

    def test_python_ndn_verifies_what_weir_signs(self):
        """By a chain that it fetches where it can, and rejects another's key."""
        for kind in KINDS:
            with self.subTest(kind):
                trusted, other = self.keys.trusted(kind), self.keys.trusted(kind, "other")
                fetch = [*PYTHON, "fetch", f"/site/{kind}/file", self.copy, way(kind)]
                with self.publishing(kind):
                    self.fetched([*fetch, trusted])
                    words = self.fetched([*fetch, other], 1)
                    self.assertIn(f"not verified: /site/{kind}/file", words)

    def test_python_ndn_fetches_the_certificates_between(self):
        """From who publishes, as far up as the one that it trusts."""
        root = self.folder / "root.cert"
        root.write_text(self.keys.weir("key", "new", "/site", "--type", "ecdsa"), encoding="utf-8")
        request, issued = self.keys.trusted("ecdsa"), self.folder / "issued.cert"
        issued.write_text(self.keys.weir("key", "sign", request, "--by", "/site"), encoding="utf-8")
        self.keys.weir("key", "import", issued)
        with self.publishing("ecdsa"):
            self.fetched([*PYTHON, "fetch", "/site/ecdsa/file", self.copy, "chain", root])
            # A certificate of the same name that the root has not signed.
            other = self.folder / "other.cert"
            made = self.keys.weir("key", "new", "/site", "--type", "ecdsa", home="other")
            other.write_text(made, encoding="utf-8")
            fetch = [*PYTHON, "fetch", "/site/ecdsa/file", self.copy, "chain", other]
            self.assertIn("not verified", self.fetched(fetch, 1))

    def test_ndnts_verifies_what_weir_signs(self):
        """With the certificate, which the KeyLocator leads to, and rejects another."""
        for kind in KINDS:
            with self.subTest(kind):
                trusted, other = self.keys.trusted(kind), self.keys.trusted(kind, "other")
                fetch = [*NDNTS, self.daemon.socket, "fetch", f"/site/{kind}/file", self.copy]
                with self.publishing(kind):
                    self.fetched([*fetch, trusted, kind])
                    self.assertIn("Error", self.fetched([*fetch, other, kind], 1))

    def test_tools_that_verify_nothing_fetch_it_as_before(self):
        """`weir get`, `pyndntools catchunks`, `ndnd cat`."""
        self.keys.trusted("rsa")
        name, socket = "/site/rsa/file", self.daemon.socket
        tools = [[self.program, "get", name, "-o", self.copy, "--socket", socket]]
        tools.append([TOOLS / "pyndntools", "catchunks", "-o", self.copy, name])
        if NDND.exists():
            tools.append([*TO_FILE, self.copy, NDND, "cat", name])
        with self.publishing("rsa"):
            for argv in tools:
                with self.subTest(str(argv[0])):
                    self.fetched(argv)

    def get(self, name, trusted):
        """The summary of `weir get` for an object, which it must accept."""
        self.copy.unlink(missing_ok=True)
        fetch = self.daemon.get(name, self.copy, ["--trust", trusted]).finish(PATIENCE)
        self.assertEqual(content.sha256(self.copy), content.sha256(self.file))
        return fetch.summary

    def reject(self, name, trusted, why):
        """`weir get` rejects it for that reason, and leaves no file."""
        self.copy.unlink(missing_ok=True)
        with self.assertRaisesRegex(Failed, why):
            self.daemon.get(name, self.copy, ["--trust", trusted]).finish(PATIENCE)
        self.assertFalse(self.copy.exists())

    def test_weir_verifies_what_ndnts_signs(self):
        """Of every kind; content of an unknown signer, and unsigned content, is rejected."""
        for kind in KINDS:
            with self.subTest(kind):
                name = f"/site/{kind}/file"
                trusted = self.keys.trusted(kind)
                other = self.keys.trusted(kind, "other")
                if kind != "hmac":
                    trusted = self.folder / f"ndnts-{kind}.cert"
                serve = [*NDNTS, "@", "serve", "NAME", "FILE", trusted, kind]
                with Client("NDNts", serve, "/8=site", []).publishing(self.daemon, name, self.file):
                    self.assertEqual(self.get(name, trusted)["verified"], "key")
                    self.reject(name, other, STRANGE)
        unsigned = Client("NDNts", [*NDNTS, "@", "serve", "NAME", "FILE"], "/8=site", [])
        with unsigned.publishing(self.daemon, "/site/rsa/unsigned", self.file):
            self.reject("/site/rsa/unsigned", other, "only a digest")

    def test_weir_verifies_what_python_ndn_signs(self):
        """By keys of its key chain and by a shared one; rejected is what an unknown peer signed."""
        for kind, identity, how, signer, trusted in self.keys.of_python():
            with self.subTest(kind):
                other = self.folder / "other.cert"
                other.write_text(self.keys.weir("key", "new", identity, home="other"), "utf-8")
                serve = [*PYTHON, "serve", "NAME", "FILE", how, signer]
                python = Client("python-ndn", serve, "serving", [])
                name = f"{identity}/file"
                with python.publishing(self.daemon, name, self.file):
                    self.assertIn(f"{identity}/KEY/", self.get(name, trusted)["key"])
                    self.reject(name, other, STRANGE)
