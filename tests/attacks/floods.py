"""Floods of packets and of connections, from one place or many, at a router with its defaults."""

import _service

# Every flood's packets a second. An attacker that gets too little of the machine sends fewer.
RATE = 12_000
VOID_MS = 120_000


class Floods(_service.Kept):
    """The victim's transfer, management and the memory are those of `_service`."""

    def test_long_lifetimes_from_one_port(self):
        """Up to 72,000 Interests below a route to a silent neighbour, pending for two minutes each.

        Others keep their rate, management answers and memory stays within the budget.
        """
        self.keep(
            lambda router: router.attack(
                "interests", prefix="/silent", lifetime_ms=VOID_MS, rate=RATE
            )
        )

    def test_long_lifetimes_from_many_ports(self):
        """The same from 200 ports, each a peer of its own. Others keep their service."""
        self.keep(
            lambda router: router.attack(
                "interests", prefix="/silent", lifetime_ms=VOID_MS, rate=RATE, ports=200
            )
        )

    def test_short_lifetimes_from_many_ports(self):
        """Interests that expire after 10 ms, from 200 ports. Others keep their service."""
        self.keep(
            lambda router: router.attack(
                "interests", prefix="/silent", lifetime_ms=10, rate=RATE, ports=200
            )
        )

    def test_short_lifetimes_for_the_victims_prefix(self):
        """Interests for what the victim's producer does not have, which answers each with a Nack.

        They share the victim's link, of which their Nacks take 2 %. Others keep their service.
        """
        self.keep(
            lambda router: router.attack("interests", prefix="/victim", lifetime_ms=500, rate=200)
        )

    def test_names_without_content_on_a_link_that_offers_rates(self):
        """The same, over a face with the link's rate, whose scheme books the link for Interests.

        Names that bring nothing book nothing. Others keep their service.
        """
        self.keep(
            lambda router: router.attack("interests", prefix="/victim", lifetime_ms=500, rate=400),
            link={"rate_in": _service.RATE},
        )

    def test_names_without_a_route(self):
        """Interests below no route, from one port and from 200. Others keep their service."""

        def attack(router):
            for ports in (1, 200):
                router.attack(
                    "interests", prefix="/nowhere", lifetime_ms=4000, rate=RATE / 2, ports=ports
                )

        self.keep(attack)

    def test_unsolicited_data(self):
        """Data that nothing asked for, also below the victim's prefix. None is kept."""

        def after(router):
            store = router.daemon.status()["content_store"]
            # The victim's segments of 8,000 bytes, their manifest and metadata.
            self.assertLess(
                store["entries"], _service.SIZE // 8000 + 50, "unsolicited Data is kept"
            )
            return f"{store['entries']} in the store"

        self.keep(lambda router: router.attack("unsolicited_data", rate=RATE, ports=20), after)

    def test_unsolicited_nacks(self):
        """Nacks for what was not asked, also below the victim's prefix. Others keep theirs."""
        self.keep(lambda router: router.attack("unsolicited_nacks", rate=RATE, ports=20))


class Connections(_service.Kept):
    """Connections that cost their maker nothing."""

    def connect(self, mode, rate=1500, total=1700, port=6363, **about):
        """Connections of one mode, from the attacker's host."""
        return lambda router: router.attack(
            "connections", mode=mode, rate=rate, total=total, port=port, **about
        )

    def test_5000_tcp_connections(self):
        """5,100 connects: a third silent, a third with half a packet, a third closed at once.

        Others keep their service, and a new connection is still accepted by the router.
        """

        def attack(router):
            for mode in ("silent", "half", "closed"):
                self.connect(mode, rate=800)(router)

        def after(router):
            faces = router.daemon.status()["faces"]
            count = sum(1 for face in faces if face["uri"].startswith("tcp"))
            self.assertLessEqual(count, 256, "more connections than [on_demand] max")
            return f"{count} TCP faces"

        self.keep(attack, after)

    def test_websocket_handshakes_never_finished(self):
        """2,000 handshakes without their end on the WebSocket port. Others keep their service."""
        self.keep(self.connect("web", port=9696, total=2000), listen={"websocket": 9696})

    @_service.default_only("with 32 MB, so many faces leave each too little for a segment")
    def test_silent_applications(self):
        """1,500 connections of a local program, silent or with half a packet: more than may be.

        Others keep their service, and a new application still finds the router.
        """

        def attack(router):
            for mode in ("silent", "half"):
                self.connect(mode, total=750, local=True)(router)

        self.keep(attack)

    def test_applications_that_never_read(self):
        """60 applications that ask for the status 3,000 times a second and never read it."""
        self.keep(
            lambda router: router.attack(
                "never_read", readers=60, rate=3000, name="/localhost/nfd/status/general"
            )
        )

    def test_slow_readers_and_writers(self):
        """100 applications and peers that send and read an byte at a time. Others keep theirs."""
        self.keep(
            lambda router: router.attack(
                "a_byte_at_a_time",
                connections=100,
                rate=2000,
                name="/localhost/nfd/status/general",
            )
        )
