"""Ports of this host."""

import socket


def free_port():
    """A TCP port of the loopback interface that no program has at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
