"""Hosts and cables inside this machine: network namespaces joined by veth pairs.

A namespace has no name that could be left behind: it lives as long as the process that holds it
open, and that one ends when its standard input closes, so that nothing remains however the caller
ends. Without the rights to make namespaces, a user namespace gives them (`ensure_rights`).
"""

import contextlib
import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

from .children import Failed, run

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000  # from <linux/sched.h>

# Where `ip` and `tc` are; a user's own path often leaves it out.
os.environ["PATH"] += ":/usr/sbin:/sbin"


class Host:
    """One namespace: a host with a loopback interface and the cables plugged into it."""

    def __init__(self, name):
        self.name = name
        self.interfaces = []
        self._holder = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if self._holder.stdout.readline() != b"ready\n":
            raise Failed(f"cannot make a network namespace for {name}")
        self.pid = self._holder.pid
        self.run("ip", "link", "set", "lo", "up")

    def command(self, *argv):
        """The command as it has to be started to run on this host."""
        return ["nsenter", "--target", str(self.pid), "--net", *map(str, argv)]

    def inside(self, work):
        """Call `work` in a thread on this host, and return what it returns.

        A socket stays on the host that it was made on, whichever thread uses it later.
        """
        outcome = []

        def enter():
            with open(f"/proc/{self.pid}/ns/net", "rb") as namespace:
                if LIBC.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                    outcome.append(Failed(f"cannot enter {self.name}: errno {ctypes.get_errno()}"))
                    return
            try:
                outcome.append(work())
            except OSError as error:
                outcome.append(error)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]

    def run(self, *argv):
        """Run a short command here to its end and return what it printed."""
        return run(self.command(*argv))

    def forward_ip(self, version=4):
        """Let the kernel pass IP packets on between this host's interfaces."""
        switch = "ipv6/conf/all/forwarding" if version == 6 else "ipv4/ip_forward"
        self.run("sh", "-c", f"echo 1 >/proc/sys/net/{switch}")

    def shape(self, interface, bits_per_second, limit_bytes, burst_bytes=15_000):
        """Send on the interface through a token bucket with a buffer of that many bytes.

        The bucket holds ten full packets: enough for the timer's grain at tens of megabits a
        second, too little to show in a transfer of a second.
        """
        rate = f"{bits_per_second}bit"
        bucket = ["burst", burst_bytes, "limit", limit_bytes]
        self.run("tc", "qdisc", "replace", "dev", interface, "root", "tbf", "rate", rate, *bucket)

    def receive_buffer_errors(self):
        """How many datagrams found their socket's buffer full since the host exists."""
        return self.counters("snmp", "Udp")["RcvbufErrors"]

    def counters(self, table, kind):
        """One kind of row of /proc/net/snmp (or snmp6's like), as the host sees it."""
        text = Path(f"/proc/{self.pid}/net/{table}").read_text(encoding="utf-8")
        rows = [line.split()[1:] for line in text.splitlines() if line.startswith(f"{kind}:")]
        names, values = rows
        return dict(zip(names, map(int, values)))

    def received_bytes(self, interface):
        """Bytes that have come in by the interface, link headers included."""
        text = Path(f"/proc/{self.pid}/net/dev").read_text(encoding="utf-8")
        for line in text.splitlines():
            name, _, numbers = line.partition(":")
            if name.strip() == interface:
                return int(numbers.split()[0])
        raise Failed(f"{self.name} has no interface {interface}")

    def close(self):
        """Let go of the namespace; the kernel takes it and its interfaces apart."""
        with contextlib.suppress(BrokenPipeError):
            self._holder.stdin.close()
        self._holder.wait()
        self._holder.stdout.close()


class Cable:
    """A veth pair between two hosts: each end's interface and address."""

    def __init__(self, interfaces, addresses):
        self.interfaces = interfaces
        self.addresses = addresses


class Network:
    """The hosts and cables of one experiment; gone when the `with` block ends."""

    def __init__(self):
        self._hosts = []
        self._cables = 0

    def host(self, name):
        """Make a host."""
        self._hosts.append(Host(name))
        return self._hosts[-1]

    def cable(self, near, far, mtu=1500, version=4):
        """Join two hosts. Addresses are given by the cable's number: 10.77.N.1 and .2."""
        number = self._cables
        self._cables += 1
        cable = Cable(
            tuple(f"{near.name[:6]}-{far.name[:6]}{end}" for end in (1, 2)),
            tuple(address(version, number, end) for end in (1, 2)),
        )
        here, there = cable.interfaces
        pair = ["type", "veth", "peer", "name", there, "netns", far.pid]
        near.run("ip", "link", "add", here, *pair)
        for host, interface, own in zip((near, far), cable.interfaces, cable.addresses):
            # No wait for a duplicate address: both ends are ours.
            how = ["nodad"] if version == 6 else []
            length = 64 if version == 6 else 24
            host.run("ip", "address", "add", f"{own}/{length}", "dev", interface, *how)
            host.run("ip", "link", "set", interface, "mtu", mtu, "up")
            host.interfaces.append(interface)
        return cable

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self._hosts:
            host.close()


def address(version, number, end):
    """The address of one end of a cable."""
    return f"fd77:{number:x}::{end}" if version == 6 else f"10.77.{number}.{end}"


def has_ipv6():
    """True if this kernel has IPv6 and lets new namespaces use it."""
    switch = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    return switch.exists() and switch.read_text(encoding="utf-8").strip() == "0"


def ensure_rights():
    """Return if namespaces can be made; else start this program again in a user namespace.

    Returns False if the system allows neither.
    """
    probe = ["unshare", "--net", "true"]
    as_root = ["unshare", "--user", "--map-root-user"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return True
    if subprocess.run(as_root + probe, capture_output=True, check=False).returncode == 0:
        sys.stdout.flush()
        os.execvp("unshare", as_root + [sys.executable, *sys.argv])
    return False
