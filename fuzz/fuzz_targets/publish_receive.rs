//! A producer among unknown peers: whatever they ask, it answers with what it has published, each
//! Interest once at most, a range Interest once for each segment that it asks for.
//!
//! The input is a list of frames, each behind its length in two bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::options::segments_in;
use packet::{Data, Interest, LpPacket, Name};
use security::Signer;
use std::collections::BTreeMap;
use transport::publish::{Preparation, Publish, Spec};

const NAME: &str = "/example/file";
const SEGMENT: usize = 16;
/// Few segments: an Interest may ask for as many as there are, and an input has many Interests.
const SIZE: usize = 20 * SEGMENT - 5;
static CONTENT: [u8; SIZE] = {
    let mut content = [0; SIZE];
    let mut at = 0;
    while at < SIZE {
        content[at] = (at / SEGMENT) as u8 ^ at as u8;
        at += 1;
    }
    content
};

fn producer() -> Publish {
    let name: Name = NAME.parse().expect("a name");
    let spec = Spec { segment_size: SEGMENT, ..Spec::new(name, 7) };
    let preparation = Preparation::new(spec, CONTENT.to_vec(), &Signer::Digest).expect("it fits");
    let mut publish = Publish::new();
    publish.add(preparation.run(&Signer::Digest).expect("it can be read"));
    publish.claim("/example".parse().expect("a name"));
    publish
}

thread_local! {
    static PRODUCER: std::cell::RefCell<Publish> = producer().into();
}

fuzz_target!(|input: &[u8]| {
    PRODUCER.with_borrow_mut(|publish| asked(publish, input));
});

fn asked(publish: &mut Publish, mut input: &[u8]) {
    // Interests by their name, so that a Nack can be seen to return one of them.
    let mut interests: BTreeMap<Name, usize> = BTreeMap::new();
    let mut asked = 0;
    while let Some((len, rest)) = input.split_first_chunk::<2>() {
        let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
        let (frame, rest) = rest.split_at(len);
        input = rest;
        publish.receive(frame);
        let Ok(link) = LpPacket::decode(frame) else { continue };
        if let Some(Ok(interest)) = link.fragment().map(Interest::decode) {
            *interests.entry(interest.name().to_name()).or_default() += 1;
            asked += usize::from(segments_in(&link.to_options()));
        }
    }
    let (mut out, mut answers) = (Vec::new(), 0);
    while publish.poll_transmit(&mut out) {
        answers += 1;
        let link = LpPacket::decode(&out).expect("a frame");
        let fragment = link.fragment().expect("with a packet");
        match link.nack() {
            Some(_) => {
                let interest = Interest::decode(fragment).expect("a Nack returns the Interest");
                assert!(interests.contains_key(&interest.name().to_name()));
            }
            None => published(&Data::decode(fragment).expect("Data")),
        }
        out.clear();
    }
    assert!(answers <= asked, "{answers} answers, {asked} asked for");
    assert!(publish.take_failure().is_none());
}

/// Segments hold what was published, and everything is under the published name.
fn published(data: &Data<'_>) {
    let name: Name = NAME.parse().expect("a name");
    assert!(data.name().starts_with(name.as_ref()));
    if data.name().len() == name.len() + 2
        && let Some(segment) = data.name().last().and_then(|last| last.as_segment())
    {
        let from = segment as usize * SEGMENT;
        assert_eq!(data.content(), &CONTENT[from..(from + SEGMENT).min(SIZE)]);
        assert!(data.final_block().is_some());
    }
}
