"""Stores in buckets of a real S3 server, which rejects, is slow, breaks off, and loses answers."""

import json
import os
import random
import shutil
import subprocess
import time
import unittest.mock

from store_case import PATIENCE, Stored
from support import buckets, content
from support.children import Child, wait_until
from tools import FAILED, FILE, NOT_FOUND, NOT_VERIFIED, USAGE
from tree_case import listing, small_files

# The number of insertions that are killed.
KILLS = int(os.environ.get("WEIR_BUCKET_KILLS", "30"))
# Larger than a part of an upload.
LARGE = 20_000_000


class BucketStores(Stored):
    """A bucket for each test."""

    def setUp(self):
        super().setUp()
        self.root = self.here / "buckets"
        self.bucket = self.root / "media"
        self.bucket.mkdir(parents=True)
        self.server = buckets.Server(self.root)
        self.server.start()
        self.addCleanup(self.server.stop)
        self.proxy = buckets.Proxy(self.server.port)
        self.addCleanup(self.proxy.close)
        self.cache = self.here / "cache"
        self.set_environment(**buckets.environment(self.proxy.address))
        self.set_environment(XDG_CACHE_HOME=str(self.cache))
        self.store = "s3://media/kept"

    def set_environment(self, **variables):
        """Set variables until the test ends."""
        self.enterContext(unittest.mock.patch.dict(os.environ, variables))

    def host(self, name):
        """A context in which commands are those of another host."""
        cache = {"XDG_CACHE_HOME": str(self.here / name)}
        return unittest.mock.patch.dict(os.environ, cache)

    def objects(self, part):
        """The objects of the store whose keys have this part."""
        found = (self.bucket / "kept" / part).rglob("*")
        return sorted(path for path in found if path.is_file())

    def names(self):
        """The names in the store, without versions."""
        return [row["name"].rsplit("/", 1)[0] for row in self.json("ls")]

    def stale(self):
        """The folders of processes that have ended."""
        return list(self.cache.glob("weir/stores/*/incoming/*"))

    def test_content_stays(self):
        """A signed file, a large one and a tree are served from the bucket, by another host."""
        certificate = self.key("/a")
        file, folder = content.make(self.here / "file", 300_000), self.here / "folder"
        large = content.make(self.here / "large", LARGE)
        small_files(folder, 40)
        (folder / "large").write_bytes(self.sent.read_bytes())
        self.repo("put", "/a/file", file)
        self.repo("put", "/a/large", large)
        self.repo("add", "/a/tree", folder)
        self.assertGreaterEqual(self.proxy.count("POST", "blobs/"), 2)
        trust = ("--trust", certificate)
        with self.host("other"):
            self.serve()
        self.assertEqual(self.fetched("/a/file", *trust), content.sha256(file))
        self.assertEqual(self.fetched("/a/large", *trust), content.sha256(large))
        self.weir("get", "/a/tree/", self.here / "copy", "--quiet", *trust)
        self.assertEqual(listing(self.here / "copy"), listing(folder))
        self.assertEqual(self.json("verify")[0]["damaged"], [])
        self.repo("export", "/a/large", self.here / "out")
        self.assertEqual(content.sha256(self.here / "out"), content.sha256(large))
        self.assertEqual(self.names(), ["/a/file", "/a/large", "/a/tree/32=tree"])
        [gone] = self.json("rm", "/a/file", "/a/large", "/a/tree")
        self.assertGreater(gone["freed_bytes"], LARGE)
        self.assertEqual(self.objects("blobs"), [])
        # Those that serve it see the removal.
        self.weir("cs", "erase", "/a")
        wait_until(lambda: not self.registered("/a/"), "the prefixes to be unregistered")

    def registered(self, part):
        """The prefixes of the daemon with this part."""
        listed = json.loads(self.weir("route", "list", "--json"))
        return [route["prefix"] for route in listed if part in route["prefix"] + "/"]

    def test_fetch_keeps_objects_in_a_bucket(self):
        """With the signatures of their publisher."""
        certificate = self.key("/p")
        put = self.daemon.put("/p/file", self.sent)
        [kept] = self.json(
            "fetch", "/p/file", "--trust", certificate, "--socket", self.daemon.socket
        )
        self.assertEqual(kept["new_bytes"], self.sent.stat().st_size)
        put.stop()
        self.weir("cs", "erase", "/p")
        self.serve()
        self.assertEqual(self.fetched("/p/file", "--trust", certificate), content.sha256(self.sent))

    def test_the_index_of_a_host_is_made_again(self):
        """If it is lost, damaged, or of another store of this name."""
        self.repo("put", "/a/file", self.sent)
        self.repo("put", "/a/other", content.make(self.here / "other", 5_000, 1))
        names = self.names()
        [index] = self.cache.glob("weir/stores/*/index")
        index.unlink()
        self.assertEqual(self.names(), names)
        index.write_bytes(b"rubbish" * 1000)
        self.assertEqual(self.names(), names)
        # As if the bucket was restored from a backup of before.
        self.objects("log")[-1].unlink()
        self.assertEqual(self.names(), names[:1])
        shutil.rmtree(self.bucket / "kept")
        self.repo("ls", status=FILE)
        self.repo("put", "/b/file", self.sent)
        self.assertEqual(self.names(), ["/b/file"])

    def test_two_hosts_serve_one_store(self):
        """Each sees what the other one stores. On one host, a second server is rejected."""
        self.serve()
        _, said = self.repo("run", "--socket", self.daemon.socket, status=USAGE)
        self.assertIn("another process serves s3://media/kept", said)
        with self.host("other"):
            self.repo("put", "/two/file", self.sent)
        wait_until(lambda: self.registered("/two/"), "the other host's object to be served")
        self.assertEqual(self.fetched("/two/file"), content.sha256(self.sent))
        log = self.here / "other.log"
        with self.host("other"):
            child = Child([*self.command("run"), "--listen", "127.0.0.1:0"], log)
            self.addCleanup(child.kill)
            wait_until(lambda: "serving 1 object" in log.read_text("utf-8"), "the other server")

    def test_hosts_insert_at_the_same_time(self):
        """Every insertion is there, each change has a number, and no blob is left over."""
        running = []
        for number in range(9):
            content.make(self.here / f"file{number}", 1_000 + number, number)
            with self.host(f"host{number % 3}"):
                argv = self.command("put", f"/n/{number}", self.here / f"file{number}")
                running.append(Child(argv, self.here / f"put{number}.log"))
        for child in running:
            self.assertEqual(child.wait(PATIENCE), 0, child.last_words())
        self.assertEqual(sorted(self.names()), [f"/n/{number}" for number in range(9)])
        numbers = [int(path.name) for path in self.objects("log")]
        self.assertEqual(numbers, list(range(1, 10)))
        self.assertEqual(len(self.objects("blobs")), 9)
        self.assertEqual(self.json("verify")[0]["damaged"], [])

    def test_killed_insertions(self):
        """All that were acknowledged are there, no half one, and no blob without a name."""
        chance = random.Random(7)
        file, acknowledged = self.here / "file", []
        begun = time.monotonic()
        self.repo("put", "/whole", content.make(file, 30_000, KILLS))
        longest = time.monotonic() - begun
        for number in range(KILLS):
            content.make(file, 30_000 + number, number)
            out = self.here / "out"
            out.unlink(missing_ok=True)
            argv = [*self.command("put", f"/k/{number}", file), "--json"]
            child = Child(argv, self.here / "put.log", out)
            try:
                child.wait(chance.uniform(0, longest))
            except Exception:  # noqa: BLE001
                # It was killed.
                pass
            for line in out.read_text(encoding="utf-8").splitlines():
                acknowledged.append(json.loads(line)["name"])
        there = {row["name"] for row in self.json("ls")}
        self.assertLessEqual(set(acknowledged), there)
        self.assertEqual(self.json("verify")[0]["damaged"], [])
        self.assertEqual(self.stale(), [])
        self.assertEqual(len(self.objects("blobs")), len(there))
        # Another host sees the same.
        with self.host("other"):
            self.assertEqual({row["name"] for row in self.json("ls")}, there)

    def test_an_upload_in_parts_is_ended_when_its_process_is_killed(self):
        """Its parts take no room on the server."""
        self.repo("put", "/first", self.sent)

        def after_the_parts(method, _):
            has_parts = self.proxy.count("PUT", "blobs/") > 2
            return buckets.Silence() if method == "POST" and has_parts else None

        self.proxy.fault = after_the_parts
        large = content.make(self.here / "large", LARGE)
        child = Child(self.command("put", "/large", large), self.here / "put.log")
        self.addCleanup(child.kill)
        wait_until(lambda: self.proxy.count("POST", "blobs/") == 2, "all parts to be sent")
        child.kill()
        self.proxy.fault = None
        self.assertTrue(self.stale())
        self.assertEqual(self.names(), ["/first"])
        self.assertEqual(self.stale(), [])
        parts = [path for path in self.root.rglob("*") if "multipart" in str(path)]
        self.assertEqual([path for path in parts if path.is_file()], [])

    def test_passing_failures(self):
        """Each request fails at first: busy, cut off, silent, or without an answer."""
        self.set_environment(WEIR_S3_TIMEOUT="1")
        kinds = [
            lambda: buckets.Status(503, "SlowDown"),
            lambda: buckets.Status(500, "InternalError"),
            lambda: buckets.Cut(10),
            buckets.Lost,
        ]
        for number, kind in enumerate(kinds):
            self.fail_once(kind)
            with self.subTest(number=number):
                file = content.make(self.here / "file", 3_000_000, number)
                self.repo("put", f"/f/{number}", file)
                self.fail_once(kind)
                self.repo("export", f"/f/{number}", self.here / "out")
                self.assertEqual(content.sha256(self.here / "out"), content.sha256(file))
        self.proxy.fault = None
        # A change whose answer was lost was made once.
        self.assertEqual(len(self.names()), len(kinds))
        self.assertEqual(len(self.objects("log")), len(kinds))
        self.assertEqual(len(self.objects("blobs")), len(kinds))

    def fail_once(self, kind):
        """Each request fails in this way at its first attempt, from now on."""
        seen = set()

        def fault(method, path):
            is_first = (method, path) not in seen
            seen.add((method, path))
            return kind() if is_first else None

        self.proxy.fault = fault

    def test_a_slow_server(self):
        """An answer that does not come ends the attempt; the next one succeeds."""
        self.repo("put", "/a/file", self.sent)
        self.set_environment(WEIR_S3_TIMEOUT="1")
        self.fail_once(lambda: buckets.Silence())
        self.repo("export", "/a/file", self.here / "out")
        self.assertEqual(content.sha256(self.here / "out"), content.sha256(self.sent))
        self.set_environment(AWS_MAX_ATTEMPTS="1")
        self.proxy.fault = lambda *_: buckets.Silence()
        _, said = self.repo("ls", status=FILE)
        self.assertIn("cannot read s3://media/kept/store: the server does not answer in time", said)
        self.assertIn("later", said)

    def test_lasting_failures(self):
        """Messages have the object, the answer and the next step, and nothing is stored."""
        self.repo("put", "/a/file", self.sent)
        self.set_environment(AWS_MAX_ATTEMPTS="2")
        other = content.make(self.here / "other", 1_000, 1)
        for part, status, code, said in [
            ("blobs/", 503, "SlowDown", "answers 503 SlowDown: of a test, at attempt 2 of 2"),
            ("blobs/", 507, "InsufficientStorage", "make room on the server"),
            ("log/", 403, "AccessDenied", "check AWS_ACCESS_KEY_ID"),
        ]:
            with self.subTest(part=part, status=status):
                answer = buckets.Status(status, code)
                self.proxy.fault = lambda method, path, part=part, answer=answer: (
                    answer if method == "PUT" and part in path else None
                )
                _, text = self.repo("put", "/a/other", other, status=FILE)
                self.assertIn(said, text)
                self.assertIn(f"cannot write s3://media/kept/{part}", text)
                self.proxy.fault = None
                self.assertEqual(self.names(), ["/a/file"])
                self.assertEqual(len(self.objects("blobs")), 1)

    def test_buckets_that_cannot_be_used(self):
        """The message names the bucket and the remedy."""
        self.store = "s3://absent/kept"
        _, said = self.repo("put", "/a/file", self.sent, status=FILE)
        self.assertIn("s3://absent/kept/store: the server answers 404 NoSuchBucket", said)
        self.assertIn("make the bucket", said)
        self.store = "s3://"
        _, said = self.repo("ls", status=USAGE)
        self.assertIn("s3:// names no bucket", said)
        self.store = "s3://media/none"
        _, said = self.repo("ls", status=FILE)
        self.assertIn("there is no store in s3://media/none", said)
        for name in buckets.KEYS:
            with unittest.mock.patch.dict(os.environ, {name: "wrong"}):
                _, said = self.repo("put", "/a/file", self.sent, status=FILE)
                self.assertIn("cannot read s3://media/none/store: the server answers 40", said)
                self.assertIn("check AWS_ACCESS_KEY_ID", said)
            with unittest.mock.patch.dict(os.environ, {name: ""}):
                _, said = self.repo("ls", status=USAGE)
                self.assertIn("there are no credentials; set AWS_ACCESS_KEY_ID", said)
        self.assertEqual(list(self.bucket.iterdir()), [])
        self.set_environment(AWS_MAX_ATTEMPTS="1")
        self.proxy.close()
        _, said = self.repo("ls", status=FILE)
        self.assertIn("check AWS_ENDPOINT_URL", said)

    def test_a_server_without_conditions_is_rejected(self):
        """Two hosts would overwrite each other's changes."""
        self.proxy.fault = lambda *_: {"if-none-match": None}
        _, said = self.repo("put", "/a/file", self.sent, status=FILE)
        self.assertIn("the server ignores If-None-Match", said)
        self.assertEqual(self.objects(""), [])

    def test_damage(self):
        """Damaged and missing bytes are found, and never served."""
        self.repo("put", "/damage/file", self.sent)
        [blob] = self.objects("blobs")
        with open(blob, "r+b") as file:
            file.seek(1_000_000)
            file.write(b"damage")
        damaged, _ = self.repo("verify", "--json", status=NOT_VERIFIED)
        [found] = json.loads(damaged)["damaged"]
        self.assertIn("/damage/file/v=", found["name"])
        key = blob.relative_to(self.bucket)
        self.assertIn(f"s3://media/{key} has other bytes than were stored", found["why"])
        self.repo("export", "/damage/file", self.here / "out", status=NOT_VERIFIED)
        self.assertFalse((self.here / "out").exists())
        child = self.serve()
        self.fetched("/damage/file", "--patience", "3 s", status=FAILED)
        child.stop()
        blob.write_bytes(self.sent.read_bytes()[:-1])
        damaged, _ = self.repo("verify", "--json", status=NOT_VERIFIED)
        self.assertIn("it has 1999999 bytes instead of 2000000", damaged)
        blob.unlink()
        damaged, _ = self.repo("verify", "--json", status=NOT_VERIFIED)
        self.assertIn("the server answers 404", damaged)
        # The same bytes again repair it.
        self.repo("put", "/damage/file", self.sent)
        self.assertEqual(self.json("verify")[0]["damaged"], [])

    def test_damaged_and_newer_changes(self):
        """A host that has to read them reports the object."""
        self.repo("put", "/a/file", self.sent)
        [change] = self.objects("log")
        whole = change.read_bytes()
        for at in (0, 3, 40, len(whole) // 2, len(whole) - 1):
            changed = bytearray(whole)
            changed[at] ^= 1
            change.write_bytes(changed)
            with self.host(f"host{at}"):
                _, said = self.repo("ls", status=FILE)
                self.assertIn("s3://media/kept/log/0000000000000001 is damaged", said)
        change.write_bytes(whole)
        label = self.bucket / "kept" / "store"
        label.write_text("weir-store 2 0123456789abcdef\n", encoding="utf-8")
        _, said = self.repo("ls", status=FILE)
        self.assertIn("the store s3://media/kept has format 2, and this program reads 1", said)
        label.write_text("rubbish\n", encoding="utf-8")
        _, said = self.repo("ls", status=FILE)
        self.assertIn("s3://media/kept/store is damaged", said)

    def test_a_server_goes_on_while_the_bucket_is_away(self):
        """It serves again when the bucket is back, and fetches end before that."""
        self.set_environment(AWS_MAX_ATTEMPTS="1", WEIR_S3_TIMEOUT="2")
        self.repo("put", "/away/file", self.sent)
        child = self.serve()
        self.proxy.fault = lambda *_: buckets.Status(503, "SlowDown")
        self.fetched("/away/file", "--patience", "5 s", status=FAILED)
        log = self.here / "run.log"
        wait_until(lambda: "503 SlowDown" in log.read_text("utf-8"), "the failure to be reported")
        self.proxy.fault = None

        def is_back():
            argv = [self.program, "get", "/away/file", "-o", self.here / "got", "--quiet"]
            argv += ["--socket", self.daemon.socket, "--patience", "2 s"]
            done = subprocess.run(argv, capture_output=True, check=False, timeout=PATIENCE)
            return done.returncode == 0

        wait_until(is_back, "the object to be served again")
        self.assertTrue(child.running)
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(self.sent))
        self.weir("cat", "/away/none", status=NOT_FOUND)
