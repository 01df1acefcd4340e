"""The page: what was run, a table and a picture of each scenario, and what the schemes cost."""

import platform
import tomllib

from comparison.picture import FLOWS

HEAD = """# The schemes compared

This page compares all schemes of Weir in twelve standard scenarios (`scenarios/standard`). Each
scheme runs in the simulator with its defaults. `scripts/schemes` writes this page and its pictures.
The same program gives the same numbers on any machine.

The bottlenecks of a scenario have 40 Mbit/s together, of which content can have {most:.1f}. In the
parking lot, each of three bottlenecks has 40 Mbit/s. Queues hold 250 kB, or 50 ms, unless the
scenario differs. Segments have 1024 bytes.

A scheme is used as a whole: its consumer at every fetch, its marker, shaper and stamper on every
link. `{plain}` is the consumer of schemes without one, and follows every startup. A scheme with
only a strategy makes no difference on a single path. With two sources, each path leads to half of
the segments. Strategies that choose by bandwidth (`path-label`), by the latest answer (`ccnd`) or
at random (`random`, `weighted`) choose the wrong path for every second segment, which is then
requested again. With two paths and with four sources, each path leads to all segments. There every
scheme is used with its own strategy or, if it has none, with `weighted`, which gives all paths the
same share. `ccncatchunks2` has at most 31 Interests in flight on any path.

Some schemes do not fill a long path, because of their laws. At a round trip of 200 ms, `pcon` uses
39 % of 10 Mbit/s (the interval of CoDel is 100 ms), `raaqm` 15 % of 4 Mbit/s, and `icp` 3 % of
4 Mbit/s. `ccncatchunks2` and `fixed` are limited by their windows. The files of these schemes give
the reasons. `aimd`, `bic`, `cctcp`, `contug`, `cubic` and `ictp` fill paths of 1 ms to 1 s and
repeat nothing that was not lost (`crates/sim/tests/all/timers.rs`).

The columns cover all flows except consumers at a constant rate:

| column | meaning |
|---|---|
| goodput | content per second in the last third of the run, of all flows together |
| queue | bytes that waited at the bottleneck: the mean, and the 99th percentile of samples |
| Jain | Jain's index of the flows in the last third: 1 is equal, 1/n is all for one flow |
| fair after | from the start of the watched flow until it had 90 % of its fair share for a second |
| false | false losses: the Data came later |
| Interests | Interests sent per received Data packet |
| short | flows of 100 kB: mean completion time; `≥` and the share that finished, if not all did |

"""
LIMITS = """\
## Limits of the laws

In these networks a scheme does not do what its paper promises. The table shows the one setting that
changes this. The scheme's file gives the reason. `weir sim run scenarios/limits/NAME.toml` prints
the runs.

| scheme | network | as it is | with one setting changed | run |
|---|---|---:|---|---|
| `chopcop` | two flows, 60 ms, 25 Mbit/s: windows below 20 chunks | 20.7 and 2.7 Mbit/s | alike \
with `slow_start=once`, `mark_pause=0` or `N=4` | `chopcop` |
| `hr-icp` | beside a consumer that asks for 40 of 40 Mbit/s | 2.1 Mbit/s | 18.0 with the window \
of `aimd` | `hr-icp` |
| `icp` | 4 Mbit/s, 20 ms: 2.2 ms a segment | 0.7 Mbit/s | 3.8 with `G=5 ms` | `icp` |
| `ictp` | two paths of 20 Mbit/s, 30 and 110 ms | 0.4 Mbit/s | 34.9 with `dupthresh=1000` | \
`ictp` |
| `pcon` | its authors' scenario 4.2, a FIB entry for each object | 23.0 of 60 Mbit/s | 39.0 with \
one entry for all | `pcon`, `pcon-one-entry` |
| `raaqm` | 40 Mbit/s, 54 ms: 250 segments | 2.5 Mbit/s | 23.2 with `grain=1 ms` | `raaqm` |

"""
COSTS = """## What they cost

The table shows nanoseconds of one core: of the consumer's part for each Data packet, and of the
link parts for each packet that crosses a link, Interests and Data in turn. This command prints
them: `cargo bench -p schemes --bench cost` (here: {machine}).
The cost of a controller or link without a scheme is subtracted. For a startup around `{plain}`,
the cost of `{plain}` is subtracted. A scheme with only a strategy has neither part.

| scheme | ns for a Data | ns for a packet |
|---|---:|---:|
"""


def short(result):
    """The cell of short flows."""
    started, completed, mean = result.short
    if mean is None:
        return "| none finished |"
    if completed == started:
        return f"| {mean:.2f} |"
    return f"| ≥ {mean:.2f}, {completed / started:.0%} |"


def table(results):
    """The figures of a scenario."""
    has_short = any(result.short for result in results)
    lines = [
        "| scheme | goodput Mbit/s | queue kB mean | 99 % | Jain | fair after s | false "
        "| Interests |" + " short s |" * has_short,
        "|---|---:|---:|---:|---:|---:|---:|---:|" + "---:|" * has_short,
    ]
    for r in results:
        after = "never" if r.fair_after is None else f"{r.fair_after:.1f}"
        ratio = "-" if r.interests_per_data is None else f"{r.interests_per_data:.3f}"
        lines.append(
            f"| `{r.scheme}` | {r.goodput:.1f} | {r.queue_mean:.0f} | {r.queue_p99:.0f} "
            f"| {r.jain:.3f} | {after} | {r.false_losses} | {ratio} "
            + (short(r) if r.short else "|")
        )
    return "\n".join(lines)


def title(which):
    """The heading of a scenario's section."""
    return which.name.replace("-", " ").capitalize()


def scenario(which, results):
    """The section of a scenario."""
    text = which.file.read_text(encoding="utf-8")
    question = tomllib.loads(text)["scenario"]["question"]
    drawing = [line[2:] for line in text.split("\n\n[", 1)[0].splitlines()]
    about = "\n".join(line for line in drawing if not line.startswith(" ")).strip()
    many = len(results[0].rates) > len(FLOWS)
    drawn = (
        "Goodput of every fifth flow over time, two seconds a step" if many
        else "Goodput of each flow over time, a second a step"
    )
    network = "\n".join(f"   {line}" for line in drawing if line.startswith(" "))
    heading = title(which)
    picture = f"![goodput over time of every scheme: {heading.lower()}](pictures/{which.name}.svg)"
    seen = (
        f"{drawn}; the thin line is the fair share of "
        f"`{which.watched}`, the flow that is watched."
    )
    parts = [f"## {heading}", question, about, network, table(results), picture, seen]
    return "\n\n".join(part for part in parts if part) + "\n\n"


def costs_rows(rows):
    """The rows of the table of costs."""
    number = lambda n: "-" if n is None else f"{n:.0f}"  # noqa: E731
    return [f"| `{r['scheme']}` | {number(r['consumer_ns'])} | {number(r['link_ns'])} |"
            for r in rows if r["consumer_ns"] is not None or r["link_ns"] is not None]


def costs(rows, machine, plain):
    """The section of costs."""
    return COSTS.format(machine=machine, plain=plain) + "\n".join(costs_rows(rows)) + "\n"


def machine():
    """A description of the machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    kernel = platform.release().split("-")[0]
    return f"{names[0] if names else platform.processor()}, Linux {kernel}"


def whole(results, rows, most, plain):
    """The page."""
    sections = "".join(scenario(which, found) for which, found in results.items())
    head = HEAD.format(most=most, plain=plain)
    return head + sections + LIMITS + costs(rows, machine(), plain)
