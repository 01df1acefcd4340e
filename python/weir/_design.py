"""Sequential designs: seeds are added until comparisons are decided, or given up.

Results may be looked at after every seed. So the intervals are confidence sequences: with the
stated confidence, an interval holds the true difference at every number of seeds at once, whereas
intervals for a fixed number exclude it sooner or later. Schemes are compared by their differences
for equal seeds.

- The median: two one-sided sign tests whose alternative is mixed uniformly over (1/2, 1]. They hold
  for differences of any distribution (H. Robbins, Statistical methods related to the law of the
  iterated logarithm, Ann. Math. Stat. 41(5), 1970; S. Howard and A. Ramdas, Sequential estimation
  of quantiles, Bernoulli 28(3), 2022).
- The mean: the t test with a normal mixture of effect sizes, whose likelihood ratio does not depend
  on the variance (T. L. Lai, On confidence sequences, Ann. Stat. 4(2), 1976; H. Wang and A. Ramdas,
  Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance, 2024). It
  holds for normal differences, and for no others: `python/decisions` counts its wrong decisions.
  No finite interval of a mean holds for all distributions (R. Bahadur and L. Savage, The
  nonexistence of certain statistical procedures in nonparametric problems, Ann. Math. Stat. 27(4),
  1956).

Several comparisons divide the error evenly (Bonferroni), so that all hold together.
"""

import math
import statistics
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, count

from ._checks import real, whole

KINDS = ("median", "mean")


@dataclass(frozen=True)
class Until:
    """When a sweep has enough seeds: `weir.sweep(..., until=weir.Until("goodput_mbps"))`.

    The values of the field `over` (by default the one with schemes) are compared in pairs by
    `measure`, a column of the table `runs`, for each combination of the other swept fields. A pair
    is decided when the interval of its difference excludes 0, or lies within `margin` of it. All
    decisions hold together with `confidence`.

    `of` is `median`, which holds for any distribution, or `mean`, which holds for normal
    differences only: skewed and rare ones are decided wrongly more often than stated. `first` seeds
    are run at first, then `step` more at a time for pairs that are open. A pair is given up after
    `most` seeds, or after `first` of them if none has a value for both. `most` is at least the
    number of seeds that can decide all these pairs.
    """

    measure: str
    over: str | None = None
    confidence: float = 0.95
    margin: float = 0.0
    of: str = "median"
    first: int = 10
    step: int = 5
    most: int = 200

    def __post_init__(self):
        if not isinstance(self.measure, str):
            raise TypeError(f"`measure` is the name of a measure, not {self.measure!r}")
        if not (self.over is None or isinstance(self.over, str)):
            raise TypeError(f"`over` is the name of a field, not {self.over!r}")
        if not 0 < real("confidence", self.confidence) < 1:
            raise ValueError(f"`confidence` is between 0 and 1, not {self.confidence}")
        if not (math.isfinite(real("margin", self.margin)) and self.margin >= 0):
            raise ValueError(f"`margin` is a number that is not negative, not {self.margin}")
        if self.of not in KINDS:
            raise ValueError(f"`of` is `median` or `mean`, not `{self.of}`")
        for name in ("first", "step", "most"):
            whole(name, getattr(self, name))
        if self.first > self.most:
            raise ValueError(f"`first` is {self.first}, more than `most`: {self.most}")


