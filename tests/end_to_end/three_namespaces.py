"""100 MB both ways at once through three forwarders in three network namespaces."""

import unittest

from chain import ENDS, MIDDLE, Chain
from support import content

SIZE = 100 * content.MEGABYTE
# Far more than a working transfer needs on the slowest machine; what hangs is told apart by it.
PATIENCE = 300


class ThreeNamespaces(unittest.TestCase):
    """Everything that leaves one end arrives at the other, unchanged."""

    def test_both_ways_at_once(self):
        """Both files arrive with the digest with which they left."""
        with Chain() as chain:
            sent = {}
            for seed, end in enumerate(ENDS):
                sent[end] = content.make(chain.folder / f"{end}.sent", SIZE, seed)
                chain.enter_context(chain.daemons[end].put(f"/{end}/file", sent[end]))
            fetches = {}
            for end, other in zip(ENDS, reversed(ENDS)):
                target = chain.folder / f"{other}.received"
                fetches[other] = (target, chain.daemons[end].get(f"/{other}/file", target))
                chain.enter_context(fetches[other][1].child)
            for end, (target, fetch) in fetches.items():
                with self.subTest(origin=end):
                    fetch.finish(PATIENCE)
                    self.assertEqual(content.sha256(target), content.sha256(sent[end]))
            for name in (*ENDS, MIDDLE):
                self.assertTrue(chain.daemons[name].process.running, f"{name} is gone")
