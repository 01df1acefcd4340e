"""Weir, FTP and HTTP as programs that serve a file at CS and fetch it elsewhere."""

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path

import peers
from support.children import Failed

RATE = 100_000_000
CHUNKS = (1024, 4096, 8192)
# The links of the report's Ethernets everywhere. Only the daemons could emulate a delay.
TRANSFER, FORWARDING, PATHS = (
    f"ccnx-testbed/{name}" for name in ("transfer", "forwarding", "paths")
)
SETTINGS = ("link.rate=100 Mbit/s", "link.delay=0 ms", "node.content_store=128 MB")
PREFIX = "/content/files"
PATIENCE = 600


@dataclass
class Fetch:
    """A file in transit to a node."""

    child: object
    target: Path
    digest: str

    def finish(self):
        """Wait for it; Failed unless it is the file that was served, by its MD5."""
        if self.child.wait(PATIENCE) != 0:
            raise Failed(f"{self.child.name}: {self.child.status}\n{self.child.last_words()}")
        if md5(self.target) != self.digest:
            raise Failed(f"{self.target.name}: its MD5 is not that of what was served")
        self.target.unlink()
        return self

    @property
    def seconds(self):
        """From the start of the command to its end."""
        return self.child.seconds


class Serving:
    """A file that is served. `begin_at` starts a program that fetches it to a path, at a node."""

    def __init__(self, lab, path, begin_at):
        self._lab = lab
        self._digest = md5(path)
        self._begin_at = begin_at

    def begin(self, node):
        """Begin to fetch it at the node of this name."""
        target = self._lab.folder / f"received-{node}"
        target.unlink(missing_ok=True)
        return Fetch(self._begin_at(node, target), target, self._digest)

    def fetch(self, node):
        """Fetch it to the end."""
        running = self.begin(node)
        with running.child:
            return running.finish()


def md5(path):
    """The report's check that the received file equals the sent one."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


class Weir:
    """`weir put` and `weir get`, in chunks of this many bytes."""

    is_ndn = True

    def __init__(self, chunk, at_once=1):
        self.label = f"weir, {chunk}"
        self._options = ("--segment-size", f"{chunk} B")
        self._asking = ("--range", at_once) if at_once > 1 else ()
        if self._asking:
            self.label += f", {at_once} an Interest"

    @contextlib.contextmanager
    def serving(self, lab, network, size):
        """Serve a file of that size at CS."""
        path = lab.content("file1", size)
        name = f"{PREFIX}/file1"

        def begin(node, target):
            return network[node].get(name, target, self._asking).child

        with network["CS"].put(name, path, options=self._options):
            yield Serving(lab, path, begin)


class Ftp:
    """proftpd at CS and curl."""

    is_ndn = False
    label = "ftp (proftpd, curl)"

    @contextlib.contextmanager
    def serving(self, lab, network, size):
        """Serve a file of that size at CS."""
        path = lab.content("file1", size)
        home = folder(lab, "ftp")
        files = folder(lab, "ftp/files")
        # It looks at them as the user as whom it gives them away.
        files.chmod(0o755)
        lab.folder.chmod(0o711)
        link(path, files / path.name)
        source = network["CS"]
        with peers.ProFtpd(home, files, source.address, source.command) as server:
            yield Serving(lab, path, by_curl(lab, network, lambda _: server, path.name))


class Proxies:
    """nginx at CS, and a caching nginx on each router of a chain before it."""

    is_ndn = False

    def __init__(self, routers=(), megabytes=1000):
        self.label = "http, caching nginx" if routers else "http (nginx, curl)"
        self._routers = routers
        self._megabytes = megabytes

    @contextlib.contextmanager
    def serving(self, lab, network, size):
        """Serve a file of this size at CS; consumers attach to the last router."""
        path = lab.content("file1", size)
        home = folder(lab, "http-CS")
        link(path, home / path.name)
        source = network["CS"]
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(peers.Nginx(home, source.address, source.command))
            for name in self._routers:
                at, here = network[name], folder(lab, f"http-{name}")
                about = {"upstream": server.url, "megabytes": self._megabytes}
                server = peers.Nginx(here, at.address, at.command, **about)
                stack.enter_context(server)
            yield Serving(lab, path, by_curl(lab, network, lambda _: server, path.name))


def by_curl(lab, network, server_of, name):
    """Starts a fetch of a file from a node's server."""

    def begin(node, target):
        log = lab.folder / f"curl-{node}.log"
        log.unlink(missing_ok=True)
        return server_of(node).begin(name, target, log, network[node].command)

    return begin


def folder(lab, name):
    """An empty folder of the run."""
    path = lab.folder / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def link(path, target):
    """The file under another name."""
    target.unlink(missing_ok=True)
    target.hardlink_to(path)


def programs(chunks):
    """Weir with these chunks, and FTP."""
    return [*(Weir(chunk) for chunk in chunks), Ftp()]
