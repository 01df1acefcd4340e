"""Results of other simulators, read into tables.

`weir.read(path)` finds out the format by the first bytes of a file. Columns have the units of the
tables of `weir.Results`: seconds, milliseconds where the name ends in `_ms`, Mbit/s and bytes.
Networks of other programs are read by the section `[topology]` of a scenario.
"""

import io
import itertools
import json
import os
import pickle
import struct

from . import _weir
from ._errors import ResultsError
from ._results import Table

# Files of Icarus are read into memory.
_MOST_BYTES = 1 << 28
# Columns of a table, and the depth of a tree.
_MOST_COLUMNS = 1000
_DEEPEST = 32
# Values of all experiments.
_MOST_VALUES = 20_000_000


def read(path, /):
    """Read the results that another simulator has written.

    Returns a `weir.Table` for a trace of ndnSIM, and a `weir.readers.Icarus` for results of Icarus.
    Raises `weir.ResultsError` if the format is not known, or something in the file is wrong.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            start = file.read(4096).lstrip()
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror.lower()}") from None
    if start[:1] in (b"[", b"\x80") or start.startswith((b"ccopy_reg\n", b"(icarus.")):
        return icarus(path)
    return ndnsim(path)


def ndnsim(path, /):
    """Read a trace of ndnSIM, also one compressed with gzip, as a `weir.Table`.

    These tracers are known: `ndn::AppDelayTracer`, `ndn::L3RateTracer`, `ndn::CsTracer` and
    `L2RateTracer`. `columns` of the table has the meaning of each column.

    All lines are checked at once; the first one that is wrong ends it with `weir.ResultsError`. The
    rows are read from the file again whenever they are needed, in pieces. So a trace may be
    larger than memory: `pyarrow.RecordBatchReader.from_stream(table)` has one piece at a time.
    """
    return Table(_weir.Trace(os.fspath(path)))


def icarus(path, /):
    """Read results of Icarus, a pickle or the JSON of `ResultSet.json()`, as an `Icarus`.

    A pickle is read without the module `icarus`, and without running code: objects of other
    classes than those that Icarus writes are errors.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > _MOST_BYTES:
                raise ResultsError(f"cannot read {path}: it has more than {_MOST_BYTES} bytes")
            content = file.read()
    except ResultsError:
        raise
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror.lower()}") from None
    try:
        is_text = content.lstrip()[:1] == b"["
        results = json.loads(content) if is_text else _unpickled(content)
        return Icarus(_pairs(results))
    except (ResultsError, RecursionError) as error:
        why = "its values are nested too deeply" if isinstance(error, RecursionError) else error
        raise ResultsError(f"{path}: {why}") from None
    except json.JSONDecodeError as error:
        raise ResultsError(f"{path}:{error.lineno}: {error.msg.lower()}") from None
    except Exception as error:  # noqa: BLE001 (a wrong pickle may raise anything)
        raise ResultsError(f"{path}: no results of Icarus: {error}") from None


class Icarus:
    """Results of experiments of Icarus.

    `runs` and `values` are tables. The column `run` counts the experiments of a file from 0.
    """

    def __init__(self, experiments):
        rows, values, budget = [], [], [_MOST_VALUES]
        for run, (parameters, results) in enumerate(experiments):
            row = {"run": run}
            for path, value in _leaves(parameters, (), budget):
                name = ".".join(map(_word, path))
                row["parameters.run" if name == "run" else name] = _single(value)
            for path, value in _leaves(results, (), budget):
                _take(row, values, run, path, value, budget)
            rows.append(row)
        names = list(dict.fromkeys(name for row in rows for name in row))
        if len(names) > _MOST_COLUMNS:
            raise ResultsError(f"more than {_MOST_COLUMNS} parameters and results have a name")
        self._runs = Table(_table([(name, [row.get(name) for row in rows]) for name in names]))
        columns = zip(("run", "quantity", "key", "value"), _transposed(values), strict=True)
        kinds = {"run": "whole", "quantity": "text", "key": "text", "value": "number"}
        self._values = Table(_table(columns, kinds))

    @property
    def runs(self):
        """One row for each experiment: a column for each parameter and each single result.

        The name of a column is its path in Icarus, with dots: `strategy.name`,
        `CACHE_HIT_RATIO.MEAN`. Latencies, which Icarus has in milliseconds, and link loads, which
        it has in bytes per second, have names with their units: `latency_mean_ms` and, in Mbit/s,
        `link_load_mean_internal_mbps`.
        """
        return self._runs

    @property
    def values(self):
        """One row for each value of results with many: per node, per link, per content, and CDFs.

        `quantity` is the name as in `runs`, `key` the node, the link (`u-v`), the content, or the
        value of a CDF, and `value` a number.
        """
        return self._values

    def __len__(self):
        return len(self._runs)

    def __repr__(self):
        many = "1 experiment" if len(self) == 1 else f"{len(self)} experiments"
        return f"<weir.readers.Icarus: {many}, {len(self.values)} values>"

    def _repr_html_(self):
        return self._runs._repr_html_() + self._values._repr_html_()


