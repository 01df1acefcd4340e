"""`weir mount`: trees and objects as files, read by programs that know nothing of NDN."""

import concurrent.futures
import contextlib
import errno
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import tree_pages
from support import content, ndn, weir
from support.children import Child, open_files, wait_until
from tree_case import TreeCase, listing, small_files

MEGABYTE = content.MEGABYTE
LARGE = 12 * MEGABYTE
FAILED, USAGE, NOT_FOUND, NOT_VERIFIED, INTERRUPTED, NO_FORWARDER, FILE = range(1, 8)
# Patience of a mount whose producer dies, and the most that an answer may take then: a busy machine
# may be slow, but not as slow as the default patience.
PATIENCE, LATEST = 2, 20
SMALLEST_CACHE = 16 * MEGABYTE
# A time with nanoseconds, long ago.
TIME = 1_500_000_000_123_456_789
DEAD = {errno.ETIMEDOUT, errno.EHOSTUNREACH}
ABSENT = "/dev/fuse is missing: this system has no FUSE"


def mounts():
    """The mounted folders."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return {line.split(" ")[1]: line.split(" ")[3].split(",") for line in lines}


def run(*words, **options):
    """Run another program to its end, and return its output."""
    argv = list(map(str, words))
    done = subprocess.run(argv, check=False, capture_output=True, timeout=60, **options)
    if done.returncode:
        raise AssertionError(f"{argv}: {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


class Mounting(TreeCase):
    """One mount at a time, which the end of the test unmounts."""

    @classmethod
    def setUpClass(cls):
        if not Path("/dev/fuse").exists():
            raise unittest.SkipTest(ABSENT)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.point = self.here / "mnt"
        self.point.mkdir()
        self.messages = self.here / "mount.log"

    def mount(self, name, *options, forwarder=None):
        """Mount until the test ends; return the process, and the line that it printed."""
        forwarder = forwarder or self.daemon.socket
        out = self.here / "mount.out"
        out.unlink(missing_ok=True)
        argv = [self.program, "mount", name, self.point, "--socket", forwarder, "--json"]
        child = Child([*argv, *options], self.messages, out)
        self.addCleanup(self.unmount, child)

        def ready():
            if not child.running:
                raise AssertionError(child.last_words())
            return out.read_text(encoding="utf-8").endswith("\n")

        wait_until(ready, f"{name} to be mounted")
        return child, json.loads(out.read_text(encoding="utf-8"))

    def unmount(self, child):
        """End a mount, whatever the test has left of it."""
        child.kill()
        if str(self.point) in mounts():
            run("umount", "-l", self.point)

    def assert_fails(self, expected, work):
        """The operation fails with one of these errors, and soon; return how long it took."""
        began = time.monotonic()
        with self.assertRaises(OSError) as caught:
            work()
        took = time.monotonic() - began
        self.assertIn(caught.exception.errno, expected, caught.exception)
        self.assertLess(took, LATEST)
        return took


class Reading(Mounting):
    """Programs read from a mount."""

    def fill(self):
        """All kinds of entries."""
        (self.folder / "sub/deep").mkdir(parents=True)
        (self.folder / "empty").mkdir(mode=0o700)
        content.make(self.folder / "large", 3 * MEGABYTE + 17)
        content.make(self.folder / "sub/medium", 100_000, seed=2)
        content.make(self.folder / "sub/deep/small", 300, seed=3)
        (self.folder / "none").touch()
        (self.folder / "script").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.folder / "script").chmod(0o755)
        (self.folder / os.fsdecode(b"\xff\xfe")).write_text("y", encoding="utf-8")
        (self.folder / "sub/up").symlink_to("../large")
        small_files(self.folder / "many", 300)
        # rsync leaves times alone that differ by less than a second.
        for number, path in enumerate(sorted(self.folder.rglob("*"), reverse=True)):
            os.utime(path, ns=(TIME, TIME + number), follow_symlinks=False)

    def test_rsync_and_tar_copy_a_tree_as_it_is(self):
        """Content, permissions, times and links; nothing can be written."""
        if subprocess.run([weir.ROOT / "scripts/need", "rsync"], check=False).returncode:
            self.skipTest("rsync cannot be installed")
        self.fill()
        self.serve("/m/all")
        _, ready = self.mount("/m/all")
        self.assert_documented("weir mount", ready)
        self.assertEqual(ready["mounted"], str(self.point))
        options = mounts()[str(self.point)]
        for wanted in ("ro", "nosuid", "nodev", "default_permissions"):
            self.assertIn(wanted, options)
        self.assertNotIn("allow_other", options)
        expected = listing(self.folder)
        self.assertEqual(listing(self.point), expected)
        run("rsync", "-a", f"{self.point}/", self.copy)
        self.assertEqual(listing(self.copy), expected)
        unpacked = self.here / "unpacked"
        unpacked.mkdir()
        archive = run("tar", "-C", self.point, "-H", "posix", "-c", ".")
        run("tar", "-C", unpacked, "-x", "-p", input=archive)
        self.assertEqual(listing(unpacked), expected)
        system = os.statvfs(self.point)
        total = sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file())
        self.assertGreaterEqual(system.f_blocks * system.f_frsize, total - 100)
        self.assertEqual((system.f_bavail, system.f_namemax), (0, 255))

    def test_errors_have_their_numbers(self):
        """Each fault of a program has the error that other file systems have for it."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        (self.folder / "sub").mkdir()
        self.serve("/m/errors")
        self.mount("/m/errors")
        at = self.point
        for expected, work in [
            (errno.ENOENT, lambda: os.stat(at / "none")),
            (errno.ENAMETOOLONG, lambda: os.stat(at / ("x" * 256))),
            (errno.ENOTDIR, lambda: os.stat(at / "file/x")),
            (errno.EISDIR, lambda: (at / "sub").read_bytes()),
            (errno.EROFS, lambda: (at / "new").write_bytes(b"")),
            (errno.EROFS, lambda: (at / "file").write_bytes(b"")),
            (errno.EROFS, lambda: (at / "file").unlink()),
            (errno.EROFS, lambda: (at / "sub").rmdir()),
            (errno.EROFS, lambda: (at / "file").rename(at / "other")),
            (errno.EROFS, lambda: (at / "file").chmod(0o600)),
            (errno.EINVAL, lambda: os.readlink(at / "file")),
        ]:
            self.assert_fails({expected}, work)
        self.assertEqual((at / "file").read_text(encoding="utf-8"), "x")

    def test_git_clones_a_bare_repository(self):
        """The clone is complete, and has the commit."""
        if subprocess.run([weir.ROOT / "scripts/need", "git"], check=False).returncode:
            self.skipTest("git cannot be installed")
        work, about = self.here / "work", ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        run("git", "init", "-q", "-b", "main", work)
        small_files(work, 200)
        for number in range(3):
            (work / "changing").write_text(str(number), encoding="utf-8")
            run("git", "-C", work, "add", ".")
            run("git", *about, "-C", work, "commit", "-q", "-m", f"change {number}")
        bare = self.folder / "project.git"
        run("git", "clone", "-q", "--bare", work, bare)
        self.serve("/m/git", command="share")
        self.mount("/m/git")
        run("git", "clone", "-q", self.point / "project.git", self.copy)
        run("git", "-C", self.copy, "fsck", "--strict")
        head = ["rev-parse", "HEAD"]
        self.assertEqual(run("git", "-C", self.copy, *head), run("git", "-C", work, *head))
        self.assertEqual((self.copy / "changing").read_text(encoding="utf-8"), "2")

    def test_ffmpeg_plays_a_video(self):
        """Every picture is the one that was made, although its index is at the end."""
        if subprocess.run([weir.ROOT / "scripts/need", "ffmpeg"], check=False).returncode:
            self.skipTest("ffmpeg cannot be installed")
        ffmpeg = ["ffmpeg", "-nostdin", "-v", "error"]
        source = ["-f", "lavfi", "-i", "testsrc2=duration=4:size=320x240:rate=25"]
        run(*ffmpeg, *source, "-c:v", "mpeg4", "-b:v", "4M", self.folder / "film.mp4")
        self.serve("/m/film")
        self.mount("/m/film/")
        digests = ["-f", "framemd5", "-"]
        mounted = run(*ffmpeg, "-i", self.point / "film.mp4", *digests)
        self.assertEqual(mounted, run(*ffmpeg, "-i", self.folder / "film.mp4", *digests))
        self.assertEqual(mounted.count(b"\n0,"), 100)
        last = ["-sseof", "-1", "-i", self.point / "film.mp4", *digests]
        self.assertGreater(run(*ffmpeg, *last).count(b"\n0,"), 10)

    def test_random_reads_cost_what_they_need(self):
        """Byte for byte the same, and far less than the whole file crosses the network."""
        path = content.make(self.folder / "large", LARGE)
        self.serve("/m/random")
        self.mount("/m/random")
        before = self.sent_to_mount()
        dice = random.Random(7)
        with open(path, "rb") as ours, open(self.point / "large", "rb", buffering=0) as theirs:
            os.posix_fadvise(theirs.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            for number in range(60):
                offset = dice.randrange(LARGE)
                size = dice.choice([1, 100, 4096, 20_000])
                expected = os.pread(ours.fileno(), size, offset)
                self.assertEqual(os.pread(theirs.fileno(), size, offset), expected, number)
            self.assertEqual(os.pread(theirs.fileno(), 100, LARGE), b"")
        # 60 reads of up to four segments of 8 kB, and five nodes of the manifest.
        self.assertLess(self.sent_to_mount() - before, 300 * 8200)

    def sent_to_mount(self):
        """The bytes that the daemon has sent to local programs so far."""
        faces = json.loads(self.weir("face", "list", "--json")[0])
        return sum(face["sent"]["bytes"] for face in faces if face["uri"].startswith("unix"))

    def test_many_readers_get_the_right_bytes(self):
        """Several of one file, and of different files, at a time."""
        paths = [content.make(self.folder / f"f{n}", 2 * MEGABYTE + n, seed=n) for n in range(6)]
        small_files(self.folder / "many", 200)
        paths += sorted((self.folder / "many").rglob("f*"))
        self.serve("/m/parallel")
        self.mount("/m/parallel")

        def same(path):
            mounted = self.point / path.relative_to(self.folder)
            return hashlib.sha256(mounted.read_bytes()).hexdigest() == content.sha256(path)

        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            self.assertTrue(all(pool.map(same, paths[:6] * 3 + paths)))

    def test_an_object_is_one_file(self):
        """Of any number of segments, with its version or without."""
        for number, size in enumerate((0, 1, 8000, 8001, 16_000, MEGABYTE + 5)):
            path = content.make(self.here / "one.bin", size, seed=number)
            name = f"/m/one{number}"
            producer = self.daemon.put(name, path)
            self.addCleanup(producer.kill)
            child, ready = self.mount(name)
            self.assertEqual((ready["entries"], ready["bytes"]), (1, size))
            self.assertEqual(os.listdir(self.point), [f"one{number}"])
            self.assertEqual((self.point / f"one{number}").read_bytes(), path.read_bytes())
            self.assertEqual(child.stop(), 0)
            child, _ = self.mount(ready["name"])
            self.assertEqual((self.point / f"one{number}").stat().st_size, size)
            self.assertEqual(child.stop(), 0)

    def test_the_version_is_that_of_the_time_of_mounting(self):
        """A new version is another mount."""
        (self.folder / "file").write_text("one", encoding="utf-8")
        share = self.serve("/m/version", command="share")
        _, first = self.mount("/m/version")
        (self.folder / "file").write_text("other", encoding="utf-8")
        wait_until(lambda: "1 new version" in share.log.read_text(encoding="utf-8")
                   or first["name"] != self.newest("/m/version"), "the next version")
        self.assertEqual((self.point / "file").stat().st_size, 3)
        # The old bytes are gone at the publisher, and others are never shown in their place.
        self.assert_fails({errno.ESTALE}, (self.point / "file").read_bytes)

    def newest(self, name):
        """The name of the newest version."""
        return self.fetch(f"{name}/")["name"]


class Bounds(Mounting):
    """Its costs, and its end."""

    def test_the_cache_stays_bounded_and_goes_with_the_mount(self):
        """More is read than it has room for; its file has no name."""
        paths = [content.make(self.folder / f"f{n}", LARGE, seed=n) for n in range(3)]
        self.serve("/m/cache")
        cache = self.here / "cache"
        cache.mkdir()
        child, _ = self.mount("/m/cache", "--cache", "16 MB", "--cache-dir", cache)
        for _ in range(2):
            for path in paths:
                mounted = self.point / path.name
                self.assertEqual(content.sha256(mounted), content.sha256(path))
                size = self.cache_size(child, cache)
                self.assertGreater(size, MEGABYTE)
                self.assertLessEqual(size, SMALLEST_CACHE)
        self.assertEqual(os.listdir(cache), [])
        self.assertLess(child.usage().peak_bytes, 80 * MEGABYTE)

    def cache_size(self, child, folder):
        """The size of the process's open file in that folder."""
        folder = str(folder)
        for handle, path in open_files(child.pid).items():
            if path.startswith(folder):
                return handle.stat().st_size
        raise AssertionError("there is no cache")

    def test_signals_unmount(self):
        """Also while a program uses it; then nothing is mounted, and nothing hangs."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.serve("/m/signals")
        for number in (signal.SIGTERM, signal.SIGINT):
            for is_busy in (False, True):
                child, _ = self.mount("/m/signals")
                with tempfile.TemporaryFile() as other:
                    held = open(self.point / "file", "rb") if is_busy else other
                    with held:
                        os.kill(child.pid, number)
                        self.assertEqual(child.wait(LATEST), 0, child.last_words())
                        self.assertNotIn(str(self.point), mounts())
                self.assertEqual(os.listdir(self.point), [])

    def test_a_mount_on_top_of_the_mount_stays(self):
        """A signal ends the command, which says so."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.serve("/m/covered")
        child, _ = self.mount("/m/covered")
        run("mount", "-t", "tmpfs", "none", self.point)
        self.addCleanup(run, "umount", self.point)
        (self.point / "precious").touch()
        os.kill(child.pid, signal.SIGINT)
        self.assertEqual(child.wait(LATEST), FILE)
        self.assertIn("another file system is mounted on it", child.last_words())
        self.assertEqual(os.listdir(self.point), ["precious"])

    def test_another_program_unmounts(self):
        """The command ends as after a signal. After a crash, the next one says what to do."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.serve("/m/umount")
        child, _ = self.mount("/m/umount")
        run("umount", self.point)
        self.assertEqual(child.wait(LATEST), 0, child.last_words())
        child, _ = self.mount("/m/umount")
        child.kill()
        _, said = self.weir("mount", "/m/umount", self.point, status=FILE)
        self.assertIn(f"umount -l {self.point}", said)
        run("umount", "-l", self.point)
        child, _ = self.mount("/m/umount")
        self.assertEqual((self.point / "file").read_text(encoding="utf-8"), "x")

    def test_impossible_mounts_fail_at_once(self):
        """One line each."""
        (self.folder / "file").write_text("x", encoding="utf-8")
        self.serve("/m/wrong")
        for status, words, part in [
            (FILE, ("/m/wrong", self.here / "none"), "make it with `mkdir"),
            (FILE, ("/m/wrong", self.folder / "file"), "it is not a folder"),
            (FILE, ("/m/wrong", self.point, "--cache-dir", self.here / "none"), "--cache-dir"),
            (USAGE, ("/m/wrong", self.point, "--cache", "1 kB"), "16 MB"),
            (NOT_FOUND, ("/nothing/here", self.point), "no route leads to"),
            (NOT_FOUND, ("/nothing/here/", self.point), "no route leads to"),
        ]:
            _, said = self.weir("mount", *words, status=status)
            self.assertIn(part, said)
            self.assertNotIn(str(self.point), mounts())


class Faults(Mounting):
    """Producers that die, forwarders that go, and packets that are forged."""

    def reading(self, seed=1):
        """A mounted large file, opened, with its first bytes read."""
        path = content.make(self.folder / "large", LARGE, seed=seed)
        producer = self.serve("/m/dies")
        child, _ = self.mount("/m/dies", "--patience", f"{PATIENCE} s")
        file = open(self.point / "large", "rb", buffering=0)
        self.addCleanup(file.close)
        # Without read-ahead of the kernel.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        expected = path.read_bytes()
        self.assertEqual(os.pread(file.fileno(), 1000, 0), expected[:1000])
        return producer, child, file, expected

    def test_a_dead_producer_gives_an_error_within_the_patience(self):
        """Cached bytes can be read; the rest can be read when the producer is back."""
        producer, child, file, expected = self.reading()
        producer.kill()
        # The kernel repeats a failed read that was ahead of the reader. It does not wait again.
        took = self.assert_fails(DEAD, (self.point / "large").read_bytes)
        self.assertGreater(took, PATIENCE / 2)
        self.assertEqual(os.pread(file.fileno(), 1000, 0), expected[:1000])
        self.assertEqual(os.listdir(self.point), ["large"])
        said = self.messages.read_text(encoding="utf-8")
        self.assertEqual(said.count("operations that failed: "), 1, said)
        self.serve("/m/dies")
        self.assert_returns(file, LARGE // 2, expected)
        self.assertEqual(child.stop(), 0)

    def assert_returns(self, file, offset, expected):
        """The bytes can be read again, soon after reads have failed."""

        def reads():
            try:
                return os.pread(file.fileno(), 5000, offset)
            except OSError as error:
                self.assertIn(error.errno, DEAD)
                return None

        wait_until(reads, "the content to be back", timeout=60)
        part = os.pread(file.fileno(), 5000, offset)
        self.assertEqual(part, expected[offset : offset + 5000])

    def test_a_producer_that_is_silent_gives_an_error(self):
        """It is stopped, and does not end: no route is lost, and no answer comes."""
        producer, _, file, expected = self.reading()
        os.kill(producer.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, producer.pid, signal.SIGCONT)
        self.assert_fails({errno.ETIMEDOUT}, lambda: os.pread(file.fileno(), 5000, LARGE // 2))
        os.kill(producer.pid, signal.SIGCONT)
        self.assert_returns(file, LARGE - 5000, expected)

    def test_a_reader_that_waits_can_be_interrupted(self):
        """A signal ends the program long before the patience does."""
        path = content.make(self.folder / "large", LARGE)
        producer = self.serve("/m/waits")
        self.mount("/m/waits", "--patience", "600 s")
        self.assertEqual(os.listdir(self.point), [path.name])
        os.stat(self.point / "large")
        producer.kill()
        reader = Child(["cat", self.point / "large"], self.here / "cat.log", self.here / "copy")
        self.addCleanup(reader.kill)
        state = Path(f"/proc/{reader.pid}/wchan")

        def reads():
            is_open = str(self.point / "large") in open_files(reader.pid).values()
            return is_open and state.read_text(encoding="utf-8") not in ("", "0")

        wait_until(reads, "cat to wait")
        # A shell that starts the tests in the background has SIGINT ignored, for `cat` as well.
        os.kill(reader.pid, signal.SIGTERM)
        self.assertEqual(reader.wait(LATEST), -signal.SIGTERM)

    def test_a_forwarder_that_goes_and_returns(self):
        """Meanwhile reads fail; later they succeed."""
        daemon = weir.Daemon(
            self.program, self.here, "other", listen={"udp": "off", "tcp": "off"}
        )
        daemon.start()
        self.addCleanup(daemon.process.kill)
        path = content.make(self.folder / "large", LARGE)
        producer = daemon.put("/m/alone", self.folder)
        self.addCleanup(producer.kill)
        self.mount("/m/alone", "--patience", f"{PATIENCE} s", forwarder=daemon.socket)
        with open(self.point / "large", "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            self.assertEqual(os.pread(file.fileno(), 10, 0), path.read_bytes()[:10])
            daemon.process.kill()
            self.assert_fails(DEAD, lambda: os.pread(file.fileno(), 10, LARGE // 2))
            daemon.start()
            self.addCleanup(daemon.process.kill)
            # The producer registers again when it has found the daemon.
            self.assert_returns(file, LARGE // 2, path.read_bytes())

    def test_forged_content_is_never_returned(self):
        """The reader gets EIO; other files, and the same one later, are not affected."""
        good = content.make(self.folder / "good", 100_000, seed=1)
        bad = content.make(self.folder / "forged-file", 100_000, seed=2)
        self.serve("/m/forged")
        relay = Relay(self, alter=damaged)
        self.mount("/m/forged", "--range", "1", forwarder=relay.path)
        self.assert_fails({errno.EIO}, (self.point / bad.name).read_bytes)
        self.assertEqual((self.point / good.name).read_bytes(), good.read_bytes())
        said = self.messages.read_text(encoding="utf-8")
        self.assertIn("cannot read forged-file: the answers for it are not what", said)
        relay.alter = lambda frame: frame
        self.assertEqual((self.point / bad.name).read_bytes(), bad.read_bytes())

    def test_hostile_pages_are_errors(self):
        """Names that lead elsewhere, or twice, show nothing of their directory."""
        target = ndn.tlv(0xF671, b"/etc/hostname")
        about = tree_pages.number(0xF65F, 0o644) + tree_pages.number(0xF661, 7)

        def link(name):
            return ndn.tlv(0xF659, ndn.tlv(0xF65D, name) + about + target)

        cases = [[b"a/b"], [b".."], [b"."], [b"a\0b"], [b"x" * 256], [b"x" * 8000], [b"a", b"a"]]
        cases += [[b"b", b"a"], [b""], [b"/etc"]]
        in_name = tree_pages.PAGE
        for at, names in enumerate([[b"a", b"b"], *cases]):
            page = tree_pages.packet(f"/m/h{at}", b"".join(map(link, names)))
            self.folder.joinpath("root").write_bytes(tree_pages.root(page, len(names)))
            producer = self.daemon.put(f"/m/h{at}/32=tree", self.folder / "root")
            relay = Relay(self, answer=lambda asked, page=page: page if in_name in asked else None)
            child, _ = self.mount(f"/m/h{at}/", forwarder=relay.path)
            if at == 0:
                self.assertEqual(sorted(os.listdir(self.point)), ["a", "b"])
                # A link that leads outside is shown as it is.
                self.assertEqual(os.readlink(self.point / "a"), "/etc/hostname")
            else:
                self.assert_fails({errno.EIO}, lambda: os.listdir(self.point))
                self.assert_fails({errno.EIO}, lambda: os.lstat(self.point / "a"))
                said = self.messages.read_text(encoding="utf-8")
                self.assertIn("is rejected: ", said)
            self.assertEqual(child.stop(), 0)
            producer.kill()


def damaged(frame):
    """A frame with another byte in its middle, if it is of the file that is forged."""
    if b"forged-file" not in frame or len(frame) < 1000:
        return frame
    middle = len(frame) // 2
    return frame[:middle] + bytes([frame[middle] ^ 1]) + frame[middle + 1 :]


class Relay:
    """Between a program and its forwarder, frame by frame.

    `alter` returns what the program gets in the place of a frame of the forwarder; `answer` returns
    the answer to a frame of the program, or None if the forwarder is to answer.
    """

    def __init__(self, case, alter=lambda frame: frame, answer=lambda frame: None):
        self.alter, self.answer = alter, answer
        self.forwarder = str(case.daemon.socket)
        self.path = Path(tempfile.mkdtemp(dir=case.here)) / "relay.sock"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen()
        case.addCleanup(self.listener.close)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                program, _ = self.listener.accept()
            except OSError:
                return
            forwarder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            forwarder.connect(self.forwarder)
            for work in (self._up, self._down):
                threading.Thread(target=work, args=(program, forwarder), daemon=True).start()

    def _up(self, program, forwarder):
        with contextlib.suppress(OSError):
            for frame in frames(program):
                own = self.answer(frame)
                (program if own else forwarder).sendall(own or frame)
        forwarder.close()

    def _down(self, program, forwarder):
        # The program may end before the forwarder has sent all.
        with contextlib.suppress(OSError):
            for frame in frames(forwarder):
                program.sendall(self.alter(frame))
        program.close()


def frames(stream):
    """The frames of a stream, until it ends."""
    held = b""
    while True:
        while (end := end_of(held)) is not None and end <= len(held):
            yield held[:end]
            held = held[end:]
        try:
            got = stream.recv(1 << 16)
        except OSError:
            return
        if not got:
            return
        held += got


def end_of(held):
    """The length of the first frame, if enough of it is there."""
    at, sizes = 0, {253: 2, 254: 4, 255: 8}
    value = 0
    for _ in range(2):
        if at >= len(held):
            return None
        size = sizes.get(held[at], 0)
        value = int.from_bytes(held[at + 1 : at + 1 + size], "big") if size else held[at]
        at += 1 + size
    return at + value
