"""Parts of an application, which end with it: registrations and groups."""

import asyncio

# Seconds that a part has for its end.
GRACE = 10.0


class Part:
    """A part of an application. Use it with `with`, or `close` it."""

    def __init__(self, application, inner=None):
        # An application that is in use through its part goes on.
        self._application = application
        self._inner = inner
        self._is_closed = False

    @property
    def _core(self):
        """The core, unless a fork has copied it in the middle of something."""
        self._application._check_process()
        return self._inner

    @property
    def error(self):
        """The exception that has ended it, such as a rejected registration, or None."""
        return self._core.error

    def close(self):
        """End it, and wait for its threads for at most 10 s."""
        self._close(GRACE)
        self._application._forget(self)

    def _close(self, patience):
        """End it, and wait `patience` seconds at most. True if its threads have ended."""
        self._is_closed = True
        return self._inner.close(patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class AsyncPart:
    """The differences in an event loop. It comes before the class of the part."""

    async def close(self):
        """End it, and wait for its threads for at most 10 s."""
        self._application._forget(self)
        self._is_closed = True
        await self._cancel()
        await asyncio.to_thread(self._close, GRACE)

    async def _cancel(self):
        """End its tasks."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()

    def __enter__(self):
        kind = type(self).__name__.lower()
        raise TypeError(f"use `async with` for a {kind} of `weir.aio.Application`")
