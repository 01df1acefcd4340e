"""Messages and exit codes of the tools when they fail.

Every message is one line with three parts: what happened, where, what to do next. The exit
codes are those of `weir --help`.
"""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

from alone import ALONE, SIZE
from support import content, weir
from support.children import Child, wait_until
from tools import (
    FAILED,
    FILE,
    INTERRUPTED,
    NO_FORWARDER,
    NOT_FOUND,
    NOT_VERIFIED,
    PATIENCE,
    USAGE,
    Tools,
    catches,
)

# The user id of `nobody` on every system that this runs on.
NOBODY = "65534"


class Messages(Tools):
    """One daemon without neighbours, and the tools around it."""

    faces = (("nobody", "udp4://127.0.0.1:9"),)
    routes = (("/nobody", "nobody"),)

    # No forwarder.

    def test_no_socket(self):
        """There is no such file."""
        parts = [f"no forwarder at {self.folder}/no.sock", "no such socket", "`weir daemon`"]
        for command in (["status"], ["get", "/a"], ["put", "/a", self.sent]):
            with self.subTest(command=command[0]):
                self.rejected(NO_FORWARDER, parts, *command)

    def test_addresses_without_a_daemon_are_reported(self):
        """A file that a killed daemon has left, a file that is not a socket, a closed port."""
        dead = self.here / "dead.sock"
        with socket.socket(socket.AF_UNIX) as unbound:
            unbound.bind(str(dead))
        with socket.socket(socket.AF_INET) as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        for address in (dead, self.sent, f"tcp://127.0.0.1:{port}"):
            with self.subTest(address=address):
                parts = [str(address), "no program listens there", "`weir daemon`"]
                self.rejected(NO_FORWARDER, parts, "get", "/a", "--socket", address)

    def test_nowhere_to_listen(self):
        """For HTTP: a port that another program has, an address that is not of this host."""
        with socket.socket(socket.AF_INET) as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for address in (f"127.0.0.1:{port}", "192.0.2.1:8080"):
                with self.subTest(address=address):
                    parts = [f"cannot listen on {address}", "with --listen"]
                    command = self.on_daemon("gateway", "--prefix", "/", "--listen", address)
                    self.rejected(FAILED, parts, *command)

    def test_nothing_to_serve(self):
        """A gateway without a prefix, and with one that is for programs of one host."""
        for options, parts in (
            ((), ["no names to serve", "--prefix /example"]),
            (("--prefix", "/localhost/nfd"), ["programs of one host", "choose another prefix"]),
            (("--prefix", "/a", "--host", "http://a"), ["--host http://a", "without scheme"]),
            (("--prefix", "/a", "--origin", "a"), ["--origin a", "write scheme, host and port"]),
        ):
            with self.subTest(options=options):
                self.rejected(USAGE, parts, *self.on_daemon("gateway", *options))

    def test_not_allowed(self):
        """A socket that is for others."""
        as_nobody = ["setpriv", "--reuid", NOBODY, "--clear-groups"]
        if self.run_weir("--version", before=as_nobody).returncode != 0:
            self.skipTest("this system lets us be nobody else")
        self.folder.chmod(0o711)
        self.here.chmod(0o711)
        locked = self.here / "locked.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(locked))
            listener.listen()
            locked.chmod(0o600)
            parts = [str(locked), "permission denied", "rights"]
            arguments = ["status", "--socket", locked]
            self.rejected(NO_FORWARDER, parts, *arguments, before=as_nobody)

    def test_not_ndn(self):
        """Something else listens there."""
        with socket.create_server(("127.0.0.1", 0)) as other:
            address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
            argv = [self.program, "get", "/a", "--socket", address]
            fetch = self.keep(Child(argv, self.here / "log"))
            peer, _ = other.accept()
            with peer:
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                self.assertEqual(fetch.wait(PATIENCE), NO_FORWARDER)
        said = (self.here / "log").read_text(encoding="utf-8")
        self.assert_message(said, [address, "is not an NDN forwarder", "check --socket"])

    def test_forwarder_goes(self):
        """The forwarder ends while something is served: that is said, and so is its return."""
        other = weir.Daemon(self.program, self.here, "other", listen=ALONE)
        lines = []

        def said(text):
            lines[:] = serving.log.read_text(encoding="utf-8").splitlines()
            return text in lines[-1]

        with other:
            serving = self.keep(other.put("/a", self.sent))
            other.process.kill()
            wait_until(lambda: said("went away"), "the loss to be told")
            self.assertIn("weir put: the forwarder at", lines[-1])
            self.assertIn(f"{other.socket} went away; trying again", lines[-1])
            self.assertIn("`weir daemon` starts one", lines[-1])
            other.start()
            wait_until(lambda: said("is back"), "the return to be told")
            self.assertIn(str(other.socket), lines[-1])
            # While there is no forwarder a signal ends it as ever.
            other.process.kill()
            wait_until(lambda: said("went away"), "the second loss to be told")
            self.assertEqual(serving.stop(), 0)

    def test_forwarder_stays_away(self):
        """A fetch waits for as long as it has patience, and then says so."""
        argv = [self.program, "get", "/a", "-o", self.here / "a", "--patience", "1 s"]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
            fetch = self.keep(Child([*argv, "--socket", address], self.here / "log"))
            peer, _ = listener.accept()
        peer.close()
        self.assertEqual(fetch.wait(PATIENCE), NO_FORWARDER)
        lines = (self.here / "log").read_text(encoding="utf-8").splitlines(keepends=True)
        self.assertEqual(len(lines), 2, lines)
        self.assertIn(f"weir get: the forwarder at {address} went away; trying again", lines[0])
        parts = [address, "was not back within 1.00 s", "start it", "again to resume"]
        self.assert_message(lines[1], parts)

    # Names.

    def test_no_route(self):
        """No producer has registered the name."""
        parts = ["no route leads to /elsewhere/file", "is its producer running"]
        self.rejected(NOT_FOUND, parts, *self.on_daemon("get", "/elsewhere/file"))

    def test_not_found(self):
        """A route leads there, but there is no producer at its end."""
        parts = ["/nobody/file was not found", "no answer in", "is its producer running"]
        command = self.on_daemon("get", "/nobody/file", "--patience", "1 s")
        self.rejected(NOT_FOUND, parts, *command)
        self.assertEqual(os.listdir(self.here), [])

    def test_producer_does_not_have_it(self):
        """A producer rejects the Interest: the tool fails before its patience ends."""
        other = content.make(self.here / "other", 1)
        self.put("/found", self.sent, other)
        names = ["/found", "/found/missing", "/found/other/more", "/found/other/v=1"]
        for name in names:
            with self.subTest(name=name):
                parts = [f"{name} was not found", "nothing of that name", "compare it"]
                command = self.on_daemon("get", name, "-o", "got", "--patience", "10 min")
                self.rejected(NOT_FOUND, parts, *command)
        self.assertEqual(os.listdir(self.here), ["other"])

    def test_wrong_prefix(self):
        """The forwarder keeps its own names to itself."""
        for name in ("/localhost/nfd/rib", "/localhost/weir/x", "/localhost"):
            with self.subTest(name=name):
                parts = [f"refused to register {name}", "403", "publish under another name"]
                self.rejected(FAILED, parts, *self.on_daemon("put", name, self.sent))

    def test_wrong_names(self):
        """Names that do not parse."""
        for name, part in (
            ("file", "does not begin with a slash"),
            ("/a%zz", "two hexadecimal digits"),
            ("/a/../b", "not components"),
            ("/a/sha256digest=00", "64 hexadecimal digits"),
            ("/65536=a", "`/65536=a`"),
        ):
            with self.subTest(name=name):
                parts = [f"`{name}` is not a name", part, "/example/file"]
                self.rejected(USAGE, parts, "get", name)

    def test_no_file_name(self):
        """Names that would lead out of the folder, or nowhere."""
        for name in ("/", "/a/v=1/..%2Fb", "/v=1"):
            with self.subTest(name=name):
                parts = [f"{name} gives no file name", "-o FILE"]
                self.rejected(USAGE, parts, *self.on_daemon("get", name))

    # Signatures.

    def test_signed_by_another_key(self):
        """Trust is in one key, another one signed."""
        self.new_key("/alice")
        certificate = self.new_key("/mallory")
        self.put("/alice/file", options=["--sign", "/alice"])
        for trusted in (certificate, "/mallory"):
            with self.subTest(trusted=trusted):
                command = self.on_daemon("get", "/alice/file", "--trust", trusted)
                parts = ["/alice/file", "a key that is not trusted", "/alice/KEY/", "--trust"]
                self.rejected(NOT_VERIFIED, parts, *command)
        command = self.on_daemon("get", "/alice/file", "--trust", "/alice", "-o", "got")
        self.assertEqual(self.run_weir(*command).returncode, 0)
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(self.sent))

    def test_not_signed(self):
        """A digest is no signature."""
        self.put("/only/digest")
        self.new_key("/bob")
        command = self.on_daemon("get", "/only/digest", "--trust", "/bob", "-o", "got")
        parts = ["/only/digest", "only a digest", "--trust"]
        self.rejected(NOT_VERIFIED, parts, *command)
        self.assertNotIn("got", os.listdir(self.here))

    def test_key_for_other_names(self):
        """A key signs under its identity; elsewhere consumers would reject it."""
        self.new_key("/carol")
        parts = ["/carol/KEY/", "is for names under /carol, not for /dave", "another key"]
        command = self.on_daemon("put", "/dave", self.sent, "--sign", "/carol")
        self.rejected(USAGE, parts, *command)
        put = self.put("/dave")
        said = put.log.read_text(encoding="utf-8")
        self.assertRegex(said, r"\Anot signed: the key /carol/KEY/\w+ is for names under /carol")
        self.assertIn("not for /dave; `weir key new` makes a key for a prefix of it", said)
        done = self.run_weir(*self.on_daemon("get", "/dave", "--json", "--quiet"))
        self.assertEqual(json.loads(done.stdout)["verified"], "digest")

    def test_a_key_that_is_not_the_default_is_named(self):
        """The one with the longest identity that covers the name."""
        for name in ("/carol", "/erin", "/erin/x"):
            self.new_key(name)
        said = self.put("/erin/x/file").log.read_text(encoding="utf-8")
        self.assertIn("is for names under /carol, not for /erin/x/file; `--sign /erin/x`", said)

    def test_wrong_keys(self):
        """Keys that are not there, and files that are no certificates."""
        trust = ("get", "/a", "--trust")
        self.rejected(FILE, ["no key or identity /nobody", "`weir key"], *trust, "/nobody")
        self.rejected(USAGE, ["the trust anchor nothing", "is not a name"], *trust, "nothing")
        self.rejected(FILE, [f"the trust anchor {self.sent}", "certificate"], *trust, self.sent)
        parts = ["no key or identity /nobody", "`weir key new /nobody`"]
        self.rejected(FILE, parts, *self.on_daemon("put", "/a", self.sent, "--sign", "/nobody"))

    # Files.

    def test_nothing_to_publish(self):
        """No file, a device, no right to read, and a list that cannot be named."""
        for path, part in (
            ("missing", "No such file or directory"),
            ("/dev/null", "not a regular file"),
        ):
            with self.subTest(path=path):
                parts = [f"cannot publish {path}", part, "name a file"]
                self.rejected(FILE, parts, *self.on_daemon("put", "/a", path))
        parts = ["`-` has none", "publish it alone"]
        self.rejected(USAGE, parts, *self.on_daemon("put", "/a", self.sent, "-"))
        parts = ["/a/v=1 ends in a version already", "publish as /a"]
        self.rejected(USAGE, parts, *self.on_daemon("put", "/a/v=1", self.sent))
        other = self.here / "folder" / Path(self.sent).name
        parts = [f"`{self.sent}` and `{other}` would both be published as /a/", "another name"]
        self.rejected(USAGE, parts, *self.on_daemon("put", "/a", self.sent, other))
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        parts = [f"cannot publish {pipe}", "not a regular file"]
        self.rejected(FILE, parts, *self.on_daemon("put", "/a", pipe))

    def test_nowhere_to_write(self):
        """A folder, a missing folder, and a device, which must stay a device."""
        self.put("/writable/file")
        for path, part in ((self.here, "it is a folder"), ("no/folder", "make its folder")):
            with self.subTest(path=path):
                parts = [f"cannot write {path}", part, "-o FILE"]
                self.rejected(FILE, parts, *self.on_daemon("get", "/writable/file", "-o", path))
        parts = ["cannot write /dev/full", "No space left", "again, or choose another place"]
        command = self.on_daemon("get", "/writable/file", "--quiet")
        self.rejected(FILE, parts, *command, "-o", "/dev/full")
        self.assertEqual(self.run_weir(*command, "-o", "/dev/null").returncode, 0)
        # A complete file has the permissions that the user's umask gives new files.
        for umask in (0o002, 0o027):
            path = self.here / f"mode-{umask:o}"
            self.assertEqual(self.run_weir(*command, "-o", path, umask=umask).returncode, 0)
            self.assertEqual(path.stat().st_mode & 0o777, 0o666 & ~umask)
        for device in ("/dev/full", "/dev/null"):
            self.assertTrue(Path(device).is_char_device(), device)

    def test_no_room(self):
        """No room for the file, or for what is kept beside it; `disk` fills one in mid-write."""
        self.put("/large/file")
        in_namespace = ["unshare", "--mount"]
        if self.run_weir("--version", before=in_namespace).returncode != 0:
            self.skipTest("this system lets us mount nothing")
        script = 'mount -t tmpfs -o "$1" none "$0" && cd "$0" && shift && "$@"; s=$?; ls; exit $s'
        get = self.on_daemon("get", "/large/file", "-o", "file")
        # The file does not fit; or the file has room, but what is kept beside it has none.
        for limit in ("size=1m", "nr_inodes=2"):
            with self.subTest(limit=limit):
                shell = [*in_namespace, "sh", "-c", script, self.here, limit]
                done = self.run_weir(*get, before=shell)
                self.assertEqual(done.returncode, FILE, done.stderr)
                self.assert_message(done.stderr, ["cannot write file", "make room", "to resume"])
                self.assertEqual(done.stdout, "", "left behind, and nobody can resume from it")

    # The command line and the configuration.

    def test_usage(self):
        """The mistake is named, and the valid form."""
        for arguments, parts in (
            (["got"], ["'got'", "`weir --help`"]),
            (["statu"], ["'statu'", "'status'"]),
            (["get"], ["<NAME>", "`weir get --help`"]),
            (["put", "/a"], ["<FILE>", "`weir put --help`"]),
            (["get", "/a", "--contrl", "bbr"], ["'--contrl'", "'--control'"]),
            (["get", "/a", "--patience", "5"], ["`5` is not a duration", '"5 ms"']),
            (
                ["get", "/a", "--control", "cubik"],
                ["`cubik`", "did you mean `cubic`?", "`weir schemes` lists all"],
            ),
            (["get", "/a", "--control", "codel"], ["`codel` has no controller", "`cubic`"]),
            (["get", "/a", "--control", "cubic", "--set", "bta=1"], ["`bta`", "`beta`"]),
            (["get", "/a", "--control", "cubic", "--set", "beta=7"], ["`beta` = 7", "0.1 to"]),
            (["get", "/a", "--set", "beta"], ["--set beta", "name=value"]),
            (["get", "/a", "--socket", "http://a"], ["`http://a`", "tcp://127.0.0.1:6363"]),
            (["put", "/a", "f", "--segment-size", "8"], ["`8` is not a size", "kB"]),
            (["schemes", "cubik"], ["`cubik`", "did you mean `cubic`?"]),
        ):
            with self.subTest(arguments=arguments):
                self.rejected(USAGE, parts, *arguments)
        for size in ("0 B", "8.8 kB", "1000 GB"):
            with self.subTest(size=size):
                command = self.on_daemon("put", "/a", self.sent, "--segment-size", size)
                self.rejected(USAGE, ["--segment-size"], *command)

    def test_no_arguments(self):
        """Help is what one needs then, but it is not what one asked for."""
        done = self.run_weir()
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn("Usage: weir", done.stderr)
        asked = self.run_weir("--help")
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        self.assertIn("Exit codes: 0 done, 1 failed", asked.stdout)

    def test_configuration(self):
        """Every mistake is shown with its place, below one line that says what to do."""
        config = self.here / "bad.toml"
        config.write_text('[damon]\n[listen]\nunix = "x"\nudp = "a"\n', encoding="utf-8")
        done = self.run_weir("daemon", "--check", "--config", config)
        self.assertEqual(done.returncode, USAGE)
        first, *rest = done.stderr.splitlines()
        self.assertEqual(first.partition("; ")[0], f"weir: {config} has 3 mistakes")
        places = [line.split(" ")[0] for line in rest if line.startswith(str(config))]
        self.assertEqual(places, [f"{config}:{place}:" for place in ("1:2", "3:8", "4:7")])
        self.assertIn("did you mean `daemon`?", done.stderr)
        parts = ["missing.toml", "--config"]
        self.rejected(USAGE, parts, "daemon", "--config", "missing.toml")
        done = self.run_weir("daemon", "--check", "--config", self.daemon.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_more_memory_than_there_is(self):
        """A limit that no process can reach is a mistake, for a check and for a start alike."""
        config = self.here / "large.toml"
        for text, part in (
            ('[daemon]\nmemory = "99 TB"\n', "`memory`: 99.0 TB is more than the "),
            ('[content_store]\ncapacity = "99 TB"\n', "`capacity`: 99.0 TB is more than the "),
            ('[daemon]\nmemory = "0.3 B"\n', "not a whole number of bytes"),
        ):
            config.write_text(text, encoding="utf-8")
            for check in (["--check"], []):
                with self.subTest(text=text, check=check):
                    done = self.run_weir("daemon", *check, "--config", config)
                    self.assertEqual(done.returncode, USAGE, done.stderr)
                    self.assertIn(f"{config}:2:", done.stderr)
                    self.assertIn(part, done.stderr)

    def test_a_section_for_everybody_is_warned_of(self):
        """`[[authorize]]` without a user: in one line of a check, and in the log of a start."""
        config = self.here / "everybody.toml"
        listen = f'[listen]\nunix = "{self.here / "everybody.sock"}"\nudp = "off"\ntcp = "off"\n'
        config.write_text(listen + "[[authorize]]\n", encoding="utf-8")
        done = self.run_weir("daemon", "--check", "--config", config)
        self.assertEqual(done.returncode, 0)
        [line] = done.stderr.splitlines()
        self.assertIn("warning: [[authorize]] number 1 lets every program of this host", line)
        log = self.here / "everybody.log"
        argv = self.daemon.command(self.daemon.weir, "daemon", "--config", config)
        part = "lets every program of this host"
        with Child(argv, log):
            wait_until(lambda: part in log.read_text("utf-8"), "the line")

    def test_status_often(self):
        """No question is taken for another one that has come round a loop."""
        seen = [self.daemon.status()["drops"].get("duplicate", 0) for _ in range(200)]
        self.assertEqual(seen[-1], seen[0])

    def test_second_daemon(self):
        """The socket is taken."""
        parts = [f"already running at {self.daemon.socket}", "[listen]"]
        self.rejected(FAILED, parts, "daemon", "--config", self.daemon.config)

    # Streams.

    def test_streams(self):
        """Standard input goes in, standard output comes out, and nothing else gets between."""
        argv = self.on_daemon("put", "/stream", "-")
        log = self.here / "log"
        with open(self.sent, "rb") as sent, open(log, "wb") as said:
            put = subprocess.Popen([self.program, *argv], stdin=sent, stderr=said)
        self.addCleanup(put.wait)
        self.addCleanup(put.terminate)
        wait_until(lambda: b"serving" in log.read_bytes(), "the stream to be served")
        with open(self.here / "got", "wb") as got:
            done = self.run_weir(*self.on_daemon("get", "/stream", "-o", "-", "--json"), stdout=got)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(content.sha256(self.here / "got"), content.sha256(self.sent))
        self.assertEqual(json.loads(done.stderr)["bytes"], SIZE)

    def test_reader_goes(self):
        """`weir get -o - | head`: half an object is a failure; half a list is none of ours."""
        self.put("/stream/broken")
        for arguments, parts in (
            (
                self.on_daemon("get", "/stream/broken", "-o", "-"),
                ["standard output", "Broken pipe"],
            ),
            (("schemes",), None),
        ):
            reader, writer = os.pipe()
            os.close(reader)
            done = self.run_weir(*arguments, stdout=writer)
            os.close(writer)
            self.assertEqual(done.returncode, FILE)
            if parts:
                self.assert_message(done.stderr, parts)
            else:
                self.assertEqual(done.stderr, "")

    def test_quiet_and_json(self):
        """`--quiet` leaves errors only; `--json` is one object, whose fields the manual names."""
        log, out = self.here / "put.log", self.here / "put.json"
        argv = self.on_daemon("put", "/summary/file", self.sent)
        argv = [self.program, *argv, "--json", "--quiet", "--linger", "1 s"]
        argv += ["--segment-size", "8 kB"]
        put = self.keep(Child(argv, log, out))
        get = self.on_daemon("get", "/summary/file", "-o", "got", "--quiet")
        wait_until(lambda: self.run_weir(*get).returncode == 0, "the file to be served")
        done = self.run_weir(*get)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = self.run_weir(*get, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        summary = json.loads(done.stdout)
        self.assertEqual(summary["bytes"], SIZE)
        self.assert_documented("weir get", summary)
        self.assertEqual(put.wait(PATIENCE), 0)
        self.assertEqual(log.read_text(encoding="utf-8"), "")
        begun, served = map(json.loads, out.read_text(encoding="utf-8").splitlines())
        self.assertEqual(begun["serving"], served["objects"])
        self.assert_documented("weir put", served)
        self.assertEqual([served["objects"][0][key] for key in ("bytes", "segments")], [SIZE, 250])
        self.new_key("/summary")
        keys = json.loads(self.run_weir("key", "list", "--json").stdout)
        self.assert_documented("weir key list", keys)

    # Interruptions.

    def test_interrupted(self):
        """Ctrl-C ends with its own code; the same command again goes on where it was."""
        slow = self.keep(SlowDaemon(self.program, self.here, "slow", listen=ALONE))
        self.keep(slow.put("/interrupted/file", self.sent))
        target = self.here / "got"
        journal = self.here / "got.part.journal"
        fetch = slow.get("/interrupted/file", target)
        self.keep(fetch.child)
        wait_until(lambda: journal.exists() and journal.stat().st_size, "the journal to begin")
        begun = journal.stat().st_size
        wait_until(lambda: journal.stat().st_size > begun, "something to keep")
        os.kill(fetch.child.pid, signal.SIGINT)
        self.assertEqual(fetch.child.wait(PATIENCE), INTERRUPTED)
        said = fetch.child.log.read_text(encoding="utf-8")
        self.assert_message(said, ["interrupted with", "/interrupted/file", "to resume"])
        self.assertFalse(target.exists(), "a partial file under the final name")
        again = slow.get("/interrupted/file", target).finish(PATIENCE)
        self.assertGreater(again.summary["resumed_bytes"], 0)
        self.assertEqual(content.sha256(target), content.sha256(self.sent))
        self.assertFalse(journal.exists(), "left behind")

    def test_input_interrupted(self):
        """Waiting for standard input can be ended, too."""
        argv = [str(self.program), *map(str, self.on_daemon("put", "/a", "-"))]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as put:
            # It has a handler for the signal before it connects.
            wait_until(lambda: catches(put.pid, signal.SIGINT), "the signal to be expected")
            put.send_signal(signal.SIGINT)
            said = put.stderr.read()
        self.assertEqual(put.returncode, INTERRUPTED)
        self.assert_message(said, ["interrupted", "standard input", "nothing was published"])

    def test_pipe_without_a_reader_interrupted(self):
        """Waiting for the reader of a named pipe can be ended, too."""
        self.put("/piped/file")
        pipe = self.here / "output"
        os.mkfifo(pipe)
        argv = self.on_daemon("get", "/piped/file", "-o", pipe)
        argv = [str(self.program), *map(str, argv)]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as get:
            wait_until(lambda: catches(get.pid, signal.SIGINT), "the signal to be expected")
            get.send_signal(signal.SIGINT)
            said = get.stderr.read()
        self.assertEqual(get.returncode, INTERRUPTED)
        self.assert_message(said, ["interrupted", "had a reader"])

    def test_file_changes(self):
        """A changed file is a new version; a line says so, and serving goes on."""
        changing = content.make(self.here / "changing", SIZE)
        put = self.put("/changing", changing)
        with open(changing, "ab") as file:
            file.write(b"more")
        line = f"{changing} has changed: /changing/v="
        wait_until(lambda: line in put.log.read_text(encoding="utf-8"), "the new version")
        self.assertTrue(put.running)


class SlowDaemon(weir.Daemon):
    """A forwarder that takes two seconds to hand the file over."""

    def text(self):
        """The configuration."""
        return super().text() + weir.section("[application]", {"rate": "8 Mbit/s"})
