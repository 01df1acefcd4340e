"""Ports of this host."""

import socket


def free_port(kind=socket.SOCK_STREAM):
    """A TCP port of the loopback interface that no program has at the moment."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def free_udp_port():
    """The same for UDP."""
    return free_port(socket.SOCK_DGRAM)
