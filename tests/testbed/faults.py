"""Faults of a scenario, and what becomes of a testbed that is interrupted or killed."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import testbed
from support import weir
from support.children import wait_until

FAULTS = """
[[fault]]
at = "1 s"
kind = "node-crash"
node = "middle"

[[fault]]
at = "1500 ms"
kind = "node-restart"
node = "middle"

[[fault]]
at = "2 s"
kind = "link-down"
link = ["consumer", "middle"]

[[fault]]
at = "2500 ms"
kind = "link-up"
link = ["consumer", "middle"]
"""
# The link's rate falls, and stays so though its sender begins again.
SLOWER = """
[[fault]]
at = "1 s"
kind = "link-rate"
link = ["producer", "middle"]
rate = "4 Mbit/s"

[[fault]]
at = "1500 ms"
kind = "node-crash"
node = "producer"

[[fault]]
at = "1600 ms"
kind = "node-restart"
node = "producer"
"""
# The way over the middle goes, and one over another node comes.
DETOUR = """
[[node]]
name = "other"

[[link]]
between = ["consumer", "other"]
rate = "50 Mbit/s"

[[link]]
between = ["other", "producer"]
rate = "10 Mbit/s"

[[fault]]
at = "500 ms"
kind = "route-remove"
node = "consumer"
prefix = "/example/object"
via = "middle"

