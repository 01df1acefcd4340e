"""Runs a scheme on a scenario, and says in figures what came of it."""

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy
from pyarrow import compute, parquet

ROOT = Path(__file__).resolve().parents[2]
# Goodput is looked at in steps of this many seconds.
STEP = 0.5
# Bytes of content in one of wire, on these scenarios: 1024 in a Data packet of 1077.
EFFICIENCY = 1024 / 1077


@dataclass(frozen=True)
class Scenario:
    """A file of scenarios/standard, and what theory allows in it."""

    name: str
    # The flow that is watched, by its node, and its fair share of the wire in Mbit/s.
    watched: str
    share: float
    # The direction in which Data queue: `from > to`.
    queue: str
    # The file names a strategy for its several ways, which those of schemes replace.
    has_strategy: bool = False

    @property
    def file(self):
        """Where it is."""
        return ROOT / "scenarios/standard" / f"{self.name}.toml"


SCENARIOS = [
    Scenario("single-bottleneck", "consumer", 40, "far > near"),
    Scenario("two-sources", "consumer", 40, "right > left"),
    Scenario("staggered-flows", "second", 20, "far > near"),
    Scenario("uncooperative-flow", "fair", 20, "far > near"),
    Scenario("parking-lot", "c", 20, "r1 > r0"),
    Scenario("lossy-link", "consumer", 40, "far > near"),
    Scenario("long-path", "consumer", 40, "far > near"),
    Scenario("twenty-flows", "c20", 2, "far > near"),
    Scenario("short-flows", "second", 20, "far > near"),
    Scenario("two-paths", "consumer", 40, "lower > fork", True),
    Scenario("four-sources", "consumer", 40, "p4 > fork", True),
    Scenario("capacity-drop", "consumer", 40, "far > near"),
]


@dataclass
class Result:
    """The result of a scheme in a scenario."""

    scheme: str
    scenario: Scenario
    goodput: float = 0.0
    queue_mean: float = 0.0
    queue_p99: float = 0.0
    jain: float = 0.0
    # Seconds until the watched flow had 90 % of its share for a second; None: never.
    fair_after: float | None = None
    false_losses: int = 0
    interests_per_data: float | None = None
    # Of short flows: how many there were, how many finished, the mean of their times in seconds.
    short: tuple[int, int, float | None] | None = None
    # By flow: middles of steps in seconds, and Mbit/s in them.
    rates: dict = field(default_factory=dict)


def schemes(weir):
    """The description of each scheme by `weir schemes`."""
    done = subprocess.run([weir, "schemes", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def baseline(known):
    """The plain consumer, for schemes that have none."""
    return next(scheme["name"] for scheme in known if "baseline" in scheme["default_for"])


def settings(scheme, scenario, plain):
    """How a scheme is chosen for the whole of a scenario."""
    name, parts = scheme["name"], scheme["parts"]
    chosen = [f"scheme={name}"]
    if "startup" in parts:
        chosen = [f"control={name}+{plain}"]
    elif "controller" not in parts:
        chosen.append(f"control={plain}")
    if scenario.has_strategy and "strategy" in parts:
        chosen.append(f"strategy={name}")
    return chosen


def run(weir, scheme, scenario, plain, quick):
    """One run."""
    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        out = Path(folder, "run")
        chosen = settings(scheme, scenario, plain) + (["duration=8 s"] if quick else [])
        sets = [word for setting in chosen for word in ("--set", setting)]
        command = [weir, "sim", "run", scenario.file, "--quiet", "--json", "--out", out, *sets]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return result(scheme["name"], scenario, json.loads(done.stdout), out / "series.parquet")


def series(file, kind, quantity):
    """A quantity of everything of a kind: by entity, times and values."""
    table = parquet.read_table(
        file, filters=[("kind", "=", kind), ("quantity", "=", quantity)],
        columns=["time_s", "entity", "value"],
    )
    found = {}
    for entity in compute.unique(table["entity"]).to_pylist():
        rows = table.filter(compute.equal(table["entity"], entity))
        found[entity] = (rows["time_s"].to_numpy(), rows["value"].to_numpy())
    return found


def rates(file, flows, duration):
    """Each flow's goodput in steps, from the bytes that it had handed on."""
    edges = numpy.arange(0, duration + STEP / 2, STEP)
    found = {}
    for label, (times, arrived) in series(file, "flow", "bytes").items():
        at = numpy.interp(edges, times, arrived, left=0)
        found[label] = (edges[:-1] + STEP / 2, numpy.diff(at) * 8 / 1e6 / STEP)
    nothing = (edges[:-1] + STEP / 2, numpy.zeros(len(edges) - 1))
    return {flow["flow"]: found.get(flow["flow"], nothing) for flow in flows}


def fair_after(times, goodput, start, share):
    """Seconds from a flow's start until it has 90 % of its share for a second."""
    steps = int(1 / STEP)
    means = numpy.convolve(goodput, numpy.ones(steps) / steps, "valid")
    good = (means >= 0.9 * share) & (times[: len(means)] >= start)
    return float(times[good.argmax()] - STEP / 2 - start) if good.any() else None


def result(name, scenario, summary, file):
    """The figures of a run."""
    found = Result(name, scenario)
    flows = [flow for flow in summary["flows"] if flow["workload"] is None]
    found.rates = rates(file, flows, summary["duration_s"])
    watched = next(flow for flow in flows if flow["node"] == scenario.watched)
    under_control = [flow for flow in flows if flow["control"] != "constant-rate"]
    # From where all are there on: the last third.
    late = {flow: rate[len(rate) * 2 // 3:].mean() for flow, (_, rate) in found.rates.items()}
    found.goodput = float(sum(late[flow["flow"]] for flow in under_control))
    squares = sum(rate**2 for rate in late.values())
    found.jain = float(sum(late.values()) ** 2 / (len(late) * squares)) if squares else 0.0
    queue = series(file, "link", "queue_bytes")[scenario.queue][1] / 1e3
    found.queue_mean, found.queue_p99 = float(queue.mean()), float(numpy.percentile(queue, 99))
    share = scenario.share * EFFICIENCY
    found.fair_after = fair_after(*found.rates[watched["flow"]], watched["start_s"], share)
    found.false_losses = sum(flow["false_losses"] for flow in under_control)
    data = sum(flow["data"] for flow in under_control)
    found.interests_per_data = sum(f["interests"] for f in under_control) / data if data else None
    for load in summary["workloads"]:
        found.short = load["started"], load["completed"], load["fct_mean_s"]
    return found


def all_runs(weir, chosen, plain, quick):
    """All schemes on all scenarios, two at a time: by scenario, in the order of `chosen`."""
    pairs = [(scheme, scenario) for scenario in SCENARIOS for scheme in chosen]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda pair: run(weir, *pair, plain, quick), pairs)
        results = list(done)
    return {s: [r for r in results if r.scenario == s] for s in SCENARIOS}
