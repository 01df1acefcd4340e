"""Three hosts in a row, a daemon on each: the stage on which the end-to-end tests play."""

import tempfile
from pathlib import Path

from support import namespaces, weir
from support.stage import Stage

MIDDLE = "middle"
ENDS = ("left", "right")


class Chain(Stage):
    """left -- middle -- right, joined by UDP faces over veth with an MTU of 1500.

    Names under /left lead to the left end, names under /right to the right one. The first cable
    speaks IPv4 and the second IPv6, where the kernel has it.
    """

    def __init__(self, store=None, rate=None):
        super().__init__()
        self._store = store or {}
        self._rate = rate

    def _build(self):
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="weir-")))
        network = self.enter_context(namespaces.Network())
        self.hosts = {name: network.host(name) for name in (ENDS[0], MIDDLE, ENDS[1])}
        self.daemons = {
            name: weir.Daemon(weir.program(), self.folder, name, host, store=self._store)
            for name, host in self.hosts.items()
        }
        versions = (4, 6 if namespaces.has_ipv6() else 4)
        for end, other, version in zip(ENDS, reversed(ENDS), versions):
            cable = network.cable(self.hosts[MIDDLE], self.hosts[end], version=version)
            if self._rate:
                for host, interface in zip((MIDDLE, end), cable.interfaces):
                    self.hosts[host].shape(interface, self._rate, limit_bytes=300_000)
            towards_end, towards_middle = (
                face_uri(version, cable.addresses[at]) for at in (1, 0)
            )
            self.daemons[MIDDLE].faces.append((end, towards_end))
            self.daemons[MIDDLE].routes.append((f"/{end}", end))
            self.daemons[end].faces.append((MIDDLE, towards_middle))
            self.daemons[end].routes.append((f"/{other}", MIDDLE))
        for daemon in self.daemons.values():
            self.enter_context(daemon)

    def received(self, name):
        """Bytes that have come in on the host's cables."""
        host = self.hosts[name]
        return sum(host.received_bytes(interface) for interface in host.interfaces)


def face_uri(version, address):
    """A UDP face's URI."""
    return f"udp6://[{address}]:6363" if version == 6 else f"udp4://{address}:6363"
