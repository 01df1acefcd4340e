"""Measures transfers between every two programs; writes the table of docs/reference/interop.md."""

import os
import sys
import tempfile
from pathlib import Path

from clients import clients
from support import content, weir
from support.children import Failed

PAGE = weir.ROOT / "docs/reference/interop.md"
BEGIN, END = "<!-- table: transfers -->\n", "<!-- end of table: transfers -->\n"
RUNS = 3


def cell(publisher, consumer, daemon, file):
    """What comes of a transfer: the median of the goodputs, or that there is none."""
    digest, rates = content.sha256(file), []
    for run in range(RUNS):
        # Another name each time, so that no run is helped by what the one before left behind.
        name = f"/demo/{publisher.name}/{consumer.name}/{run}"
        copy = daemon.folder / "copy"
        copy.unlink(missing_ok=True)
        with publisher.publishing(daemon, name, file):
            try:
                seconds = consumer.get(daemon, name, copy, 120)
            except Failed as failed:
                print(f"{publisher.name} to {consumer.name}: {failed}", file=sys.stderr)
                return "no"
        if content.sha256(copy) != digest:
            print(f"{publisher.name} to {consumer.name}: another file", file=sys.stderr)
            return "damaged"
        rates.append(file.stat().st_size * 8e-6 / seconds)
    median = sorted(rates)[RUNS // 2]
    return f"{median:.0f}" if median >= 100 else f"{median:.3g}"


def rows(daemon, file):
    """The table's rows: by publisher, a column for each consumer."""
    known = clients(daemon.weir)
    yield ["published by", *(consumer.name for consumer in known)]
    yield [":---", *("---:" for _ in known)]
    for publisher in known:
        yield [publisher.name, *(cell(publisher, consumer, daemon, file) for consumer in known)]


def main(megabytes=20):
    """Measure, print, and write."""
    program = weir.program("release")
    with tempfile.TemporaryDirectory(prefix="weir-interop-") as folder:
        place = Path(folder)
        daemon = weir.Daemon(program, place, "node", listen={"udp": "off", "tcp": "off"})
        os.environ["NDN_CLIENT_TRANSPORT"] = f"unix://{daemon.socket}"
        os.environ["HOME"] = os.environ["WEIR_HOME"] = folder
        file = content.make(place / "file", int(megabytes) * content.MEGABYTE)
        with daemon:
            table = "".join(f"| {' | '.join(row)} |\n" for row in rows(daemon, file))
    print(table, end="")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
