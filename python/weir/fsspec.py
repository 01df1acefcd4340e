"""Published content as files for pandas, xarray, zarr, and all that opens files with `fsspec`.

    pandas.read_parquet("weir:///alice/measurements.parquet")
    xarray.open_zarr("weir:///alice/climate")

`weir:///NAME` is the content of the name `/NAME`. Options are those of `weir.fetch`, as
`storage_options={"trust": "rules.toml"}`. The package `fsspec` must be installed.
"""

import errno
import http.client
import json
import os
import posixpath
import subprocess
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from fsspec.caching import ReadAheadCache, register_cache
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import tokenize

from ._errors import NotFound, TransferError, WeirError
from ._gateway import AT_A_TIME, Gateway, as_os_error, not_found
from ._transfer import consumer, failure, program, stream

# Bytes that are fetched after those that are needed: at first, and where reading goes on and on.
_AHEAD, _MOST_AHEAD = 1 << 16, 1 << 23
# Symbolic links on the way to a file.
_MOST_LINKS = 40
# Seconds for which a folder counts as none of a tree: caches hide a new tree as long.
_ABSENT = 4.0


class WeirFileSystem(AbstractFileSystem):
    """Names as paths of files, for reading.

    A folder is one of a tree that `weir put` or `weir share` publishes. All files of a tree are of
    the version that was the newest when the first one of their folder was used, until
    `invalidate_cache`. A file that is not in a tree keeps the version that it had when it was
    opened. So neither a file nor a store of zarr ever mixes versions; if a version is not published
    any more, reading raises an `OSError`.

    `control`, `trust`, `socket`, `patience` and `lifetime` are those of `weir.fetch`. Without
    `trees`, names are not looked for in trees, and folders do not exist.

    Content is fetched and verified by a process `weir gateway`, which listens on a free port of
    127.0.0.1 as long as the object exists. Programs of other users on this host could read the
    content of public names through it.
    """

    protocol = "weir"
    root_marker = "/"
    blocksize = _AHEAD

    def __init__(
        self,
        *,
        control=None,
        trust=(),
        socket=None,
        patience=None,
        lifetime=None,
        trees=True,
        **options,
    ):
        super().__init__(**options)
        about = {"control": control, "trust": trust, "socket": socket}
        self._options = about | {"patience": patience, "lifetime": lifetime}
        self._trees = trees
        self._lock = threading.RLock()
        # By folder: the entries of its tree, or the time until which it is no folder of a tree.
        self._folders, self._absent = {}, {}
        self._server = None

    @classmethod
    def _strip_protocol(cls, path):
        """The name of a URL."""
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        path = os.fspath(path).removeprefix("weir://")
        return "/" + path.strip("/")

    def info(self, path, **_):
        """Size, type and version of a name: a dictionary with `name`, `size`, `type`.

        Files have `version`, the versioned name. Entries of trees have `mode`, `mtime` in seconds
        since 1970, and `islink`.
        """
        path = self._strip_protocol(path)
        found = self._in_tree(path)
        if found is None:
            found = self._alone(path)
        if found is None and self._listed(path) is not None:
            found = {"name": path, "size": 0, "type": "directory"}
        if found is None:
            raise not_found(path)
        return found

    def ls(self, path, detail=True, **_):
        """The entries of a folder, or the file itself."""
        path = self._strip_protocol(path)
        about = self.info(path)
        found = [about]
        if about["type"] == "directory":
            top, entries, inside = self._place(path)
            inside = _resolved(entries, inside)
            prefix = f"{inside}/" if inside else ""
            names = (key for key in entries if key.startswith(prefix) and key)
            names = (key for key in names if "/" not in key[len(prefix) :])
            found = [
                self._described(f"{path.rstrip('/')}/{key[len(prefix) :]}", entries, key)
                for key in names
            ]
        found = [one for one in found if one is not None]
        return found if detail else [one["name"] for one in found]

    def exists(self, path, **_):
        """Does the name exist? Errors other than `FileNotFoundError` are raised."""
        return self._type(path) is not None

    def isdir(self, path):
        """Is it a folder? Errors are raised as by `exists`."""
        return self._type(path) == "directory"

    def isfile(self, path):
        """Is it a file? Errors are raised as by `exists`."""
        return self._type(path) == "file"

    def walk(self, path, maxdepth=None, topdown=True, on_error=None, **options):
        """Folders with their entries. `find` and `glob` use it.

        Without `on_error`, errors other than `FileNotFoundError` are raised.
        """
        on_error = on_error or _raise_unless_absent
        return super().walk(path, maxdepth, topdown, on_error, **options)

    def created(self, path):
        """As `modified`: names do not change."""
        return self.modified(path)

    def modified(self, path):
        """The time of the last modification at the publisher."""
        when = self.info(path).get("mtime")
        if when is None:
            raise FileNotFoundError(errno.ENOENT, "the publisher gives no time", path)
        return datetime.fromtimestamp(when, UTC)

    def ukey(self, path):
        """The versioned name: equal only for equal content."""
        return self._file(path)["version"]

    def checksum(self, path):
        """A number that depends on the version."""
        return int(tokenize(self.ukey(path)), 16)

    def invalidate_cache(self, path=None):
        """Look for newer versions of the trees with this path, or of all."""
        with self._lock:
            path = "/" if path is None else self._strip_protocol(path)
            for folders in (self._folders, self._absent):
                for folder in [one for one in folders if _is_below(path, one)]:
                    del folders[folder]

    def cat_file(self, path, start=None, end=None, **_):
        """The content of a file, or a part of it."""
        about = self._file(path)
        start, end, _step = slice(start, end).indices(about["size"])
        return self._fetch(about["version"], start, end)

    def cat(self, path, recursive=False, on_error="raise", **_):
        """The contents of files, several at a time."""
        paths = self.expand_path(path, recursive=recursive)
        if isinstance(path, str) and paths == [self._strip_protocol(path)]:
            return self.cat_file(paths[0])
        paths = [one for one in paths if not self.isdir(one)]
        found = self.cat_ranges(paths, None, None, on_error="return")
        wrong = {one: error for one, error in zip(paths, found) if isinstance(error, Exception)}
        if wrong and on_error == "raise":
            raise next(iter(wrong.values()))
        both = zip(paths, found, strict=True)
        return {one: got for one, got in both if on_error != "omit" or one not in wrong}

    def cat_ranges(self, paths, starts, ends, max_gap=None, on_error="return", **_):
        """Parts of files, several at a time."""

        def one(path, start, end):
            try:
                return self.cat_file(path, start, end)
            except Exception as error:  # noqa: BLE001 (it is handed over)
                return error

        many = len(paths)
        starts, ends = (
            list(given) if isinstance(given, (list, tuple)) else [given] * many
            for given in (starts, ends)
        )
        if not len(starts) == len(ends) == many:
            raise ValueError("there are not as many starts and ends as paths")
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            found = list(pool.map(one, paths, starts, ends))
        if on_error == "raise":
            for error in found:
                if isinstance(error, Exception):
                    raise error
        return found

    def _open(self, path, mode="rb", block_size=None, cache_options=None, **options):
        if mode != "rb":
            raise _read_only(path)
        about = self._file(path)
        return WeirFile(
            self,
            path,
            mode,
            block_size or self.blocksize,
            cache_options=cache_options,
            size=about["size"],
            version=about["version"],
            **options,
        )

    def mkdir(self, path, *_, **__):
        """Raises: names are for reading."""
        raise _read_only(path)

    makedirs = makedir = mkdirs = rmdir = touch = rm = rm_file = _rm = pipe_file = mkdir

    def cp_file(self, _path1, path2, **_):
        """Raises: names are for reading."""
        raise _read_only(path2)

    mv = cp_file

    def _type(self, path):
        try:
            return self.info(path)["type"]
        except FileNotFoundError:
            return None

    def _file(self, path):
        about = self.info(path)
        if about["type"] == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), about["name"])
        return about

    def _place(self, path):
        """The tree with a path: its folder, its entries, and the path in it; None without one."""
        folders = [path, *_parents(path)]
        with self._lock:
            for folder in folders:
                if folder in self._folders:
                    inside = path[len(folder) :].strip("/")
                    return folder, self._folders[folder], inside
        return None

    def _in_tree(self, path):
        """The information about a path in a tree; None if the path is in no tree."""
        if not self._trees or _is_versioned(path):
            return None
        if self._place(path) is None:
            parent = posixpath.dirname(path)
            if parent != "/":
                self._listed(parent)
        place = self._place(path)
        if place is None:
            return None
        _folder, entries, inside = place
        for candidate in dict.fromkeys([inside, urllib.parse.unquote(inside)]):
            key = _resolved(entries, candidate)
            if key is not None:
                return self._described(path, entries, key)
        raise not_found(path)

    def _described(self, path, entries, key):
        """The information about an entry of a tree; None if it is a link to nothing."""
        is_link = entries.get(key, {}).get("type") == "link"
        key = _resolved(entries, key)
        if key is None:
            return None
        if key == "":
            return {"name": path, "size": 0, "type": "directory"}
        entry = entries[key]
        about = {"name": path, "size": entry["size"] or 0, "type": entry["type"]}
        about |= {"mode": entry["mode"], "mtime": entry["modified"] / 1e9, "islink": is_link}
        if entry["type"] == "file":
            about["version"] = entry["name"]
        return about

    def _listed(self, folder):
        """The entries of the tree below a folder, by their paths; None if it is in no tree."""
        if not self._trees or folder == "/":
            return None
        with self._lock:
            if folder in self._folders:
                return self._folders[folder]
            now = time.monotonic()
            self._absent = {one: until for one, until in self._absent.items() if now < until}
            if folder in self._absent:
                return None
            entries = self._list(folder)
            if entries is None:
                self._absent[folder] = time.monotonic() + _ABSENT
            else:
                self._folders[folder] = entries
            return entries

    def _list(self, folder):
        command = [program(), "ls", "-R", "--json", _uri(folder), *consumer(**self._options)]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            entries = map(json.loads, done.stdout.splitlines())
            return {entry["path"]: entry for entry in entries}
        error = failure(done.returncode, done.stderr)
        if isinstance(error, NotFound):
            return None
        raise as_os_error(error, folder) from error

    def _alone(self, path):
        """The information about an object outside of trees; None if there is none."""
        if path == "/":
            return None
        with self._gateway().ask("HEAD", _uri(path)) as answer:
            status, head = answer.status, answer.headers
        if status in (301, 302, 307, 308, 404):
            return None
        if status != 200:
            raise self._explained(path, status, b"")
        if "Content-Length" not in head:
            why = "its size is not known; `weir.fetch` and `weir.stream` fetch it"
            raise OSError(errno.EIO, why, path)
        version, uri = head["ETag"].strip('"'), _uri(path)
        about = {"name": path, "size": int(head["Content-Length"]), "type": "file"}
        about["version"] = uri if _is_versioned(path) else f"{uri}/{version}"
        if "Last-Modified" in head:
            when = datetime.strptime(head["Last-Modified"], "%a, %d %b %Y %H:%M:%S GMT")
            about["mtime"] = when.replace(tzinfo=UTC).timestamp()
        return about

    def _fetch(self, version, start, end):
        """Bytes of a version."""
        if start >= end:
            return b""
        head = {"Range": f"bytes={start}-{end - 1}"}
        with self._gateway().ask("GET", version, head) as answer:
            try:
                content = answer.read()
            except http.client.IncompleteRead as error:
                many = f"{len(error.partial)} of {end - start} bytes"
                why = f"{version} broke off after {many}: its publisher ended, or is out of reach"
                raise as_os_error(TransferError(why), version) from error
            if answer.status == 404:
                why = "this version is not published any more"
                raise FileNotFoundError(errno.ENOENT, why, version)
            if answer.status != 206:
                raise self._explained(version, answer.status, content)
        if len(content) != end - start:
            why = f"{version} has {len(content)} bytes where {end - start} are expected"
            raise as_os_error(TransferError(why), version)
        return content

    def _explained(self, name, status, text):
        """The error of a failed request, by the program that has more to say about it."""
        pieces = stream(name, **self._options)
        try:
            next(pieces, None)
        except WeirError as error:
            return as_os_error(error, name)
        finally:
            pieces.close()
        text = text.decode("utf-8", "replace").strip() or f"{name}: status {status}"
        return as_os_error(TransferError(text), name)

    def _gateway(self):
        """The process that fetches, begun when it is needed, and again in a forked process."""
        with self._lock:
            if self._server is None or not self._server.is_usable:
                self._server = Gateway(self._options)
            return self._server


