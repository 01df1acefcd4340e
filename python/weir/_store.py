"""Places that keep the results of points: a folder, or a bucket of S3.

Both have the same layout: a folder for each point, by its key, with a Parquet file for each table
and the point's settings. A store answers `has`, `keep`, `read` and `ready`.

A point is complete if all of its files are there and none is empty. An incomplete one is run again,
and replaced.
"""

import errno
import json
import os
import re
import shutil
import socket
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path, PurePath

from . import _weir
from ._errors import ResultsError, WeirError
from ._results import Table

# The tables that each point leaves.
TABLES = ("runs", "flows", "links", "nodes", "workloads")
# The file that is written last, and all files of a point.
LAST = "point.json"
FILES = {*(f"{name}.parquet" for name in TABLES), "scenario.toml", LAST}
# The beginning of the place of a bucket.
S3 = "s3://"
# Limits of requests to a bucket, in seconds, and their number for one operation.
CONNECT_SECONDS, REQUEST_SECONDS, REQUESTS = 10, 60, 4
# Texts of the S3 library by which its errors are told apart.
REJECTED = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE", "UserNotFound", "status 403")
UNREACHABLE = ("NETWORK_CONNECTION", "curlCode")
ABSENT = ("NO_SUCH_BUCKET", "Bucket not found", "does not exist")
DAMAGED = "checksums mismatch"
REST = "the same call runs the points that are left"
# Points that are being written: the name is followed by host and process.
UNFINISHED = ".unfinished-"
# Such a folder of another host is removed after this time in seconds. Writing one takes a second.
ABANDONED_SECONDS = 24 * 3600
# The number of attempts for a folder that others replace at the same time.
ATTEMPTS = 5
# The remedies of errors of a folder; others have the last one.
REMEDIES = {
    errno.EACCES: "make the folder writable, or choose another one",
    errno.ENOSPC: "make room",
    None: "choose another folder",
}
REMEDIES[errno.EPERM] = REMEDIES[errno.EROFS] = REMEDIES[errno.EACCES]
REMEDIES[errno.EDQUOT] = REMEDIES[errno.ENOSPC]


def store_of(place):
    """The store at a place: `s3://BUCKET/PREFIX`, or the path of a folder."""
    text = os.fspath(place)
    if not text:
        raise ResultsError("the place of the results is empty; give the path of a folder")
    if isinstance(place, PurePath) and text.startswith(S3[:-1]):
        raise ResultsError(f"{text} is a path, and no bucket; give the text s3://BUCKET/PREFIX")
    if text.startswith(S3):
        return Bucket(text)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise ResultsError(f"cannot write {text}; give the path of a folder, or s3://BUCKET/PREFIX")
    return Disk(text)


def _about(point):
    about = {"key": point.key, "settings": point.settings, "seed": point.seed}
    return json.dumps({**about, "version": _weir.BUILD}) + "\n"


@cache
def _schema(name):
    import pyarrow

    return pyarrow.table(Table(_weir.empty_table(name))).schema


def _flaw(table, name):
    """Why a table is none of a point's; `None` if it is one."""
    expected = _schema(name)
    for field in expected:
        if field.name not in table.column_names:
            return f"it has no column `{field.name}`"
        if table.schema.field(field.name).type != field.type:
            return f"its column `{field.name}` has another type than `{field.type}`"
    if more := [one for one in table.column_names if one not in expected.names]:
        return f"it has a column `{more[0]}`, which is of another table"
    if name == "runs" and len(table) != 1:
        return f"it has {len(table)} rows instead of 1"
    return None


def _is_of(key, about):
    """The text of `point.json` names this point."""
    try:
        return json.loads(about)["key"] == key
    except (KeyError, RecursionError, TypeError, ValueError):
        return False


def _table_of(source, name):
    """A table of a file, or why it cannot be read."""
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(source, partitioning=None, page_checksum_verification=True)
        return table, _flaw(table, name)
    # Damaged texts of a file's description are decoded without a look: any of these may come.
    except (ArrowException, LookupError, OSError, TypeError, ValueError) as error:
        return None, error


def _write(table, place, **options):
    from pyarrow import parquet

    parquet.write_table(table, place, write_page_checksum=True, **options)