# Results with another unit than in Icarus: the factor, and the end of the name.
_UNITS = {"LATENCY": (1.0, "ms"), "LINK_LOAD": (8e-6, "mbps")}
_HELP = {"run": "the number of the experiment in the file, from 0", "quantity": "the result"}
_HELP |= {"key": "node, link, content, or the value of a CDF", "value": "its value"}
_HELP |= {"latency_mean_ms": "the mean time from a request to its content"}


def _name(path):
    """The name of a result, and the factor that brings it into its unit."""
    if path[0] in _UNITS:
        factor, unit = _UNITS[path[0]]
        return "_".join(map(_word, path)).lower() + f"_{unit}", factor
    return ".".join(map(_word, path)), 1.0


def _take(row, values, run, path, value, budget):
    """Put a result where it belongs: into the row of its run, or among the values."""
    starts = (at for at, part in enumerate(path) if str(part)[:4] == "PER_")
    many = next(starts, None)
    if many is not None and len(path) > many + 1:
        name, factor = _name(path[: many + 1])
        key = "-".join(_word(part) for part in path[many + 1 :])
        values.append((run, name, key, _number(value, factor, path)))
    elif isinstance(value, (list, tuple)) and str(path[-1]).startswith("CDF"):
        name, factor = _name(path)
        for point in _points(value):
            _spend(budget)
            x, share = (_number(one, 1.0, path) for one in point)
            values.append((run, name, repr(x * factor), share))
    else:
        name, factor = _name(path)
        value = _single(value)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        row[name] = value * factor if is_number and factor != 1.0 else value


def _points(cdf):
    """The points of a CDF: Icarus has had two lists, and a list of pairs."""
    if len(cdf) == 2 and all(isinstance(part, (list, tuple)) for part in cdf):
        if len(cdf[0]) == len(cdf[1]) != 2:
            return zip(*cdf, strict=True)
    if not all(isinstance(point, (list, tuple)) and len(point) == 2 for point in cdf):
        raise ResultsError("a CDF is no list of pairs")
    return cdf


def _number(value, factor, path):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        where = ".".join(map(_word, path))
        raise ResultsError(f"`{where}` is {_shown(value)}; a number is expected")
    return float(value) * factor


def _word(part):
    """A key as text: a link is a pair of nodes."""
    if isinstance(part, tuple) and len(part) == 2:
        return f"{_word(part[0])}-{_word(part[1])}"
    return part if isinstance(part, str) else _shown(part)


def _single(value):
    """A value of a column: others than texts and numbers are shown as text."""
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int) and abs(value) < 1 << 63:
        return value
    return _shown(value)


def _shown(value, deep=2):
    """A value as text, or what it is if that would be long."""
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        if len(value) > 20 or deep == 0:
            return f"{len(value)} values"
        return "[" + ", ".join(_shown(one, deep - 1) for one in value) + "]"
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a large number"
    return repr(value)[:200]


def _spend(budget):
    budget[0] -= 1
    if budget[0] < 0:
        raise ResultsError(f"it has more than {_MOST_VALUES} values")


def _leaves(tree, path, budget):
    """The values of a tree with their paths. Parts that occur twice count twice."""
    if len(path) > _DEEPEST:
        raise ResultsError(f"its values are nested more than {_DEEPEST} levels deep")
    for key, value in dict.items(tree):
        _spend(budget)
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key), budget)
        else:
            yield (*path, key), value


