"""The archive: its content, and its static program in a folder that has nothing else."""

import os
import subprocess
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

import packages
from support import content, weir
from support.children import Child, run, wait_until

CONFIGURATION = '[listen]\nunix = "/weir.sock"\nudp = "off"\ntcp = "off"\n'
# A program that needs no library prints this, or is none that `ldd` knows.
STATIC = ("statically linked", "not a dynamic executable")
# Numbers without an entry anywhere.
USER = "54321:54321"


class Tarball(unittest.TestCase):
    """The archive in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        """Skip all of it if there is none."""
        packages.need("tarball")

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        with tarfile.open(packages.path(".tar.gz")) as archive:
            self.names = archive.getnames()
            archive.extractall(self.folder, filter="data")
        (self.top,) = self.folder.iterdir()

    def test_everything_is_in_one_folder(self):
        """With name and version, so that nothing is scattered where it is unpacked."""
        tops = {name.partition("/")[0] for name in self.names}
        version = tomllib.loads((weir.ROOT / "Cargo.toml").read_text("utf-8"))
        version = version["workspace"]["package"]["version"]
        self.assertEqual(tops, {f"weir-{version}-{os.uname().machine}-linux"})

    def test_program_has_its_pages_completions_and_licences(self):
        """Man pages of every command, completions of this program, licences of all parts."""
        program = self.top / "bin/weir"
        pages = {path.name for path in (self.top / "share/man/man1").iterdir()}
        expected = self.folder / "pages"
        run([program, "man", expected])
        self.assertEqual(pages, {path.name for path in expected.iterdir()})
        for shell, place in (
            ("bash", "bash-completion/completions/weir"),
            ("zsh", "zsh/site-functions/_weir"),
            ("fish", "fish/vendor_completions.d/weir.fish"),
        ):
            script = (self.top / "share" / place).read_text("utf-8")
            self.assertEqual(script, run([program, "completions", shell]))
        doc = self.top / "share/doc/weir"
        others = (doc / "third-party-licences.txt").read_text("utf-8")
        for part in ("\ntokio 1.", "\nclap 4.", "\nmusl,", "Permission is hereby granted"):
            self.assertIn(part, others)
        own = {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "COPYRIGHT-library.html"}
        self.assertLessEqual(own, {path.name for path in doc.iterdir()})
        library = {path.name for path in (self.top / "share/weir/player").iterdir()}
        self.assertEqual(library, {"shaka-player.js", "LICENSE.shaka-player"})

    def test_no_folder_of_the_builder_is_in_the_program(self):
        """Neither that of the sources nor the user's."""
        program = (self.top / "bin/weir").read_bytes()
        for folder in (weir.ROOT, Path.home() / ".cargo"):
            self.assertFalse(bytes(folder) + b"/" in program, folder)

    def test_configuration_and_its_examples_are_valid(self):
        """Also the lines that are comments until a user wants them."""
        given = self.top / "share/weir/weir.toml"
        lines = given.read_text("utf-8").splitlines()
        full = self.folder / "full.toml"
        full.write_text("\n".join(line.removeprefix("#") for line in lines if line[:2] != "# "))
        self.assertIn("face", tomllib.loads(full.read_text()))
        for path in (given, full):
            said = run([self.top / "bin/weir", "daemon", "--config", path, "--check"])
            self.assertIn("no mistakes", said)

    def test_static_program_works_in_an_empty_folder(self):
        """As the root of its processes: forwarder, publisher and consumer."""
        program = self.top / "bin/weir"
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        self.assertTrue(any(words in said.stdout + said.stderr for words in STATIC), said)
        root = self.folder / "root"
        root.mkdir()
        os.chown(root, *map(int, USER.split(":")))
        (root / "weir").write_bytes(program.read_bytes())
        (root / "weir").chmod(0o755)
        (root / "weir.toml").write_text(CONFIGURATION, encoding="utf-8")
        inside = ["chroot", f"--userspec={USER}", root, "/weir"]
        socket = ["--socket", "unix:///weir.sock"]
        log = self.folder / "daemon.log"
        with Child([*inside, "daemon", "--config", "/weir.toml"], log) as daemon:
            wait_until((root / "weir.sock").exists, "the forwarder")
            for number, size in enumerate(packages.SIZES):
                content.make(root / f"file{number}", size)
                put = [*inside, "put", f"/demo/{number}", f"/file{number}", *socket]
                published = self.folder / f"put{number}.log"
                with Child(put, published):
                    wait_until(lambda path=published: "/demo/" in path.read_text(), "a publisher")
                    copy = f"copy{number}"
                    run([*inside, "get", f"/demo/{number}", "-o", f"/{copy}", *socket])
                digests = (content.sha256(root / name) for name in (f"file{number}", copy))
                self.assertEqual(*digests)
            self.assertTrue(daemon.running, daemon.last_words())
