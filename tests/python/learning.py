"""The environment: Gymnasium's own checker, and a flow that follows its actions."""

import unittest
import warnings

import gymnasium
import weir
from gymnasium.utils.env_checker import check_env
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
        self.assertAlmostEqual(names["goodput"], 9.7, delta=0.6)
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
        env = envs.Flow(small, step=0.1, delay_weight=0.0)
        env.reset(seed=1)
        before, with_losses, is_late = 0.0, 0, False
        while not is_late:
            # The window doubles five times, to 320 segments: more than link and queue hold.
            action = [1.0] if before < 0.45 else [0.0]
            seen, reward, _, is_late, _ = env.step(action)
            now = dict(zip(envs.OBSERVATION, map(float, seen)))
            delivered = now["goodput"] * 1e6 / 8 / segment * (now["time"] - before)
            lost = now["losses"] / max(1.0, now["losses"] + delivered)
            self.assertAlmostEqual(reward, now["goodput"] * 1e6 / rate - lost, places=4)
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
