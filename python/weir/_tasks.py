"""The task of an environment, its first observation and the usual network. See `weir.env`."""

import gymnasium
import numpy

from . import _weir
from ._scenario import Scenario

OBSERVATION = tuple(_weir.OBSERVED)
FIRST_WINDOW = _weir.FIRST_WINDOW


def network(rate=10e6, delay=0.01, queue=100, duration=30.0, size="1 GB", flows=1):
    """A scenario with flows over one link: rate in bit/s, delay in seconds, queue in packets.

    Each flow has a content of its own. Their contents are not signed: a manifest of a large object
    takes time at every `reset`.
    """
    names = ["/content"] if flows == 1 else [f"/content/{flow}" for flow in range(flows)]
    rest = {"at": "producer", "size": size, "signing": "none"}
    return Scenario(
        scenario={"name": "flow", "duration": duration},
        node={"name": ["consumer", "producer"]},
        link={"between": ["consumer", "producer"], "rate": rate, "delay": delay, "queue": queue},
        content=[{"name": name, **rest} for name in names],
        consumer=[{"at": "consumer", "name": name} for name in names],
    )


class Task:
    """A scenario whose consumers with the control `agent` get rewards."""

    def __init__(self, scenario, step, rate, weights):
        if not isinstance(scenario, Scenario):
            scenario = Scenario.from_file(scenario)
        if not _weir.Stepped.agents(scenario._scenario):
            scenario = scenario.set(consumer__control="agent")
        self.scenario = scenario
        self.consumers = _weir.Stepped.agents(scenario._scenario)
        rates = [min(way[0] for way in ways) for _, _, ways in scenario._scenario.links()]
        self._rate = (rate or min(rates, default=1e9) / max(1, len(self.consumers))) / 1e6
        self._step = step
        self._weights = weights
        high = numpy.full(len(OBSERVATION), numpy.finfo(numpy.float32).max, dtype=numpy.float32)
        self.observation_space = gymnasium.spaces.Box(numpy.zeros_like(high), high)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, shape=(1,), dtype=numpy.float32)

    def simulation(self, seed):
        """Build the network of an episode."""
        return _weir.Stepped(self.scenario._scenario, seed, self._step)

    def reward(self, seen, delivered):
        """The usual reward for an observation, in a step that delivered `delivered` segments."""
        _, goodput, rtt, rtt_min, _, _, losses, _ = seen
        delay, loss = self._weights
        queueing = rtt / rtt_min - 1.0 if rtt_min > 0 else 0.0
        lost = losses / (losses + delivered) if losses else 0.0
        return goodput / self._rate - delay * queueing - loss * lost


def first_observation():
    """Nothing was seen yet."""
    first = numpy.zeros(len(OBSERVATION), dtype=numpy.float32)
    first[0] = FIRST_WINDOW
    return first


def scaled(window, action):
    """The window after an action."""
    return _weir.scaled(window, float(action[0]))
