"""Fetching and publishing by name, with the program of this package.

Each transfer is a process of its own: `weir get` or `weir put`. It verifies as the command line
does, and nothing of the network's input reaches this process unverified.
"""

import atexit
import functools
import importlib.metadata
import json
import os
import queue
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path

from ._errors import (
    FileFailed,
    Interrupted,
    NoForwarder,
    NotFound,
    NotVerified,
    TransferError,
    UsageError,
)

# Exit codes of the program.
_CLASSES = {2: UsageError, 3: NotFound, 4: NotVerified, 5: Interrupted, 6: NoForwarder}
_CLASSES[7] = FileFailed
# Bytes that are read at a time.
_READ = 1 << 20
# Seconds that a process has for its end before it is killed.
_GRACE = 10.0
# Bytes of messages that are kept of a process.
_MESSAGES = 1 << 20

# Becomes a command, and interrupts it when a pipe is closed: also where this process is killed. The
# command may have ended by then, and another one may have its number.
_WHILE_OPEN = """
{
    read -r _ <"/proc/self/fd/$1"
    read -r _ _ _ parent _ </proc/self/stat
    [ "$parent" = $$ ] && kill -INT $$
} </dev/null >/dev/null 2>&1 &
shift
exec "$@"
"""


@functools.cache
def program():
    """The path of the program `weir` of this package. The variable WEIR names another one."""
    if given := os.environ.get("WEIR"):
        return given
    beside = Path(sysconfig.get_path("scripts"), "weir")
    if beside.exists():
        return str(beside)
    try:
        files = importlib.metadata.files("weir") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "weir" and file.locate().exists():
            return str(file.locate())
    if found := shutil.which("weir"):
        return found
    raise FileNotFoundError("the program `weir` is not there; install this package again")


@dataclass(frozen=True)
class Fetched:
    """An object that was fetched and verified.

    `content` is None if it went to a file. `name` is the versioned name, `verified` is `key`,
    `digest` or `unchecked`, `key` the key that signed. `summary` is the object of
    `weir get --json`.
    """

    content: bytes | None = field(repr=False)
    name: str
    verified: str
    key: str | None
    summary: dict = field(repr=False)

    def __bytes__(self):
        if self.content is None:
            raise TypeError("the content went to a file")
        return self.content


def failure(status, messages):
    """The exception for an exit status, with the text of the command line."""
    error = _last_object(messages).get("error", {})
    parts = [part for part in (error.get("message"), error.get("next")) if part]
    # A process that was killed, or is no `weir`, prints no object.
    text = "; ".join(parts) or messages.strip() or f"`weir` ended with status {status}"
    text = text.replace("run the same command again", "repeat the call")
    raised = _CLASSES.get(status, TransferError)(text)
    raised.kind = error.get("kind")
    return raised


