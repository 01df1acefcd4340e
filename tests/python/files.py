"""Published content as files of fsspec: pandas, xarray and zarr read it through a real daemon."""

import gc
import multiprocessing
import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

import fsspec
import numpy
import pandas
import weir
import xarray
import zarr
from _published import PROGRAM, WithDaemon
from support.children import wait_until
from weir.fsspec import WeirFile, WeirFileSystem

CONTENT = bytes(range(256)) * 1024


def length_elsewhere(arguments):
    """The length of a file, in another process."""
    url, options = arguments
    with fsspec.open(url, **options) as file:
        return len(file.read())


class Files(WithDaemon):
    """Names as files."""

    def setUp(self):
        self.options = {"socket": self.socket}
        # Each test has a file system, and so a process, of its own.
        self.files = fsspec.filesystem("weir", skip_instance_cache=True, **self.options)

    def tree(self, name, folder):
        """A folder, published until the test has ended."""
        command = [PROGRAM, "put", name, folder, "--sign", "/alice", "--socket", self.socket]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.assertIn("serving", process.stderr.readline())
        return process

    def folder_of(self, name, **files):
        """A folder with files, published."""
        folder = Path(self.folder, name.strip("/").replace("/", "-"))
        for path, content in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder

    def requests(self):
        """The bytes of each request from here on."""
        asked, fetch = [], WeirFileSystem._fetch

        def counted(self, version, start, end):
            asked.append((version, end - start))
            return fetch(self, version, start, end)

        patch = mock.patch.object(WeirFileSystem, "_fetch", counted)
        patch.start()
        self.addCleanup(patch.stop)
        return asked

    def test_fsspec_finds_the_scheme(self):
        """By the entry point of the package, without an import of it."""
        self.publish("/alice/found", CONTENT, sign="/alice")
        with fsspec.open("weir:///alice/found", **self.options) as file:
            self.assertIsInstance(file, WeirFile)
            self.assertEqual(file.read(), CONTENT)
        with fsspec.open("weir:///alice/found", "rt", encoding="latin-1", **self.options) as file:
            self.assertEqual(file.read(3), "\x00\x01\x02")

    def test_files_are_read_in_parts(self):
        """Seeks, ends, ranges from the end, and many at a time."""
        made = self.publish("/alice/parts", CONTENT, sign="/alice")
        asked = self.requests()
        with self.files.open("/alice/parts") as file:
            file.seek(-10, 2)
            self.assertEqual(file.read(), CONTENT[-10:])
            file.seek(1000)
            self.assertEqual(file.read(5), CONTENT[1000:1005])
        self.assertLess(sum(many for _, many in asked), len(CONTENT) / 2)
        self.assertEqual({version for version, _ in asked}, {made.name})
        self.assertEqual(self.files.cat_file("/alice/parts", 5, 9), CONTENT[5:9])
        self.assertEqual(self.files.cat_file("/alice/parts", -9, -5), CONTENT[-9:-5])
        self.assertEqual(self.files.cat_file("/alice/parts", 9, 5), b"")
        self.assertEqual(self.files.cat_file("/alice/parts", len(CONTENT) + 5), b"")
        got = self.files.cat_ranges(["/alice/parts"] * 20, list(range(20)), [30] * 20)
        self.assertEqual(got, [CONTENT[at:30] for at in range(20)])
        got = self.files.cat_ranges(["/alice/parts", "/alice/none"], 0, 2)
        self.assertEqual(got[0], CONTENT[:2])
        self.assertIsInstance(got[1], FileNotFoundError)

    def test_reading_on_fetches_more_at_a_time(self):
        """Few requests for a whole file, few bytes after a jump."""
        self.publish("/alice/long", CONTENT * 40, sign="/alice")
        asked = self.requests()
        with self.files.open("/alice/long") as file:
            while file.read(10_000):
                pass
        self.assertLess(len(asked), 20)
        self.assertEqual(sum(many for _, many in asked), len(CONTENT) * 40)
        asked.clear()
        with self.files.open("/alice/long") as file:
            for at in (9_000_000, 1_000_000, 5_000_000):
                file.seek(at)
                file.read(100)
        self.assertLess(sum(many for _, many in asked), 300_000)

    def test_trees_are_folders(self):
        """Lists, walks, patterns, links and names with special characters."""
        content = {"a.txt": b"hello\n", "sub/b.csv": b"x\n1\n", "sub/deep/c": b"", "sub/a b%": b"1"}
        folder = self.folder_of("/alice/tree", **content)
        folder.joinpath("link").symlink_to("sub/b.csv")
        folder.joinpath("sub/up").symlink_to("../sub/deep")
        folder.joinpath("round").symlink_to("round")
        self.tree("/alice/tree", folder)
        top = self.files.ls("weir:///alice/tree/", detail=False)
        self.assertEqual(top, [f"/alice/tree/{name}" for name in ("a.txt", "link", "sub")])
        self.assertEqual(self.files.cat("/alice/tree/link"), b"x\n1\n")
        self.assertEqual(self.files.cat("/alice/tree/sub/a b%"), b"1")
        self.assertEqual(self.files.cat("/alice/tree/sub/a%20b%25"), b"1")
        self.assertEqual(self.files.cat("/alice/tree/sub/up/c"), b"")
        about = self.files.info("/alice/tree/a.txt")
        self.assertEqual((about["size"], about["type"], about["islink"]), (6, "file", False))
        self.assertEqual(about["mode"], folder.joinpath("a.txt").stat().st_mode & 0o777)
        modified = folder.joinpath("a.txt").stat().st_mtime
        self.assertAlmostEqual(self.files.modified("/alice/tree/a.txt").timestamp(), modified, 3)
        self.assertTrue(self.files.isdir("/alice/tree/sub"))
        self.assertEqual(self.files.glob("/alice/tree/**/*.csv"), ["/alice/tree/sub/b.csv"])
        found = self.files.find("/alice/tree/sub/deep")
        self.assertEqual(found, ["/alice/tree/sub/deep/c"])
        walked = {path: set(files) for path, _, files in self.files.walk("/alice/tree/sub")}
        self.assertEqual(walked["/alice/tree/sub"], {"a b%", "b.csv"})
        got = self.files.cat("/alice/tree/sub", recursive=True)
        self.assertEqual(got["/alice/tree/sub/b.csv"], b"x\n1\n")
        self.files.get("/alice/tree/sub/b.csv", str(self.folder / "got.csv"))
        self.assertEqual((self.folder / "got.csv").read_bytes(), b"x\n1\n")

    def test_missing_files_are_not_found(self):
        """In a tree without a request, and elsewhere."""
        self.tree("/alice/few", self.folder_of("/alice/few", a=b"1"))
        self.publish("/alice/single", CONTENT, sign="/alice")
        for path in ("/alice/few/b", "/alice/few/a/c", "/alice/single/x", "/nobody/x", "/"):
            with self.assertRaises(FileNotFoundError, msg=path):
                self.files.info(path)
            self.assertFalse(self.files.exists(path), path)
            self.assertFalse(self.files.isdir(path), path)
            self.assertFalse(self.files.isfile(path), path)
        self.assertEqual(self.files.find("/alice/few/none"), [])
        self.assertEqual(self.files.glob("/alice/none/*"), [])
        with mock.patch.object(WeirFileSystem, "_gateway", side_effect=AssertionError):
            self.assertFalse(self.files.exists("/alice/few/c"))
        for call in (self.files.open, self.files.ukey, self.files.checksum):
            with self.assertRaises(IsADirectoryError):
                call("/alice/few")
        with self.assertRaises(FileNotFoundError):
            self.files.ls("/alice/none")
        self.assertEqual(self.files.ls("/alice/single", detail=False), ["/alice/single"])

    def test_errors_of_transfers_have_their_classes(self):
        """Wrong signatures, no forwarder, unknown options."""
        self.publish("/mallory/forged", CONTENT, sign="/mallory")
        trusting = fsspec.filesystem(
            "weir", trust=str(self.folder / "alice.cert"), skip_instance_cache=True, **self.options
        )
        with self.assertRaisesRegex(PermissionError, "is not trusted") as caught:
            trusting.cat("/mallory/forged")
        self.assertIsInstance(caught.exception.__cause__, weir.NotVerified)
        self.assertEqual(caught.exception.filename, "/mallory/forged")
        absent = fsspec.filesystem("weir", socket=str(self.folder / "none.sock"))
        lazy = (lambda path: next(absent.walk(path)), lambda path: absent.glob(f"{path}/*.csv"))
        known = (absent.exists, absent.isdir, absent.isfile, absent.find)
        for call in (*known, *lazy, absent.ls, absent.open):
            with self.assertRaisesRegex(weir.NoForwarder, "no forwarder at .*none.sock"):
                call("/alice/x")
        self.assertEqual(list(absent.walk("/alice/x", on_error="omit")), [])
        with self.assertRaisesRegex(OSError, "cubik"):
            fsspec.filesystem("weir", control="cubik", **self.options).info("/alice/x")

    def test_nothing_is_written(self):
        """Published content is for reading."""
        for call in (
            lambda: self.files.open("/alice/new", "wb"),
            lambda: self.files.mkdir("/alice/new"),
            lambda: self.files.makedirs("/alice/new"),
            lambda: self.files.rm("/alice/new"),
            lambda: self.files.pipe_file("/alice/new", b"1"),
            lambda: self.files.mv("/alice/new", "/alice/other"),
            lambda: self.files.put_file(__file__, "/alice/new"),
        ):
            with self.assertRaisesRegex(OSError, "is for reading"):
                call()

    def test_an_open_file_keeps_its_version(self):
        """A newer version does not appear in the middle, and comes with the next file."""
        first = self.publish("/alice/changing", b"1" * 500_000, sign="/alice")
        with self.files.open("/alice/changing") as file:
            start = file.read(10)
            second = self.publish("/alice/changing", b"2" * 500_000, sign="/alice")
            self.assertNotEqual(first.name, second.name)
            self.assertEqual(start + file.read(), b"1" * 500_000)
            file.seek(200_000)
            self.assertEqual((file.read(1), file.version), (b"1", first.name))
        self.assertEqual(self.files.cat(second.name), b"2" * 500_000)
        self.assertEqual(self.files.ukey(first.name), first.name)
        gone = self.publish("/alice/gone", b"1" * 500_000, sign="/alice")
        impatient = fsspec.filesystem("weir", patience=0.5, **self.options)
        with impatient.open("/alice/gone") as file:
            self.assertEqual(file.read(10), b"1" * 10)
            gone.close()
            file.seek(400_000)
            with self.assertRaisesRegex(OSError, f"{gone.name}|not published any more"):
                file.read(10)

    def test_content_that_breaks_off_is_an_error_of_files(self):
        """In the middle of an answer; the file system goes on."""
        gone = self.publish("/alice/broken", CONTENT * 20, sign="/alice")
        with self.files.open("/alice/broken") as file:
            self.assertEqual(file.read(3), CONTENT[:3])
            gone.close()
            # The first of it is in the cache of the gateway.
            file.seek(30_000)
            with self.assertRaisesRegex(OSError, "broke off after [0-9]+ of") as caught:
                file.read(600_000)
        self.assertNotIn("command", str(caught.exception))
        self.publish("/alice/broken", CONTENT, sign="/alice")

        def is_renewed():
            # Caches may answer with the older version for four seconds.
            try:
                return self.files.cat("/alice/broken") == CONTENT
            except OSError:
                return False

        wait_until(is_renewed, "the newer version")

    def test_an_open_file_goes_to_other_processes(self):
        """With its position, its version, and without a request."""
        first = self.publish("/alice/moved", b"1" * 300_000 + b"x", sign="/alice")
        with self.files.open("/alice/moved", block_size=1000) as file:
            file.seek(-1, 2)
            content = pickle.dumps(file)
            self.publish("/alice/moved", b"2" * 100, sign="/alice")
            with mock.patch.object(WeirFileSystem, "info", side_effect=AssertionError):
                again = pickle.loads(content)
        with again:
            self.assertEqual((again.tell(), again.size, again.blocksize), (300_000, 300_001, 1000))
            self.assertEqual((again.version, again.read()), (first.name, b"x"))

    def test_a_tree_that_is_published_later_appears(self):
        """Also where a file of it was looked for before."""
        self.assertFalse(self.files.exists("/alice/late/a.txt"))
        with mock.patch("weir.fsspec._ABSENT", 3600):
            self.assertFalse(self.files.exists("/alice/never/a.txt"))
            with mock.patch.object(WeirFileSystem, "_list", side_effect=AssertionError):
                self.assertFalse(self.files.exists("/alice/never/a.txt"), "known for a while")
        folder = self.folder_of("/alice/late", **{"a.txt": b"1", "b.txt": b"2"})
        self.tree("/alice/late", folder)
        wait_until(lambda: self.files.isdir("/alice/late"), "the new tree")
        paths = [f"/alice/late/{name}.txt" for name in "ab"]
        self.assertEqual(self.files.ls("/alice/late", detail=False), paths)
        self.assertIn("mode", self.files.info(paths[1]))

    def test_files_of_a_tree_are_of_one_version(self):
        """Until the cache is invalidated, also of files that are read for the first time."""
        folder = self.folder_of("/alice/pair", a=b"1", b=b"1")
        old = self.tree("/alice/pair", folder)
        self.assertEqual(self.files.cat("/alice/pair/a"), b"1")
        old.terminate()
        old.wait()
        for name in ("a", "b"):
            folder.joinpath(name).write_bytes(b"22")
        self.tree("/alice/pair", folder)
        with self.assertRaisesRegex(FileNotFoundError, "not published any more"):
            self.files.cat("/alice/pair/b")
        expected = {"/alice/pair/a": b"22", "/alice/pair/b": b"22"}

        def is_renewed():
            # Caches may answer with the older version for four seconds.
            self.files.invalidate_cache("/alice/pair/b")
            try:
                return self.files.cat(list(expected)) == expected
            except FileNotFoundError:
                return False

        wait_until(is_renewed, "the newer version")

    def test_pandas(self):
        """CSV as a whole, and single columns of Parquet."""
        random = numpy.random.default_rng(1)
        frame = pandas.DataFrame({f"c{n}": random.random(50_000) for n in range(10)})
        path = self.folder / "frame.parquet"
        frame.to_parquet(path, row_group_size=20_000)
        self.publish("/alice/frame.parquet", path, sign="/alice")
        self.publish("/alice/frame.csv", frame[:100].to_csv(index=False).encode(), sign="/alice")
        read = pandas.read_csv("weir:///alice/frame.csv", storage_options=self.options)
        pandas.testing.assert_frame_equal(read, frame[:100])
        asked = self.requests()
        read = pandas.read_parquet(
            "weir:///alice/frame.parquet", columns=["c3"], storage_options=self.options
        )
        pandas.testing.assert_frame_equal(read, frame[["c3"]])
        self.assertLess(sum(many for _, many in asked), path.stat().st_size / 4)

    def test_xarray_and_zarr(self):
        """A store in a published folder: only the chunks that are needed."""
        data = numpy.arange(40 * 50 * 60, dtype="f8").reshape(40, 50, 60)
        folder = self.folder / "climate"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            xarray.Dataset({"t": (("time", "y", "x"), data)}).to_zarr(
                folder, encoding={"t": {"chunks": (10, 25, 60)}}
            )
        self.tree("/alice/climate", folder)
        url = "weir:///alice/climate"
        group = zarr.open_group(url, mode="r", storage_options=self.options)
        numpy.testing.assert_array_equal(group["t"][0, 0], data[0, 0])
        asked = self.requests()
        with xarray.open_zarr(url, storage_options=self.options, chunks=None) as read:
            self.assertEqual(float(read["t"][12, 30, 5]), data[12, 30, 5])
            chunks = [version for version, _ in asked if "/t/c/" in version]
            self.assertEqual(len(chunks), 1, asked)
            numpy.testing.assert_array_equal(read["t"].values, data)

    def test_copies_in_other_processes_work(self):
        """Pickled and forked, each with a gateway of its own, and none outlives its process."""
        self.publish("/alice/shared", CONTENT, sign="/alice")
        self.assertEqual(len(self.files.cat("/alice/shared")), len(CONTENT))
        again = pickle.loads(pickle.dumps(self.files))
        self.assertEqual(len(again.cat("/alice/shared")), len(CONTENT))
        arguments = ("weir:///alice/shared", self.options)
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                self.assertEqual(pool.map(length_elsewhere, [arguments]), [len(CONTENT)])
        code = (
            "import fsspec, os, signal;"
            f"fsspec.filesystem('weir', socket={self.socket!r}).cat('/alice/shared');"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        done = subprocess.run([sys.executable, "-c", code], check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        WeirFileSystem.clear_instance_cache()
        again = None
        # Those of earlier tests may be in cycles with errors that were caught.
        gc.collect()
        # Of this file system alone.
        wait_until(lambda: self.gateways() == 1, "the other gateways end")
        self.files = None
        gc.collect()
        self.assertEqual(self.gateways(), 0)

    def test_a_gateway_ends_before_forked_processes(self):
        """They have its input, too, until they close it."""
        self.publish("/alice/forking", CONTENT, sign="/alice")
        code = (
            "import fsspec, os, signal, sys\n"
            f"fsspec.filesystem('weir', socket={self.socket!r}).cat('/alice/forking')\n"
            "if os.fork() == 0:\n    print('forked', flush=True); sys.stdin.read(); os._exit(0)\n"
            "signal.pause()\n"
        )
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
            self.assertEqual(process.stdout.readline(), "forked\n")
            self.assertEqual(self.gateways(), 1)
            process.kill()
            process.wait()
            # The forked process waits for the end of its input.
            wait_until(lambda: self.gateways() == 0, "the gateway ends")

    def gateways(self):
        """The number of gateways that use this daemon."""
        found = 0
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = place.read_bytes().split(b"\0")
            except OSError:
                continue
            found += words[1:2] == [b"gateway"] and self.socket.encode() in words
        return found
