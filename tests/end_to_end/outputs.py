"""Standard output and output files that take nothing more: devices that are full, closed pipes."""

import os
import resource
import signal
from pathlib import Path

from support import content, schemas, weir
from support.children import Child, wait_until
from support.gateway import Gateway
from tools import FAILED, FILE, PATIENCE, Tools

FULL = Path("/dev/full")
SCENARIO = weir.ROOT / "scenarios/standard/single-bottleneck.toml"
SHORT = ("--set", 'duration="1 s"', "--quiet")


class Outputs(Tools):
    """Every command that prints."""

    def setUp(self):
        super().setUp()
        self.put("/printed/file")
        for folder in ("first", "second"):
            done = self.run_weir("sim", "run", SCENARIO, *SHORT, "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.new_key("/owner")

    def commands(self):
        """One call of each command that prints a result on standard output."""
        config = self.daemon.config
        face = "udp4://127.0.0.1:9"
        yield from (("--help",), ("--version",), ("get", "--help"), ("help", "put"))
        yield from (("completions", "bash"), ("man",))
        yield from (("schemes",), ("schemes", "cubic"), ("key", "list"), ("key", "new", "/other"))
        yield from (("key", "export", "/owner"), ("scenario", "schema"))
        yield from (("scenario", "check", SCENARIO), ("scenario", "show", SCENARIO))
        simulate = ("sim", "run", SCENARIO, *SHORT)
        yield from ((*simulate, "--json"), simulate[:-1])
        yield from (("compare", "first", "second"), ("compare", "first", "second", "--json"))
        yield from (("report", "first"), ("daemon", "--check", "--config", config))
        for command in (
            ("status",),
            ("status", "--json"),
            ("doctor",),
            ("doctor", "--json"),
            ("status", "--watch"),
            ("face", "list"),
            ("face", "create", face, "--json"),
            ("route", "list"),
            ("route", "add", "/printed/route", face),
            ("route", "remove", "/printed/route", face),
            ("strategy", "list"),
            ("strategy", "set", "/printed/strategy", "multicast"),
            ("strategy", "unset", "/printed/strategy"),
            ("cs", "info"),
            ("cs", "erase", "/"),
            ("trace",),
            ("traceroute", "/printed/file"),
            ("traceroute", "/printed/file", "--json"),
            ("trace", "--pcap", "-"),
            ("get", "/printed/file", "-o", "-"),
            ("get", "/printed/file", "-o", "got", "--json"),
            ("gateway", "--prefix", "/", "--listen", "127.0.0.1:0", "--json"),
        ):
            yield self.on_daemon(*command)

    def test_full(self):
        """The command fails, and one line says why."""
        for command in self.commands():
            with self.subTest(command=command), open(FULL, "wb") as full:
                done = self.run_weir(*command, stdout=full)
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assertNotIn("panicked", done.stderr)
                # With `--json` an object for programs follows the line.
                lines = done.stderr.splitlines(keepends=True)
                *_, last = [line for line in lines if not line.startswith('{"error":')]
                self.assert_message(last, ["standard output", "No space left on device"])

    def test_reader_gone(self):
        """The command ends without a word about it, as for `head -1`."""
        for command in self.commands():
            if "-o" in command and "-" in command:
                continue  # Half an object is a failure: `messages` has that.
            with self.subTest(command=command):
                reader, writer = os.pipe()
                os.close(reader)
                done = self.run_weir(*command, stdout=writer)
                os.close(writer)
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assertNotIn("standard output", done.stderr)
                self.assertNotIn("panicked", done.stderr)

    def test_full_file(self):
        """A device as output file stays a device, also for a program of root."""
        for command in (
            ("report", "first", "--output"),
            ("compare", "first", "second", "--output"),
            ("scenario", "show", SCENARIO, "--svg"),
            ("sim", "run", SCENARIO, *SHORT, "--pcap"),
            ("sim", "run", SCENARIO, *SHORT, "--events"),
            (*self.on_daemon("trace"), "--pcap"),
            (*self.on_daemon("get", "/printed/file"), "--quiet", "-o"),
            (*self.on_daemon("get", "/printed/file", "-o", "got"), "--quiet", "--record"),
        ):
            # A program that replaces the device does it through a link too, or replaces the link.
            link = self.here / "full"
            link.unlink(missing_ok=True)
            link.symlink_to(FULL)
            with self.subTest(command=command):
                done = self.run_weir(*command, link)
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assert_message(done.stderr, ["No space left on device"])
                self.assertTrue(link.is_symlink() and FULL.is_char_device())

    def test_log_full(self):
        """A daemon whose log cannot be written goes on."""
        other = weir.Daemon(self.program, self.here, "other", listen={"udp": "off", "tcp": "off"})
        other.config.write_text(other.text(), encoding="utf-8")
        argv = ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", self.program, "daemon", "--config"]
        with Child([*argv, other.config], self.here / "log") as child:
            # The socket exists a moment before it is listened to.
            status = ("status", "--json", "--socket", other.socket)
            wait_until(lambda: self.run_weir(*status).returncode == 0, "the daemon")
            self.assertGreater(other.status()["uptime_ms"], 0)
            os.kill(child.pid, signal.SIGTERM)
            self.assertEqual(child.wait(PATIENCE), 0)

    def test_gateway_fills_up(self):
        """Answers go on if their lines cannot be written; the end reports it."""
        with Gateway(self.daemon, self.here) as gateway:
            full = gateway.out.stat().st_size
            resource.prlimit(gateway.child.pid, resource.RLIMIT_FSIZE, (full, full))
            # The log of the same process has a limit, too, but it is empty so far.
            for _ in range(3):
                self.assertEqual(gateway.ask("/printed/file")[0], 200)
            os.kill(gateway.child.pid, signal.SIGINT)
            self.assertEqual(gateway.child.wait(PATIENCE), FILE)
            self.assertEqual(len(gateway.said()), 1)
            schemas.excuse(gateway.child.pid)

    def test_limit_on_files(self):
        """A file that exceeds `ulimit -f` is an error, and more of it resumes the transfer."""
        limited = ["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh"]
        get = self.on_daemon("get", "/printed/file", "-o", "got", "--json", "--quiet")
        parts = ["cannot write got.part: File too large", "ulimit -f", "again to resume"]
        self.rejected(FILE, parts, *get, before=limited)
        self.assertEqual(self.run_weir(*get).returncode, 0)
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(self.sent))
        parts = ["standard output", "File too large"]
        with open(self.here / "piped", "wb") as piped:
            get = self.on_daemon("get", "/printed/file", "-o", "-")
            done = self.run_weir(*get, before=limited, stdout=piped)
        self.assertEqual(done.returncode, FILE, done.stderr)
        self.assert_message(done.stderr, parts)

    def test_a_failed_demonstration_prints_an_object_only_for_programs(self):
        """The failure of its consumer is a line of text."""
        limited = ["sh", "-c", 'ulimit -f 1000; exec "$@"', "sh"]
        for options, objects in (((), 0), (("--json",), 1)):
            done = self.run_weir("demo", self.sent, *options, before=limited)
            self.assertEqual(done.returncode, FAILED, done.stderr)
            self.assertRegex(done.stderr, "(?m)^weir: cannot write .*copy-1.part: File too large;")
            lines = done.stderr.splitlines()
            self.assertEqual(len([line for line in lines if line.startswith("{")]), objects, lines)
