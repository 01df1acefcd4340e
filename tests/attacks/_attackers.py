"""Attackers, each in a process of its own.

    _attackers.py KIND '{"address": …, "socket": …}'

Says `begun` when it is under way, goes on until its total is reached, holds open what it has opened
until it is ended (SIGTERM), and then says what it sent, as JSON. All rates and totals are bounded,
and all dice have seeds: a run is the same on every machine that is fast enough for it.
"""

import collections
import contextlib
import itertools
import json
import random
import resource
import signal
import socket
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import _malformed  # noqa: E402
import _packets  # noqa: E402
import _producers  # noqa: E402

PORT = 6363
# How long an attack lasts at its rate: longer than the victim's transfer takes.
SECONDS = 6
# The part of that after which the victim begins.
LEAD = 0.15
TICK = 0.005
# An attacker skips a larger backlog: the rate is a limit, not a mean.
MOST_BEHIND = 4 * TICK
# Malformed packets that are not alike.
DIFFERENT = 1000
IGNORED = (BlockingIOError, ConnectionError, TimeoutError)

SENT = collections.Counter()


def paced(rate, total=None, lead=LEAD):
    """Numbers from 0, `rate` per second; says `begun` when the `lead` of them is over."""
    total = total or int(rate * SECONDS)
    begun, number = time.monotonic(), 0
    while number < total:
        due = begun + number / rate
        late = time.monotonic() - due
        if late < 0:
            time.sleep(max(TICK, -late))
        elif late > MOST_BEHIND:
            begun += late - MOST_BEHIND
        if number == int(total * lead):
            print("begun", flush=True)
        yield number
        number += 1


def datagrams(address, ports=1, port=PORT):
    """Sockets of as many source ports."""
    sockets = []
    for _ in range(ports):
        sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sockets[-1].connect((address, port))
        sockets[-1].setblocking(False)
    return sockets


def flood(about, packets, what):
    """Send one packet after the other, from one port or from many in turn."""
    sockets = datagrams(about["address"], about.get("ports", 1))
    for number in paced(about["rate"], about.get("total"), about.get("lead", LEAD)):
        with contextlib.suppress(*IGNORED):
            sockets[number % len(sockets)].send(packets(number))
            SENT[what] += 1


def interests(about):
    """Interests for names that nothing answers, all different."""
    prefix, lifetime = _packets.uri(about["prefix"]), about["lifetime_ms"]
    what = f"Interests for {about['prefix']} from {about.get('ports', 1)} ports"

    def packet(number):
        return _packets.interest(prefix + _packets.uri(f"/{number}"), number, lifetime)

    flood(about, packet, what)


def unsolicited_data(about):
    """Data that nothing asked for, below the victim's prefix and elsewhere."""
    prefixes = [_packets.uri(prefix) for prefix in ("/victim", "/other")]

    def packet(number):
        name = prefixes[number % 2] + _packets.uri(f"/{number}")
        return _packets.data(name, bytes(1000), fresh_ms=10_000)

    flood(about, packet, "unsolicited Data")


def unsolicited_nacks(about):
    """Nacks for what was not asked, with reasons known and unknown."""
    victim = _packets.uri("/victim")

    def packet(number):
        asked = _packets.interest(victim + _packets.uri(f"/{number}"), number)
        return _packets.nack(asked, (0, 50, 100, 150, 1 << 40)[number % 5])

    flood(about, packet, "unsolicited Nacks")


def half_opened():
    """The beginning of a packet that never ends."""
    return _packets.interest(_packets.uri("/victim/half"))[:-3]


def handshake(key="dGhlIHNhbXBsZSBub25jZQ=="):
    """A WebSocket's handshake without its end."""
    return (
        f"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nSec-WebSocket-Key: {key}\r\n".encode()
    )


FIRST_WORDS = {"silent": lambda: b"", "half": half_opened, "closed": half_opened, "web": handshake}