@dataclass
class Comparison:
    """Two values of a field, compared by the differences of a measure: `a` minus `b`.

    `settings` are those of the other swept fields. `difference` is the median or mean of `seeds`
    differences, and `low` and `high` the ends of its interval. `outcome` is `more`, `less`, `equal`
    (within the margin), or `None` if it is open.

    A completion time of a run in which not all flows finished is a lower bound. So is the
    difference to a run in which they did, and it counts as such for the interval of the median; a
    mean has no interval then. `bounded` of the `seeds` are such ones.

    `missing` seeds have no difference: a point failed or has no value of the measure, or flows of
    both did not finish. `reason` is why it was given up without a decision.
    """

    settings: dict
    a: str
    b: str
    difference: float | None = None
    low: float = -math.inf
    high: float = math.inf
    seeds: int = 0
    outcome: str | None = None
    missing: int = 0
    reason: str | None = None
    bounded: int = 0
    # The differences, by seed, and the ends of those that are not known.
    found: dict = field(default_factory=dict, repr=False)
    bounds: dict = field(default_factory=dict, repr=False)

    @property
    def is_open(self):
        """More seeds may decide it."""
        return self.outcome is None and self.reason is None

    def look(self, until, error):
        """Decide, if the differences suffice. `error` is the share for this comparison."""
        values, bounds = list(self.found.values()), list(self.bounds.values())
        # The finite end of a bound.
        ends = [low if low > -math.inf else high for low, high in bounds]
        known = values + [end for end in ends if math.isfinite(end)]
        self.seeds, self.bounded = len(known), len(known) - len(values)
        if not known:
            return
        self.difference = (statistics.median if until.of == "median" else statistics.fmean)(known)
        if until.of == "median" or (until.margin > 0 and not any(known)):
            # Differences without a variance say as much about the mean as about the median.
            low, high = median_interval(values, error, bounds)
        elif bounds:
            self.reason = (
                f"flows of {len(bounds)} seeds did not finish, so that the mean is not known; take "
                "a longer duration, or the median"
            )
            return
        else:
            low, high = mean_interval(values, error)
        # All intervals hold at once, so the true difference is in each of them.
        self.low, self.high = max(self.low, low), min(self.high, high)
        if self.low > self.high:
            # An interval was wrong, and nothing shows which one.
            return
        if -until.margin <= self.low and self.high <= until.margin:
            self.outcome = "equal"
        elif self.low > 0:
            self.outcome = "more"
        elif self.high < 0:
            self.outcome = "less"


def median_interval(values, error, bounds=()):
    """The interval of the median of differences at this number of them.

    `bounds` are the ends of differences that are not known.
    """
    lows = sorted([*values, *(low for low, _ in bounds)])
    highs = sorted([*values, *(high for _, high in bounds)])
    least = _least(len(lows), error / 2)
    if least is None:
        return -math.inf, math.inf
    return lows[len(lows) - least], highs[least - 1]


