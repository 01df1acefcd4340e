"""Attacks and faults against the transfer tools: forged sizes, full disks, and a forwarder that
is killed, restarted or hostile under `weir put` and `weir get`.

WEIR_ATTACKS_KILLS says how often each program is killed (20 without it).
"""

import contextlib
import glob
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from _producer import SEGMENT, Hostile, Plain
from support import content, weir
from support.children import Child, Failed, run, wait_until
from support.volume import InMemory

KILLS = int(os.environ.get("WEIR_ATTACKS_KILLS", "20"))
MEGABYTE = content.MEGABYTE
PATIENCE = 120
FAILED, NOT_FOUND, NO_FORWARDER, FILE = 1, 3, 6, 7
# A daemon that peers cannot reach.
ALONE = {"udp": "off", "tcp": "off"}
# 400 segments a second: 10 MB take three seconds, so that they can be caught in the middle.
SIZE = 10 * MEGABYTE
SLOW = ("--control", "rate", "--set", "interests=400")


class Case(unittest.TestCase):
    """A daemon of the test's own, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.program = weir.program()
        self.dice = random.Random(16)
        given = {"WEIR_HOME": str(self.here / "home")}
        self.keep(unittest.mock.patch.dict(os.environ, given))

    def keep(self, context):
        """Enter a context for as long as the test takes."""
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def daemon(self, **options):
        """Start a daemon."""
        made = weir.Daemon(self.program, self.here, "daemon", listen=ALONE, **options)
        return self.keep(made)

    def start(self, daemon, target, *options, name="/file", before=()):
        """Begin to fetch; returns the process. Its output is in `log`, the summary in `out`."""
        argv = [*before, self.program, "get", name, "-o", target, "--socket", daemon.socket]
        child = Child([*argv, "--json", *options], self.here / "log", self.here / "out")
        return self.keep(child)

    def said(self):
        """The lines for people on standard error of what `start` started."""
        lines = (self.here / "log").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if not line.startswith('{"error":')]

    def summary(self):
        """The last line of the last fetch."""
        return json.loads((self.here / "out").read_text(encoding="utf-8").splitlines()[-1])

    def assert_whole(self, target, sent):
        """The file has arrived as it was sent, and nothing is beside it."""
        self.assertEqual(content.sha256(target), content.sha256(sent))
        self.assertFalse(Path(f"{target}.part").exists(), "a partial file is left")

    def wait_for(self, fetch, target, size):
        """Wait until `size` bytes of the partial file are written."""
        part = Path(f"{target}.part")

        def reached():
            self.assertTrue(fetch.running, fetch.last_words())
            return part.exists() and part.stat().st_size >= size

        wait_until(reached, f"{size} bytes to arrive", PATIENCE)


class Disk(Case):
    """The announcement of a large object must not fill the disk. Other programs keep the free
    space."""

    ROOM = 48 * MEGABYTE
    SERVED = 300

    def setUp(self):
        super().setUp()
        try:
            self.volume = InMemory(self.here, self.ROOM)
        except Failed as reason:
            self.skipTest(str(reason))
        self.addCleanup(self.volume.close)
        self.target = self.volume.folder / "file"

    def test_forged_size(self):
        """Unsigned metadata claim most of the disk, more than it has, and a petabyte.

        300 segments follow, then silence. While the fetch runs, after it was killed, and after
        it has given up, others can write half of the disk, and the partial file takes at most
        twice the arrived bytes and 1 MB (0.1 MB beyond them in the end).
        """
        for claims in (self.ROOM * 9 // 10, self.ROOM + SEGMENT, 10**15):
            with self.subTest(claims=claims):
                self.volume.run("sh", "-c", 'rm -f "$0"*', self.target)
                self.forge(claims)

    def forge(self, claims):
        """See `test_forged_size`."""
        with contextlib.closing(Hostile(claims, self.SERVED)) as hostile:
            faces = (("evil", f"tcp4://127.0.0.1:{hostile.port}"),)
            made = weir.Daemon(
                self.program,
                self.here,
                f"daemon-{claims}",
                listen=ALONE,
                faces=faces,
                routes=(("/evil", "evil"),),
            )
            with made as daemon:
                before, options = self.volume.command(), ("--patience", "20 s")
                fetch = self.start(
                    daemon, self.target, *options, name="/evil/file", before=before
                )

                def all_sent():
                    self.assertTrue(fetch.running, fetch.last_words())
                    # A run of less than 512 kB may wait to be written.
                    enough = self.SERVED * SEGMENT - 600_000
                    return self.volume.taken("file.part")[1] >= enough

                wait_until(all_sent, "the segments that there are", PATIENCE)
                taken, length = self.volume.taken("file.part")
                self.assertLess(taken, 2 * self.SERVED * SEGMENT + 2 * MEGABYTE)
                self.volume.write("other", self.ROOM // 2)
                fetch.kill()
                self.volume.write("other", self.ROOM // 2)
                again = self.start(
                    daemon, self.target, "--patience", "1 s", name="/evil/file", before=before
                )
                self.assertNotIn(again.wait(PATIENCE), (0, FILE), again.last_words())
                taken, length = self.volume.taken("file.part")
                self.assertGreater(length, 0)
                self.assertLess(taken, length + 100_000, "reserved space is left")
                self.assertLess(length, self.SERVED * SEGMENT + 1)

    def test_too_large(self):
        """A verified object that is a little larger than the disk is rejected, with the
        numbers.

        At once, before anything is kept, for any signer; others keep the whole disk.
        """
        daemon = self.daemon()
        sent = self.here / "sent"
        with open(sent, "wb") as file:
            file.truncate(self.volume.free() + SEGMENT)
        self.keep(daemon.put("/file", sent))
        fetch = self.start(daemon, self.target, before=self.volume.command())
        self.assertEqual(fetch.wait(PATIENCE), FILE, fetch.last_words())
        self.assertRegex(
            self.said()[-1],
            r"file\.part: it needs 48\.\d+ MB more, and 48\.\d+ MB are free there; make room",
        )
        self.assertEqual(self.volume.run("ls", self.volume.folder), "")
        self.volume.write("other", self.ROOM * 9 // 10)

    def test_signed_size(self):
        """Content signed by a trusted key is reserved as a whole, and released by an
        interruption."""
        daemon = self.daemon()
        sent = content.make(self.here / "sent", SIZE)
        certificate = self.here / "certificate"
        made = run([self.program, "key", "new", "/file"])
        certificate.write_text(made, encoding="utf-8")
        self.keep(daemon.put("/file", sent, options=("--sign", "/file")))
        options = (*SLOW, "--trust", certificate)
        before = self.volume.command()
        fetch = self.start(daemon, self.target, *options, before=before)
        wait_until(lambda: self.volume.taken("file.part")[1] > 0, "a part of the file")
        self.assertGreaterEqual(self.volume.taken("file.part")[0], SIZE, fetch.last_words())
        fetch.kill()
        self.assertGreaterEqual(self.volume.taken("file.part")[0], SIZE, "the kernel released it")
        again = self.start(daemon, self.target, *options, before=before)
        wait_until(lambda: self.volume.taken("file.part")[1] > SIZE // 4, "more of the file")
        again.stop()
        taken, length = self.volume.taken("file.part")
        self.assertLess(taken, length + 100_000, "reserved space is left")
        fetch = self.start(daemon, self.target, "--trust", certificate, before=before)
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assertGreater(self.summary()["resumed_bytes"], 0)
        taken, length = self.volume.taken("file")
        self.assertEqual(length, SIZE)
        self.assertLess(taken, length + 100_000)

    def test_fills_up(self):
        """The disk fills up in mid-transfer: said, nothing lost, and the transfer goes on later."""
        daemon = self.daemon()
        sent = content.make(self.here / "sent", SIZE)
        self.keep(daemon.put("/file", sent))
        before = self.volume.command()
        fetch = self.start(daemon, self.target, *SLOW, before=before)
        wait_until(lambda: self.volume.taken("file.part")[1] > 0, "a part of the file")
        os.kill(fetch.pid, signal.SIGSTOP)
        script = 'head -c "$0" /dev/zero >"$1"'
        self.volume.run("sh", "-c", script, self.volume.free(), self.volume.folder / "filler")
        os.kill(fetch.pid, signal.SIGCONT)
        self.assertEqual(fetch.wait(PATIENCE), FILE, fetch.last_words())
        self.assertRegex(self.said()[-1], r"cannot write .*file\.part: .*; make room and run")
        there = self.volume.taken("file.part")[1]
        self.volume.run("rm", self.volume.folder / "filler")
        fetch = self.start(daemon, self.target, before=before)
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assertGreaterEqual(self.summary()["resumed_bytes"], there)
        digest = self.volume.run("sha256sum", self.target).split()[0]
        self.assertEqual(digest, content.sha256(sent))


class Single(Case):
    """Data that are no part of an object."""

    def test_any_name(self):
        """The failure is reported, and the Interest is repeated at most ten times a second."""
        with contextlib.closing(Plain()) as plain:
            faces = (("plain", f"tcp4://127.0.0.1:{plain.port}"),)
            daemon = self.daemon(faces=faces, routes=(("/hello", "plain"),))
            begun = time.monotonic()
            fetch = self.start(daemon, self.here / "got", "--patience", "30 s", name="/hello")
            self.assertEqual(fetch.wait(PATIENCE), NOT_FOUND, fetch.last_words())
            # Heads, which leave before anything has come, and what follows.
            self.assertLess(plain.asked, 64 + 10 * (1 + time.monotonic() - begun))
        said = self.said()[-1]
        for part in ("data came for /hello, but not what was asked for", "metadata", "weir peek"):
            self.assertIn(part, said)


class Outage(Case):
    """The forwarder goes away under `weir put` and `weir get`: both go on when it is back."""

    def setUp(self):
        super().setUp()
        self.sent = content.make(self.here / "sent", SIZE)
        self.target = self.here / "received"

    def lose(self, daemon, how):
        """End the daemon while the fetch is connected, and wait until it has noticed."""

        def count(text):
            return sum(text in line for line in self.said())

        lost = count("went away")
        wait_until(lambda: count("is back") == lost, "the fetch to return")
        how(daemon.process)
        wait_until(lambda: count("went away") > lost, "the fetch to notice")

    def restarted(self, how):
        """One transfer, with the daemon ended three times at moments that the seed chooses."""
        daemon = self.daemon()
        put = self.keep(daemon.put("/file", self.sent))
        fetch = self.start(daemon, self.target, *SLOW)
        for at in sorted(self.dice.sample(range(SIZE // 20, SIZE * 3 // 4), 3)):
            self.wait_for(fetch, self.target, at)
            self.lose(daemon, how)
            daemon.start()
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assert_whole(self.target, self.sent)
        self.assertTrue(put.running, put.last_words())
        summary = self.summary()
        # Each segment was verified once, by this one process: nothing was lost, nothing resumed.
        self.assertEqual(summary["segments"], SIZE // SEGMENT)
        self.assertEqual(summary["resumed_bytes"], 0)
        back = [line for line in self.said() if "is back" in line]
        self.assertEqual(len(back), 3, self.said())

    def test_killed(self):
        """kill -9 of the daemon, three times in one transfer."""
        self.restarted(lambda process: process.kill())

    def test_stopped(self):
        """The service manager restarts the daemon (SIGTERM), three times in one transfer."""
        self.restarted(lambda process: process.stop())

    def test_away_for_longer_than_patience(self):
        """The fetch gives up and says how to go on; the producer waits, and serves again."""
        daemon = self.daemon()
        put = self.keep(daemon.put("/file", self.sent))
        fetch = self.start(daemon, self.target, *SLOW, "--patience", "1 s")
        self.wait_for(fetch, self.target, 1)
        daemon.process.kill()
        self.assertEqual(fetch.wait(PATIENCE), NO_FORWARDER)
        self.assertRegex(self.said()[-1], r"^weir: the forwarder at .* was not back .* to resume$")
        daemon.start()

        def is_back():
            self.assertTrue(put.running, put.last_words())
            return "is back" in put.last_words()

        wait_until(is_back, "the producer to return")
        fetch = self.start(daemon, self.target)
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assertGreater(self.summary()["resumed_bytes"], 0)
        self.assert_whole(self.target, self.sent)

    def test_quiet_to_a_stream(self):
        """A fetch to standard output goes on as well; --quiet says nothing of it."""
        daemon = self.daemon()
        self.keep(daemon.put("/file", self.sent))
        argv = [self.program, "get", "/file", "-o", "-", "--quiet", "--socket", daemon.socket]
        out = self.here / "stream"
        fetch = self.keep(Child([*argv, *SLOW], self.here / "log", out))
        wait_until(lambda: out.stat().st_size > SIZE // 4, "a part of the stream")
        daemon.process.kill()
        daemon.start()
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assertEqual(content.sha256(out), content.sha256(self.sent))
        self.assertEqual(self.said(), [])

    def test_rejected_afterwards(self):
        """A daemon that comes back with other rules ends the producer with what it says."""
        daemon = self.daemon()
        put = self.keep(daemon.put("/file", self.sent))
        daemon.process.stop()
        daemon.sections = {"[authorize]": {"commands": "rib", "prefix": "/elsewhere"}}
        daemon.start()
        self.assertEqual(put.wait(PATIENCE), FAILED)
        self.assertIn("refused to register /file: 403", put.last_words(1))

    def test_accepts_and_closes(self):
        """A listener ends every connection at once. Neither tool spins.

        With pauses of at least 50, 100, 200, 400, 800 ms and so on there are seven connections
        in three seconds at most, and the one before them.
        """
        path = self.here / "hostile.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(0.5)
            get = ("get", "/a", "-o", self.here / "a", "--patience", "60 s")
            for command in (get, ("put", "/a", self.sent)):
                with self.subTest(command=command[0]):
                    argv = [self.program, *command, "--socket", path]
                    child = self.keep(Child(argv, self.here / command[0]))
                    end, accepted = time.monotonic() + 3, 0
                    while time.monotonic() < end:
                        with contextlib.suppress(TimeoutError):
                            peer, _ = listener.accept()
                            peer.close()
                            accepted += 1
                    self.assertTrue(child.running, child.last_words())
                    self.assertGreaterEqual(accepted, 2)
                    self.assertLessEqual(accepted, 8)
                    self.assertLess(child.usage().cpu_seconds, 1)
                    self.assertIn(child.stop(), (0, 5))

    def test_gateway(self):
        """The gateway answers again when its forwarder is back."""
        daemon = self.daemon()
        put = self.keep(daemon.put("/file", self.sent))
        argv = [self.program, "gateway", "--prefix", "/", "--listen", "127.0.0.1:0", "--json"]
        out = self.here / "gateway.json"
        gateway = self.keep(Child([*argv, "--socket", daemon.socket], self.here / "gw", out))
        wait_until(lambda: out.read_text(encoding="utf-8").endswith("\n"), "the gateway")
        line = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
        host, _, port = line["listening"].partition(":")

        def status():
            with contextlib.closing(http.client.HTTPConnection(host, int(port), 60)) as asked:
                asked.request("HEAD", "/file")
                return asked.getresponse().status

        self.assertEqual(status(), 200)
        daemon.process.kill()
        self.assertEqual(status(), 502)
        daemon.start()
        wait_until(lambda: "is back" in put.last_words(), "the producer to return")
        self.assertEqual(status(), 200)
        self.assertTrue(gateway.running)


class Kills(Case):
    """kill -9 of each program, many times over; each transfer ends with a whole file."""

    def setUp(self):
        super().setUp()
        self.sent = content.make(self.here / "sent", SIZE)
        self.target = self.here / "received"

    def pause(self, seconds):
        """A moment that the seed chooses: nothing depends on what has happened until then."""
        time.sleep(self.dice.uniform(0, seconds))

    def finish(self, daemon):
        """The transfer is begun again, and ends."""
        fetch = self.start(daemon, self.target)
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assert_whole(self.target, self.sent)
        self.target.unlink()

    def test_consumer(self):
        """`weir get` is killed after up to 80 ms, about five times in each transfer."""
        daemon = self.daemon()
        self.keep(daemon.put("/file", self.sent))
        killed = resumed = 0
        while killed < KILLS:
            fetch = self.start(daemon, self.target)
            self.pause(0.08)
            if fetch.running:
                fetch.kill()
                killed += 1
                if self.dice.random() > 0.2:
                    continue
            if self.target.exists():
                # A later fetch into the same file may have been killed since.
                self.assertEqual(content.sha256(self.target), content.sha256(self.sent))
                self.target.unlink()
            self.finish(daemon)
            resumed += self.summary()["resumed_bytes"] > 0
        print(f"kill -9 of weir get: {killed}; transfers that resumed at their end: {resumed}")
        self.finish(daemon)

    def survive(self, what, kill):
        """Transfers one after the other, under which something is killed and started again."""
        killed = whole = 0
        daemon, part = self.daemon(), Path(f"{self.target}.part")
        # Fast enough to reach the end between two blows.
        options = ("--control", "rate", "--set", "interests=1000")
        producer = [self.keep(daemon.put("/file", self.sent))]
        while killed < KILLS:
            fetch = self.start(daemon, self.target, *options)
            # One that never had a forwarder ends at once.
            wait_until(lambda: part.exists() or not fetch.running, "the fetch to begin", PATIENCE)
            while fetch.running and killed < KILLS:
                self.pause(1)
                if fetch.running:
                    kill(daemon, producer)
                    killed += 1
            self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
            self.assert_whole(self.target, self.sent)
            self.target.unlink()
            whole += 1
        print(f"kill -9 of {what}: {killed}; whole files: {whole}")

    def test_producer(self):
        """`weir put` is killed and started again under a fetch, which goes on."""

        def kill(daemon, producer):
            producer.pop().kill()
            producer.append(self.keep(daemon.put("/file", self.sent)))

        self.survive("weir put", kill)

    def test_daemon(self):
        """The daemon is killed and started again under a producer and a fetch, which go on."""

        log, killed = self.here / "daemon-put-file.log", 0

        def kill(daemon, _):
            nonlocal killed
            daemon.process.kill()
            daemon.start()
            killed += 1
            # If the next kill comes before that, no program could make progress.
            back = lambda: log.read_text(encoding="utf-8").count("is back") == killed  # noqa: E731
            wait_until(back, "the producer to return")

        self.survive("weir daemon", kill)


class Clock(Case):
    """The host's clock is set while something is transferred: no timer depends on it."""

    def setUp(self):
        super().setUp()
        done = subprocess.run(
            [weir.ROOT / "scripts/need", "faketime"], capture_output=True, text=True, check=False
        )
        found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not found:
            self.skipTest(f"no libfaketime: {done.stderr}")
        self.now = self.here / "now"
        self.now.write_text("+0", encoding="utf-8")
        # The monotonic clock is the kernel's, and cannot be set.
        given = {
            "LD_PRELOAD": found[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.now),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.keep(unittest.mock.patch.dict(os.environ, given))

    def test_jumps(self):
        """An hour forward, two back, a day forward, while daemon, producer and consumer run.

        The transfer takes no time-out more, and not much longer, than its rate demands; afterwards
        another program can register and fetch.
        """
        sent = content.make(self.here / "sent", SIZE)
        target = self.here / "received"
        daemon = self.daemon()
        self.keep(daemon.put("/file", sent))
        date = int(run(["date", "+%s"]))
        self.now.write_text("+3600", encoding="utf-8")
        self.assertGreater(int(run(["date", "+%s"])), date + 3000, "the clock cannot be set here")
        self.now.write_text("+0", encoding="utf-8")
        fetch = self.start(daemon, target, *SLOW)
        for share, jump in ((0.2, "+3600"), (0.4, "-3600"), (0.6, "+86400"), (0.7, "+0")):
            self.wait_for(fetch, target, int(SIZE * share))
            self.now.write_text(jump, encoding="utf-8")
        self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
        self.assert_whole(target, sent)
        summary = self.summary()
        self.assertEqual(summary["resumed_bytes"], 0)
        self.assertLess(summary["duration_s"], 60, "a jump counted as time")
        # Commands carry the time: an hour later, and the same again.
        for name, jump in (("/later", "+3600"), ("/earlier", "-3600")):
            self.now.write_text(jump, encoding="utf-8")
            self.keep(daemon.put(name, sent))
            other = self.here / name.strip("/")
            fetch = self.start(daemon, other, name=name)
            self.assertEqual(fetch.wait(PATIENCE), 0, fetch.last_words())
            self.assert_whole(other, sent)


if __name__ == "__main__":
    unittest.main()
