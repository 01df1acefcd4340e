"""Several flows as a parallel environment of PettingZoo."""

import gymnasium
import numpy
import pettingzoo

from ._tasks import FIRST_WINDOW, Task, first_observation, network, scaled


class Flows(pettingzoo.ParallelEnv):
    """Several flows as a parallel environment of PettingZoo. See the module.

    The agents are the consumers of `scenario` with the control `agent`, or all if none has it; the
    others compete with them. They are named `flow_0` and so on, by the places of their consumers in
    the scenario. Without it, it is `network(flows=2)`. `step` is the simulated time of a step in
    seconds.

    `reward` is a function of the dictionary with the observations of all agents that are left. It
    returns one with their rewards.
    """

    metadata = {"name": "weir_flows_v0", "render_modes": []}

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
        scenario = scenario if scenario is not None else network(flows=2)
        self._task = Task(scenario, step, rate, (delay_weight, loss_weight))
        self.scenario = self._task.scenario
        self._reward = reward
        self._simulation = None
        self._random = None
        self.possible_agents = [f"flow_{at}" for at in self._task.consumers]
        self.agents = []

    def observation_space(self, agent):
        """The same for all agents."""
        return self._task.observation_space

    def action_space(self, agent):
        """The same for all agents."""
        return self._task.action_space

    def reset(self, seed=None, options=None):
        """Begin an episode. Equal seeds give equal networks."""
        if self._random is None or seed is not None:
            self._random, _ = gymnasium.utils.seeding.np_random(seed)
        drawn = int(self._random.integers(2**32)) if seed is None else seed
        self._simulation = self._task.simulation(drawn)
        self.agents = list(self.possible_agents)
        self._windows = dict.fromkeys(self.agents, FIRST_WINDOW)
        observations = {agent: first_observation() for agent in self.agents}
        return observations, {agent: {"seed": drawn} for agent in self.agents}

    def step(self, actions):
        """Multiply the window of each remaining agent, and advance one step.

        It raises `weir.SchemeError` as the environment of one flow does.
        """
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call `reset` before `step`")
        if set(actions) != set(self.agents):
            wanted, given = ", ".join(self.agents), ", ".join(map(str, actions))
            raise ValueError(f"actions of [{given}]; the agents that are left are [{wanted}]")
        windows = {agent: scaled(self._windows[agent], action) for agent, action in actions.items()}
        self._windows.update(windows)
        in_order = [self._windows[agent] for agent in self.possible_agents]
        flows, is_late = self._simulation.step(in_order)
        steps = dict(zip(self.possible_agents, flows))
        steps = {agent: steps[agent] for agent in self.agents}
        if self._reward:
            rewards = self._reward({agent: seen for agent, (seen, _, _) in steps.items()})
            if set(rewards) != set(steps):
                raise ValueError(f"`reward` has to return a reward for each of {list(steps)}")
            rewards = {agent: float(reward) for agent, reward in rewards.items()}
        else:
            rewards = {agent: self._task.reward(*step[:2]) for agent, step in steps.items()}
        observations = {
            agent: numpy.array(seen, dtype=numpy.float32) for agent, (seen, _, _) in steps.items()
        }
        terminations = {agent: is_over for agent, (_, _, is_over) in steps.items()}
        truncations = {agent: is_late and not is_over for agent, is_over in terminations.items()}
        self.agents = [a for a in self.agents if not (terminations[a] or truncations[a])]
        return observations, rewards, terminations, truncations, {agent: {} for agent in steps}
