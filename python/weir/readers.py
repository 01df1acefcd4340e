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
from contextlib import contextmanager

from . import _weir
from ._errors import ResultsError
from ._results import Table

# Files of Icarus are read into memory.
_MOST_BYTES = 1 << 28
# Columns of a table, and the depth of a tree.
_MOST_COLUMNS = 1000
_DEEPEST = 32
# Experiments, and values of all of them.
_MOST_EXPERIMENTS = 200_000
_MOST_VALUES = 20_000_000
# Characters that count as a value: a pickle can name a long text often.
_TEXT = 64


def read(path, /):
    """Read the results that another simulator has written.

    Returns a `weir.Table` for a trace of ndnSIM, and a `weir.readers.Icarus` for results of Icarus.
    Raises `weir.ResultsError` if the format is not known, or something in the file is wrong.
    """
    path = os.fspath(path)
    with _opened(path) as file:
        start = file.read(4096).lstrip()
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
    path = os.fspath(path)
    try:
        return Table(_weir.Trace(path))
    except UnicodeEncodeError as error:
        raise _no_name(path, error) from None


def icarus(path, /):
    """Read results of Icarus, a pickle or the JSON of `ResultSet.json()`, as an `Icarus`.

    A pickle is read without the module `icarus`, and without running code: objects of other
    classes than those that Icarus writes are errors.
    """
    path = os.fspath(path)
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise ResultsError(f"cannot read {path}: it has more than {_MOST_BYTES} bytes")
        content = file.read()
    is_text = content.lstrip()[:1] == b"["
    try:
        results = json.loads(content) if is_text else _unpickled(content)
        return Icarus(_pairs(results))
    except (ResultsError, RecursionError) as error:
        why = "its values are nested too deeply" if isinstance(error, RecursionError) else error
        raise ResultsError(f"{path}: {why}") from None
    except json.JSONDecodeError as error:
        raise ResultsError(f"{path}:{error.lineno}: {error.msg.lower()}") from None
    except Exception as error:  # noqa: BLE001 (a wrong pickle may raise anything)
        # Each pickle ends with a full stop.
        is_cut = isinstance(error, EOFError) or not (is_text or content.endswith(b"."))
        why = "it is cut off; copy it again" if is_cut else str(error) or type(error).__name__
        raise ResultsError(f"{path}: no results of Icarus: {why}") from None


@contextmanager
def _opened(path):
    """A file to read. An error names it."""
    try:
        with open(path, "rb") as file:
            yield file
    except ResultsError:
        raise
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror.lower()}") from None
    except ValueError as error:
        raise _no_name(path, error) from None


def _no_name(path, error):
    return ResultsError(f"cannot read {path!r}, which is no name of a file: {error}")


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
                name = "parameters.run" if name == "run" else name
                row[name] = _single(value)
                _spend(budget, _weight(name, row[name]))
            for path, value in _leaves(results, (), budget):
                _take(row, values, run, path, value, budget)
            rows.append(row)
        names = list(dict.fromkeys(["run", *(name for row in rows for name in row)]))
        if len(names) > _MOST_COLUMNS:
            raise ResultsError(f"more than {_MOST_COLUMNS} parameters and results have a name")
        if len(names) * len(rows) > _MOST_VALUES:
            many = f"{len(rows)} experiments and {len(names)} parameters and results"
            raise ResultsError(f"a table of {many} would have more than {_MOST_VALUES} values")
        columns = [(name, [row.get(name) for row in rows]) for name in names]
        self._runs = Table(_table(columns, {"run": "whole"}))
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
    starts = (at for at, part in enumerate(path) if _word(part).startswith("PER_"))
    many = next(starts, None)
    if many is not None and len(path) > many + 1:
        name, factor = _name(path[: many + 1])
        key = "-".join(_word(part) for part in path[many + 1 :])
        _spend(budget, _weight(name, key))
        values.append((run, name, key, _number(value, factor, path)))
    elif isinstance(value, (list, tuple)) and _word(path[-1]).startswith("CDF"):
        name, factor = _name(path)
        for point in _points(value):
            _spend(budget, 1 + _weight(name))
            x, share = (_number(one, 1.0, path) for one in point)
            values.append((run, name, repr(x * factor), share))
    else:
        name, factor = _name(path)
        value = _single(value)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        _spend(budget, _weight(name, value))
        row[name] = value * factor if is_number and factor != 1.0 else value


def _points(cdf):
    """The points of a CDF: Icarus has had two lists, and a list of pairs."""
    if len(cdf) == 2 and all(isinstance(part, (list, tuple)) for part in cdf):
        if len(cdf[0]) == len(cdf[1]) != 2:
            return zip(*cdf, strict=True)
    if not all(isinstance(point, (list, tuple)) and len(point) == 2 for point in cdf):
        raise ResultsError("a CDF is not a list of pairs")
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
    if isinstance(value, int) and value.bit_length() < 64:
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
    return repr(value[:200] if isinstance(value, (str, bytes)) else value)[:200]


def _weight(*texts):
    """The values as which the lengths of texts count."""
    return sum(len(text) // _TEXT for text in texts if isinstance(text, str))


def _spend(budget, many=1):
    budget[0] -= many
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
        raise ResultsError(f"no results of Icarus: {_shown(listed)} is not a list of experiments")
    if len(listed) > _MOST_EXPERIMENTS:
        raise ResultsError(f"it has more than {_MOST_EXPERIMENTS} experiments")
    for number, pair in enumerate(listed):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(isinstance(part, dict) for part in pair):
            expected = "a pair of parameters and results"
            raise ResultsError(f"experiment {number} is {_shown(pair)}; {expected} is expected")
    return listed


def _transposed(rows):
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]


