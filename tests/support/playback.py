"""The network of the CCNx testbed's video (scenarios/ccnx-testbed/playback.toml), for players.

    PC1 ~~~ CCNx3 --- CCNx2 --- CCNx1 --- CS
    PC2 ~~~ /

A host for each node, a daemon on each, links that the daemons' faces emulate.
"""

from . import namespaces, weir
from .children import Child, wait_until
from .stage import Stage

ROUTERS = ["CCNx3", "CCNx2", "CCNx1"]
PLAYERS = ["PC1", "PC2"]
SOURCE = "CS"
NAME = "/content/video.webm"
WIRED = {"rate": "100 Mbit/s", "delay": "4 ms"}


class Playback(Stage):
    """The network with a published film, and a gateway at each player; gone with the block."""

    def __init__(self, program, folder, film, wireless="20 Mbit/s"):
        super().__init__()
        self._program, self._folder, self._film = program, folder, film
        self._wireless = {**WIRED, "rate": wireless}
        self.nodes = {}

    def __getitem__(self, name):
        return self.nodes[name]

    def _build(self):
        network = self.enter_context(namespaces.Network())
        for name in [*PLAYERS, *ROUTERS, SOURCE]:
            host = network.host(name)
            store = {"capacity": "0 B" if name in PLAYERS else "16 MB"}
            daemon = weir.Daemon(self._program, self._folder, name, host=host, store=store)
            self.nodes[name] = daemon
        for player in PLAYERS:
            self._link(network, player, ROUTERS[0], self._wireless)
        for near, far in zip(ROUTERS, [*ROUTERS[1:], SOURCE]):
            self._link(network, near, far, WIRED)
        for daemon in self.nodes.values():
            self.enter_context(daemon)
        options = ["--segment-size", "4096 B"]
        self.enter_context(self[SOURCE].put(NAME, self._film, options=options))
        for player in PLAYERS:
            self._gateway(self[player])

    def _link(self, network, near, far, link):
        """Between two daemons; what is published is behind the far one."""
        cable = network.cable(self[near].host, self[far].host, mtu=9000)
        here, there = (f"udp4://{address}:6363" for address in cable.addresses)
        link = {"mtu": 8900, **link}
        self[near].faces.append((far, there, link))
        self[near].routes.append(("/content", far))
        self[far].faces.append((near, here, link))
        if near == ROUTERS[0]:
            self._upstream = self[near].host, cable.interfaces[0]

    def _gateway(self, node):
        log = self._folder / f"{node.name}-gateway.log"
        log.unlink(missing_ok=True)
        argv = [self._program, "gateway", "--prefix", NAME, "--socket", node.socket]
        argv = node.command(*argv)
        self.enter_context(Child(argv, log))
        wait_until(lambda: "listening" in log.read_text(encoding="utf-8"), "a gateway to listen")

    def copies(self):
        """The traffic of the routers so far, in copies of the film."""
        host, interface = self._upstream
        return host.received_bytes(interface) / self._film.stat().st_size
