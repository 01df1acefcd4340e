"""Two hosts joined by a veth pair with an MTU of 1500: a forwarder on each, default buffers."""

from experiment import GIGABIT, MEGABYTE, attempt
from support import namespaces, weir
from table import Table
from transfer import fetch, published

PATIENCE = 600


def measure(lab):
    """UDP and TCP, the small file and the large one."""
    table = Table(
        "Two forwarders, veth, MTU 1500, socket buffers of 212992 bytes",
        "",
        "Gbit/s",
        "CPU s of each",
        "sent twice %",
        "buffer errors",
    )
    for scheme, megabytes in (("udp4", 100), ("udp4", 1000), ("tcp4", 100), ("tcp4", 1000)):
        size = lab.size(megabytes)
        label = f"{scheme}, {size // MEGABYTE} MB"
        with attempt(table, label):
            transfer(lab, table, label, scheme, size)
    table.note("CPU seconds: producer, its forwarder, the consumer's forwarder, consumer")


def transfer(lab, table, label, scheme, size):
    """One object between new daemons, so that no store has cached it."""
    with namespaces.Network() as network:
        near, far = network.host("consumer"), network.host("producer")
        cable = network.cable(near, far)
        listen = {"receive_buffer": weir.DEFAULT_SOCKET_BUFFER}
        towards = [("far", f"{scheme}://{cable.addresses[1]}:6363")]
        route = [("/bench", "far")]
        consumer = lab.daemon("near", host=near, faces=towards, routes=route, listen=listen)
        producer = lab.daemon("far", host=far, listen=listen)
        with producer, consumer:
            path = lab.content(f"{size // MEGABYTE}-MB", size)
            with published(producer, "/bench/file", path) as thing:
                done = fetch(thing, [consumer, producer], lab.folder, PATIENCE)
        errors = near.receive_buffer_errors() + far.receive_buffer_errors()
    used = (done.producer, *reversed(done.forwarders), done.consumer)
    cpu = ", ".join(f"{each.cpu_seconds:.1f}" for each in used)
    table.row(label, done.rate / GIGABIT, cpu, done.sent_twice * 100, errors)
