"""The simulator: packet-hops a second on one core, memory over simulated time, runs over cores.

A packet-hop is one packet, Interest or Data, through one forwarder's whole pipeline and over one
link.
"""

import json
import os
import statistics
from pathlib import Path

from experiment import attempt
from support.children import Child, Failed
from table import Table

SCENARIOS = Path(__file__).resolve().parent / "scenarios"
PATIENCE = 600
NAMES = ("line", "line-stores", "abilene", "grid", "thousand")
# Factors of the duration, run one after the other.
SPANS = (1, 2, 10)


def measure(lab):
    """All three tables."""
    speed(lab)
    memory(lab)
    cores(lab)


def run(lab, file, *options):
    """Run a scenario; returns its output and the process that ran it."""
    out = lab.folder / "simulated.json"
    out.unlink(missing_ok=True)
    argv = [lab.weir, "sim", "run", SCENARIOS / file, "--json", *options]
    with Child(argv, lab.folder / "simulator.log", out) as child:
        if child.wait(PATIENCE) != 0:
            raise Failed(f"{child.name} failed\n{child.last_words()}")
        return json.loads(out.read_text(encoding="utf-8")), child


def speed(lab):
    """Every scenario several times, one core."""
    runs = lab.runs(5)
    table = Table(
        f"Simulator: packet-hops on one core, best and median of {runs} runs",
        "scenario",
        "million/s best",
        "median",
        "packet-hops",
        "simulated s",
        "wall s",
        "peak MB",
        width=14,
    )
    for name in NAMES:
        with attempt(table, name):
            results = [run(lab, f"{name}.toml") for _ in range(runs)]
            rates = [said["packet_hops"] / said["wall_s"] / 1e6 for said, _ in results]
            last, _ = results[-1]
            hashes = {said["trace_hash"] for said, _ in results}
            if len(hashes) != 1 or not all(flow["complete"] for flow in last["flows"]):
                raise Failed("runs differ, or a flow did not come through")
            table.row(
                name,
                max(rates),
                statistics.median(rates),
                last["packet_hops"],
                last["duration_s"],
                min(said["wall_s"] for said, _ in results),
                max(child.usage().peak_bytes for _, child in results) / 1e6,
            )


def memory(lab):
    """The same traffic once, twice and ten times as long."""
    seconds = 2 if lab.quick else 20
    table = Table(
        "Simulator: memory over simulated time, 10,000 exchanges a second over six nodes",
        "simulated time",
        "packet-hops",
        "wall s",
        "peak MB",
        width=14,
    )
    for span in SPANS:
        label = f"{span * seconds} s"
        with attempt(table, label):
            said, child = run(lab, "long.toml", "--set", f"scenario.duration={label}")
            peak = child.usage().peak_bytes / 1e6
            table.row(label, said["packet_hops"], said["wall_s"], peak)


def cores(lab):
    """Repetitions of a scenario, one after the other and over all cores."""
    most = os.cpu_count() or 1
    repetitions = 2 * most if lab.quick else 4 * most
    table = Table(
        f"Simulator: {repetitions} repetitions of abilene over cores",
        "at a time",
        "wall s",
        "speed-up",
        width=14,
    )
    sweep = lab.folder / "sweep.toml"
    scenario = (SCENARIOS / "abilene.toml").read_text(encoding="utf-8")
    sweep.write_text(f"{scenario}\n[sweep]\nrepetitions = {repetitions}\n", encoding="utf-8")
    alone = None
    for jobs in range(1, most + 1):
        with attempt(table, str(jobs)):
            _, child = run(lab, sweep, "--jobs", jobs)
            alone = alone or child.seconds
            table.row(str(jobs), child.seconds, alone / child.seconds)
