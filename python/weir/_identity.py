"""The identity of schemes in Python: a hash of what runs, by which their results are found again.

It is that of the classes in memory, and not that of a source: a file may have been edited since,
and a class of a factory or of a loop has values that its source does not show. It is the same in
other processes and other folders, and after a change of comments or of lines.
"""

import functools
import hashlib
import sys
import types

from ._errors import WeirError

# Types whose `repr` is their value.
PLAIN = (bool, int, float, complex, str, bytes, bytearray, range, slice)
PLAIN += (type(None), type(Ellipsis), type(NotImplemented))
# Attributes of a class that do not take part in a run, or that depend on its place.
NOT_RUN = {
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__firstlineno__",
    "__module__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
# The compiled code of a function, without lines and files.
CODE = (
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_code",
    "co_exceptiontable",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_consts",
)
# Functions and descriptors that are not written in Python.
COMPILED = (
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
)
# Descriptors, by the attributes with their functions.
WRAPPERS = {
    classmethod: ("__func__",),
    functools.cached_property: ("func", "attrname"),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    types.MethodType: ("__func__", "__self__"),
}
# A class that is made while a program runs, by Python or by `type`.
HEAP_TYPE = 1 << 9


class _Unknown(Exception):
    """A value without an identity. `place` is where it is, from the inside to the outside."""

    def __init__(self, reason):
        super().__init__(reason)
        self.place = []


def identity_of(name, cls):
    """The identity of a scheme's class, as text."""
    try:
        digest = _Walk().digest(cls)
    except _Unknown as error:
        place = " of ".join(error.place) or "the class"
        raise WeirError(
            f"scheme `{name}` cannot be identified: {place} is {error}; leave it out of the class, "
            "or make it in `__init__`"
        ) from error
    except RecursionError as error:
        raise WeirError(
            f"scheme `{name}` cannot be identified: its attributes are nested too deeply"
        ) from error
    # Compiled code differs between versions of Python.
    return f"{sys.implementation.cache_tag} {digest.hex()}"


class _Walk:
    """A walk over an object and all that belongs to it."""

    def __init__(self, seen=()):
        # Objects by their number, which stands for them when they are met again. They are kept, so
        # that no other one gets the same address.
        self.seen = dict(seen)

    def digest(self, value):
        """The hash of a value."""
        if isinstance(value, types.CodeType):
            return self.parts("code", [(one, getattr(value, one)) for one in CODE])
        if type(value) in PLAIN:
            return _hash(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))
        if type(value) is tuple:
            return self.parts("tuple", enumerate(value))
        if type(value) in (set, frozenset):
            # Their order differs between processes.
            each = sorted(_Walk(self.seen).digest(one) for one in value)
            return _hash(type(value).__name__, *each)
        if id(value) in self.seen:
            return _hash("seen", str(self.seen[id(value)][0]).encode())
        self.seen[id(value)] = len(self.seen), value
        return self.parts(*self.inside(value))

    def parts(self, kind, named):
        """The hash of a value with these parts."""
        digests = []
        for name, part in named:
            try:
                digests += [str(name).encode("utf-8", "surrogatepass"), self.digest(part)]
            except _Unknown as error:
                if isinstance(name, str) and not name.startswith(("co_", "__", "(")):
                    error.place.append(f"`{name}`")
                raise
        return _hash(kind, *digests)

    def inside(self, value):
        """The kind of a value, and its parts by name."""
        kind = type(value)
        if kind is list:
            return "list", enumerate(value)
        if kind in (dict, types.MappingProxyType):
            return "dict", [
                part for key, one in value.items() for part in (("(key)", key), (str(key), one))
            ]
        if isinstance(value, type):
            return "class", _of_class(value)
        if kind is types.FunctionType:
            return "function", _of_function(value)
        if kind is types.CellType:
            return "cell", _of_cell(value)
        if kind is types.ModuleType:
            version = getattr(value, "__version__", None)
            return "module", [("(name)", value.__name__), ("(version)", str(version))]
        if kind in COMPILED and not _is_bound(value):
            return "compiled", [("(name)", f"{_owner(value)}.{value.__qualname__}")]
        if kind in WRAPPERS:
            return kind.__name__, [(one, getattr(value, one)) for one in WRAPPERS[kind]]
        return "object", _of_object(value)


def _of_class(cls):
    module = cls.__module__
    # The version of the package is a part of the key, and so is that of Python.
    if not cls.__flags__ & HEAP_TYPE or str(module).partition(".")[0] in ("builtins", "weir"):
        return [("(name)", f"{module}.{cls.__qualname__}")]
    own = sorted((name, one) for name, one in vars(cls).items() if name not in NOT_RUN)
    return [("(bases)", cls.__bases__), ("(metaclass)", type(cls)), *own]


def _of_function(function):
    return [
        ("(code)", function.__code__),
        ("(defaults)", function.__defaults__),
        ("(kwdefaults)", function.__kwdefaults__),
        *zip(function.__code__.co_freevars, function.__closure__ or ()),
        *sorted(vars(function).items()),
    ]


def _of_cell(cell):
    try:
        return [("(content)", cell.cell_contents)]
    except ValueError:
        # A variable that has no value yet.
        return []


def _of_object(value):
    """The parts of which an object would be made again in another process."""
    try:
        made = value.__reduce_ex__(4)
    except Exception as error:
        # Any exception: it is raised by a method of the object.
        raise _Unknown(f"a `{type(value).__name__}`, whose content is not known") from error
    if isinstance(made, str):
        name, inside = f"{type(value).__module__}.{made}", getattr(value, "__wrapped__", None)
        return [("(name)", name), ("(function)", inside)]
    make, arguments, state, *items = (*made, None, None, None)[:5]
    items = [list(one) if one is not None else None for one in items]
    names = ("(class)", "(make)", "(arguments)", "(state)", "(items)")
    return list(zip(names, (type(value), make, arguments, state, items)))


def _is_bound(function):
    """A method of an object, and not of a module or a class."""
    owner = getattr(function, "__self__", None)
    return owner is not None and not isinstance(owner, (type, types.ModuleType))


def _owner(function):
    owner = getattr(function, "__objclass__", getattr(function, "__self__", None))
    return getattr(owner, "__name__", None) or getattr(function, "__module__", None)


def _hash(kind, *parts):
    made = hashlib.sha256(kind.encode())
    for part in parts:
        made.update(len(part).to_bytes(8, "big"))
        made.update(part)
    return made.digest()