def _damaged(place, reason, remedy):
    text = f"cannot read {place}: {' '.join(str(reason).split())}; {remedy}, and repeat the call"
    made = ResultsError(f"{text}: it runs the point again")
    made.__cause__ = reason if isinstance(reason, Exception) else None
    return made


class Disk:
    """A folder."""

    def __init__(self, place):
        self.place = Path(place)
        # `pyarrow` takes a relative path with a colon for an address.
        self._folder = self.place.absolute()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._clean()
        except OSError as error:
            raise self._error(place, error) from error

    def _clean(self):
        """Remove what processes that have ended left unfinished."""
        for folder in self._folder.glob(f"{UNFINISHED}*"):
            name, _, _ = folder.name.removeprefix(UNFINISHED).rpartition("-")
            host, _, process = name.rpartition("-")
            with suppress(OSError):
                ended = host == _host() and process.isdecimal() and not _is_running(int(process))
                if ended or time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def ready(self):
        """Points can be written; it is checked before one is run."""
        try:
            self._beside().rmdir()
        except OSError as error:
            raise self._error(self.place, error) from error

    def has(self, key):
        """A point has results."""
        try:
            with os.scandir(self._folder / key) as files:
                files = (one for one in files if one.is_file() and one.stat().st_size > 0)
                return FILES <= {one.name for one in files}
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            text = f"cannot read {self.place / key}: {error.strerror}; make it readable"
            raise ResultsError(text) from error

    def read(self, key, name):
        """A table of a point; `None` if there is none."""
        if not self.has(key):
            return None
        folder, remedy = self._folder / key, f"remove the folder {self.place / key}"
        table, flaw = _table_of(folder / f"{name}.parquet", name)
        if flaw:
            raise _damaged(self.place / key / f"{name}.parquet", flaw, remedy)
        try:
            is_own = name != TABLES[0] or _is_of(key, (folder / LAST).read_bytes())
        except OSError as error:
            raise _damaged(self.place / key / LAST, error, remedy)
        if not is_own:
            raise _damaged(self.place / key / LAST, "it is of another point", remedy)
        return table

    def keep(self, point, tables):
        """Write the tables of a point beside their place, and move them there at the end."""
        beside = None
        try:
            beside = self._beside()
            made = beside / point.key
            made.mkdir()
            for name in TABLES:
                # The swept fields become columns when all points are read.
                _write(tables[name], made / f"{name}.parquet")
            made.joinpath("scenario.toml").write_text(point.scenario.filled, encoding="utf-8")
            made.joinpath(LAST).write_text(_about(point), encoding="utf-8")
            self._move(made, point.key)
        except OSError as error:
            if isinstance(error, ResultsError):
                raise
            raise self._error(self.place / point.key, error) from error
        finally:
            if beside is not None:
                shutil.rmtree(beside, ignore_errors=True)

    def _move(self, made, key):
        """Put a complete point into its place, where an incomplete one may be."""
        for number in range(ATTEMPTS):
            try:
                made.rename(self._folder / key)
                return
            except OSError:
                # Another sweep may have been faster: its results are the same.
                if self.has(key):
                    return
                if number == ATTEMPTS - 1 or not (self._folder / key).exists():
                    raise
                with suppress(FileNotFoundError):
                    (self._folder / key).rename(made.with_name(f"{key}-{number}"))

    def _beside(self):
        """A folder of this process. It is invisible to programs that read all points."""
        prefix = f"{UNFINISHED}{_host()}-{os.getpid()}-"
        return Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))

    def _error(self, place, error):
        # Errors of `pyarrow` have a number and no text of the system.
        reason = os.strerror(error.errno) if error.errno else str(error)
        remedy = REMEDIES.get(error.errno, REMEDIES[None])
        return ResultsError(f"cannot write {place}: {reason}; {remedy}")

    def __str__(self):
        return str(self.place)


def _host():
    return re.sub(r"[^\w.]", "_", socket.gethostname())


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