def _pairs(results):
    """The pairs of parameters and results."""
    listed = results.results() if isinstance(results, _ResultSet) else results
    if not isinstance(listed, (list, tuple)):
        raise ResultsError(f"no results of Icarus: {_shown(listed)} is no list of experiments")
    for number, pair in enumerate(listed):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(isinstance(part, dict) for part in pair):
            expected = "a pair of parameters and results"
            raise ResultsError(f"experiment {number} is {_shown(pair)}; {expected} is expected")
    return listed


def _transposed(rows):
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]


def _table(columns, kinds=None):
    """A table of columns whose values are of one kind, or are shown as text."""
    made = []
    for name, column in columns:
        there = {type(value) for value in column if value is not None}
        if kinds:
            kind = kinds[name]
        elif there <= {bool}:
            kind = "switch" if there else "text"
        elif there <= {int}:
            kind = "whole"
        elif there <= {int, float}:
            kind = "number"
        else:
            kind = "text"
            column = [one if one is None or isinstance(one, str) else str(one) for one in column]
        made.append((name, _HELP.get(name, ""), kind, column))
    return _weir.table_of_columns(made)


class _ResultSet:
    """In the place of `icarus.results.readwrite.ResultSet`."""

    def __setstate__(self, state):
        self.state = state if isinstance(state, dict) else {}

    def results(self):
        """The pairs of experiments."""
        return self.__dict__.get("state", {}).get("_results")


def _tree(*_):
    """In the place of `icarus.util.Tree` and `collections.defaultdict`, whose items follow."""
    return {}


def _deque(items=None, *_):
    """In the place of `collections.deque`. Nothing is copied: a pickle can name a list often."""
    return items if isinstance(items, list) else []


class _AnyValue:
    """In the place of `icarus.util.AnyValue`: a parameter that a strategy does not use."""

    def __setstate__(self, state):
        pass

    def __repr__(self):
        return "any"


class _NumberType:
    """In the place of `numpy.dtype`, for single numbers."""

    def __init__(self, kind, *_):
        self.form = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "u8": "Q", "u4": "I", "b1": "?"}[
            kind
        ]
        self.order = "<"

    def __setstate__(self, state):
        self.order = ">" if state[1] == ">" else "<"


def _scalar(kind, content=b""):
    """In the place of a number of numpy."""
    if not isinstance(kind, _NumberType):
        raise pickle.UnpicklingError("a number of numpy without its type")
    if isinstance(content, str):
        content = content.encode("latin-1")
    return struct.unpack(kind.order + kind.form, content)[0]


def _plain(kind, *_):
    """In the place of `copy_reg._reconstructor`, which Python 2 writes."""
    if kind not in (_ResultSet, _AnyValue):
        raise pickle.UnpicklingError("only a set of results is made this way")
    return kind()


def _encode(text, *_):
    """In the place of `_codecs.encode`, which stands for bytes in the older protocols."""
    if not isinstance(text, str):
        raise pickle.UnpicklingError("no text to encode")
    return text.encode("latin-1")


_CLASSES = {
    ("icarus.results.readwrite", "ResultSet"): _ResultSet,
    ("icarus.util", "Tree"): _tree,
    ("icarus.util", "AnyValue"): _AnyValue,
    ("collections", "deque"): _deque,
    ("collections", "defaultdict"): _tree,
    ("copy_reg", "_reconstructor"): _plain,
    ("copyreg", "_reconstructor"): _plain,
    ("_codecs", "encode"): _encode,
    ("numpy", "dtype"): _NumberType,
}
_CLASSES |= {
    (module, "scalar"): _scalar for module in ("numpy.core.multiarray", "numpy._core.multiarray")
}
# As classes of values, or of parts of an object. Never called.
_NAMES = {
    (module, name): name
    for module, name in itertools.product(
        ("builtins", "__builtin__"), ("object", "int", "float", "list", "dict")
    )
}


class _Unpickler(pickle._Unpickler):
    """Reads what Icarus writes. It is the one in Python, which is slower, since the one in C calls
    methods that the content may name."""

    def find_class(self, module, name):
        try:
            return _CLASSES.get((module, name)) or _NAMES[module, name]
        except KeyError:
            raise ResultsError(
                f"it has an object of the class `{module}.{name}`, which Icarus does not write; "
                "nothing of it was run"
            ) from None


def _unpickled(content):
    return _Unpickler(io.BytesIO(content), encoding="latin-1").load()
