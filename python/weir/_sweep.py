"""Sweeps whose points are never run twice."""

import hashlib
import json
import math
import os
import threading
import tomllib
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from . import _parts, _weir, _worker
from ._checks import listed, whole
from ._cluster import Cluster
from ._design import Design, Until
from ._engines import ENGINES
from ._errors import Interrupted, ResultsError, WeirError
from ._identity import identity_of
from ._run import PATIENCE, _bar
from ._results import Results, Table
from ._scenario import Scenario
from ._store import TABLES, store_of

# Points that wait for a thread at a time.
AHEAD = 4
# Points that are read at a time: a bucket answers each after a while.
READERS = 16
# Means of completion times, in which flows that did not finish count with their running times.
COMPLETION_TIMES = ("fct_s",)


class Point:
    """A point of a sweep: settings and seed, and the key that identifies it.

    The key is a hash of the scenario with all defaults filled in, the seed, the version of Weir
    with its commit, the content of the files that the scenario names, and the schemes in Python
    that it names: their methods as they are compiled, with defaults and variables of enclosing
    functions, their attributes, and those of their base classes. Functions, values and modules that
    a method uses from its module do not count.
    """

    def __init__(self, scenario, settings, seed, known):
        self.scenario, self.settings, self.seed = scenario, settings, seed
        text = self.scenario.filled
        if text not in known:
            known[text] = _hashes_of_files(text), _schemes_in(text), _without_seed(text)
        # Hashes by path, and classes by name.
        self.files, self.schemes, same = known[text]
        for name, cls in self.schemes.items():
            if cls not in known:
                known[cls] = identity_of(name, cls)
        inputs = self.files | {name: known[cls] for name, cls in self.schemes.items()}
        identity = json.dumps([same, self.settings, self.seed, _weir.BUILD, inputs], sort_keys=True)
        self.key = hashlib.sha256(identity.encode()).hexdigest()[:32]


class Sweep:
    """The data set of a sweep.

    `runs`, `flows`, `links`, `nodes` and `workloads` are `pyarrow` tables of all points that are
    done, in the order of the sweep, with the swept fields as columns. `failed` has the exception of
    each point that failed, by its settings and seed. `done` and `new` count points. `comparisons`
    are those of a sequential design.
    """

    def __init__(self, store, points):
        self._store = store
        self._points = points
        self.failed = {}
        # The same by the keys of points.
        self._failed = {}
        self.new = 0
        self.comparisons = []

    @property
    def place(self):
        """The folder, or the place in a bucket."""
        return self._store.place

    @property
    def swept(self):
        """The fields that the sweep set."""
        return sorted({key for point in self._points for key in point.settings})

    @property
    def done(self):
        """Points that have results."""
        return sum(self._store.has(point.key) for point in self._points)

    def _left(self, points):
        """Those of these points without results."""
        # A grid may have a point twice.
        left = {point.key: point for point in points}
        return [point for key, point in left.items() if not self._store.has(key)]

    def _pack(self, points, patience):
        """The task of these points, for a worker."""
        schemes = {name: cls for point in points for name, cls in point.schemes.items()}
        jobs = [_worker.Job.of(point) for point in points]
        return _worker.pack(jobs, list(schemes.values()), TABLES, patience)

    def _keep(self, point, answer):
        """Keep what a worker answered."""
        self._store.keep(point, answer.tables)

    def _fail(self, point, error):
        self._failed[point.key] = error
        self.failed[(*point.settings.items(), ("seed", point.seed))] = error

    def _read(self, points, name):
        """A table of each of these points; `None` for those without results."""
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(lambda point: self._store.read(point.key, name), points))

    def table(self, name):
        """One of the tables of all points, as a `pyarrow.Table`."""
        import pyarrow

        found = []
        swept = pyarrow.table({})
        if self.swept:
            settings = [list(point.settings.items()) for point in self._points]
            swept = pyarrow.table(Table(_weir.swept_table(settings)))
        for number, table in enumerate(self._read(self._points, name)):
            if table is not None:
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


def _without_seed(text):
    """A scenario without its seed: that of a run depends on the repetition too."""
    filled = tomllib.loads(text)
    filled["scenario"].pop("seed", None)
    return json.dumps(filled, default=str)


def _schemes_in(text):
    """The classes of schemes in Python that a scenario names, by their names."""
    return {
        name: cls
        for name, cls in _parts.REGISTERED.items()
        if f'"{name}' in text or f"{name}:" in text
    }


