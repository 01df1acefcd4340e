"""Places that keep the results of points: a folder, or a bucket of S3.

Both have the same layout: a folder for each point, by its key, with a Parquet file for each table
and the point's settings. A store answers `has`, `keep` and `read`.
"""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from . import _weir
from ._errors import ResultsError, WeirError

# The tables that each point leaves.
TABLES = ("runs", "flows", "links", "nodes", "workloads")
# The file that is written last: a point in a bucket is complete if it exists.
LAST = "point.json"
# The beginning of the place of a bucket.
S3 = "s3://"
# Limits of requests to a bucket, in seconds, and their number for one operation.
CONNECT_SECONDS, REQUEST_SECONDS, REQUESTS = 10, 60, 4
# Texts of the S3 library by which its errors are told apart.
REJECTED = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE", "UserNotFound", "status 403")
UNREACHABLE = ("NETWORK_CONNECTION", "curlCode")
ABSENT = ("NO_SUCH_BUCKET", "Bucket not found", "does not exist")
REST = "the same call runs the points that are left"


def store_of(place):
    """The store at a place: `s3://BUCKET/PREFIX`, or the path of a folder."""
    text = os.fspath(place)
    return Bucket(text) if text.startswith(S3) else Disk(text)


def _about(point):
    about = {"settings": point.settings, "seed": point.seed, "version": _weir.__version__}
    return json.dumps(about) + "\n"


class Disk:
    """A folder."""

    def __init__(self, place):
        self.place = Path(place)
        try:
            self.place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"cannot write {place}: {error.strerror}; choose another folder"
            raise ResultsError(text) from error

    def has(self, key):
        """A point has results."""
        return (self.place / key).exists()

    def read(self, key, name):
        """A table of a point; `None` if there is none."""
        from pyarrow import parquet

        file = self.place / key / f"{name}.parquet"
        return parquet.read_table(file) if file.exists() else None

    def keep(self, point, tables):
        """Write the tables of a point beside their place, and move them there at the end."""
        from pyarrow import parquet

        folder = self.place / point.key
        try:
            beside = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=self.place))
        except OSError as error:
            raise ResultsError(f"cannot write {self.place}: {error.strerror}; make room") from error
        try:
            for name in TABLES:
                # The swept fields become columns when all points are read.
                parquet.write_table(tables[name], beside / f"{name}.parquet")
            beside.joinpath(LAST).write_text(_about(point), encoding="utf-8")
            beside.joinpath("scenario.toml").write_text(point.scenario.filled, encoding="utf-8")
            # Another sweep may have been faster: its results are the same.
            with suppress(FileExistsError, OSError):
                beside.rename(folder)
                return
            if not folder.exists():
                raise ResultsError(f"cannot write {folder}; make room, or choose another folder")
        except OSError as error:
            if isinstance(error, ResultsError):
                raise
            raise ResultsError(f"cannot write {folder}: {error.strerror}; make room") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def __str__(self):
        return str(self.place)


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
        return {one.path.split("/")[-2] for one in found if one.base_name == LAST}

    def has(self, key):
        """A point had results when this store was made, or was kept since then."""
        return key in self._done

    def read(self, key, name):
        """A table of a point; `None` if there is none."""
        from pyarrow import parquet

        if key not in self._done:
            return None
        with self._errors("read"):
            return parquet.read_table(f"{self.path}/{key}/{name}.parquet", filesystem=self._fs)

    def keep(self, point, tables):
        """Write the tables of a point. Its results count when the last object is there."""
        from pyarrow import parquet

        folder = f"{self.path}/{point.key}"
        with self._errors("write"):
            for name in TABLES:
                parquet.write_table(tables[name], f"{folder}/{name}.parquet", filesystem=self._fs)
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
