"""Folders as trees: `weir put DIR`, `weir share`, `weir get NAME/`, `weir ls`, `weir cat`."""

import contextlib
import json
import os
import stat
import struct
import time
from pathlib import Path

from support import content, ndn
from support.children import Child, run, wait_until
from tree_case import TreeCase, listing, small_files

KILOBYTE = 1000
# A time with nanoseconds, long ago.
TIME = 1_500_000_000_123_456_789
FAILED, USAGE, NOT_FOUND, NOT_VERIFIED, INTERRUPTED, FILE = 1, 2, 3, 4, 5, 7


class Trees(TreeCase):
    """All that a tree can have, and its publisher's changes."""

    def fill(self):
        """All kinds of entries."""
        (self.folder / "sub/deep").mkdir(parents=True)
        (self.folder / "empty").mkdir(mode=0o700)
        content.make(self.folder / "large", 3 * content.MEGABYTE + 17)
        content.make(self.folder / "sub/medium", 100 * KILOBYTE, seed=2)
        content.make(self.folder / "sub/deep/small", 300, seed=3)
        (self.folder / "none").touch()
        (self.folder / "script").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.folder / "script").chmod(0o755)
        (self.folder / "odd näme %2F\n").write_text("x", encoding="utf-8")
        (self.folder / os.fsdecode(b"\xff\xfe")).write_text("y", encoding="utf-8")
        (self.folder / "UPPER").write_text("1", encoding="utf-8")
        (self.folder / "upper").write_text("2", encoding="utf-8")
        (self.folder / "sub/up").symlink_to("../large")
        (self.folder / "dangling").symlink_to("nowhere")
        for number, path in enumerate(sorted(self.folder.rglob("*"), reverse=True)):
            os.utime(path, ns=(TIME, TIME + number), follow_symlinks=False)

    def test_a_folder_arrives_as_it_is(self):
        """Files, directories, links, permissions and times; nothing twice."""
        self.fill()
        self.serve("/trees/all")
        summary = self.fetch("/trees/all/")
        self.assert_documented("weir get", summary)
        self.assertEqual(listing(self.copy), listing(self.folder))
        self.assertEqual((summary["files"], summary["links"], summary["directories"]), (9, 2, 3))
        self.assertEqual(summary["fetched_files"], 9)
        self.assertEqual(summary["verified"], "digest")
        again = self.fetch("/trees/all/")
        self.assertEqual((again["fetched_files"], again["unchanged_files"]), (0, 9))
        self.assertEqual(again["fetched_bytes"], 0)
        # A damaged file with the right size and time is found by its content.
        large = self.copy / "large"
        meta = large.stat()
        with open(large, "r+b") as file:
            file.seek(1_500_000)
            file.write(b"damage")
        os.utime(large, ns=(meta.st_atime_ns, meta.st_mtime_ns))
        self.assertEqual(self.fetch("/trees/all/")["fetched_files"], 0)
        repaired = self.fetch("/trees/all/", "--checksum")
        self.assertEqual(listing(self.copy), listing(self.folder))
        self.assertLess(repaired["fetched_bytes"], 20 * KILOBYTE)

    def test_many_small_files(self):
        """A round trip for each would take minutes; pages and files are requested together."""
        small_files(self.folder, 3000)
        self.serve("/trees/many")
        summary = self.fetch("/trees/many/")
        self.assertEqual(listing(self.copy), listing(self.folder))
        # About a page for each 80 files, and one packet for each.
        self.assertLess(summary["data"], 3000 + 200)

    def test_only_what_differs_is_fetched(self):
        """A new version costs the pages and segments that have changed."""
        small_files(self.folder, 400)
        content.make(self.folder / "large", 3 * content.MEGABYTE)
        self.serve("/trees/change", command="share")
        self.fetch("/trees/change/")
        with open(self.folder / "large", "r+b") as file:
            file.seek(2_000_000)
            file.write(b"changed")
        (self.folder / "d1/f00001").unlink()
        (self.folder / "d2/new").write_text("new", encoding="utf-8")
        (self.copy / "mine").write_text("mine", encoding="utf-8")

        def arrived():
            last = self.fetch("/trees/change/")
            self.assertLess(last["fetched_bytes"], 20 * KILOBYTE)
            return (self.copy / "d2/new").exists() and last

        wait_until(arrived, "the new version", timeout=30)
        self.assertTrue((self.copy / "d1/f00001").exists(), "nothing is removed unasked")
        self.assertTrue((self.copy / "mine").exists())
        removed = self.fetch("/trees/change/", "--delete")
        self.assertEqual(removed["removed"], 2)
        self.assertEqual(listing(self.copy), listing(self.folder))

    def test_a_file_that_changes_while_it_is_served(self):
        """No packet has bytes that were not signed, and a new version follows without a restart."""
        small_files(self.folder, 50)
        content.make(self.folder / "large", 2 * content.MEGABYTE)
        child = self.serve("/trees/alive")
        self.fetch("/trees/alive/")
        content.make(self.folder / "large", 2 * content.MEGABYTE, seed=9)
        content.make(self.folder / "d0/f00000", 200, seed=10)
        # The publisher is asked for what it no longer has: neither caches nor the copy have it.
        for path in ("large", "d0/f00000"):
            (self.copy / path).unlink()
        self.weir("cs", "erase", "/trees/alive")
        summary = self.fetch("/trees/alive/")
        self.assertEqual(listing(self.copy), listing(self.folder))
        self.assertEqual(summary["forged"], 0)
        self.assertTrue(child.running)

    def test_one_file_that_changes_while_it_is_served(self):
        """`weir put FILE` goes on with the new version."""
        path = content.make(self.here / "file", 50 * KILOBYTE)
        child = self.serve("/trees/file", folder=path)
        output = self.here / "output"
        self.weir("get", "/trees/file", "-o", output)
        content.make(path, 60 * KILOBYTE, seed=2)

        def arrived():
            self.weir("get", "/trees/file", "-o", output)
            return content.sha256(output) == content.sha256(path)

        wait_until(arrived, "the new version", timeout=30)
        self.assertTrue(child.running)

    def test_one_file_of_a_tree_that_changed_before_it_was_requested(self):
        """The fetch goes on with the next version, and does not wait for the one that is gone."""
        for command in ("put", "share"):
            path = self.folder / "file"
            path.write_text("old", encoding="utf-8")
            child = self.serve(f"/trees/{command}", command=command)
            path.write_text("new and longer", encoding="utf-8")
            out, _ = self.weir("cat", f"/trees/{command}/file", timeout=20)
            self.assertEqual(out, "new and longer")
            self.assertTrue(child.running)

    def test_one_file_of_a_tree_that_is_gone(self):
        """The reason comes soon."""
        path = self.folder / "file"
        path.write_text("content", encoding="utf-8")
        self.serve("/trees/gone")
        path.unlink()
        # Not found, long before the patience of 30 s.
        _, said = self.weir("cat", "/trees/gone/file", status=3, timeout=20)
        self.assertIn("its producer has changed or removed it", said)

    def test_a_folder_that_another_takes_the_place_of(self):
        """By a rename, after its removal, and by a link; changes of the new one are published."""

        def fill(folder, text):
            folder.mkdir()
            (folder / "file").write_text(text, encoding="utf-8")

        (self.folder / "file").write_text("first", encoding="utf-8")
        child = self.serve("/trees/place", command="share")
        log, file = self.here / "share.log", self.copy / "file"
        said = [log.read_text(encoding="utf-8")]

        def arrived(text):
            # The log has a line for each new version; caches have the one before.
            before, said[:] = said[0], [log.read_text(encoding="utf-8")]
            if said[0] == before:
                return False
            self.weir("cs", "erase", "/trees/place")
            self.fetch("/trees/place/")
            return file.exists() and file.read_text(encoding="utf-8") == text

        def publishes(text):
            wait_until(lambda: arrived(text), f"the version with {text!r}", timeout=60)

        fill(self.here / "next", "another folder")
        self.folder.rename(self.here / "before")
        (self.here / "next").rename(self.folder)
        publishes("another folder")
        (self.folder / "file").write_text("changed in it", encoding="utf-8")
        publishes("changed in it")
        # There is none for a while.
        self.folder.rename(self.here / "away")
        wait_until(lambda: "create it again" in log.read_text(encoding="utf-8"), "the note")
        fill(self.folder, "made again")
        publishes("made again")
        # A link is set to the next release.
        fill(self.here / "second", "release 2")
        self.folder.rename(self.here / "unused")
        self.folder.symlink_to("second")
        publishes("release 2")
        fill(self.here / "third", "release three")
        (self.here / "link").symlink_to("third")
        (self.here / "link").rename(self.folder)
        publishes("release three")
        (self.here / "third/file").write_text("and its change", encoding="utf-8")
        publishes("and its change")
        self.assertTrue(child.running)

    def test_one_file_that_cannot_be_read_any_more(self):
        """It is served as it was, and its next version when there is one."""
        path = content.make(self.here / "file", 50 * KILOBYTE)
        child = self.serve("/trees/away", folder=path)
        output, log = self.here / "output", self.here / "put.log"
        # No user can read a directory as a file, not even root.
        path.unlink()
        path.mkdir()
        wait_until(lambda: "is served as it was" in log.read_text(encoding="utf-8"), "the warning")
        self.assertTrue(child.running)
        path.rmdir()
        content.make(path, 60 * KILOBYTE, seed=2)

        def arrived():
            self.weir("get", "/trees/away", "-o", output)
            return content.sha256(output) == content.sha256(path)

        wait_until(arrived, "the new version", timeout=30)
        self.assertEqual(log.read_text(encoding="utf-8").count("is served as it was"), 1)

    def test_parts_of_files_and_what_links_lead_to_are_not_published(self):
        """Nor watched: a link to a large folder costs nothing."""
        (self.folder / "file").write_text("whole", encoding="utf-8")
        (self.folder / ".weir-part-0123456789abcdef").write_text("part", encoding="utf-8")
        (self.folder / ".weir-part-of-mine").write_text("a name", encoding="utf-8")
        large = self.here / "large"
        for number in range(50):
            (large / str(number)).mkdir(parents=True)
        (self.folder / "elsewhere").symlink_to(large)
        child = self.serve("/trees/parts", command="share")
        self.fetch("/trees/parts/")
        names = sorted(path.name for path in self.copy.iterdir())
        self.assertEqual(names, [".weir-part-of-mine", "file"])
        watches = 0
        for about in Path(f"/proc/{child.pid}/fdinfo").iterdir():
            # The program may close any of them meanwhile.
            with contextlib.suppress(FileNotFoundError):
                watches += about.read_text(encoding="utf-8").count("inotify wd")
        self.assertLess(watches, 10)
        _, said = self.weir("get", "/trees/parts/", self.copy, "--record", self.here / "record",
                            status=USAGE)
        self.assertIn("--record", said)

    def test_an_interrupted_transfer_resumes(self):
        """Verified segments are not fetched again, though the process was killed."""
        content.make(self.folder / "large", 4 * content.MEGABYTE)
        small_files(self.folder, 100)
        self.serve("/trees/resume")
        argv = [self.program, "get", "/trees/resume/", self.copy, "--socket", self.daemon.socket]
        child = Child([*argv, "--limit-rate", "8 Mbit/s"], self.here / "slow.log")
        self.addCleanup(child.kill)

        def half():
            parts = list(self.copy.glob(".weir-part-*"))
            return parts and parts[0].stat().st_blocks * 512 > content.MEGABYTE

        wait_until(half, "a part of the file", timeout=30)
        child.kill()
        self.assertFalse((self.copy / "large").exists(), "an incomplete file has no name")
        # The part has its name by the time when what is not in the tree is removed.
        summary = self.fetch("/trees/resume/", "--delete")
        self.assertEqual(listing(self.copy), listing(self.folder))
        self.assertLess(summary["fetched_bytes"], 3.3 * content.MEGABYTE)

    def test_nothing_is_written_outside_the_folder(self):
        """Links that are in the folder already lead nowhere."""
        (self.folder / "sub").mkdir()
        (self.folder / "sub/file").write_text("from afar", encoding="utf-8")
        (self.folder / "top").write_text("from afar", encoding="utf-8")
        outside = self.here / "outside"
        outside.mkdir()
        (outside / "top").write_text("mine", encoding="utf-8")
        self.copy.mkdir()
        (self.copy / "sub").symlink_to(outside)
        (self.copy / "top").symlink_to(outside / "top")
        self.serve("/trees/within")
        _, said = self.weir("get", "/trees/within/", self.copy, status=7)
        self.assertIn("--delete replaces it", said)
        self.assertEqual([path.name for path in outside.iterdir()], ["top"])
        self.assertEqual((outside / "top").read_text(encoding="utf-8"), "mine")
        self.fetch("/trees/within/", "--delete")
        self.assertEqual(listing(self.copy), listing(self.folder))
        self.assertEqual([path.name for path in outside.iterdir()], ["top"])

    def test_links_that_lead_outside(self):
        """The publisher leaves them out, and so does the consumer of a part of a tree."""
        (self.folder / "sub").mkdir()
        (self.folder / "sub/out").symlink_to("../file")
        (self.folder / "sub/in").symlink_to("here")
        (self.folder / "absolute").symlink_to("/etc/passwd")
        (self.folder / "above").symlink_to("../secret")
        self.serve("/trees/links")
        notes = (self.here / "put.log").read_text(encoding="utf-8")
        self.assertEqual(notes.count("may lead outside"), 2, notes)
        self.fetch("/trees/links/")
        self.assertFalse(os.path.lexists(self.copy / "absolute"))
        self.assertEqual(os.readlink(self.copy / "sub/out"), "../file")
        self.copy = self.here / "part"
        _, said = self.weir("get", "/trees/links/sub/", self.copy, status=FAILED)
        self.assertIn("out", said)
        self.assertEqual([path.name for path in self.copy.iterdir()], ["in"])

    def test_hostile_roots(self):
        """A signed object need not be a tree."""
        nni = {1: ">B", 2: ">H", 4: ">I", 8: ">Q"}

        def number(typ, value):
            size = next(size for size in nni if value < 256**size)
            return ndn.tlv(typ, struct.pack(nni[size], value))

        def root(version=1, base=1, entries=1, more=b""):
            page = ndn.tlv(0xF66B, bytes(48))
            return b"".join([
                number(0xF651, version), number(0xF653, base), number(0xF65F, 0o755),
                number(0xF661, 7), page, number(0xF66D, entries), number(0xF66F, 0), more,
            ])

        cases = [
            (b"", "malformed"),
            (b"\xff" * 40, "malformed"),
            (root(version=2), "format 2"),
            (root(base=9), "malformed"),
            (root(entries=1 << 60), "more than the limit"),
            (root(more=ndn.tlv(0xF67F, b"x")), "critical"),
            (bytes(20_000), "larger than a packet"),
        ]
        for number_of, (bad, why) in enumerate(cases):
            with self.subTest(why):
                path = self.here / f"root{number_of}"
                path.write_bytes(bad)
                name = f"/trees-hostile-{number_of}"
                child = self.serve(f"{name}/32=tree", folder=path)
                _, said = self.weir("get", f"{name}/", self.copy, status=NOT_VERIFIED)
                self.assertIn(why, said)
                child.kill()
        self.assertFalse(self.copy.exists(), "a folder is made for a tree only")

    def test_lists_and_files(self):
        """`ls`, `cat`, and messages for the wrong kind of name."""
        self.fill()
        self.serve("/trees/list")
        out, _ = self.weir("ls", "/trees/list")
        self.assertIn("large\n", out)
        self.assertIn("sub/\n", out)
        self.assertNotIn("\x0a\x0a", out, "a line for each entry")
        self.assertIn("odd näme %2F\\u{a}\n", out)
        out, _ = self.weir("ls", "/trees/list/sub")
        self.assertEqual(out.split(), ["deep/", "medium", "up"])
        out, _ = self.weir("ls", "-R", "/trees/list", "--json")
        entries = {entry["path"]: entry for entry in map(json.loads, out.splitlines())}
        self.assertEqual(entries["sub/medium"]["size"], 100 * KILOBYTE)
        self.assertEqual(entries["sub/up"]["target"], "../large")
        out, _ = self.weir("ls", "-l", "/trees/list")
        self.assertRegex(out, r"(?m)^-rwxr-xr-x +10.0 B 2017-07-14 02:40:00 UTC script$")
        out, _ = self.weir("cat", "/trees/list/script", "--quiet")
        self.assertEqual(out, "#!/bin/sh\n")
        _, said = self.weir("cat", "/trees/list/sub", status=USAGE)
        self.assertIn("weir get /trees/list/sub/", said)
        _, said = self.weir("get", "/trees/list/large/", self.copy, status=NOT_FOUND)
        self.assertIn("without the slash: weir get /trees/list/large", said)
        _, said = self.weir("get", "/trees/list", self.copy, status=USAGE)
        self.assertIn("with a slash", said)

    def test_patterns(self):
        """`--include` and `--exclude` on both sides; what is left out is not removed."""
        for path in ("a.jpg", "a.raw", "kind", "x/b.jpg", "x/b.raw", "cache/c.jpg"):
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(path, encoding="utf-8")
        self.serve("/trees/patterns", "--exclude", "/cache")

        def names():
            files = filter(Path.is_file, self.copy.rglob("*"))
            return sorted(str(path.relative_to(self.copy)) for path in files)

        self.copy.mkdir()
        self.copy.chmod(0o700)
        (self.copy / "own.raw").write_text("own", encoding="utf-8")
        summary = self.fetch("/trees/patterns/", "--include", "*.jpg", "--delete")
        self.assertEqual(names(), ["a.jpg", "own.raw", "x/b.jpg"])
        self.assertEqual(summary["files"], 2)
        self.assertEqual(stat.S_IMODE(self.copy.stat().st_mode), 0o700, "it is the user's")
        self.fetch("/trees/patterns/", "--exclude", "x", "--delete")
        self.assertEqual(names(), ["a.jpg", "a.raw", "kind", "x/b.jpg"])
        for path in ("gone/mine.o", "gone/deep/own.o", "gone/old", "over/old"):
            (self.copy / path).parent.mkdir(parents=True, exist_ok=True)
            (self.copy / path).touch()
        self.fetch("/trees/patterns/", "--exclude", "*.o", "--exclude", "x", "--delete")
        kept = ["gone/deep/own.o", "gone/mine.o", "kind", "x/b.jpg"]
        self.assertEqual(names(), ["a.jpg", "a.raw", *kept])
        self.assertFalse((self.copy / "over").exists())
        (self.copy / "kind").unlink()
        (self.copy / "kind/deep").mkdir(parents=True)
        (self.copy / "kind/deep/own.o").touch()
        argv = ("--exclude", "*.o", "--exclude", "x", "--delete")
        _, said = self.weir("get", "/trees/patterns/", self.copy, *argv, status=FILE)
        self.assertIn("not chosen", said)
        self.assertTrue((self.copy / "kind/deep/own.o").exists())
        _, said = self.weir("get", "/trees/patterns/", self.copy, "--include", "[", status=USAGE)
        self.assertIn("not a pattern", said)

    def test_rates(self):
        """`--limit-rate` on either side is an upper bound."""
        small_files(self.folder, 100)
        content.make(self.folder / "file", content.MEGABYTE)
        limited = ["--limit-rate", "8 Mbit/s"]
        child = self.serve("/trees/slow", *limited)
        # A megabyte at a megabyte a second, without the first burst of 50 ms.
        began = time.monotonic()
        self.fetch("/trees/slow/")
        self.assertGreater(time.monotonic() - began, 0.9)
        child.kill()
        self.serve("/trees/fast")
        self.copy = self.here / "second"
        began = time.monotonic()
        self.fetch("/trees/fast/", *limited)
        self.assertGreater(time.monotonic() - began, 0.9)
        began = time.monotonic()
        self.weir("get", "/trees/fast/file", "-o", self.here / "one", *limited)
        self.assertGreater(time.monotonic() - began, 0.9)
        # Of a small object only the first packet passes before its time.
        content.make(self.folder / "small", 30 * KILOBYTE)
        self.serve("/trees/small", folder=self.folder / "small")
        began = time.monotonic()
        self.weir("get", "/trees/small", "-o", self.here / "two", "--limit-rate", "80 kbit/s")
        self.assertGreater(time.monotonic() - began, 1.9)
        _, said = self.weir("get", "/trees/small", "--limit-rate", "0 bit/s", status=USAGE)
        self.assertIn("leave it out", said)

    def test_names_below_a_slash_and_the_line_of_json(self):
        """A single file of a pattern keeps its name; `--json` names what is served at once."""
        path = content.make(self.here / "sea.jpg", KILOBYTE)
        self.serve("/trees/photos/", "--json", folder=path)
        line = json.loads((self.here / "put.log").read_text(encoding="utf-8").splitlines()[0])
        [served] = line["serving"]
        self.assertTrue(served["name"].startswith("/trees/photos/sea.jpg/v="), served)
        self.weir("get", "/trees/photos/sea.jpg", "-o", self.here / "output")

    def test_trust(self):
        """The tree's signature is verified under the rules of `--trust`, and vouches for files."""
        keys = self.here / "keys"
        keys.mkdir()
        for who in ("alice", "mallory"):
            os.environ["WEIR_HOME"] = str(self.here / who)
            text = run([self.program, "key", "new", f"/{who}", "--default"])
            (keys / who).write_text(text, encoding="utf-8")
        (self.folder / "file").write_text("signed", encoding="utf-8")
        os.environ["WEIR_HOME"] = str(self.here / "alice")
        self.serve("/alice/tree")
        os.environ["WEIR_HOME"] = str(self.here / "home")
        summary = self.fetch("/alice/tree/", "--trust", keys / "alice")
        self.assertEqual(summary["verified"], "key")
        self.copy = self.here / "other"
        self.weir("get", "/alice/tree/", self.copy, "--trust", keys / "mallory",
                  status=NOT_VERIFIED)
        self.assertFalse(self.copy.exists())
        # A file of the tree alone is signed, too.
        self.weir("get", "/alice/tree/file", "-o", self.here / "one", "--trust", keys / "alice")

    def test_digests_that_were_kept_for_another_key(self):
        """Larger signatures leave less room for digests: files are hashed again."""
        content.make(self.folder / "large", 3 * content.MEGABYTE)
        self.serve("/trees/rsa").stop()
        run([self.program, "key", "new", "/trees", "--type", "rsa"])
        self.serve("/trees/rsa", "--sign", "/trees")
        self.fetch("/trees/rsa/")
        self.assertEqual(listing(self.copy), listing(self.folder))

    def test_digests_are_kept(self):
        """A file is hashed again only if its size or time has changed; a wrong one is noticed."""
        small_files(self.folder, 20)
        self.serve("/trees/kept").stop()
        [kept] = (self.here / "home/trees").iterdir()
        before = kept.read_text(encoding="utf-8").splitlines()
        path = self.folder / "d0/f00000"
        meta = path.stat()
        path.write_bytes(b"z" * meta.st_size)
        os.utime(path, ns=(meta.st_atime_ns, meta.st_mtime_ns))
        self.serve("/trees/kept")
        self.assertEqual(kept.read_text(encoding="utf-8").splitlines(), before)
        # The file is not what its digest says: no consumer gets it, and a new version follows.
        self.weir("cs", "erase", "/trees/kept")
        self.fetch("/trees/kept/")
        self.assertEqual(listing(self.copy), listing(self.folder))


if __name__ == "__main__":
    raise SystemExit("run tests/end_to_end/run trees")
