"""`weir.aio.Application`: the application of `_application` and its groups, in an event loop."""

import asyncio
import contextvars
import functools
import inspect
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

from . import _aio_transfer, _application, _group, _weir
from ._application import answer_of, report
from ._errors import UsageError
from ._part import GRACE, AsyncPart

# Interests that are on their way, and groups that wait, at a time. Each has a thread.
_MOST_WAITING = 64
# Seconds for which a thread waits: the end of the interpreter waits for threads of executors.
_TURN = 1.0


class Registration(AsyncPart, _application.Registration):
    """A prefix that a handler answers for in an event loop, until `close`.

    Its end cancels handlers that run. A handler may close its own registration.
    """

    def __init__(self, application, prefix, handler):
        super().__init__(application, prefix, handler)
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._tasks = set()

    def _begin(self, client, key):
        self._inner = client.register(self._prefix, key, _entry(weakref.ref(self)), True)

    def _take(self, interest, responder):
        """Hand an Interest to the event loop, from the thread of the registration."""
        try:
            begin = functools.partial(self._start, interest, responder)
            self._loop.call_soon_threadsafe(begin, context=self._context)
        except RuntimeError:
            # The loop has ended without the application.
            responder.reply(None)

    def _start(self, interest, responder):
        if not self._is_closed:
            task = self._loop.create_task(self._serve(interest, responder))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, interest, responder):
        if responder.is_void:
            return
        try:
            given = self._handler(interest)
            if inspect.isawaitable(given):
                given = await given
            answer = answer_of(interest, given)
        except BaseException as error:
            if not self._is_closed:
                report(self._prefix, interest)
            responder.reply(_weir.Answer.failure())
            if not isinstance(error, Exception):
                raise
        else:
            responder.reply(answer)

    async def _cancel(self):
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _cancellable(executor, cancel, work):
    """Do work that waits in the core in a thread. A task that is cancelled ends it."""
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, work)
    except asyncio.CancelledError:
        cancel.cancel()
        raise


async def _kept(function, *arguments):
    """Make a part of an application in a thread. If the task is cancelled, the part is closed."""
    making = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(_leave)
        raise


def _leave(making):
    if not making.cancelled() and making.exception() is None:
        part = making.result()
        part._application._forget(part)
        threading.Thread(target=part._close, args=(GRACE,), daemon=True).start()


class Group(AsyncPart, _group.Group):
    """A member of a group, as `weir.Group`, in an event loop. Use it with `async with`, or `close`.

        async with await app.join("/lab", "/lab/alice") as group:
            group.publish("the lamp is on")
            async for publication in group:
                print(publication.member, publication.content)
    """

    def __init__(self, executor, application, inner):
        super().__init__(application, inner)
        self._executor = executor

    async def _wait(self, function, timeout):
        """Wait in turns, until it is there. False after `timeout`."""
        self._application._check()
        cancel, left = _weir.Cancel(), _group.seconds(timeout)

        def work(turn):
            with self._operation(cancel):
                return function(turn, cancel)

        while True:
            turn = _TURN if left is None else min(left, _TURN)
            one_turn = functools.partial(work, turn)
            is_there = await _cancellable(self._executor, cancel, one_turn)
            if is_there or turn == left:
                return is_there
            left = None if left is None else left - turn

    async def next(self, timeout=None):
        """The next publication of another member, as `weir.Group.next` has it."""
        timeout, clock = _group.seconds(timeout), asyncio.get_running_loop().time
        end = None if timeout is None else clock() + timeout
        while True:
            left = None if end is None else max(end - clock(), 0.0)
            is_ready = await self._wait(self._inner.wait_until_ready, left)
            # Nothing is awaited between this and the return: a cancelled task takes none.
            with self._operation() as cancel:
                made = self._inner.next(0.0, cancel)
            if made is not None:
                return _group.MemberPublication(*made)
            if not is_ready:
                return None

    async def wait_until_fetched(self, timeout=None):
        """Wait until each own publication was fetched by another member. False after `timeout`."""
        return await self._wait(self._inner.wait_until_fetched, timeout)

    async def __aiter__(self):
        while not self._has_ended:
            try:
                publication = await self.next()
            except UsageError:
                if self._has_ended:
                    return
                raise
            yield publication

    def __iter__(self):
        raise TypeError("use `async for` for a group of `weir.aio.Application`")


