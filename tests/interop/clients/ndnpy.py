"""python-ndn's library as a command: what the tests have it do with signed objects.

    ndnpy.py serve NAME FILE KIND KEY   publish a file, each segment signed by that key
    ndnpy.py fetch NAME FILE KIND KEY   fetch a file, each segment verified by that key

The forwarder is what NDN_CLIENT_TRANSPORT says. KEY is, of the kind `chain`, an identity of its key
chain to sign with, and the file of the certificate that is trusted for itself to verify with:
those below it are fetched, by ECDSA or RSA, as its own validator does. Of the kind `ed25519`, which
neither its key chain nor that validator has, it is the file of a secret as Weir has it, and that of
the certificate alone; of the kind `hmac` that of a shared key as Weir has it.
"""

import base64
import re
import sys
from pathlib import Path

from ndn.app import NDNApp
from ndn.app_support.segment_fetcher import segment_fetcher
from ndn.encoding import Component, Name
from ndn.security import (
    Ed25519Checker,
    Ed25519Signer,
    HmacChecker,
    HmacSha256Signer,
    KeychainDigest,
)
from ndn.security.validator.cascade_validator import CascadeChecker, MemoryKeyStorage
from ndn.types import InterestNack, InterestTimeout, ValidationFailure

SEGMENT = 8000
VERSION = 7
# The error. A task of the library's loop cannot end the program.
outcome = []


def secret_of(path):
    """The name and the bytes in the file of a key."""
    text = Path(path).read_text(encoding="utf-8")
    line, secret = re.search(r"^Name: (\S+)$.*KEY-----$(.*?)^-----END", text, re.M | re.S).groups()
    return line, base64.b64decode(secret)


def checker(app, kind, key):
    """The checker of segments."""
    if kind == "hmac":
        return HmacChecker.from_key(*secret_of(key))
    certificate = base64.b64decode(Path(key).read_bytes())
    if kind == "chain":
        return CascadeChecker(app, certificate, MemoryKeyStorage())
    return Ed25519Checker.from_cert(certificate)


async def fetch(app, name, file, kind, key):
    """Write what comes, if all of it is verified; what went wrong otherwise."""
    parts, judge = [], checker(app, kind, key)
    try:
        async for part in segment_fetcher(app, name, validator=judge):
            parts.append(bytes(part))
        Path(file).write_bytes(b"".join(parts))
    except ValidationFailure as failure:
        outcome.append(f"not verified: {Name.to_str(failure.name)}")
    except (InterestNack, InterestTimeout) as failure:
        outcome.append(f"not there: {failure!r}")
    app.shutdown()


async def serve(app, name, file, kind, key):
    """Answer for the segments, and for the certificate that they name."""
    known = {"hmac": HmacSha256Signer, "ed25519": Ed25519Signer}
    signing = known[kind](*secret_of(key)) if kind in known else None
    signer = signing or app.keychain.get_signer({"identity": key})
    content = Path(file).read_bytes()
    chunks = [content[at : at + SEGMENT] for at in range(0, len(content), SEGMENT)]
    object_name = [*Name.normalize(name), Component.from_version(VERSION)]
    about = {"freshness_period": 10_000, "final_block_id": Component.from_segment(len(chunks) - 1)}
    packets = {}
    for number, chunk in enumerate(chunks):
        segment = [*object_name, Component.from_segment(number)]
        packets[Name.to_bytes(segment)] = app.prepare_data(segment, chunk, signer=signer, **about)
    if not signing:
        certificate = app.keychain[key].default_key().default_cert()
        packets[Name.to_bytes(certificate.name)] = bytes(certificate.data)

    def answer(asked, parameters, _):
        exact = packets.get(Name.to_bytes(asked))
        first = Name.is_prefix(asked, object_name) and parameters.can_be_prefix
        begun = next(iter(packets.values())) if first else None
        for packet in filter(None, [exact or begun or below(asked, parameters)]):
            app.put_raw_packet(packet)

    def below(asked, parameters):
        """A KeyLocator names a key, and not which certificate of it."""
        of_key = (wire for known, wire in packets.items() if of(asked, known))
        return next(of_key, None) if parameters.can_be_prefix else None

    def of(asked, known):
        return Name.is_prefix(asked, Name.from_bytes(known))

    await app.register(name, answer)
    if not signing:
        await app.register(Name.to_str(app.keychain[key].default_key().name), answer)
    print(f"serving {name}", flush=True)


def main(verb, *words):
    """Run until it is done, or killed."""
    # Only who signs by the key chain has one.
    app = NDNApp() if verb == "serve" and "chain" in words else NDNApp(keychain=KeychainDigest())
    app.run_forever(after_start={"serve": serve, "fetch": fetch}[verb](app, *words))
    return outcome[0] if outcome else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
