"""Attacks on the memory of a daemon: Interests that nothing answers, more than the table holds.

Others must keep: a transfer of 10 Mbit/s at least 90 % of its undisturbed rate, and `weir status`
its answer. On an idle machine that takes 200 ms more than undisturbed at most; machines that run
tests are not idle, so what undisturbed calls take is granted several times over, and a measurement
that was too slow is repeated: a real defect fails every time. The process stays within its limit,
and what the attack took is given back when its Interests have expired.
"""

import contextlib
import sys
import tempfile
import time
import unittest
from pathlib import Path

import _service
from support import content, namespaces, weir
from support.children import Child, memory_bytes, wait_until

HERE = Path(__file__).resolve().parent
# Nothing listens there: what is sent is gone, what was asked for never comes.
NOWHERE = "udp4://127.0.0.1:9"
PORT = 6363
MEGABYTE = content.MEGABYTE
SIZE = 2 * MEGABYTE
# They fill 10 Mbit/s for a tenth of a second, and are within the share of a face of 205.
CONTROL = ("--control", "fixed:window=16")
# Well below what a debug build handles on a loaded machine: what is tested is the table.
COUNT = 48_000
RATE = 12_000
# More memory is taken than a process of this kind gets and releases by itself.
MANY = 150_000
MANY_RATE = 40_000
LONG_MS = 120_000
SHORT_MS = 500
# Far more than is needed on the slowest machine; what hangs is told apart by it.
PATIENCE = 300
# Answers within 200 ms, and what the machine's other work delays them.
MARGIN = 0.2
SLOWER = 8
# Those without the attack, and one under it.
TRANSFERS = 3
# Of what it took before the attack, the process may keep this much more.
KEPT = 24 * MEGABYTE