def connections(about):
    """TCP or Unix connections: silent ones, ones that begin something, ones closed at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 20_000)), hard))
    mode, kept = about["mode"], []
    for _ in paced(about["rate"], about["total"]):
        one = socket.socket(socket.AF_UNIX if about.get("local") else socket.AF_INET)
        one.settimeout(1)
        target = about["socket"] if about.get("local") else (about["address"], about["port"])
        with contextlib.suppress(*IGNORED):
            one.connect(target)
            SENT[f"connections ({mode})"] += 1
            one.send(FIRST_WORDS[mode]())
        if mode == "closed":
            one.close()
        else:
            kept.append(one)
    signal.pause()


def never_read(about):
    """Applications that ask for much and read none of it."""
    readers = []
    for _ in range(about["readers"]):
        readers.append(socket.socket(socket.AF_UNIX))
        readers[-1].connect(about["socket"])
        readers[-1].setblocking(False)
    name = _packets.uri(about["name"])
    for number in paced(about["rate"]):
        asked = _packets.interest(name, number, 1000, _packets.ANY_FRESH)
        with contextlib.suppress(*IGNORED):
            readers[number % len(readers)].send(asked)
            SENT[f"Interests of {len(readers)} that never read"] += 1
    signal.pause()


def a_byte_at_a_time(about):
    """Applications and peers that write, and read, one byte after the other."""
    name = _packets.uri(about["name"])
    asked = [_packets.interest(name, n, 4000, _packets.ANY_FRESH) for n in range(64)]
    slow = []
    for n in range(about["connections"]):
        local = n % 2
        slow.append(socket.socket(socket.AF_UNIX if local else socket.AF_INET))
        slow[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow[-1].connect(about["socket"] if local else (about["address"], PORT))
        slow[-1].setblocking(False)
        with contextlib.suppress(*IGNORED):
            slow[-1].send(b"".join(asked))
    places = [0] * len(slow)
    for number in paced(about["rate"]):
        at = number % len(slow)
        byte = asked[0][places[at] % len(asked[0])]
        with contextlib.suppress(*IGNORED):
            slow[at].send(bytes([byte]))
            places[at] += 1
            SENT["bytes one at a time"] += 1
        with contextlib.suppress(*IGNORED):
            slow[at].recv(1)
    signal.pause()


def silent(about):
    """A neighbour that understands ranges and options, says so, and never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("0.0.0.0", about["port"]))
        bound.sendto(_malformed.CAPABILITY, (about["address"], PORT))
        print("begun", flush=True)
        signal.pause()


def malformed(about):
    """Packets that follow no format, over UDP or one TCP connection after the other."""
    made = _malformed.packets(random.Random(about["seed"]), about["forms"])
    # Made before they are sent: it takes longer than sending them.
    packets = itertools.cycle(list(itertools.islice(made, DIFFERENT)))
    what = f"packets ({' '.join(about['forms'])})"
    if not about.get("stream"):
        return flood(about, lambda _: next(packets), what)
    one = None
    for _ in paced(about["rate"]):
        with contextlib.suppress(*IGNORED):
            one = one or socket.create_connection((about["address"], PORT), timeout=1)
            try:
                one.send(next(packets))
                SENT[f"{what} over TCP"] += 1
            except IGNORED:
                one.close()
                one = None
    return None


def fragments(about):
    """Parts of packets of which the others never come, from many ports."""
    flood(about, lambda number: _malformed.lonely_fragment(number, about["ports"]), "fragments")


def contradicting(about):
    """Parts that overlap, are out of range or contradict each other."""
    dice = random.Random(about["seed"])
    flood(about, lambda _: _malformed.contradicting_fragment(dice), "contradicting fragments")


def colliding(about):
    """Interests that a hash without a secret would put into one place, over TCP."""
    packets = _malformed.COLLIDING[about["what"]](about["prefix"])
    with socket.create_connection((about["address"], PORT), timeout=5) as one:
        for _ in paced(about["rate"]):
            with contextlib.suppress(*IGNORED):
                one.send(next(packets))
                SENT[f"Interests with colliding {about['what']}"] += 1
        signal.pause()


def largest(about):
    """Names with as many components, and options as large, as a packet takes."""
    flood(
        about, lambda number: _malformed.largest(number, about["prefix"]), "packets of 8,800 bytes"
    )


def pollute(about):
    """Ask for what nothing else asks for: all of it is answered and kept."""
    prefix = _packets.uri(about["prefix"])

    def packet(number):
        return _packets.interest(prefix + _packets.uri(f"/{number}"), number, 2000)

    flood(about, packet, "Interests for unpopular Data")


def produce(about):
    """Answer what comes in by the router's face, in one of the hostile ways."""
    answer = getattr(_producers, about["how"])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("0.0.0.0", about["port"]))
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        print("begun", flush=True)
        while True:
            frame, peer = bound.recvfrom(65536)
            packet = _packets.inner(frame)
            if packet and packet[0] == _packets.INTEREST:
                for answered in answer(packet[1], about):
                    with contextlib.suppress(*IGNORED):
                        bound.sendto(answered, peer)
                        SENT[f"answers ({about['how']})"] += 1


def main(kind, about):
    """Attack until it is over or ended."""

    def end(*_):
        raise SystemExit

    signal.signal(signal.SIGTERM, end)
    try:
        globals()[kind](json.loads(about))
        signal.pause()
    finally:
        print(json.dumps(SENT), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
