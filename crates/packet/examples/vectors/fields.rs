//! The fields of packets as JSON.

use crate::keys::sha256;
use packet::{Data, Interest, KeyLocator, LpPacket, NameRef, SignatureInfo, tlv::types};
use serde_json::{Value, json};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn maybe_hex(bytes: Option<&[u8]>) -> Value {
    bytes.map_or(Value::Null, |bytes| hex(bytes).into())
}

/// The components of a name without a parameters digest, whose value encoding decides.
fn name(name: NameRef<'_>) -> Value {
    let others = name.components().filter(|c| c.typ() != types::PARAMETERS_DIGEST);
    others.map(|c| json!([c.typ(), hex(c.value())])).collect()
}

fn digest_at(name: NameRef<'_>) -> Option<usize> {
    name.components().position(|c| c.typ() == types::PARAMETERS_DIGEST)
}

/// A signature, with the digest of what it covers.
fn signature(info: &SignatureInfo<'_>, value: &[u8], covered: &[&[u8]]) -> Value {
    let (mut locator, mut digest) = (Value::Null, Value::Null);
    match info.key_locator() {
        Some(KeyLocator::Name(key)) => locator = name(key),
        Some(KeyLocator::Digest(key)) => digest = hex(key).into(),
        None => {}
    }
    json!({
        "type": info.signature_type().number(),
        "key_name": locator,
        "key_digest": digest,
        "nonce": info.nonce().map(hex),
        "time": info.time_ms(),
        "sequence": info.sequence(),
        "value": hex(value),
        "covered": hex(&sha256(covered)),
    })
}

pub fn interest(view: &Interest<'_>) -> Value {
    let signed = view.signature_info().zip(view.signature_value());
    json!({
        "name": name(view.name()),
        "digest_at": digest_at(view.name()),
        "can_be_prefix": view.can_be_prefix(),
        "must_be_fresh": view.must_be_fresh(),
        "forwarding_hint": view.forwarding_hint().map(name).collect::<Vec<_>>(),
        "nonce": view.nonce(),
        "lifetime": view.stated_lifetime_ms(),
        "hop_limit": view.hop_limit(),
        "parameters": maybe_hex(view.parameters()),
        "digest_right": view.check_parameters_digest(),
        "signature": signed.map(|(info, value)| signature(&info, value, &view.signed_portion())),
    })
}

pub fn data(view: &Data<'_>) -> Value {
    let covered = [view.signed_portion()];
    json!({
        "name": name(view.name()),
        "content_type": view.content_type(),
        "freshness": view.freshness_ms(),
        "final_block": view.final_block().map(|c| json!([c.typ(), hex(c.value())])),
        "content": hex(view.content()),
        "implicit_digest": hex(&view.implicit_digest()),
        "signature": signature(&view.signature_info(), view.signature_value(), &covered),
    })
}

pub fn link(view: &LpPacket<'_>) -> Value {
    json!({
        "pit_token": maybe_hex(view.pit_token()),
        "nack": view.nack().map(packet::NackReason::number),
        "incoming_face_id": view.incoming_face_id(),
        "next_hop_face_id": view.next_hop_face_id(),
        "no_cache": view.no_cache(),
        "congestion_mark": view.congestion_mark(),
        "ack": view.acks().next(),
        "tx_sequence": view.tx_sequence(),
        "non_discovery": view.non_discovery(),
        "prefix_announcement": maybe_hex(view.prefix_announcement()),
        "fragment": maybe_hex(view.fragment()),
    })
}
