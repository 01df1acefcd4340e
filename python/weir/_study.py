"""Studies and arenas on a cluster: `weir study --engine` runs this module.

The program plans the runs, with a key for each. Workers run the program for the runs that have no
record, and send the records back. At the end the program makes the pages from the records, as it
does from runs of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import _start, _weir, _worker
from ._cluster import Cluster
from ._command import FAILED, FILE, INTERRUPTED, LISTED, USAGE, fail, note
from ._engines import ENGINES
from ._errors import ResultsError, RunError, WeirError
from ._run import _bar
from ._worker import Answer

# An arena is a folder with this file; `--all` is of studies, which have another one.
ARENA = "arena.toml"
# The folder of studies that `--all` without a folder means.
STUDIES = "scenarios"


@dataclass(frozen=True)
class Run:
    """A run of a study, and a worker's job: its number and key in the plan of the folder."""

    key: str
    number: int
    folder: str
    options: tuple

    @staticmethod
    def answers(jobs, _tables, _patience):
        """The records of these runs."""
        found = []
        for folder, options in dict.fromkeys((job.folder, job.options) for job in jobs):
            own = [job for job in jobs if (job.folder, job.options) == (folder, options)]
            found += _answers(folder, options, own)
        return found


def _answers(folder, options, jobs):
    """The records of runs of one study: a process does all of them, one after the other."""
    with tempfile.TemporaryDirectory(prefix="weir-") as place:
        asked = [f"--run={job.number}:{job.key}" for job in jobs]
        command = [_program(), "study", folder, *options, *asked, "--records", place]
        done = subprocess.run([*command, "--jobs=1", "--quiet"], capture_output=True, text=True)
        if done.returncode != 0:
            text = done.stderr.strip().removeprefix("weir: ") or f"exit code {done.returncode}"
            return [Answer(job.key, error="RunError", text=text) for job in jobs]
        failed = {one["number"]: one["error"] for one in json.loads(done.stdout)["failed"]}
        return [_answer(Path(place), job, failed) for job in jobs]


def _answer(place, job, failed):
    if (error := failed.get(job.number)) is not None:
        return Answer(job.key, error="RunError", text=error)
    record = (place / f"{job.key}.json").read_text(encoding="utf-8")
    return Answer(job.key, seconds=json.loads(record)["wall_s"], tables={"record": record})


def _program():
    """The program of the package, beside the interpreter or in the path."""
    beside = Path(sys.executable).with_name("weir")
    return str(beside) if beside.is_file() else "weir"


class Records:
    """The records of runs in a folder, as `Cluster` takes them."""

    def __init__(self, place, runs):
        self.place, self.runs = Path(place), runs
        self.new = 0
        self._failed = {}
        try:
            self.place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._error(error) from error

    def _path(self, key):
        return self.place / f"{key}.json"

    def _left(self, runs):
        return [run for run in {run.key: run for run in runs}.values() if not self.has(run)]

    def has(self, run):
        """A run has a record. One that is damaged counts as none, and is replaced."""
        try:
            record = json.loads(self._path(run.key).read_bytes())
        except (OSError, RecursionError, ValueError):
            return False
        return isinstance(record, dict) and "wall_s" in record

    def _pack(self, runs, patience):
        return _worker.pack(runs, [], (), patience)

    def _keep(self, run, answer):
        path = self._path(run.key)
        beside = path.with_name(f".{run.key}-{os.getpid()}")
        try:
            beside.write_text(answer.tables["record"], encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise self._error(error) from error

    def _fail(self, run, error):
        self._failed[run.key] = error

    def _error(self, error):
        text = f"cannot write {self.place}: {error.strerror}; choose another folder with --records"
        return ResultsError(text)


def main(text):
    """Run the studies of a command line. Returns the exit code of the program."""
    asked = json.loads(text)
    try:
        _start.raise_interrupts()
        records = run(asked)
    except KeyboardInterrupt:
        note("weir: interrupted; run the same command again to finish the rest")
        return INTERRUPTED
    except Exit as error:
        return error.code
    except ResultsError as error:
        return fail(error, FILE)
    except ImportError as error:
        return fail(f"the package `{error.name}` is not installed; install it", FAILED)
    except ValueError as error:
        return fail(error, USAGE)
    except WeirError as error:
        return fail(error, FAILED)
    if not asked["quiet"]:
        note(f"{len(records.runs)} runs, {records.new} of them new")
    failed = list(records._failed.items())
    for key, error in failed[:LISTED]:
        note(f"weir: run {key} failed: {' '.join(str(error).split())}")
    return pages(asked)


class Exit(Exception):
    """The program ended with this code, and has said why."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def studies(asked):
    """The command lines of the studies: folders with their options."""
    if not asked["all"]:
        return [[asked["folder"]]]
    folder = asked["folder"] or STUDIES
    arenas = sorted(str(one.parent) for one in Path(folder).glob(f"*/{ARENA}"))
    return [["--all", folder], *([one] for one in arenas)]


def run(asked):
    """Do the runs that have no record."""
    runs = []
    for place in studies(asked):
        command = [asked["program"], "study", *place, *asked["options"], "--plan"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Exit(done.returncode)
        plan = json.loads(done.stdout)
        if plan["version"] != _weir.BUILD:
            what = f"the program is Weir {plan['version']}, and the package {_weir.BUILD}"
            raise WeirError(f"{what}; use the program `weir` of the package")
        options = tuple(asked["options"])
        for one in plan["studies"]:
            folder = os.path.abspath(one["folder"])
            runs += [Run(each["key"], each["number"], folder, options) for each in one["runs"]]
    records = Records(asked["records"], runs)
    with _bar(False if asked["quiet"] or asked["json"] else None, "studies") as tick:
        cluster = Cluster(ENGINES[asked["engine"]](), records, runs, None)
        cluster.run(tick)
    if records._failed and not any(map(records.has, runs)):
        raise RunError(str(next(iter(records._failed.values()))))
    return records


def pages(asked):
    """Make the pages. Runs that failed on the cluster are tried here: they fail at once."""
    code = 0
    shown = ["--quiet"] * asked["quiet"] + ["--json"] * asked["json"]
    places = ["--records", asked["records"], "--out", asked["out"]]
    for place in studies(asked):
        command = [asked["program"], "study", *place, *asked["options"], *places, *shown]
        code = code or subprocess.run(command).returncode
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
