"""Interests that are sent, and answered by functions, and groups, in this process.

The core is the crate `client`: it verifies in compiled code, and works in threads of its own.
"""

import atexit
import inspect
import logging
import os
import queue
import threading
import time
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import _transfer, _weir
from ._checks import as_bytes, real, whole
from ._errors import TransferError, UsageError
from ._group import Group, bounds
from ._part import GRACE, Part
from ._weir import Interest

LOGGER = logging.getLogger("weir")
# The same as GRACE for Interests, and about the same for handlers when the interpreter ends.
_GRACE_AT_EXIT = 2.0
# Seconds between two looks at the errors of registrations, and at calls when the interpreter ends.
_TURN = 0.2
_TURN_AT_EXIT = 0.005


class _Silent:
    """The return of a handler that sends no answer at all: the consumer waits.

    This is for prefixes with several producers, of which another may answer.
    """

    def __repr__(self):
        return "weir.SILENT"

    def __reduce__(self):
        return "SILENT"


SILENT = _Silent()


@dataclass(frozen=True)
class Reply:
    """The reply of a handler, if content alone is not enough.

    `content` is bytes or a text. `name` is a name below that of an Interest that permits it.
    Caches answer Interests for fresh Data with it for `freshness` seconds. `content_type` is 0 for
    bytes, 2 for a key, 3 for an application's "no".
    """

    content: bytes | str
    name: str | None = None
    freshness: float | None = None
    content_type: int = 0

    def __post_init__(self):
        as_bytes("content", self.content)
        if self.freshness is not None:
            real("freshness", self.freshness)
        whole("content_type", self.content_type, 0)


@dataclass(frozen=True)
class Data:
    """A Data packet that was verified.

    `freshness` is in seconds, or None. `verified` is `key`, `digest` or `unchecked`, `key` the key
    that signed.
    """

    name: str
    content: bytes = field(repr=False)
    content_type: int
    freshness: float | None
    verified: str
    key: str | None

    def __bytes__(self):
        return self.content


def _anchors(trust):
    """The anchors of an argument."""
    one = isinstance(trust, (str, os.PathLike))
    return [os.fspath(anchor) for anchor in ([trust] if one else trust)]


def _text(value):
    """An optional argument as text."""
    return None if value is None else str(value)


def answer_of(interest, given):
    """The answer of a handler that has returned this."""
    if given is None:
        return None
    if isinstance(given, _Silent):
        return _weir.Answer.silence()
    if inspect.iscoroutine(given):
        given.close()
        raise TypeError("the handler returned a coroutine; use `weir.aio.Application` for it")
    if not isinstance(given, Reply):
        if not isinstance(given, (str, bytes, bytearray, memoryview)):
            kinds = "bytes, a text, a `weir.Reply`, `weir.SILENT` or None"
            raise TypeError(f"a handler returns {kinds}, not {type(given).__name__}")
        given = Reply(given)
    content = as_bytes("content", given.content)
    return interest._answer(content, _text(given.name), given.freshness, given.content_type)


def report(prefix, interest):
    """Log the exception of a handler."""
    LOGGER.exception("the handler of %s failed for the Interest %s", prefix, interest.name)


class Registration(Part):
    """A prefix that a handler answers for, until `close`. Use it with `with`, if you like.

    After a restart of the forwarder, the prefix is registered again. A handler may close its own
    registration.
    """

    def __init__(self, application, prefix, handler):
        super().__init__(application)
        self._prefix = prefix
        self._handler = handler
        # The thread that runs the handler. It is one of Python's, so that the interpreter may end
        # in the middle of a handler: a thread of the core would end the process.
        self._worker = None

    def _begin(self, client, key):
        """Register. Threads have no reference to the handler, so that both can be collected."""
        waiting = queue.SimpleQueue()
        self._waiting = waiting
        arguments = (weakref.ref(self), waiting)
        self._worker = threading.Thread(target=_work, args=arguments, daemon=True)
        weakref.finalize(self, waiting.put, None).atexit = False
        # First, as the system may have no thread. Without a registration, it ends with `self`.
        self._worker.start()
        self._inner = client.register(self._prefix, key, lambda *one: waiting.put(one), True)

    def _serve(self, interest, responder):
        """Answer an Interest."""
        if self._is_closed or responder.is_void:
            return
        try:
            answer = answer_of(interest, self._handler(interest))
        except BaseException:
            # No exception ends the thread.
            report(self._prefix, interest)
            answer = _weir.Answer.failure()
        responder.reply(answer)

    @property
    def prefix(self):
        """The prefix."""
        return self._inner.prefix

    @property
    def answered(self):
        """The number of Interests that were answered."""
        return self._inner.counts[0]

    @property
    def rejected(self):
        """The number of Interests that were rejected: the handler returned None."""
        return self._inner.counts[1]

    @property
    def failed(self):
        """The number of Interests whose handler failed, or whose reply does not fit."""
        return self._inner.counts[2]

    def _close(self, patience):
        has_ended = super()._close(patience)
        if self._worker in (None, threading.current_thread()):
            return has_ended
        self._waiting.put(None)
        self._worker.join(patience)
        return has_ended and not self._worker.is_alive()

    def __repr__(self):
        return f"<weir.Registration {self._prefix}: {self.answered} answered>"