def _hashes_of_files(text):
    """SHA-256 of the files that a scenario with all defaults names, by their absolute paths."""
    found = {}
    for path in _weir.files_of(text):
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
    until=None,
    progress=None,
    patience=PATIENCE,
    **settings,
):
    """Run every combination of settings, and keep the results in the folder `place`.

    `place` may be in a bucket of S3: `s3://bucket/prefix`. Credentials and server are those of the
    AWS settings, such as `AWS_ACCESS_KEY_ID`, `AWS_PROFILE` and `AWS_ENDPOINT_URL`.

    A list of values makes a sweep of a field: `weir.sweep("film.toml", "results",
    control=["cubic", "bbr"], link__loss=["0 %", "1 %"], repetitions=5)`. Sweeps in the scenario's
    own section count too.

    A point that has results in `place` is not run again, so that an interrupted sweep continues
    where it was, and a larger one runs only what is new. A point that fails does not end the
    others; see `Sweep.failed`. Several sweeps may use one folder at the same time.

    `until` is a `weir.Until`, or the measure of one: seeds are added until the order of the schemes
    is decided, instead of `repetitions`. See `Sweep.comparisons`.

    `engine` is `local` (threads of this process, `jobs` of them), `ray` or `dask`: the cluster that
    the program has joined, or that of `RAY_ADDRESS` or `DASK_SCHEDULER_ADDRESS`. Its workers need
    this package, and the files that the scenario names under the same paths. They need no shared
    folder: results come back to this program. Points whose worker ended are run again.
    """
    runner = Runner(engine, jobs, patience)
    if until is None:
        scenario = _expanded(scenario, repetitions, settings)
        made = Sweep(store_of(place), _points(scenario))
        with _bar(progress, scenario.name) as tick:
            runner.run(made, made._points, tick)
        return made
    if repetitions is not None:
        raise ValueError("`until` chooses the number of seeds; leave out `repetitions`")
    until = Until(until) if isinstance(until, str) else until
    if not isinstance(until, Until):
        raise ValueError(f"`until` is a measure or a weir.Until, not {until!r}")
    check_measure(until.measure)
    return _sequential(scenario, place, settings, until, runner, progress)


class Runner:
    """Runs the points that sweeps lack on an engine."""

    def __init__(self, engine, jobs, patience):
        if engine != "local" and engine not in ENGINES:
            known = ", ".join(f"`{name}`" for name in ("local", *ENGINES))
            raise ValueError(f"there is no engine `{engine}`; there are {known}")
        if engine != "local" and jobs is not None:
            raise ValueError(f"`jobs` is for the engine `local`; the size of `{engine}` is its own")
        jobs = (os.cpu_count() or 1) if jobs is None else whole("jobs", jobs)
        self.engine, self.jobs, self.patience = engine, jobs, patience
        self.cluster = None

    def run(self, made, points, tick):
        """Run those of these points that a sweep lacks, and show progress."""
        if self.engine == "local":
            work = _Local(made, points, self.patience, self.jobs)
        else:
            self.cluster = self.cluster or ENGINES[self.engine]()
            work = Cluster(self.cluster, made, points, self.patience)
        try:
            if work.left:
                made._store.ready()
            work.run(tick)
        except KeyboardInterrupt:
            error = Interrupted("interrupted; the same call runs the points that are left")
            error.results = made
            raise error from None


class _Seeds:
    """The points of a sweep, by their seeds."""

    def __init__(self, scenario, settings):
        self.scenario = _expanded(scenario, None, settings)
        runs = self.scenario.runs
        if any(key.split(".")[-1] == "seed" for pairs, _ in runs for key in pairs):
            raise ValueError("`until` chooses the seeds; leave out the sweep of `seed`")
        self.first = runs[0][1]
        # The repetitions of a scenario have seeds that follow each other.
        self.repetitions = len({seed for _, seed in runs})
        # Places in the order of the sweep.
        self.places = {}
        for pairs, _ in runs:
            self.places.setdefault(tuple(pairs.items()), len(self.places))

    def points(self, begin, end):
        """Points of the seeds with these numbers."""
        found, end = [], self.first + end
        for seed in range(self.first + begin, end, self.repetitions):
            seeds = range(seed, min(seed + self.repetitions, end))
            found += _points(self.scenario.set(seed=seed), seeds)
        return found

    def order(self, point):
        """The order of one sweep with all seeds."""
        return self.places[tuple(point.settings.items())], point.seed