def _entry(reference):
    """The function that the core calls: it keeps nothing alive."""

    def take(interest, responder):
        if (registration := reference()) is not None:
            registration._take(interest, responder)

    return take


class Application:
    """As `weir.Application`, in an event loop. Use it with `async with`.

        app = weir.aio.Application()

        @app.register("/demo/time")
        async def now(interest):
            return await clock.read()

        async with app:
            await app.wait()

    Arguments are those of `weir.Application`. It connects when it is entered.
    """

    def __init__(self, forwarder=None, *, trust=(), key=None):
        self._arguments = (forwarder, {"trust": trust, "key": key})
        self._decorated = []
        self._app = self._executor = None

    def register(self, prefix, handler=None, *, key=None):
        """Answer Interests under `prefix`: `registration = await app.register(prefix, handler)`.

        Without a handler it is a decorator for functions that answer from `async with` on. The
        handler is an `async def` or a function, and returns what handlers of
        `weir.Application.register` return. Handlers run in the event loop, several at a time.
        """
        if handler is not None:
            return self._register(prefix, handler, key)

        def decorate(function):
            if self._app is not None:
                raise UsageError("it answers already; use `await app.register(prefix, handler)`")
            self._decorated.append((prefix, _application._checked(function), key))
            return function

        return decorate

    async def _register(self, prefix, handler, key):
        app = self._running()
        made = Registration(app, str(prefix), _application._checked(handler))
        return await _kept(app._register, made, key)

    @property
    def registrations(self):
        """The registrations that are not closed, the oldest first."""
        return self._app.registrations if self._app else []

    async def join(self, group, member, *, key=None, history=None, keep=None, waiting=None):
        """Join a group, as `weir.Application.join` does, and return the `weir.aio.Group`."""
        given = _group.bounds(history, keep, waiting)
        join, kind = self._running()._join, functools.partial(Group, self._executor)
        return await _kept(join, kind, group, member, key, given)

    @property
    def groups(self):
        """The groups that are not closed, the oldest first."""
        return self._app.groups if self._app else []

    async def express(self, name, /, *, trust=None, **options):
        """Send one Interest, as `weir.Application.express` does; at most 64 at a time.

        A task that is cancelled ends its Interest.
        """
        app, cancel = self._running(), _weir.Cancel()
        known = {"prefix": False, "fresh": False, "lifetime": 4.0}
        known |= {"parameters": None, "hop_limit": None}
        for option in options:
            if option not in known:
                raise TypeError(f"there is no option `{option}`; there are {', '.join(known)}")
        interest = _application._interest(name, **(known | options))
        send = functools.partial(app._express, interest, trust, cancel)
        return await _cancellable(self._executor, cancel, send)

    async def fetch(self, name, /, to=None, **options):
        """Fetch an object, as `weir.aio.fetch` does, by the application's forwarder and trust."""
        return await _aio_transfer.fetch(name, to, **self._running()._fetching(options))

    def publish(self, name, content, /, **options):
        """Publish content, as `weir.aio.publish` does, by the application's forwarder and key."""
        return _aio_transfer.publish(name, content, **self._running()._publishing(options))

    async def wait(self):
        """Wait until the application is closed. Raises what ended a registration or a group."""
        app = self._running()
        while not app._closed.is_set():
            app._raise_errors()
            await asyncio.sleep(_application._TURN)

    def _running(self):
        if self._app is None:
            raise UsageError("the application does not run; use `async with`")
        self._app._check()
        return self._app

    async def close(self):
        """End all registrations, groups and Interests."""
        if self._app is None or self._app._process != os.getpid():
            return
        parts = self._app._end()
        await asyncio.gather(*(part.close() for part in parts))
        # Work that has not begun ends at once: the application is closed.
        self._executor.shutdown(wait=False)

    async def __aenter__(self):
        if self._app is not None:
            raise UsageError("an application runs once; make another one")
        forwarder, options = self._arguments
        make = functools.partial(_application.Application, forwarder, **options)
        self._app = await asyncio.to_thread(make)
        self._executor = ThreadPoolExecutor(_MOST_WAITING, "weir-wait")
        try:
            for prefix, handler, key in self._decorated:
                await self._register(prefix, handler, key)
        except BaseException:
            await asyncio.shield(self.close())
            raise
        return self

    async def __aexit__(self, *_):
        await asyncio.shield(self.close())
