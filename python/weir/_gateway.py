"""The process `weir gateway` that the file system of `weir.fsspec` reads through."""

import errno
import http.client
import itertools
import json
import os
import queue
import signal
import subprocess
import threading
import weakref
from contextlib import contextmanager

from ._errors import NotFound, NotVerified, TransferError
from ._transfer import consumer, failure, program

# Ranges that are fetched at a time, and connections that are kept.
AT_A_TIME = 8
# Seconds that the gateway has for its end before it is killed.
_GRACE = 10.0
# Seconds for an answer. The program has its own patience, which is shorter.
_PATIENCE = 600.0

# Runs a command until it ends, or until standard input is closed: also where this process is
# killed, or ends without the functions of `atexit`, as those of `multiprocessing` do.
_UNTIL_CLOSED = """
exec 3<&0
"$@" </dev/null 3<&- &
command=$!
{ read -r _ <&3; kill $command; } >/dev/null 2>&1 &
watch=$!
exec 3<&- </dev/null >/dev/null 2>&1
wait $command
status=$?
kill $watch
exit $status
"""


# Gateways of this process.
_GATEWAYS = weakref.WeakSet()


def _leave_gateways():
    """Close the inputs of the parent's gateways in a forked process: they end with the parent."""
    for gateway in _GATEWAYS:
        # Another thread may have held the lock of the buffer at the fork.
        gateway._process.stdin.raw.close()
    _GATEWAYS.clear()


os.register_at_fork(after_in_child=_leave_gateways)


class Gateway:
    """A process `weir gateway`, and connections to it."""

    def __init__(self, options):
        self._pid = os.getpid()
        command = [program(), "gateway", "--listen", "127.0.0.1:0", "--prefix", "/", "--json"]
        # Of a session of its own: Ctrl-C ends what waits for an answer, and not the gateway.
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _UNTIL_CLOSED, "sh", *command, *consumer(**options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._end = weakref.finalize(self, _end, self._process, self._pid)
        _GATEWAYS.add(self)
        line = self._process.stdout.readline()
        if not line:
            messages = self._process.stderr.read().decode("utf-8", "replace")
            error = failure(self._process.wait(), messages)
            raise as_os_error(error, "weir gateway") from error
        host, port = json.loads(line)["listening"].rsplit(":", 1)
        self._address = (host, int(port))
        self._free = queue.SimpleQueue()
        for pipe in (self._process.stdout, self._process.stderr):
            # It reports each answer, and would wait for a reader.
            threading.Thread(target=_drain, args=(pipe,), daemon=True).start()

    @property
    def is_usable(self):
        """True if the process runs, and belongs to this one."""
        return self._pid == os.getpid() and self._process.poll() is None

    @contextmanager
    def ask(self, method, path, head=None):
        """The answer to a request. The connection is kept if all of it has been read."""
        for attempt in itertools.count():
            try:
                connection, is_new = self._free.get_nowait(), False
            except queue.Empty:
                connection = http.client.HTTPConnection(*self._address, timeout=_PATIENCE)
                is_new = True
            try:
                connection.request(method, path, headers=head or {})
                answer = connection.getresponse()
                break
            except (ConnectionError, http.client.RemoteDisconnected):
                # The gateway closes connections without requests.
                connection.close()
                if is_new or attempt > AT_A_TIME:
                    raise
            except http.client.HTTPException as error:
                connection.close()
                error = TransferError(f"the gateway gave no answer: {error!r}")
                raise as_os_error(error, path) from error
        try:
            yield answer
            answer.read()
        except BaseException:
            connection.close()
            raise
        if answer.will_close or self._free.qsize() >= AT_A_TIME:
            connection.close()
        else:
            self._free.put(connection)


def _drain(pipe):
    with pipe:
        while pipe.read1(1 << 16):
            pass


def _end(process, pid):
    if os.getpid() != pid:
        return
    process.stdin.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def not_found(path):
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def as_os_error(error, path):
    """An error of a transfer, as programs that read files know it, with its text."""
    kinds = {NotFound: (FileNotFoundError, errno.ENOENT)}
    kinds |= {NotVerified: (PermissionError, errno.EACCES)}
    kind, number = kinds.get(type(error), (OSError, errno.EIO))
    made = error if isinstance(error, OSError) else kind(number, str(error), path)
    made.__cause__ = None if made is error else error
    return made
