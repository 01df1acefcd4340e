"""Flows as environments: agents set their windows.

One flow is an environment of Gymnasium:

    env = gymnasium.make("weir/Flow-v0")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Several flows at a time are a parallel environment of PettingZoo, with an agent for each:

    env = weir.env.Flows(weir.env.network(flows=4))
    observations, infos = env.reset(seed=1)
    actions = {agent: env.action_space(agent).sample() for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)

Observation of a flow, a vector of eight numbers about the last step:

    0  window        segments that may be in flight
    1  goodput       Data packets that came, in Mbit/s
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
`rate` is in bit/s; without it, it is the rate of the narrowest link, divided by the number of
agents. `reward` replaces all this by a function of the observation.

The scheme `learned` has the same observations and actions: `control="learned:model=policy.onnx"`
runs a policy from an ONNX file in the simulator and in `weir get`.

An episode of a flow is terminated when everything has come, and truncated at the scenario's end.
"""

import gymnasium
import numpy

from ._tasks import FIRST_WINDOW, OBSERVATION, Task, first_observation, network, scaled

__all__ = ["OBSERVATION", "Flow", "network"]


def __getattr__(name):
    """Import PettingZoo when it is first used."""
    if name == "Flows":
        from ._flows import Flows

        return Flows
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Flow(gymnasium.Env):
    """One flow as an environment of Gymnasium. See the module.

    `scenario` has one consumer, or one with the control `agent`; without it, it is `network()`.
    `step` is the simulated time of a step in seconds.
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
        self._task = Task(scenario, step, rate, (delay_weight, loss_weight))
        self.scenario = self._task.scenario
        self._reward = reward
        self._simulation = None
        self.observation_space = self._task.observation_space
        self.action_space = self._task.action_space

    def reset(self, *, seed=None, options=None):
        """Begin an episode. Equal seeds give equal networks."""
        super().reset(seed=seed)
        if (count := len(self._task.consumers)) != 1:
            what = f"the scenario has {count} consumers; this environment has one flow"
            raise ValueError(f"{what}, `weir.env.Flows` has several")
        drawn = int(self.np_random.integers(2**32)) if seed is None else seed
        self._simulation = self._task.simulation(drawn)
        self._window = FIRST_WINDOW
        return first_observation(), {"seed": drawn}

    def step(self, action):
        """Multiply the window, and advance one step.

        A scheme in Python that fails, such as the marker of a link, ends the episode: it raises
        `weir.SchemeError`, from `reset` too. There is no limit of time for its calls.
        """
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call `reset` before `step`")
        self._window = scaled(self._window, action)
        [(seen, delivered, is_over)], is_late = self._simulation.step([self._window])
        reward = self._reward(seen) if self._reward else self._task.reward(seen, delivered)
        observation = numpy.array(seen, dtype=numpy.float32)
        return observation, float(reward), is_over, is_late and not is_over, {}


gymnasium.register(id="weir/Flow-v0", entry_point="weir.env:Flow")
