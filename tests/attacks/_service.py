"""The service that others keep while a daemon is attacked: measured, judged and listed.

The victim fetches a file through the attacked router from a producer whose face is paced well below
what any machine can do, so that its undisturbed rate is the same everywhere. It has to keep a share
of that rate under attack. All the while a local program asks for `status/general`, and the router's
memory is read at the end. Attackers run in processes of their own at a lower priority; their
packets are bounded by the second and in total.
"""

import functools
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

import _packets
from support import content, namespaces, weir
from support.children import Child, Failed, memory_bytes, wait_until
from support.stage import Stage

HERE = Path(__file__).resolve().parent
RATE = "8 Mbit/s"
SIZE = 1_600_000
# Of the undisturbed rate.
SHARE = 0.9
# Management's answers, 95 of 100, on a machine that answers in 10 ms undisturbed.
ANSWER_MS, USUAL_MS = 200, 10
PROBES_APART = 0.02
# Other programs on the machine may slow a measurement down, never speed it up: a real defect fails
# every time.
ATTEMPTS = 3
PATIENCE = 120
# Without a budget there is a default bound of pending Interests.
NO_BUDGET = 512 << 20
# The daemon's reserve for the process, and the part of the rest that it keeps free.
PROCESS, HOLES = 10_000_000, 8

# Building takes a second even where nothing is to be built.
PROGRAM = functools.cache(weir.program)
STATUS = _packets.uri("/localhost/nfd/status/general")
ROWS = []


def default_only(reason):
    """Skip the test where the daemons have a budget of their own."""
    return unittest.skipIf(bool(weir.memory_for_tests()), f"default memory only: {reason}")


def repeated(test):
    """Repeat a test of which other programs on the machine may disturb a measurement."""

    @functools.wraps(test)
    def run(self):
        for attempt in range(1, ATTEMPTS):
            try:
                return test(self)
            except (self.failureException, Failed) as why:
                print(f"  attempt {attempt} of {ATTEMPTS}: {why}", flush=True)
            self.doCleanups()
            self.setUp()
        return test(self)

    return run


class Probe(threading.Thread):
    """Asks for the status again and again; `times` are the milliseconds until each answer."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.times, self.error = str(path), [], None
        self._ended = threading.Event()

    def run(self):
        """Ask until it is stopped; what remains unanswered is an error."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
                application.settimeout(10)
                application.connect(self.path)
                while not self._ended.wait(PROBES_APART):
                    self.ask(application)
        except OSError as reason:
            self.error = f"management: {reason!r} after {len(self.times)} answers"

    def ask(self, application):
        """One question and its answer."""
        nonce = int.from_bytes(os.urandom(4), "big")
        begun = time.monotonic()
        application.sendall(_packets.interest(STATUS, nonce, flags=_packets.ANY_FRESH))
        answer = b""
        while not (packet := _packets.inner(answer)):
            more = application.recv(65536)
            if not more:
                raise ConnectionError("the daemon closed the connection")
            answer += more
        if packet[0] != _packets.DATA:
            raise ConnectionError("no Data")
        self.times.append((time.monotonic() - begun) * 1000)

    def stop(self):
        """The 95th percentile of the answers' times."""
        self._ended.set()
        self.join(PATIENCE)
        if self.error or not self.times:
            raise Failed(self.error or "management answered nothing")
        return sorted(self.times)[int(len(self.times) * 0.95)]


@dataclass
class Measured:
    """The victim's service and the router's resources."""

    mbps: float
    p95_ms: float
    peak: int
    budget: int


