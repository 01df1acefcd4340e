"""Groups of programs that publish for each other: State Vector Sync.

The core is the crate `client`, as for `_application`.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import _weir
from ._checks import as_bytes, real, whole
from ._errors import TransferError, UsageError
from ._part import Part


@dataclass(frozen=True)
class MemberPublication:
    """A publication of a member of a group, verified.

    `boot` is the start of the member in seconds since 1970: each start numbers its publications
    from 1. `verified` is always `key`, and `key` the key that signed. `is_late` is true if later
    ones of this start have come before it, because it could not be fetched then.
    """

    member: str
    boot: int
    seq: int
    content: bytes = field(repr=False)
    verified: str
    key: str | None
    is_late: bool

    def __bytes__(self):
        return self.content


@dataclass(frozen=True)
class StreamState:
    """The number of the last publication of one start of a member, `boot`.

    `is_confirmed` is false if only other members have claimed that number, which may be wrong.
    """

    member: str
    boot: int
    seq: int
    is_confirmed: bool


def bounds(history, keep, waiting):
    """The bounds of a member as the core takes them; None is its default."""
    given = {"history": history, "keep": keep, "waiting": waiting}
    return [
        None if value is None else min(whole(name, value), sys.maxsize)
        for name, value in given.items()
    ]


class Group(Part):
    """A member of a group of programs that publish for each other. Use it with `with`, or `close`.

        with app.join("/lab", "/lab/alice") as group:
            group.publish("the lamp is on")
            for publication in group:
                print(publication.member, publication.content)

    Each member fetches the publications that it lacks, from their member or any other one (State
    Vector Sync, version 3). After a restart of the forwarder, it is there again, and fetches what
    it has missed. Publications of members that are not trusted are dropped and counted.
    `for` waits for the next publication, and ends when the group is closed. Publications that no
    member has fetched by then are lost. Methods can be called from several threads.
    """

    def __init__(self, application, inner):
        super().__init__(application, inner)
        self._name, self._member, self._boot = inner.about

    @property
    def name(self):
        """The group."""
        return self._name

    @property
    def member(self):
        """This member."""
        return self._member

    @property
    def boot(self):
        """The start of this member in seconds since 1970: see `MemberPublication`."""
        return self._boot

    def publish(self, content):
        """Publish bytes or a text, and return the number. Nothing waits for other members.

        They have room for 8,800 bytes with names and signature; publish larger content as an
        object, and its name in the group.

        Raises `TransferError` if the content is too large, or the error that has ended the group.
        """
        with self._operation():
            return self._inner.publish(as_bytes("content", content))

    def next(self, timeout=None):
        """The next publication of another member, or None if none arrives in `timeout` seconds.

        Those of a member arrive in the order of their numbers. Numbers that are left out could not
        be fetched: see `missing`. Publications of earlier starts of this member come, too.

        Raises the error that has ended the group, or `UsageError` if it is closed.
        """
        with self._operation() as cancel:
            made = self._inner.next(seconds(timeout), cancel)
        return None if made is None else MemberPublication(*made)

    def wait_until_fetched(self, timeout=None):
        """Wait until each own publication was fetched by another member. False after `timeout`.

        The other member serves them to later ones when this one has left: see `unfetched`. Raises
        as `next` does, and `TransferError` if some had to make room before: see `keep` of
        `Application.join`.
        """
        with self._operation() as cancel:
            return self._inner.wait_until_fetched(seconds(timeout), cancel)

    @contextmanager
    def _operation(self, cancel=None):
        """Something that the core does, until the group is closed."""
        cancel = cancel or _weir.Cancel()
        try:
            with self._application._operation(cancel):
                yield cancel
        except TransferError as error:
            if self._is_closed:
                raise UsageError("the group is closed") from error
            raise

    @property
    def _has_ended(self):
        """It is closed, or its application is about to close it."""
        return self._is_closed or self._application._closed.is_set()

    @property
    def members(self):
        """The other members that have published since they started."""
        return self._core.members

    @property
    def state(self):
        """The last publication of each start of a member that is known, as `StreamState`.

        It is ahead of `next` while publications are fetched.
        """
        return [StreamState(*stream) for stream in self._core.state]

    @property
    def unfetched(self):
        """The number of own publications that no other member has fetched.

        One is fetched when the answer was handed to the connection to the forwarder. It can still
        be lost on its way; then its member asks again, while this one is there.
        """
        return self._core.counts[0]

    @property
    def missing(self):
        """The number of publications that could not be fetched. Late ones are counted, too."""
        return self._core.counts[1]

    @property
    def rejected(self):
        """The number of packets that were dropped: signers are not trusted, or they are malformed.

        `warnings` has reasons.
        """
        return self._core.counts[2]

    @property
    def warnings(self):
        """Notes for the user of the program, such as reasons of rejections, at most 20 of these."""
        return self._core.warnings

    def __iter__(self):
        while not self._has_ended:
            try:
                publication = self.next()
            except UsageError:
                if self._has_ended:
                    return
                raise
            yield publication

    def __repr__(self):
        return f"<weir.Group {self._name} as {self._member}>"


def seconds(timeout):
    """A time in seconds, or None."""
    given = None if timeout is None else real("timeout", timeout)
    # NaN is not.
    if given is not None and not given >= 0:
        raise ValueError(f"`timeout` is at least 0, not {timeout}")
    return given
