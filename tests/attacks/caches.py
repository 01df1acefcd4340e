"""Caches full of what nothing wants, and producers that answer with lies."""

import os
import tempfile
import threading
import unittest.mock
from collections import Counter
from pathlib import Path

import _producers
import _service
from support import content
from support.children import Child, Failed, run

# Unpopular Data of 7 kB: the default store is filled with them before the victim begins. More
# follow at this rate per second.
FILLED, FILLING = 9000, 3000
UNPOPULAR = 700
POPULAR = 400_000
# Seconds between fetches of the popular object.
APART = 0.2
HOSTILE = 7001
FACE = ("hostile", f"udp4://ATTACKER:{HOSTILE}")
# Exit codes of `weir get` for what was not found and not verified, or could not be written.
REJECTED = (1, 3, 4, 7)
# A consumer that fetches nothing of worth takes no more memory than one that does.
CONSUMER_BYTES = 100 << 20
GET_SECONDS = 90


class Again(threading.Thread):
    """Fetches a popular object again and again, and counts what its producer had to answer."""

    def __init__(self, router):
        super().__init__(daemon=True)
        self.router, self.rounds, self.error, self.first = router, 0, None, 0
        path = content.make(router.folder / "popular", POPULAR, 99)
        before = {face["id"] for face in router.producer.status()["faces"]}
        router.enter_context(router.producer.put("/victim/popular", path))
        faces = router.producer.status()["faces"]
        self.own = {face["id"] for face in faces} - before
        self._ended = threading.Event()

    def answered(self):
        """Data packets that the producer has sent."""
        faces = self.router.producer.status()["faces"]
        return sum(face["received"]["data"] for face in faces if face["id"] in self.own)

    def run(self):
        """Fetch until it is stopped."""
        try:
            while not self._ended.wait(APART):
                target = self.router.folder / "popular-received"
                fetch = self.router.daemon.get("/victim/popular", target)
                with fetch.child:
                    fetch.finish(_service.PATIENCE)
                self.first = self.first or self.answered()
                self.rounds += 1
        except Failed as reason:
            self.error = reason

    def stop(self):
        """The share of content that came from the cache, of all rounds but the first."""
        self._ended.set()
        self.join(_service.PATIENCE)
        if self.error:
            raise self.error
        again = self.answered() / self.first - 1
        asked = self.rounds - 1
        return f"{1 - again / asked:.0%} of {asked} popular fetches from the cache"


class Pollution(_service.Kept):
    """A store full of unpopular Data."""

    def test_pollution(self):
        """13,200 Interests for 7 kB each that nothing else wants, through the default store.

        A popular object is fetched by others again and again, one consumer after the other. Others
        keep their rate; how much of the popular object the store still answers is told.
        """
        started = []

        def attack(router):
            started.append(Again(router))
            started[-1].start()
            router.attack("produce", how="junk", port=HOSTILE)
            router.attack("pollute", prefix="/junk/1", rate=FILLING, total=FILLED, lead=0.99)
            router.attack("pollute", prefix="/junk/2", rate=UNPOPULAR)

        def after(router):
            store = router.daemon.status()["content_store"]
            return f"{started[-1].stop()}; {store['evicted']:,} evicted"

        self.keep(attack, after, faces=[FACE], routes=[("/junk", "hostile")])


class SharedPrefix(_service.Kept):
    """An honest and a hostile producer behind one router."""

    def shared(self, how):
        """Every next hop is asked; the hostile one answers in this way."""
        self.keep(
            lambda router: router.attack("produce", how=how, port=HOSTILE),
            faces=[FACE],
            routes=[("/victim", "hostile")],
            sections={"[strategy]": {"prefix": "/victim", "strategy": "multicast"}},
        )

    def test_producer_that_rejects_everything(self):
        """It answers each Interest with a Nack, before the honest one can. Others keep theirs."""
        self.shared("rejecting")

    def test_silent_producer(self):
        """It answers nothing. Others keep their rate."""
        self.shared("mute")

    def test_producer_of_garbage(self):
        """It answers with Data of that name that is no part of any object, before the honest one.

        It has a prefix of its own beside the victim's: who asks there gets an error and no file.
        The victim keeps its rate: garbage for others costs it nothing.
        """

        def after(router):
            target = router.folder / "garbage"
            fetch = router.daemon.get("/garbage/object", target, ["--patience", "2 s"])
            with fetch.child:
                status = fetch.child.wait(GET_SECONDS)
            self.assertIn(status, REJECTED, fetch.child.last_words())
            self.assertFalse(target.exists(), "a file of garbage")
            return f"the consumer of garbage ended with exit code {status}"

        self.keep(
            lambda router: router.attack("produce", how="garbage", port=HOSTILE),
            after,
            faces=[FACE],
            routes=[("/garbage", "hostile")],
        )


class Manifests(_service.Kept):
    """Objects whose manifests are forged: `weir get` ends, says why, and writes no file.

    Without `--trust`, content that only a digest signs is accepted in any case. There it may also
    pass over the manifest and take exactly the segments that the producer sent.
    """

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weir-")))
        self.enterContext(unittest.mock.patch.dict(os.environ, {"WEIR_HOME": str(self.folder)}))

    def get(self, router, case, options):
        """Begin to fetch a forged object."""
        target = self.folder / case
        argv = [_service.PROGRAM(), "get", f"/forged/{case}", "-o", target, "--patience", "5 s"]
        argv += ["--socket", router.daemon.socket, "--json", *options]
        return target, self.enterContext(Child(argv, self.folder / f"{case}.log"))

    def reject_all(self, options=()):
        """Every case ends with an error, in bounded time and memory, and leaves nothing."""
        with _service.Router(faces=[FACE], routes=[("/forged", "hostile")]) as router:
            router.attack("produce", how="forging", port=HOSTILE)
            running = {case: self.get(router, case, options) for case in _producers.CASES}
            codes = {}
            for case, (target, child) in running.items():
                with self.subTest(case=case):
                    codes[case] = child.wait(GET_SECONDS)
                    self.assertLess(child.usage().peak_bytes, CONSUMER_BYTES)
                    if not options and child.status == 0:
                        # An impossible manifest is skipped. The rest is an object without one, with
                        # digests as signatures: the default accepts it.
                        self.assertEqual(target.read_bytes(), b"segment" * 3)
                        continue
                    self.assertIn(child.status, REJECTED, child.last_words())
                    self.assertRegex(child.last_words(), r"(?m)^ *weir: .+; .+$")
                    self.assertFalse(target.exists(), "a file of something forged")
                    part = target.with_name(f"{case}.part")
                    taken = part.stat().st_blocks * 512 if part.exists() else 0
                    self.assertLess(taken, 1 << 20, "room for something forged")
            sent = router.end_attacks()
        counts = ", ".join(f"{n} × {code}" for code, n in sorted(Counter(codes.values()).items()))
        self.record(sent, f"{len(codes)} forgeries, exit codes {counts}")

    def test_forged_manifests_without_trust(self):
        """Absurd counts, wrong levels, digests of something else, all signed by digest."""
        self.reject_all()

    def test_forged_manifests_with_trust(self):
        """The same where the consumer trusts one key, which signed none of them."""
        argv = [_service.PROGRAM(), "key", "new", "/trusted"]
        trusted = self.folder / "trusted.cert"
        trusted.write_text(run(argv), encoding="utf-8")
        self.reject_all(["--trust", trusted])