class Bucket:
    """A bucket of S3, and a prefix in it.

    Credentials, region and server are those of the AWS settings: `AWS_ACCESS_KEY_ID`,
    `AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`, `AWS_REGION`, `AWS_ENDPOINT_URL`.
    """

    def __init__(self, place):
        path = place.removeprefix(S3).rstrip("/")
        self.place = S3 + path
        self.bucket = path.partition("/")[0]
        if not self.bucket or ".." in path.split("/"):
            raise ResultsError(f"{place} names no bucket; give s3://BUCKET/PREFIX")
        self.path = path
        self._fs = _connect()
        self._done = self._list()

    def _list(self):
        """The keys of all complete points."""
        from pyarrow import fs

        with self._errors("read"):
            if self._fs.get_file_info(self.bucket).type == fs.FileType.NotFound:
                # An answer to HEAD has no text; some servers hide buckets from unknown keys.
                self._fs.get_file_info(fs.FileSelector(self.bucket))
                raise FileNotFoundError(ABSENT[0])
            everything = fs.FileSelector(self.path, recursive=True, allow_not_found=True)
            found = self._fs.get_file_info(everything)
        files = {}
        for one in found:
            # The folders of points are directly below the prefix; other sweeps may be deeper.
            key, _, name = one.path.removeprefix(f"{self.path}/").partition("/")
            if one.type == fs.FileType.File and one.size:
                files.setdefault(key, set()).add(name)
        return {key for key, names in files.items() if names >= FILES}

    def ready(self):
        """A bucket is asked when it is written."""

    def has(self, key):
        """A point had results when this store was made, or was kept since then."""
        return key in self._done

    def read(self, key, name):
        """A table of a point; `None` if there is none."""
        from pyarrow import BufferReader

        if key not in self._done:
            return None
        file = f"{self.path}/{key}/{name}.parquet"
        remedy = f"remove {self.place}/{key}"
        with self._errors("read"):
            try:
                with self._fs.open_input_file(file) as opened:
                    content = opened.read_buffer()
                about = None
                if name == TABLES[0]:
                    with self._fs.open_input_file(f"{self.path}/{key}/{LAST}") as opened:
                        about = opened.read()
            except FileNotFoundError as error:
                raise _damaged(S3 + file, "it is gone", remedy) from error
            except OSError as error:
                if DAMAGED in str(error):
                    raise _damaged(S3 + file, error, remedy)
                raise
        table, flaw = _table_of(BufferReader(content), name)
        if flaw:
            raise _damaged(S3 + file, flaw, remedy)
        if about is not None and not _is_of(key, about):
            raise _damaged(f"{self.place}/{key}/{LAST}", "it is of another point", remedy)
        return table

    def keep(self, point, tables):
        """Write the tables of a point. Its results count when the last object is there."""
        folder = f"{self.path}/{point.key}"
        with self._errors("write"):
            for name in TABLES:
                _write(tables[name], f"{folder}/{name}.parquet", filesystem=self._fs)
            for name, text in (("scenario.toml", point.scenario.filled), (LAST, _about(point))):
                with self._fs.open_output_stream(f"{folder}/{name}") as file:
                    file.write(text.encode())
        self._done.add(point.key)

    def _errors(self, what):
        return _Errors(self, what)

    def __str__(self):
        return self.place


class _Errors:
    """Turns the errors of a bucket into those of this package."""

    def __init__(self, bucket, what):
        self.bucket, self.what = bucket, what

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if not isinstance(error, OSError) or isinstance(error, ResultsError):
            return
        text = str(error)
        if any(word in text for word in ABSENT):
            reason = f"there is no bucket `{self.bucket.bucket}`; make it, or choose another one"
        elif any(word in text for word in REJECTED):
            reason = (
                "the server rejects the credentials; set AWS_ACCESS_KEY_ID and "
                f"AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; {REST}"
            )
        elif any(word in text for word in UNREACHABLE):
            server = os.environ.get("AWS_ENDPOINT_URL", "of AWS")
            reason = (
                f"the server {server} does not answer; see AWS_ENDPOINT_URL and AWS_REGION; {REST}"
            )
        else:
            reason = f"{text}; {REST}"
        raise ResultsError(f"cannot {self.what} {self.bucket.place}: {reason}") from error


def _connect():
    """The file system of S3."""
    try:
        import_module("pyarrow.parquet")
        fs = import_module("pyarrow.fs")
        made = fs.S3FileSystem
    except (AttributeError, ImportError) as error:
        raise WeirError(
            "results in a bucket need the package `pyarrow` with S3; install Weir's wheel with [s3]"
        ) from error
    return made(
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL") or None,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=REQUESTS),
    )
