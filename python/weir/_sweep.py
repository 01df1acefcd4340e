"""Sweeps whose points are never run twice."""

import hashlib
import inspect
import json
import os
import shutil
import tempfile
import threading
import tomllib
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path

from . import _parts, _weir
from ._cluster import Cluster
from ._engines import ENGINES
from ._errors import Interrupted, ResultsError, WeirError
from ._run import PATIENCE, _bar
from ._results import Results, Table
from ._scenario import Scenario

# The tables that each point leaves.
TABLES = ("runs", "flows", "links", "nodes", "workloads")
# Points that wait for a thread at a time.
AHEAD = 4


class Point:
    """A point of a sweep: settings and seed, and the key that identifies it.

    The key is a hash of the scenario with all defaults filled in, the seed, the version of the
    program, the source of the schemes in Python that the scenario names, with that of their base
    classes, and the content of the files that it names. Functions, values and modules that a class
    uses from outside of it do not count.
    """

    def __init__(self, source, number, known):
        self.scenario = source.point(number)
        pairs, self.seed = source.runs[number]
        self.settings = dict(pairs)
        text = self.scenario.filled
        if text not in known:
            known[text] = _hashes_of_files(text), _schemes_in(text)
        # Hashes by path, and classes by name.
        self.files, self.schemes = known[text]
        sources = self.files | {name: _source_of(name, cls) for name, cls in self.schemes.items()}
        identity = json.dumps(
            [text, self.settings, self.seed, _weir.__version__, sources], sort_keys=True
        )
        self.key = hashlib.sha256(identity.encode()).hexdigest()[:32]


class Sweep:
    """The data set of a sweep.

    `runs`, `flows`, `links`, `nodes` and `workloads` are `pyarrow` tables of all points that are
    done, in the order of the sweep, with the swept fields as columns. `failed` has the exception of
    each point that failed, by its settings and seed. `done` and `new` count points.
    """

    def __init__(self, place, points, swept):
        self.place, self.swept = place, swept
        self._points = points
        self.failed = {}
        self.new = 0

    @property
    def done(self):
        """Points that have results."""
        return sum(self._folder(point).exists() for point in self._points)

    def _folder(self, point):
        return self.place / point.key

    def table(self, name):
        """One of the tables of all points, as a `pyarrow.Table`."""
        import pyarrow
        from pyarrow import parquet

        found = []
        swept = pyarrow.table({})
        if self.swept:
            settings = [list(point.settings.items()) for point in self._points]
            swept = pyarrow.table(Table(_weir.swept_table(settings)))
        for number, point in enumerate(self._points):
            if (file := self._folder(point) / f"{name}.parquet").exists():
                table = parquet.read_table(file)
                run = pyarrow.array([number] * len(table), pyarrow.uint64())
                table = table.set_column(0, "run", run)
                for field in reversed(swept.schema):
                    if field.name not in table.column_names:
                        column = pyarrow.repeat(swept[field.name][number], len(table))
                        table = table.add_column(2, field, column)
                found.append(table)
        if not found:
            raise ResultsError(f"no point in {self.place} has results yet")
        return pyarrow.concat_tables(found, promote_options="permissive")

    def __getattr__(self, name):
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)

    def __len__(self):
        return len(self._points)

    def __repr__(self):
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<weir.Sweep {self.place}: {self.done} of {len(self)} points{failed}>"


def _schemes_in(text):
    """The classes of schemes in Python that a scenario names, by their names."""
    return {
        name: cls
        for name, cls in _parts.REGISTERED.items()
        if f'"{name}' in text or f"{name}:" in text or f"+{name}" in text
    }


def _source_of(name, cls):
    """The source of a scheme's class and of its base classes, without those of the package."""
    found = []
    for base in cls.__mro__:
        if base.__module__ in (_parts.__name__, "builtins"):
            continue
        try:
            found.append(inspect.getsource(base))
        except (OSError, TypeError) as error:
            # Classes of extension modules have no source.
            if base is not cls and isinstance(error, TypeError):
                continue
            raise WeirError(
                f"scheme `{name}` has no source that could identify its results; define it and "
                "its base classes in files or cells"
            ) from error
    return found


def _hashes_of_files(text):
    """SHA-256 of the files that a scenario with all defaults names, by their absolute paths."""
    filled = tomllib.loads(text)
    topology, workloads = filled.get("topology", {}), filled.get("workload", [])
    paths = [topology.get("file"), topology.get("latencies")]
    paths += [workload.get("trace") for workload in workloads]
    found = {}
    for path in filter(None, paths):
        try:
            with open(path, "rb") as file:
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise WeirError(
                f"cannot read {path}: {error.strerror}; the results of a sweep depend on it"
            ) from error
    return found


