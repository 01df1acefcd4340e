"""Places of written files: links, and file systems that fill up in mid-write."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from alone import SIZE, Alone
from support import content
from support.children import Child, Failed, wait_until
from support.volume import Ext2, foreign

FILE = 7
PATIENCE = 60
# Of the file system that fills up: room for this much of the file, and then no more.
ROOM = SIZE // 2
# Segments a second of a transfer that is to be caught in the middle: five seconds for all.
SLOW = ("--control", "rate", "--set", "interests=50")


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

    def test_foreign_file_system(self):
        """Names that the file system does not take are errors before anything is fetched."""
        try:
            volume = foreign(self.here, 20 * SIZE)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        for name in ("a:b", "question?", "back\\slash", "dot.", "space ", "dots..."):
            with self.subTest(name=name):
                target = volume.folder / name
                done = self.get(target, before=volume.command())
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assertRegex(
                    done.stderr,
                    rf"\Aweir: cannot write {re.escape(str(target))}(\.part)?: the file system "
                    r"takes no such name; choose another name with -o FILE\n\{.*\n\Z",
                )
                self.assertEqual(volume.names(), set(), "left behind")
        for name in ("plain", "späße", "with space"):
            with self.subTest(name=name):
                done = self.get(volume.folder / name, before=volume.command())
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(volume.sha256(name), content.sha256(self.sent))
        # An older file makes room.
        volume.run("sh", "-c", 'echo old >"$0"', volume.folder / "plain")
        done = self.get(volume.folder / "plain", before=volume.command())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(volume.sha256("plain"), content.sha256(self.sent))
        self.assertEqual(volume.names(), {"plain", "späße", "with space"})

    def test_fills_up_in_mid_write(self):
        """It is said, nothing else suffers, and with room again the transfer goes on."""
        try:
            volume = Ext2(self.here, 3 * SIZE)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        target = volume.folder / "file"
        other = volume.folder / "other"
        volume.run("cp", content.make(self.here / "other", 100_000, 2), other)
        filler = volume.folder / "filler"

        def fill(room):
            free = volume.free() - room
            volume.run("sh", "-c", 'head -c "$0" /dev/zero >>"$1"', free, filler)

        def rejected(said, why, left):
            advice = "make room and run the same command again to resume"
            line = rf"weir: cannot write {target}\.part: {why}; {advice}\n"
            self.assertRegex(said, rf"\A{line}({{.*\n)?\Z")
            self.assertEqual(volume.names(), {"filler", "other", *left})
            self.assertEqual(volume.sha256("other"), content.sha256(self.here / "other"))

        # A file that cannot fit is rejected at the first segment, and uses no space.
        fill(ROOM)
        done = self.get(target, before=volume.command())
        self.assertEqual(done.returncode, FILE, done.stderr)
        rejected(done.stderr, r"it needs 2\.00 MB more, and \d+ kB are free there", ())
        # A file that fitted at the beginning no longer fits after another has filled the disk.
        volume.run("rm", filler)
        log = self.here / "log"
        argv = [self.program, "get", "/file", "-o", target, "--socket", self.daemon.socket]
        with Child(volume.command(*argv, *SLOW), log) as slow:
            part = f"{target}.part"
            script = 'test -e "$0" && stat -c %s "$0" || echo 0'
            wait_until(lambda: int(volume.run("sh", "-c", script, part)) > 0, "a part of the file")
            os.kill(slow.pid, signal.SIGSTOP)
            fill(ROOM // 4)
            os.kill(slow.pid, signal.SIGCONT)
            self.assertEqual(slow.wait(PATIENCE), FILE, slow.last_words())
        left = ("file.part", "file.part.journal")
        rejected(log.read_text(encoding="utf-8"), "No space left on device", left)
        done = self.get(target, before=volume.command())
        self.assertEqual(done.returncode, FILE, done.stderr)
        rejected(done.stderr, r"it needs [\d.]+ MB more, and \d+ (k)?B are free there", left)
        volume.run("rm", filler)
        done = self.get(target, before=volume.command())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(volume.sha256("file"), content.sha256(self.sent))
        self.assertEqual(volume.names(), {"file", "other"})
        resumed = json.loads(done.stdout)["resumed_bytes"]
        self.assertTrue(0 < resumed < SIZE, resumed)