class Router(Stage):
    """producer -- router -- attacker: three hosts, and the victim on the router's.

    Names under /victim lead to the producer's daemon, over a face of 8 Mbit/s. The router has the
    default configuration, but for faces and routes that a test adds, and what `options` replace.
    `link` has options of the router's face to the producer. Names under /silent lead to a port of
    the attacker that never answers. `wrapped` is how a shell
    starts the router's program, "$WEIR", where something is to be put around it.
    """

    def __init__(self, wrapped=None, link=None, **options):
        super().__init__()
        self._options, self._wrapped, self._link = options, wrapped, link or {}
        self.attackers = []
        self._objects = 0

    def _build(self):
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        network = self.enter_context(namespaces.Network())
        self.hosts = {name: network.host(name) for name in ("router", "producer", "attack")}
        cables = {
            name: network.cable(self.hosts["router"], self.hosts[name], version=4)
            for name in ("producer", "attack")
        }
        near, far = cables["producer"].addresses
        self.address, self.attacker = cables["attack"].addresses
        options = {"faces": [], "routes": [], **self._options}
        options["faces"] = [
            ("producer", f"udp4://{far}:6363", self._link),
            ("silent", f"udp4://{self.attacker}:7000"),
            *(
                (name, uri.replace("ATTACKER", self.attacker), *more)
                for name, uri, *more in options["faces"]
            ),
        ]
        options["routes"] = [("/victim", "producer"), ("/silent", "silent"), *options["routes"]]
        self.daemon = weir.Daemon(PROGRAM(), self.folder, "router", self.hosts["router"], **options)
        if self._wrapped:
            self.daemon.weir = self.wrapper()
        self.producer = weir.Daemon(
            PROGRAM(),
            self.folder,
            "producer",
            self.hosts["producer"],
            faces=[("router", f"udp4://{near}:6363", {"rate": RATE})],
            # Data outside the router's store crosses the paced face, and `put` counts it.
            store={"capacity": "0 B"},
        )
        self.enter_context(self.producer)
        self.enter_context(self.daemon)
        self.daemon.weir = PROGRAM()
        self.attack("silent", port=7000)

    def wrapper(self):
        """The program with what a test puts around it."""
        path = self.folder / "wrapped"
        lines = ["#!/bin/sh", f"WEIR={PROGRAM()} FOLDER={self.folder}", f"exec {self._wrapped}"]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        path.chmod(0o755)
        return path

    def attack(self, kind, host="attack", **about):
        """Begin an attack and wait until it is under way."""
        about = {"address": self.address, "socket": str(self.daemon.socket), **about}
        log = self.folder / f"attack{len(self.attackers)}.log"
        out = log.with_suffix(".json")
        argv = ["nice", "-n", "10", sys.executable, HERE / "_attackers.py", kind, json.dumps(about)]
        child = self.enter_context(Child(self.hosts[host].command(*argv), log, out))
        self.attackers.append((child, out))

        def begun():
            if not child.running:
                raise Failed(f"{kind} ended\n{child.last_words()}")
            return out.read_text(encoding="utf-8").startswith("begun")

        wait_until(begun, f"{kind} to begin", PATIENCE)
        return self

    def publish(self, size=SIZE):
        """Publish a new file at the producer; its name and path."""
        self._objects += 1
        name = f"/victim/{self._objects}"
        path = content.make(self.folder / f"sent{self._objects}", size, self._objects)
        self.enter_context(self.producer.put(name, path))
        return name, path

    def fetch(self, name, path):
        """Fetch it beside the router; Mbit/s."""
        target = self.folder / f"received-{path.name}"
        fetch = self.daemon.get(name, target)
        with fetch.child:
            fetch.finish(PATIENCE)
        if content.sha256(target) != content.sha256(path):
            raise Failed(f"{name} arrived changed")
        return fetch.summary["goodput_mbps"]

    def measure(self):
        """The victim's transfer and the management's answers, now."""
        name, path = self.publish()
        probe = Probe(self.daemon.socket)
        probe.start()
        mbps = self.fetch(name, path)
        p95 = probe.stop()
        pid = self.daemon.process.pid
        return Measured(mbps, p95, memory_bytes(pid, "VmHWM"), self.budget())

    def budget(self):
        """The most memory that the router may take."""
        if given := self.daemon.memory():
            number, _, unit = given.partition(" ")
            return int(number) * {"MB": 1_000_000, "MiB": 1 << 20, "GB": 10**9}[unit]
        shared = self.daemon.status()["memory"]["limit"]
        return PROCESS + shared * HOLES // (HOLES - 1) if shared else NO_BUDGET

    def end_attacks(self):
        """End the attackers; what they sent, by kind."""
        sent = {}
        for child, out in self.attackers:
            if child.running:
                os.kill(child.pid, signal.SIGTERM)
                child.wait(PATIENCE)
            lines = out.read_text(encoding="utf-8").splitlines()
            if child.status != 0 or len(lines) < 2:
                raise Failed(f"an attacker failed: {child.last_words()}")
            for what, count in json.loads(lines[1]).items():
                sent[what] = sent.get(what, 0) + count
        self.attackers = []
        return sent


