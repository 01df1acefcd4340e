"""Plots with the colours, line styles and axes of the report."""

import statistics
from collections import Counter
from weakref import WeakKeyDictionary, ref

from . import _weir

# Lines in one plot, as in the report.
MOST_LINES = 8
# Points of the plotted width for a unit of the report's drawings.
SCALE = 0.75
# Axes end this much after the last flow, as in the report.
AFTER = 1.03


class _Drawn:
    """Everything that former calls have drawn into the same axes."""

    def __init__(self):
        # The lines, what each shows, and the schemes of the experiments.
        self.lines, self.shown, self.schemes, self.end = [], [], set(), 0.0
        self.colours = Counter()


_DRAWN = WeakKeyDictionary()


def _axes(ax):
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7.0, 3.6), layout="constrained")
    soft, grid = _weir.named_colour("soft"), _weir.named_colour("grid")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(soft)
    ax.tick_params(colors=soft)
    ax.grid(axis="y", color=grid, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def _style(lengths):
    """A line style of matplotlib. Its dashes are multiples of the line's width."""
    return (0, [length / 2 for length in lengths]) if lengths else "solid"


def _labelled(text, unit):
    return f"{text} ({unit})" if unit else text


def _quantity(names, wanted):
    """The name that begins like this."""
    found = [name for name in names if name == wanted] or sorted(
        {name for name in names if name.startswith(wanted)}
    )
    if not found:
        raise KeyError(f"no quantity `{wanted}` was recorded; there are {', '.join(sorted(names))}")
    return found[0]


def over_time(results, wanted, kind, ax, run):
    """Lines of a quantity over time, one for each flow, link or node."""
    table = results.series.to_arrow()
    columns = {name: table[name].to_pylist() for name in ("run", "time_s", "kind", "entity")}
    columns |= {name: table[name].to_pylist() for name in ("quantity", "value")}
    names = {name for subject, name in zip(columns["kind"], columns["quantity"]) if subject == kind}
    quantity = _quantity(names, wanted)
    label, unit, factor = _weir.axis(kind, quantity)
    lines = {}
    for number, time, subject, entity, name, value in zip(*columns.values()):
        if subject == kind and name == quantity and run in (None, number):
            xs, ys = lines.setdefault((number, entity), ([], []))
            xs.append(time)
            ys.append(value * factor)
    if len(lines) > MOST_LINES:
        raise ValueError(
            f"{len(lines)} lines are too many for one plot, {MOST_LINES} can be told apart; "
            "choose a `run`, or plot the table `series`"
        )
    controls = _controls(results)
    several = len({number for number, _ in lines}) > 1
    ax = _axes(ax)
    shown = [controls.get(key, key[1]) for key in lines]
    drawn = _DRAWN.setdefault(ax, _Drawn())
    drawn.shown += shown
    # A line that was alone is solid, and another one may be so now.
    styles = _weir.line_styles(drawn.shown)
    for line, style in zip(drawn.lines, styles):
        if (line := line()) is not None:
            line.set_linestyle(_style(style))
    styles = styles[len(drawn.lines) :]
    drawn.schemes |= _schemes(results)
    drawn.end = max(drawn.end, _end(results, run))
    for place, (key, (xs, ys)) in enumerate(lines.items()):
        control = controls.get(key)
        # Schemes without a colour of their own share one, and so do the parameters of a scheme.
        base = _weir.scheme_colour(control) if control else None
        tone = drawn.colours[base]
        drawn.colours[base] += control is not None
        colour = _weir.scheme_colour(control, tone=tone) if control else _weir.thing_colour(place)
        text = f"{key[1]}, {control}" if control else key[1]
        text = f"run {key[0]}: {text}" if several else text
        style = _style(styles[place])
        made = ax.plot(xs, ys, color=colour, linewidth=1.5, linestyle=style, label=text)
        # A line has its axes, which would be kept for good.
        drawn.lines += map(ref, made)
    ax.set_xlabel("time (s)")
    ax.set_ylabel(_labelled(label, unit))
    ax.set_xlim(0, drawn.end)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    ax.set_title(
        _caption(results, schemes=drawn.schemes),
        fontsize="small",
        loc="left",
        color=_weir.named_colour("soft"),
    )
    return ax


def over_sweep(results, x, y, ax):
    """A measure over a swept field: means, with the smallest and the largest of the repetitions."""
    if x not in results.swept:
        names = ", ".join(f"`{name}`" for name in results.swept) or "no fields"
        raise KeyError(f"`{x}` was not swept; there are {names}")
    measures = {name: rest for name, *rest in results._results.measures_of_plots}
    by_column = {rest[0]: rest for rest in measures.values()}
    if y not in measures and y not in by_column:
        raise KeyError(f"there is no measure `{y}`; there are {', '.join(sorted(measures))}")
    column, label, unit, factor = measures.get(y) or by_column[y]
    others = [name for name in results.swept if name != x]
    rows = results.runs.to_arrow().to_pylist()
    completed = results._results.completed(column) or [None] * len(rows)
    groups, flows = {}, {}
    for row, counts in zip(rows, completed):
        if row[column] is not None and not row["interrupted"]:
            key = tuple(row[name] for name in others)
            points = groups.setdefault(key, {})
            points.setdefault(row[x], []).append(row[column] * factor)
            flows.setdefault((key, row[x]), []).append(counts or (1, 1))
    # Times are lower bounds where not all flows finished, and no times where none did.
    are_bounds = False
    for (key, place), counts in flows.items():
        finished, all_flows = map(sum, zip(*counts))
        are_bounds |= 0 < finished < all_flows
        if finished == 0:
            del groups[key][place]
    groups = {key: points for key, points in groups.items() if points}
    unit_x, factor_x = results._results.unit_of_swept(x)
    ax = _axes(ax)
    place = next((i for i, name in enumerate(others) if name.split(".")[-1] == "control"), None)
    controls = [key[place] for key in groups] if place is not None else [str(k) for k in groups]
    styles = _weir.line_styles(controls)
    has_bands = False
    for number, (key, points) in enumerate(groups.items()):
        colour = _weir.thing_colour(number)
        if place is not None:
            colour = _weir.scheme_colour(controls[number])
        xs = [value * factor_x if isinstance(value, float) else value for value in points]
        means = [statistics.fmean(values) for values in points.values()]
        text = ", ".join(str(part) for part in key) or None
        style = _style(styles[number])
        ax.plot(xs, means, color=colour, linestyle=style, marker="o", markersize=4, label=text)
        if any(len(values) > 1 for values in points.values()):
            low, high = ([end(values) for values in points.values()] for end in (min, max))
            if all(isinstance(value, (int, float)) for value in xs):
                has_bands = True
                ax.fill_between(xs, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.set_xlabel(_labelled(x, unit_x))
    ax.set_ylabel(_labelled(label, unit))
    ax.set_ylim(bottom=0)
    if others:
        ax.legend(frameon=False, fontsize="small")
    note = "; bands from the smallest to the largest" if has_bands else ""
    note += "; lower bounds where flows did not finish" if are_bounds else ""
    ax.set_title(
        _caption(results, note), fontsize="small", loc="left", color=_weir.named_colour("soft")
    )
    return ax


def _flows(results):
    """Each flow with the number of its run."""
    summary = results.summary
    runs = summary.get("runs", [summary])
    return [(number, flow) for number, run in enumerate(runs) for flow in run["flows"]]


def _controls(results):
    """The scheme of each flow, by run and label."""
    return {(number, flow["flow"]): flow["control"] for number, flow in _flows(results)}


def _schemes(results):
    """The schemes of all flows."""
    return {flow["control"] for _, flow in _flows(results)}


def _end(results, run):
    """The last time that a plot shows: the end of the last flow, or of the run if one has none."""
    summary = results.summary
    ends = [0.0]
    for number, one in enumerate(summary.get("runs", [summary])):
        if run in (None, number):
            flows = [flow["end_s"] for flow in one["flows"]]
            is_listed = all(workload["unlisted"] == 0 for workload in one.get("workloads", []))
            has_ends = bool(flows) and None not in flows and is_listed
            end = max(flows) * AFTER if has_ends else one["duration_s"]
            ends.append(min(end, one["duration_s"]))
    return max(ends)


def _caption(results, note="", schemes=None):
    """The experiment, as captions of the report have it."""
    schemes = sorted(schemes or _schemes(results))
    summary = results.summary
    seeds = sorted({run["seed"] for run in summary.get("runs", [summary])})
    seed = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    shown = ", ".join(schemes[:5]) + (f" and {len(schemes) - 5} more" if len(schemes) > 5 else "")
    return f"{results.scenario.name}: {shown}, {seed}{note}"
