"""Congestion control over Named Data Networking: simulate, compare, write schemes.

import weir
results = weir.run("three-hops.toml", control="cubic")
results.flows.to_pandas()
"""

import sys
from importlib import import_module

if f"{__name__}._command" in sys.orig_argv:
    # A signal may arrive while the rest is imported.
    import_module(f"{__name__}._start").end_on_signal()

from ._application import SILENT, Application, Data, Interest, Registration, Reply
from ._design import Comparison, Until
from ._errors import (
    FileFailed,
    Interrupted,
    Mistake,
    NoForwarder,
    NotFound,
    NotVerified,
    ResultsError,
    RunError,
    ScenarioError,
    SchemeError,
    TimedOut,
    TransferError,
    UsageError,
    WeirError,
)
from ._group import Group, MemberPublication, StreamState
from ._parts import Controller, Marker, Param, Shaper, Strategy, WindowLaw
from ._results import Results, Table
from ._run import run
from ._scenario import Scenario
from ._search import Search, search
from ._sweep import Sweep, sweep
from ._transfer import Fetched, Publication, fetch, publish, stream
from ._schemes import Parameter, Scheme, colour, schemes
from ._weir import __version__
from .readers import read


def __getattr__(name):
    """Import modules that most programs do not need when they are first used."""
    if name in ("aio", "env", "fsspec"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Application",
    "Comparison",
    "Controller",
    "Data",
    "Fetched",
    "FileFailed",
    "Group",
    "Interest",
    "Interrupted",
    "Marker",
    "MemberPublication",
    "Mistake",
    "NoForwarder",
    "NotFound",
    "NotVerified",
    "Param",
    "Parameter",
    "Publication",
    "Registration",
    "Reply",
    "Results",
    "ResultsError",
    "RunError",
    "SILENT",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "SchemeError",
    "Search",
    "Shaper",
    "Strategy",
    "StreamState",
    "Sweep",
    "Table",
    "TimedOut",
    "TransferError",
    "Until",
    "UsageError",
    "WeirError",
    "WindowLaw",
    "__version__",
    "colour",
    "fetch",
    "publish",
    "read",
    "run",
    "schemes",
    "search",
    "stream",
    "sweep",
]
