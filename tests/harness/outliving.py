"""Nothing that a test started is left behind, however the test ends."""

import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import namespaces
from support.children import Child, Failed, wait_until

TESTS = Path(__file__).resolve().parents[1]

# Makes a host with a child on it, says the process ids of both, and waits to be killed.
CALLER = """
import sys, time
sys.path.insert(0, {tests!r})
from support import children, namespaces
host = namespaces.Network().host("lonely")
child = children.Child(host.command("sleep", "600"), {log!r})
print(host.pid, child.pid, flush=True)
time.sleep(600)
"""

PROBE = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
needs_namespaces = unittest.skipIf(
    PROBE.returncode != 0, "this system lets us make no network namespaces"
)


class Outliving(unittest.TestCase):
    """Children and namespaces end with the program that made them."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def child(self, *argv):
        """A child with its log in the test's folder."""
        return Child(argv, self.folder / "log")

    @needs_namespaces
    def test_a_killed_caller_leaves_nothing(self):
        """SIGKILL leaves no time to tidy up."""
        script = CALLER.format(tests=str(TESTS), log=str(self.folder / "log"))
        caller = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        with caller:
            pids = [int(word) for word in caller.stdout.readline().split()]
            self.assertEqual(len(pids), 2)
            caller.send_signal(signal.SIGKILL)
        gone = lambda: not any(alive(pid) for pid in pids)  # noqa: E731
        wait_until(gone, f"processes {pids} to end")

    def test_a_child_that_hangs_is_ended(self):
        """A bounded wait, and an error that names the command."""
        with self.child("sleep", "600") as child, self.assertRaisesRegex(Failed, "sleep 600"):
            child.wait(timeout=0.05)
        self.assertFalse(alive(child.pid))

    def test_costs_outlive_the_child(self):
        """Processor time and peak memory are known after the end."""
        busy = "x = bytearray(50_000_000)\nfor i in range(2_000_000): x[0] = i & 1"
        with self.child(sys.executable, "-c", busy) as child:
            self.assertEqual(child.wait(timeout=60), 0)
            used = child.usage()
        self.assertGreater(used.cpu_seconds, 0)
        self.assertGreater(used.peak_bytes, 50_000_000)

    @needs_namespaces
    def test_two_hosts_receive_from_each_other(self):
        """A cable carries datagrams, and its interface counts them."""
        with namespaces.Network() as network:
            near, far = network.host("near"), network.host("far")
            cable = network.cable(near, far)
            before = far.received_bytes(cable.interfaces[1])
            send = "import socket, sys\n"
            send += "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            send += "s.sendto(bytes(1000), (sys.argv[1], 9))"
            near.run(sys.executable, "-c", send, cable.addresses[1])
            interface = cable.interfaces[1]
            wait_until(lambda: far.received_bytes(interface) - before > 1000, "the datagram")


def alive(pid):
    """True if the process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
