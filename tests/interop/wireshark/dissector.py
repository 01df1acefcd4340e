"""The Lua dissector, on the reference's examples, on hostile bytes, on simulator and daemon."""

import contextlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from support import content, weir
from support.children import wait_until
from support.namespaces import Network, ensure_rights

HERE = Path(__file__).resolve().parent
SCRIPT = weir.ROOT / "scripts/wireshark/weir.lua"
REFERENCE = weir.ROOT / "docs/reference/wire.md"
SCENARIO = weir.ROOT / "scenarios/tutorial/three-hops.toml"
NDN = 0x8624
TYPES = [*range(864, 929, 4), 940]

# The meaning of the reference's examples, in their order.
MEANING = [
    {"range.count": "32", "range.wanted": "all"},
    {"range.count": "12", "range.wanted": "0,3,11"},
    {"class": "1"},
    {"rate.primary": "10000000", "rate.secondary": "2500000"},
    {"path_id": "0x0123456789abcdef"},
    {"label.mode": "fallback", "label.hops": "2", "label.labels": "0xabc,0x123"},
    {"hint.kind": "2", "hint.bytes": "c0ffee01"},
    {
        "anticipated.wanted": "1000,1001,1003",
        "anticipated.node": "0x0000000000000007",
        "anticipated.held": "1001,1003",
        "anticipated.hops": "1",
        "anticipated.elapsed": "5000000",
    },
    {"served.asked": "1"},
    {"served.node": "0x0000000000000007", "served.hops": "2"},
    {"expected": "8300"},
    {"rtt": "60000000"},
    {"capability": "0x0000000000000003", "capability.range": "1", "capability.options": "1"},
    {"caches.below": "2", "caches.capacity": "200"},
    {"caches.passed": "1"},
    {
        "capability": "0x0000000000000003",
        "capability.range": "1",
        "capability.options": "1",
        "address.echo": "0x0000000000000000",
    },
    {
        "capability": "0x0000000000000002",
        "capability.range": "0",
        "capability.options": "1",
        "address.challenge": "0x0123456789abcdef",
    },
    {"offers": "8388608 of 0xbeef, 67108864 of 0x0001"},
    {"rtt_spread": "590000000"},
    {"residence_time": "7000"},
    {"exclude": "0101010101010101;0202020202020202"},
]


def element(typ, value):
    """Encode an element."""
    numbers = b""
    for number in (typ, len(value)):
        short = number < 253
        numbers += bytes([number]) if short else b"\xfd" + struct.pack(">H", number)
    return numbers + value


INTEREST = element(5, element(7, element(8, b"a") + element(0x32, b"\5")) + element(10, b"\1" * 4))