class Undisturbed:
    """The victim without attackers, measured when it is first needed."""

    latest = None

    @classmethod
    def of(cls, again):
        """Its service; measured again on demand, since the machine may have become slower."""
        if again or cls.latest is None:
            with Router() as router:
                cls.latest = router.measure()
        return cls.latest


class Kept(unittest.TestCase):
    """Tests whose attack others must not notice."""

    def keep(self, attack, after=None, **options):
        """Attack a router and judge what the others had.

        `attack` is given the router and begins attacks. `after` checks the router while they are
        still under way; what it returns is for the table.
        """
        why = ""
        for attempt in range(ATTEMPTS):
            before = Undisturbed.of(again=attempt > 0)
            try:
                with Router(**options) as router:
                    attack(router)
                    had = router.measure()
                    note = after(router) if after else ""
                    sent = router.end_attacks()
                why = verdict(before, had)
            except Failed as reason:
                why = str(reason)
            if not why:
                return self.record(sent, note, before, had)
            print(f"  attempt {attempt + 1} of {ATTEMPTS}: {why}", flush=True)
        return self.fail(why)

    def keep_on(self, router, before):
        """The victim's service at a router after a fault; the same as before, or the test
        fails."""
        why = ""
        for _ in range(ATTEMPTS):
            had = router.measure()
            why = verdict(before, had)
            if not why:
                return before, had
            before = Undisturbed.of(again=True)
        return self.fail(why)

    def record(self, sent, note="", before=None, had=None):
        """A row of the table; a test without a victim has none of its numbers."""
        module, _, test = self.id().partition(".")
        test = test.rpartition(".")[2].removeprefix("test_").replace("_", " ")
        said = ", ".join(f"{count:,} {what}" for what, count in sent.items() if count)
        share = f"{had.mbps / before.mbps:.0%}" if had else "-"
        p95 = f"{had.p95_ms:.1f} ms ({before.p95_ms:.1f})" if had else "-"
        peak = f"{had.peak / 1e6:.0f} of {had.budget / 1e6:.0f} MB" if had else "-"
        ROWS.append((f"{module}: {test}", said, share, p95, peak, note or "-"))


def verdict(before, had):
    """The losses of service; empty without any."""
    if had.mbps < SHARE * before.mbps:
        return f"the victim had {had.mbps:.2f} of {before.mbps:.2f} Mbit/s"
    most = ANSWER_MS * max(1, before.p95_ms / USUAL_MS)
    if had.p95_ms > most:
        return f"management answered in {had.p95_ms:.0f} ms, at most {most:.0f} are allowed"
    if had.peak > had.budget:
        return f"the router took {had.peak:,} of {had.budget:,} bytes"
    return ""


def table():
    """Print what was measured; nothing if nothing was."""
    if not ROWS:
        return
    heads = ("attack", "sent", "victim's rate", "management p95", "memory", "besides")
    print()
    for row in (heads, ["---"] * len(heads), *ROWS):
        print("| " + " | ".join(row) + " |")
    print("Victim's rate: share of the undisturbed one. In brackets: p95 without the attack.\n")


def wait_idle(test, processes, most=0.05, patience=60):
    """Wait until the processes take less than this share of a processor each."""
    deadline = time.monotonic() + patience
    while True:
        used, begun = sum(each.usage().cpu_seconds for each in processes), time.monotonic()
        threading.Event().wait(0.5)
        used = sum(each.usage().cpu_seconds for each in processes) - used
        if used <= most * len(processes) * (time.monotonic() - begun):
            return
        test.assertLess(time.monotonic(), deadline, f"busy still: {used} s of processor time")
