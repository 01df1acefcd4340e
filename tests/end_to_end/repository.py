"""Stores: content stays when its publisher has ended, and nothing that was acknowledged is lost."""

import json
import os
import random
import re
import subprocess
import time

from support import content, weir
from support.children import Child, Failed, wait_until
from support.volume import Ext2
from store_case import PATIENCE, Stored
from tools import FAILED, FILE, NOT_FOUND, NOT_VERIFIED, USAGE
from tree_case import listing, small_files

# The number of insertions that are killed.
KILLS = int(os.environ.get("WEIR_REPOSITORY_KILLS", "100"))


class Repository(Stored):
    """Stores in folders."""

    def blobs(self):
        """The files of bytes in the store."""
        return [path for path in self.store.glob("blobs/**/*") if path.is_file()]

    def test_content_stays(self):
        """A signed file and a tree are served from copies: the originals are gone."""
        certificate = self.key("/a")
        file, folder = content.make(self.here / "file", 300_000), self.here / "folder"
        small_files(folder, 40)
        (folder / "link").symlink_to("d0")
        (folder / "large").write_bytes(self.sent.read_bytes())
        self.repo("put", "/a/file", file)
        self.repo("add", "/a/tree", folder)
        digest, files = content.sha256(file), listing(folder)
        subprocess.run(["rm", "-r", file, folder], check=True)
        self.serve()
        trust = ("--trust", certificate)
        self.assertEqual(self.fetched("/a/file", *trust), digest)
        self.weir("get", "/a/tree/", self.here / "copy", "--quiet", *trust)
        self.assertEqual(listing(self.here / "copy"), files)
        # A file and a folder of the tree by their own names.
        self.assertEqual(self.fetched("/a/tree/large", *trust), content.sha256(self.sent))
        self.weir("get", "/a/tree/d3/", self.here / "part", "--quiet", *trust)
        self.assertEqual(len(listing(self.here / "part")), 6)
        self.weir("cat", "/a/nothing", status=NOT_FOUND)

    def test_prefix_and_certificates(self):
        """With a prefix, certificates are found below it; other names are rejected at once."""
        certificate = self.key("/c")
        self.repo("put", "/c/file", self.sent)
        self.serve("--prefix", "/c")
        name = self.weir("peek", "/c/KEY", "--prefix", "--json")
        self.assertIn("/c/KEY/", json.loads(name)["name"])
        # Without an answer, the command would wait for its patience.
        self.fetched("/c/other", "--patience", "1000 s", status=NOT_FOUND)
        self.assertEqual(self.fetched("/c/file", "--trust", certificate), content.sha256(self.sent))

    def test_commands_while_it_runs(self):
        """Commands work on a store that is served, changes are served, a second run is rejected."""
        self.repo("put", "/a/file", self.sent)
        self.serve()
        _, said = self.repo("run", "--socket", self.daemon.socket, status=USAGE)
        self.assertIn("another process serves", said)
        other = content.make(self.here / "other", 50_000, 3)
        self.repo("put", "/b/other", other)
        wait_until(
            lambda: subprocess.run(
                [self.program, "get", "/b/other", "-o", self.here / "got", "--quiet"]
                + ["--socket", self.daemon.socket, "--patience", "1 s"],
                capture_output=True,
                check=False,
            ).returncode
            == 0,
            "the new object to be served",
        )
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(other))
        names = [row["name"] for row in self.json("ls")]
        self.assertEqual([name.rsplit("/", 1)[0] for name in names], ["/a/file", "/b/other"])
        self.repo("rm", "/a/file")
        # The forwarder may have it in its store; so another consumer asks the producer.
        self.assertEqual([row["name"] for row in self.json("ls")], names[1:])
        self.assertEqual(self.json("verify")[0]["damaged"], [])

    def test_the_daemon_restarts(self):
        """The prefixes are registered again."""
        self.repo("put", "/a/again", self.sent)
        self.serve()
        self.daemon.process.kill()
        self.daemon.start()
        self.assertEqual(self.fetched("/a/again", "--patience", "20 s"), content.sha256(self.sent))

    def test_without_a_daemon(self):
        """A forwarder in the process listens where it is told to."""
        self.repo("put", "/a/file", self.sent)
        log = self.here / "run.log"
        child = Child([*self.command("run"), "--listen", "127.0.0.1:0"], log)
        self.addCleanup(child.kill)
        wait_until(lambda: "serving" in log.read_text(encoding="utf-8"), "the store to be served")
        said = log.read_text(encoding="utf-8")
        address = re.search(r"udp4://([\d.:]+)", said).group(1)
        got = self.here / "got"
        subprocess.run(
            [self.program, "get", "/a/file", "-o", got, "--quiet", "--peer", f"udp4://{address}"],
            check=True,
            timeout=PATIENCE,
        )
        self.assertEqual(content.sha256(got), content.sha256(self.sent))

    def test_fetch_keeps_what_its_publisher_signed(self):
        """An object is fetched by name, and verified by its publisher's key when that is gone."""
        certificate = self.key("/p")
        put = self.daemon.put("/p/file", self.sent)
        reach = ("--socket", self.daemon.socket)
        [kept] = self.json("fetch", "/p/file", "--trust", certificate, *reach)
        self.assertEqual((kept["bytes"], kept["was_there"]), (self.sent.stat().st_size, False))
        [again] = self.json("fetch", "/p/file", *reach)
        self.assertEqual((again["new_bytes"], again["was_there"]), (0, True))
        put.stop()
        self.weir("cs", "erase", "/p")
        self.fetched("/p/file", "--patience", "1 s", status=NOT_FOUND)
        self.serve()
        self.assertEqual(self.fetched("/p/file", "--trust", certificate), content.sha256(self.sent))
        [row] = self.json("stat", "/p/file")
        self.assertTrue(row["key"].startswith("/p/KEY/"), row)

    def test_fetch_keeps_trees(self):
        """A tree is fetched with all that its publisher signed: also its parts stay."""
        certificate = self.key("/f")
        folder = self.here / "folder"
        small_files(folder, 100)
        (folder / "d0" / "inner").mkdir()
        (folder / "d0" / "inner" / "large").write_bytes(self.sent.read_bytes())
        files = listing(folder)
        put = self.daemon.put("/f/tree", folder)
        trust = ("--trust", certificate)
        [kept] = self.json("fetch", "/f/tree/", *trust, "--socket", self.daemon.socket)
        self.assertEqual((kept["files"], kept["was_there"]), (101, False))
        put.stop()
        self.weir("cs", "erase", "/f")
        self.serve()
        self.weir("get", "/f/tree/", self.here / "copy", "--quiet", *trust)
        self.assertEqual(listing(self.here / "copy"), files)
        self.weir("get", "/f/tree/d0/", self.here / "part", "--quiet", *trust)
        self.assertEqual(self.fetched("/f/tree/d0/inner/large", *trust), content.sha256(self.sent))
        self.weir("cat", "/f/tree/d3", status=USAGE)
        self.assertEqual(self.json("verify")[0]["damaged"], [])

    def test_fetch_rejects_other_keys_and_more_than_the_quota(self):
        """Nothing is kept of an object that is not trusted or too large."""
        other = self.key("/other")
        put = self.daemon.put("/q/file", self.sent)
        self.addCleanup(put.kill)
        reach = ("--socket", self.daemon.socket)
        self.repo("fetch", "/q/file", "--trust", other, *reach, status=NOT_VERIFIED)
        _, said = self.repo("fetch", "/q/file", "--quota", "1 MB", *reach, status=FILE)
        self.assertIn("the quota is 1000000 bytes: the store has 0 bytes, and needs 2000000 ", said)
        self.assertEqual((self.json("ls"), self.blobs()), ([], []))
        self.assertEqual(list((self.store / "incoming").iterdir()), [])

    def test_a_tree_that_grows_while_it_is_fetched_is_held_against_the_quota(self):
        """The quota is checked with each version of the tree, before more of its files come."""
        folder = self.here / "folder"
        folder.mkdir()
        content.make(folder / "a", 1_000_000)
        put = self.daemon.put("/g/tree", folder)
        self.addCleanup(put.kill)
        argv = [*self.command("fetch", "/g/tree/"), "--quota", "2 MB", "--limit-rate", "1 Mbit/s"]
        fetch = Child([*argv, "--socket", self.daemon.socket], self.here / "fetch.log")
        self.addCleanup(fetch.kill)

        def begun():
            files = (self.store / "incoming").rglob("*")
            return any(path.is_file() and path.stat().st_size for path in files)

        wait_until(begun, "the file to begin")
        # In place: the bytes of the version before are gone.
        content.make(folder / "a", 5_000_000, 4)
        fetch.wait(PATIENCE)
        self.assertEqual(fetch.status, FILE)
        said = (self.here / "fetch.log").read_text(encoding="utf-8")
        self.assertIn("the quota is 2000000 bytes", said)
        # Exactly the files: the insertion would count records, too.
        self.assertIn("and needs 5000000 bytes more", said)

    def test_quota(self):
        """Files that do not fit are rejected with the numbers."""
        self.repo("put", "/a/one", self.sent, "--quota", "3 MB")
        other = content.make(self.here / "other", 1_500_000, 5)
        _, said = self.repo("put", "/a/two", other, "--quota", "3 MB", status=FILE)
        # Names, digests and signatures count, too.
        self.assertRegex(said, "has 20[0-9]{5} bytes, and needs 15[0-9]{5} bytes more")
        self.assertEqual(len(self.blobs()), 1)
        # The same bytes take no room.
        self.repo("put", "/a/three", self.sent, "--quota", "3 MB")

    def test_export_and_damage(self):
        """Exported bytes are those that were stored, and damage is found by all commands."""
        self.repo("put", "/damage/file", self.sent)
        out = self.here / "out"
        # A symbolic link stays one, and a device is written to.
        link = self.here / "link"
        link.symlink_to(out)
        self.repo("export", "/damage/file", link)
        self.repo("export", "/damage/file", "/dev/null")
        self.assertTrue(link.is_symlink())
        self.assertEqual(content.sha256(out), content.sha256(self.sent))
        [blob] = self.blobs()
        with open(blob, "r+b") as file:
            file.seek(1_000_000)
            file.write(b"damage")
        damaged, said = self.repo("verify", "--json", status=NOT_VERIFIED)
        self.assertIn("/damage/file/v=", json.loads(damaged)["damaged"][0]["name"])
        self.assertIn("1 of the entries", said)
        out.unlink()
        self.repo("export", "/damage/file", out, status=NOT_VERIFIED)
        self.assertFalse(out.exists())
        # Damaged segments are not sent.
        self.serve()
        self.fetched("/damage/file", "--patience", "3 s", status=FAILED)
        # A consumer that asks again and again does not fill the log.
        self.assertEqual((self.here / "run.log").read_text("utf-8").count("cannot serve"), 1)
        self.repo("export", "/damage/none", out, status=NOT_FOUND)

    def test_versions_and_removal(self):
        """Each version is kept; identical bytes are kept once, as long as one object has them."""
        file = content.make(self.here / "file", 40_000)
        for seconds in (1_000_000_000, 1_100_000_000):
            os.utime(file, (seconds, seconds))
            self.repo("put", "/a/file", file)
        self.assertEqual(len(self.json("stat", "/a/file")), 2)
        self.assertEqual(len(self.blobs()), 1)
        [gone] = self.json("rm", "/a/file/v=1000000000000")
        self.assertEqual((len(gone["removed"]), gone["freed_bytes"]), (1, 0))
        [gone] = self.json("rm", "/a/file")
        self.assertEqual((len(gone["removed"]), gone["freed_bytes"]), (1, 40_000))
        self.assertEqual(self.blobs(), [])
        self.repo("rm", "/a/file", status=NOT_FOUND)

    def test_a_folder_without_changes_stays_one_version(self):
        """Another tree has a newer version than the last one."""
        folder = self.here / "folder"
        small_files(folder, 5)
        [first] = self.json("put", "/a/tree", folder)
        [again] = self.json("put", "/a/tree", folder)
        self.assertEqual((again["name"], again["was_there"]), (first["name"], True))
        self.assertEqual(again["new_bytes"], 0)
        _, said = self.repo("put", "/a/tree", folder)
        self.assertIn(f"{first['name']} was there (", said)
        self.assertEqual(len(self.json("ls")), 1)
        (folder / "more").write_text("x", encoding="utf-8")
        [changed] = self.json("put", "/a/tree", folder)
        self.assertEqual((changed["was_there"], changed["new_bytes"]), (False, 1))
        self.assertEqual(len(self.json("ls")), 2)
        # The tree before is not the newest one.
        (folder / "more").unlink()
        [back] = self.json("put", "/a/tree", folder)
        self.assert_newer(first, changed, back)

    def assert_newer(self, *put):
        """Each of these versions is newer than the one before."""
        versions = [int(one["name"].rpartition("=")[2]) for one in put]
        self.assertEqual(sorted(set(versions)), versions)

    def test_a_changed_folder_is_newer_also_if_the_clock_went_back(self):
        """Consumers would not see the change otherwise."""
        need = weir.ROOT / "scripts/need"
        if subprocess.run([need, "faketime"], check=False, capture_output=True).returncode != 0:
            self.skipTest("scripts/need cannot install faketime")
        folder = self.here / "folder"
        small_files(folder, 5)
        [first] = self.json("put", "/a/tree", folder)
        (folder / "more").write_text("x", encoding="utf-8")
        [changed] = self.json("put", "/a/tree", folder, before=("faketime", "-f", "-1000d"))
        self.assert_newer(first, changed)
        self.assertFalse(changed["was_there"])

    def test_an_unchanged_folder_is_signed_by_the_latest_key(self):
        """The version stays: the content is the same."""
        folder = self.here / "folder"
        small_files(folder, 5)
        [first] = self.json("put", "/a/tree", folder)
        certificate = self.key("/a")
        [signed] = self.json("put", "/a/tree", folder)
        self.assertEqual((signed["name"], signed["was_there"]), (first["name"], True))
        self.assertEqual(len(self.json("ls")), 1)
        self.serve()
        self.weir("get", "/a/tree/", self.here / "copy", "--quiet", "--trust", certificate)
        self.assertEqual(listing(self.here / "copy"), listing(folder))

    def test_counts_are_singular_and_signatures_are_not_called_verified(self):
        """Of one byte; `stat` names the key that the signature names."""
        self.key("/a")
        file = self.here / "file"
        file.write_text("x", encoding="utf-8")
        self.repo("put", "/a/file", file)
        said, _ = self.repo("stat", "/a/file")
        self.assertRegex(said, r"(?m)^content +1 B \(1 byte\)$")
        self.assertRegex(said, r"(?m)^signed by +/a/KEY/\S+ \(not verified here\)$")

    def test_run_reports_a_store_that_it_makes(self):
        """The name of the folder may be wrong; a second start finds the store."""
        made = f"made an empty store in {self.store}"
        for is_new in (True, False):
            child = self.serve()
            said = (self.here / "run.log").read_text(encoding="utf-8")
            self.assertEqual(made in said, is_new, said)
            self.assertIn("serving 0 objects (0 B); nothing is registered yet;", said)
            child.stop()

    def test_the_prefix_of_what_is_removed_is_not_registered_any_more(self):
        """Another repository or publisher answers for it then."""
        for name in ("/removed/one", "/removed/two"):
            self.repo("put", name, self.sent)
        self.serve()

        def routes():
            listed = json.loads(self.weir("route", "list", "--json"))
            return sorted(route["prefix"] for route in listed if "/removed/" in route["prefix"])

        self.assertEqual(routes(), ["/removed/one", "/removed/two"])
        self.repo("rm", "/removed/one")
        wait_until(lambda: routes() == ["/removed/two"], "the prefix to be unregistered")
        self.repo("put", "/removed/one", self.sent)
        wait_until(lambda: len(routes()) == 2, "the prefix to be registered again")
        self.fetched("/removed/one")

    def test_the_latest_signatures_are_kept(self):
        """A copy without a key is replaced by one that a key has signed."""
        self.repo("put", "/a/file", self.sent)
        certificate = self.key("/a")
        self.repo("put", "/a/file", self.sent)
        self.serve()
        found = self.fetched("/a/file", "--trust", certificate)
        self.assertEqual(found, content.sha256(self.sent))

    def test_killed_insertions(self):
        """Insertions are killed at any time: all that were acknowledged are there, and no more."""
        chance = random.Random(7)
        file, acknowledged, killed = self.here / "file", [], 0
        # As long as one takes here, so that the kills meet all of its parts on any machine.
        begun = time.monotonic()
        self.repo("put", "/whole", content.make(file, 30_000, KILLS))
        longest = time.monotonic() - begun
        for number in range(KILLS):
            content.make(file, 30_000 + number, number)
            argv = [*self.command("put", f"/k/{number}", file), "--json"]
            with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as put:
                try:
                    put.wait(chance.uniform(0, longest))
                except subprocess.TimeoutExpired:
                    put.kill()
                    killed += 1
                line = put.stdout.readline()
                if line.endswith(b"\n"):
                    acknowledged.append((number, json.loads(line)["name"]))
        self.assertGreater(killed, 0)
        there = {row["name"] for row in self.json("ls")} if self.store.exists() else set()
        for _, name in acknowledged:
            self.assertIn(name, there)
        self.repo("gc")
        [checked] = self.json("verify")
        self.assertEqual((checked["objects"], checked["damaged"]), (len(there), []))
        self.assertEqual(len(self.blobs()), len(there))
        self.assertEqual(list((self.store / "incoming").iterdir()), [])
        for number, name in acknowledged[:3]:
            self.repo("export", name, self.here / "out")
            expected = content.make(file, 30_000 + number, number)
            self.assertEqual(content.sha256(self.here / "out"), content.sha256(expected))

    def test_full_disk(self):
        """It is said, nothing that is stored suffers, and with room it goes on."""
        try:
            volume = Ext2(self.here, 8_000_000)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(volume.close)
        self.store = volume.folder / "store"
        before = volume.command()
        self.repo("put", "/a/file", self.sent, before=before)
        large = content.make(self.here / "large", 9_000_000, 4)
        _, said = self.repo("put", "/a/large", large, status=FILE, before=before)
        self.assertRegex(said, r"No space left on device.*make room and run the same command again")
        [row] = self.json("ls", before=before)
        self.assertTrue(row["name"].startswith("/a/file/"))
        self.assertEqual(self.json("verify", before=before)[0]["damaged"], [])
        # Nothing of it is left, so that a smaller one fits.
        other = content.make(self.here / "other", 2_000_000, 5)
        self.repo("put", "/a/other", other, before=before)

    def test_stores_that_cannot_be_used(self):
        """No store, a file in its place, and a damaged index are errors in plain words."""
        _, said = self.repo("ls", status=FILE)
        self.assertIn("there is no store in", said)
        self.store.mkdir()
        (self.store / "index").write_bytes(b"no index" * 1000)
        run = ("run", "--socket", self.daemon.socket)
        for words in (("ls",), ("put", "/a/file", self.sent), run):
            with self.subTest(words=words):
                _, said = self.repo(*words, status=FILE)
                self.assertRegex(said, r"the index .*(damaged|:)")

    def test_summaries_are_documented(self):
        """The manual has the fields of all JSON objects."""
        [put] = self.json("put", "/a/file", self.sent)
        self.assert_documented("weir repo put", put)
        for command in ("ls", "stat", "verify", "rm"):
            words = (command, "/a/file")
            self.assert_documented(f"weir repo {command}", self.json(*words)[0])
        self.assert_documented("weir repo gc", self.json("gc")[0])
        child = self.serve("--json")
        out = self.here / "run.log"
        child.stop()
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        self.assert_documented("weir repo run", lines[-1])