def write_pcap(path, packets):
    """Write link packets as Ethernet frames of NDN's type."""
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for packet in packets:
        frame = b"\x01\x00\x5e\x00\x17\xaa" + b"\x02" + b"\x00" * 5 + struct.pack(">H", NDN)
        frame += packet
        out.append(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    path.write_bytes(b"".join(out))


def examples():
    """Return the examples of the reference: headers, or a whole packet."""
    rows = re.findall(r"^\| \w+(?::[^|]*)? \| `([0-9a-f ]+)` \|$", REFERENCE.read_text(), re.M)
    found = [bytes.fromhex(row.replace(" ", "")) for row in rows]
    assert len(found) == len(MEANING), f"{len(found)} examples"
    return found


def tshark(path, *names):
    """Return for each packet its fields of the dissector by name; several values in a list."""
    command = ["tshark", "-X", f"lua_script:{SCRIPT}", "-r", path, "-T", "fields"]
    command += ["-E", "separator=/t", "-E", "aggregator=;"]
    for name in names:
        command += ["-e", f"weir.{name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua" not in done.stderr, done.stderr
    return [dict(zip(names, line.split("\t"))) for line in done.stdout.splitlines()]


def errors(path):
    """Return what Wireshark says of the script's own mistakes while it shows every packet."""
    command = ["tshark", "-X", f"lua_script:{SCRIPT}", "-r", path, "-V"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines() + done.stderr.splitlines()
    return [line for line in lines if "Lua Error" in line or "stack traceback" in line]


class Dissector(unittest.TestCase):
    """The output of the plugin."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def simulate(self, scheme, *arguments):
        """Capture a run under a scheme as a whole."""
        pcap, scenario = self.folder / f"{scheme}.pcapng", self.folder / f"{scheme}.toml"
        text = SCENARIO.read_text().replace('control = "cubic"\n', "")
        scenario.write_text(text.replace("[scenario]", f'[scenario]\nscheme = "{scheme}"'))
        command = [weir.program(), "sim", "run", "-q", scenario, "--pcap", pcap, *arguments]
        subprocess.run(command, check=True)
        self.assertEqual(errors(pcap), [])
        return pcap

    def test_the_examples_of_the_reference(self):
        """Each option's fields have the values that the reference works out."""
        whole = [
            one if one[0] == 0x64 else element(0x64, one + element(0x50, INTEREST))
            for one in examples()
        ]
        pcap = self.folder / "examples.pcap"
        write_pcap(pcap, whole)
        names = sorted({name for meaning in MEANING for name in meaning})
        rows = tshark(pcap, "type", "name", "malformed", *names)
        self.assertEqual(len(rows), len(MEANING))
        for row, meaning, packet in zip(rows, MEANING, whole):
            idle = INTEREST not in packet
            self.assertEqual(row.pop("type"), "IDLE" if idle else "Interest")
            self.assertEqual(row.pop("name"), "" if idle else "/a/seg=5")
            self.assertEqual(row.pop("malformed"), "")
            self.assertEqual({k: v for k, v in row.items() if v}, meaning)

    def test_invalid_options_are_shown_as_malformed(self):
        """Every option cut short, and of nonsense; the packet behind it is read all the same."""
        values = [b"", b"\x03", b"\xff" * 9, b"\x00" * 70, b"\xfe\x01", b"\x02\xff\xff\xff\xff"]
        options = [element(typ, value) for typ in TYPES for value in values]
        pcap = self.folder / "hostile.pcap"
        write_pcap(pcap, [element(0x64, one + element(0x50, INTEREST)) for one in options])
        self.assertEqual(errors(pcap), [])
        rows = tshark(pcap, "name", "malformed")
        self.assertEqual(len(rows), len(options))
        self.assertTrue(all(row["name"] == "/a/seg=5" for row in rows))
        shown = Counter(int(row["malformed"].split()[1]) for row in rows if row["malformed"])
        for typ in TYPES:
            self.assertGreaterEqual(shown[typ], 1, f"option {typ}")
        # Whole packets cut anywhere.
        packet = element(0x64, element(888, b"\1\5") + element(0x50, INTEREST))
        cut = self.folder / "cut.pcap"
        write_pcap(cut, [packet[:n] for n in range(1, len(packet))])
        self.assertEqual(errors(cut), [])

    def test_ranges_of_the_simulator(self):
        """As many ranges as Interests for runs; each segment comes back alone."""
        # Two runs fit into the window, so that none is requested in parts.
        control = "consumer.control=fixed:window=64"
        pcap = self.simulate("fixed", "--set", "consumer.range=32", "--set", control)
        rows = tshark(pcap, "type", "range.count", "name", "malformed")
        ranges = [row for row in rows if row["range.count"]]
        # 2,000 segments by 32 make 63, and each crosses three links.
        self.assertEqual(Counter(row["range.count"] for row in ranges), {"32": 186, "16": 3})
        self.assertTrue(all(row["type"] == "Interest" for row in ranges))
        data = Counter(row["name"] for row in rows if row["type"] == "Data")
        segments = [count for name, count in data.items() if re.search(r"/v=\d+/seg=\d+$", name)]
        self.assertEqual(len(segments), 2000 + 1)
        self.assertFalse(any(row["malformed"] for row in rows))

    def test_options_of_the_simulator(self):
        """Schemes' own options are read in captures of their runs."""
        for scheme, names in {
            "cctcp": ["anticipated.wanted", "served.node"],
            "mircc": ["class", "rate.primary", "path_id"],
        }.items():
            with self.subTest(scheme=scheme):
                pcap = self.simulate(scheme)
                rows = tshark(pcap, "type", "malformed", *names)
                for name in names:
                    self.assertTrue(any(row[name] for row in rows), f"no {name}")
                self.assertFalse(any(row["malformed"] for row in rows))

    def test_a_range_between_daemons(self):
        """Two daemons over UDP: both say what they understand, and a range crosses."""
        if not ensure_rights():
            self.skipTest("this system lets us make no network namespaces")
        pcap = self.folder / "daemons.pcap"
        with Network() as network:
            near, far = network.host("near"), network.host("far")
            cable = network.cable(near, far)
            capture = [sys.executable, HERE / "record.py", cable.interfaces[0], pcap]
            with subprocess.Popen(near.command(*capture), stdin=subprocess.PIPE) as recorder:
                wait_until(pcap.exists, "the recorder to begin")
                self.transfer(near, far, cable.addresses)
                recorder.stdin.close()
                self.assertEqual(recorder.wait(), 0)
        self.assertEqual(errors(pcap), [])
        rows = tshark(pcap, "type", "capability", "range.count", "malformed")
        said = [row["capability"] for row in rows if row["capability"]]
        self.assertGreaterEqual(len(said), 2, "both ends say it")
        self.assertEqual(set(said), {"0x0000000000000003"})
        # 125 segments by 32. The kernel may show several datagrams as one.
        counts = Counter(count for row in rows for count in row["range.count"].split(";"))
        self.assertEqual((counts["32"], counts["29"]), (3, 1))
        self.assertFalse(any(row["malformed"] for row in rows))

    def transfer(self, near, far, addresses):
        """Fetch a file by ranges over two daemons, once each knows what the other understands."""
        daemons = [
            weir.Daemon(weir.program(), self.folder, host.name, host) for host in (near, far)
        ]
        for daemon, other in zip(daemons, reversed(addresses)):
            daemon.faces.append(("link", f"udp4://{other}:6363"))
        daemons[0].routes.append(("/film", "link"))
        sent, received = self.folder / "sent", self.folder / "received"
        content.make(sent, 1_000_000, 1)
        with contextlib.ExitStack() as running:
            for daemon in daemons:
                running.enter_context(daemon)
            running.enter_context(daemons[1].put("/film", sent))
            fetch = daemons[0].get("/film", received, ["--range", "32", "--control", "fixed"])
            running.enter_context(fetch.child)
            fetch.finish(60)
        self.assertEqual(content.sha256(sent), content.sha256(received))


if __name__ == "__main__":
    unittest.main()
