"""Searches over parameters, with Optuna's samplers and the points of sweeps."""

import re
import string
from decimal import Decimal
from importlib import import_module

from ._errors import Interrupted, WeirError
from ._run import PATIENCE, _bar
from ._store import store_of
from ._sweep import Runner, Sweep, _expanded, _Measures, _points

DIRECTIONS = ("minimize", "maximize")
# Trials that are asked for at a time. It must not depend on the machine: the sampler proposes
# other trials if it knows other results.
BATCH = 8


class Search:
    """The result of a search.

    `best` has the best trials of Optuna: for several measures the Pareto front.
    `study` is the study of Optuna with all trials, and `new` counts points as in `weir.Sweep`.
    `failed` has the exception of each point that failed, by the parameters of its trial and its
    seed, and those of trials whose settings are wrong, by their parameters.
    """

    def __init__(self, study, measures):
        self.study, self.measures = study, measures
        self.new, self.failed = 0, {}

    @property
    def best(self):
        """The trials that no other one is better than, in the order of the first measure."""
        return sorted(self.study.best_trials, key=lambda trial: (trial.values, trial.number))

    def to_pandas(self):
        """All trials as a `pandas.DataFrame`: number, state, parameters, measures."""
        import pandas

        rows = []
        for trial in self.study.trials:
            values = trial.values or [None] * len(self.measures)
            named = dict(zip(self.measures, values))
            rows.append(
                {"trial": trial.number, "state": trial.state.name, **trial.params, **named}
            )
        return pandas.DataFrame(rows)

    def __repr__(self):
        count = len(self.study.trials)
        return f"<weir.Search: {count} trials, {len(self.best)} best, {len(self.failed)} failed>"


def search(
    scenario,
    place,
    /,
    *,
    parameters,
    measures,
    trials=50,
    repetitions=1,
    batch=BATCH,
    seed=1,
    study=None,
    engine="local",
    jobs=None,
    progress=None,
    patience=PATIENCE,
    **settings,
):
    """Search for the parameters with the best measures, with Optuna.

        weir.search(
            "film.toml",
            "results",
            control="cubic:beta={beta}",
            link__queue="{queue} packets",
            parameters={"beta": (0.1, 0.9), "queue": (10, 200)},
            measures={"goodput_mbps": "maximize", "queue_delay_mean_ms": "minimize"},
        )

    `settings` are those of `weir.run`, with the names of parameters in braces. A parameter is a
    range (two whole numbers, or two floats), a list of choices, or a distribution of Optuna.
    `measures` are columns of the table `runs` with their directions. Several give a Pareto front.
    The value of a trial is the mean of `repetitions` seeds.

    Points are those of `weir.sweep`: with results in `place`, which may be in a bucket, they
    are not run again. The same call after an interruption gives the same trials, and runs the
    points that are left. `study` is a study of Optuna with its own sampler, pruner and storage;
    then trials are added until it has as many as `trials`, without those that failed before this
    call. Trials that wait in it are run first. By default it is a new one with the
    sampler TPE and `seed`. If the study prunes, each seed is reported to it, and pruned trials
    end. A trial whose points fail, or have no value of a measure, has the state FAIL. `batch`
    trials are proposed at a time, and run on `engine` together.
    """
    optuna = _optuna()
    if not measures:
        raise ValueError("`measures` needs at least one measure and its direction")
    for name, direction in measures.items():
        if direction not in DIRECTIONS:
            raise ValueError(f"`{name}` has the direction minimize or maximize, not `{direction}`")
    if min(trials, repetitions, batch) < 1:
        raise ValueError("`trials`, `repetitions` and `batch` are at least 1")
    space = {name: _distribution(optuna, name, one) for name, one in parameters.items()}
    _check(space, settings)
    if study is None:
        study = _study(optuna, measures, seed)
    elif [one.name.lower() for one in study.directions] != list(measures.values()):
        raise ValueError("the directions of the study are not those of `measures`")
    work = _Work(optuna, study, scenario, store_of(place), Runner(engine, jobs, patience), measures)
    work.settings, work.repetitions = settings, repetitions
    with _bar(progress, "search") as tick:
        work.run(space, trials, batch, tick)
    return work.found


