"""Results in notebooks."""

from base64 import b64encode
from html import escape

# Rows of a table that are shown.
MOST_ROWS = 20

FLOWS = [
    ("flow", "flow", 0),
    ("control", "control", 0),
    ("goodput_mbps", "goodput, Mbit/s", 1),
    ("fct_s", "completion, s", 1),
    ("rtt_mean_ms", "mean RTT, ms", 1),
    ("retransmissions", "retransmissions", 1),
]


def _shown(value):
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return escape(str(value))


def _data(svg):
    """An SVG as an address, so that its styles do not reach the page around it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def results(made):
    """The network, and the first flows."""
    scenario = made.scenario
    summary = made.summary
    runs = summary.get("runs", [summary])
    rows = [
        {"run": number, **dict(run["settings"]), **flow}
        for number, run in enumerate(runs)
        for flow in run["flows"]
    ]
    more, rows = len(rows) - MOST_ROWS, rows[:MOST_ROWS]
    columns = [(name, name, 0) for name in made.swept if name != "control"] + FLOWS
    if len(made) > 1:
        columns.insert(0, ("run", "run", 1))
    head = "".join(f"<th>{escape(text)}</th>" for _, text, _ in columns)
    align = ["left", "right"]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{align[side]}">{_shown(row.get(name))}</td>'
            for name, _, side in columns
        )
        + "</tr>"
        for row in rows
    )
    note = f"<p>and {more:,} flows more</p>" if more > 0 else ""
    state = " (interrupted)" if made.interrupted else ""
    question = f"<p>{escape(scenario.question)}</p>" if scenario.question else ""
    return (
        f"<h4>{escape(scenario.name)}{state}</h4>{question}"
        f'<img alt="the network" style="max-width:48em" src="{_data(scenario.svg())}">'
        f"<table><tr>{head}</tr>{body}</table>{note}"
    )
