#!/usr/bin/env python3
"""Writes what crates/security/tests reads: keys, certificates, packets and models of python-ndn.

    vectors.py

Keys are new each time, so that files differ from one run to the next, and the tests must pass with
any of them.
"""

import base64
import pathlib
import sqlite3
import tempfile
import textwrap

from Cryptodome.PublicKey import ECC, RSA
from ndn.app_support.light_versec import compile_lvs
from ndn.app_support.security_v2 import self_sign
from ndn.encoding import MetaInfo, make_data
from ndn.security import KeychainSqlite3, TpmFile
from ndn.security.signer import HmacSha256Signer, Sha256WithEcdsaSigner, Sha256WithRsaSigner

FOLDER = pathlib.Path(__file__).parents[3] / "crates/security/tests/python-ndn"

MODEL = r"""
#site: "blog"
#root: #site/#KEY
#article: #site/"article"/author/post/_ & {post: $eq_type("v=0")} <= #author
#author: #site/"author"/author/#KEY & { author: "ann" | "ben" } <= #admin
#admin: #site/"admin"/_/#KEY <= #root
#KEY: "KEY"/_/_/_
"""

# It calls a function that only its own program knows.
FUNCTION = r"""
#a: "a"/x & {x: $mine()} <= #b
#b: "b"/_
"""


def write(name, data):
    """Writes bytes in base64."""
    text = base64.b64encode(bytes(data)).decode()
    (FOLDER / f"{name}.b64").write_text("\n".join(textwrap.wrap(text, 76)) + "\n")


def write_key(name, old, pkcs8, spki, signer):
    """Writes a key in all forms, a certificate of it and a packet signed by it."""
    write(f"{name}_pkcs8", pkcs8)
    write(f"{name}_{'pkcs1' if name == 'rsa' else 'sec1'}", old)
    write(f"{name}_spki", spki)
    write(f"cert_{name}", self_sign(f"/py/KEY/{name}", spki, signer)[1])
    write_packet(name, signer)


def write_packet(name, signer):
    """Writes a packet."""
    meta = MetaInfo(freshness_period=1000)
    write(f"data_{name}", make_data(f"/py/file/{name}", meta, b"hello", signer))


def write_table(folder):
    """Writes a database whose pages are small, so that its table is a tree with levels."""
    path = folder / "table.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 512")
    columns = "id INTEGER PRIMARY KEY, name TEXT, long BLOB, number INTEGER, real REAL"
    database.execute(f"CREATE TABLE things({columns})")
    for i in range(300):
        row = (
            f"row {i}",
            bytes([i % 256]) * (i * 7 if i % 50 == 0 else 3),
            (i - 150) ** 3 * 1_000_003,
            i + 0.5,
        )
        database.execute("INSERT INTO things(name, long, number, real) VALUES(?, ?, ?, ?)", row)
    database.commit()
    database.close()
    write("table", path.read_bytes())


def write_chain(folder):
    """Writes a key chain of two identities, and the files of their secrets."""
    path, secrets = folder / "pib.db", folder / "tpm"
    secrets.mkdir()
    KeychainSqlite3.initialize(str(path), "tpm-file", str(secrets))
    chain = KeychainSqlite3(str(path), TpmFile(str(secrets)))
    for kind in ("rsa", "ec"):
        before = set(secrets.iterdir())
        chain.new_key(chain.new_identity(f"/py/{kind}").name, key_type=kind)
        (secret,) = set(secrets.iterdir()) - before
        write(f"tpm_{kind}", base64.b64decode(secret.read_bytes()))
    chain.set_default_identity("/py/ec")
    chain.shutdown()
    write("pib", path.read_bytes())


def main():
    """Writes all of it."""
    FOLDER.mkdir(exist_ok=True)
    rsa, ec = RSA.generate(2048), ECC.generate(curve="P-256")
    old = rsa.export_key(format="DER", pkcs=1)
    spki = rsa.public_key().export_key(format="DER")
    signer = Sha256WithRsaSigner("/py/KEY/rsa", old)
    write_key("rsa", old, rsa.export_key(format="DER", pkcs=8), spki, signer)
    old = ec.export_key(format="DER", use_pkcs8=False)
    spki = ec.public_key().export_key(format="DER")
    signer = Sha256WithEcdsaSigner("/py/KEY/ec", old)
    write_key("ec", old, ec.export_key(format="DER", use_pkcs8=True), spki, signer)
    write_packet("hmac", HmacSha256Signer("/py/KEY/hmac", bytes(range(32))))
    write("model", compile_lvs(MODEL).encode())
    write("function", compile_lvs(FUNCTION).encode())
    with tempfile.TemporaryDirectory() as folder:
        write_table(pathlib.Path(folder))
        write_chain(pathlib.Path(folder))


if __name__ == "__main__":
    main()
