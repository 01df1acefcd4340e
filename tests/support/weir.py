"""The weir program as a test or a benchmark drives it: build, daemons, put, get."""

import json
import os
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .children import Child, Failed, run, wait_until

ROOT = Path(__file__).resolve().parents[2]

# The kernel doubles what is asked for: this is its default of 212992 bytes, whatever its maximum.
DEFAULT_SOCKET_BUFFER = "106496 B"


class Missing(Exception):
    """There is no program to drive."""


def program(profile="dev"):
    """Build the program, unless WEIR names one, and return where it is."""
    if given := os.environ.get("WEIR"):
        return Path(given).resolve()
    if not (ROOT / "crates/weir/Cargo.toml").exists():
        raise Missing("crates/weir is not in this tree")
    return built("weir", "--workspace", "--profile", profile)


def router():
    """Build the small forwarder, unless WEIR_ROUTER names one, and return its path.

    It is built alone: `--workspace` would give it the features of the other programs.
    """
    if given := os.environ.get("WEIR_ROUTER"):
        return Path(given).resolve()
    return built("weir-router", "--package", "router")


def forwarder(weir):
    """The command that runs a forwarder: `weir daemon`, or the program that WEIR_ROUTER names."""
    given = os.environ.get("WEIR_ROUTER")
    return [given] if given else [weir, "daemon"]


def built(name, *options):
    """Build a program and return where it is."""
    build = ["cargo", "build", "--bin", name, *options, "--message-format", "json"]
    done = subprocess.run(
        build, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise Failed("cargo build failed")
    artifacts = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    programs = (artifact.get("executable") for artifact in artifacts)
    for path in filter(None, programs):
        if Path(path).name == name:
            return Path(path)
    raise Missing(f"no program {name} is built")


def memory_for_tests():
    """The budget that daemons get whose test gives them none: WEIR_TEST_MEMORY, as "32 MB"."""
    return os.environ.get("WEIR_TEST_MEMORY", "")


@dataclass
class Daemon:
    """One forwarder: its configuration, and its process while it runs.

    `host` is a namespace, or None for this machine itself. `faces` and `routes` are rows of the
    configuration file: ("name", "udp4://…") or ("name", "udp4://…", {"rate": "50 Mbit/s"}), and
    ("/prefix", "face's name"). `listen`, `store` and
    `about` replace defaults of those sections and of `[daemon]`, and `sections` has others by name.
    """

    weir: Path
    folder: Path
    name: str
    host: object = None
    faces: list = field(default_factory=list)
    routes: list = field(default_factory=list)
    listen: dict = field(default_factory=dict)
    store: dict = field(default_factory=dict)
    about: dict = field(default_factory=dict)
    sections: dict = field(default_factory=dict)
    process: object = None

    @property
    def socket(self):
        """Where local applications find it."""
        return self.folder / f"{self.name}.sock"

    @property
    def config(self):
        """Its configuration file."""
        return self.folder / f"{self.name}.toml"

    def command(self, *argv):
        """The command as it has to be started on the daemon's host."""
        return self.host.command(*argv) if self.host else [str(word) for word in argv]

    def memory(self):
        """Its budget, as the configuration has it; empty if it is the default."""
        return self.about.get("memory", memory_for_tests())

    def text(self):
        """The configuration."""
        rows = [section("[listen]", {"unix": str(self.socket), **self.listen})]
        budget = {"memory": self.memory()} if self.memory() else {}
        rows.append(section("[daemon]", {**self.about, **budget}))
        rows.append(section("[content_store]", self.store))
        rows += [section(f"[{name}]", values) for name, values in self.sections.items()]
        for name, uri, *options in self.faces:
            link = options[0] if options else {}
            rows.append(section("[[face]]", {"name": name, "uri": uri, **link}))
        for prefix, face in self.routes:
            rows.append(section("[[route]]", {"prefix": prefix, "face": face}))
        return "\n".join(rows)

    def start(self):
        """Start it and wait until applications can connect."""
        self.config.write_text(self.text(), encoding="utf-8")
        argv = self.command(*forwarder(self.weir), "--config", self.config)
        self.process = Child(argv, self.folder / f"{self.name}.log")
        wait_until(self._answers, f"{self.name} to listen at {self.socket}")
        return self

    def _answers(self):
        if not self.process.running:
            raise Failed(f"{self.process.name} ended\n{self.process.last_words()}")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def status(self):
        """The output of `weir status --json` for it."""
        return json.loads(run(self.command(self.weir, "status", "--json", "--socket", self.socket)))

    def put(self, name, *files, options=()):
        """Publish files; the returned process serves them until it is stopped."""
        argv = [self.weir, "put", name, *files, "--socket", self.socket, *options]
        log = self.folder / f"{self.name}-put{name.replace('/', '-')}.log"
        # A message of an earlier daemon does not mean that this one is ready.
        log.unlink(missing_ok=True)
        child = Child(self.command(*argv), log)

        def published():
            if not child.running:
                raise Failed(f"{child.name} ended\n{child.last_words()}")
            return name in log.read_text(encoding="utf-8", errors="replace")

        wait_until(published, f"{name} to be published")
        return child

    def get(self, name, output, options=()):
        """Begin to fetch an object into a file."""
        argv = [self.weir, "get", name, "-o", output, "--socket", self.socket, "--json", "--quiet"]
        stem = self.folder / f"{self.name}-get-{Path(output).name}"
        out = stem.with_suffix(".json")
        out.unlink(missing_ok=True)
        return Fetch(Child(self.command(*argv, *options), stem.with_suffix(".log"), out), out)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.process.kill()


@dataclass
class Fetch:
    """A running or finished `weir get`."""

    child: Child
    out: Path

    def finish(self, timeout):
        """Wait for its end; Failed unless it succeeded."""
        if self.child.wait(timeout) != 0:
            words = self.child.last_words()
            raise Failed(f"{self.child.name}: status {self.child.status}\n{words}")
        return self

    @property
    def summary(self):
        """The JSON summary that it printed."""
        return json.loads(self.out.read_text(encoding="utf-8"))


def section(head, rows):
    """One section of a TOML file. A JSON string, number or truth value is a TOML one too."""
    return "\n".join([head, *(f"{key} = {json.dumps(value)}" for key, value in rows.items()), ""])
