"""One measured transfer through Weir: its goodput and its costs."""

from contextlib import contextmanager
from dataclasses import dataclass

from support import content
from support.children import Failed


@dataclass
class Transfer:
    """A finished transfer. Costs cover this transfer, peaks the life of the process."""

    size: int
    seconds: float
    producer: object
    forwarders: list
    consumer: object
    summary: dict

    @property
    def rate(self):
        """Content bits a second, from the start of the command to its end."""
        return self.size * 8 / self.seconds

    @property
    def segments(self):
        """Segments of the object."""
        return self.summary["segments"]

    @property
    def sent_twice(self):
        """Interests sent again, as a share of the segments."""
        return self.summary["retransmissions"] / self.segments


class Cost:
    """The resources of a process between two samples."""

    def __init__(self, child):
        self._child = child
        self._before = child.usage().cpu_seconds

    def usage(self):
        """Processor seconds since the first look; the peak is that of its whole life."""
        used = self._child.usage()
        used.cpu_seconds -= self._before
        return used


class Object:
    """A published file and the data needed to fetch and compare it."""

    def __init__(self, name, path, producer):
        self.name = name
        self.path = path
        self.producer = producer
        self.size = path.stat().st_size
        self.digest = content.sha256(path)


@contextmanager
def published(daemon, name, path, options=()):
    """Publish a file at a daemon for as long as the `with` block lasts."""
    with daemon.put(name, path, options=options) as child:
        yield Object(name, path, child)


def fetch(thing, daemons, folder, timeout, options=()):
    """Fetch a published object at the first of the daemons; Failed if it is not what was sent."""
    target = folder / "received"
    target.unlink(missing_ok=True)
    producer = Cost(thing.producer)
    forwarders = [Cost(daemon.process) for daemon in daemons]
    running = daemons[0].get(thing.name, target, options=options)
    with running.child as child:
        running.finish(timeout)
    # The costs first: the comparison takes time in which the others go on.
    costs = producer.usage(), [cost.usage() for cost in forwarders]
    if content.sha256(target) != thing.digest:
        raise Failed(f"{thing.name}: what arrived is not what was sent")
    target.unlink()
    return Transfer(thing.size, child.seconds, *costs, child.usage(), running.summary)
