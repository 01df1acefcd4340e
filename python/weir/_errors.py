"""The exceptions of Weir.

Each has the text that the command line prints, and what it knows as attributes.
"""

import ctypes
import sys
import traceback
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A mistake in a scenario, and its position. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str


class WeirError(Exception):
    """Base of all exceptions of this package.

    `results` has what a run recorded before it ended, if it was a run. `kind` is the word of the
    program `weir` for the failure of a transfer or an Interest, such as `no-route`, if it has one.
    """

    results = None
    kind = None


class ScenarioError(WeirError, ValueError):
    """A scenario that cannot be read, or has mistakes."""

    def __init__(self, text, mistakes=()):
        super().__init__(text)
        self.mistakes = [Mistake(*mistake) for mistake in mistakes]

    @property
    def line(self):
        """The line of the first mistake, from 1."""
        return self.mistakes[0].line if self.mistakes else None

    @property
    def column(self):
        """The column of the first mistake, from 1."""
        return self.mistakes[0].column if self.mistakes else None


class RunError(WeirError, RuntimeError):
    """A run that cannot start or continue."""


class ResultsError(WeirError, OSError):
    """Results that cannot be read or written."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. `results` has what was recorded until then."""

    results = None
    kind = None


class SchemeError(WeirError, RuntimeError):
    """A scheme in Python that ended its run.

    It raised an exception (which is the cause), gave a wrong value, or did not return. `scheme`
    is its name, `time` the simulated time in seconds.
    """

    def __init__(self, scheme, time, kind, what, raised=None):
        self.scheme, self.time, self.kind = scheme, time, kind
        when = f"at {time:.6f} s of simulated time"
        if kind == "raised":
            text = f"scheme `{scheme}` raised {what} {when}"
        elif kind == "blocked":
            text = f"scheme `{scheme}` did not return from a call {when}; it was here:\n{what}"
        else:
            text = f"scheme `{scheme}`: {what}, {when}"
        super().__init__(text)
        self.__cause__ = raised


class CallEnded(BaseException):
    """Ends the call of a scheme that takes too long."""


def stack_of(thread):
    """The stack of a thread, as text."""
    frame = sys._current_frames().get(thread)
    return "".join(traceback.format_stack(frame)).rstrip() if frame else ""


def end_call_of(thread):
    """Raise `CallEnded` in a thread, as soon as it executes Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(CallEnded))


class TransferError(WeirError, RuntimeError):
    """A transfer that failed."""


class TimedOut(TransferError, TimeoutError):
    """No answer arrived in time."""


class UsageError(WeirError, ValueError):
    """An argument that the program does not take."""


class NotFound(WeirError, LookupError):
    """No such name, or no route to it."""


class NotVerified(WeirError):
    """A signature or digest was rejected."""


class NoForwarder(WeirError, ConnectionError):
    """There is no forwarder, or the connection to it was lost."""


class FileFailed(WeirError, OSError):
    """A local file cannot be read or written."""