def _last_object(messages):
    for line in reversed(messages.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {}


def fetch_command(name, to, **options):
    """The command line of a fetch, with all of its options."""
    return [program(), "get", str(name), "--json", "-o", os.fspath(to), *consumer(**options)]


def consumer(*, control=None, trust=(), socket=None, patience=None, lifetime=None, range=None):
    """The options of a command that fetches. Numbers are seconds."""
    anchors = [trust] if isinstance(trust, (str, os.PathLike)) else trust
    command = []
    control = getattr(control, "__weir_name__", None) or control
    seconds = {"--patience": patience, "--lifetime": lifetime}
    for option, value in {"--control": control, "--socket": socket, "--range": range}.items():
        command += [option, str(value)] if value is not None else []
    for option, value in seconds.items():
        text = f"{value} s" if isinstance(value, (int, float)) else value
        command += [option, text] if value is not None else []
    for anchor in anchors:
        command += ["--trust", os.fspath(anchor)]
    return command


def fetched(status, content, messages):
    """The result of a process that has ended, or its exception."""
    if status != 0:
        raise failure(status, messages)
    summary = _last_object(messages)
    return Fetched(content, summary["name"], summary["verified"], summary.get("key"), summary)


def _interrupt(process):
    """End a process as Ctrl-C does; kill it if that does not help."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def fetch(
    name,
    /,
    to=None,
    *,
    control=None,
    trust=(),
    socket=None,
    patience=None,
    lifetime=None,
    range=None,
):
    """Fetch an object by its name, verify it, and return it.

    `to` is a file for the content, written when it is complete; an interrupted transfer of a file
    is resumed. `trust` names files of trust rules or certificates, or keys, as `--trust` does; the
    result says which key signed. `socket` is the forwarder's address, `control` the scheme, `range`
    the number of segments for each Interest, `patience` and `lifetime` are seconds.

    Raises `NotFound`, `NotVerified`, `NoForwarder`, `FileFailed`, `UsageError` or `TransferError`.
    """
    options = {"control": control, "trust": trust, "socket": socket}
    options |= {"patience": patience, "lifetime": lifetime, "range": range}
    command = fetch_command(name, "-" if to is None else to, **options)
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        content, messages = process.communicate()
    except BaseException:
        _interrupt(process)
        raise
    messages = messages.decode("utf-8", "replace")
    if to is not None:
        messages, content = messages + content.decode("utf-8", "replace"), None
    return fetched(process.returncode, content, messages)


def stream(name, /, **options):
    """Fetch an object piece by piece, in order: an iterator of bytes.

    Each piece has been verified. An error is raised where the content ends. Options are those of
    `fetch`. Closing the iterator ends the transfer.
    """
    command = fetch_command(name, "-", **_defaults(options))
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages
        )
        try:
            while piece := process.stdout.read1(_READ):
                yield piece
            process.wait()
        finally:
            process.stdout.close()
            _interrupt(process)
        if process.returncode != 0:
            messages.seek(0)
            text = messages.read(_MESSAGES).decode("utf-8", "replace")
            raise failure(process.returncode, text)


def _defaults(options):
    known = ["control", "trust", "socket", "patience", "lifetime", "range"]
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option `{name}`; there are {', '.join(known)}")
    return {name: options.get(name, () if name == "trust" else None) for name in known}


def _read_messages(process, messages):
    """Keep what a process says on standard error: the last of it, where its error is."""
    kept = 0
    for raw in process.stderr:
        messages.append(raw.decode("utf-8", "replace").rstrip("\n"))
        kept += len(raw)
        while kept > _MESSAGES:
            kept -= len(messages.pop(0).encode()) + 1


def _read_lines(process, lines):
    """Pass on the first line of a process's output: it begins to serve. Then wait for its end."""
    lines.put(process.stdout.readline())
    for _ in process.stdout:
        pass


class Publication:
    """A published object, served until `close`. Use it with `with`.

    `name` is the versioned name.
    """

    def __init__(self, process, alive):
        self._process = process
        self._alive = alive
        self._lines = queue.SimpleQueue()
        self._messages = []
        # The threads do not hold this object, so that one without an owner ends.
        self._readers = [
            threading.Thread(target=_read_messages, args=(process, self._messages), daemon=True),
            threading.Thread(target=_read_lines, args=(process, self._lines), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        self._end = weakref.finalize(self, _end, process, alive)
        self._end.atexit = False
        _RUNNING.add(self)
        self.name = self._wait()

    def _wait(self):
        try:
            if line := self._lines.get():
                return json.loads(line)["serving"][0]["name"]
            self._process.wait()
            self._readers[0].join(_GRACE)
            raise failure(self._process.returncode, "\n".join(self._messages))
        except BaseException:
            self._stop()
            raise

    def _stop(self):
        _RUNNING.discard(self)
        # The finalizer does nothing at exit, where those of `weakref` run before `_end_all`.
        self._end.detach()
        _end(self._process, self._alive)
        for reader in self._readers:
            reader.join(_GRACE)

    @property
    def is_serving(self):
        """True while Interests are answered."""
        return self._process.poll() is None

    def wait(self):
        """Wait until the publication has ended: after `linger`, or by an error, which is raised."""
        status = self._process.wait()
        self._stop()
        if status != 0:
            raise failure(status, "\n".join(self._messages))

    def close(self):
        """Stop serving. Raises the error that has ended it before, if there was one."""
        ended = self._process.poll()
        self._stop()
        if ended not in (None, 0):
            raise failure(ended, "\n".join(self._messages))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def __repr__(self):
        return f"<weir.Publication {self.name}: {'serving' if self.is_serving else 'ended'}>"


_RUNNING = weakref.WeakSet()


def _end(process, alive):
    """End a publication, and then what watches it."""
    _interrupt(process)
    alive.close()


def _leave():
    """Leave the parent's publications in a forked process: they end with the parent."""
    for publication in list(_RUNNING):
        publication._alive.close()


os.register_at_fork(after_in_child=_leave)


@atexit.register
def _end_all():
    for publication in list(_RUNNING):
        publication._stop()


def publish(
    name,
    content,
    /,
    *,
    sign=None,
    segment_size=None,
    sign_segments=False,
    linger=None,
    socket=None,
):
    """Publish content under a name, and serve it until the result is closed.

    `content` is bytes, the path of a file, an open binary file, or an iterable of bytes. `sign` is
    the name of a key or its identity; the default key signs if the name is under its identity,
    otherwise a digest only detects corruption. `linger` is the time in seconds from the last
    answer to its end.
    """
    is_path = isinstance(content, (str, os.PathLike))
    command = [program(), "put", str(name), os.fspath(content) if is_path else "-", "--json"]
    if segment_size is not None:
        size = f"{segment_size} B" if isinstance(segment_size, int) else segment_size
        command += ["--segment-size", size]
    for option, value in {"--sign": sign, "--socket": socket}.items():
        command += [option, str(value)] if value is not None else []
    command += ["--sign-segments"] if sign_segments else []
    command += ["--linger", f"{linger} s"] if linger is not None else []
    process, alive = _while_open(command, subprocess.DEVNULL if is_path else subprocess.PIPE)
    if not is_path:
        try:
            _feed(process, content)
        except BaseException:
            _end(process, alive)
            process.stdout.close()
            process.stderr.close()
            raise
    return Publication(process, alive)


def _while_open(command, stdin):
    """Start a command that ends with this process, and when the file that is returned is closed."""
    watched, alive = (os.fdopen(end, mode, 0) for end, mode in zip(os.pipe(), ("rb", "wb")))
    with watched:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _WHILE_OPEN, "sh", str(watched.fileno()), *command],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[watched.fileno()],
            )
        except BaseException:
            alive.close()
            raise
    return process, alive


def _feed(process, content):
    """Write content to the process. A process that has ended says itself why."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        pieces = [content]
    elif hasattr(content, "read"):
        pieces = iter(lambda: content.read(_READ), b"")
    else:
        pieces = content
    try:
        with process.stdin as to:
            for piece in pieces:
                to.write(piece)
    except BrokenPipeError:
        pass