def _work(reference, waiting):
    """Answer Interests, one after the other, as long as the registration is in use."""
    while (one := waiting.get()) is not None:
        if (registration := reference()) is None:
            return
        registration._serve(*one)
        del registration, one


class Application:
    """A program that answers Interests, sends them, and joins groups. Use it with `with`, or
    `close` it.

        with weir.Application() as app:

            @app.register("/demo/time")
            def now(interest):
                return weir.Reply(time.ctime(), freshness=1)

            app.wait()

    `forwarder` is the address of the forwarder, `trust` names trust anchors as for `weir.fetch`,
    and `key` is the key, or identity, that signs. By default, these are the forwarder and the keys
    of the command line. Methods can be called from several threads.

    Raises `NoForwarder` if no forwarder is there, `UsageError`, `NotVerified` or `FileFailed`.
    """

    def __init__(self, forwarder=None, *, trust=(), key=None):
        self._forwarder = None if forwarder is None else os.fspath(forwarder)
        self._trust, self._key = _anchors(trust), _text(key)
        self._process = os.getpid()
        self._lock = threading.Lock()
        # Registrations and groups, which end with the application, and operations of the core.
        self._parts, self._cancels = [], set()
        self._publications = weakref.WeakSet()
        self._closed = threading.Event()
        self._client = _weir.Client(self._forwarder or "", self._trust, self._key)
        _OPEN.add(self)

    def register(self, prefix, handler=None, *, key=None):
        """Answer Interests under `prefix`, and return the `Registration`.

        Without a handler it is a decorator, which returns the function as it was;
        `registrations` has the rest. `handler` takes a `weir.Interest`, and returns bytes, a
        text, a `weir.Reply`, None, which rejects the Interest so that its consumer does not wait,
        or `weir.SILENT`. It runs in a thread of the registration, one Interest at a time. An
        exception in it rejects the Interest, and is logged by the logger `weir`. `key` signs in
        place of the application's key.

        Raises `UsageError`, `TransferError` if the forwarder rejects the prefix, `NoForwarder`,
        `TimedOut` or `FileFailed`.
        """
        if handler is None:

            def decorate(function):
                self.register(prefix, function, key=key)
                return function

            return decorate
        if inspect.iscoroutinefunction(handler):
            raise TypeError("an `async def` is a handler for `weir.aio.Application`")
        return self._register(Registration(self, str(prefix), _checked(handler)), key)

    def _register(self, registration, key):
        self._check()
        registration._begin(self._client, _text(key))
        return self._keep(registration)

    def _keep(self, part):
        """Close it with the application."""
        with self._lock:
            if not self._closed.is_set():
                self._parts.append(part)
                return part
        part._close(GRACE)
        raise UsageError("the application was closed meanwhile")

    @property
    def registrations(self):
        """The registrations that are not closed, the oldest first."""
        return self._all(Registration)

    def join(self, group, member, *, key=None, history=None, keep=None, waiting=None):
        """Join the group `group` as `member`, and return the `Group`.

        `member` is the name of this member, for which a key exists; `key` names another one than
        that of the application. Other members are trusted by the application's `trust`; without
        it, by the member's own key alone. `history` is the number of earlier publications of each
        member that are fetched on joining, `keep` of own publications that are kept for others,
        both at most 2,000, the default. With `waiting` publications that the program has not
        taken, 1,000 by default, no more are asked for. Joining takes a second: each start of a
        member has one of its own.

        Raises `UsageError`, `TransferError` if the forwarder rejects the group's prefix,
        `NoForwarder`, `TimedOut` or `FileFailed`.
        """
        return self._join(Group, group, member, key, bounds(history, keep, waiting))

    def _join(self, kind, group, member, key, given):
        self._check()
        inner = self._client.join(str(group), str(member), _text(key), given)
        return self._keep(kind(self, inner))

    @property
    def groups(self):
        """The groups that are not closed, the oldest first."""
        return self._all(Group)

    def _all(self, kind):
        with self._lock:
            return [part for part in self._parts if isinstance(part, kind)]

    def express(
        self,
        name,
        /,
        *,
        prefix=False,
        fresh=False,
        lifetime=4.0,
        parameters=None,
        hop_limit=None,
        trust=None,
    ):
        """Send one Interest, and return the verified `Data`.

        `prefix` accepts names below, `fresh` only fresh Data. `lifetime` is in seconds.
        `parameters` for the producer are bytes or a text. `hop_limit` is the number of forwarders
        that may pass the Interest on. `trust` replaces the anchors of the application. An Interest
        that is lost is not sent again.

        Raises `NotFound` if the Interest was rejected, `NotVerified`, `TimedOut`, `NoForwarder` or
        `UsageError`.
        """
        options = {"prefix": prefix, "fresh": fresh, "lifetime": lifetime}
        options |= {"parameters": parameters, "hop_limit": hop_limit}
        return self._express(_interest(name, **options), trust, _weir.Cancel())

    def _express(self, interest, trust, cancel):
        anchors = None if trust is None else _anchors(trust)
        with self._operation(cancel):
            return Data(*self._client.express(interest, cancel, anchors))

    @contextmanager
    def _operation(self, cancel):
        """Something that waits in the core, until the application is closed."""
        self._check()
        with self._lock:
            self._cancels.add(cancel)
        try:
            if self._closed.is_set():
                cancel.cancel()
            yield
        except TransferError as error:
            if self._closed.is_set():
                raise UsageError("the application was closed meanwhile") from error
            raise
        finally:
            with self._lock:
                self._cancels.discard(cancel)

    def fetch(self, name, /, to=None, **options):
        """Fetch an object, as `weir.fetch` does, by the forwarder and trust of the application."""
        return _transfer.fetch(name, to, **self._fetching(options))

    def publish(self, name, content, /, **options):
        """Publish content, as `weir.publish` does, by the forwarder and key of the application.

        The publication ends with the application at the latest.
        """
        publication = _transfer.publish(name, content, **self._publishing(options))
        self._publications.add(publication)
        return publication

    def _fetching(self, options):
        self._check()
        return {"socket": self._forwarder, "trust": self._trust} | options

    def _publishing(self, options):
        self._check()
        return {"socket": self._forwarder, "sign": self._key} | options

    def wait(self, timeout=None):
        """Wait until the application is closed, or Ctrl-C, or for `timeout` seconds.

        Raises the error that has ended a registration or a group.
        """
        self._check()
        left = timeout
        while left is None or left > 0:
            turn = _TURN if left is None else min(left, _TURN)
            if self._closed.wait(turn):
                return
            self._raise_errors()
            left = None if left is None else left - turn

    def _raise_errors(self):
        for part in self._all(object):
            if (error := part.error) is not None:
                raise error

    def _check_process(self):
        if os.getpid() != self._process:
            raise UsageError("the application was made before a fork; make one in each process")

    def _check(self):
        self._check_process()
        if self._closed.is_set():
            raise UsageError("the application is closed")

    def _forget(self, part):
        # In a fork, another thread may have held the lock.
        if os.getpid() != self._process:
            return
        with self._lock:
            if part in self._parts:
                self._parts.remove(part)

    def _end(self):
        """No more operations. Returns what is to be closed."""
        with self._lock:
            self._closed.set()
            parts, self._parts = self._parts, []
            for cancel in self._cancels:
                cancel.cancel()
        return parts

    def close(self):
        """End all registrations, groups, publications and Interests. A handler may close it."""
        if os.getpid() != self._process:
            return
        for part in self._end():
            part.close()
        for publication in list(self._publications):
            publication._stop()

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        state = "closed" if self._closed.is_set() else f"{len(self.registrations)} registrations"
        return f"<weir.Application {self._forwarder or 'by default'}: {state}>"


