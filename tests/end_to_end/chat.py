"""`weir chat`: members at three daemons in a row, on this host's loopback interface."""

import json
import os
import signal
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from alone import Alone
from support import content, weir
from support.children import Failed, wait_until
from support.ports import free_udp_port

GROUP = "/chat"
BEAT = "300 ms"
PATIENCE = 30
NAMES = ("a", "b", "c")
# Characters that change how a terminal shows others.
ACTIVE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HOSTILE = b"\x1b[2J\x1b]0;title\x07 \xe2\x80\xaeback\xe2\x81\xa6 \xff\xfe \xc2\x9b31m\tend"


class Member:
    """A running `weir chat`; its events, or its lines without `--json`."""

    def __init__(self, test, name, daemon, options=(), home=None, before=(), form=("--json",)):
        self.test, self.name = test, f"{GROUP}/{name}"
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=test.here))
        self.out = self.folder / "out"
        argv = [*before, test.program, "chat", GROUP, "--sign", self.name, *form]
        argv += ["--trust", test.root, "--socket", daemon.socket, "--heartbeat", BEAT]
        argv += ["--folder", self.folder, *options]
        environment = {**os.environ, "WEIR_HOME": str(home or test.home)}
        with open(self.out, "wb") as out, open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [str(word) for word in argv],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=log,
                cwd=self.folder,
                env=environment,
            )
        test.addCleanup(self.process.stdin.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    @property
    def log(self):
        """Its messages on standard error."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    @property
    def events(self):
        """Its events so far; a line that is not complete yet is left out."""
        text = self.out.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def say(self, line):
        """Type a line."""
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def wait(self, what, condition):
        """Wait until the condition holds for its events."""
        try:
            wait_until(lambda: condition(self.events), what, PATIENCE)
        except Failed as failed:
            end = self.out.read_text(encoding="utf-8")[-2000:]
            raise Failed(f"{self.name}: {failed}\n{end}\n{self.log}") from None

    def joined(self):
        """Wait until it has joined."""
        self.wait("joining", lambda events: any(e["event"] == "joined" for e in events))
        return self

    def texts(self):
        """The text of all messages, by members."""
        return [(e["member"], e["text"]) for e in self.events if e["event"] == "message"]

    def reads(self, member, *texts):
        """Wait for all of these messages of a member, in this order."""
        wanted = [(member.name, text) for text in texts]

        def there(_):
            return [said for said in self.texts() if said in wanted] == wanted

        self.wait(f"the messages {texts} of {member.name}", there)

    def sees(self, member, kind):
        """Wait until it shows that a member is here, or gone."""

        def last(events):
            about = [e for e in events if e["event"] in ("here", "gone")]
            about = [e["event"] for e in about if e["member"] == member.name]
            return about[-1:] == [kind]

        self.wait(f"{member.name} to be {kind}", last)

    def vector(self):
        """The last publications of all members, as it knows them."""
        before = len(self.events)
        self.say("/who")

        def answered(events):
            return any(e["event"] == "members" for e in events[before:])

        self.wait("the members", answered)
        members = [e for e in self.events if e["event"] == "members"][-1]["members"]
        return {(m["member"], m["boot"]): m["seq"] for m in members}

    def quit(self):
        """Leave."""
        self.say("/quit")
        self.test.assertEqual(self.process.wait(PATIENCE), 0, self.log)


class Chat(unittest.TestCase):
    """Three daemons in a row, and keys of a group."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-chat-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.program = weir.program()
        self.home = self.here / "home"
        self.root = self.here / "root.cert"
        self.make_keys(self.home, self.root, "alice", "bob", "carol")
        ports = {name: free_udp_port() for name in NAMES}
        self.daemons = {}
        for name, others in (("a", "b"), ("b", "ac"), ("c", "b")):
            self.daemons[name] = weir.Daemon(
                self.program,
                self.here,
                name,
                faces=[(other, f"udp4://127.0.0.1:{ports[other]}") for other in others],
                routes=[(GROUP, other) for other in others],
                listen={"udp": f"127.0.0.1:{ports[name]}", "tcp": "off"},
            ).start()
            self.addCleanup(self.daemons[name].process.kill)
        self.ports = ports

    def weir(self, *words, home=None, text=None):
        """Run a command to its end, and return its output."""
        done = subprocess.run(
            [str(word) for word in (self.program, *words)],
            env={**os.environ, "WEIR_HOME": str(home or self.home)},
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def make_keys(self, home, root, *names):
        """Make the group's key, and keys that it certifies."""
        root.write_text(self.weir("key", "new", GROUP, home=home), encoding="utf-8")
        for name in names:
            own = self.weir("key", "new", f"{GROUP}/{name}", home=home)
            sign = ("key", "sign", "-", "--by", GROUP, "--days", "7000")
            certificate = self.weir(*sign, home=home, text=own)
            self.weir("key", "import", "-", home=home, text=certificate)

    def member(self, name, daemon, *options, **about):
        """Start a member."""
        return Member(self, name, self.daemons[daemon], options, **about)

    def three(self):
        """A member at each daemon, all of them here."""
        pairs = (("alice", "a"), ("bob", "b"), ("carol", "c"))
        members = [self.member(name, at).joined() for name, at in pairs]
        for member in members:
            for other in members:
                if other is not member:
                    member.sees(other, "here")
        return members

    def link(self, what):
        """Cut the link between b and c, or restore it."""
        for at, to in (("b", "c"), ("c", "b")):
            uri = f"udp4://127.0.0.1:{self.ports[to]}"
            self.weir("route", what, GROUP, uri, "--socket", self.daemons[at].socket)

    def test_members_talk_divide_and_agree_again(self):
        """Messages arrive in order everywhere; those of a division arrive after it."""
        alice, bob, carol = self.three()
        for i in range(20):
            alice.say(f"line {i}")
        for member in (bob, carol):
            member.reads(alice, *(f"line {i}" for i in range(20)))
        self.link("remove")
        carol.sees(alice, "gone")
        alice.say("carol cannot read this")
        carol.say("nor others this")
        bob.reads(alice, "carol cannot read this")
        message = next(event for event in bob.events if event["event"] == "message")
        Alone.assert_documented(self, "weir chat", message)
        self.assertNotIn("carol cannot read this", str(carol.texts()))
        self.link("add")
        carol.reads(alice, "carol cannot read this")
        alice.reads(carol, "nor others this")
        bob.reads(carol, "nor others this")
        wait_until(lambda: alice.vector() == bob.vector() == carol.vector(), "equal vectors")
        carol.quit()
        alice.sees(carol, "gone")
        gone = [e for e in alice.events if e["event"] == "gone"][-1]
        self.assertTrue(gone["left"], gone)

    def test_history_comes_from_members_that_are_here(self):
        """The member that wrote it has left, and its certificate has left with it."""
        alice = self.member("alice", "a").joined()
        bob = self.member("bob", "b").joined()
        for i in range(30):
            alice.say(f"line {i}")
        bob.reads(alice, *(f"line {i}" for i in range(30)))
        alice.quit()
        bob.sees(alice, "gone")
        # No store answers in its place.
        for daemon in self.daemons.values():
            self.weir("cs", "erase", GROUP, "--socket", daemon.socket)
        carol = self.member("carol", "c", "--history", "10").joined()
        # The first and the last of its publications are its coming and going.
        carol.reads(alice, *(f"line {i}" for i in range(21, 30)))
        self.assertEqual(len(carol.texts()), 9)
        self.assertFalse(any(e["live"] for e in carol.events if e["event"] == "message"))

    def test_forged_messages_are_never_shown(self):
        """A group with the same names and other keys, at the same daemons."""
        other = self.here / "other"
        self.make_keys(other, self.here / "other.cert", "alice", "bob")
        trust = ("--trust", self.here / "other.cert")
        alice = self.member("alice", "a").joined()
        bob = self.member("bob", "b").joined()
        forger = self.member("alice", "b", *trust, home=other).joined()
        forger.say("forged")
        alice.say("true")
        bob.reads(alice, "true")
        bob.wait("a rejection", lambda events: any(e["event"] == "rejected" for e in events))
        alice.say("still true")
        bob.reads(alice, "true", "still true")
        self.assertEqual([text for _, text in bob.texts()], ["true", "still true"])
        self.assertNotIn("forged", alice.out.read_text(encoding="utf-8"))
        self.assertTrue(forger.process.poll() is None, forger.log)

    def test_a_killed_member_comes_back_with_its_history(self):
        """It is gone, and comes back with numbers of its own; nothing is shown twice."""
        alice = self.member("alice", "a").joined()
        bob = self.member("bob", "b").joined()
        alice.say("before")
        bob.reads(alice, "before")
        alice.process.kill()
        bob.sees(alice, "gone")
        again = self.member("alice", "a").joined()
        again.reads(alice, "before")
        again.say("after")
        bob.reads(alice, "before", "after")
        bob.sees(alice, "here")
        starts = {e["boot"] for e in bob.events if e["event"] == "message"}
        self.assertEqual(len(starts), 2)

    def test_hostile_text_is_shown_as_text(self):
        """Escape sequences, writing directions, bytes that are no text, a line of 1 MB."""
        alice = self.member("alice", "a").joined()
        bob = self.member("bob", "b", form=())
        json_bob = self.member("bob", "b").joined()
        wait_until(lambda: "you are" in bob.log, "bob to join")
        alice.say(HOSTILE)
        alice.say(b"x" * 1_000_000)
        alice.say("the end")
        json_bob.wait("the end", lambda events: any(e.get("text") == "the end" for e in events))
        wait_until(lambda: "the end" in bob.out.read_text(encoding="utf-8"), "the end")
        for text in (bob.out.read_text(encoding="utf-8"), bob.log):
            self.assertIsNone(ACTIVE.search(text), repr(text))
        raw = json_bob.out.read_bytes()
        self.assertRegex(raw, rb"\A[\x20-\x7e\n]+\Z")
        shown = [text for _, text in json_bob.texts()]
        self.assertEqual(shown, [HOSTILE.decode("utf-8", "replace"), "the end"])
        alice.wait("an error", lambda events: any("1000000 bytes" in str(e) for e in events))

    def test_files_are_exchanged_by_name(self):
        """One member publishes a file, and another one fetches it, once."""
        alice, bob = self.member("alice", "a").joined(), self.member("bob", "b").joined()
        bob.sees(alice, "here")
        sent = content.make(self.here / "photo.jpg", 300_000)
        alice.say(f"/send {sent}")
        bob.wait("a file", lambda events: any(e["event"] == "file" for e in events))
        file = next(e for e in bob.events if e["event"] == "file")
        self.assertEqual((file["member"], file["bytes"]), (alice.name, 300_000))
        self.assertTrue(file["name"].startswith(f"{alice.name}/"), file)
        bob.say(f"/get {file['name']}")
        bob.wait("the file", lambda events: any(e["event"] == "got" for e in events))
        self.assertEqual(content.sha256(bob.folder / "photo.jpg"), content.sha256(sent))
        bob.say(f"/get {file['name']}")
        bob.wait("an error", lambda events: any("there already" in str(e) for e in events))
        alice.say("/send /no/such/file")
        alice.wait("an error", lambda events: any("cannot read" in str(e) for e in events))

    def test_a_forwarder_goes_away_and_comes_back(self):
        """The member says so, and talks again."""
        alice, bob = self.member("alice", "a").joined(), self.member("bob", "b").joined()
        bob.sees(alice, "here")
        text = self.member("carol", "c", form=())
        wait_until(lambda: "you are" in text.log, "carol to join")
        for name in ("a", "c"):
            self.daemons[name].process.kill()
        alice.wait("no forwarder", lambda events: {"event": "forwarder", "state": "away"} in events)
        wait_until(lambda: "went away" in text.log, "a line")
        for name in ("a", "c"):
            self.daemons[name].socket.unlink(missing_ok=True)
            self.daemons[name].start()
            self.addCleanup(self.daemons[name].process.kill)
        alice.wait("a forwarder", lambda events: {"event": "forwarder", "state": "back"} in events)
        wait_until(lambda: "is back" in text.log, "a line")
        alice.say("again")
        bob.reads(alice, "again")
        wait_until(lambda: "alice: again" in text.out.read_text(encoding="utf-8"), "the message")

    def test_a_clock_that_is_off_is_shown_by_numbers(self):
        """The clock of one host is three years ahead, and the messages of all members arrive."""
        need = weir.ROOT / "scripts/need"
        if subprocess.run([need, "faketime"], check=False, capture_output=True).returncode != 0:
            self.skipTest("scripts/need cannot install faketime")
        ahead = ("faketime", "-f", "+1000d")
        daemon = self.daemons["c"]
        daemon.process.kill()
        daemon.socket.unlink(missing_ok=True)
        wrapper = self.here / "weir-ahead"
        wrapper.write_text(f'#!/bin/sh\nexec {" ".join(ahead)} {self.program} "$@"\n', "utf-8")
        wrapper.chmod(0o755)
        daemon.weir = wrapper
        daemon.start()
        self.addCleanup(daemon.process.wait, PATIENCE)
        # The daemon is a child of `faketime`, which ends after it and removes its shared memory.
        pid = daemon.process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split():
            self.addCleanup(os.kill, int(child), signal.SIGKILL)
        alice = self.member("alice", "b").joined()
        bob = self.member("bob", "c", before=ahead).joined()
        bob.say("from the future")
        bob.sees(alice, "here")
        alice.reads(bob, "from the future")
        alice.say("from the past")
        bob.reads(alice, "from the past")
        for member in (alice, bob):
            messages = [e for e in member.events if e["event"] == "message"]
            self.assertEqual([e["clock_off"] for e in messages], [True])

    def script(self, name, daemon, text):
        """A member that says this, and leaves."""
        words = ("chat", GROUP, "--socket", self.daemons[daemon].socket, "--trust", self.root)
        return subprocess.run(
            [str(word) for word in (self.program, *words, "--sign", f"{GROUP}/{name}", "--json")],
            env={**os.environ, "WEIR_HOME": str(self.home)},
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def test_a_script_leaves_when_its_messages_are_fetched(self):
        """All of them, though it knows no member when it ends. Without members it fails."""
        bob = self.member("bob", "b").joined()
        lines = [f"line {i}" for i in range(300)]
        done = self.script("alice", "a", "".join(f"{line}\n" for line in lines))
        self.assertEqual(done.returncode, 0, done.stderr)
        bob.wait("all lines", lambda _: [text for _, text in bob.texts()] == lines)
        bob.quit()
        done = self.script("alice", "a", "one\ntwo\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no other member has fetched 2 messages", done.stderr)

    def test_a_reader_that_takes_nothing_does_not_stop_a_member(self):
        """It stays in the group; the output is complete, or says how much was left out."""
        words = ["chat", GROUP, "--socket", self.daemons["a"].socket, "--trust", self.root]
        words += ["--sign", f"{GROUP}/alice", "--json", "--stay", "--heartbeat", BEAT]
        blocked = subprocess.Popen(
            [str(word) for word in (self.program, *words)],
            env={**os.environ, "WEIR_HOME": str(self.home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(blocked.stdin.close)
        self.addCleanup(blocked.wait)
        self.addCleanup(blocked.kill)
        bob = self.member("bob", "b").joined()
        seen = ("here", "gone")

        def of_alice():
            return [e["event"] for e in bob.events if e.get("member") == f"{GROUP}/alice"]

        bob.wait("alice", lambda _: "here" in of_alice())
        # 1.6 MB: more than a pipe holds (64 kB), and fewer than the 4,000 events that are kept.
        for i in range(400):
            bob.say(f"{i} " + "x" * 3_900)
        # Carol fetches from bob as well, for as long as a member without heartbeats is here.
        carol = self.member("carol", "c").joined()
        carol.sees(bob, "here")
        for i in range(10):
            bob.say(f"round {i}")
            carol.wait("a round", lambda _, i=i: (bob.name, f"round {i}") in carol.texts())
        self.assertEqual([event for event in of_alice() if event in seen], ["here"])
        texts = []
        for line in blocked.stdout:
            event = json.loads(line)
            self.assertNotIn("left out", str(event.get("text"))[:40])
            texts += [event["text"]] if event["event"] == "message" else []
            if texts[-1:] == ["round 9"]:
                break
        self.assertEqual([text.split()[0] for text in texts[:400]], [str(i) for i in range(400)])

    def test_files_are_complete_before_a_script_leaves(self):
        """The end of the input comes before the file; a symbolic link is not followed."""
        alice = self.member("alice", "a").joined()
        sent = content.make(self.here / "notes.bin", 3_000_000)
        alice.say(f"/send {sent}")
        alice.wait("a file", lambda events: any(e["event"] == "serving" for e in events))
        name = next(e["name"] for e in alice.events if e["event"] == "serving")
        outside = self.here / "outside"
        (self.here / "link").symlink_to(outside)
        for file, ok in (("link", False), ("whole", True)):
            done = self.script("bob", "b", f"/get {name} {self.here / file}\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("got" in done.stdout, ok, done.stdout)
            self.assertEqual("there already" in done.stdout, not ok, done.stdout)
        self.assertFalse(outside.exists())
        self.assertEqual(content.sha256(self.here / "whole"), content.sha256(sent))

    def test_starts_in_one_second_have_streams_of_their_own(self):
        """Two members with one key, on one host."""
        both = [self.member("alice", "a") for _ in range(2)]
        boots = {member.joined().events[0]["boot"] for member in both}
        self.assertEqual(len(boots), 2, boots)
        bob = self.member("bob", "b").joined()
        for i, member in enumerate(both):
            member.say(f"by {i}")
            bob.wait("a message", lambda _, i=i: (f"{GROUP}/alice", f"by {i}") in bob.texts())

    def test_bad_options_have_messages(self):
        """No key, a key for other names, a forwarder that is not there."""
        empty = {**os.environ, "WEIR_HOME": str(self.here / "empty")}
        own = {**os.environ, "WEIR_HOME": str(self.home)}
        at = ["--socket", self.daemons["a"].socket]
        for status, words, environment, parts in (
            (2, [GROUP, *at], empty, ["no key", "weir key new"]),
            (2, [GROUP, "--as", "/x", "--sign", f"{GROUP}/bob", *at], own, ["not for /x"]),
            (2, ["/", "--sign", f"{GROUP}/bob", *at], own, ["a group needs a name"]),
            (2, [f"/{'x' * 4_000}", "--sign", f"{GROUP}/bob", *at], own, ["too long", "shorter"]),
            (6, [GROUP, "--sign", f"{GROUP}/bob", "--socket", "/no/socket"], own, ["weir daemon"]),
        ):
            done = subprocess.run(
                [str(word) for word in (self.program, "chat", *words)],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            self.assertEqual(done.returncode, status, done.stderr)
            for part in parts:
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
