"""Every command with `--json`, as it succeeds and as it fails, against its committed schema."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from support import children, content, schemas, weir
from support.children import Child, wait_until
from support.gateway import Gateway
from support.origin import Origin
from tools import FAILED, FILE, INTERRUPTED, NO_FORWARDER, NOT_FOUND, NOT_VERIFIED, USAGE, Tools

PAGE = weir.ROOT / "docs/reference/json.md"
STUDY = weir.ROOT / "crates/study/tests/bottleneck"
SMALL = 20_000
SCENARIO = """
[scenario]
name = "small"
duration = "1 s"

[[node]]
name = ["near", "far"]

[[link]]
between = ["near", "far"]
rate = "10 Mbit/s"
delay = "1 ms"

[[content]]
name = "/a"
at = "far"
size = "20 kB"
segment = "1000 B"

[[consumer]]
at = "near"
name = "/a"
control = "aimd"
"""
SWEEP = "\n[sweep]\nconsumer.control = [\"aimd\", \"cubic\"]\n"
# The package for Python prints its results: `tests/python/run commands` validates them.
ELSEWHERE = {"sweep"}


def subcommands(program, *words):
    """The commands below one, as its help lists them, and its options."""
    said = children.run([program, *words, "--help"])
    listed = said.partition("\nCommands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  ([a-z]+)(?:  |$)", listed, re.MULTILINE)
    return [name for name in names if name != "help"], said


def with_json(program, *words):
    """All commands with `--json`."""
    names, said = subcommands(program, *words)
    if re.search(r"^ +(?:-\w, )?--json\b", said, re.MULTILINE):
        yield "-".join(words)
    for name in names:
        yield from with_json(program, *words, name)


class Case(Tools):
    """A daemon, a key and content for all tests."""

    def setUp(self):
        super().setUp()
        self.valid = set()
        self.file = content.make(self.here / "file", SMALL)
        self.tree = self.here / "tree"
        (self.tree / "below").mkdir(parents=True)
        (self.tree / "below/b").write_bytes(b"b")
        (self.tree / "a").write_bytes(b"a")
        (self.tree / "link").symlink_to("a")
        self.run_weir("key", "new", "/js", "--default")

    def ends(self, *words, status=0, is_printed=True):
        """Run a command to its end, and validate what it prints."""
        done = self.run_weir(*words, "--json")
        self.assertEqual(done.returncode, status, done.stderr)
        self.validate(words, done.stdout, done.stderr, status)
        self.assertEqual(bool(done.stdout), is_printed, done.stdout)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def validate(self, words, out, err, status=0):
        """Validate what a command has printed."""
        name = schemas.command_of(["weir", *words, "--json"])
        self.assertIsNotNone(name, words)
        schemas.printed(name, out)
        if out:
            self.valid.add(name)
        if status:
            schemas.failed(status, err)
            self.valid.add((name, "failure"))

    def asks(self, *words, **about):
        """The same with the daemon's address."""
        return self.ends(*self.on_daemon(*words), **about)

    def prints_beside(self, *words):
        """Run a command that prints content, and its object on standard error."""
        done = self.run_weir(*words, "--json", errors="replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout)
        self.validate(words, done.stderr.splitlines()[-1] + "\n", "")

    def begins(self, *words, count=1):
        """Start a command that runs until it is stopped, and wait for `count` lines."""
        out = self.here / f"{'-'.join(words[:2]).replace('/', '-')}.out"
        out.unlink(missing_ok=True)
        argv = [self.program, *words, "--json"]
        child = Child(argv, out.with_suffix(".log"), out)
        child.words, child.out = words, out
        self.addCleanup(child.kill)

        def has_begun():
            self.assertTrue(child.running or count == 0, child.last_words())
            return out.read_text(encoding="utf-8").count("\n") >= count

        wait_until(has_begun, f"{words} to begin")
        return child

    def stops(self, child, count):
        """Stop it, and validate its lines."""
        self.assertEqual(child.stop(), 0, child.last_words())
        out = child.out.read_text(encoding="utf-8")
        self.assertGreaterEqual(out.count("\n"), count, out)
        self.validate(child.words, out, "")


class Success(Case):
    """Commands that succeed."""

    def test_each_command_is_as_its_schema_says(self):
        """All commands that have `--json`, by the program's own account."""
        listed = set(with_json(self.program))
        self.assertGreater(len(listed), 40)
        self.assertEqual(listed, set(schemas.commands().values()))
        self.transfers()
        self.packets()
        self.measurements()
        self.stores()
        self.management()
        self.services()
        self.host()
        self.simulations()
        missing = listed - self.valid - ELSEWHERE
        if not Path("/dev/fuse").exists():
            missing -= {"mount"}
        self.assertEqual(missing, set(), "no output of these was validated")

    def transfers(self):
        """`put`, `share`, `get`, `cat`, `ls`, `mount`"""
        put = self.begins(*self.on_daemon("put", "/js/file", self.file))
        share = self.begins(*self.on_daemon("share", "/js/tree", self.tree))
        self.asks("get", "/js/file", "-o", self.here / "got")
        self.asks("get", "/js/tree/", self.here / "copy")
        self.prints_beside(*self.on_daemon("get", "/js/file", "-o", "-"))
        self.prints_beside(*self.on_daemon("cat", "/js/file"))
        self.assertEqual(len(self.asks("ls", "-R", "/js/tree")), 4)
        self.asks("peek", "/js/file", "--prefix")
        self.asks("traceroute", "/js/file")
        if Path("/dev/fuse").exists():
            point = self.here / "point"
            point.mkdir()
            self.stops(self.begins(*self.on_daemon("mount", "/js/tree", point)), 1)
        self.stops(share, 2)
        self.stops(put, 2)

    def packets(self):
        """`ping`, `trace`, `chat`"""
        serve = self.begins(*self.on_daemon("ping", "/js", "--serve"), count=0)
        trace = self.begins(*self.on_daemon("trace", "--prefix", "/js"), count=0)

        def is_traced():
            done = self.run_weir(*self.on_daemon("ping", "/js", "--count", "1", "--json"))
            if done.returncode == 0:
                self.validate(("ping",), done.stdout, "")
            return trace.out.read_text(encoding="utf-8").count("\n") > 0

        wait_until(is_traced, "a packet to be traced")
        self.stops(trace, 1)
        self.stops(serve, 1)
        chat = ("chat", "/js/chat", "--trust", "/js")
        lines = self.asks(*chat)
        self.assertEqual([line["event"] for line in lines], ["joined", "left"])

    def measurements(self):
        """`perf`"""
        server = self.begins(*self.on_daemon("perf", "server", "/js/perf"))
        self.asks("perf", "client", "/js/perf", "--bytes", "20 kB", "--parallel", "2")
        self.stops(server, 2)

    def stores(self):
        """`repo`"""
        store = ("--store", self.here / "store")
        self.ends("repo", "put", "/js/kept", self.file, *store)
        run = self.begins(*self.on_daemon("repo", "run", *store))
        other = ("--store", self.here / "other")
        self.asks("repo", "fetch", "/js/kept", *other)
        self.stops(run, 2)
        self.ends("repo", "ls", *store)
        self.ends("repo", "stat", "/js/kept", *store)
        self.ends("repo", "verify", *store)
        self.ends("repo", "export", "/js/kept", self.here / "exported", *store)
        self.prints_beside("repo", "export", "/js/kept", "-", *store)
        self.ends("repo", "rm", "/js/kept", *store)
        self.ends("repo", "gc", *store)

    def management(self):
        """`face`, `route`, `strategy`, `cs`, `status`"""
        uri = "udp4://127.0.0.1:9"
        (made,) = self.asks("face", "create", uri)
        self.assertTrue(made["created"])
        (again,) = self.asks("face", "create", uri)
        self.assertFalse(again["created"])
        self.asks("face", "update", uri, "--marking", "off")
        self.asks("route", "add", "/js/route", uri)
        self.asks("route", "list")
        self.asks("route", "remove", "/js/route", uri)
        self.asks("face", "list")
        self.asks("face", "destroy", uri)
        self.asks("strategy", "set", "/js", "multicast")
        self.asks("strategy", "list")
        self.asks("strategy", "unset", "/js")
        self.asks("cs", "info")
        self.asks("cs", "config", "--serve", "on")
        self.asks("cs", "erase", "/js")
        self.asks("status")
        self.stops(self.begins(*self.on_daemon("status", "--watch"), count=2), 2)

    def services(self):
        """`gateway`, `proxy`, `docs`"""
        for name, text in (("index.html", "<p>documentation</p>"), ("versions.json", "[]")):
            (self.tree / name).write_text(text, encoding="utf-8")
        self.stops(self.begins("docs", str(self.tree), "--listen", "127.0.0.1:0"), 1)
        with Gateway(self.daemon, self.here) as gateway:
            gateway.ask("/absent", method="DELETE")
            gateway.answered(1)
            gateway.child.stop()
            out = gateway.out.read_text(encoding="utf-8")
        self.validate(("gateway",), out, "")
        origin = Origin()
        self.addCleanup(origin.server.shutdown)
        self.stops(self.begins(*self.on_daemon("proxy", f"/js/proxy={origin.url}")), 2)

    def host(self):
        """`doctor`, `key list`, `schemes`, `demo`"""
        done = self.run_weir(*self.on_daemon("doctor", "--json"))
        self.validate(("doctor",), done.stdout, done.stderr, done.returncode)
        self.ends("key", "list")
        self.ends("schemes")
        self.ends("schemes", "cubic")
        self.ends("demo", self.file)

    def simulations(self):
        """`sim`, `compare`, `study`, `testbed`"""
        one, sweep = self.here / "one.toml", self.here / "sweep.toml"
        one.write_text(SCENARIO, encoding="utf-8")
        sweep.write_text(SCENARIO + SWEEP, encoding="utf-8")
        self.ends("sim", "run", one, "--out", self.here / "first")
        self.ends("sim", "run", one, "--seed", "2", "--out", self.here / "second")
        self.ends("sim", "run", sweep)
        self.ends("compare", self.here / "first", self.here / "second")
        shutil.copytree(STUDY, self.here / "study")
        self.ends("study", self.here / "study", "--quick", "--out", self.here / "pages")
        self.ends("testbed", "run", one, "--name", "js")
        self.stops(self.begins("testbed", "up", one, "--name", "js"), 1)


class Failure(Case):
    """Commands that fail."""

    def test_wrong_use_is_an_object_for_each_command(self):
        for name in sorted(schemas.commands().values()):
            with self.subTest(command=name):
                words = name.split("-")
                done = self.run_weir(*words, "--json", "--no-such-option")
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.validate(words, "", done.stderr, USAGE)
                error = self.error(done)
                self.assertEqual(error["kind"], "usage")
                self.assertIn("--no-such-option", error["message"])
                self.assertIn(f"`weir {' '.join(words)} --help`", error["next"])
                # The line for people has the same.
                text = f"weir: {error['message']}; {error['next']}"
                self.assertEqual(done.stderr.splitlines()[0], text)

    def error(self, done):
        """The object on the last line."""
        return json.loads(done.stderr.splitlines()[-1])["error"]

    def test_each_command_fails_with_an_object(self):
        """With the kind that belongs to its exit code."""
        absent, named = self.here / "absent", {}
        away = ("--socket", self.here / "no.sock")
        for words in (
            ("put", "/js/file", self.file, *away),
            ("share", "/js/tree", self.tree, *away),
            ("get", "/js/file", "-o", "got", *away),
            ("ls", "/js/tree", *away),
            ("cat", "/js/file", *away),
            ("mount", "/js/tree", self.here, *away),
            ("peek", "/js/file", *away),
            ("ping", "/js", *away),
            ("traceroute", "/js", *away),
            ("perf", "server", "/js", *away),
            ("perf", "client", "/js", *away),
            ("chat", "/js/chat", "--trust", "/js", *away),
            ("proxy", "/js/proxy=http://127.0.0.1:1", *away),
            ("gateway", "--prefix", "/", *away),
            ("status", *away),
            ("face", "list", *away),
            ("face", "create", "udp4://127.0.0.1:9", *away),
            ("face", "update", "1", "--marking", "on", *away),
            ("face", "destroy", "1", *away),
            ("route", "list", *away),
            ("route", "add", "/js", "1", *away),
            ("route", "remove", "/js", "1", *away),
            ("strategy", "list", *away),
            ("strategy", "set", "/js", "multicast", *away),
            ("strategy", "unset", "/js", *away),
            ("cs", "info", *away),
            ("cs", "config", "--serve", "on", *away),
            ("cs", "erase", "/js", *away),
            ("trace", *away),
        ):
            named[words] = (NO_FORWARDER, "no-forwarder")
        # A file cannot be a store.
        store, other = ("--store", self.file), ("--store", self.here / "store")
        for words in (
            ("repo", "run", *store, *self.on_daemon()),
            ("repo", "put", "/js/kept", absent, *other),
            ("repo", "ls", *store),
            ("repo", "stat", "/js/kept", *store),
            ("repo", "rm", "/js/kept", *store),
            ("repo", "verify", *store),
            ("repo", "export", "/js/kept", "file", *store),
            ("repo", "gc", *store),
            ("sim", "run", absent),
            ("study", absent),
            ("testbed", "run", absent),
            ("testbed", "up", absent),
            ("compare", absent, self.tree),
            ("demo", absent),
            ("docs", absent),
        ):
            named[words] = (FILE, "file")
        named[("repo", "fetch", "/js/kept", *other, *away)] = (NO_FORWARDER, "no-forwarder")
        named[("schemes", "absent")] = (USAGE, "usage")
        for words, (status, kind) in named.items():
            with self.subTest(command=words[:2]):
                done = self.run_weir(*words, "--json")
                self.assertEqual(done.returncode, status, done.stderr)
                self.validate(words, done.stdout, done.stderr, status)
                self.assertEqual(self.error(done)["kind"], kind)
        self.others(away)
        failed = {name for name, *_ in filter(lambda one: isinstance(one, tuple), self.valid)}
        self.assertEqual(set(schemas.commands().values()) - failed, set())

    def others(self, away):
        """Failures that take more than an argument."""
        secrets = [path for path in (self.here / "home").rglob("*") if path.is_file()]
        for path in secrets:
            path.chmod(0o644)
        self.ends("doctor", *away, status=FAILED)
        (self.here / "spoilt").mkdir()
        (self.here / "spoilt/keys").write_bytes(b"no folder")
        home = {**os.environ, "WEIR_HOME": str(self.here / "spoilt")}
        done = self.run_weir("key", "list", "--json", env=home)
        self.assertEqual((done.returncode, self.error(done)["kind"]), (FILE, "file"), done.stderr)
        self.validate(("key", "list"), done.stdout, done.stderr, FILE)
        bare = {**os.environ, "PATH": str(self.here)}
        done = self.run_weir("sweep", self.file, "--out", "results", "--json", env=bare)
        self.assertEqual((done.returncode, self.error(done)["kind"]), (FAILED, "failed"))
        self.validate(("sweep",), done.stdout, done.stderr, FAILED)

    def test_finer_kinds_tell_what_a_program_does_next(self):
        for words, status, kind in (
            (("get", "/none", "-o", "got"), NOT_FOUND, "no-route"),
            (("face", "destroy", "4711"), NOT_FOUND, "not-found"),
            (("cs", "erase", "/js", "--sign", "/none"), FILE, "file"),
        ):
            with self.subTest(words=words):
                done = self.run_weir(*self.on_daemon(*words), "--json")
                self.assertEqual((done.returncode, self.error(done)["kind"]), (status, kind))
        put = self.begins(*self.on_daemon("put", "/js/file", self.file))
        self.run_weir("key", "new", "/unknown")
        get = ("get", "/js/file", "-o", "got", "--trust", "/unknown", "--json")
        done = self.run_weir(*self.on_daemon(*get))
        self.assertEqual((done.returncode, self.error(done)["kind"]), (NOT_VERIFIED, "not-trusted"))
        full = Path("/dev/full").open("w", encoding="utf-8")
        with full:
            done = self.run_weir("schemes", "--json", stdout=full)
        self.assertEqual((done.returncode, self.error(done)["kind"]), (FILE, "no-space"))
        self.stops(put, 2)

    def test_an_interrupted_transfer_is_reported_as_interrupted(self):
        large = self.here / "large"
        large.write_bytes(bytes(20_000_000))
        put = self.begins(*self.on_daemon("put", "/js/large", large))
        get = [self.program, *self.on_daemon("get", "/js/large", "-o", "-", "--json")]
        pipe = subprocess.PIPE
        with subprocess.Popen([*map(str, get)], stdout=pipe, stderr=pipe) as process:
            # The pipe takes a part of it: the transfer is under way, and cannot end.
            self.assertEqual(len(process.stdout.read(1)), 1)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        kind = json.loads(said.decode().splitlines()[-1])["error"]["kind"]
        self.assertEqual((process.returncode, kind), (INTERRUPTED, "interrupted"))
        self.stops(put, 2)

    def test_hostile_text_cannot_change_a_terminal(self):
        """Characters beyond ASCII are escaped, on both streams."""
        name = "\u202e\x9b31m\u00e4"
        done = self.run_weir("sim", "run", name, "--json")
        line = done.stderr.splitlines()[-1]
        self.assertTrue(line.isascii() and line.isprintable(), line)
        self.assertIn(name, self.error(done)["message"])

    def test_the_script_of_the_reference_reads_errors(self):
        """It is run as the page has it."""
        if subprocess.run([weir.ROOT / "scripts/need", "jq"], check=False).returncode:
            self.skipTest("no jq")
        script = PAGE.read_text(encoding="utf-8").partition("```sh\n")[2].partition("```")[0]
        path = {"PATH": f"{Path(self.program).parent}:{os.environ['PATH']}"}

        def fetch(name, forwarder):
            env = {**os.environ, **path, "NDN_CLIENT_TRANSPORT": f"unix://{forwarder}"}
            argv = ["sh", "-c", script, "sh", name, "got"]
            done = subprocess.run(
                argv, env=env, cwd=self.here, capture_output=True, text=True, check=False
            )
            return done.returncode, done.stdout.strip()

        put = self.begins(*self.on_daemon("put", "/js/file", self.file))
        status, said = fetch("/js/file", self.daemon.socket)
        self.assertEqual((status, said.partition(" signed")[0]), (0, f"{SMALL} bytes,"))
        self.assertEqual(fetch("/none", self.daemon.socket), (1, "/none is not there"))
        self.assertEqual(fetch("/none", self.here / "no"), (1, "try again later"))
        self.stops(put, 2)


class Hook(Case):
    """The ground of the other modules: outputs that are not as their schemas say fail a test."""

    def verify(self, out, err="", status=0):
        """Run a program that is called `weir` and prints this, in both ways that tests have."""
        program = self.here / "bin/weir"
        program.parent.mkdir(exist_ok=True)
        lines = [f"printf '%s' '{out}'", f"printf '%s' '{err}' >&2", f"exit {status}"]
        program.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
        program.chmod(0o755)
        argv = [program, "key", "list", "--json"]
        schemas.verify()
        subprocess.run([str(word) for word in argv], capture_output=True, check=False)
        by_pipe = self.fault()
        out, log = self.here / "child.out", self.here / "child.log"
        Child(argv, log, out).wait(60)
        self.assertEqual(by_pipe, self.fault())
        return by_pipe

    def fault(self):
        """The fault of the processes that have ended."""
        try:
            schemas.verify()
        except schemas.Invalid as fault:
            return str(fault)
        return None

    def test_wrong_outputs_are_found(self):
        key = {"name": "/a/KEY/1", "certificate": None, "type": "hmac", "not_after": None}
        key |= {"self_signed": False, "default": True, "secret": "/f", "store": "weir"}
        self.assertIsNone(self.verify(json.dumps([key]) + "\n"))
        for change, part in (
            ({"new": 1}, "'new' was unexpected"),
            ({"type": "dsa"}, "'dsa' is not one of"),
            ({"default": "yes"}, "'yes' is not of type 'boolean'"),
        ):
            self.assertIn(part, self.verify(json.dumps([key | change]) + "\n"))
        del key["store"]
        self.assertIn("'store' is a required", self.verify(json.dumps([key]) + "\n"))
        self.assertIn("not JSON", self.verify("[] []\n"))
        # A line without an end was not printed whole.
        self.assertIsNone(self.verify("[]\n["))

    def test_a_failure_needs_its_object(self):
        line = json.dumps({"error": {"kind": "file", "exit": 7, "message": "m", "next": None}})
        self.assertIsNone(self.verify("", f"weir: m\n{line}\n", 7))
        self.assertIn("no error as JSON", self.verify("", "weir: m\n", 7))
        self.assertIn("status 6 with", self.verify("", f"{line}\n", 6))
        wrong = line.replace("file", "disk")
        self.assertIn("'disk' is not valid", self.verify("", f"{wrong}\n", 7))