class WeirFile(AbstractBufferedFile):
    """A file of one version, which is fetched in parts."""

    def __init__(self, fs, path, *arguments, version, cache_type="weir", **options):
        self.version = version
        super().__init__(fs, path, *arguments, cache_type=cache_type, **options)

    def __reduce__(self):
        options = {"size": self.size, "version": self.version, "cache_type": self.cache.name}
        return _reopened, (self.fs, self.path, self.blocksize, options | self.kwargs, self.loc)

    def _fetch_range(self, start, end):
        return self.fs._fetch(self.version, start, min(end, self.size))


def _reopened(fs, path, block_size, options, position):
    """A file from another process, of the version that it has there."""
    file = WeirFile(fs, path, "rb", block_size, **options)
    file.seek(position)
    return file


class _Ahead(ReadAheadCache):
    """Reads ahead more the longer reading goes on, and little after a jump."""

    name = "weir"

    def __init__(self, blocksize, fetcher, size):
        super().__init__(blocksize, fetcher, size)
        self._first = blocksize

    def _fetch(self, start, end):
        start, end = start or 0, self.size if end is None else min(end, self.size)
        if not (self.start <= start and end <= self.end):
            goes_on = self.end and self.start <= start <= self.end
            larger = min(self.blocksize * 2, max(self._first, _MOST_AHEAD))
            self.blocksize = larger if goes_on else self._first
        return super()._fetch(start, end)


