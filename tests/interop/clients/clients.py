"""The programs of other NDN projects that publish and fetch files, and Weir's own beside them."""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

from support.children import Child, Failed, wait_until

HERE = Path(__file__).resolve().parent
# The most seconds until a program of another project publishes on a machine that is busy.
PATIENCE = 180
# Their tools stand beside the interpreter of the virtual environment.
TOOLS = Path(sys.executable).parent
NDND = TOOLS / "ndnd"
NDNTS = ["node", HERE / "ndnts.mjs"]
# A filter from standard input to standard output, with files in their places.
FROM_FILE = ["sh", "-c", 'file=$1; shift; exec "$@" <"$file"', "sh"]
TO_FILE = ["sh", "-c", 'file=$1; shift; exec "$@" >"$file"', "sh"]


@dataclass
class Client:
    """How a project's tools are called; `@` stands for the daemon's socket.

    `ready` is what the publishing tool says once others can fetch.
    """

    name: str
    publish: list
    ready: str
    fetch: list

    def command(self, which, daemon, name, file):
        """The words of a command."""
        words = {"@": daemon.socket, "NAME": name, "FILE": file}
        return [words.get(word, word) for word in which]

    @contextlib.contextmanager
    def publishing(self, daemon, name, file):
        """Publish a file for as long as that lasts."""
        log = daemon.folder / f"{self.name}-publishes.log"
        log.unlink(missing_ok=True)
        with Child(self.command(self.publish, daemon, name, file), log) as child:

            def ready():
                if not child.running:
                    raise Failed(f"{self.name} ended\n{child.last_words()}")
                return self.ready in log.read_text(encoding="utf-8", errors="replace")

            wait_until(ready, f"{self.name} to publish {name}", PATIENCE)
            yield

    def get(self, daemon, name, file, timeout=60):
        """Fetch into a file, and return how many seconds that took; Failed if it went wrong."""
        log = daemon.folder / f"{self.name}-fetches.log"
        log.unlink(missing_ok=True)
        child = Child(self.command(self.fetch, daemon, name, file), log)
        # python-ndn's ends well without it.
        if child.wait(timeout) != 0 or not file.exists():
            raise Failed(f"{self.name} could not fetch {name}\n{child.last_words()}")
        return child.seconds


def clients(program):
    """All of them that are installed, first Weir: that program."""
    known = [
        Client(
            "weir",
            [program, "put", "NAME", "FILE", "--socket", "@"],
            "/demo",
            [program, "get", "NAME", "-o", "FILE", "--socket", "@", "--quiet"],
        ),
        Client(
            "python-ndn",
            [TOOLS / "pyndntools", "putchunks", "NAME", "FILE"],
            "Start serving",
            [TOOLS / "pyndntools", "catchunks", "-o", "FILE", "NAME"],
        ),
        Client(
            "NDNts",
            [*NDNTS, "@", "serve", "NAME", "FILE"],
            "/8=demo",
            [*NDNTS, "@", "fetch", "NAME", "FILE"],
        ),
        Client(
            "ndnd",
            [*FROM_FILE, "FILE", NDND, "put", "NAME"],
            "Registered route",
            [*TO_FILE, "FILE", NDND, "cat", "NAME"],
        ),
    ]
    return known if NDND.exists() else known[:-1]
