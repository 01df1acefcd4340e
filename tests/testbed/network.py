"""A network for any program, rates kept by the kernel, and nodes that are small."""

import json
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import testbed
from support import weir

NAME = "weir-tests"
SMALL = """
[[node]]
name = "small"
memory = "32 MB"
cpu = "50 %"
content_store = "16 MB"

[[link]]
between = ["small", "middle"]
rate = "50 Mbit/s"
"""
# Through a router that has less memory than what passes.
PASSING = """
[scenario]
duration = "4 s"

[[node]]
name = ["consumer", "producer"]

[[node]]
name = "small"
memory = "32 MB"
content_store = "16 MB"

[[link]]
between = ["consumer", "small"]
rate = "400 Mbit/s"

[[link]]
between = ["small", "producer"]
rate = "400 Mbit/s"

[[content]]
name = "/example/object"
at = "producer"
size = "40 MB"

[[consumer]]
at = "consumer"
name = "/example/object"
"""
# Sends this many bytes on each connection, and reads all that arrive.
SIZE = 1_000_000
SERVE = """
import socket, sys
with socket.create_server((sys.argv[1], 8000)) as listener:
    print("ready", flush=True)
    listener.accept()[0].sendall(bytes(int(sys.argv[2])))
"""
TAKE = """
import socket, sys, time
begin, received = time.monotonic(), 0
with socket.create_connection((sys.argv[1], 8000)) as line:
    while part := line.recv(65536):
        received += len(part)
print(received, time.monotonic() - begin, line.family)
"""


class Stands(unittest.TestCase):
    """`weir testbed up`"""

    def up(self, text, *options):
        """Build it; what it says of itself once it stands."""
        path = testbed.file(self, text)
        command = [weir.program(), "testbed", "up", path, "--name", NAME, "--json", *options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        line = self.process.stdout.readline()
        if not line and "takes a control group" in (said := self.process.stderr.read()):
            self.skipTest(said)
        described = json.loads(line)
        self.nodes = {node["node"]: node for node in described["nodes"]}
        return described

    def down(self):
        """End it, as its user does."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=testbed.PATIENCE)
        self.assertEqual((self.process.returncode, said), (0, ""))
        self.assertEqual(testbed.leftovers(NAME), [])

    def command(self, node, *words):
        """The command as it has to be started at a node."""
        return ["ip", "netns", "exec", self.nodes[node]["namespace"], *map(str, words)]

    def test_any_program_reaches_any_node_at_the_rates_of_the_links(self):
        described = self.up(testbed.LINE.format(duration="1 s", size="1 MB"), "--bare")
        self.assertEqual([link["rate_mbps"] for link in described["links"]], [[50, 50], [20, 20]])
        self.assertIsNone(self.nodes["middle"]["socket"])
        address = self.nodes["producer"]["address"]
        serve = self.command("producer", sys.executable, "-c", SERVE, address, SIZE)
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            self.addCleanup(server.kill)
            self.assertEqual(server.stdout.readline(), "ready\n")
            take = self.command("consumer", sys.executable, "-c", TAKE, address)
            taken = subprocess.run(take, capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(int(taken[0]), SIZE)
        # At 20 Mbit/s they take 0.4 s; without the kernel's help, parts of a millisecond.
        self.assertGreater(float(taken[1]), 0.38)
        self.down()

    def test_daemons_and_tools_use_it_too(self):
        self.up(testbed.LINE.format(duration="1 s", size="1 MB") + SMALL, "--mtu", "1500")
        small = self.nodes["small"]
        socket = ["--socket", small["socket"]]
        status = [weir.program(), "status", "--json", *socket]
        said = subprocess.run(status, capture_output=True, text=True, check=True).stdout
        # The parts' share of 32 MB.
        self.assertEqual(json.loads(said)["memory"]["limit"], 19_250_000)
        group = Path(small["cgroup"])
        self.assertEqual(group.joinpath("cgroup.procs").read_text().split(), [str(small["pid"])])
        self.assertIsNone(self.nodes["middle"]["cgroup"])
        self.assertIn("mtu 1500", self.said(self.command("small", "ip", "link")))
        self.down()
        self.assertFalse(group.exists())

    def said(self, command):
        """The output of a command."""
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_a_daemon_that_dies_ends_it(self):
        self.up(testbed.LINE.format(duration="1 s", size="1 MB"))
        subprocess.run(["kill", "-KILL", str(self.nodes["middle"]["pid"])], check=True)
        _, said = self.process.communicate(timeout=testbed.PATIENCE)
        self.assertEqual(self.process.returncode, 1)
        self.assertIn("the daemon at middle ended (signal: 9 (SIGKILL))", said)
        self.assertEqual(testbed.leftovers(NAME), [])


class Runs(unittest.TestCase):
    """`weir testbed run --shape kernel`"""

    def test_the_kernel_keeps_to_the_rates(self):
        text = testbed.LINE.format(duration="3 s", size="2 MB")
        options = ["--name", NAME, "--shape", "kernel", "--mtu", "1500"]
        status, run, said = testbed.run("testbed", testbed.file(self, text), *options)
        self.assertEqual(status, 0, said)
        flow = run["flows"][0]
        self.assertTrue(flow["complete"], flow["error"])
        self.assertLess(flow["goodput_mbps"], 20)
        link = next(one for one in run["links"] if one["from"] == "producer")
        # Frames of 1500 bytes: what the kernel counts has headers that faces do not see, 42 of
        # Ethernet, IP and UDP in each, besides those of NDN.
        carried = link["utilization"] * 20e6 * run["duration_s"] / 8
        self.assertGreater(carried, flow["bytes"] * 1.05)
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_a_small_router_keeps_within_its_memory(self):
        path = testbed.file(self, PASSING)
        status, run, said = testbed.run("testbed", path, "--name", NAME, "--shape", "kernel")
        self.assertEqual(status, 0, said)
        small = next(node for node in run["nodes"] if node["node"] == "small")
        # More came than it may keep.
        self.assertGreater(small["data_out"], small["cs_packets"])
        self.assertLess(small["memory_max_bytes"], 32_000_000)


if __name__ == "__main__":
    unittest.main()
