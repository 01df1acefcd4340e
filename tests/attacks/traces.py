"""Attacks with `weir trace`: it shows other people's packets, and costs the daemon work."""

import contextlib
import json
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from _commands import component, new_interest, now_ms
from support import children, content, namespaces, ndn, weir

PATIENCE = 60
PORT = 6415
# A user without special rights.
OTHER = 65534
SIZE = 20 * content.MEGABYTE


def start_command(nonce, scope=b"localhost"):
    """An Interest that starts a trace, signed by digest, which needs no key."""
    words = [scope, b"weir", b"trace", b"start", ndn.tlv(0x68, b"")]
    nonce = nonce.to_bytes(4, "big")
    return new_interest(b"".join(map(component, words)), now_ms(), nonce, nonce)


class Traces(unittest.TestCase):
    """One daemon in a namespace of its own, which other users and peers may use."""

    def setUp(self):
        stack = self.enterContext(contextlib.ExitStack())
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        self.folder.chmod(0o755)
        network = stack.enter_context(namespaces.Network())
        self.host = network.host("only")
        listen = {"udp": f"0.0.0.0:{PORT}", "tcp": f"0.0.0.0:{PORT}", "unix_mode": "666"}
        daemon = weir.Daemon(weir.program(), self.folder, "daemon", self.host, listen=listen)
        self.daemon = stack.enter_context(daemon)
        self.stack = stack

    def need_users(self):
        """Skip where this process may not become another user, or he may not run the program."""
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        probe = [*become, str(weir.program()), "--version"]
        if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            self.skipTest("this system lets us run nothing as another user")

    def trace(self, *options, out=subprocess.DEVNULL):
        """Begin a trace as the daemon's own user."""
        log = self.folder / "daemon.log"
        before = log.read_text().count("trace started")
        argv = self.daemon.command(self.daemon.weir, "trace", "--socket", self.daemon.socket)
        child = subprocess.Popen(
            [*argv, *options], stdout=out, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        children.wait_until(
            lambda: log.read_text().count("trace started") > before, "the trace to begin"
        )
        return child

    def test_another_user_cannot_trace(self):
        """A program of another user is rejected, on the Unix socket and over TCP and UDP."""
        self.need_users()
        become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
        addresses = [self.daemon.socket, f"tcp4://127.0.0.1:{PORT}", f"udp4://127.0.0.1:{PORT}"]
        for address in addresses:
            argv = [*become, self.daemon.weir, "trace", "--socket", address]
            done = subprocess.run(
                self.daemon.command(*argv), capture_output=True, text=True, timeout=PATIENCE
            )
            self.assertNotEqual(done.returncode, 0, address)
            self.assertEqual(done.stdout, "", address)
        self.assertNotIn("trace started", (self.folder / "daemon.log").read_text())

    def test_a_peer_cannot_trace(self):
        """Commands of remote peers, in both scopes, start nothing."""
        script = (
            "import socket, sys\n"
            f"one = socket.create_connection((sys.argv[1], {PORT}))\n"
            "one.settimeout(2)\n"
            "for frame in sys.argv[2:]:\n"
            "    one.sendall(bytes.fromhex(frame))\n"
            "try:\n"
            "    print(one.recv(9000).hex())\n"
            "except TimeoutError:\n"
            "    print('silent')\n"
        )
        # An address of this host that is none of its loopback stands for a peer.
        add = self.host.command("ip", "addr", "add", "192.0.2.1/32", "dev", "lo")
        subprocess.run(add, check=True)
        frames = [start_command(1).hex(), start_command(2, b"localhop").hex()]
        argv = self.host.command("python3", "-c", script, "192.0.2.1", *frames)
        subprocess.run(argv, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
        self.assertNotIn("trace started", (self.folder / "daemon.log").read_text())

    def test_the_stream_of_another_is_not_readable(self):
        """Another application that guesses names of streams gets nothing but rejections."""
        self.trace("--json")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
            own.connect(str(self.daemon.socket))
            own.settimeout(PATIENCE)
            name = b"".join(map(component, [b"localhost", b"weir", b"trace", bytes(16)]))
            name += ndn.tlv(58, b"\0")
            own.sendall(ndn.tlv(5, ndn.tlv(7, name) + ndn.tlv(10, b"abcd")))
            self.assertIn(b"the trace has ended", own.recv(9000))

    def test_a_stopped_trace_reader_does_not_affect_transfers(self):
        """A stopped reader: memory is bounded, transfers go on, another reader misses nothing."""
        file = content.make(self.folder / "file", SIZE)
        self.stack.callback(self.daemon.put("/f", file).kill)
        quick = self.daemon.get("/f", self.folder / "warm").finish(PATIENCE).summary
        before = children.memory_bytes(self.daemon.process.pid, "VmRSS")
        slow = self.trace("--pcap", self.folder / "slow.pcapng")
        slow.send_signal(signal.SIGSTOP)
        out = self.folder / "lines"
        with open(out, "wb") as target:
            reader = self.trace("--json", "--prefix", "/f", out=target)
        begun = time.monotonic()
        for number in range(3):
            self.daemon.get("/f", self.folder / f"got{number}").finish(PATIENCE)
        taken = (time.monotonic() - begun) / 3
        grown = children.memory_bytes(self.daemon.process.pid, "VmRSS") - before
        children.wait_until(lambda: out.read_bytes().count(b"\n") > 1000, "1000 lines of the trace")
        reader.send_signal(signal.SIGINT)
        reader.wait(PATIENCE)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        before = f"{quick['duration_s']:.2f} s before"
        print(f"{taken:.2f} s each beside a stopped reader, {before}; {grown} bytes more")
        self.assertLess(grown, 16_000_000)
        self.assertGreater(len(lines), 1000)
        slow.send_signal(signal.SIGCONT)
        slow.send_signal(signal.SIGINT)
        _, said = slow.communicate(timeout=PATIENCE)
        self.assertEqual(slow.returncode, 0, said)

    def test_a_trace_goes_with_its_reader(self):
        """A reader that is killed leaves nothing behind, and a user has two at a time."""
        log = self.folder / "daemon.log"
        running = [self.trace() for _ in range(2)]
        argv = self.daemon.command(self.daemon.weir, "trace", "--socket", self.daemon.socket)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("503 2 traces of this user are running", done.stderr)
        for child in running:
            child.kill()
        children.wait_until(lambda: log.read_text().count("trace ended") == 2, "both to end")
        self.trace()


if __name__ == "__main__":
    unittest.main()
