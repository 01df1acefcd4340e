"""Clusters that run the points of a sweep: Ray and Dask.

An engine submits tasks (`_worker.run` with bytes), says which have ended, and how many tasks its
workers run at a time. `LOST` are the exceptions of a task whose worker is gone.
"""

import os
import socket
import threading
from contextlib import suppress
from importlib import import_module

from . import _worker
from ._errors import WeirError


# An address that does not answer within this time has no cluster.
SECONDS = 10.0


class Ray:
    """The cluster that the program has joined, or the one of `RAY_ADDRESS`."""

    def __init__(self):
        ray = _package("ray", "ray")
        self._ray = ray
        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS", "auto")
            try:
                _reach(address)
                ray.init(address=address, log_to_driver=False)
            except (OSError, ValueError, RuntimeError) as error:
                raise WeirError(
                    f"there is no Ray cluster at `{address}`: start one with `ray start --head`, "
                    "set RAY_ADDRESS, or call ray.init() before"
                ) from error
        errors = ray.exceptions
        self.LOST = (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            errors.ObjectLostError,
            errors.LocalRayletDiedError,
        )
        # A point uses one thread. Weir counts attempts itself, to name the point.
        self._run = ray.remote(num_cpus=1, max_retries=0)(_worker.run)

    def workers(self):
        """Tasks that run at a time."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def submit(self, task):
        """Begin a task."""
        return self._run.remote(task)

    def wait(self, handles, seconds):
        """The tasks that have ended, after the first one or this time."""
        return self._ray.wait(list(handles), num_returns=1, timeout=seconds)[0]

    def result(self, handle):
        """The result of a task that has ended, or its exception."""
        try:
            return self._ray.get(handle)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause or error) from None

    def cancel(self, handles):
        """End tasks."""
        for handle in handles:
            with suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.cancel(handle, force=True)


class Dask:
    """The cluster of the program's `distributed.Client`, or of `DASK_SCHEDULER_ADDRESS`."""

    def __init__(self):
        distributed = _package("distributed", "dask")
        # A task has ended.
        self._ended = threading.Event()
        try:
            self._client = distributed.get_client()
        except ValueError:
            address = os.environ.get("DASK_SCHEDULER_ADDRESS")
            try:
                if not address:
                    raise OSError("no address is known")
                self._client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
            except OSError as error:
                raise WeirError(
                    f"there is no Dask cluster: {error}; make a distributed.Client before, or set "
                    "DASK_SCHEDULER_ADDRESS"
                ) from error
        self.LOST = (
            distributed.scheduler.KilledWorker,
            distributed.client.FutureCancelledError,
            distributed.comm.CommClosedError,
        )

    def workers(self):
        """Tasks that run at a time."""
        return sum(self._client.nthreads().values())

    def submit(self, task):
        """Begin a task."""
        future = self._client.submit(_worker.run, task, pure=False, retries=0)
        # `distributed.wait` works with the default client alone, which this need not be.
        future.add_done_callback(lambda _: self._ended.set())
        return future

    def wait(self, handles, seconds):
        """The tasks that have ended, after the first one or this time."""
        self._ended.clear()
        if not any(handle.done() for handle in handles):
            self._ended.wait(seconds)
        return [handle for handle in handles if handle.done()]

    def result(self, handle):
        """The result of a task that has ended, or its exception."""
        return handle.result()

    def cancel(self, handles):
        """End tasks. Those that run already go on to the end of their point."""
        self._client.cancel(list(handles))


def _reach(address):
    """Fail if no program listens at HOST:PORT: Ray tries for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), SECONDS).close()


ENGINES = {"dask": Dask, "ray": Ray}


def _package(name, extra):
    """The package of an engine, if all that it needs is there."""
    try:
        for needed in ("cloudpickle", "pyarrow"):
            import_module(needed)
        return import_module(name)
    except ImportError as error:
        raise WeirError(
            f"the package `{error.name}` is not installed; install Weir's wheel with [{extra}]"
        ) from error