def _table(columns, kinds):
    """A table of columns whose values are of one kind, or are shown as text."""
    made = []
    for name, column in columns:
        there = {type(value) for value in column if value is not None}
        if name in kinds:
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

    _forms = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "u8": "Q", "u4": "I", "b1": "?"}

    def __init__(self, kind, *_):
        if not isinstance(kind, str) or kind not in self._forms:
            raise pickle.UnpicklingError("a number of numpy of an unknown type")
        self.form, self.order = self._forms[kind], "<"

    def __setstate__(self, state):
        self.order = ">" if state[1] == ">" else "<"


def _scalar(kind, content=b""):
    """In the place of a number of numpy."""
    if not isinstance(kind, _NumberType):
        raise pickle.UnpicklingError("a number of numpy without its type")
    if isinstance(content, str):
        content = _encode(content)
    return struct.unpack(kind.order + kind.form, content)[0]


def _plain(kind, *_):
    """In the place of `copy_reg._reconstructor`, which Python 2 writes."""
    if kind not in (_ResultSet, _AnyValue):
        raise pickle.UnpicklingError("only a set of results is made this way")
    return kind()


def _encode(text, *_):
    """In the place of `_codecs.encode`, which stands for bytes in the older protocols."""
    if not isinstance(text, str) or len(text) > _MOST_ENCODED:
        raise pickle.UnpicklingError("no number of numpy to encode")
    return text.encode("latin-1")


# Bytes of a number of numpy.
_MOST_ENCODED = 8

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


# Keys are text, whole numbers below a bound, other numbers, and tuples of them: links. Python
# hashes others without a bound on time and stack, and numbers above the bound have equal hashes.
_DEEPEST_KEY, _MOST_PARTS, _LARGEST_KEY = 3, 8, 1 << 60
# Arguments of what makes an object.
_MOST_ARGUMENTS = 8


def _is_key(value, deep=_DEEPEST_KEY):
    if type(value) is int:
        return -_LARGEST_KEY < value < _LARGEST_KEY
    if type(value) is tuple:
        return deep > 0 and len(value) <= _MOST_PARTS and all(_is_key(x, deep - 1) for x in value)
    return value is None or type(value) in (str, float, bool)


def _check_keys(keys):
    if not all(map(_is_key, keys)):
        raise pickle.UnpicklingError("a key is not a text, number or small tuple")


class _Unpickler(pickle._Unpickler):
    """Reads what Icarus writes. It is the one in Python, which is slower, since the one in C calls
    methods that the content may name, and hashes any key."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def find_class(self, module, name):
        try:
            return _CLASSES.get((module, name)) or _NAMES[module, name]
        except KeyError:
            raise ResultsError(
                f"it has an object of the class `{module}.{name}`, which Icarus does not write; "
                "nothing of it was run"
            ) from None

    # `stack` has what follows the last mark, `metastack` what is before it.

    def load_dict(self):
        _check_keys(self.stack[::2])
        super().load_dict()

    def load_setitem(self):
        self._check_items(self.stack[-3], self.stack[-2:])
        super().load_setitem()

    def load_setitems(self):
        self._check_items(self.metastack[-1][-1], self.stack)
        super().load_setitems()

    def load_additems(self):
        _check_keys(self.stack)
        super().load_additems()

    def load_frozenset(self):
        _check_keys(self.stack)
        super().load_frozenset()

    def load_reduce(self):
        self._check_arguments()
        super().load_reduce()

    def load_newobj(self):
        self._check_arguments()
        super().load_newobj()

    def load_build(self):
        # Attributes of the functions in the place of classes would stay for later files.
        if not isinstance(self.stack[-2], (_ResultSet, _AnyValue, _NumberType)):
            raise pickle.UnpicklingError("a state of what has none")
        super().load_build()

    def load_other(self):
        raise pickle.UnpicklingError("an instruction that Icarus does not write")

    def _check_items(self, of, items):
        if not isinstance(of, dict):
            raise pickle.UnpicklingError("items of what has none")
        _check_keys(items[::2])

    def _check_arguments(self):
        # A pickle can name a long list of arguments often.
        if not isinstance(self.stack[-1], tuple) or len(self.stack[-1]) > _MOST_ARGUMENTS:
            raise pickle.UnpicklingError("arguments that Icarus does not write")

    dispatch |= {
        pickle.DICT[0]: load_dict,
        pickle.SETITEM[0]: load_setitem,
        pickle.SETITEMS[0]: load_setitems,
        pickle.ADDITEMS[0]: load_additems,
        pickle.FROZENSET[0]: load_frozenset,
        pickle.REDUCE[0]: load_reduce,
        pickle.NEWOBJ[0]: load_newobj,
        pickle.BUILD[0]: load_build,
        # These would take memory for a length in the file, and arguments by keyword.
        pickle.BYTEARRAY8[0]: load_other,
        pickle.NEWOBJ_EX[0]: load_other,
    }


def _unpickled(content):
    return _Unpickler(io.BytesIO(content), encoding="latin-1").load()
