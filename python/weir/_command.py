"""The command `weir sweep`: the program checks its options, and runs this module with them."""

import json
import math
import os
import re
import sys
import traceback

from . import _scenario, _start, _weir
from ._design import Until
from ._errors import Interrupted, ResultsError, ScenarioError, WeirError
from ._sweep import sweep

# The exit codes of the program.
FAILED, USAGE, INTERRUPTED, FILE = 1, 2, _start.INTERRUPTED, 7
# Failed points that are listed.
LISTED = 5


# The words for failures in JSON.
KINDS = {FAILED: "failed", USAGE: "usage", INTERRUPTED: "interrupted", FILE: "file"}
# The last failure: its code, message and next step.
FAILURE = []


def main(text):
    """Run the sweep of a command line. Returns its exit code."""
    asked = json.loads(text)
    code = run_and_catch(asked)
    if code and asked["json"]:
        said, message, then = FAILURE[-1] if FAILURE else (code, "the reader has gone", None)
        error = {"kind": KINDS[said], "exit": said, "message": message, "next": then}
        note(json.dumps({"error": error}))
    return code


def run_and_catch(asked):
    """Run the sweep. Its errors become lines. Returns its exit code."""
    try:
        _start.raise_interrupts()
        return sweep_and_show(asked)
    except KeyboardInterrupt:
        return interrupted()
    except ScenarioError as error:
        # Without mistakes, the file cannot be read.
        return fail(error, USAGE if error.mistakes else FILE)
    except ResultsError as error:
        return fail(error, FILE)
    except WeirError as error:
        return fail(error, FAILED)
    except ImportError as error:
        if error.name is None:
            return fail(error, FAILED)
        return fail(f"the package `{error.name}` is not installed; install pyarrow", FAILED)
    except ValueError as error:
        return fail(error, USAGE)
    except Exception as error:  # noqa: BLE001 (a user sees a line, and no traceback)
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno}"
        text = f"unexpected {type(error).__name__} at {place}: {error}; complete points are kept"
        return fail(text, FAILED)


def sweep_and_show(asked):
    """Run the sweep, and print what it has come to. Returns the exit code."""
    try:
        made, code = run(asked)
    except Interrupted as error:
        made, code = error.results, INTERRUPTED
    try:
        show(asked, made)
    except OSError as error:
        if isinstance(error, ResultsError):
            raise
        # Nothing more can be written when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return FILE
        return fail(f"cannot write the output: {error.strerror}; the points are kept", FILE)
    if code == INTERRUPTED:
        return interrupted()
    return code


def run(asked):
    """The sweep, and its exit code."""
    import_pyarrow()
    until, words = None, asked["until"]
    if words["measure"] is not None:
        names = ("measure", "over", "confidence", "margin", "most")
        until = Until(**{name: words[name] for name in names}, first=min(10, words["most"]))
    seed = [] if asked["seed"] is None else [_weir.setting("seed", asked["seed"])]
    loaded = _weir.Scenario.load(asked["file"], asked["set"] + seed)
    scenario = _scenario.Scenario._of(loaded)
    made = sweep(
        scenario,
        asked["out"],
        engine=asked["engine"],
        jobs=asked["jobs"],
        until=until,
        progress=False if asked["quiet"] or asked["json"] else None,
    )
    return made, FAILED if made.failed else 0


def import_pyarrow():
    """Results are written with it: it is missed before anything is run."""
    import pyarrow.parquet  # noqa: F401


def show(asked, made):
    """Print what the sweep has come to."""
    failed = [
        {"settings": dict(key[:-1]), "seed": key[-1][1], "error": str(error)}
        for key, error in made.failed.items()
    ]
    if asked["json"]:
        shown = {
            "place": str(made.place),
            "points": len(made),
            "done": made.done,
            "new": made.new,
            "failed": failed,
            "comparisons": [compared(one) for one in made.comparisons],
        }
        print(json.dumps(shown), flush=True)
    elif not asked["quiet"]:
        print(f"{made.done} of {len(made)} points have results, {made.new} of them new", flush=True)
        for one in made.comparisons:
            print(sentence(one), flush=True)
        note(f"written to {made.place}")
    for one in failed[:LISTED]:
        settings = " ".join(f"{key}={value}" for key, value in one["settings"].items())
        note(f"weir: {settings} seed={one['seed']} failed: {one['error']}")
    if len(failed) > LISTED:
        note(f"weir: {len(failed) - LISTED} more points failed; --json lists them")
    if failed:
        FAILURE.append((FAILED, f"{len(failed)} points failed", "`failed` lists them"))


def compared(one):
    """A comparison as an object of JSON, which has no infinite numbers."""
    low, high = (end if math.isfinite(end) else None for end in (one.low, one.high))
    names = ("settings", "a", "b", "difference", "seeds", "outcome", "bounded", "missing")
    shown = {name: getattr(one, name) for name in names}
    return shown | {"reason": one.reason, "low": low, "high": high}


def sentence(one):
    """A comparison in words."""
    place = "".join(f" {key}={value}" for key, value in one.settings.items())
    text = {"more": ">", "less": "<", "equal": "=", None: "undecided with"}[one.outcome]
    if one.reason is not None or one.difference is None:
        return f"{one.a} {text} {one.b}{place}: {one.reason or 'no values'}"
    ends = f"{one.low:.4g} to {one.high:.4g}"
    missing = f", {one.missing} more without a value" if one.missing else ""
    seeds = f"{one.seeds} seeds{missing}"
    return f"{one.a} {text} {one.b}{place}: {one.difference:.4g} ({ends}), {seeds}"


def note(text):
    """A line on standard error."""
    print(text, file=sys.stderr, flush=True)


def fail(error, code):
    """The message of an error, and its exit code."""
    text = re.sub(r" \(os error \d+\)", "", str(error))
    note("weir: " + text)
    FAILURE.append((code, text, None))
    return code


def interrupted():
    """The message of an interruption, and its exit code."""
    then = "the same command runs the points that are left"
    note("weir: interrupted; " + then)
    FAILURE.append((INTERRUPTED, "interrupted", then))
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
