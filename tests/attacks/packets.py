"""Packets that follow no format, at a rate, and packets that follow it to its bounds."""

import _service

RATE = 12_000


class Packets(_service.Kept):
    """The victim's transfer, management and the memory are those of `_service`."""

    def malformed(self, *forms, **about):
        """Such packets, half of them from one port and half from many."""

        def attack(router):
            for ports in (1, 50):
                router.attack(
                    "malformed", forms=forms, rate=RATE / 2, seed=ports, ports=ports, **about
                )

        return attack

    def test_mutated_and_truncated(self):
        """Valid packets with changed, inserted or missing bytes. Others keep their service."""
        self.keep(self.malformed("mutated", "truncated"))

    def test_noise_and_huge_lengths(self):
        """Random bytes, and elements that say they are larger than memory."""
        self.keep(self.malformed("noise", "huge"))

    def test_deep_nesting(self):
        """Elements within elements, up to 400 deep. Others keep their service."""
        self.keep(self.malformed("nested"))

    def test_malformed_streams(self):
        """All of that over TCP: the router ends such a connection, and another one follows."""

        def attack(router):
            forms = ["mutated", "truncated", "noise", "huge", "nested"]
            router.attack("malformed", forms=forms, rate=1500, seed=7, stream=True)

        self.keep(attack)

    def test_fragments_never_completed(self):
        """The first tenth of packets, from one port and from 200, many sequences each.

        Others keep their service, and what is begun is forgotten.
        """

        def attack(router):
            for ports in (1, 200):
                router.attack("fragments", rate=RATE / 2, ports=ports)

        def after(router):
            drops = router.daemon.status()["drops"]
            dropped = sum(drops.get(why, 0) for why in ("reassembly-limit", "reassembly-timeout"))
            return f"{dropped:,} packets in parts dropped"

        self.keep(attack, after)

    def test_fragments_that_contradict_each_other(self):
        """Parts that overlap, lie behind the last one, or change the count."""
        self.keep(lambda router: router.attack("contradicting", rate=RATE, ports=20, seed=3))

    def test_names_that_collide_in_a_weak_hash(self):
        """Names with one FNV-1a bucket, pending for a minute: the tables' hashes have keys."""
        self.keep(
            lambda router: router.attack("colliding", what="names", prefix="/silent", rate=3000)
        )

    def test_ranges_that_collide_in_a_weak_hash(self):
        """Ranges in blocks of segments that a multiplicative hash puts into one place.

        They are pending for a minute, over a connection that has proved to be there. Others keep
        their service, however many have come.
        """
        self.keep(
            lambda router: router.attack("colliding", what="blocks", prefix="/silent/o", rate=RATE)
        )

    def test_names_and_options_of_the_largest_size(self):
        """4,000 components, one component of 8,600 bytes, options as large."""
        self.keep(lambda router: router.attack("largest", prefix="/silent", rate=800))
