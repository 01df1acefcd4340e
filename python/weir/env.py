"""One flow as an environment of Gymnasium: an agent sets its window.

    env = gymnasium.make("weir/Flow-v0")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Observation, a vector of eight numbers about the last step:

    0  window        segments that may be in flight
    1  goodput       content that came, in Mbit/s
    2  rtt           mean round-trip time in ms; the last known one if nothing came
    3  rtt_min       smallest round-trip time so far, in ms
    4  in_flight     segments in flight when Data came last
    5  marks         Data packets with a congestion mark
    6  losses        segments that were declared lost, counted at the end of their round trip
    7  time          simulated seconds since the beginning

Action, a vector of one number from -1 to 1: the window is multiplied by two to the power of it. The
window stays between 1 and 262,144 segments; at the beginning it is 10.

Reward: goodput as a share of `rate`, minus `delay_weight` times the queueing delay as a share of
the smallest round-trip time, minus `loss_weight` times the share of segments that were lost.
`reward` replaces it by a function of the observation.

An episode is terminated when everything has come, and truncated at the scenario's end.
"""

import gymnasium
import numpy

from . import _weir
from ._scenario import Scenario

OBSERVATION = (
    "window",
    "goodput",
    "rtt",
    "rtt_min",
    "in_flight",
    "marks",
    "losses",
    "time",
)

__all__ = ["OBSERVATION", "Flow", "network"]


def network(rate=10e6, delay=0.01, queue=100, duration=30.0, size="1 GB"):
    """A scenario with one flow over one link: rate in bit/s, delay in seconds, queue in packets.

    Its content is not signed: a manifest of a large object takes time at every `reset`.
    """
    return Scenario(
        scenario={"name": "flow", "duration": duration},
        node={"name": ["consumer", "producer"]},
        link={"between": ["consumer", "producer"], "rate": rate, "delay": delay, "queue": queue},
        content={"name": "/content", "at": "producer", "size": size, "signing": "none"},
        consumer={"at": "consumer", "name": "/content"},
    )


class Flow(gymnasium.Env):
    """The environment. See the module.

    `scenario` has one consumer; without it, it is `network()`. `step` is the simulated time of a
    step in seconds. `rate` is the rate in bit/s of which the reward takes shares; without it, that
    of the narrowest link.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario=None,
        *,
        step=0.1,
        rate=None,
        delay_weight=0.5,
        loss_weight=1.0,
        reward=None,
        render_mode=None,
    ):
        self.render_mode = render_mode
        scenario = scenario if scenario is not None else network()
        if not isinstance(scenario, Scenario):
            scenario = Scenario.from_file(scenario)
        self.scenario = scenario.set(consumer__control="agent")
        rates = [min(way[0] for way in ways) for _, _, ways in self.scenario._scenario.links()]
        self._step = step
        self._rate = (rate or min(rates, default=1e9)) / 1e6
        self._weights = delay_weight, loss_weight
        self._reward = reward
        self._simulation = None
        high = numpy.full(len(OBSERVATION), numpy.finfo(numpy.float32).max, dtype=numpy.float32)
        self.observation_space = gymnasium.spaces.Box(numpy.zeros_like(high), high)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, shape=(1,), dtype=numpy.float32)

    def reset(self, *, seed=None, options=None):
        """Begin an episode. Equal seeds give equal networks."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**32)) if seed is None else seed
        self._simulation = _weir.Stepped(self.scenario._scenario, drawn, self._step)
        self._window = 10.0
        first = numpy.zeros(len(OBSERVATION), dtype=numpy.float32)
        first[0] = self._window
        return first, {"seed": drawn}

    def step(self, action):
        """Multiply the window, and go on for a step.

        A scheme in Python that fails, such as the marker of a link, ends the episode: it raises
        `weir.SchemeError`, from `reset` too. There is no limit of time for its calls.
        """
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call `reset` before `step`")
        power = float(action[0])
        if not -1.0 <= power <= 1.0:
            raise ValueError(f"an action of {power}; it is from -1 to 1")
        self._window = min(max(self._window * 2.0**power, 1.0), 262_144.0)
        seen, delivered, is_over, is_late = self._simulation.step(self._window)
        reward = self._reward(seen) if self._reward else self._usual_reward(seen, delivered)
        observation = numpy.array(seen, dtype=numpy.float32)
        return observation, float(reward), is_over, is_late and not is_over, {}

    def _usual_reward(self, seen, delivered):
        _, goodput, rtt, rtt_min, _, _, losses, _ = seen
        delay, loss = self._weights
        queueing = rtt / rtt_min - 1.0 if rtt_min > 0 else 0.0
        lost = losses / (losses + delivered) if losses else 0.0
        return goodput / self._rate - delay * queueing - loss * lost


gymnasium.register(id="weir/Flow-v0", entry_point="weir.env:Flow")