def _checked(handler):
    """A handler is a function."""
    if not callable(handler):
        raise TypeError(f"a handler is a function, not {type(handler).__name__}")
    return handler


def _interest(name, *, lifetime, parameters, hop_limit, **switches):
    """The Interest of an `express`."""
    parameters = None if parameters is None else as_bytes("parameters", parameters)
    if hop_limit is not None and whole("hop_limit", hop_limit, 0) > 255:
        raise ValueError(f"`hop_limit` is at most 255, not {hop_limit}")
    seconds = real("lifetime", lifetime)
    rest = {"parameters": parameters, "hop_limit": hop_limit}
    return Interest(str(name), lifetime=seconds, **switches, **rest)


_OPEN = weakref.WeakSet()


def _wait_until(condition, end):
    """Wait until it holds, or for the end."""
    while not condition() and time.monotonic() < end:
        time.sleep(_TURN_AT_EXIT)


@atexit.register
def _close_all():
    """Calls into the core end before the interpreter: its end would abort the process in them."""
    applications = [one for one in _OPEN if one._process == os.getpid()]
    parts = [part for application in applications for part in application._end()]
    end = time.monotonic() + _GRACE_AT_EXIT
    _wait_until(lambda: not any(one._cancels for one in applications), end)
    # All are asked to end before one is waited for.
    parts = [part for part in parts if not part._close(0)]
    for part in parts:
        part._close(_GRACE_AT_EXIT / len(parts))
