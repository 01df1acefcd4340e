"""The environments: Gymnasium's and PettingZoo's own checkers, flows that follow their actions."""

import pickle
import unittest
import warnings

import gymnasium
import weir
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test
from weir import env as envs


class Environment(unittest.TestCase):
    """One flow over a link of 10 Mbit/s and 20 ms both ways."""

    def test_it_is_an_environment_as_gymnasium_wants_it(self):
        """Spaces, seeds, types."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_env(gymnasium.make("weir/Flow-v0").unwrapped, skip_render_check=True)

    def episode(self, actions, seed=1, **options):
        """Everything that was seen."""
        env = envs.Flow(envs.network(duration=5.0, **options), step=0.1)
        env.reset(seed=seed)
        return [env.step([action]) for action in actions]

    def test_a_larger_window_fills_the_link_and_then_the_queue(self):
        """10 Mbit/s times 20 ms are about 3 segments of 8000 bytes."""
        steps = self.episode([-1.0] * 4 + [0.0] * 6 + [1.0] * 5 + [0.0] * 6)
        small, large = steps[9][0], steps[-1][0]
        names = dict(zip(envs.OBSERVATION, large))
        self.assertEqual(small[0], 1.0)
        self.assertAlmostEqual(small[1], 8000 * 8e-6 / 0.027, delta=0.6)
        self.assertEqual(names["window"], 32.0)
        # A packet of 8 kB more or less in a step of 0.1 s is 0.65 Mbit/s.
        self.assertAlmostEqual(names["goodput"], 9.7, delta=0.65)
        self.assertGreater(names["rtt"], 5 * names["rtt_min"])
        self.assertAlmostEqual(names["time"], 2.1, places=5)
        self.assertGreater(steps[9][1], steps[-1][1], "queueing delay has its price")

    def test_equal_seeds_are_equal_episodes(self):
        """To the last bit, on a link with losses; another seed has other losses."""
        actions = [0.3, -0.2] * 10
        env = envs.Flow(envs.network(duration=5.0).set(link__loss="5 %"), step=0.1)
        seen = []
        for seed in (1, 1, 2):
            env.reset(seed=seed)
            seen.append([list(env.step([action])[0]) for action in actions])
        self.assertEqual(seen[0], seen[1])
        self.assertNotEqual(seen[0], seen[2])

    def test_the_reward_counts_segments_of_every_size(self):
        """Losses are a share of the segments that were delivered or lost, in the last step too."""
        segment, rate = 1024, 10e6
        small = weir.Scenario(
            scenario={"duration": 1.25},
            node={"name": ["a", "b"]},
            link={"between": ("a", "b"), "rate": rate, "delay": 0.01, "queue": 10},
            content={
                "name": "/x",
                "at": "b",
                "size": "1 GB",
                "segment": segment,
                "signing": "none",
            },
            consumer={"at": "a", "name": "/x"},
        )
        sizes = set()

        class Sized(weir.WindowLaw):
            """Sees the sizes of Data packets, in which the content has its name and digest."""

            def on_ack(self, cx, ack):
                sizes.add(ack.size)

            def on_congestion(self, cx, signal, rtt):
                pass

        weir.run(small, control=Sized, progress=False)
        packet = max(sizes)
        self.assertTrue(segment < packet < 1.2 * segment, sizes)
        env = envs.Flow(small, step=0.1, delay_weight=0.0)
        env.reset(seed=1)
        before, with_losses, is_late = 0.0, 0, False
        while not is_late:
            # The window doubles five times, to 320 segments: more than link and queue hold.
            action = [1.0] if before < 0.45 else [0.0]
            seen, reward, _, is_late, _ = env.step(action)
            now = dict(zip(envs.OBSERVATION, map(float, seen)))
            delivered = now["goodput"] * 1e6 / 8 / packet * (now["time"] - before)
            lost = now["losses"] / max(1.0, now["losses"] + delivered)
            # The sizes of packets differ by the digits of their numbers. A share of losses changes
            # by a quarter of the relative error of what was delivered at most.
            spread = (packet / min(sizes) - 1) / 4 + 1e-5
            self.assertAlmostEqual(reward, now["goodput"] * 1e6 / rate - lost, delta=spread)
            with_losses += now["losses"] > 0
            before = now["time"]
        self.assertGreater(with_losses, 0)
        self.assertAlmostEqual(before, 1.25)

    def test_a_scheme_that_fails_ends_its_episode(self):
        """In its constructor or in a step, as `weir.run` reports it; then `reset` is needed."""
        raised = ZeroDivisionError("by hand")

        class Failing(weir.Marker):
            """Raises at once, or at the first Data packet."""

            at_once = weir.Param(False, help="in the constructor")

            def __init__(self):
                if self.at_once:
                    raise RuntimeError("no marker")

            def on_enqueue(self, cx, link, packet):
                raise raised

        env = envs.Flow(envs.network().set(link__marker="failing"))
        env.reset(seed=1)
        with self.assertRaises(weir.SchemeError) as caught:
            env.step([0.0])
        self.assertEqual(caught.exception.scheme, "failing")
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        with self.assertRaisesRegex(RuntimeError, "call `reset`"):
            env.step([0.0])
        # As Ctrl-C does.
        raised = KeyboardInterrupt()
        env.reset(seed=1)
        with self.assertRaises(KeyboardInterrupt):
            env.step([0.0])
        env = envs.Flow(envs.network().set(link__marker="failing:at_once=true"))
        with self.assertRaisesRegex(weir.SchemeError, "raised RuntimeError: no marker"):
            env.reset(seed=1)

    def test_an_episode_ends(self):
        """Everything came, or the time is over; then `reset` is needed."""
        env = envs.Flow(envs.network(duration=5.0, size=100_000), step=0.1)
        env.reset(seed=1)
        ended = [False, False]
        while not any(ended):
            ended = list(env.step([0.0])[2:4])
        self.assertEqual(ended, [True, False])
        env = envs.Flow(envs.network(duration=0.2), step=0.1)
        with self.assertRaises(gymnasium.error.ResetNeeded):
            env.step([0.0])
        env.reset(seed=1)
        self.assertEqual([env.step([0.0])[2:4] for _ in range(2)], [(False, False), (False, True)])
        with self.assertRaisesRegex(RuntimeError, "call `reset`"):
            env.step([0.0])
        env.reset(seed=2)
        with self.assertRaisesRegex(ValueError, "from -1 to 1"):
            env.step([float("nan")])

    def test_a_scenario_with_two_flows_is_rejected(self):
        """With the number of its consumers."""
        two = weir.Scenario(
            scenario={"duration": 1},
            node={"name": ["a", "b"]},
            link={"between": ("a", "b"), "rate": 1e7},
            content={"name": "/x", "at": "b", "size": 1000},
            consumer=[{"at": "a", "name": "/x"}, {"at": "a", "name": "/x"}],
        )
        with self.assertRaisesRegex(ValueError, "2 consumers"):
            envs.Flow(two).reset(seed=1)


class Several(unittest.TestCase):
    """Flows over one link of 10 Mbit/s and 20 ms both ways."""

    def setUp(self):
        """Quiet checkers."""
        warnings.simplefilter("ignore")

    def test_they_are_an_environment_as_pettingzoo_wants_it(self):
        """Spaces, agents, types, seeds."""

        def make():
            return envs.Flows(envs.network(flows=3, duration=2.0).set(link__loss="5 %"))

        parallel_api_test(make(), num_cycles=60)
        parallel_seed_test(make, num_cycles=30)

    def steps(self, env, actions):
        """Everything that was seen."""
        env.reset(seed=1)
        return [env.step(dict(zip(env.agents, ([a] for a in one)))) for one in actions]

    def two(self, sizes=("1 GB", "1 GB"), controls=("agent", "agent")):
        """Two contents of these sizes, for consumers with these schemes."""
        names = ["/one", "/two"]
        return weir.Scenario(
            scenario={"duration": 4},
            node={"name": ["a", "b"]},
            link={"between": ("a", "b"), "rate": 10e6, "delay": 0.01, "queue": 100},
            content=[
                {"name": name, "at": "b", "size": size, "signing": "none"}
                for name, size in zip(names, sizes)
            ],
            consumer=[
                {"at": "a", "name": name, "control": control}
                for name, control in zip(names, controls)
            ],
        )

    def test_windows_share_a_full_queue(self):
        """Of 40 and 10 segments, four to one."""
        env = envs.Flows(self.two())
        steps = self.steps(env, [(1.0, 0.0)] * 2 + [(0.0, 0.0)] * 28)
        settled = [step[0] for step in steps[10:]]
        goodput = [sum(float(seen[agent][1]) for seen in settled) / 20 for agent in env.agents]
        self.assertAlmostEqual(sum(goodput), 9.7, delta=0.3)
        # In 2 s, about 60 segments of the second flow come; a window more or less may be counted.
        self.assertAlmostEqual(goodput[0] / goodput[1], 4.0, delta=4.0 * 10 / 60)
        for agent in env.agents:
            _, goodput, rtt, rtt_min = map(float, steps[-1][0][agent][:4])
            reward = goodput / 5.0 - 0.5 * (rtt / rtt_min - 1.0)
            self.assertAlmostEqual(steps[-1][1][agent], reward, places=3)

    def test_each_flow_has_its_own_end(self):
        """The agent of a flow that has everything is left out; the others go on."""
        env = envs.Flows(self.two(sizes=(100_000, 2_000_000)))
        ends, left = {}, []
        env.reset(seed=1)
        while env.agents:
            _, _, over, late, _ = env.step({agent: [0.0] for agent in env.agents})
            ends.update({a: (over[a], late[a]) for a in over if over[a] or late[a]})
            if env.agents == ["flow_1"] and not left:
                left = env.agents
                with self.assertRaisesRegex(ValueError, r"that are left are \[flow_1\]"):
                    env.step({"flow_0": [0.0], "flow_1": [0.0]})
        self.assertEqual(left, ["flow_1"])
        self.assertEqual(ends, dict.fromkeys(env.possible_agents, (True, False)))
        env = envs.Flows(envs.network(flows=2, duration=0.2))
        last = self.steps(env, [(0.0, 0.0)] * 2)[-1]
        self.assertEqual(last[2:4], (dict.fromkeys(last[2], False), dict.fromkeys(last[2], True)))
        with self.assertRaisesRegex(RuntimeError, "call `reset`"):
            env.step({})

    def test_other_schemes_compete(self):
        """One agent beside `cubic`, in both environments."""
        env = envs.Flows(self.two(controls=("cubic", "agent")))
        self.assertEqual(env.possible_agents, ["flow_1"])
        alone = self.steps(envs.Flows(envs.network()), [(0.0,)] * 30)[-1][0]["flow_0"]
        beside = self.steps(env, [(0.0,)] * 30)[-1][0]["flow_1"]
        self.assertGreater(beside[2], 2 * alone[2], "cubic fills the queue")
        self.assertLess(beside[1], alone[1] / 2)
        flow = envs.Flow(self.two(controls=("agent", "cubic")))
        flow.reset(seed=1)
        self.assertAlmostEqual(float(flow.step([0.5])[0][0]), 10 * 2**0.5, places=4)

    def test_agents_are_consumers_only(self):
        """A workload makes flows as it likes: none of them can have an agent."""
        crowd = weir.Scenario(
            scenario={"duration": 1},
            node={"name": ["a", "b"]},
            link={"between": ("a", "b"), "rate": 10e6},
            content=[
                {"name": "/x", "at": "b", "size": 100_000, "signing": "none"},
                {"name": "/many", "at": "b", "size": 100_000, "signing": "none", "objects": 9},
            ],
            consumer={"at": "a", "name": "/x", "control": "agent"},
            workload={"at": "a", "name": "/many", "rate": 5.0, "control": "agent"},
        )
        with self.assertRaisesRegex(ValueError, "workloads"):
            envs.Flows(crowd).reset(seed=1)
        with self.assertRaisesRegex(gymnasium.error.ResetNeeded, "before `step`"):
            envs.Flows(crowd).step({})

    def test_rewards_of_ones_own(self):
        """A common reward for all agents."""
        env = envs.Flows(reward=lambda seen: dict.fromkeys(seen, min(o[1] for o in seen.values())))
        seen, rewards = self.steps(env, [(1.0, 0.0)] * 5)[-1][:2]
        least = min(float(o[1]) for o in seen.values())
        for reward in rewards.values():
            self.assertAlmostEqual(reward, least, places=4)
        self.assertEqual(set(rewards), {"flow_0", "flow_1"})
        with self.assertRaisesRegex(ValueError, "a reward for each"):
            self.steps(envs.Flows(reward=lambda seen: {"flow_0": 1.0}), [(0.0, 0.0)])

    def test_copies_are_equal(self):
        """Environments go to processes that share no memory."""
        env = envs.Flows(envs.network(flows=2, duration=5.0).set(link__loss="5 %"))
        copy = pickle.loads(pickle.dumps(env))
        one, other = (self.steps(each, [(0.5, -0.5)] * 9)[-1] for each in (env, copy))
        self.assertEqual(one[1], other[1])
