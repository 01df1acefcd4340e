"""Attacks on one daemon by programs of its own host, and by peers that connect and go."""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from _commands import command, new_interest, now_ms
from support import children, content, namespaces, ndn, weir

PATIENCE = 60
PORT = 6411
PEER = "udp4://127.0.0.1:9"
# The user `nobody`, without special rights.
OTHER = 65534
FLOOD_SECONDS = 3
# The daemon writes at most 20 lines of a kind in a second, and connections cause a few kinds.
LOG_BYTES_PER_SECOND = 30_000


def create(port):
    """A command that makes a face."""
    components = command("faces/create", uri=f"udp4://127.0.0.1:{port}".encode())
    nonce = port.to_bytes(4, "big")
    return new_interest(components, now_ms(), nonce, nonce)


class Local(unittest.TestCase):
    """One daemon in a namespace of its own, with other sections where a test wants them."""

    def setUp(self):
        stack = self.enterContext(contextlib.ExitStack())
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        # Another user has to find the socket.
        self.folder.chmod(0o755)
        self.host = stack.enter_context(namespaces.Network()).host("only")
        self.stack = stack

    def start(self, **listen):
        """Start the daemon with these fields of `[listen]`."""
        listen = {"udp": "off", "tcp": f"127.0.0.1:{PORT}", **listen}
        daemon = weir.Daemon(weir.program(), self.folder, "daemon", self.host, listen=listen)
        return self.stack.enter_context(daemon)

    def weir(self, daemon, *arguments, user=None):
        """Run a command on the daemon, perhaps as another user; its status and what it said."""
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        as_user = become if user else []
        argv = daemon.command(*as_user, daemon.weir, *arguments, "--socket", daemon.socket)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout + done.stderr

    def need_users(self):
        """Skip where this process may not become another user, or he may not run the program."""
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        probe = [*become, str(weir.program()), "--version"]
        if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            self.skipTest("this system lets us run nothing as another user")

    def test_a_route_of_another_origin_stays(self):
        """A removal that leaves a route of another origin says so, and fails."""
        daemon = self.start()
        self.assertEqual(self.weir(daemon, "face", "create", PEER)[0], 0)
        for origin in (0, 255):
            options = ("--origin", str(origin), "--cost", str(origin + 1))
            status, said = self.weir(daemon, "route", "add", "/a", PEER, *options)
            self.assertEqual(status, 0, said)
        status, said = self.weir(daemon, "route", "remove", "/a", PEER)
        self.assertNotEqual(status, 0)
        self.assertIn("origin app, cost 1", said)
        self.assertIn("--origin 0", said)
        self.assertIn("/a", self.weir(daemon, "route", "list")[1])
        status, said = self.weir(daemon, "route", "remove", "/a", PEER, "--all")
        self.assertEqual((status, "any more" in said), (0, True), said)
        self.assertNotIn("/a", self.weir(daemon, "route", "list")[1])

    def test_another_user_cannot_take_the_udp_port(self):
        """Another user of the host, or a second daemon, finds the daemon's UDP port taken."""
        self.need_users()
        daemon = self.start(udp=f"0.0.0.0:{PORT}")
        script = (
            "import os, socket\n"
            f"os.setgid({OTHER}); os.setuid({OTHER})\n"
            "address, port = 'SO_REUSEADDR', 'SO_REUSEPORT'\n"
            "options = ((), (address,), (port,), (address, port))\n"
            "for host in ('0.0.0.0', '127.0.0.1'):\n"
            "    for chosen in options:\n"
            "        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:\n"
            "            for option in chosen:\n"
            "                one.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)\n"
            "            try:\n"
            f"                one.bind((host, {PORT}))\n"
            "                print('bound', host, chosen)\n"
            "            except OSError as error:\n"
            "                assert error.errno == 98, error\n"
        )
        done = subprocess.run(
            self.host.command("python3", "-c", script), capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stdout, "")
        # A face of the daemon's own shares the port.
        self.assertEqual(self.weir(daemon, "face", "create", PEER)[0], 0)
        second = weir.Daemon(
            weir.program(),
            self.folder,
            "second",
            self.host,
            listen={"udp": f"0.0.0.0:{PORT}", "tcp": "off"},
        )
        with self.assertRaises(children.Failed):
            self.stack.enter_context(second)
        said = (self.folder / "second.log").read_text(encoding="utf-8")
        self.assertIn("in use", said)

    def test_files_planted_by_another_user_are_rejected(self):
        """Partial files, journals and links of another user in a shared folder are rejected."""
        self.need_users()
        daemon = self.start()
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        secret = self.folder / "secret"
        secret.write_text("mine", encoding="utf-8")
        sent = content.make(self.folder / "sent", 100_000)
        self.stack.callback(daemon.put("/sent", sent).kill)
        for name, kind in itertools.product(("part", "part.journal", ""), ("file", "link")):
            target = shared / f"out-{name}-{kind}"
            planted = Path(f"{target}.{name}" if name else target)
            if kind == "file":
                planted.write_text("planted", encoding="utf-8")
            else:
                planted.symlink_to(secret)
            os.chown(planted, OTHER, OTHER, follow_symlinks=False)
            status, said = self.weir(daemon, "get", "/sent", "-o", target)
            case = f"{name or 'the file'}, a {kind}: {said}"
            self.assertEqual(secret.read_text(encoding="utf-8"), "mine", case)
            if (name, kind) == ("", "file"):
                # A whole file takes the place of the other one.
                self.assertEqual(status, 0, case)
                self.assertEqual(target.read_bytes(), sent.read_bytes())
                self.assertEqual(target.stat().st_uid, os.geteuid())
            else:
                self.assertNotEqual(status, 0, case)
                self.assertIn("another user" if kind == "file" else "symbolic link", said)

    def test_connections_do_not_fill_the_disk(self):
        """Peers connect and go as fast as they can: the log has a bound and a count of the rest."""
        daemon = self.start()
        log = daemon.folder / "daemon.log"
        before = log.stat().st_size
        script = (
            "import socket, time\n"
            f"end, n = time.monotonic() + {FLOOD_SECONDS}, 0\n"
            "while time.monotonic() < end:\n"
            f"    with socket.create_connection(('127.0.0.1', {PORT})) as one:\n"
            "        one.sendall(b'\\xff' * 20)\n"
            "    n += 1\n"
            "print(n)\n"
        )
        begun = time.monotonic()
        done = subprocess.run(
            self.host.command("python3", "-c", script), capture_output=True, text=True, check=True
        )
        connections = int(done.stdout)
        answered = time.monotonic()
        self.assertEqual(self.weir(daemon, "status", "--json")[0], 0)
        answered = time.monotonic() - answered
        taken = time.monotonic() - begun
        deadline = time.monotonic() + PATIENCE
        while "left out" not in log.read_text(encoding="utf-8"):
            self.assertLess(time.monotonic(), deadline, "nothing is said of what was left out")
            time.sleep(0.05)
        grown = log.stat().st_size - before
        print(f"{connections} connections: {grown} bytes of log; status took {answered:.2f} s")
        self.assertGreater(connections, 200, "too few to be a flood")
        self.assertLess(grown, LOG_BYTES_PER_SECOND * (taken + 1))

    def test_another_user_does_not_command_the_daemon(self):
        """A program of another user may serve names, and not take all of them or the forwarder."""
        self.need_users()
        daemon = self.start(unix_mode="666")
        file = content.make(self.folder / "file", 1000)
        made, said = self.weir(daemon, "face", "create", PEER, user=OTHER)
        self.assertNotEqual(made, 0)
        self.assertIn("403", said)
        for transport in (str(daemon.socket), f"tcp4://127.0.0.1:{PORT}"):
            for prefix, may in (("/", False), ("/mine", True)):
                argv = [daemon.weir, "put", prefix, file]
                as_other = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
                # The keys of the first user cannot be read: the other one has none.
                as_other += ["env", "-u", "WEIR_HOME", f"HOME={self.folder}/nowhere"]
                log = self.folder / "put.log"
                with open(log, "wb") as out:
                    child = subprocess.Popen(
                        daemon.command(*as_other, *argv, "--socket", transport),
                        stdout=out,
                        stderr=out,
                        stdin=subprocess.DEVNULL,
                    )
                try:
                    deadline = time.monotonic() + PATIENCE
                    wanted = f"serving {prefix}" if may else "403"
                    while wanted not in (said := log.read_text(encoding="utf-8")):
                        self.assertLess(time.monotonic(), deadline, said)
                        time.sleep(0.05)
                finally:
                    child.kill()
                    child.wait()
        # The daemon's own user may do all that.
        self.assertEqual(self.weir(daemon, "face", "create", PEER)[0], 0)

    def as_other(self, script, *arguments):
        """Run a script as the other user on the host; what it printed."""
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        path = [f"import sys; sys.path[:0] = [{str(weir.ROOT / 'tests')!r}]"]
        # The interpreter of the tests may be where the other user may not look.
        argv = [*become, "/usr/bin/python3", "-c", "\n".join([*path, script]), *arguments]
        argv = self.host.command(*argv)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_closed_connection_does_not_get_root_rights(self):
        """Commands on TCP connections that are closed at once are not taken for root's."""
        self.need_users()
        daemon = self.start(unix_mode="660")
        before = self.faces(daemon)
        frames = [create(port) for port in range(2000, 2040)]
        script = (
            "import socket\n"
            "for frame in sys.argv[1:]:\n"
            f"    with socket.create_connection(('127.0.0.1', {PORT})) as one:\n"
            "        one.sendall(bytes.fromhex(frame))\n"
        )
        # It looks at them when all are closed.
        os.kill(daemon.process.pid, signal.SIGSTOP)
        try:
            self.as_other(script, *(frame.hex() for frame in frames))
        finally:
            os.kill(daemon.process.pid, signal.SIGCONT)
        # Earlier commands have been executed when it is answered.
        self.assertEqual(self.faces(daemon), before)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
            own.connect(str(daemon.socket))
            own.sendall(create(2000))
            self.assertIn(b"udp4://127.0.0.1:2000", own.recv(9000), "the command itself is good")

    def faces(self, daemon):
        """Remote URIs of faces that commands made."""
        uris = {face["uri"] for face in daemon.status()["faces"]}
        return {uri for uri in uris if uri.startswith("udp4://127.0.0.1:2")}

    def test_one_user_does_not_take_all_connections(self):
        """Another user's program opens more connections than there may be, and uses each."""
        self.need_users()
        daemon = self.start(unix_mode="666")
        script = (
            "import socket\n"
            "held, rejected = [], 0\n"
            "for number in range(1100):\n"
            "    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\n"
            "    try:\n"
            "        one.connect(sys.argv[1])\n"
            "        one.sendall(bytes.fromhex(sys.argv[2]))\n"
            "        held.append(one)\n"
            "    except OSError:\n"
            "        rejected += 1\n"
            "print(len(held), flush=True)\n"
            "sys.stdin.read()\n"
        )
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        script = "import sys\n" + script
        interest = ndn.interest("nowhere", nonce=1, lifetime_ms=1000).hex()
        argv = ["/usr/bin/python3", "-c", script, daemon.socket, interest]
        argv = self.host.command(*become, *argv)
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            self.addCleanup(child.kill)
            self.assertGreater(int(child.stdout.readline()), 300)
            self.assertEqual(self.weir(daemon, "status")[0], 0)
            applications = [f for f in daemon.status()["faces"] if f["uri"].startswith("fd://")]
            # A quarter of 1024, and those that ask.
            self.assertLess(len(applications), 256 + 10)
            child.stdin.close()

    def test_the_socket_may_be_for_a_group(self):
        """With `unix_group` and its default mode, programs of other users cannot even connect."""
        self.need_users()
        daemon = self.start(unix_group=str(os.getgid()))
        mode = daemon.socket.stat()
        self.assertEqual((mode.st_mode & 0o777, mode.st_gid), (0o660, os.getgid()))
        status, said = self.weir(daemon, "status", user=OTHER)
        self.assertNotEqual(status, 0)
        self.assertIn("permission denied", said)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
            own.connect(str(daemon.socket))
        self.assertEqual(self.weir(daemon, "status")[0], 0)


if __name__ == "__main__":
    unittest.main()
