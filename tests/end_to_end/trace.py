"""`weir trace` shows the packets of a running forwarder."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from alone import Alone
from support import children, weir

sys.path.append(str(Path(weir.ROOT) / "tests/interop/wireshark"))
from capture import read  # noqa: E402

FAILED, NOT_FOUND, NO_FORWARDER, FILE = 1, 3, 6, 7
PATIENCE = 60
# A header of Ethernet.
ETHERNET = 14
INTEREST, DATA = 5, 6
# Names that nothing has. A trace that shows one shows every earlier packet.
MARK = "/film/end-"


class Trace(Alone):
    """One daemon with a file, which is fetched during a trace."""

    marks = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        child = cls.daemon.put("/film", cls.sent)
        cls.addClassCleanup(child.kill)

    def trace(self, *options):
        """Begin a trace; the process and the file with its output."""
        out = self.here / "trace.out"
        argv = [str(self.program), "trace", "--socket", str(self.daemon.socket)]
        log = self.daemon.folder / "daemon.log"
        before = log.read_text().count("trace started")
        with open(out, "wb") as target, open(self.here / "trace.err", "wb") as errors:
            child = subprocess.Popen(
                [*argv, *map(str, options)],
                stdout=target,
                stderr=errors,
                stdin=subprocess.DEVNULL,
            )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        children.wait_until(
            lambda: log.read_text().count("trace started") > before, "the trace to begin"
        )
        return child, out

    def fetch(self):
        """Fetch the file."""
        self.daemon.get("/film", self.here / "got").finish(PATIENCE)

    def end(self, child):
        """Interrupt a trace; its standard error."""
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(PATIENCE), 0, (self.here / "trace.err").read_text())
        return (self.here / "trace.err").read_text()

    def mark(self, seen):
        """Ask for a name that is not there, and wait until the trace has its Interest.

        Packets are in the order of the trace, so everything before it is there too.
        """
        self.marks += 1
        name = f"{MARK}{self.marks}"
        last = name.rsplit("/", 1)[1]
        about = ["--socket", self.daemon.socket, "--patience", "100 ms", "-o", self.here / "none"]
        subprocess.run([self.program, "get", name, *about], capture_output=True, check=False)
        children.wait_until(lambda: last in seen(), f"the Interest for {name}", PATIENCE)

    def until_now(self, out):
        """The lines about the file until now."""
        self.mark(out.read_text)
        lines = [line for line in out.read_text().splitlines() if "/film" in line]
        return [line for line in lines if MARK not in line]

    def test_packets_are_shown_with_what_became_of_them(self):
        """A transfer that the content store does not answer, and one that it does."""
        erase = [self.program, "cs", "erase", "/film", "--socket", self.daemon.socket]
        subprocess.run(erase, capture_output=True, check=True)
        child, out = self.trace("--json", "--prefix", "/film")
        self.fetch()
        self.fetch()
        lines = [json.loads(line) for line in self.until_now(out)]
        self.end(child)
        arrived = [line for line in lines if line["direction"] == "in"]
        actions = {(line["type"], line["action"]) for line in arrived}
        self.assertLessEqual(
            {("interest", "forwarded"), ("interest", "hit"), ("data", "forwarded")}, actions
        )
        for line in lines:
            self.assertTrue(line["name"].startswith("/film"), line)
            self.assertLess(abs(line["time_ns"] / 1e9 - time.time()), PATIENCE * 2)
        forwarded = [line for line in arrived if line["action"] == "forwarded"]
        self.assertTrue(all(line["faces"] for line in forwarded))
        reached = {face for line in forwarded for face in line["faces"]}
        sent = {line["face"] for line in lines if line["direction"] == "out"}
        self.assertLessEqual(reached, sent)
        one = [line for line in lines if line["face"] == arrived[0]["face"]]
        self.assertGreater(len(one), 10)

    def test_a_line_is_for_people(self):
        """Time, face, way, type, size, action and name, and nothing after the interrupt."""
        child, out = self.trace()
        self.fetch()
        lines = self.until_now(out)
        self.assertEqual(self.end(child), "")
        self.assertRegex(out.read_text().splitlines()[0], r"\Atime \(UTC\) +face  way  type +bytes")
        shape = r"\A\d\d:\d\d:\d\d\.\d{6} +\d+  (in |out)  (Interest|Data) +\d+  \S.* /film\S*\Z"
        for line in lines:
            self.assertRegex(line, shape)

    def test_a_capture_has_the_packets_whole(self):
        """A file of the user's own, with an interface for each face."""
        pcap = self.here / "trace.pcapng"
        child, out = self.trace("--pcap", pcap, "--prefix", "/film")
        self.fetch()
        self.mark(lambda: pcap.read_bytes().decode("latin-1"))
        said = self.end(child)
        self.assertEqual(out.read_text(), "")
        self.assertEqual(pcap.stat().st_mode & 0o777, 0o600)
        names, packets = read(pcap)
        self.assertIn(f"{len(packets)} packets in {pcap}", said)
        self.assertGreaterEqual(len(names), 2)
        self.assertTrue(all(name.startswith("face ") for name in names))
        last = MARK.rsplit("/", 1)[1].encode()
        kinds = {frame[ETHERNET] for _, _, frame, _ in packets if last not in frame}
        self.assertEqual(kinds, {INTEREST, DATA})
        comments = {comment.split()[0] for *_, comment in packets}
        self.assertLessEqual({"to", "queued"}, comments)
        if subprocess.run([weir.ROOT / "scripts/need", "tshark"], check=False).returncode == 0:
            done = subprocess.run(["tshark", "-r", pcap], capture_output=True, check=True)
            self.assertEqual(len(done.stdout.splitlines()), len(packets))

    def test_a_capture_takes_the_place_of_a_file_that_others_may_read(self):
        """Its rights are not kept, a link is not followed, and a pipe is written to."""
        other, link = self.here / "other", self.here / "link"
        other.write_text("as it was")
        link.symlink_to(other)
        plain = self.here / "plain.pcapng"
        plain.write_text("old")
        plain.chmod(0o644)
        for pcap in (plain, link):
            child, _ = self.trace("--pcap", pcap)
            # The capture is in its place before the first packet of the test.
            children.wait_until(lambda at=pcap: at.read_bytes()[:4] == b"\n\r\r\n", "its header")
            self.end(child)
            self.assertFalse(pcap.is_symlink())
            self.assertEqual(pcap.stat().st_mode & 0o777, 0o600)
        self.assertEqual(other.read_text(), "as it was")
        pipe = self.here / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["head", "-c", "4", pipe], stdout=subprocess.PIPE) as reader:
            child, _ = self.trace("--pcap", pipe)
            self.assertEqual(reader.stdout.read(), b"\n\r\r\n")
        child.kill()
        left = {path.name for path in self.here.iterdir()}
        self.assertLessEqual(left, {"other", "link", plain.name, "pipe", "trace.out", "trace.err"})

    def test_a_trace_that_is_rejected_leaves_a_capture_as_it_is(self):
        """And no file beside it."""
        folder = self.here / "captures"
        folder.mkdir()
        pcap = folder / "trace.pcapng"
        pcap.write_text("the last capture")
        options = ["--prefix", "/film", "--pcap", pcap]
        traces = [self.trace()[0] for _ in range(2)]
        argv = [self.program, "trace", "--socket", self.daemon.socket, *options]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("2 traces of this user are running: end one", done.stderr)
        self.assertEqual(pcap.read_text(), "the last capture")
        self.assertEqual(list(folder.iterdir()), [pcap])
        for child in traces:
            self.end(child)

    def test_the_log_shows_packets_if_it_is_asked(self):
        """Steps of packets are log lines of level `trace`, and drops of level `debug`."""
        about = {"log": "info,net::packets=trace"}
        daemon = weir.Daemon(
            self.program, self.here, "chatty", listen={"udp": "off", "tcp": "off"}, about=about
        )
        with daemon:
            daemon.status()
            log = (self.here / "chatty.log").read_text()
        self.assertIn("TRACE net::packets: packet face=", log)
        self.assertIn("/localhost/weir/counters", log)
        self.assertNotIn("net::packets", (self.daemon.folder / "daemon.log").read_text())

    def test_the_log_shows_the_steps_of_packets_if_it_is_asked(self):
        """Each step of a journey is a log line of level `trace`, in the journey's order."""
        about = {"log": "info,net::steps=trace"}
        daemon = weir.Daemon(
            self.program, self.here, "steps", listen={"udp": "off", "tcp": "off"}, about=about
        )
        with daemon:
            daemon.status()
            lines = (self.here / "steps.log").read_text().splitlines()
        steps = [line for line in lines if "TRACE net::steps: step " in line]
        words = [re.search(r'step="([a-z-]+)"', line).group(1) for line in steps]
        first = words[: words.index("handled") + 1]
        self.assertEqual(first[:3], ["arrived", "checked", "admitted"])
        self.assertIn("/localhost/weir/", steps[0])
        self.assertEqual(first[-3:], ["released", "queued", "handled"])

    def test_errors_say_what_to_do(self):
        """No forwarder, no such face, no place for the capture, and a disk that is full."""
        socket = str(self.daemon.socket)
        for options, status, said in [
            (["--socket", self.here / "none.sock"], NO_FORWARDER, "no forwarder at"),
            (["--socket", socket, "--face", "99"], NOT_FOUND, "has no face 99; `weir face list`"),
            (["--socket", socket, "--pcap", self.here / "no/pcap"], FILE, "directory; choose"),
        ]:
            argv = [self.program, "trace", *options]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
            self.assertIn(said, done.stderr)
        child, _ = self.trace("--pcap", "/dev/full")
        self.fetch()
        self.assertEqual(child.wait(PATIENCE), FILE)
        self.assertIn("make room", (self.here / "trace.err").read_text())

    def test_a_trace_ends_with_the_forwarder(self):
        """The reader says so instead of waiting."""
        daemon = weir.Daemon(self.program, self.here, "brief", listen={"udp": "off", "tcp": "off"})
        with daemon:
            argv = [self.program, "trace", "--socket", daemon.socket]
            child = subprocess.Popen(
                argv, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
            )
            log = self.here / "brief.log"
            children.wait_until(lambda: "trace started" in log.read_text(), "it")
        _, said = child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, NO_FORWARDER)
        self.assertIn("closed the connection", said)


if __name__ == "__main__":
    unittest.main()
