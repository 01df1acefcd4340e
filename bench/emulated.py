"""A link that the daemons emulate themselves: delay, loss, and a bottleneck or none."""

import statistics

from experiment import MEGABIT, attempt
from support import namespaces
from table import Table
from transfer import fetch, published

DELAYS = (5, 25, 50)
LOSSES = (0, 1, 5)
BOTTLENECKS = (("50 Mbit/s, 200 kB", {"rate": "50 Mbit/s", "queue": "200 kB"}), ("none", {}))
# A packet of 8 kB is one frame, so a loss of 1 % applies to packets, as in the measurement of the
# peers. With fragments of 1500 bytes it would be six times as much.
MTU = 9000
# A tenth of the bottleneck's rate would still be in time.
PATIENCE = 60


def measure(lab):
    """Every combination: the median of some transfers, and the slowest."""
    runs, size = lab.runs(3), lab.size(20)
    table = Table(
        f"{size // 1_000_000} MB across an emulated link, {runs} runs; delay and loss each way",
        "delay, loss, bottleneck",
        "median Mbit/s",
        "least Mbit/s",
        "sent twice %",
        "consumer CPU s",
    )
    for name, limits in BOTTLENECKS:
        for delay in DELAYS:
            for loss in LOSSES:
                label = f"{delay} ms, {loss} %, {name}"
                link = {"delay": f"{delay} ms", "loss": f"{loss} %", "mtu": 8900, **limits}
                with attempt(table, label):
                    done = [transfer(lab, link, size) for _ in range(runs)]
                    rates = [one.rate / MEGABIT for one in done]
                    twice = statistics.median(one.sent_twice * 100 for one in done)
                    cpu = statistics.median(one.consumer.cpu_seconds for one in done)
                    table.row(label, statistics.median(rates), min(rates), twice, cpu)


def transfer(lab, link, size):
    """One object across one such link, between fresh daemons."""
    with namespaces.Network() as network:
        near, far = network.host("consumer"), network.host("producer")
        cable = network.cable(near, far, mtu=MTU)
        back, forth = (f"udp4://{address}:6363" for address in cable.addresses)
        # Each names the other, so that each end's face emulates its own direction.
        consumer = lab.daemon(
            "near", host=near, faces=[("far", forth, link)], routes=[("/bench", "far")]
        )
        producer = lab.daemon("far", host=far, faces=[("near", back, link)])
        with producer, consumer, published(
            producer, "/bench/file", lab.content("emulated", size)
        ) as thing:
            return fetch(thing, [consumer, producer], lab.folder, PATIENCE)
