"""Fetching and publishing in asyncio programs. See `weir.aio`."""

import asyncio
import signal
import tempfile
from contextlib import asynccontextmanager

from . import _transfer
from ._transfer import _defaults, failure, fetch_command, fetched


async def _end(process):
    if process.returncode is None:
        try:
            process.send_signal(signal.SIGINT)
            await asyncio.wait_for(process.wait(), _transfer._GRACE)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
        except ProcessLookupError:
            pass


async def fetch(name, /, to=None, **options):
    """Fetch an object, as `weir.fetch` does."""
    command = fetch_command(name, "-" if to is None else to, **_defaults(options))
    pipe, none = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=none, stdout=pipe, stderr=pipe)
    try:
        content, messages = await process.communicate()
    except BaseException:
        await asyncio.shield(_end(process))
        raise
    messages = messages.decode("utf-8", "replace")
    if to is not None:
        messages, content = messages + content.decode("utf-8", "replace"), None
    return fetched(process.returncode, content, messages)


async def stream(name, /, **options):
    """Fetch an object piece by piece, as `weir.stream` does: an asynchronous iterator of bytes."""
    command = fetch_command(name, "-", **_defaults(options))
    with tempfile.TemporaryFile() as messages:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=messages,
        )
        try:
            while piece := await process.stdout.read(_transfer._READ):
                yield piece
            await process.wait()
        finally:
            await asyncio.shield(_end(process))
        if process.returncode != 0:
            messages.seek(0)
            text = messages.read(_transfer._MESSAGES).decode("utf-8", "replace")
            raise failure(process.returncode, text)


@asynccontextmanager
async def publish(name, content, /, **options):
    """Publish content for the duration of an `async with`, as `weir.publish` does."""
    publication = await asyncio.to_thread(_transfer.publish, name, content, **options)
    try:
        yield publication
    finally:
        await asyncio.shield(asyncio.to_thread(publication._stop))