[[fault]]
at = "500 ms"
kind = "route-add"
node = "consumer"
prefix = "/example/object"
via = "other"
"""
NAME = "weir-tests"


class Faults(unittest.TestCase):
    """The faults of the scenario."""

    def test_a_transfer_outlives_a_restart_and_a_cut_link(self):
        text = testbed.LINE.format(duration="12 s", size="6 MB") + FAULTS
        status, run, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 0, said)
        flow = run["flows"][0]
        self.assertTrue(flow["complete"], flow["error"])
        # 6 MB take 2.4 s at the link's rate, and for a second the way is cut.
        self.assertGreater(flow["fct_s"], 3.4)
        self.assertGreater(flow["retransmissions"], 0)
        # The counters of a daemon's two lives are one sum.
        middle = next(node for node in run["nodes"] if node["node"] == "middle")
        self.assertGreaterEqual(middle["data_out"], flow["data"])
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_a_link_has_another_rate_from_then_on(self):
        text = testbed.LINE.format(duration="12 s", size="4 MB") + SLOWER
        status, run, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 0, said)
        flow = run["flows"][0]
        self.assertTrue(flow["complete"], flow["error"])
        # At most 2.5 MB come within the first second, and 1.5 MB at 4 Mbit/s take 3 s.
        self.assertGreater(flow["fct_s"], 4)
        self.assertEqual(link(run, "producer", "middle")["rate_mbps"], 4)
        self.assertEqual(link(run, "middle", "producer")["rate_mbps"], 20)

    def test_routes_go_and_come(self):
        text = testbed.LINE.format(duration="12 s", size="4 MB") + DETOUR
        status, run, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 0, said)
        flow = run["flows"][0]
        self.assertTrue(flow["complete"], flow["error"])
        # At most 1.25 MB come within the first half of a second.
        self.assertGreater(link(run, "producer", "other")["bytes"], 2.5e6)
        self.assertLess(link(run, "producer", "middle")["bytes"], 1.5e6)

    def test_a_consumer_goes_with_its_node(self):
        text = testbed.LINE.format(duration="3 s", size="100 MB")
        text += '[[fault]]\nat = "1 s"\nkind = "node-crash"\nnode = "consumer"\n'
        status, run, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 0, said)
        flow = run["flows"][0]
        self.assertEqual(flow["error"], "its node crashed")
        self.assertAlmostEqual(flow["end_s"], 1, delta=0.3)


class Times(unittest.TestCase):
    """When things happen."""

    def test_a_flow_from_time_zero_takes_its_full_time(self):
        # 200 kB at 20 Mbit/s take 80 ms, and the way there and back 12.
        text = testbed.LINE.format(duration="1 s", size="200 kB")
        status, run, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 0, said)
        self.assertGreater(run["flows"][0]["fct_s"], 0.092)


class Ends(unittest.TestCase):
    """Ways to end before the end."""

    def setUp(self):
        text = testbed.LINE.format(duration="100 s", size="1 GB")
        self.process = testbed.start("testbed", testbed.file(self, text), "--name", NAME)
        self.addCleanup(self.process.kill)
        wait_until(self.fetches, "the transfer to run", testbed.PATIENCE)

    def fetches(self):
        """True if the consumer runs."""
        self.assertIsNone(self.process.poll(), "it ended")
        return any(" get /example/object " in line for line in testbed.leftovers(NAME))

    def test_ctrl_c_shows_what_was_and_leaves_nothing(self):
        self.process.send_signal(signal.SIGINT)
        printed, said = self.process.communicate(timeout=testbed.PATIENCE)
        self.assertEqual(self.process.returncode, 5, said)
        self.assertIn("interrupted", said)
        self.assertTrue(json.loads(printed)["interrupted"])
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_a_daemon_that_dies_is_named(self):
        command = ["ps", "-eo", "pid,args"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (daemon,) = (line for line in listed.splitlines() if f"/{NAME}/middle.toml" in line)
        os.kill(int(daemon.split()[0]), signal.SIGKILL)
        _, said = self.process.communicate(timeout=testbed.PATIENCE)
        self.assertEqual(self.process.returncode, 1)
        self.assertIn("the daemon at middle ended (signal: 9 (SIGKILL))", said)
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_a_clock_that_jumps_ends_the_run(self):
        # A stopped process sees its clock jump; daemons and their tools continue.
        self.process.send_signal(signal.SIGSTOP)
        until = time.monotonic() + 1.5
        wait_until(lambda: time.monotonic() > until, "more than a second to go by")
        self.process.send_signal(signal.SIGCONT)
        _, said = self.process.communicate(timeout=testbed.PATIENCE)
        self.assertEqual(self.process.returncode, 1)
        self.assertRegex(said, r"the clock jumped by 1\.\d+ s at .* of the run: .*; run it again")
        self.assertEqual(testbed.leftovers(NAME), [])

    def test_the_name_of_one_that_runs_is_taken(self):
        text = testbed.LINE.format(duration="1 s", size="1 MB")
        status, _, said = testbed.run("testbed", testbed.file(self, text), "--name", NAME)
        self.assertEqual(status, 1)
        self.assertIn(f"a testbed called {NAME} is running; choose another name", said)
        # It is left alone by those who clean, too.
        self.assertIn("is running and was left alone", clean().stderr)
        self.assertTrue(self.fetches())
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=testbed.PATIENCE)

    def test_leftovers_of_a_killed_run_are_cleaned(self):
        self.process.kill()
        self.process.communicate(timeout=testbed.PATIENCE)
        left = testbed.leftovers(NAME)
        self.assertIn(f"weir-{NAME}.middle", left)
        # Processes end by themselves with the one that started them.

        def have_ended():
            return not any(" " in line for line in testbed.leftovers(NAME))

        wait_until(have_ended, "the daemons to end", testbed.PATIENCE)
        self.assertIn("3 network namespaces", clean().stdout)
        self.assertEqual(testbed.leftovers(NAME), [])


class User(unittest.TestCase):
    """A user other than root."""

    def test_a_user_namespace_does(self):
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            place = Path(folder)
            place.chmod(0o755)
            shutil.copy(weir.program(), place / "weir")
            text = testbed.LINE.format(duration="2 s", size="1 MB")
            (place / "line.toml").write_text(text, encoding="utf-8")
            command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            probe = [*command, "unshare", "--user", "--map-root-user", "--net", "true"]
            if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
                self.skipTest("this system gives users no namespaces, or this user no other one")
            command += [place / "weir", "testbed", "run", place / "line.toml", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(json.loads(done.stdout)["flows"][0]["complete"])


def link(run, start, end):
    """A direction of a link in a result."""
    return next(one for one in run["links"] if (one["from"], one["to"]) == (start, end))


def clean():
    """`weir testbed clean`"""
    command = [weir.program(), "testbed", "clean"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


if __name__ == "__main__":
    unittest.main()