def _sequential(scenario, place, settings, until, runner, progress):
    """Run a sequential design."""
    seeds, before, count = _Seeds(scenario, settings), 0, until.first
    points = seeds.points(0, count)
    design, made = Design(until, points), Sweep(store_of(place), [])
    made.comparisons = design.comparisons
    with _bar(progress, seeds.scenario.name) as tick:
        try:
            while True:
                made._points += points
                # An interrupted sweep has its first points again, and so the same decisions.
                runner.run(made, points, _part(tick, before / until.most, count / until.most))
                measures = _Measures(made, points, until.measure)
                design.look(points, measures.value_of, measures.reason_of, measures.bound_of)
                if not design.is_open or count >= until.most:
                    return made
                before, count = count, min(count + until.step, until.most)
                points = [point for point in seeds.points(before, count) if design.wants(point)]
        finally:
            made._points.sort(key=seeds.order)


def _part(tick, begin, end):
    """Shows the progress of a part as that of the whole."""
    return lambda share, ended: tick(begin + share * (end - begin), ended)


class _Measures:
    """A measure of points, as far as they have it."""

    def __init__(self, made, points, name):
        self.made, self.name = made, name
        tables = made._read(points, "runs")
        self.tables = {point.key: table for point, table in zip(points, tables)}

    def value_of(self, point):
        """The measure of a point; `None` if it has none."""
        table = self.tables[point.key]
        return None if table is None else _measure(table, self.name)

    def bound_of(self, point):
        """A lower bound of the measure of a point that has no value."""
        table = self.tables[point.key]
        if table is None or not _is_bound(table, self.name):
            return None
        return table[self.name][0].as_py()

    def reason_of(self, point):
        """Why a point has no value."""
        if self.tables[point.key] is None:
            return str(self.made._failed.get(point.key, "no result")).partition("\n")[0]
        return _lack(self.tables[point.key], self.name)


def check_measure(name):
    """There is a measure of this name."""
    if name not in (known := _weir.measures()):
        names = ", ".join(f"`{one}`" for one in known)
        raise ValueError(f"there is no measure `{name}`; there are {names}")


def _measure(table, name):
    """A measure of a point, from its table `runs`; `None` if it has no value."""
    value = table[name][0].as_py()
    if value is None or not math.isfinite(value) or _is_bound(table, name):
        return None
    return value


def _is_bound(table, name):
    """A completion time is a lower bound if a flow did not finish."""
    return name in COMPLETION_TIMES and (table["finished_ratio"][0].as_py() or 0) < 1


def _lack(table, name):
    """Why a point has no value of a measure."""
    if _is_bound(table, name):
        return f"not all flows finished, so that `{name}` is not known; take a longer duration"
    return f"`{name}` has no value"


class _Local:
    """Threads of this process that run points."""

    def __init__(self, made, points, patience, jobs):
        self.made, self.patience, self.jobs = made, patience, jobs
        self.left, self.count = made._left(points), len(points)
        self.stop, self.lock = threading.Event(), threading.Lock()

    def run(self, tick):
        """Run the points without results, and show progress."""
        ended, left, jobs = self.count - len(self.left), iter(self.left), self.jobs
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
                    ended += len(done)
                    tick(ended / self.count, ended)
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
            self.made._store.keep(point, tables)
        with self.lock:
            if problem is None:
                self.made.new += 1
            else:
                self.made._fail(point, problem)


def _expanded(scenario, repetitions, settings):
    """A scenario with these settings. Lists are sweeps."""
    lists = {key: found for key, one in settings.items() if (found := listed(one)) is not None}
    fixed = {key: value for key, value in settings.items() if key not in lists}
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if repetitions is not None:
        lists["repetitions"] = whole("repetitions", repetitions)
    if lists:
        values = {name.replace("__", "."): value for name, value in lists.items()}
        text = _weir.document({"sweep": [values]})
        inner = scenario._scenario
        if "[sweep]" in inner.text:
            raise ValueError("the scenario has a section [sweep]; give lists there or here")
        inner = _weir.Scenario.parse(inner.text + "\n" + text, inner.file, inner.settings)
        scenario = Scenario._of(inner)
    return scenario.set(**fixed) if fixed else scenario


def _points(scenario, seeds=None):
    """The points of a scenario, or those with these seeds."""
    inner, known = scenario._scenario, {}
    return [
        Point(inner.point(number), dict(pairs), seed, known)
        for number, (pairs, seed) in enumerate(inner.runs)
        if seeds is None or seed in seeds
    ]
