"""How fast a daemon is managed: registrations, faces, a start with a large configuration."""

import hashlib
import socket
import struct
import threading
import time

from experiment import MEGABYTE, attempt
from support.children import Failed, memory_bytes
from support.ndn import tlv
from table import Table

PATIENCE = 120
# StatusCode 200, and the beginning of the StatusText: bytes that no digest has by chance.
SUCCESS = tlv(0x66, b"\xc8") + b"\x67"
FIRST_PORT = 20_000


def measure(lab):
    """Commands over one application's socket, and a start."""
    count = 1000 if lab.quick else 10_000
    commands(lab, count)
    start(lab, count)


def commands(lab, count):
    """Registrations and faces, as fast as one application can have them."""
    title = f"{count} commands over one Unix socket"
    table = Table(title, "", "a second", "resident MB, after", "kB for each")
    settings = {
        "listen": {"udp": "127.0.0.1:0", "tcp": "off"},
        "sections": {"application": {"routes": count}, "on_demand": {"max": count}},
    }
    register = [parameters(name=number) for number in range(count)]
    create = [parameters(port=FIRST_PORT + number) for number in range(count)]
    for verb, asked in (("rib/register", register), ("faces/create", create)):
        daemon = lab.daemon("managed", **settings)
        with attempt(table, verb), daemon:
            before = memory_bytes(daemon.process.pid, "VmRSS")
            seconds = exchange(daemon, [command(verb, value) for value in asked])
            after = memory_bytes(daemon.process.pid, "VmRSS")
            table.row(verb, count / seconds, after / MEGABYTE, (after - before) / count / 1000)


def start(lab, count):
    """From the beginning of the process until it takes applications."""
    table = Table("Start with a configuration", "", "seconds", "resident MB")
    faces = [(f"f{number}", f"udp4://127.0.0.1:{FIRST_PORT + number}") for number in range(count)]
    routes = [(f"/p/{number}", f"f{number % count}") for number in range(10 * count)]
    for label, what in (
        ("nothing", {}),
        (f"{count} faces, {10 * count} routes", {"faces": faces, "routes": routes}),
    ):
        daemon = lab.daemon("large", listen={"udp": "127.0.0.1:0", "tcp": "off"}, **what)
        began = time.monotonic()
        with attempt(table, label), daemon:
            seconds = time.monotonic() - began
            table.row(label, seconds, memory_bytes(daemon.process.pid, "VmRSS") / MEGABYTE)


def parameters(name=None, port=None):
    """ControlParameters of a route, or of a face."""
    if name is not None:
        return tlv(0x68, tlv(7, tlv(8, b"bench") + tlv(8, str(name).encode())))
    return tlv(0x68, tlv(0x72, f"udp4://127.0.0.1:{port}".encode()))


def command(verb, value, counter=iter(range(1 << 32))):
    """A command Interest, signed by a digest as applications of the host do."""
    number = next(counter)
    words = ["localhost", "nfd", *verb.split("/")]
    components = b"".join(tlv(8, word.encode()) for word in words) + tlv(8, value)
    fresh = tlv(0x26, struct.pack(">Q", number))
    fresh += tlv(0x28, struct.pack(">Q", time.time_ns() // 1_000_000))
    behind = tlv(0x24, b"") + tlv(0x2C, tlv(0x1B, b"\x00") + fresh)
    behind += tlv(0x2E, hashlib.sha256(components + behind).digest())
    name = tlv(7, components + tlv(2, hashlib.sha256(behind).digest()))
    return tlv(5, name + tlv(0x0A, struct.pack(">I", number)) + behind)


def exchange(daemon, asked):
    """Send commands and wait for as many successes; seconds that this took."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as application:
        application.connect(str(daemon.socket))
        application.settimeout(PATIENCE)
        sender = threading.Thread(target=application.sendall, args=[b"".join(asked)], daemon=True)
        began = time.monotonic()
        sender.start()
        succeeded, rest = 0, b""
        while succeeded < len(asked):
            came = application.recv(1 << 20)
            if not came:
                raise Failed(f"the daemon hung up after {succeeded} answers")
            rest += came
            succeeded += rest.count(SUCCESS)
            # Keeps a possible beginning of the next one.
            rest = rest[-(len(SUCCESS) - 1) :]
        return time.monotonic() - began
