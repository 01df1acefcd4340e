"""Copies of trees: what a folder keeps, and what does not fit into it."""

import fcntl
import json
import os
import re
import shutil
import subprocess

from alone import ALONE
from support import content, weir
from support.children import Child, Failed, wait_until
from support.volume import InMemory
from tree_case import TreeCase, listing, small_files

KILOBYTE = 1000
# A time with nanoseconds, long ago.
TIME = 1_500_000_000_123_456_789
FAILED, USAGE, NOT_FOUND, FILE = 1, 2, 3, 7


class Copies(TreeCase):
    """A published folder, and a copy of it."""

    def nobody(self, name):
        """A folder of an ordinary user, and the command that fetches into `copy` there."""
        as_nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
        version = [*as_nobody, self.program, "--version"]
        if subprocess.run(version, check=False, capture_output=True).returncode != 0:
            self.skipTest("this system lets us be nobody else")
        os.chown(self.daemon.socket, 65534, 65534)
        for folder in (self.folder.parents[1], self.here):
            folder.chmod(0o711)
        home = self.here / "nobody"
        home.mkdir()
        os.chown(home, 65534, 65534)
        environment = ["env", f"WEIR_HOME={home / 'weir'}"]
        argv = [*as_nobody, *environment, self.program, "get", name, home / "copy"]
        return home, [*argv, "--delete", "--socket", self.daemon.socket]

    def test_folders_without_permissions(self):
        """An ordinary user updates and removes what is in them; they are as published then."""
        home, argv = self.nobody("/trees/closed/")
        for path in ("read/a", "read/b", "none/a"):
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text("one", encoding="utf-8")

        def fetched():
            child = Child(argv, self.here / "nobody.log")
            self.assertEqual(child.wait(60), 0, child.last_words())
            self.assertEqual(listing(home / "copy"), listing(self.folder))

        for content_of in ("one", "other"):
            (self.folder / "read/a").write_text(content_of, encoding="utf-8")
            (self.folder / "none/a").write_text(content_of, encoding="utf-8")
            if content_of == "other":
                (self.folder / "read/b").unlink()
            (self.folder / "read").chmod(0o555)
            (self.folder / "none").chmod(0o000)
            put = self.serve("/trees/closed")
            self.weir("cs", "erase", "/trees/closed")
            fetched()
            put.stop()
        # A transfer that fails leaves folders as they were.
        (self.folder / "read").chmod(0o755)
        (self.folder / "read/a").unlink()
        (self.folder / "read/a").mkdir()
        self.serve("/trees/closed")
        self.weir("cs", "erase", "/trees/closed")
        argv.remove("--delete")
        child = Child(argv, self.here / "nobody.log")
        self.assertEqual(child.wait(60), FILE, child.last_words())
        modes = [(home / "copy" / name).stat().st_mode & 0o7777 for name in ("read", "none")]
        self.assertEqual(modes, [0o555, 0o000])

    def test_identical_files_of_other_users(self):
        """They are replaced by copies, whose owner may set the attributes."""
        home, argv = self.nobody("/trees/shared/")
        content.make(self.folder / "large", 5 * content.MEGABYTE)
        (self.folder / "small").write_text("content", encoding="utf-8")
        (self.folder / "folder").mkdir()
        shutil.copytree(self.folder, home / "copy")
        os.chown(home / "copy", 65534, 65534)
        for name in ("large", "small", "folder"):
            os.utime(home / "copy" / name, ns=(TIME, TIME))
        self.serve("/trees/shared")
        child = Child(argv, self.here / "nobody.log")
        self.assertEqual(child.wait(60), 0, child.last_words())
        said = (self.here / "nobody.log").read_text(encoding="utf-8")
        self.assertRegex(said, "1 entries keep their attributes, such as .*copy/folder: ")
        self.assertIn("fetched 0 files", said)
        found, published = listing(home / "copy"), listing(self.folder)
        for name in ("large", "small"):
            self.assertEqual(found[name], published[name])
            self.assertEqual((home / "copy" / name).stat().st_uid, 65534)

    def test_a_tree_that_does_not_fit(self):
        """It fails before it is written, if its size is known."""
        try:
            volume = InMemory(self.here, 4 * content.MEGABYTE)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        small_files(self.folder, 20)
        content.make(self.folder / "large", 9 * content.MEGABYTE)
        self.serve("/trees/big")

        def rejected(folder, why, *options):
            argv = [self.program, "get", "/trees/big/", folder, *options]
            argv += ["--socket", self.daemon.socket]
            (self.here / "big.log").unlink(missing_ok=True)
            child = Child(volume.command(*argv), self.here / "big.log")
            self.assertEqual(child.wait(60), 7, child.last_words())
            said = (self.here / "big.log").read_text(encoding="utf-8")
            self.assertRegex(said, rf"{why} needs 9\.0\d MB more, and [\d.]+ MB are free there")

        rejected(volume.folder / "copy", "the tree")
        self.assertEqual(volume.run("find", volume.folder / "copy", "-type", "f"), "")
        # Only what is chosen counts.
        rejected(volume.folder / "copy", "as far as it is known,", "--include", "large")
        self.assertEqual(volume.run("find", volume.folder / "copy", "-type", "f"), "")
        argv = [self.program, "get", "/trees/big/", volume.folder / "copy", "--exclude", "large"]
        argv += ["--socket", self.daemon.socket]
        child = Child(volume.command(*argv), self.here / "big.log")
        self.assertEqual(child.wait(60), 0, child.last_words())

    def test_identical_files_stay(self):
        """`--checksum`, and a new time, rewrite no file whose content is right."""
        content.make(self.folder / "large", 5 * content.MEGABYTE)
        (self.folder / "small").write_text("content", encoding="utf-8")
        (self.folder / "empty").touch()
        self.serve("/trees/same")
        self.fetch("/trees/same/")
        names = ("large", "small", "empty")
        before = [(self.copy / name).stat().st_ino for name in names]
        for name in names:
            os.utime(self.copy / name, ns=(TIME, TIME))
        for options in ((), ("--checksum",)):
            summary = self.fetch("/trees/same/", *options)
            self.assertEqual((summary["fetched_files"], summary["unchanged_files"]), (0, 3))
            self.assertEqual([(self.copy / name).stat().st_ino for name in names], before)
            self.assertEqual(listing(self.copy), listing(self.folder))
        # A difference behind two leaves of the manifest: all before is copied from the former file.
        with open(self.copy / "large", "r+b") as file:
            file.seek(4_900_000)
            file.write(b"damage")
        summary = self.fetch("/trees/same/", "--checksum")
        self.assertEqual((summary["fetched_files"], summary["unchanged_files"]), (1, 2))
        self.assertLess(summary["fetched_bytes"], 20 * KILOBYTE)
        self.assertEqual(listing(self.copy), listing(self.folder))

    def test_a_file_that_changes_while_it_is_compared(self):
        """It is fetched again, and not taken for identical."""
        content.make(self.folder / "large", 20 * content.MEGABYTE)
        self.serve("/trees/changing")
        self.fetch("/trees/changing/")
        log, out = self.here / "slow.log", self.here / "slow.json"
        argv = [self.program, "get", "/trees/changing/", self.copy, "--checksum"]
        # The digests alone have some 80 kB.
        argv += ["--verbose", "--json", "--limit-rate", "200 kbit/s"]
        argv += ["--socket", self.daemon.socket]
        self.weir("cs", "erase", "/trees/changing")
        child = Child(argv, log, out)
        self.addCleanup(child.kill)
        begun = re.compile("bytes=[1-9]")
        wait_until(lambda: begun.search(log.read_text(encoding="utf-8")), "a comparison")
        self.assertTrue(child.running)
        with open(self.copy / "large", "r+b") as file:
            file.write(b"change")
        self.assertEqual(child.wait(60), 0, child.last_words())
        summary = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual((summary["fetched_files"], summary["unchanged_files"]), (1, 0))
        self.assertLess(summary["fetched_bytes"], 20 * KILOBYTE)
        self.assertEqual(listing(self.copy), listing(self.folder))

    def test_an_older_version(self):
        """It replaces no newer files, unless that is wanted."""
        former = self.here / "former"
        former.mkdir()
        (former / "file").write_text("old", encoding="utf-8")
        (self.folder / "file").write_text("new", encoding="utf-8")
        self.serve("/trees/old", folder=former).stop()
        put = self.serve("/trees/old")
        newer = self.fetch("/trees/old/")["name"]
        emptied = self.here / "emptied"
        self.weir("get", "/trees/old/", emptied)
        put.stop()
        self.weir("cs", "erase", "/trees/old")
        # A source that lags behind, or holds another back.
        self.serve("/trees/old", folder=former)
        _, said = self.weir("get", "/trees/old/", self.copy, status=FAILED)
        self.assertIn(f"has the newer version {newer.rpartition('=')[2]}", said)
        self.assertEqual((self.copy / "file").read_text(encoding="utf-8"), "new")
        # A new folder, and a user who wants it, get the older version, the only one available.
        self.weir("get", "/trees/old/", self.here / "other")
        (emptied / "file").unlink()
        self.weir("get", "/trees/old/", emptied)
        self.assertEqual((emptied / "file").read_text(encoding="utf-8"), "old")
        older = self.fetch("/trees/old/", "--older")["name"]
        self.assertLess(older, newer)
        self.assertEqual((self.copy / "file").read_text(encoding="utf-8"), "old")
        self.fetch("/trees/old/")
        self.fetch("/trees/old/v=" + older.rpartition("=")[2] + "/")

    def test_messages(self):
        """They name the reason, and a next step that helps."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        plain = self.here / "plain"
        plain.touch()
        dangling = self.here / "dangling"
        dangling.symlink_to("nowhere")
        self.serve("/trees/messages")
        for folder in (plain, dangling):
            _, said = self.weir("get", "/trees/messages/", folder, status=FILE)
            self.assertIn(f"{folder}: not a directory; choose another folder", said)
        self.copy.mkdir()
        lock = os.open(self.copy, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        _, said = self.weir("get", "/trees/messages/", self.copy, status=FILE)
        self.assertIn("another `weir get` is writing into", said)
        _, said = self.weir("get", "/trees/messages/nothing/", self.copy, status=NOT_FOUND)
        self.assertIn("without the slash", said)
        _, said = self.weir("get", "/nowhere/", self.copy, status=NOT_FOUND)
        self.assertNotIn("without the slash", said)
        _, said = self.weir("get", "/trees/messages/", self.copy, "--exclude", "", status=USAGE)
        self.assertIn("is empty", said)
        _, said = self.weir("share", "/trees/x", self.here / "missing", status=FILE)
        self.assertIn("No such file or directory", said)
        _, said = self.weir("ping", "/trees/messages", "-i", "0ms", status=USAGE)
        self.assertIn("too short", said)
        self.serve("/")
        said = (self.here / "put.log").read_text(encoding="utf-8")
        self.assertIn("serving / (", said)

    def test_a_ping_whose_forwarder_ends(self):
        """Its summary is not lost."""
        daemon = weir.Daemon(self.program, self.here, "other", listen=ALONE)
        daemon.start()
        self.addCleanup(daemon.process.kill)
        out, log = self.here / "ping", self.here / "ping.log"
        argv = [self.program, "ping", "/q", "-i", "10ms", "--socket", daemon.socket]
        child = Child(argv, log, out)
        self.addCleanup(child.kill)
        wait_until(lambda: "rejected" in out.read_text(encoding="utf-8"), "a line")
        daemon.process.kill()
        self.assertEqual(child.wait(60), 6, child.last_words())
        self.assertRegex(out.read_text(encoding="utf-8"), r"\d+ Interests?, 0 answered, \d+ rej")

    def test_deep_folders(self):
        """A tree is as deep as names are; an object is found by fewer components."""
        path = self.folder
        for _ in range(260):
            path = path / "d"
        path.mkdir(parents=True)
        (self.folder / "file").write_text("shallow", encoding="utf-8")
        deepest = self.folder.joinpath(*["d"] * 249)
        (deepest / "file").write_text("deep", encoding="utf-8")
        self.serve("/trees/deep")
        notes = (self.here / "put.log").read_text(encoding="utf-8")
        self.assertEqual(notes.count("it is deeper than names allow"), 1, notes)
        self.fetch("/trees/deep/")
        copied = self.copy.joinpath(*["d"] * 249)
        self.assertEqual((copied / "file").read_text(encoding="utf-8"), "deep")
        self.assertTrue((copied / "d").exists() and not any((copied / "d").iterdir()))
        # The tool needs no forwarder to know that.
        deep = "/trees/deep" + 62 * "/d"
        for words in (("cat", deep), ("ls", deep), ("get", f"{deep}/"), ("get", deep)):
            _, said = self.weir(*words, status=USAGE)
            self.assertIn("objects are found by 63 or fewer", said)
        for path in (self.folder, self.folder / "file"):
            _, said = self.weir("put", deep, path, status=USAGE)
            self.assertIn("choose a shorter name", said)


if __name__ == "__main__":
    raise SystemExit("run tests/end_to_end/run copies")
