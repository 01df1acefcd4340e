"""A producer, a forwarder or a consumer dies in mid-transfer; what was verified is kept.

How much was fetched twice is read from the interface's counters, not from what the program says
of itself. Content stores are off, so that a segment asked for again has to cross the cable again.
"""

import signal
import time
import unittest

from chain import MIDDLE, Chain
from support import content
from support.children import let_pass, wait_until

SIZE = 20 * content.MEGABYTE
# Slow enough that a transfer of two seconds can be caught in the middle.
RATE = 80_000_000
# The share that has crossed the cable when the blow falls.
KILLED_AT = 0.5
# All bytes over all attempts, as a share of the file: a tenth for headers, frames, Interests and
# what was under way at the blow. Fetching the first half again would make it more than 1.5.
MOST_IN_TOTAL = 1.2
# Interests per second for content without a producer.
MOST_A_SECOND = 10
PATIENCE = 120


class Kill(unittest.TestCase):
    """SIGKILL, at which nothing can be tidied up."""

    def setUp(self):
        self.chain = Chain(store={"capacity": "0 B"}, rate=RATE)
        self.chain.__enter__()
        self.addCleanup(self.chain.__exit__, None, None, None)
        self.sent = content.make(self.chain.folder / "sent", SIZE)
        self.target = self.chain.folder / "received"
        self.producer = self.put()
        self.before = self.chain.received("left")
        self.fetch = self.get()

    def put(self):
        """Publish the file at the right end."""
        return self.chain.enter_context(self.chain.daemons["right"].put("/right/file", self.sent))

    def get(self):
        """Begin, or begin again, to fetch it at the left end."""
        fetch = self.chain.daemons["left"].get("/right/file", self.target)
        self.chain.enter_context(fetch.child)
        return fetch

    def share(self):
        """Bytes that have come in at the left end since the start, as a share of the file."""
        return (self.chain.received("left") - self.before) / SIZE

    def wait_for_middle(self):
        """Wait until the transfer is in the middle."""

        def reached():
            self.assertTrue(self.fetch.child.running, self.fetch.child.last_words())
            return self.share() >= KILLED_AT

        wait_until(reached, "half of the file to arrive", PATIENCE)
        self.assertFalse(self.target.exists(), "a partial file under the final name")

    def end_or_begin_again(self):
        """Let the consumer go on; if it gave up, it has to have said why, and is started again."""
        if self.fetch.child.wait(PATIENCE) != 0:
            said = self.fetch.child.last_words()
            self.assertIn("/right/file", said, "gave up without saying what is missing")
            self.assertFalse(self.target.exists(), "a partial file under the final name")
            self.fetch = self.get()
            self.fetch.finish(PATIENCE)

    def assert_whole(self):
        """The file is there, unchanged, and little of it crossed the cable twice."""
        self.assertEqual(content.sha256(self.target), content.sha256(self.sent))
        self.assertLess(self.share(), MOST_IN_TOTAL, "verified segments were fetched again")

    def test_consumer(self):
        """A second `get` takes up where the first was killed."""
        self.wait_for_middle()
        self.fetch.child.kill()
        self.assertEqual(self.fetch.child.status, -signal.SIGKILL)
        self.fetch = self.get()
        self.fetch.finish(PATIENCE)
        self.assert_whole()

    def test_forwarder(self):
        """The forwarder in the middle restarts; no other program has to."""
        self.wait_for_middle()
        self.chain.daemons[MIDDLE].process.kill()
        self.chain.enter_context(self.chain.daemons[MIDDLE])
        self.end_or_begin_again()
        self.assert_whole()

    def test_producer(self):
        """The same file published again under the same name is the same object."""
        self.wait_for_middle()
        self.producer.kill()
        self.producer = self.put()
        self.end_or_begin_again()
        self.assert_whole()

    def asked(self):
        """Interests that have come from the consumer's host to the forwarder in the middle."""
        faces = self.chain.daemons[MIDDLE].status()["faces"]
        return sum(face["received"]["interests"] for face in faces if face["name"] == "left")

    def test_producer_away(self):
        """Without a producer few Interests leave; the transfer goes on when it is back."""
        self.wait_for_middle()
        self.producer.kill()
        let_pass(1)
        before, begun = self.asked(), time.monotonic()
        let_pass(5)
        rate = (self.asked() - before) / (time.monotonic() - begun)
        self.assertLess(rate, MOST_A_SECOND)
        self.assertTrue(self.fetch.child.running, self.fetch.child.last_words())
        self.producer = self.put()
        before = self.share()
        wait_until(lambda: self.share() > before + 0.01, "the transfer to go on", 5)
        self.fetch.finish(PATIENCE)
        self.assert_whole()
