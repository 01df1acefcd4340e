"""What is written where: links, and file systems that fill up in mid-write."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

from alone import SIZE, Alone
from support import content
from support.children import Failed, run

FILE = 7
PATIENCE = 60
# Of the file system that fills up: room for this much of the file, and then no more.
ROOM = SIZE // 2


class Volume:
    """A small file system of its own, seen by nobody but who enters its mount namespace.

    It is an ext2 one, which cannot reserve space: how much there is shows when it is written to.
    """

    def __init__(self, folder, size):
        self.folder = folder / "volume"
        self.folder.mkdir()
        image = folder / "image"
        with open(image, "wb") as file:
            file.truncate(size)
        run(["mkfs.ext2", "-q", "-m", "0", "-b", "1024", image])
        script = 'mount -o loop "$0" "$1" && echo ready && exec cat'
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, str(image), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self._holder.stdout.readline() != b"ready\n":
            self.close()
            raise Failed("this system lets us mount no file system of our own")

    def command(self, *argv):
        """The command as it has to be started to see the file system."""
        return ["nsenter", "--target", str(self._holder.pid), "--mount", *map(str, argv)]

    def run(self, *argv):
        """Run a short command there to its end and return what it printed."""
        return run(self.command(*argv))

    def free(self):
        """Octets that can still be written."""
        return int(self.run("stat", "-f", "-c", "%f", self.folder)) * 1024

    def sha256(self, name):
        """The digest of a file there, in hexadecimal."""
        return self.run("sha256sum", self.folder / name).split()[0]

    def names(self):
        """What is in the folder, but for what the file system itself puts there."""
        return set(self.run("ls", self.folder).split()) - {"lost+found"}

    def close(self):
        """Let go of the namespace; the kernel takes the mount away with it."""
        with contextlib.suppress(BrokenPipeError):
            self._holder.stdin.close()
        self._holder.wait()
        self._holder.stdout.close()


class Disk(Alone):
    """A file that is published, and where it is fetched to."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        put = cls.daemon.put("/file", cls.sent)
        cls.addClassCleanup(put.kill)

    def get(self, target, before=(), **options):
        """Fetch the file to its end, or to its failure."""
        argv = [*before, self.program, "get", "/file", "-o", target]
        argv += ["--socket", self.daemon.socket, "--json"]
        return subprocess.run(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **options,
        )

    def assert_fetched(self, done, target):
        """It succeeded, and what is there is what was sent."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(content.sha256(target), content.sha256(self.sent))

    def test_link(self):
        """A symbolic link stays one: the file appears where it leads to, old file or none."""
        far = self.here / "far"
        far.mkdir()
        (far / "old").write_text("old", encoding="utf-8")
        (self.here / "second").symlink_to("far/new")
        for name, leads_to, written in (
            ("to-old", "far/old", "old"),
            ("dangling", "second", "new"),
        ):
            with self.subTest(link=name):
                link = self.here / name
                link.symlink_to(leads_to)
                # From another folder, to which the link is not relative.
                self.assert_fetched(self.get(f"{self.here.name}/{name}", cwd=self.folder), link)
                self.assertEqual(os.readlink(link), leads_to)
                self.assertFalse((far / written).is_symlink())
                self.assertEqual(content.sha256(far / written), content.sha256(self.sent))
        self.assertEqual(set(os.listdir(far)), {"old", "new"}, "left behind")

    def test_broken_links(self):
        """Links to a folder that is not there, and in a circle, are named and stay as they are."""
        for name, leads_to in (("nowhere", "missing/file"), ("circle", "circle")):
            with self.subTest(link=name):
                link = self.here / name
                link.symlink_to(leads_to)
                done = self.get(link)
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assertIn("cannot write", done.stderr)
                self.assertEqual(os.readlink(link), leads_to)

    def test_open_file_by_its_name(self):
        """`-o /dev/stdout` is standard output, though that is a file here."""
        argv = [self.program, "get", "/file", "-o", "/dev/stdout", "--socket", self.daemon.socket]
        with open(self.here / "got", "wb") as got:
            subprocess.run(argv, stdout=got, check=True, timeout=PATIENCE)
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(self.sent))
        self.assertTrue(Path("/dev/stdout").is_symlink())

    def test_fills_up_in_mid_write(self):
        """It is said, nothing else suffers, and with room again the transfer goes on."""
        try:
            volume = Volume(self.here, 3 * SIZE)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        target = volume.folder / "file"
        other = volume.folder / "other"
        volume.run("cp", content.make(self.here / "other", 100_000, 2), other)
        filler = volume.folder / "filler"
        volume.run("sh", "-c", 'head -c "$0" /dev/zero >"$1"', volume.free() - ROOM, filler)
        for _ in range(2):
            done = self.get(target, before=volume.command())
            self.assertEqual(done.returncode, FILE, done.stderr)
            self.assertRegex(
                done.stderr,
                rf"\Aweir: cannot write {target}\.part: No space left on device; make room and run "
                r"the same command again to resume\n\Z",
            )
            left = {"file.part", "file.part.journal", "filler", "other"}
            self.assertEqual(volume.names(), left)
            self.assertEqual(volume.sha256("other"), content.sha256(self.here / "other"))
        volume.run("rm", filler)
        done = self.get(target, before=volume.command())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(volume.sha256("file"), content.sha256(self.sent))
        self.assertEqual(volume.names(), {"file", "other"})
        resumed = json.loads(done.stdout)["resumed_bytes"]
        self.assertTrue(0 < resumed <= ROOM, resumed)
