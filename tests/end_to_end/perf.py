"""`weir perf`: content made on demand, measured by any scheme, under attack and after restarts."""

import contextlib
import hashlib
import json
import signal
import socket
import struct
import subprocess
import threading
import unittest

from alone import ALONE
from support import ndn, weir
from support.children import wait_until
from tools import FAILED, INTERRUPTED, NOT_FOUND, NOT_VERIFIED, PATIENCE, USAGE, Tools

MEGABYTE = 1_000_000
RUN = "0123456789abcdef"
# Types of components.
KEYWORD, VERSION, SEGMENT = 32, 54, 50


def components(*parts):
    """A name: text is a generic component, a pair has its type."""
    pairs = (part if isinstance(part, tuple) else (8, part) for part in parts)
    return ndn.tlv(7, b"".join(ndn.tlv(kind, value) for kind, value in pairs))


def interest(name, nonce):
    """An Interest for exactly this name."""
    return ndn.tlv(5, name + ndn.tlv(0x0A, struct.pack(">I", nonce)))


class Perf(Tools):
    """A server and clients of one daemon."""

    def spawn(self, *arguments, socket_path=None):
        """A program that runs until the test ends, and its log."""
        log = self.here / f"{arguments[1]}.log"
        forwarder = socket_path or self.daemon.socket
        with open(log, "wb") as target:
            child = subprocess.Popen(
                [str(self.program), *map(str, arguments), "--socket", str(forwarder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=target,
                cwd=self.here,
            )
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child, log

    def serve(self, name, *options, socket_path=None):
        """A server that has registered its name."""
        child, log = self.spawn("perf", "server", name, *options, socket_path=socket_path)
        if "--json" in options:
            began = json.loads(child.stdout.readline())
            self.assertEqual(began, {"serving": f"{name}/32=perf"})
        else:
            wait_until(lambda: "serving" in log.read_text(encoding="utf-8"), "the server")
        return child

    def end(self, server):
        """Interrupt the server, and return its output."""
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=PATIENCE)
        self.assertEqual(server.returncode, 0)
        return said.decode()

    def client(self, name, *options):
        """Run a client to its end."""
        return self.run_weir(*self.on_daemon("perf", "client", name, *options))

    def measure(self, name, *options):
        """The report of a client that succeeds."""
        done = self.client(name, *options, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_sums(self, report):
        """The intervals follow each other without gaps, and their counts have the right sums."""
        parts = report["intervals"]
        self.assertEqual([parts[0]["begin_s"], parts[-1]["end_s"]], [0, report["end_s"]])
        ends = [part["end_s"] for part in parts]
        self.assertEqual([part["begin_s"] for part in parts[1:]], ends[:-1])
        for counted in ("bytes", "interests", "data", "timeouts", "gaps", "nacks", "marks"):
            for split in (parts, report["flows"]):
                self.assertEqual(sum(part[counted] for part in split), report[counted], counted)

    def test_two_schemes(self):
        """All bytes arrive, verified, under a scheme with a window and one with a rate."""
        self.serve("/perf/two")
        for scheme, law in (("cubic", "window"), ("bbr", "rate_mbps")):
            with self.subTest(scheme=scheme):
                options = ("--bytes", "3000001 B", "--interval", "2 ms", "--control", scheme)
                report = self.measure("/perf/two", *options)
                self.assertEqual((report["control"], report["bytes"]), (scheme, 3_000_001))
                self.assertEqual((report["interrupted"], report["error"]), (False, None))
                self.assert_sums(report)
                # 375 segments of 8 kB, one of 1 byte, and the metadata.
                self.assertEqual((report["segment_size"], report["data"]), (8000, 377))
                self.assertGreaterEqual(report["interests"], report["data"])
                self.assertGreater(report["received_bytes"], report["bytes"])
                self.assertIsNotNone(report[law])
                self.assertLessEqual(report["rtt_min_ms"], report["rtt_mean_ms"])
                self.assert_documented("weir perf client", report)

    def test_parallel_flows_have_their_own_names(self):
        """Each flow gets all its bytes. Together they are the sum."""
        server = self.serve("/perf/flows", "--json")
        report = self.measure("/perf/flows", "-n", "1 MB", "-P", "3", "--segment-size", "1 kB")
        self.assertEqual([flow["bytes"] for flow in report["flows"]], 3 * [MEGABYTE])
        self.assert_sums(report)
        # The last flow ends the run. Each has a rate over its own time.
        ends = [flow["end_s"] for flow in report["flows"]]
        self.assertLessEqual(max(ends), report["end_s"])
        rates = [flow["bytes"] / flow["end_s"] for flow in report["flows"]]
        jain = sum(rates) ** 2 / (3 * sum(rate * rate for rate in rates))
        self.assertAlmostEqual(report["fairness"], jain, places=4)
        counts = json.loads(self.end(server))
        self.assert_documented("weir perf server", counts)
        self.assertGreaterEqual(counts["content_bytes"], 3 * MEGABYTE)
        self.assertEqual((counts["refused"], counts["malformed"]), (0, 0))

    def test_a_time_ends_a_run(self):
        """The run lasts at least as long, and the rate is that of the content."""
        self.serve("/perf/time")
        report = self.measure("/perf/time", "--time", "300 ms", "--interval", "100 ms")
        self.assertGreaterEqual(report["end_s"], 0.3)
        self.assertGreaterEqual(len(report["intervals"]), 3)
        self.assertGreater(report["bytes"], 0)
        rate = report["bytes"] * 8 / report["end_s"] / 1e6
        self.assertAlmostEqual(report["goodput_mbps"], rate, delta=rate / 1000)

    def test_a_run_of_its_own_passes_by_the_content_store(self):
        """A new run is answered by the server; the same run again by the content store."""
        server = self.serve("/perf/store", "--json")
        options = ("--bytes", "800 kB", "--run", RUN)
        first = self.measure("/perf/store", *options)
        self.assertEqual((first["run"], first["data"]), (RUN, 101))
        self.assertEqual(self.measure("/perf/store", *options)["bytes"], 800_000)
        others = {self.measure("/perf/store", *options[:2])["run"] for _ in range(2)}
        self.assertEqual(len(others | {RUN}), 3)
        counts = json.loads(self.end(server))
        # Packets may be requested again, but the second run was not: three times, not four.
        self.assertEqual(counts["content_bytes"] // 800_000, 3)

    def test_a_key_signs_and_trust_decides(self):
        """Data by a key are accepted with its certificate, and not with another."""
        own = self.new_key("/perf/key").rename(self.here / "own")
        other = self.new_key("/perf/other").rename(self.here / "other")
        self.serve("/perf/key", "--sign", "/perf/key")
        bytes_ = ("--bytes", "40 kB", "--trust")
        self.assertEqual(self.measure("/perf/key", *bytes_, own)["bytes"], 40_000)
        rejected = self.client("/perf/key", *bytes_, other)
        self.assertEqual((rejected.returncode, rejected.stdout), (NOT_VERIFIED, ""))

    def test_ctrl_c_prints_what_was_measured(self):
        """Lines with columns, then the summary; as JSON, the same sums as of a whole run."""
        self.serve("/perf/interrupted")
        long = ("perf", "client", "/perf/interrupted", "--time", "1 h", "--interval", "20 ms")
        child, _ = self.spawn(*long)
        lines = [child.stdout.readline().decode() for _ in range(4)]
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, INTERRUPTED)
        self.assertRegex(lines[0], r"\A +s +Mbit/s +window .* again\n\Z")
        for line in lines[1:]:
            self.assertRegex(line, r"\A +\d+\.\d\d( +[\d.]+| +-){9}\n\Z")
        rest = rest.decode().splitlines()
        self.assertRegex(rest[-5], r"\A\w+: .*B of content in .*bit/s\Z")
        self.assertRegex(rest[-4], r"\A\d+ Interests in .*, \d+ Data packets in .*B\Z")
        self.assertRegex(rest[-1], r"\Aprocessor: ")
        before = self.stored()
        child, _ = self.spawn(*long, "--json")
        wait_until(lambda: self.stored() > before + 100, "Data of the run")
        child.send_signal(signal.SIGINT)
        report = json.loads(child.communicate(timeout=PATIENCE)[0])
        self.assertEqual((child.returncode, report["interrupted"]), (INTERRUPTED, True))
        self.assert_sums(report)

    def test_a_server_survives_its_forwarder(self):
        """It registers again, and clients are answered as before."""
        daemon = weir.Daemon(self.program, self.here, "restarted", listen=ALONE)
        daemon.start()
        self.serve("/perf/again", socket_path=daemon.socket)
        client = ("perf", "client", "/perf/again", "-n", "80 kB", "--socket", daemon.socket)
        self.assertEqual(self.run_weir(*client).returncode, 0)
        daemon.process.kill()
        daemon.start()
        self.addCleanup(daemon.process.kill)
        log = self.here / "server.log"
        wait_until(lambda: "is back" in log.read_text(encoding="utf-8"), "the server's return")
        self.assertEqual(self.run_weir(*client).returncode, 0)

    def test_nothing_is_left_behind(self):
        """The route of a server ends with it, and it makes no file."""
        before = {path.name for path in self.here.iterdir()}
        server = self.serve("/perf/left")
        route = "/perf/left/32=perf"
        routes = self.on_daemon("route", "list")
        self.assertIn(route, self.run_weir(*routes).stdout)
        self.assertEqual(self.client("/perf/left", "-n", "1 MB").returncode, 0)
        self.assertIn("Data packets with 1.00 MB of content", self.end(server))
        self.assertNotIn(route, self.run_weir(*routes).stdout)
        self.assertEqual({path.name for path in self.here.iterdir()} - before, {"server.log"})
        done = self.client("/perf/left", "--time", "1 s", "--json")
        self.assertEqual((done.returncode, done.stdout), (NOT_FOUND, ""))
        self.assertIn("no route leads to", done.stderr)

    def test_bad_input_has_a_message(self):
        """Sizes that no packet has, no bytes, no such scheme; no server."""
        client = self.on_daemon("perf", "client", "/perf/bad")
        self.rejected(USAGE, ["9.00 kB", "--segment-size"], *client, "--segment-size", "9 kB")
        self.rejected(USAGE, ["0 bytes", "--bytes"], *client, "--bytes", "0 B")
        self.rejected(USAGE, ["no-scheme"], *client, "--control", "no-scheme")
        self.rejected(NOT_FOUND, ["weir perf server"], *client, "--time", "1 s")
        both = self.run_weir(*client, "--time", "1 s", "--bytes", "1 MB")
        self.assertEqual(both.returncode, USAGE)
        self.assertEqual(self.run_weir(*client, "--run", RUN.upper()).returncode, USAGE)

    def test_hostile_clients(self):
        """Names that mean nothing are answered by Nacks, and others are served meanwhile."""
        server = self.serve("/perf/hostile", "--json")
        prefix = (b"perf", b"hostile", (KEYWORD, b"perf"))
        run = (RUN.encode(), b"8000", b"8000")
        one, first = (VERSION, b"\x01"), (SEGMENT, b"\x00")
        names = [
            (*prefix,),
            (*prefix, *run),
            (*prefix, *run, one, (SEGMENT, b"\x01")),
            (*prefix, *run, one, (SEGMENT, 8 * b"\xff")),
            (*prefix, *run, one, (SEGMENT, b"\x00\x00\x00")),
            (*prefix, *run, (VERSION, b"\x02"), first),
            (*prefix, b"\xff" * 16, b"8000", b"8000", one, first),
            (*prefix, RUN.encode(), b"0", b"8000", one, first),
            (*prefix, RUN.encode(), b"8000", b"0", one, first),
            (*prefix, RUN.encode(), b"8800", b"8800", one, first),
            (*prefix, RUN.encode(), b"9" * 100, b"8000", one, first),
            (*prefix, *run, *((b"x",) * 20)),
            (*prefix, b"x" * 8000),
        ]
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attacker:
            attacker.connect(str(self.daemon.socket))
            attacker.settimeout(PATIENCE)
            for number, name in enumerate(names):
                attacker.sendall(interest(components(*name), number))
            report = self.measure("/perf/hostile", "--bytes", "1 MB")
            self.assertEqual(report["bytes"], MEGABYTE)
            attacker.sendall(interest(components(*prefix, *run, one, first), 99))
            got = b""
            # The last one is right, and has 8 kB.
            while len(got) < 8000:
                got += attacker.recv(65536)
        self.assertIsNone(server.poll())
        counts = json.loads(self.end(server))
        self.assertEqual(counts["refused"], len(names))

    def test_hostile_servers(self):
        """Whatever answers, the client ends with a message and reports no content."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.bind(("127.0.0.1", 0))
            port = peer.getsockname()[1]
            daemon = weir.Daemon(
                self.program,
                self.here,
                "attacked",
                faces=[("bad", f"udp4://127.0.0.1:{port}")],
                routes=[("/bad", "bad")],
                listen={**ALONE, "udp": "127.0.0.1:0"},
            )
            with daemon:
                for answer in (garbage, wrong_signature, wrong_content, nack_data, no_content):
                    with self.subTest(answer=answer.__name__), answering(peer, answer):
                        done = self.run_weir(
                            *("perf", "client", "/bad", "--time", "2 s", "--patience", "500 ms"),
                            *("--socket", daemon.socket, "--json"),
                        )
                        self.assertIn(done.returncode, (FAILED, NOT_FOUND, NOT_VERIFIED))
                        self.assertEqual(done.stdout, "")
                        self.assert_message(done.stderr, ["/bad"])
                # Nothing answers, and the time is over before the patience.
                brief = ("--time", "300 ms", "--socket", daemon.socket)
                self.rejected(NOT_FOUND, ["nothing of /bad"], "perf", "client", "/bad", *brief)

    def stored(self):
        """The number of Data packets that the content store has ever taken."""
        return self.daemon.status()["content_store"]["inserted"]


def data(name, content, meta=b""):
    """A Data packet whose digest is wrong."""
    signature = ndn.tlv(0x16, ndn.tlv(0x1B, b"\x00")) + ndn.tlv(0x17, bytes(32))
    return ndn.tlv(6, name + meta + ndn.tlv(0x15, content) + signature)


def garbage(_name):
    """No packet at all."""
    return b"\x06\x03abc"


def wrong_signature(name):
    """Data with the right name and a digest of something else."""
    return data(name, name)


def wrong_content(name):
    """Data by a digest, with content that is no metadata."""
    return signed(name, b"\x07\xfd\xff\xff")


def nack_data(name):
    """Data of the type Nack."""
    return signed(name, b"", ndn.tlv(0x14, ndn.tlv(0x18, b"\x03")))


def no_content(name):
    """Metadata as they should be, and segments without content."""
    root = ndn.tlv(KEYWORD, b"manifest") + ndn.tlv(KEYWORD, b"root")
    if not name.endswith(root):
        return signed(name, b"")
    run = ndn.tlv(7, name[2 : -len(root)])
    final = ndn.tlv(0x1A, ndn.tlv(SEGMENT, b"\xff"))
    return signed(name, run + final + ndn.tlv(0xF500, b"\x1f\x40"))


def signed(name, content, meta=b""):
    """A Data packet with its digest."""
    portion = name + meta + ndn.tlv(0x15, content) + ndn.tlv(0x16, ndn.tlv(0x1B, b"\x00"))
    return ndn.tlv(6, portion + ndn.tlv(0x17, hashlib.sha256(portion).digest()))


@contextlib.contextmanager
def answering(peer, answer):
    """A thread that answers each Interest that arrives at a UDP socket."""
    ends = threading.Event()
    peer.settimeout(0.05)

    def loop():
        while not ends.is_set():
            with contextlib.suppress(TimeoutError):
                frame, address = peer.recvfrom(65536)
                if name := name_in(frame):
                    peer.sendto(answer(name), address)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def name_in(frame):
    """The name of the Interest in a link frame, as it is on the wire."""
    at = frame.find(b"\x07", frame.find(b"\x05"))
    if at < 0:
        return None
    length, begin = frame[at + 1], at + 2
    if length == 253:
        length, begin = int.from_bytes(frame[at + 2 : at + 4], "big"), at + 4
    return frame[at : begin + length]


if __name__ == "__main__":
    unittest.main()
