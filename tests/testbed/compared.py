"""The same scenario has the same results in the simulator and on real daemons."""

import unittest

import testbed
from support import weir

SCENARIO = weir.ROOT / "scenarios/testbed/three-schemes.toml"
# Goodput and completion time differ by what scheduling adds: by 1 % on two quiet cores.
WITHIN = 0.1
# The mean queue, as a share of the bound of the queue: daemons see the clock in grains.
QUEUE_WITHIN = 0.15
QUEUE = 100_000
# A busy machine disturbs a run, but not all of them alike. A defect of a scheme on real daemons
# shows each time.
ATTEMPTS = 4


class Compared(unittest.TestCase):
    """Three schemes over a bottleneck."""

    @classmethod
    def setUpClass(cls):
        simulated, agreed = runs("sim"), {}
        for _ in range(ATTEMPTS):
            real = runs("testbed")
            cls.pairs = [
                (scheme, run, agreed.get(scheme, real[scheme])) for scheme, run in simulated.items()
            ]
            agreed = {scheme: other for scheme, one, other in cls.pairs if not far(one, other)}
            if len(agreed) == len(simulated):
                return

    def test_it_is_the_same_batch(self):
        self.assertEqual([scheme for scheme, _, _ in self.pairs], ["cubic", "bbr", "pcon"])

    def test_goodputs_completion_times_and_queues_agree(self):
        self.assertEqual(
            [(scheme, *far(one, other)) for scheme, one, other in self.pairs if far(one, other)], []
        )

    def test_they_say_what_ran_them(self):
        for _, simulated, real in self.pairs:
            self.assertEqual((simulated["driver"], real["driver"]), ("simulator", "testbed"))

    def test_everything_comes(self):
        for _, simulated, real in self.pairs:
            one, other = simulated["flows"][0], real["flows"][0]
            self.assertTrue(other["complete"], other["error"])
            self.assertEqual(one["bytes"], other["bytes"])

    def test_the_link_carries_no_more_than_its_rate(self):
        for _, _, real in self.pairs:
            link = bottleneck(real)
            self.assertLessEqual(link["bytes"] * 8, 20e6 * real["duration_s"])
            self.assertLessEqual(link["queue_max_bytes"], QUEUE)
            self.assertLessEqual(real["flows"][0]["goodput_mbps"], 20)

    def test_memory_and_cpu_time_of_daemons_are_measured(self):
        for _, simulated, real in self.pairs:
            for node in real["nodes"]:
                self.assertGreater(node["memory_max_bytes"], 1_000_000)
                self.assertIsNotNone(node["cpu_s"])
            self.assertIsNone(simulated["nodes"][0]["cpu_s"])

    def test_nothing_is_left(self):
        self.assertEqual(testbed.leftovers("three-schemes"), [])


def runs(driver):
    """The runs by scheme."""
    status, printed, said = testbed.run(driver, SCENARIO)
    assert status == 0, said
    return {run["settings"][0][1]: run for run in printed["runs"]}


def far(one, other):
    """In what two runs do not agree, and how far."""
    found = []
    for field in ("goodput_mbps", "fct_s"):
        share = (other["flows"][0][field] or 0) / one["flows"][0][field]
        if abs(share - 1) > WITHIN:
            found.append((field, share))
    queues = [bottleneck(run)["queue_mean_bytes"] / QUEUE for run in (one, other)]
    if abs(queues[0] - queues[1]) > QUEUE_WITHIN:
        found.append(("queue", *queues))
    return found


def bottleneck(run):
    """The direction in which Data waits."""
    return next(link for link in run["links"] if (link["from"], link["to"]) == ("right", "left"))


if __name__ == "__main__":
    unittest.main()