def sweep(
    scenario,
    place,
    /,
    *,
    engine="local",
    jobs=None,
    repetitions=None,
    progress=None,
    patience=PATIENCE,
    **settings,
):
    """Run every combination of settings, and keep the results in the folder `place`.

    A list of values makes a sweep of a field: `weir.sweep("film.toml", "results",
    control=["cubic", "bbr"], link__loss=["0 %", "1 %"], repetitions=5)`. Sweeps in the scenario's
    own section count too.

    A point that has results in `place` is not run again, so that an interrupted sweep goes on where
    it was, and a larger one runs only what is new. A point that fails does not end the others; see
    `Sweep.failed`. Several sweeps may use one folder at the same time.

    `engine` is `local` (threads of this process, `jobs` of them), `ray` or `dask`: the cluster that
    the program has joined, or that of `RAY_ADDRESS` or `DASK_SCHEDULER_ADDRESS`. Its workers need
    this package, and the files that the scenario names under the same paths. They need no shared
    folder: results come back to this program. Points whose worker ended are run again.
    """
    if engine != "local" and engine not in ENGINES:
        known = ", ".join(f"`{name}`" for name in ("local", *ENGINES))
        raise ValueError(f"there is no engine `{engine}`; there are {known}")
    points, name = _points(scenario, repetitions, settings)
    place = Path(place)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"cannot write {place}: {error.strerror}; choose another folder"
        raise ResultsError(text) from error
    made = Sweep(place, points, sorted({key for point in points for key in point.settings}))

    def keep(point, tables):
        _keep(made._folder(point), point, tables)

    if engine == "local":
        runner = _Local(made, patience, keep, jobs or os.cpu_count() or 1)
    elif jobs is not None:
        raise ValueError(f"`jobs` is for the engine `local`; the size of `{engine}` is its own")
    else:
        runner = Cluster(ENGINES[engine](), made, TABLES, patience, keep)
    with _bar(progress, name) as tick:
        try:
            runner.run(tick)
        except KeyboardInterrupt:
            error = Interrupted("interrupted; the same call runs the points that are left")
            error.results = made
            raise error from None
    return made


class _Local:
    """Threads of this process that run points."""

    def __init__(self, made, patience, keep, jobs):
        self.made, self.patience, self.keep, self.jobs = made, patience, keep, jobs
        self.stop, self.lock = threading.Event(), threading.Lock()

    def run(self, tick):
        """Run the points without results, and show progress."""
        made, jobs = self.made, self.jobs
        left = [point for point in made._points if not made._folder(point).exists()]
        before, left = len(made) - len(left), iter(left)
        with ThreadPoolExecutor(jobs) as pool:
            waiting = set()
            try:
                while True:
                    while len(waiting) < AHEAD * jobs and (point := next(left, None)):
                        waiting.add(pool.submit(self.one, point))
                    if not waiting:
                        return
                    done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    ended = before + made.new + len(made.failed)
                    tick(ended / len(made), ended)
            finally:
                self.stop.set()

    def one(self, point):
        """Run a point and keep its results, or its exception."""
        if self.stop.is_set():
            return

        def tick(share, events):
            if self.stop.is_set():
                raise InterruptedError

        try:
            found, problem = _weir.run(point.scenario, 1, tick, self.patience, None, "")
        except WeirError as error:
            found, problem = None, error
        if isinstance(problem, (InterruptedError, KeyboardInterrupt)):
            return
        if problem is None:
            results = Results(found, None)
            tables = {name: results.table(name).to_arrow() for name in TABLES}
            self.keep(point, tables)
        with self.lock:
            if problem is None:
                self.made.new += 1
            else:
                self.made.failed[(*point.settings.items(), ("seed", point.seed))] = problem


def _points(scenario, repetitions, settings):
    """The points of a scenario with these settings, and its name."""
    lists = {key: value for key, value in settings.items() if isinstance(value, (list, tuple))}
    fixed = {key: value for key, value in settings.items() if key not in lists}
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if repetitions is not None:
        lists["repetitions"] = repetitions
    if lists:
        values = {name.replace("__", "."): value for name, value in lists.items()}
        text = _weir.document({"sweep": [values]})
        inner = scenario._scenario
        if "[sweep]" in inner.text:
            raise ValueError("the scenario has a section [sweep]; give lists there or here")
        inner = _weir.Scenario.parse(inner.text + "\n" + text, inner.file, inner.settings)
        scenario = Scenario._of(inner)
    if fixed:
        scenario = scenario.set(**fixed)
    inner = scenario._scenario
    known = {}
    return [Point(inner, number, known) for number in range(len(inner.runs))], scenario.name


def _keep(folder, point, tables):
    """Write the tables of a point beside their place, and move them there at the end."""
    from pyarrow import parquet

    try:
        beside = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder.parent))
    except OSError as error:
        raise ResultsError(f"cannot write {folder.parent}: {error.strerror}; make room") from error
    try:
        for name in TABLES:
            # The swept fields become columns when all points are read.
            parquet.write_table(tables[name], beside / f"{name}.parquet")
        about = {"settings": point.settings, "seed": point.seed, "version": _weir.__version__}
        beside.joinpath("point.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
        beside.joinpath("scenario.toml").write_text(point.scenario.filled, encoding="utf-8")
        # Another sweep may have been faster: its results are the same.
        with suppress(FileExistsError, OSError):
            beside.rename(folder)
            return
        if not folder.exists():
            raise ResultsError(f"cannot write {folder}; make room, or choose another folder")
    except OSError as error:
        if isinstance(error, ResultsError):
            raise
        raise ResultsError(f"cannot write {folder}: {error.strerror}; make room") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