@lru_cache(maxsize=4096)
def _least(count, error):
    """The smallest number of `count` values above a point that shows it to be below the median.

    The ratio of likelihoods, mixed over (1/2, 1], for k of n: the sum of C(n + 1, j) for j up to k,
    divided by (n + 1) C(n, k). It grows with k above n / 2.
    """
    # In whole numbers, since floats end at about a thousand differences. The sum up to the middle
    # is a half of a power of two, with the middle itself if there is one.
    share, k = Fraction(error), count // 2 + 1
    more, choose = math.comb(count + 1, k), math.comb(count, k)
    below = 2**count + (more // 2 if count % 2 else more)
    while k <= count:
        if below * share.numerator >= (count + 1) * choose * share.denominator:
            return k
        more, choose = more * (count + 1 - k) // (k + 1), choose * (count - k) // (k + 1)
        below, k = below + more, k + 1
    return None


def mean_interval(values, error):
    """The interval of the mean of normal differences at this number of them."""
    count = len(values)
    if count < 2:
        return -math.inf, math.inf
    if len(set(values)) == 1:
        # There is no variance, but there may be rare seeds that differ. So schemes without a
        # difference are not equal.
        return median_interval(values, error) if values[0] else (-math.inf, math.inf)
    # `statistics.stdev` takes a hundred times as long.
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    spread, ratio = _spread_and_ratio(count, error)
    if ratio >= spread:
        return -math.inf, math.inf
    half = math.sqrt((count - 1) * (ratio - 1) / (1 - ratio / spread) / count) * deviation
    return mean - half, mean + half


def _spread_and_ratio(count, error):
    """A finite interval of a mean needs the second to be less than the first."""
    # Effect sizes have a standard normal distribution in the mixture.
    return 1 + count, (math.sqrt(1 + count) / error) ** (2 / count)


def fewest(kind, error):
    """The smallest number of seeds that can decide a comparison."""
    if kind == "median":
        return next(number for number in count(1) if _least(number, error / 2) is not None)

    def is_enough(number):
        spread, ratio = _spread_and_ratio(number, error)
        return ratio < spread

    return next(number for number in count(2) if is_enough(number))


class Design:
    """The comparisons of a sweep."""

    def __init__(self, until, points):
        self.until = until
        fields = {key for point in points for key in point.settings}
        self.over = until.over or next(
            (key for key in sorted(fields) if key.split(".")[-1] in ("control", "scheme")), None
        )
        if self.over not in fields:
            names = ", ".join(f"`{key}`" for key in sorted(fields)) or "none"
            what = f"`{self.over}` is not a swept field" if self.over else "no schemes are swept"
            raise ValueError(f"{what}; name the field to compare with `over`: {names}")
        groups = {}
        for point in points:
            values = groups.setdefault(self.condition(point), [])
            if point.settings[self.over] not in values:
                values.append(point.settings[self.over])
        # The measures of each value under each condition by seed; `None` where there is none.
        self.values, self.reasons = {}, {}
        self.conditions = [one for one, found in groups.items() for _ in combinations(found, 2)]
        self.comparisons = [
            Comparison(dict(condition), a, b)
            for condition, values in groups.items()
            for a, b in combinations(values, 2)
        ]
        if not self.comparisons:
            raise ValueError(f"`{self.over}` has one value only; a comparison needs two")
        self.error = (1 - until.confidence) / len(self.comparisons)
        if until.most < (least := fewest(until.of, self.error)):
            raise ValueError(
                f"{until.most} seeds cannot decide a comparison of {len(self.comparisons)} with "
                f"the confidence {until.confidence}; set `most` to {least} or more"
            )
        self.wanted = self._wanted()

    def condition(self, point):
        """The settings of a point, without the field that is compared."""
        return tuple((key, value) for key, value in point.settings.items() if key != self.over)

    def wants(self, point):
        """An open comparison has this point."""
        return (self.condition(point), point.settings[self.over]) in self.wanted

    def look(self, points, value_of, reason_of=lambda point: None, bound_of=lambda point: None):
        """Decide by the measures of these points, and of former ones.

        `value_of` is the measure of a point, `reason_of` why there is none, and `bound_of` the
        lower bound of it then.
        """
        for point in points:
            key, value = (self.condition(point), point.settings[self.over]), value_of(point)
            ends = value, value
            if value is None or not math.isfinite(value):
                self.reasons[key], low = reason_of(point), bound_of(point)
                ends = None if low is None else (low, math.inf)
            self.values.setdefault(key, {})[point.seed] = ends
        for condition, one in zip(self.conditions, self.comparisons):
            if one.is_open:
                self._gather(condition, one)
                one.look(self.until, self.error)
        self.wanted = self._wanted()

    def _gather(self, condition, one):
        """The differences of a comparison."""
        a, b = (self.values.get((condition, value), {}) for value in (one.a, one.b))
        seeds = [seed for seed in a if seed in b]
        pairs = {seed: (a[seed], b[seed]) for seed in seeds if None not in (a[seed], b[seed])}
        ends = {seed: (x[0] - y[1], x[1] - y[0]) for seed, (x, y) in pairs.items()}
        one.found = {seed: float(low) for seed, (low, high) in ends.items() if low == high}
        one.bounds = {seed: both for seed, both in ends.items() if seed not in one.found}
        known = [seed for seed, both in ends.items() if any(map(math.isfinite, both))]
        one.missing = len(seeds) - len(known)
        if not known:
            reasons = {value: self.reasons.get((condition, value)) for value in (one.a, one.b)}
            causes = "".join(f"; {value}: {text}" for value, text in reasons.items() if text)
            one.reason = f"none of {one.missing} seeds has a value for both{causes}"

    def _wanted(self):
        """The points of open comparisons, by condition and value."""
        open_ = [pair for pair in zip(self.conditions, self.comparisons) if pair[1].is_open]
        return {(condition, value) for condition, one in open_ for value in (one.a, one.b)}

    @property
    def is_open(self):
        """A comparison is open."""
        return any(one.is_open for one in self.comparisons)
