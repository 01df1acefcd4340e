"""Many small packets: exchanges per second, and the cost of one for the forwarder."""

from experiment import attempt
from table import Table
from transfer import fetch, published

SEGMENT = 64
PATIENCE = 300


def measure(lab):
    """An object of 64-byte segments through one forwarder on one host."""
    size = SEGMENT * (30_000 if lab.quick else 300_000)
    table = Table(
        f"{SEGMENT}-byte Data on one host, {size // SEGMENT} exchanges, verified",
        "",
        "thousand/s",
        "forwarder µs each",
        "producer µs each",
        "consumer µs each",
    )
    daemon = lab.daemon("one", listen={"udp": "off", "tcp": "off"})
    content = lab.content("small", size)
    # The second row shows the effect of range Interests. Its name is new to the content store.
    rows = {"weir": (), "weir, --range 32": ("--range", "32")}
    with daemon:
        for number, (label, options) in enumerate(rows.items()):
            name, sizes = f"/bench/small/{number}", ("--segment-size", f"{SEGMENT} B")
            with attempt(table, label), published(daemon, name, content, sizes) as thing:
                done = fetch(thing, [daemon], lab.folder, PATIENCE, options)
                costs = (done.forwarders[0], done.producer, done.consumer)
                each = [used.cpu_seconds / done.segments * 1e6 for used in costs]
                table.row(label, done.segments / done.seconds / 1000, *each)
