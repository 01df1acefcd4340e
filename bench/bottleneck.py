"""A router of the kernel's own in a third namespace: a token bucket of 40 Mbit/s and its buffer."""

import statistics
from contextlib import contextmanager

import peers
from experiment import MEGABIT, attempt
from support import namespaces
from support.children import Failed
from table import Table
from transfer import fetch, published

RATE = 40_000_000
BUFFERS = (150_000, 1_500_000)
# A frame of 1500 bytes has 66 bytes of overhead. Segments of 8400 bytes fill six frames; segments
# of 8000 (the default of `weir put`, because every other tool accepts them) carry 0.3 % less.
SEGMENTS = (8400, 8000)
# At the bottleneck's rate a transfer takes four seconds.
PATIENCE = 60


def measure(lab):
    """Ten transfers per buffer, with HTTP for comparison."""
    runs, size = lab.runs(10), lab.size(20)
    table = Table(
        f"{size // 1_000_000} MB through a token bucket of 40 Mbit/s, {runs} runs each",
        "",
        "least Mbit/s",
        "median Mbit/s",
        "most Mbit/s",
        "sent twice %, most",
        "failed",
    )
    for buffer in BUFFERS:
        for segment in SEGMENTS:
            label = f"weir, {buffer // 1000} kB of buffer, segments of {segment}"
            with attempt(table, label):
                add_row(table, label, *collect(runs, lambda: one(lab, buffer, size, segment)))
        label = f"curl from nginx, {buffer // 1000} kB"
        with attempt(table, label):
            add_row(table, label, *collect(lab.runs(3), lambda: by_http(lab, buffer, size)))


@contextmanager
def routed(buffer):
    """consumer -- router -- producer, with the bucket on both of the router's interfaces.

    Gives the consumer's host, the producer's, and the producer's address.
    """
    with namespaces.Network() as network:
        near, router, far = map(network.host, ("consumer", "router", "producer"))
        to_near, to_far = network.cable(near, router), network.cable(router, far)
        router.forward_ip()
        for interface in router.interfaces:
            router.shape(interface, RATE, buffer)
        near.run("ip", "route", "add", "default", "via", to_near.addresses[1])
        far.run("ip", "route", "add", "default", "via", to_far.addresses[0])
        yield near, far, to_far.addresses[1]


def one(lab, buffer, size, segment):
    """One transfer between fresh daemons: its rate and the share of segments sent twice."""
    file, cut = lab.content("bottleneck", size), ("--segment-size", f"{segment} B")
    with routed(buffer) as (near, far, address):
        towards = [("far", f"udp4://{address}:6363")]
        consumer = lab.daemon("near", host=near, faces=towards, routes=[("/bench", "far")])
        producer = lab.daemon("far", host=far)
        with producer, consumer, published(producer, "/bench/file", file, cut) as thing:
            done = fetch(thing, [consumer, producer], lab.folder, PATIENCE)
    return done.rate, done.sent_twice


def by_http(lab, buffer, size):
    """The same file by curl from nginx across the same router."""
    file = lab.content("bottleneck", size)
    target, log = lab.folder / "by-http", lab.folder / "curl.log"
    with routed(buffer) as (near, far, address):
        with peers.Nginx(lab.folder, address, far.command) as nginx:
            child = nginx.fetch(file.name, target, log, PATIENCE, near.command)
    target.unlink()
    return size * 8 / child.seconds, None


def collect(runs, run_once):
    """The results of all runs, the number of failures, and why the last one failed."""
    results, failures, reason = [], 0, None
    for _ in range(runs):
        try:
            results.append(run_once())
        except Failed as error:
            failures, reason = failures + 1, error
    if not results:
        raise reason
    return results, failures, reason


def add_row(table, label, results, failures, reason):
    """Least, median and most of the runs."""
    rates = [rate / MEGABIT for rate, _ in results]
    twice = [share * 100 for _, share in results if share is not None]
    worst = max(twice) if twice else None
    table.row(label, min(rates), statistics.median(rates), max(rates), worst, failures)
    if reason:
        table.note(f"last failure: {reason}")