class Attacked(unittest.TestCase):
    """A router, an application on it that publishes, and a peer that fetches beside the attack."""

    about = {}
    sections = {}
    limit = None

    def setUp(self):
        self.ends = contextlib.ExitStack()
        self.addCleanup(self.ends.close)

    def start(self, prefix, sections):
        """The router, whose route for what the attack asks leads nowhere, and the peer's daemon."""
        self.folder = Path(self.ends.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        self.host = self.ends.enter_context(namespaces.Network()).host("router")
        self.fetched = 0
        self.router = weir.Daemon(
            weir.program(),
            self.folder,
            "router",
            host=self.host,
            faces=[("nowhere", NOWHERE)],
            routes=[(prefix, "nowhere")],
            listen={"udp": f"127.0.0.1:{PORT}", "tcp": f"127.0.0.1:{PORT}"},
            about={"log": "warn", **self.about},
            sections={"on_demand": {"rate": "10 Mbit/s"}, **self.sections, **sections},
        )
        self.peer = weir.Daemon(
            weir.program(),
            self.folder,
            "peer",
            host=self.host,
            faces=[("router", f"udp4://127.0.0.1:{PORT}")],
            routes=[("/wanted", "router")],
            listen={"udp": "off", "tcp": "off"},
            about={"log": "warn"},
        )
        self.ends.enter_context(self.router)
        self.ends.enter_context(self.peer)
        for number in range(TRANSFERS):
            path = content.make(self.folder / f"sent{number}", SIZE, number + 1)
            self.ends.enter_context(self.router.put(f"/wanted/{number}", path))

    def begin(self):
        """Begin to fetch the next file."""
        number, self.fetched = self.fetched, self.fetched + 1
        target = self.folder / f"received{number}"
        fetch = self.peer.get(f"/wanted/{number}", target, options=CONTROL)
        self.ends.enter_context(fetch.child)
        return fetch

    def finish(self, fetch):
        """Wait until it is whole, and return how long the transfer took."""
        fetch.finish(PATIENCE)
        number = self.fetched - 1
        received = content.sha256(self.folder / f"received{number}")
        self.assertEqual(received, content.sha256(self.folder / f"sent{number}"))
        return fetch.summary["duration_s"]

    def answer_seconds(self):
        """How long `weir status` takes."""
        begun = time.monotonic()
        self.router.status()
        return time.monotonic() - begun

    def flood(self, how, faces, lifetime_ms, prefixes="one", count=COUNT, rate=RATE):
        """Begin the attack; what is given back says whether all is sent."""
        words = [how, PORT, faces, count, rate, lifetime_ms, prefixes]
        argv = self.host.command(sys.executable, HERE / "_pending.py", *words)
        log = self.folder / "flood.log"
        child = self.ends.enter_context(Child(argv, log))

        def says(word):
            self.assertTrue(child.running, child.last_words())
            return word in log.read_text(encoding="utf-8")

        wait_until(lambda: says("ready"), "the attack to begin", PATIENCE)
        return lambda: says("sent")

    def attack(self, *flood, prefix="/void", sections=None, **about):
        """Flood a router while a peer fetches and an operator asks; both must keep their service.

        Memory before, and the router's status after. The table is asked for `prefix` and below.
        """
        self.start(prefix, sections or {})
        calm = max(self.answer_seconds() for _ in range(3))
        # The slower one of several: the machine may have other work at any moment.
        undisturbed = max(self.finish(self.begin()) for _ in range(TRANSFERS - 1))
        before = memory_bytes(self.router.process.pid, "VmRSS")
        is_sent = self.flood(*flood, **about)
        fetch, longest = self.begin(), 0
        while not is_sent():
            longest = max(longest, self.answer_seconds())
        disturbed = self.finish(fetch)
        longest = max(longest, self.answer_seconds())
        status = self.router.status()
        peak = memory_bytes(self.router.process.pid, "VmHWM")
        print(
            f"{self.id().partition('.')[2]}: transfer {undisturbed:.2f} s, under attack "
            f"{disturbed:.2f} s; status {calm * 1e3:.0f} ms, at most {longest * 1e3:.0f} ms; "
            f"{before / 1e6:.0f} MB before, at most {peak / 1e6:.0f} MB; "
            f"{status['pit']['entries']} pending, drops {status['drops']}",
            file=sys.stderr,
        )
        self.assertLessEqual(disturbed, undisturbed / _service.SHARE, "the transfer keeps its rate")
        self.assertLessEqual(longest, MARGIN + SLOWER * calm, "management answers")
        if self.limit:
            self.assertLessEqual(peak, self.limit)
        return before, status

    def returned(self, before):
        """Wait until the memory that the attack took is given back."""

        def is_back():
            return memory_bytes(self.router.process.pid, "VmRSS") <= before + KEPT

        wait_until(is_back, "the memory to be given back", 60)

    def rejected(self, status):
        """The attack was more than the table may take, or it shows nothing."""
        reasons = ["memory", "pit-prefix-share", "pit-face-limit", "pit-full"]
        rejected = sum(status["drops"].get(reason, 0) for reason in reasons)
        self.assertGreater(rejected, COUNT // 10, status["drops"])


class Full:
    """Attacks that ask for more than the table may hold."""

    @_service.repeated
    def test_one_prefix_from_many_ports(self):
        """200 ports hold the table by Interests of two minutes for one prefix: others go on."""
        _, status = self.attack("udp", 200, LONG_MS)
        self.rejected(status)
        self.assertGreater(status["drops"].get("pit-prefix-share", 0), 0, status["drops"])

    @_service.repeated
    def test_many_prefixes_over_one_connection(self):
        """One peer asks for names that share no prefix, without a pause: others go on."""
        _, status = self.attack("tcp", 1, LONG_MS, prefix="/", prefixes="many")
        self.rejected(status)

    @_service.repeated
    def test_many_prefixes_from_many_ports(self):
        """200 ports ask for names that share no prefix: each other face has its share."""
        _, status = self.attack("udp", 200, LONG_MS, prefix="/", prefixes="many")
        self.rejected(status)


@_service.default_only("the class Small has that budget")
class Default(Full, Attacked):
    """Default configuration but for a 64th of the table: that is full with a 64th of the attack
    that fills the default one of a million Interests."""

    sections = {"forwarder": {"pending_interests": 1 << 14}}


class Small(Full, Attacked):
    """The same with 32 MB."""

    about = {"memory": "32 MB"}
    limit = 32_000_000


@_service.default_only("what the attack takes and gives back is more than 32 MB")
class Returned(Attacked):
    """Default configuration: what an attack took is given back."""

    @_service.repeated
    def test_memory_after_long_lifetimes(self):
        """The memory of the attack's Interests is released after they have expired."""
        # The longest lifetime, so that the test need not wait for two minutes.
        short = {"forwarder": {"max_lifetime": "4 s"}}
        before, status = self.attack(
            "tcp", 1, LONG_MS, sections=short, count=MANY, rate=MANY_RATE
        )
        self.assertGreater(status["pit"]["most"], MANY // 3, "an attack that takes memory")
        self.returned(before)

    @_service.repeated
    def test_memory_after_short_lifetimes(self):
        """Interests that expire as fast as they come neither pile up nor hold up others."""
        before, status = self.attack("tcp", 1, SHORT_MS, count=MANY, rate=MANY_RATE)
        self.assertGreater(status["expired"], MANY // 3)
        self.returned(before)