register_cache(_Ahead, clobber=True)


def _uri(path):
    """A path as a name: characters that a URI cannot have are escaped."""
    return urllib.parse.quote(path, safe="/%=:@!$&'()*+,;~")


def _is_versioned(path):
    return posixpath.basename(path).startswith("v=")


def _parents(path):
    while path != "/":
        path = posixpath.dirname(path)
        yield path


def _is_below(path, folder):
    """Is one of them above the other, or are they the same?"""
    one, other = (f"{part.rstrip('/')}/" for part in (path, folder))
    return one.startswith(other) or other.startswith(one)


def _resolved(entries, inside):
    """The key of a path in a tree behind its symbolic links; None if there is no such entry."""
    left, key, links = inside.split("/")[::-1] if inside else [], "", 0
    while left:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if key == "":
                return None
            key = posixpath.dirname(key)
            continue
        key = f"{key}/{part}" if key else part
        entry = entries.get(key)
        if entry is None:
            return None
        if entry["type"] == "link":
            links += 1
            target = entry["target"] or ""
            if links > _MOST_LINKS or target.startswith("/"):
                return None
            key = posixpath.dirname(key)
            left += target.split("/")[::-1]
    return key


def _raise_unless_absent(error):
    if not isinstance(error, FileNotFoundError):
        raise error


def _read_only(path):
    why = "published content is for reading; `weir.publish` and `weir put` publish"
    return OSError(errno.EROFS, why, path)
