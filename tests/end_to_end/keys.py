"""Keys and certificates between people: who vouches for whom, and who believes it."""

import json
import os
import pty
import select
import subprocess
import termios
from pathlib import Path

from alone import Alone
from support import content
from support.children import wait_until

NOT_VERIFIED = 4
INTERRUPTED = 5
CANNOT_READ = 7
PATIENCE = 60

BLOG = """
[[anchor]]
certificate = "blog.cert"
[[rule]]
data = "/blog/article/{author}/{...}"
signer = "/blog/author/{author}"
[[rule]]
certificate = "/blog/author/{}"
signer = "/blog"
"""


def shows_typing(terminal):
    """True if a terminal shows what is typed."""
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


class Person:
    """A user with a key chain of his own."""

    def __init__(self, test, name):
        self.test, self.home = test, test.here / name
        self.home.mkdir()

    def tries(self, *argv, text=None):
        """Run the program as this person, however it ends."""
        return subprocess.run(
            [self.test.program, *map(str, argv)],
            env={**os.environ, "HOME": str(self.home), "WEIR_HOME": str(self.home)},
            cwd=self.home,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def weir(self, *argv, status=0, text=None):
        """Run the program as this person; what it printed."""
        done = self.tries(*argv, text=text)
        self.test.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def new_key(self, identity, kind="ed25519"):
        """Make a key; its certificate."""
        return self.weir("key", "new", identity, "--type", kind, "--default")

    def keep(self, name, text):
        """Keep a text in a file."""
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return path

    def get(self, name, trust, status=0):
        """Fetch what is published; the summary, or what was said instead of it."""
        address = ("--socket", self.test.daemon.socket)
        said = self.weir(
            "get", name, "-o", "got", "--json", "--trust", trust, *address, status=status
        )
        if status:
            self.test.assertFalse((self.home / "got").exists())
            return said
        self.test.assertEqual(content.sha256(self.home / "got"), content.sha256(self.test.sent))
        return json.loads(said)


class Keys(Alone):
    """Producers and consumers around one daemon."""

    def put(self, person, name):
        """Publish as this person for as long as the test takes."""
        before = {key: os.environ.get(key) for key in ("HOME", "WEIR_HOME")}
        os.environ.update(HOME=str(person.home), WEIR_HOME=str(person.home))
        try:
            child = self.daemon.put(name, self.sent)
        finally:
            for key, value in before.items():
                if value is None:
                    del os.environ[key]
                else:
                    os.environ[key] = value
        self.addCleanup(child.__exit__, None, None, None)
        child.__enter__()

    def test_keys_that_cannot_be_read_are_not_absent(self):
        """Content is not published unsigned, and not called unsigned, because of that."""
        home = self.here / "home"
        home.write_text("no folder", encoding="utf-8")
        sent = self.here / "content"
        sent.write_text("content", encoding="utf-8")
        address = ("--socket", self.daemon.socket)
        for argv in (
            ("key", "list"),
            ("put", "/alice/file", sent, *address),
            ("get", "/alice/file", "-o", "-", *address),
        ):
            done = subprocess.run(
                [self.program, *map(str, argv)],
                env={**os.environ, "WEIR_HOME": str(home)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            self.assertEqual(done.returncode, CANNOT_READ, done.stderr)
            self.assertIn(f"cannot read {home}/keys", done.stderr)

    def test_a_list_without_a_damaged_key_is_a_failure(self):
        """The other keys are listed."""
        person = Person(self, "alice")
        person.new_key("/alice")
        person.new_key("/bob")
        damaged = next(file for file in person.home.rglob("*") if "bob" in file.name)
        damaged.write_bytes(b"nothing")
        done = person.tries("key", "list")
        self.assertEqual(done.returncode, CANNOT_READ, done.stderr)
        self.assertIn("/alice/KEY/", done.stdout)
        self.assertIn(f"{damaged}", done.stderr)
        self.assertIn("1 key file cannot be read", done.stderr)

    def test_ctrl_c_at_the_prompt(self):
        """The terminal shows what is typed again, and the exit code is that of an interruption."""
        person = Person(self, "alice")
        person.new_key("/alice")
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        # `setsid --ctty` makes it the terminal that the command asks.
        argv = ["setsid", "--ctty", "--wait", self.program, "key", "export", "/alice", "--secret"]
        env = {**os.environ, "WEIR_HOME": str(person.home)}
        with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as asking:
            wait_until(lambda: not shows_typing(theirs), "a prompt without echo")
            os.write(ours, b"\x03")
            self.assertEqual(asking.wait(PATIENCE), INTERRUPTED)
        self.assertTrue(shows_typing(theirs))
        said = bytearray()

        def has_said():
            if select.select([ours], [], [], 0)[0]:
                said.extend(os.read(ours, 65536))
            return b"weir: interrupted before the passphrase" in said

        wait_until(has_said, "the message of the interruption", PATIENCE)

    def vouch(self, above, below, identity, by, kind):
        """One makes a key, the other vouches for it."""
        request = below.new_key(identity, kind)
        certificate = above.weir("key", "sign", "-", "--by", by, text=request)
        below.weir("key", "import", "-", text=certificate)

    def test_a_consumer_follows_the_chain_to_the_key_that_it_trusts(self):
        """Of three keys of three kinds it has only the topmost."""
        top, middle, alice = (Person(self, name) for name in ("top", "middle", "alice"))
        root = top.new_key("/site", "rsa")
        self.vouch(top, middle, "/site/group", "/site", "ecdsa")
        self.vouch(middle, alice, "/site/group/alice", "/site/group", "ed25519")
        # The certificate in the middle needs a producer: its owner publishes, too.
        self.put(middle, "/site/group/notes")
        self.put(alice, "/site/group/alice/film")
        consumer = Person(self, "consumer")
        anchor = consumer.keep("root.cert", root)
        summary = consumer.get("/site/group/alice/film", anchor)
        self.assertEqual(summary["verified"], "key")
        self.assertTrue(summary["key"].startswith("/site/group/alice/KEY/"), summary)

    def test_an_unknown_key_is_rejected_with_its_chain(self):
        """He uses alice's name, but no key certifies his."""
        top, eve = Person(self, "top"), Person(self, "eve")
        root = top.new_key("/site")
        eve.new_key("/site/alice")
        self.put(eve, "/site/alice/film")
        consumer = Person(self, "consumer")
        anchor = consumer.keep("root.cert", root)
        said = consumer.get("/site/alice/film", anchor, NOT_VERIFIED)
        self.assertIn("is self-signed, and is not one of the anchors", said)
        self.assertIn("the valid part of its chain: /site/alice/KEY/", said)

    def test_rules_say_who_may_sign(self):
        """Ann signs articles of hers, and no others."""
        blog, ann = Person(self, "blog"), Person(self, "ann")
        root = blog.new_key("/blog", "ecdsa")
        self.vouch(blog, ann, "/blog/author/ann", "/blog", "ecdsa")
        consumer = Person(self, "consumer")
        consumer.keep("blog.cert", root)
        rules = consumer.keep("blog.toml", BLOG)
        # `weir put` uses a key for names under its identity.
        self.put(ann, "/blog/author/ann/1")
        said = consumer.get("/blog/author/ann/1", rules, NOT_VERIFIED)
        self.assertRegex(said, "no rule lets /blog/author/ann/KEY/[0-9a-f]+ sign ")
        wrong = consumer.keep("wrong.toml", BLOG.replace("signer", "singer"))
        said = consumer.get("/blog/author/ann/1", wrong, 2)
        self.assertIn("wrong.toml:6:1: `rule` has no field `singer`; did you mean", said)
        wider = consumer.keep("wide.toml", BLOG.replace("/blog/article/", "/blog/author/"))
        summary = consumer.get("/blog/author/ann/1", wider)
        self.assertTrue(summary["key"].startswith("/blog/author/ann/KEY/"), summary)

    def test_a_key_moves_to_another_host_under_a_passphrase(self):
        """And opens with that one only."""
        here, there = Person(self, "here"), Person(self, "there")
        for kind in ("ed25519", "ecdsa", "rsa"):
            with self.subTest(kind=kind):
                certificate = here.new_key(f"/{kind}", kind)
                right = here.keep("right", "open sesame\n")
                wrong = here.keep("wrong", "open barley\n")
                export = ("key", "export", f"/{kind}", "--secret", "--passphrase-file")
                bag = here.keep(f"{kind}.bag", here.weir(*export, right))
                command = ("key", "import", bag, "--passphrase-file")
                said = there.weir(*command, wrong, status=NOT_VERIFIED)
                self.assertIn("the passphrase is wrong", said)
                there.weir(*command, right)
                self.assertEqual(there.weir("key", "export", f"/{kind}"), certificate)
                self.assertNotIn("open sesame", Path(bag).read_text(encoding="utf-8"))

    def test_a_certificate_is_renewed_by_whoever_signed_it(self):
        """The key itself, or another key on request."""
        top, alice = Person(self, "top"), Person(self, "alice")
        first = top.new_key("/site")
        second = top.weir("key", "renew", "/site", "--days", "10")
        self.assertNotEqual(first, second)
        self.assertEqual(top.weir("key", "export", "/site"), second)
        self.vouch(top, alice, "/site/alice", "/site", "rsa")
        issued = alice.weir("key", "export", "/site/alice")
        request = alice.weir("key", "renew", "/site/alice")
        self.assertEqual(alice.weir("key", "export", "/site/alice"), issued)
        renewed = top.weir("key", "sign", "-", "--by", "/site", text=request)
        alice.weir("key", "import", "-", text=renewed)
        self.assertEqual(alice.weir("key", "export", "/site/alice"), renewed)
        # A request has to be signed by the key that it is for.
        said = top.weir("key", "sign", "-", "--by", "/site", status=NOT_VERIFIED, text=renewed)
        self.assertIn("is not signed by its own key", said)
