//! Random packets, written as lines.

use crate::dice::Dice;
use crate::{fields, keys};
use packet::{
    Component, Data, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, NackReason, Name, NameRef,
    SignatureInfoBuf, SignatureType,
};
use serde_json::{Value, json};
use std::io::Write as _;

pub fn run(seed: &str, count: &str) -> Result<(), String> {
    let number =
        |text: &str| text.parse::<u64>().map_err(|error| format!("`{text}` is no number: {error}"));
    let mut dice = Dice::new(number(seed)?);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for i in 0..number(count)? {
        let line = match i % 4 {
            0 | 1 => interest(&mut dice),
            2 => data(&mut dice),
            _ => link(&mut dice),
        };
        writeln!(out, "{line}").map_err(|error| error.to_string())?;
    }
    out.flush().map_err(|error| error.to_string())
}

fn component(dice: &mut Dice) -> Component {
    match dice.below(12) {
        0 => Component::segment(dice.number()),
        1 => Component::version(dice.number()),
        2 => Component::timestamp(dice.number()),
        3 => Component::sequence(dice.number()),
        4 => Component::byte_offset(dice.number()),
        5 => Component::keyword(&dice.bytes(1, 9)),
        6 => Component::new((100 + dice.below(65_436)) as u16, &dice.bytes(0, 300)),
        _ => Component::generic(&dice.bytes(0, 15)),
    }
}

fn name(dice: &mut Dice, least: u64) -> Name {
    let len = least + dice.below(6);
    (0..len).map(|_| component(dice)).collect()
}

/// The text of the name, if all agree on it: not every library adds three periods to a component
/// without bytes or of periods only.
fn uri(name: NameRef<'_>) -> Value {
    let periods = |c: packet::ComponentRef<'_>| c.value().iter().all(|byte| *byte == b'.');
    if name.components().any(periods) { Value::Null } else { name.to_string().into() }
}

fn signature_info(dice: &mut Dice) -> (SignatureType, SignatureInfoBuf) {
    let typ = SignatureType::from([0, 1, 3, 4, 5, 200][dice.below(6) as usize]);
    // Type 0 has no key; the others name one, or give its digest.
    let info = match (typ, dice.chance(80)) {
        (SignatureType::DigestSha256, _) => SignatureInfoBuf::digest(),
        (_, true) => SignatureInfoBuf::new(typ, Some(name(dice, 1))),
        (_, false) => {
            let digest = [&[0x1d, 32], &dice.bytes(32, 32)[..]].concat();
            SignatureInfoBuf::new(typ, None).with_element(0x1c, &digest)
        }
    };
    (typ, info)
}

fn interest(dice: &mut Dice) -> Value {
    let mut interest = InterestBuf {
        can_be_prefix: dice.chance(50),
        must_be_fresh: dice.chance(50),
        forwarding_hint: if dice.chance(20) { vec![name(dice, 1), name(dice, 1)] } else { vec![] },
        nonce: dice.maybe(|dice| dice.next() as u32),
        lifetime_ms: dice.maybe(Dice::number),
        hop_limit: dice.maybe(|dice| dice.next() as u8),
        parameters: dice.maybe(|dice| dice.bytes(0, 300).into()),
        ..InterestBuf::new(name(dice, 1))
    };
    if interest.parameters.is_some() && dice.chance(30) {
        // A place for the digest that is not the end.
        interest.name.push(Component::parameters_digest([0; 32]).as_ref());
        interest.name.push(component(dice).as_ref());
    }
    if dice.chance(50) {
        let (typ, mut info) = signature_info(dice);
        if dice.chance(70) {
            info = info.with_nonce(&dice.bytes(8, 8));
        }
        if dice.chance(70) {
            info = info.with_time_ms(dice.number());
        }
        if dice.chance(30) {
            info = info.with_sequence(dice.number());
        }
        let stand_in = dice.bytes(1, 100);
        interest.sign_with(info, |pieces| keys::sign(typ, &pieces, &stand_in));
    }
    let wire = interest.encode();
    let view = Interest::decode(&wire).expect("what is written can be read");
    let uri = uri(view.name());
    let fields = fields::interest(&view);
    json!({"kind": "interest", "wire": fields::hex(&wire), "uri": uri, "fields": fields})
}

fn data_packet(dice: &mut Dice) -> Vec<u8> {
    let data = DataBuf {
        content_type: if dice.chance(50) { 0 } else { dice.number() },
        freshness_ms: dice.maybe(Dice::number),
        final_block: dice.maybe(component),
        ..DataBuf::new(name(dice, 0), dice.bytes(0, 400))
    };
    let (typ, info) = signature_info(dice);
    let stand_in = dice.bytes(1, 300);
    let mut wire = Vec::new();
    data.encode_into(&info, |portion| keys::sign(typ, &[portion], &stand_in), &mut wire);
    wire
}

fn data(dice: &mut Dice) -> Value {
    let wire = data_packet(dice);
    let view = Data::decode(&wire).expect("what is written can be read");
    let uri = uri(view.name());
    json!({"kind": "data", "wire": fields::hex(&wire), "uri": uri, "fields": fields::data(&view)})
}

/// A link packet, not fragmented: python-ndn has no reassembly. With at most one of Ack and
/// TxSequence, whose order it has wrong.
fn link(dice: &mut Dice) -> Value {
    let packet = InterestBuf { nonce: Some(1), ..InterestBuf::new(name(dice, 1)) };
    let mut header = LpHeader {
        pit_token: dice.maybe(|dice| dice.bytes(1, 32)).unwrap_or_default().into(),
        nack: dice.maybe(|dice| NackReason::from([0, 50, 100, 150, 7][dice.below(5) as usize])),
        incoming_face_id: dice.maybe(Dice::number),
        next_hop_face_id: dice.maybe(Dice::number),
        no_cache: dice.chance(50),
        congestion_mark: if dice.chance(50) { dice.number() } else { 0 },
        non_discovery: dice.chance(50),
        prefix_announcement: dice.maybe(|dice| data_packet(dice).into()),
        ..LpHeader::default()
    };
    match dice.below(3) {
        0 => header.acks = vec![dice.next()],
        1 => header.tx_sequence = Some(dice.next()),
        _ => {}
    }
    if dice.chance(40) {
        header.options.set_raw(852 + 4 * dice.below(27) as u32, &dice.bytes(0, 20));
    }
    let mut wire = Vec::new();
    header.encode_into(&packet.encode(), &mut wire);
    let view = LpPacket::decode(&wire).expect("what is written can be read");
    json!({"kind": "link", "wire": fields::hex(&wire), "fields": fields::link(&view)})
}
