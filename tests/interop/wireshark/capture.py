"""The files of `weir sim run --pcap --events`."""

import json
import struct
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import weir

SCENARIO = weir.ROOT / "scenarios/tutorial/three-hops.toml"
SETTINGS = ["--set", "link.near-far.loss=1 %", "--set", "content.size=300 kB"]
NDN = 0x8624
USAGE = 2


def blocks(data):
    """Yield type and body of each block of a little-endian pcapng file."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def options(body):
    """Return the options of a block by their code."""
    found, at = {}, 0
    while at + 4 <= len(body):
        code, length = struct.unpack_from("<HH", body, at)
        if code == 0:
            break
        found[code] = body[at + 4 : at + 4 + length]
        at += 4 + length + (-length % 4)
    return found


def read(path):
    """Return the names of the interfaces, and of each packet interface, time, frame, comment."""
    names, packets = [], []
    for kind, body in blocks(path.read_bytes()):
        if kind == 1:
            assert struct.unpack_from("<H", body) == (1,), "Ethernet"
            about = options(body[8:])
            assert about[9] == b"\x09", "nanoseconds"
            names.append(about[2].decode())
        elif kind == 6:
            interface, high, low, length, _ = struct.unpack_from("<IIIII", body)
            comment = options(body[20 + length + (-length % 4) :]).get(1, b"").decode()
            packets.append((interface, high << 32 | low, body[20 : 20 + length], comment))
    return names, packets


class Capture(unittest.TestCase):
    """A run with losses, and everything that it wrote."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.program = weir.program()
        cls.pcap, cls.log = cls.folder / "run.pcapng", cls.folder / "run.jsonl"
        run = cls.run_weir("--json", "--pcap", cls.pcap, "--events", cls.log)
        cls.result = json.loads(run.stdout)
        cls.lines = [json.loads(line) for line in cls.log.read_text().splitlines()]

    @classmethod
    def run_weir(cls, *arguments, status=0):
        """Run the scenario."""
        command = [cls.program, "sim", "run", SCENARIO, *SETTINGS, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done

    def counted(self, event, kind=None):
        """Count lines by direction."""
        meant = (x for x in self.lines if x["event"] == event and kind in (None, x.get("kind")))
        return Counter((x["from"], x["to"]) for x in meant if "from" in x)

    def test_every_packet_is_in_the_capture(self):
        """As many frames a direction as the result counts, each with NDN's Ethernet type."""
        names, packets = read(self.pcap)
        counted = Counter(names[interface] for interface, *_ in packets)
        for link in self.result["links"]:
            sent = link["interests"] + link["data"] + link["nacks"]
            self.assertEqual(counted[f"{link['from']}>{link['to']}"], sent)
        times = [at for _, at, *_ in packets]
        self.assertEqual(times, sorted(times))
        for _, _, frame, _ in packets:
            self.assertEqual(struct.unpack_from(">H", frame, 12), (NDN,))
            self.assertIn(frame[14], (0x05, 0x06, 0x64), "Interest, Data or NDNLPv2")
        lost = sum(comment.startswith("does not arrive") for *_, comment in packets)
        self.assertEqual(lost, sum(self.counted("lost").values()))
        self.assertGreater(lost, 0)

    def test_tshark_reads_the_same(self):
        """Wireshark's reader finds interfaces, times to the nanosecond and the frames."""
        fields = ["frame.interface_name", "frame.time_epoch", "eth.type", "frame.len"]
        command = ["tshark", "-r", self.pcap, "-T", "fields"]
        for field in fields:
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        names, packets = read(self.pcap)
        self.assertEqual(len(rows), len(packets))
        for row, (interface, at, frame, _) in zip(rows, packets):
            seconds, nanoseconds = row[1].split(".")
            self.assertEqual(row[0], names[interface])
            self.assertEqual(int(seconds) * 10**9 + int(nanoseconds), at)
            self.assertEqual(int(row[2], 16), NDN)
            self.assertEqual(int(row[3]), len(frame))
        done = subprocess.run(
            ["tshark", "-r", self.pcap, "-Y", 'frame.comment contains "lost on the link"'],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertGreater(len(done.stdout.splitlines()), 0, "comments are found")

    def test_events_account_for_every_packet(self):
        """Queued packets were sent or wait; sent ones arrived, were lost or are in transit."""
        sent, received = self.counted("sent"), self.counted("received")
        lost, queued = self.counted("lost"), self.counted("enqueued")
        for link in self.result["links"]:
            ends = (link["from"], link["to"])
            self.assertEqual(sent[ends], received[ends] + lost[ends])
            self.assertEqual(queued[ends], sent[ends])
            self.assertEqual(self.counted("sent", "data")[ends], link["data"])
        times = [line["t_ns"] for line in self.lines]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.lines[0]["event"], "run")
        flows = [line for line in self.lines if line["event"].startswith("flow")]
        self.assertEqual([line["event"] for line in flows], ["flow-start", "flow-end"])
        self.assertEqual(flows[1]["bytes"], self.result["flows"][0]["bytes"])
        self.assertTrue(flows[1]["complete"])

    def test_places_and_events_are_chosen(self):
        """One link and two kinds of events give those alone."""
        pcap, log = self.folder / "one.pcapng", self.folder / "one.jsonl"
        chosen = ["--trace-at", "far-near", "--events-of", "lost,flow-end"]
        self.run_weir("-q", "--pcap", pcap, "--events", log, *chosen)
        names, packets = read(pcap)
        self.assertEqual(names, ["near>far", "far>near"])
        self.assertEqual({interface for interface, *_ in packets}, {0, 1})
        events = {json.loads(line)["event"] for line in log.read_text().splitlines()}
        self.assertEqual(events, {"run", "lost"}, "no flow is on that link")

    def test_each_run_of_a_sweep_has_its_own(self):
        """Files are numbered as the runs are."""
        pcap = self.folder / "sweep.pcapng"
        text = SCENARIO.read_text() + "\n[sweep]\nrepetitions = 2\n"
        sweep = self.folder / "sweep.toml"
        sweep.write_text(text)
        command = [self.program, "sim", "run", "-q", sweep, *SETTINGS, "--pcap", pcap]
        subprocess.run(command, check=True)
        written = sorted(path.name for path in self.folder.glob("sweep*.pcapng"))
        self.assertEqual(written, ["sweep-0.pcapng", "sweep-1.pcapng"])
        self.assertTrue(all(read(self.folder / name)[1] for name in written))

    def test_invalid_options_are_rejected_before_the_run(self):
        """The nearest word, and no file."""
        pcap = self.folder / "none.pcapng"
        for wrong, said in [
            (["--pcap", pcap, "--trace-at", "nera"], "did you mean `near`?"),
            (["--events", pcap, "--events-of", "drop"], "there is no event `drop`"),
            (["--events-of", "dropped"], "--events-of needs --events"),
        ]:
            done = self.run_weir(*wrong, status=USAGE)
            self.assertIn(said, done.stderr)
            self.assertFalse(pcap.exists())
        done = self.run_weir("--pcap", self.folder / "no/such/folder", status=7)
        self.assertIn("cannot write the trace", done.stderr)


if __name__ == "__main__":
    unittest.main()
