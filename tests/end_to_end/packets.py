"""`weir peek`, `weir poke` and `weir ping`: single packets, asked for and answered."""

import json
import re
import signal
import subprocess
import unittest

from support.children import wait_until
from tools import FAILED, FILE, INTERRUPTED, NOT_FOUND, NOT_VERIFIED, PATIENCE, USAGE, Tools

CONTENT = b"a few bytes\x00 that are not text\xff"


class Packets(Tools):
    """One daemon, and programs that have one packet or answer all Interests."""

    def start(self, *arguments, until=None):
        """A program that runs until the test ends, and has printed the text."""
        log = self.here / f"{arguments[0]}.log"
        with open(log, "wb") as target:
            child = subprocess.Popen(
                [str(self.program), *map(str, self.on_daemon(*arguments))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=target,
                cwd=self.here,
            )
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        if until:
            wait_until(lambda: until in log.read_text(encoding="utf-8"), until)
        return child

    def poke(self, name, *options):
        """Offer a packet with the content."""
        (self.here / "content").write_bytes(CONTENT)
        return self.start("poke", name, "content", *options, until="waiting for an Interest")

    def peek(self, name, *options, raw=False):
        """Ask for a packet; what is printed is text, or raw bytes."""
        arguments = self.on_daemon("peek", name, *options)
        if not raw:
            return self.run_weir(*arguments)
        argv = [str(self.program), *map(str, arguments)]
        run = {"stdin": subprocess.DEVNULL, "timeout": PATIENCE, "check": False}
        return subprocess.run(argv, stdout=subprocess.PIPE, cwd=self.here, **run)

    def test_a_greedy_consumer_leaves_the_next_one_no_queue(self):
        """A producer at 2 Mbit/s: 6,000 segments of 8 kB that wait would take three minutes."""
        folder = self.here / "served"
        folder.mkdir()
        (folder / "big").write_bytes(bytes(60_000_000))
        (folder / "small").write_bytes(CONTENT)
        limited = ["--limit-rate", "2 Mbit/s", "--verbose"]
        self.start("put", "/lim", folder, *limited, until="serving")
        window = ["--control", "fixed", "--set", "window=6000"]
        greedy = self.start("get", "/lim/big", "-o", "one", *window)
        # A line for each quarter of a second: the whole window has come before the third.
        log = self.here / "put.log"
        wait_until(lambda: log.read_text(encoding="utf-8").count("answered=") > 2, "answers")
        greedy.kill()
        greedy.wait(PATIENCE)
        got = self.run_weir(*self.on_daemon("get", "/lim/small", "-o", "two", "--patience", "8 s"))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual((self.here / "two").read_bytes(), CONTENT)

    def test_a_poked_packet_is_served_once_and_then_by_the_store(self):
        """The content arrives as it is; the program that had it ends, and a store answers then."""
        poked = self.poke("/poke/a", "--freshness", "10 s", "--last")
        got = self.peek("/poke/a", "--content", raw=True)
        self.assertEqual((got.returncode, got.stdout), (0, CONTENT))
        self.assertEqual(poked.wait(PATIENCE), 0)
        shown = json.loads(self.peek("/poke/a", "--fresh", "--json").stdout)
        self.assertEqual(shown["name"], "/poke/a")
        self.assertEqual(shown["content_bytes"], len(CONTENT))
        self.assertEqual((shown["freshness_ms"], shown["final_block"]), (10_000, "a"))
        self.assertEqual((shown["verified"], shown["mark"]), ("digest", 0))

    def test_a_prefix_finds_a_longer_name_and_the_wire_is_the_packet(self):
        """The bare name finds nothing; the packet begins with the type of Data, and its length."""
        self.poke("/poke/b/c", "--freshness", "10 s")
        self.assertEqual(self.peek("/poke/b", "--lifetime", "100 ms").returncode, NOT_FOUND)
        self.assertEqual(self.peek("/poke/b/c").returncode, 0)
        wire = self.peek("/poke/b", "--prefix", "--wire", raw=True).stdout
        self.assertEqual(wire[0], 6)
        self.assertEqual(wire[1], len(wire) - 2)
        self.assertIn(CONTENT, wire)

    def test_a_published_object_has_no_packet_of_its_name(self):
        """Its producer rejects the name, and the message has the option that finds a packet."""
        (self.here / "content").write_bytes(CONTENT)
        self.start("put", "/poke/file", "content", until="serving")
        peek = self.on_daemon("peek", "/poke/file")
        self.rejected(NOT_FOUND, ["no packet of exactly this name", "--prefix"], *peek)
        shown = json.loads(self.peek("/poke/file", "--prefix", "--json").stdout)
        self.assertRegex(shown["name"], r"^/poke/file/32=metadata/v=\d+/seg=0$")
        below = self.on_daemon("peek", "/poke/file/none", "--prefix")
        self.rejected(NOT_FOUND, ["no packet below this name", "spelled"], *below)

    def test_trust_decides(self):
        """A packet by a key is accepted with that key's certificate, and not with another's."""
        own, other = self.new_key("/poke/key"), self.here / "other"
        own = own.rename(self.here / "own")
        self.new_key("/other").rename(other)
        self.poke("/poke/key/a", "--sign", "/poke/key", "--freshness", "10 s")
        shown = json.loads(self.peek("/poke/key/a", "--trust", own, "--json").stdout)
        self.assertEqual(shown["verified"], "key")
        self.assertIn("/poke/key/KEY/", shown["key"])
        rejected = self.peek("/poke/key/a", "--trust", other, "--json")
        self.assertEqual((rejected.returncode, rejected.stdout), (NOT_VERIFIED, ""))

    def test_bad_input_has_a_message(self):
        """Too much content, no such file, no route, no Interest."""
        (self.here / "large").write_bytes(bytes(9000))
        poke = self.on_daemon("poke", "/poke/d")
        self.rejected(USAGE, ["8800", "weir put"], *poke, "large")
        self.rejected(FILE, ["cannot read none"], *poke, "none")
        (self.here / "small").write_bytes(b"1")
        self.rejected(FAILED, ["no Interest"], *poke, "small", "--patience", "50 ms", "--quiet")
        self.rejected(NOT_FOUND, ["no route"], *self.on_daemon("peek", "/nothing/here"))
        self.rejected(USAGE, ["interval"], *self.on_daemon("ping", "/a", "--interval", "0 s"))
        serve = self.on_daemon("ping", "/a", "--serve", "--size", "9 kB")
        self.rejected(USAGE, ["8.80 kB"], *serve)

    def test_pings_are_answered_until_the_responder_ends(self):
        """Each Interest is answered by the responder, not by a store; then none is."""
        responder = self.start("ping", "/ping/a", "--serve", "--size", "100 B", until="answering")
        ask = ("ping", "/ping/a", "--interval", "1 ms", "--start", "1", "--json")
        for _ in range(2):
            asked = self.run_weir(*self.on_daemon(*ask, "--count", "5"))
            summary = json.loads(asked.stdout)
            self.assertEqual((summary["sent"], summary["answered"]), (5, 5))
            self.assertLessEqual(summary["rtt_min_ms"], summary["rtt_mean_ms"])
            self.assertLessEqual(summary["rtt_mean_ms"], summary["rtt_max_ms"])
            self.assertEqual(asked.returncode, 0)
            # Stores keep an answer for a second, and it must be asked for with other numbers.
            ask = ("ping", "/ping/a", "--interval", "1 ms", "--json")
        responder.send_signal(signal.SIGINT)
        said, _ = responder.communicate(timeout=PATIENCE)
        self.assertEqual((responder.returncode, said), (0, b"answered 10 Interests\n"))
        asked = self.run_weir(*self.on_daemon(*ask, "--count", "2", "--timeout", "1 s"))
        summary = json.loads(asked.stdout)
        self.assertEqual((summary["answered"], summary["rejected"]), (0, 2))
        self.assertEqual(asked.returncode, NOT_FOUND)

    def test_lines_and_a_summary_for_people(self):
        """A line for each Interest, and two at the end, also after Ctrl-C."""
        self.start("ping", "/ping/b", "--serve", until="answering")
        child = self.start("ping", "/ping/b", "--interval", "5 ms")
        lines = [child.stdout.readline().decode() for _ in range(3)]
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=PATIENCE)
        for count, line in enumerate(lines, 1):
            self.assertRegex(line, rf"\A/ping/b {count}: \d+\.\d{{3}} ms\n\Z")
        end = rest.decode().splitlines()[-2:]
        self.assertRegex(end[0], r"\A\d+ Interests, \d+ answered, 0 rejected, 0 without an answer")
        self.assertRegex(end[1], r"\Around trip: least .* standard deviation .* ms\Z")
        self.assertIn(child.returncode, (0, INTERRUPTED))
        self.assertIsNone(re.search(r"[^\x20-\x7e\n]", rest.decode()))


if __name__ == "__main__":
    unittest.main()
