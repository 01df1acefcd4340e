"""Measures transfers between every two programs, of objects as they are published by default and of
such whose every segment is signed; writes the tables of docs/reference/interop.md."""

import os
import sys
import tempfile
from pathlib import Path

from clients import NDNTS, Client, clients
from keys import KINDS, PYTHON, Keys, way
from support import content, weir
from support.children import Failed

PAGE = weir.ROOT / "docs/reference/interop.md"
RUNS = 3


def cell(publisher, consumer, daemon, file, prefix="/demo"):
    """The result of a transfer: the median of the goodputs, or that there is none."""
    digest, rates = content.sha256(file), []
    for run in range(RUNS):
        # Another name each time, so that no run is helped by what the one before left behind.
        name = f"{prefix}/{publisher.name}/{consumer.name}/{run}"
        copy = daemon.folder / "copy"
        copy.unlink(missing_ok=True)
        with publisher.publishing(daemon, name, file):
            try:
                seconds = consumer.get(daemon, name, copy, 120)
            except Failed as failed:
                print(f"{publisher.name} to {consumer.name}: {failed}"[:200], file=sys.stderr)
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


def signing(keys):
    """Kinds, who signs and who verifies by the same key, and what the names begin with."""
    program, folder = keys.program, keys.folder
    fetch = [program, "get", "NAME", "-o", "FILE", "--socket", "@", "--quiet", "--trust"]
    for kind in KINDS:
        prefix, trusted = f"/site/{kind}", keys.trusted(kind)
        put = [program, "put", "NAME", "FILE", "--socket", "@", "--sign", prefix, "--sign-segments"]
        own = Client("weir", put, prefix, [*fetch, trusted])
        python = [*PYTHON, "fetch", "NAME", "FILE", way(kind), trusted]
        ndnts = [*NDNTS, "@", "fetch", "NAME", "FILE", trusted, kind]
        others = [Client("python-ndn", [], "", python), Client("NDNts", [], "", ndnts)]
        for consumer in (own, *others):
            yield kind, own, consumer, prefix
        trusted = trusted if kind == "hmac" else folder / f"ndnts-{kind}.cert"
        serve = [*NDNTS, "@", "serve", "NAME", "FILE", trusted, kind]
        own = Client("weir", [], "", [*fetch, trusted])
        yield kind, Client("NDNts", serve, "/8=site", []), own, prefix
    for kind, prefix, how, signer, trusted in keys.of_python():
        serve = [*PYTHON, "serve", "NAME", "FILE", how, signer]
        own = Client("weir", [], "", [*fetch, trusted])
        yield kind, Client("python-ndn", serve, "serving", []), own, prefix


def signed_rows(keys, daemon, file):
    """The rows of the other table: by publisher and consumer, a column for each kind of key."""
    yield ["signed by", "verified by", "ECDSA", "RSA", "Ed25519", "HMAC"]
    yield [":---", ":---", *("---:" for _ in KINDS)]
    cells = {}
    for kind, publisher, consumer, prefix in signing(keys):
        row = cells.setdefault((publisher.name, consumer.name), {})
        row[kind] = cell(publisher, consumer, daemon, file, prefix)
    for names, row in cells.items():
        yield [*names, *(row[kind] for kind in KINDS)]


def write(which, rows):
    """Print a table, and put it where its marks are on the page."""
    begin, end = f"<!-- table: {which} -->\n", f"<!-- end of table: {which} -->\n"
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    print(table)
    before, rest = PAGE.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")


def main(megabytes=20):
    """Measure, print, and write."""
    program = weir.program("release")
    with tempfile.TemporaryDirectory(prefix="weir-interop-") as folder:
        place = Path(folder)
        daemon = weir.Daemon(program, place, "node", listen={"udp": "off", "tcp": "off"})
        os.environ["NDN_CLIENT_TRANSPORT"] = f"unix://{daemon.socket}"
        os.environ["HOME"], os.environ["WEIR_HOME"] = folder, str(place / "weir")
        size = int(megabytes) * content.MEGABYTE
        with daemon:
            write("transfers", rows(daemon, content.make(place / "file", size)))
            file = content.make(place / "quarter", size // 4)
            write("signed", signed_rows(Keys(program, place), daemon, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
