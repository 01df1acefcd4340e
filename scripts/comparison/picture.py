"""Small multiples: the goodput of every flow over time, a panel for each scheme."""

import re

COLUMNS = 4
# Okabe and Ito's colours, as crates/report/src/colours.rs has them, on light and on dark ground.
FLOWS = [("#0072b2", "#4aa8e0"), ("#d55e00", "#f0803c"), ("#009e73", "#2fc79b"),
         ("#b8588f", "#e295c0")]
INK, SOFT, GRID = ("#1b1f23", "#e6e8ea"), ("#5a6370", "#a3adb8"), ("#dde1e6", "#30363d")
STYLES = ["-", "--", "-.", ":"]
# A tenth of a point is finer than visible, and half as long.
NUMBER = re.compile(r"-?\d+\.\d+")
# Equal runs give equal files, and small ones: fonts and caps are said of every line.
PLAIN = {"svg.hashsalt": "weir", "svg.fonttype": "none", "font.family": "sans-serif",
         "font.sans-serif": ["DejaVu Sans", "Arial"], "lines.solid_capstyle": "butt"}


def draw(results, file):
    """Draws the runs of a scenario."""
    # Merging rows into a page draws nothing and does not need it.
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    scenario = results[0].scenario
    rows = -(-len(results) // COLUMNS)
    with matplotlib.rc_context(PLAIN):
        figure, panels = pyplot.subplots(
            rows, COLUMNS, figsize=(10, 1.5 * rows + 0.6), sharex=True, sharey=True,
            squeeze=False, layout="constrained",
        )
        for panel, result in zip(panels.flat, results):
            one(panel, result)
        for panel in panels.flat[len(results):]:
            panel.set_visible(False)
        for panel in panels[:, 0]:
            panel.set_ylabel("Mbit/s", color=SOFT[0], fontsize=8)
        for column in range(COLUMNS):
            last = (len(results) - 1 - column) // COLUMNS
            panels[last, column].set_xlabel("time in s", color=SOFT[0], fontsize=8)
            panels[last, column].tick_params(labelbottom=True)
        if 1 < len(results[0].rates) <= len(FLOWS):
            handles = panels[0, 0].get_lines()[: len(results[0].rates)]
            figure.legend(handles, list(results[0].rates), loc="outside upper center",
                          ncols=4, frameon=False, fontsize=8, labelcolor=SOFT[0])
        figure.savefig(file, transparent=True, metadata={"Date": None, "Title": scenario.name})
        pyplot.close(figure)
    # A reader sees it on the ground that he prefers.
    for_dark = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark} !important}}'
        for light, dark in [INK, SOFT, GRID, *FLOWS] for what in ("fill", "stroke")
    )
    text = file.read_text(encoding="utf-8")
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    style = f"<style>@media (prefers-color-scheme: dark){{{for_dark}}}</style>"
    text = re.sub(r"(<svg [^>]*>)", lambda found: found[1] + style, text, count=1)
    text = re.sub(r' d="[^"]*"', lambda path: shortened(path[0]), text)
    file.write_text("\n".join(line.strip() for line in text.splitlines()) + "\n", encoding="utf-8")


def rounded(number):
    """A coordinate to the tenth."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def shortened(path):
    """A path with rounded coordinates, and no space that it does not need."""
    return re.sub(r"([ML]) ", r"\1", NUMBER.sub(rounded, path))


def one(panel, result):
    """A panel."""
    many = len(result.rates) > len(FLOWS)
    looks = zip(FLOWS * len(result.rates), STYLES * len(result.rates))
    # A second a step is enough for the eye, and two where many flows start one after the other.
    step = 4 if many else 2
    for at, ((flow, (times, rate)), ((light, _), style)) in enumerate(
        zip(result.rates.items(), looks)
    ):
        if many:
            # The flow that is watched before all others, of which every fifth is drawn.
            watched = flow.split()[0] == result.scenario.watched
            if at % 5 and not watched:
                continue
            light, style = (FLOWS[1][0], "-") if watched else (FLOWS[0][0], "-")
        times, rate = (
            row[: len(row) // step * step].reshape(-1, step).mean(1) for row in (times, rate)
        )
        panel.plot(times, rate, style, color=light, linewidth=0.5 if many else 1.1, label=flow)
    panel.axhline(result.scenario.share, color=SOFT[0], linewidth=0.5)
    panel.set_title(result.scheme, fontsize=9, color=INK[0], pad=3)
    top = 42 if not many else 5 * result.scenario.share
    panel.set_ylim(0, top)
    panel.set_xlim(0, None)
    panel.grid(color=GRID[0], linewidth=0.5)
    panel.set_yticks([0, 20, 40] if not many else [0, result.scenario.share, top])
    from matplotlib.ticker import MultipleLocator

    panel.xaxis.set_major_locator(MultipleLocator(10))
    panel.tick_params(labelsize=7, labelcolor=SOFT[0], length=0)
    for spine in panel.spines.values():
        spine.set_visible(False)
