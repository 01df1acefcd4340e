"""The work of a cluster's worker: points of a sweep, one after the other.

A task is bytes (`pack`), and so is its answer (`run`): neither the engine nor the worker's queue
need know a class of Weir.
"""

import hashlib
import pickle
import sys
import time
import traceback
from dataclasses import dataclass, field

from . import _errors, _parts, _weir
from ._errors import RunError, WeirError
from ._results import Results


@dataclass(frozen=True)
class Job:
    """A point as a worker needs it: the scenario with all defaults, and its seed.

    `file` is its path in messages. `files` has the hashes of the files that the scenario names, by
    their paths.
    """

    key: str
    text: str
    file: str
    seed: int
    files: dict

    @classmethod
    def of(cls, point):
        """The job of a point."""
        scenario = point.scenario
        return cls(point.key, scenario.filled, scenario.file, point.seed, point.files)

    @staticmethod
    def answers(jobs, tables, patience):
        """The answers to these jobs."""
        return [_one(job, tables, patience) for job in jobs]


@dataclass
class Answer:
    """The results of a point as Arrow tables by name, or the class and the text of its error.

    `seconds` is how long it took.
    """

    key: str
    seconds: float = 0.0
    tables: dict = field(default_factory=dict)
    error: str | None = None
    text: str = ""

    def exception(self):
        """The exception of a point that failed; `None` if it did not."""
        if self.error is None:
            return None
        kind = getattr(_errors, self.error, WeirError)
        made = kind.__new__(kind)
        Exception.__init__(made, self.text)
        return made


class OtherVersion(Exception):
    """The worker has another version of Weir."""


def pack(jobs, schemes, tables, patience):
    """A task: these jobs, with the schemes in Python that they name."""
    import cloudpickle

    # Workers need not have the modules in which schemes are defined.
    modules = {sys.modules.get(base.__module__) for one in schemes for base in one.__mro__}
    own = [
        module
        for module in modules
        if module is not None
        and module.__name__.partition(".")[0] not in ("weir", "builtins", "__main__")
        and module.__name__ not in cloudpickle.list_registry_pickle_by_value()
    ]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps((_weir.BUILD, jobs, schemes, tables, patience))
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def run(task):
    """Run the points of a task. Returns the pickled answers, in their order."""
    version, jobs, schemes, tables, patience = pickle.loads(task)
    if version != _weir.BUILD:
        raise OtherVersion(
            f"a worker has Weir {_weir.BUILD}, and this program {version}; install the same "
            "package on all of them"
        )
    for scheme in schemes:
        # A class that came as a value was empty when it was registered.
        _parts.make_scheme(scheme)
    return pickle.dumps(type(jobs[0]).answers(jobs, tables, patience))


def _one(job, tables, patience):
    answer, begin = Answer(job.key), time.perf_counter()
    try:
        _check(job.files)
        seed = _weir.setting("seed", job.seed)
        scenario = _weir.Scenario.parse(job.text, job.file, [seed]).point(0)
        found, problem = _weir.run(scenario, 1, _tick, patience, None, "")
        if problem is not None:
            raise problem
        results = Results(found, None)
        answer.tables = {name: results.table(name).to_arrow() for name in tables}
    except WeirError as error:
        answer.error, answer.text = type(error).__name__, str(error)
        if error.__cause__ is not None:
            cause = "".join(traceback.format_exception(error.__cause__)).rstrip()
            answer.text = f"{answer.text}\n{cause}"
    answer.seconds = time.perf_counter() - begin
    return answer


def _tick(share, events):
    """A worker shows no progress."""


def _check(files):
    """The files that a scenario names are those of the program that began the sweep."""
    for path, expected in files.items():
        try:
            with open(path, "rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise RunError(
                f"a worker cannot read {path}: {error.strerror}; put it on a folder that all share"
            ) from error
        if found != expected:
            raise RunError(f"{path} of a worker has another content; put it on a shared folder")
