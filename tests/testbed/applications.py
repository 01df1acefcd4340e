"""Applications without a command-line tool run the simulator's code with real daemons."""

import unittest

import testbed

NAME = "weir-tests"
# Four kinds of flows, and a store that is bounded in packets.
SCENARIO = """
[scenario]
duration = "10 s"
seed = 3

[[node]]
name = ["users", "edge", "near", "far"]

[[link]]
between = ["users", "edge"]
rate = "40 Mbit/s"
delay = "1 ms"

[[link]]
between = ["edge", "near"]
rate = "20 Mbit/s"
delay = "5 ms"

[[link]]
between = ["edge", "far"]
rate = "20 Mbit/s"
delay = "10 ms"

[caching]
at = ["edge"]
content_store = "200 packets"

[[content]]
name = "/library"
at = "near"
objects = 30
size = [
    { class = "mice", share = "80 %", size = "10 kB" },
    { class = "elephants", share = "20 %", size = "100 kB" },
]
segment = "1000 B"

[[workload]]
at = "users"
name = "/library"
rate = "8 /s"
alpha = 0.8
control = "cubic"

[[content]]
name = "/film"
at = "far"
video = { ladder = ["300 kbit/s", "1.5 Mbit/s"], segment = "1 s", length = "6 s" }

[[consumer]]
at = "users"
name = "/film"
control = "cubic"
buffer = "4 s"

[[content]]
name = "/slow"
at = "near"
size = "1 MB"
segment = "1000 B"
service_time = "2 ms"
signing = "none"

[[consumer]]
at = "users"
name = "/slow"
rate = "100 /s"
stop = "5 s"
start = "1 s"

[[content]]
name = "/spread"
at = ["near", "far"]
placement = "segments"
size = "300 kB"
segment = "3000 B"

[[consumer]]
at = "users"
name = "/spread"
control = "cubic"
start = "2 s"
"""

# More is asked for than the link brings, so that flows run when a node crashes.
CRASHES = """
[scenario]
duration = "8 s"
seed = 3

[[node]]
name = ["users", "edge", "origin"]

[[link]]
between = ["users", "edge"]
rate = "40 Mbit/s"

[[link]]
between = ["edge", "origin"]
rate = "20 Mbit/s"
delay = "5 ms"

[[content]]
name = "/library"
at = "origin"
objects = 30
size = "300 kB"

[[workload]]
at = "users"
name = "/library"
rate = "10 /s"
control = "cubic"

[[fault]]
at = "1 s"
kind = "node-crash"
node = "origin"

[[fault]]
at = "1500 ms"
kind = "node-restart"
node = "origin"

[[fault]]
at = "4 s"
kind = "node-crash"
node = "users"

[[fault]]
at = "4500 ms"
kind = "node-restart"
node = "users"
"""


class Applications(unittest.TestCase):
    """The same flows in the simulator and on daemons."""

    @classmethod
    def setUpClass(cls):
        path = testbed.file(cls, SCENARIO)
        cls.runs = []
        for driver, options in (("sim", []), ("testbed", ["--name", NAME])):
            status, run, said = testbed.run(driver, path, *options)
            assert status == 0, said
            cls.runs.append(run)

    def flows(self, name):
        """The flows that ask for a content, in both runs."""
        return [[one for one in run["flows"] if one["name"].startswith(name)] for run in self.runs]

    def test_the_same_flows_begin_with_the_same_objects(self):
        simulated, real = self.flows("/library")
        self.assertGreater(len(simulated), 50)
        drawn = [[(one["name"], one["class"]) for one in flows] for flows in (simulated, real)]
        self.assertEqual(*drawn)
        for one, other in zip(simulated, real, strict=True):
            # Late by what a machine has to do besides, but by no request.
            self.assertLess(abs(one["start_s"] - other["start_s"]), 1)
        classes = [[w["class"] for w in run["workloads"]] for run in self.runs]
        self.assertEqual(classes, [["mice", "elephants"]] * 2)
        started = [[w["started"] for w in run["workloads"]] for run in self.runs]
        self.assertEqual(*started)
        self.assertGreater(self.runs[1]["workloads"][0]["completed"], 40)

    def test_a_video_is_played(self):
        for (player,) in self.flows("/film"):
            self.assertTrue(player["complete"], player["error"])
            self.assertAlmostEqual(player["played_s"], 6)
            self.assertEqual(player["stalls"], 0)

    def test_interests_go_at_their_rate_to_a_producer_that_takes_its_time(self):
        for (constant,) in self.flows("/slow"):
            self.assertEqual(constant["interests"], 400)
            # Two milliseconds of service and two links there and back.
            self.assertGreater(constant["rtt_mean_ms"], 14)
            self.assertGreater(constant["data"], 390)

    def test_segments_come_from_both_producers(self):
        for (fetch,) in self.flows("/spread"):
            self.assertTrue(fetch["complete"], fetch["error"])
            self.assertEqual(fetch["bytes"], 300_000)
        for run in self.runs:
            # The film uses larger packets.
            links = [one for one in run["links"] if one["from"] in ("near", "far")]
            self.assertTrue(all(one["data"] > 30 for one in links), links)

    def test_the_store_keeps_so_many_packets_and_its_hits_count(self):
        for run in self.runs:
            edge = next(node for node in run["nodes"] if node["node"] == "edge")
            self.assertEqual(edge["cs_packets"], 200)
            self.assertGreater(run["caching"]["whole"]["hits"], 100)
            self.assertEqual(edge["cs_inserted"] - edge["cs_removed"], 200)
            self.assertGreater(edge["pit_max"], 1)

    def test_flows_end_with_their_node_and_others_begin_there(self):
        path = testbed.file(self, CRASHES)
        status, run, said = testbed.run("testbed", path, "--name", NAME)
        self.assertEqual(status, 0, said)
        crashed = [flow for flow in run["flows"] if flow["error"] == "its node crashed"]
        self.assertGreater(len(crashed), 0)
        for flow in crashed:
            self.assertAlmostEqual(flow["end_s"], 4, delta=0.5)
        complete = [flow["start_s"] for flow in run["flows"] if flow["complete"]]
        # The producer was there before its crash and after it, and so were the users.
        for start, end in ((0, 1), (1.5, 4), (4.5, 8)):
            self.assertTrue(any(start < at < end for at in complete), complete)

    def test_nothing_is_left(self):
        self.assertEqual(testbed.leftovers(NAME), [])


if __name__ == "__main__":
    unittest.main()
