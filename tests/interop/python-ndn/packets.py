"""Random packets that python-ndn makes."""

from Cryptodome.PublicKey import ECC, RSA
from ndn.encoding import (
    Component,
    InterestParam,
    MetaInfo,
    Name,
    Signer,
    make_data,
    make_interest,
    make_network_nack,
)
from ndn.encoding.ndnlp_v2 import CachePolicy, LpPacket, LpPacketValue, NetworkNack
from ndn.security import (
    DigestSha256Signer,
    Ed25519Signer,
    HmacSha256Signer,
    NullSigner,
    Sha256WithEcdsaSigner,
    Sha256WithRsaSigner,
)

import fields

CONVENTIONS = [
    Component.TYPE_SEGMENT,
    Component.TYPE_BYTE_OFFSET,
    Component.TYPE_VERSION,
    Component.TYPE_TIMESTAMP,
    Component.TYPE_SEQUENCE_NUM,
]


class Against(Signer):
    """Another signer, with the elements against replay that Interests have."""

    def __init__(self, signer, dice):
        self.signer = signer
        self.dice = dice

    def write_signature_info(self, signature_info):
        self.signer.write_signature_info(signature_info)
        # Eight bytes: what is read back is the number, without its width.
        signature_info.signature_nonce = self.dice.getrandbits(63) | 1 << 63
        signature_info.signature_time = number(self.dice)
        signature_info.signature_seq_num = maybe(self.dice, number)

    def get_signature_value_size(self):
        return self.signer.get_signature_value_size()

    def write_signature_value(self, wire, contents):
        return self.signer.write_signature_value(wire, contents)


def number(dice):
    """A number of any width."""
    return dice.getrandbits(dice.choice([8, 16, 32, 64]))


def maybe(dice, make):
    """In half of the cases, something."""
    return make(dice) if dice.random() < 0.5 else None


def component(dice):
    kind = dice.randrange(10)
    if kind == 0:
        return Component.from_number(number(dice), dice.choice(CONVENTIONS))
    if kind == 1:
        return Component.from_bytes(dice.randbytes(dice.randint(0, 300)), dice.randint(100, 65535))
    if kind == 2:
        return Component.from_bytes(dice.randbytes(32), Component.TYPE_IMPLICIT_SHA256)
    return Component.from_bytes(dice.randbytes(dice.randint(0, 15)))


def name(dice, least=1):
    return [component(dice) for _ in range(dice.randint(least, 6))]


def make_keys():
    """Keys that only this side has; what it signs with them, it verifies again in the end."""
    return {"ecdsa": ECC.generate(curve="P-256"), "rsa": RSA.generate(2048)}


def signer(dice, keys):
    """A signer of a random type."""
    locator = name(dice)
    ed25519 = fields.ED25519_KEY.export_key(format="DER")
    return dice.choice(
        [
            lambda: DigestSha256Signer(),
            lambda: HmacSha256Signer(locator, fields.HMAC_KEY),
            lambda: Ed25519Signer(locator, ed25519),
            lambda: Sha256WithEcdsaSigner(locator, keys["ecdsa"].export_key(format="DER")),
            lambda: Sha256WithRsaSigner(locator, keys["rsa"].export_key(format="DER")),
            lambda: NullSigner(),
        ]
    )()


def interest(dice, keys):
    """An Interest, and whether there is only one way to write what it says."""
    components = name(dice)
    parameters = maybe(dice, lambda dice: dice.randbytes(dice.randint(0, 300)))
    if parameters is not None and dice.random() < 0.3:
        digest = Component.from_bytes(bytes(32), fields.PARAMETERS_DIGEST)
        components.insert(dice.randint(0, len(components)), digest)
    params = InterestParam(
        can_be_prefix=dice.random() < 0.5,
        must_be_fresh=dice.random() < 0.5,
        nonce=maybe(dice, lambda dice: dice.getrandbits(32)),
        lifetime=maybe(dice, number),
        hop_limit=maybe(dice, lambda dice: dice.getrandbits(8)),
        forwarding_hint=[name(dice), name(dice)] if dice.random() < 0.2 else [],
    )
    signed = Against(signer(dice, keys), dice) if dice.random() < 0.6 else None
    return make_interest(components, params, parameters, signed), True


def data(dice, keys):
    """As interest. An element that says what its absence says too is not written again."""
    meta = MetaInfo(
        content_type=dice.choice([None, 0, 2, number(dice)]),
        freshness_period=maybe(dice, number),
        final_block_id=maybe(dice, component),
    )
    content = maybe(dice, lambda dice: dice.randbytes(dice.randint(0, 2000)))
    silent = meta.content_type is None and meta.freshness_period is None
    one_way = meta.content_type != 0 and not (silent and meta.final_block_id is None)
    wire = make_data(name(dice, 0), meta, content, signer(dice, keys))
    return wire, one_way and content is not None


def link(dice, keys):
    """As interest. Never with both Ack and TxSequence, which python-ndn has in the wrong order,
    and never in fragments, which it does not reassemble."""
    inside = make_interest(name(dice), InterestParam(nonce=dice.getrandbits(32)))
    if dice.random() < 0.3:
        return make_network_nack(inside, dice.choice([50, 100, 150, 7000])), True
    if dice.random() < 0.5:
        inside = data(dice, keys)[0]
    value = LpPacketValue()
    value.pit_token = maybe(dice, lambda dice: dice.randbytes(dice.randint(1, 32)))
    if dice.random() < 0.3:
        value.nack = NetworkNack()
        value.nack.nack_reason = dice.choice([None, 0, 50, 100, 150, 7])
    value.incoming_face_id = maybe(dice, number)
    value.next_hop_face_id = maybe(dice, number)
    if dice.random() < 0.5:
        value.cache_policy = CachePolicy()
        value.cache_policy.cache_policy_type = 1
    value.congestion_mark = maybe(dice, number)
    which = dice.randrange(3)
    if which == 0:
        value.ack = dice.randbytes(8)
    elif which == 1:
        value.tx_sequence = dice.randbytes(8)
    value.non_discovery = dice.random() < 0.5
    value.prefix_announcement = maybe(dice, lambda dice: bytes(data(dice, keys)[0]))
    value.fragment = inside
    packet = LpPacket()
    packet.lp_packet = value
    zero_reason = value.nack is not None and value.nack.nack_reason == 0
    headers = [
        value.pit_token, value.nack, value.incoming_face_id, value.next_hop_face_id,
        value.cache_policy, value.congestion_mark, value.ack, value.tx_sequence,
        value.prefix_announcement, value.non_discovery or None,
    ]
    bare = all(header is None for header in headers)
    return packet.encode(), not (zero_reason or value.congestion_mark == 0 or bare)


MAKERS = {"interest": interest, "data": data, "link": link}


def make(kind, dice, keys):
    """A random packet of that kind: its bytes, and whether they are the only way to write it."""
    wire, one_way = MAKERS[kind](dice, keys)
    return bytes(wire), one_way


def read_text(text):
    """The components that a text means to python-ndn."""
    return [bytes(c) for c in Name.from_str(text)]
