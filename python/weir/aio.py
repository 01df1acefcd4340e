"""Fetching, publishing and answering in asyncio programs.

    async with weir.aio.publish("/me/film", Path("film.mp4")) as publication:
        fetched = await weir.aio.fetch("/me/film")

A task that is cancelled ends its transfer.
"""

from ._aio_application import Application, Group, Registration
from ._aio_transfer import fetch, publish, stream

__all__ = ["Application", "Group", "Registration", "fetch", "publish", "stream"]
