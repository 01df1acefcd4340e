"""The fields that python-ndn finds in a packet, in the form of the example `vectors`."""

import asyncio
from hashlib import sha256

from Cryptodome.PublicKey import ECC
from ndn.encoding import (
    Component,
    Name,
    SignatureType,
    parse_data,
    parse_interest,
    parse_lp_packet_v2,
)
from ndn.encoding.ndnlp_v2 import LpPacketValue
from ndn.security import (
    params_sha256_checker,
    sha256_digest_checker,
    verify_ecdsa,
    verify_ed25519,
    verify_hmac,
    verify_rsa,
)

PARAMETERS_DIGEST = Component.TYPE_PARAMETERS_SHA256
HMAC_KEY = b"\x5a" * 32
ED25519_KEY = ECC.construct(curve="Ed25519", seed=b"\x07" * 32)


def as_hex(wire):
    """Bytes in hexadecimal; None stays None."""
    return None if wire is None else bytes(wire).hex()


def component(encoded):
    """A component as type and value."""
    return [Component.get_type(encoded), as_hex(Component.get_value(encoded))]


def name(components):
    """The components of a name without a parameters digest."""
    return [component(c) for c in components if Component.get_type(c) != PARAMETERS_DIGEST]


def uri(components):
    """The text of a name, where all libraries agree on it: a component of periods only has three
    more by the specification, and python-ndn does not add them."""
    if any(not bytes(Component.get_value(c)).strip(b".") for c in components):
        return None
    return Name.to_str(components)


def parse_name(wire):
    """The components of the name of an Interest or Data."""
    read = parse_interest if wire[0] == 0x05 else parse_data
    return read(wire)[0]


def signature(pointers):
    """A signature, with the digest of what it covers."""
    info = pointers.signature_info
    if info is None:
        return None
    locator = info.key_locator
    key_name = name(locator.name) if locator and locator.name is not None else None
    covered = b"".join(bytes(piece) for piece in pointers.signature_covered_part)
    nonce = info.signature_nonce
    return {
        "type": info.signature_type,
        "key_name": key_name,
        "key_digest": as_hex(locator.key_digest) if locator else None,
        "nonce": None if nonce is None else nonce.to_bytes(8, "big").hex(),
        "time": info.signature_time,
        "sequence": info.signature_seq_num,
        "value": as_hex(pointers.signature_value_buf) or "",
        "covered": sha256(covered).hexdigest(),
    }


def interest(wire):
    """Returns the fields, the text of the name, and what a verifier needs."""
    components, params, parameters, pointers = parse_interest(wire)
    types = [Component.get_type(c) for c in components]
    right = parameters is None and PARAMETERS_DIGEST not in types
    if parameters is not None:
        right = asyncio.run(params_sha256_checker(components, pointers))
    fields = {
        "name": name(components),
        "digest_at": types.index(PARAMETERS_DIGEST) if PARAMETERS_DIGEST in types else None,
        "can_be_prefix": bool(params.can_be_prefix),
        "must_be_fresh": bool(params.must_be_fresh),
        "forwarding_hint": [name(hint) for hint in params.forwarding_hint],
        "nonce": params.nonce,
        "lifetime": params.lifetime,
        "hop_limit": params.hop_limit,
        "parameters": as_hex(parameters),
        "digest_right": right,
        "signature": signature(pointers),
    }
    return fields, uri(components), pointers


def data(wire):
    """As interest."""
    components, meta, content, pointers = parse_data(wire)
    last = meta.final_block_id
    fields = {
        "name": name(components),
        "content_type": meta.content_type or 0,
        "freshness": meta.freshness_period,
        "final_block": None if last is None else component(last),
        "content": as_hex(content) or "",
        "implicit_digest": sha256(wire).hexdigest(),
        "signature": signature(pointers),
    }
    return fields, uri(components), pointers


def link(wire):
    """As interest, with neither text nor signature."""
    if wire[0] == 0x64:
        packet = parse_lp_packet_v2(wire)
    else:
        # A bare Interest or Data, which python-ndn's dispatcher distinguishes by its first byte.
        packet = LpPacketValue()
        packet.fragment = wire
    number = int.from_bytes
    policy = packet.cache_policy
    fields = {
        "pit_token": as_hex(packet.pit_token),
        "nack": None if packet.nack is None else packet.nack.nack_reason or 0,
        "incoming_face_id": packet.incoming_face_id,
        "next_hop_face_id": packet.next_hop_face_id,
        "no_cache": policy is not None and policy.cache_policy_type == 1,
        "congestion_mark": packet.congestion_mark or 0,
        "ack": None if packet.ack is None else number(packet.ack, "big"),
        "tx_sequence": None if packet.tx_sequence is None else number(packet.tx_sequence, "big"),
        "non_discovery": bool(packet.non_discovery),
        "prefix_announcement": as_hex(packet.prefix_announcement),
        "fragment": as_hex(packet.fragment),
    }
    return fields, None, None


READERS = {"interest": interest, "data": data, "link": link}


def verified(pointers, keys):
    """True if the signature is right; None if no key for its type is at hand."""
    kind = pointers.signature_info.signature_type
    if kind == SignatureType.DIGEST_SHA256:
        return asyncio.run(sha256_digest_checker([], pointers))
    if kind == SignatureType.HMAC_WITH_SHA256:
        return verify_hmac(HMAC_KEY, pointers)
    if kind == SignatureType.ED25519:
        return verify_ed25519(ED25519_KEY.public_key(), pointers)
    if kind == SignatureType.SHA256_WITH_ECDSA and "ecdsa" in keys:
        return verify_ecdsa(keys["ecdsa"].public_key(), pointers)
    if kind == SignatureType.SHA256_WITH_RSA and "rsa" in keys:
        return verify_rsa(keys["rsa"].public_key(), pointers)
    return None
