"""Searches over parameters, with Optuna's samplers and the points of sweeps."""

import math
import numbers
import re
import string
from decimal import Decimal
from importlib import import_module

from ._checks import listed, mapping, whole
from ._errors import Interrupted, WeirError
from ._run import PATIENCE, _bar
from ._store import store_of
from ._sweep import Runner, Sweep, _expanded, _Measures, _points, check_measure

DIRECTIONS = ("minimize", "maximize")
# Trials that are asked for at a time. It must not depend on the machine: the sampler proposes
# other trials if it knows other results.
BATCH = 8
# A search ends once this number of trials have ended, all of them with the same error.
HOPELESS = 8


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
            rows.append({"trial": trial.number, "state": trial.state.name, **trial.params, **named})
        return pandas.DataFrame(rows)

    def __repr__(self):
        states = [trial.state.name for trial in self.study.trials]
        best, failed = len(self.best), states.count("FAIL")
        return f"<weir.Search: {len(states)} trials, {best} best, {failed} failed>"


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

    `settings` are those of `weir.run`, with the names of parameters in braces, also within lists
    and dictionaries. `"{queue}"` alone is the value itself, and not a text: a number in a field
    with a unit is in the base unit. A parameter is a range (two whole numbers, or two floats), a
    list of choices, or a distribution of Optuna.
    `measures` are columns of the table `runs` with their directions. Several give a Pareto front.
    The value of a trial is the mean of `repetitions` seeds.

    Points are those of `weir.sweep`: with results in `place`, which may be in a bucket, they
    are not run again. The same call after an interruption gives the same trials, and runs the
    points that are left. `study` is a study of Optuna with its own sampler, pruner and storage;
    then trials are added until it has as many as `trials`, without those that failed before this
    call. Trials that wait in it are run first. By default it is a new one with the
    sampler TPE and `seed`. If the study prunes, each seed is reported to it, and pruned trials
    end. A trial whose points fail, or have no value of a measure, has the state FAIL. `batch`
    trials are proposed at a time, and run on `engine` together. A sampler that has tried everything
    ends the search.

    The file is read once. It is an error before the first trial if the scenario has mistakes with
    the settings that have no parameter. If the first eight trials or more of a call all end with
    the same error, apart from numbers in its first line, the search ends with it. A measure without
    a value is none.
    """
    optuna = _optuna()
    _check_measures(measures)
    mapping("parameters", parameters, "of parameters and their ranges")
    trials, batch = whole("trials", trials), whole("batch", batch)
    repetitions = whole("repetitions", repetitions)
    space = {name: _distribution(optuna, name, one) for name, one in parameters.items()}
    _check(space, settings)
    scenario, settings = _prepared(scenario, settings)
    if study is None:
        study = _study(optuna, measures, seed)
    elif [one.name.lower() for one in study.directions] != list(measures.values()):
        raise ValueError("the directions of the study are not those of `measures`")
    runner = Runner(engine, jobs, patience)
    work = _Work(optuna, study, scenario, store_of(place), runner, measures)
    work.settings, work.repetitions = settings, repetitions
    with _bar(progress, "search") as tick:
        work.run(space, trials, batch, tick)
    return work.found


def _check_measures(measures):
    """There are some, and each exists and has a direction."""
    mapping("measures", measures, "of measures and their directions")
    if not measures:
        raise ValueError("`measures` needs at least one measure and its direction")
    for name, direction in measures.items():
        if direction not in DIRECTIONS:
            raise ValueError(f"`{name}` has the direction minimize or maximize, not `{direction}`")
        check_measure(name)


def _prepared(scenario, settings):
    """The scenario with the settings that have no parameter, and the others."""
    fixed = {key: one for key, one in settings.items() if not _named(one)}
    scenario = _expanded(scenario, None, fixed)
    if len(_points(scenario)) > 1:
        raise ValueError("a scenario with a sweep has no single value; leave out [sweep]")
    return scenario, {key: one for key, one in settings.items() if key not in fixed}


class _Work:
    """A search under way."""

    def __init__(self, optuna, study, scenario, store, runner, measures):
        self.optuna, self.study, self.scenario = optuna, study, scenario
        self.store, self.runner, self.measures = store, runner, measures
        self.settings, self.repetitions = {}, 1
        self.found = Search(study, measures)
        # Why trials have no value.
        self.reasons = {}
        # The first error of a trial's points.
        self.broken = {}
        # The errors of trials that have ended, by their texts. `None`: one ended without an error.
        self.errors = {}
        self.is_over = False

    def run(self, space, trials, batch, tick):
        """Ask, run and tell, until the study has all trials."""
        # Samplers that have tried everything call it. Optuna's own is for `Study.optimize` only.
        before = vars(self.study).get("stop")
        self.study.stop = self.end
        try:
            self.rounds(space, trials, batch, tick)
        finally:
            del self.study.stop
            if before is not None:
                self.study.stop = before

    def end(self):
        """No more trials, except for those that are asked for."""
        self.is_over = True

    def rounds(self, space, trials, batch, tick):
        """Batches of trials."""
        # Trials that wait are asked for, and those that failed or that a former program left
        # behind have no result.
        states = self.optuna.trial.TrialState
        counted = (states.COMPLETE, states.PRUNED)
        ended = begun = len(self.study.get_trials(deepcopy=False, states=counted))
        while ended < trials and not self.is_over:
            count = min(batch, trials - ended)
            asked = []
            try:
                for _ in range(count):
                    asked.append(self.study.ask(space))
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
            self.give_up(ended - begun)

    def give_up(self, ended):
        """End with the error that all trials of this call have."""
        if ended < HOPELESS or len(self.errors) != 1:
            return
        (error,) = self.errors.values()
        if error is not None:
            error.add_note(f"All {ended} trials of the search ended with this error.")
            error.results = self.found
            raise error

    def note(self, error):
        """Note how a trial ended: with this error, or otherwise."""
        # Values of parameters and simulated times differ.
        text = error and re.sub(r"[\d.]+", "", str(error).partition("\n")[0])
        self.errors.setdefault(text, error)

    def round(self, asked, tick):
        """Run trials, and tell their values."""
        points = {}
        for trial in asked:
            try:
                named = {key: _filled(text, trial.params) for key, text in self.settings.items()}
                points[trial] = _points(_expanded(self.scenario, self.repetitions, named))
            except WeirError as error:
                self.tell(trial, None, str(error))
                self.note(error)
                self.found.failed[tuple(trial.params.items())] = error
        prunes = not isinstance(self.study.pruner, self.optuna.pruners.NopPruner)
        step = 1 if prunes and len(self.measures) == 1 else self.repetitions
        for first in range(0, self.repetitions, step):
            parts = {trial: found[: first + step] for trial, found in points.items()}
            share, each = first / self.repetitions, step / self.repetitions
            values = self.values(parts, lambda part, n: tick(share + part * each, n))
            for trial in list(points):
                self.note(self.broken.get(trial))
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
                    self.broken.setdefault(trial, error)
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


def _filled(value, params):
    """A setting with the values of parameters."""
    if isinstance(value, dict):
        return {key: _filled(one, params) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filled(one, params) for one in value]
    if not isinstance(value, str):
        return value
    if value[:1] == "{" and value[1:-1] in params and value[-1:] == "}":
        return params[value[1:-1]]
    plain = {key: _Plain(one) if isinstance(one, float) else one for key, one in params.items()}
    return value.format_map(plain)


def _named(value):
    """The names in braces in a setting."""
    if isinstance(value, str):
        return {name for _, name, _, _ in string.Formatter().parse(value) if name is not None}
    parts = value.values() if isinstance(value, dict) else value
    return set().union(*map(_named, parts)) if isinstance(value, (dict, list, tuple)) else set()


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
    if isinstance(given, tuple):
        if len(given) == 2 and all(_is_number(end) for end in given) and given[0] < given[1]:
            if all(isinstance(end, numbers.Integral) for end in given):
                return kinds.IntDistribution(*map(int, given))
            return kinds.FloatDistribution(*map(float, given))
    elif choices := listed(given):
        return kinds.CategoricalDistribution(choices)
    raise ValueError(
        f"`{name}` has a range (low, high), a list of choices, or a distribution of Optuna, not "
        f"{given!r}"
    )


def _is_number(value):
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    return math.isfinite(value)


def _check(space, settings):
    """Settings name all parameters, and nothing else."""
    named = set()
    for key, value in settings.items():
        if listed(value) is not None:
            raise ValueError(f"`{key}` has several values; give a parameter in braces instead")
        try:
            named |= _named(value)
        except ValueError as error:
            raise ValueError(f"`{key}`: {error} in `{value}`; parameters are in braces") from error
    if not space:
        raise ValueError("`parameters` needs at least one parameter")
    if unused := sorted(set(space) - named):
        raise ValueError(f"no setting has the parameter {{{unused[0]}}}")
    if unknown := sorted(named - set(space)):
        raise ValueError(f"`parameters` has no range of {{{unknown[0]}}}")
    if wrong := [name for name in space if not re.fullmatch(r"[A-Za-z_]\w*", name)]:
        raise ValueError(f"`{wrong[0]}` is not a name for a parameter; use letters and digits")


def _optuna():
    try:
        import_module("pyarrow")
        return import_module("optuna")
    except ImportError as error:
        raise WeirError(
            f"the package `{error.name}` is not installed; install Weir's wheel with [optuna]"
        ) from error
