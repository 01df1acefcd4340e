//! The cost of decoding and encoding one packet in nanoseconds: `cargo bench -p packet`.
//!
//! The packets are those of a bulk transfer: names of five components, payloads of 64 and 8000
//! bytes, a link header with a PIT token and a congestion mark. Each figure is the median of
//! several runs, with the best beside it.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark says what it measured")]

use packet::interest_buf::encode_plain_interest;
use packet::{
    Component, Data, DataBuf, DataParts, Interest, InterestBuf, LpHeader, LpPacket, Name,
    Signature, SignatureInfoBuf,
};
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 15;
const CALLS: u32 = 200_000;

fn measure<T>(what: &str, mut call: impl FnMut() -> T) {
    let mut figures: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(call());
            }
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("{what:<40} {:>8.1} ns   best {:>8.1}", figures[RUNS / 2], figures[0]);
}

fn object() -> Name {
    "/example/files/holiday.mp4/v=1763640000000000".parse().expect("a valid name")
}

fn data_of(len: usize) -> Vec<u8> {
    let last = Component::segment(1000);
    let packet = DataBuf {
        freshness_ms: Some(10_000),
        final_block: Some(last),
        ..DataBuf::new(object().with(&Component::segment(700)), vec![7; len])
    };
    packet.encode_digest().to_vec()
}

fn interests() {
    let name = object().with(&Component::segment(700));
    let mut interest = InterestBuf::new(name);
    interest.nonce = Some(0x0102_0304);
    interest.lifetime_ms = Some(4000);
    let plain = interest.encode();
    measure("decode an Interest", || Interest::decode(black_box(&plain)));

    interest.must_be_fresh = true;
    interest.hop_limit = Some(32);
    interest.forwarding_hint = vec!["/isp/a".parse().expect("a valid name")];
    let info = SignatureInfoBuf::digest().with_nonce(&[1; 8]).with_time_ms(1_763_640_000_000);
    interest.sign_with(info, |_| Signature::from([0; 32]));
    let full = interest.encode();
    measure("decode an Interest with every element", || Interest::decode(black_box(&full)));

    let (prefix, mut out) = (object(), Vec::with_capacity(200));
    measure("encode a plain Interest", || {
        out.clear();
        let last = packet::ComponentRef::new(50, &[2, 188]);
        encode_plain_interest(black_box(prefix.as_ref()), last, 7, 4000, &mut out);
        out.len()
    });
}

fn data() {
    for len in [64, 8000] {
        let wire = data_of(len);
        measure(&format!("decode Data of {len} bytes"), || Data::decode(black_box(&wire)));
    }
    let (name, content, info) = (object(), vec![7; 8000], SignatureInfoBuf::digest());
    let mut out = Vec::with_capacity(9000);
    measure("encode Data of 8000 bytes, unsigned", || {
        out.clear();
        let parts = DataParts {
            name: name.as_ref(),
            last: Some(packet::ComponentRef::new(50, &[2, 188])),
            content_type: 0,
            freshness_ms: Some(10_000),
            final_block: None,
            content: black_box(&content),
        };
        parts.encode_into(&info, 32, |_| Signature::from([0; 32]), &mut out);
        out.len()
    });
}

fn links() {
    let wire = data_of(64);
    measure("decode a bare frame", || LpPacket::decode(black_box(&wire)));
    let header =
        LpHeader { pit_token: vec![1; 6].into(), congestion_mark: 1, ..LpHeader::default() };
    let mut frame = Vec::new();
    header.encode_into(&wire, &mut frame);
    measure("decode a frame with token and mark", || LpPacket::decode(black_box(&frame)));
    let mut out = Vec::with_capacity(200);
    measure("encode a frame with token and mark", || {
        out.clear();
        header.encode_into(black_box(&wire), &mut out);
        out.len()
    });
}

fn names() {
    let uri = "/example/files/holiday.mp4/v=1763640000000000/seg=700";
    measure("parse a name's text", || black_box(uri).parse::<Name>());
    let name: Name = uri.parse().expect("a valid name");
    measure("write a name's text", || black_box(&name).to_string());
    let wire = name.as_bytes();
    measure("decode a name", || packet::NameRef::decode(black_box(wire)));
    measure("the last component", || {
        black_box(name.as_ref()).last().map(|component| component.typ())
    });
}

fn main() {
    interests();
    data();
    links();
    names();
}
