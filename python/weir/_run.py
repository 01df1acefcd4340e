"""Running scenarios."""

import os
import shlex
import sys
from contextlib import contextmanager
from importlib.util import find_spec

from . import _weir
from ._errors import Interrupted
from ._results import Results
from ._scenario import Scenario

# Seconds for one call of a scheme in Python.
PATIENCE = 10.0


@contextmanager
def _bar(progress, name):
    """A function that shows the share that is done: a bar of tqdm, if that is installed."""
    if callable(progress):
        yield progress
        return
    wanted = progress if progress is not None else sys.stderr.isatty() or _in_notebook()
    try:
        if _in_notebook() and find_spec("ipywidgets") is None:
            # `tqdm.auto` would warn.
            from tqdm import tqdm
        else:
            from tqdm.auto import tqdm
    except ImportError:
        wanted = False
    if not wanted:
        yield lambda share, events: None
        return
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
    with tqdm(total=1.0, desc=name, bar_format=form, delay=0.5) as bar:

        def tick(share, events):
            bar.set_postfix_str(f"{events:,} events", refresh=False)
            bar.update(share - bar.n)

        yield tick


def _in_notebook():
    return "ipykernel" in sys.modules


def run(scenario, /, *, jobs=None, out=None, progress=None, patience=PATIENCE, **settings):
    """Run a scenario, and return its results.

    `scenario` is a `Scenario` or the path of a file. `settings` replace values in it, as
    `Scenario.set` does: `weir.run("film.toml", control="bbr", seed=3)`. A scenario with `[sweep]`
    has several runs, `jobs` of them at a time (as many as there are processors).

    `out` is a folder for everything that `weir sim run --out` writes, the report included.
    `progress` is True or False for a bar of tqdm, or a function of the share that is done and the
    number of events. `patience` is the time in seconds for each call of a scheme in Python.

    Other Python threads continue during the run. Ctrl-C ends it and raises `weir.Interrupted`,
    whose `results` has what was recorded.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario, **settings)
    elif settings:
        scenario = scenario.set(**settings)
    inner = scenario._scenario
    command = " ".join(
        ["weir sim run", shlex.quote(inner.file)]
        + [f"--set {shlex.quote(one)}" for one in inner.settings]
    )
    out = os.fspath(out) if out is not None else None
    with _bar(progress, scenario.name) as tick:
        made, problem = _weir.run(inner, jobs or os.cpu_count() or 1, tick, patience, out, command)
    results = Results(made, scenario) if made is not None else None
    if problem is None:
        return results
    if isinstance(problem, KeyboardInterrupt) and not isinstance(problem, Interrupted):
        problem = Interrupted(
            "interrupted; `results` of this exception has what was done until then"
        )
    if hasattr(type(problem), "results"):
        problem.results = results
    raise problem