class _Work:
    """A search under way."""

    def __init__(self, optuna, study, scenario, store, runner, measures):
        self.optuna, self.study, self.scenario = optuna, study, scenario
        self.store, self.runner, self.measures = store, runner, measures
        self.settings, self.repetitions = {}, 1
        self.found = Search(study, measures)
        # Why trials have no value.
        self.reasons = {}

    def run(self, space, trials, batch, tick):
        """Ask, run and tell, until the study has all trials."""
        # Trials that wait are asked for, and those that failed or that a former program left
        # behind have no result.
        states = self.optuna.trial.TrialState
        counted = (states.COMPLETE, states.PRUNED)
        ended = len(self.study.get_trials(deepcopy=False, states=counted))
        while ended < trials:
            count = min(batch, trials - ended)
            asked = [self.study.ask(space) for _ in range(count)]
            try:
                before = ended / trials
                self.round(asked, lambda share, n: tick(before + share * count / trials, n))
            except BaseException as error:
                # A study with a storage would have them as running for good.
                for trial in asked:
                    self.tell(trial, None, str(error) or type(error).__name__)
                if isinstance(error, Interrupted):
                    error.results = self.found
                raise
            ended += count
            tick(ended / trials, ended)

    def round(self, asked, tick):
        """Run trials, and tell their values."""
        points = {}
        for trial in asked:
            try:
                named = {key: _filled(text, trial.params) for key, text in self.settings.items()}
                points[trial] = _points(_expanded(self.scenario, self.repetitions, named))
            except WeirError as error:
                self.tell(trial, None, str(error))
                self.found.failed[tuple(trial.params.items())] = error
        if any(len(found) != self.repetitions for found in points.values()):
            raise ValueError("a scenario with a sweep has no single value; leave out [sweep]")
        prunes = not isinstance(self.study.pruner, self.optuna.pruners.NopPruner)
        step = 1 if prunes and len(self.measures) == 1 else self.repetitions
        for first in range(0, self.repetitions, step):
            parts = {trial: found[: first + step] for trial, found in points.items()}
            share, each = first / self.repetitions, step / self.repetitions
            values = self.values(parts, lambda part, n: tick(share + part * each, n))
            for trial in list(points):
                if values[trial] is None:
                    self.tell(trial, None, self.reasons[trial])
                    del points[trial]
                elif first + step >= self.repetitions:
                    self.tell(trial, values[trial], None)
                elif self.prune(trial, values[trial], first):
                    del points[trial]

    def values(self, parts, tick):
        """The measures of trials, by their points. `None` if a point has none."""
        # Trials may have points in common.
        every = list({point.key: point for found in parts.values() for point in found}.values())
        made = Sweep(self.store, every)
        self.runner.run(made, every, tick)
        self.found.new += made.new
        for trial, found in parts.items():
            for point in found:
                if (error := made._failed.get(point.key)) is not None:
                    key = (*trial.params.items(), ("seed", point.seed))
                    self.found.failed[key] = error
        measures = [_Measures(made, every, name) for name in self.measures]
        return {trial: self.value(trial, found, measures) for trial, found in parts.items()}

    def value(self, trial, points, measures):
        """The mean of each measure over points."""
        means = []
        for measure in measures:
            found = [measure.value_of(point) for point in points]
            if None in found:
                self.reasons[trial] = measure.reason_of(points[found.index(None)])
                return None
            means.append(sum(found) / len(found))
        return means

    def prune(self, trial, values, step):
        """Report a value after some seeds. True if the trial ended there."""
        trial.report(values[0], step)
        if not trial.should_prune():
            return False
        self.study.tell(trial, state=self.optuna.trial.TrialState.PRUNED)
        return True

    def tell(self, trial, values, reason):
        """End a trial, if it has not ended."""
        frozen = self.study._storage.get_trial(trial._trial_id)
        if frozen.state.is_finished():
            return
        if values is None:
            trial.set_user_attr("error", reason)
            self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial, values)


def _filled(text, params):
    """A setting with the values of parameters."""
    if not isinstance(text, str):
        return text
    plain = {key: _Plain(one) if isinstance(one, float) else one for key, one in params.items()}
    return text.format_map(plain)


class _Plain(float):
    """A number without an exponent, which the units of scenarios do not take: `0.00001 ms`."""

    def __str__(self):
        return format(Decimal(float.__repr__(self)), "f")

    __repr__ = __str__

    def __format__(self, form):
        return format(float(self), form) if form else str(self)


def _study(optuna, measures, seed):
    quiet = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        sampler = optuna.samplers.TPESampler(seed=seed)
        pruner = optuna.pruners.NopPruner()
        directions = list(measures.values())
        return optuna.create_study(sampler=sampler, pruner=pruner, directions=directions)
    finally:
        optuna.logging.set_verbosity(quiet)


def _distribution(optuna, name, given):
    """The distribution of a parameter."""
    kinds = optuna.distributions
    if isinstance(given, kinds.BaseDistribution):
        return given
    if isinstance(given, list) and given:
        return kinds.CategoricalDistribution(given)
    if isinstance(given, tuple) and len(given) == 2 and given[0] < given[1]:
        if all(isinstance(end, int) for end in given):
            return kinds.IntDistribution(*given)
        return kinds.FloatDistribution(*map(float, given))
    raise ValueError(
        f"`{name}` has a range (low, high), a list of choices, or a distribution of Optuna, not "
        f"{given!r}"
    )


def _check(space, settings):
    """Settings name all parameters, and nothing else."""
    named = set()
    for key, text in settings.items():
        if isinstance(text, (list, tuple)):
            raise ValueError(f"`{key}` has several values; give a parameter in braces instead")
        if isinstance(text, str):
            named |= {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    if not space:
        raise ValueError("`parameters` needs at least one parameter")
    if unused := sorted(set(space) - named):
        raise ValueError(f"no setting has the parameter {{{unused[0]}}}")
    if unknown := sorted(named - set(space)):
        raise ValueError(f"`parameters` has no range of {{{unknown[0]}}}")
    if wrong := [name for name in space if not re.fullmatch(r"[A-Za-z_]\w*", name)]:
        raise ValueError(f"`{wrong[0]}` is no name for a parameter; take letters and digits")


def _optuna():
    try:
        import_module("pyarrow")
        return import_module("optuna")
    except ImportError as error:
        raise WeirError(
            f"the package `{error.name}` is not installed; install Weir's wheel with [optuna]"
        ) from error
