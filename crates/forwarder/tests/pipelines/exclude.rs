//! Interests that exclude packets: stores pass over them, producers are asked in turn, and other
//! consumers notice none of it.

use crate::support::{Bench, Sent, data, frame, fresh_data, interest, ms};
use forwarder::{DropReason, FaceId};
use packet::options::Exclude;
use packet::{Bytes, Data, Interest, InterestBuf, LpHeader, NackReason};

fn excluding<'a>(packets: impl IntoIterator<Item = &'a Bytes>) -> Exclude {
    let mut exclude = Exclude::new();
    for packet in packets {
        assert!(exclude.add(&Data::decode(packet).unwrap().implicit_digest()));
    }
    exclude
}

fn ask(bench: &mut Bench, face: FaceId, interest: &InterestBuf, exclude: &Exclude) {
    let mut header = LpHeader::default();
    assert!(header.options.set(exclude));
    bench.receive(face, &frame(&header, &interest.encode()));
}

/// A consumer, another one, and two producers of /a, the first of them nearer.
struct Net {
    bench: Bench,
    consumer: FaceId,
    other: FaceId,
    near: FaceId,
    far: FaceId,
}

impl Net {
    fn new() -> Net {
        let mut bench = Bench::new();
        let [consumer, other, near, far] = std::array::from_fn(|_| bench.face());
        bench.route_cost("/a", near, 1);
        bench.route_cost("/a", far, 2);
        Net { bench, consumer, other, near, far }
    }

    /// The packet comes into the store, by the nearer producer.
    fn cache(&mut self, uri: &str, packet: &Bytes) {
        self.bench.ask(self.consumer, &interest(uri, 1));
        self.bench.one(self.near);
        self.bench.receive(self.near, packet);
        assert_eq!(&self.bench.one(self.consumer).packet[..], &packet[..]);
    }

    fn asks(&mut self, interest: &InterestBuf, exclude: &Exclude) {
        ask(&mut self.bench, self.consumer, interest, exclude);
    }

    fn packets(&mut self, face: FaceId) -> Vec<Vec<u8>> {
        self.bench.sent(face).into_iter().map(|sent| sent.packet).collect()
    }
}

fn nack_of(sent: &Sent, reason: NackReason) -> Vec<u8> {
    frame(&LpHeader { nack: Some(reason), ..LpHeader::default() }, &sent.packet)
}

#[test]
fn a_store_passes_over_what_is_excluded_and_keeps_it() {
    let mut net = Net::new();
    let (forged, honest) = (data("/a/x", b"forged"), data("/a/x", b"honest"));
    net.cache("/a/x", &forged);
    // Another packet is excluded: the store answers.
    net.asks(&interest("/a/x", 2), &excluding([&honest]));
    assert_eq!(net.packets(net.consumer), [forged.to_vec()]);
    net.asks(&interest("/a/x", 3), &excluding([&forged]));
    assert!(net.packets(net.consumer).is_empty());
    let up = net.bench.one(net.near);
    assert_eq!(
        up.header.options.get::<Exclude>(),
        Some(excluding([&forged])),
        "it goes on with it"
    );
    // An Interest that excludes nothing is still answered from the store.
    net.bench.ask(net.other, &interest("/a/x", 4));
    assert_eq!(net.packets(net.other), [forged.to_vec()]);
    net.bench.receive(net.near, &honest);
    assert_eq!(net.packets(net.consumer), [honest.to_vec()]);
    assert!(net.packets(net.other).is_empty());
    net.bench.ask(net.other, &interest("/a/x", 5));
    assert_eq!(net.packets(net.other), [honest.to_vec()], "it took the place of the forged one");
}

#[test]
fn an_exclusion_leaves_fresh_data_fresh_for_others() {
    let mut net = Net::new();
    let packet = fresh_data("/a/x", 1_000_000);
    net.cache("/a/x", &packet);
    net.asks(&interest("/a/x", 2), &excluding([&packet]));
    net.bench.one(net.near);
    let fresh = InterestBuf { must_be_fresh: true, ..interest("/a/x", 3) };
    net.bench.ask(net.other, &fresh);
    assert_eq!(net.packets(net.other), [packet.to_vec()]);
    assert!(net.packets(net.near).is_empty());
}

#[test]
fn a_consumer_gets_past_more_forgeries_than_it_can_exclude() {
    let mut net = Net::new();
    let packets: Vec<_> = (0..12).map(|n| fresh_data(&format!("/a/x/{n}"), 1_000_000)).collect();
    for (n, packet) in packets.iter().enumerate() {
        net.cache(&format!("/a/x/{n}"), packet);
    }
    let asked =
        |nonce| InterestBuf { can_be_prefix: true, must_be_fresh: true, ..interest("/a/x", nonce) };
    let mut got: Vec<Bytes> = Vec::new();
    for nonce in 100..112 {
        match got.len().saturating_sub(8) {
            0 if got.is_empty() => net.bench.ask(net.consumer, &asked(nonce)),
            latest => net.asks(&asked(nonce), &excluding(&got[latest..])),
        }
        let answer = Bytes::from(net.bench.one(net.consumer).packet);
        assert!(!got.contains(&answer), "one that failed has come again");
        got.push(answer);
    }
    net.asks(&asked(200), &excluding(&got[4..]));
    assert!(net.packets(net.consumer).is_empty());
    let producer = if net.packets(net.near).is_empty() { net.far } else { net.near };
    // A packet that a producer sends again is one like any other.
    net.bench.receive(producer, &got[0]);
    assert_eq!(net.packets(net.consumer), [got[0].to_vec()]);
    net.asks(&asked(201), &excluding(&got[4..]));
    assert_eq!(net.packets(net.consumer), [got[0].to_vec()]);
}

#[test]
fn below_a_prefix_the_next_one_answers_and_lookups_end() {
    let mut net = Net::new();
    let packets: Vec<_> = (0..12).map(|n| data(&format!("/a/x/{n}"), b"content")).collect();
    for (n, packet) in packets.iter().enumerate() {
        net.cache(&format!("/a/x/{n}"), packet);
    }
    let below = |nonce| InterestBuf { can_be_prefix: true, ..interest("/a/x", nonce) };
    let mut excluded: Vec<Bytes> = Vec::new();
    for nonce in 100..108 {
        let exclude = excluding(&excluded);
        match exclude.is_empty() {
            true => net.bench.ask(net.consumer, &below(nonce)),
            false => net.asks(&below(nonce), &exclude),
        }
        let answer = Bytes::from(net.bench.one(net.consumer).packet);
        assert!(!excluded.contains(&answer));
        excluded.push(answer);
    }
    let hits = net.bench.fw.content_store().counters().hits;
    net.asks(&below(200), &excluding(&excluded));
    assert_eq!(net.packets(net.consumer).len(), 1, "a ninth one");
    assert_eq!(net.bench.fw.content_store().counters().hits, hits + 1);
}

#[test]
fn a_rejection_that_an_exclusion_brings_is_for_those_who_exclude() {
    let mut net = Net::new();
    let packet = data("/a/x", b"honest");
    // Both ask at the same time, the hostile consumer first.
    net.asks(&interest("/a/x", 1), &excluding([&packet]));
    let hostile = net.bench.one(net.near);
    net.bench.ask(net.other, &interest("/a/x", 2));
    let plain = net.bench.one(net.near);
    assert!(hostile.header.options.get::<Exclude>().is_some());
    assert!(plain.header.options.is_empty(), "no exclusion is put upon another's Interest");
    net.bench.receive(net.near, &nack_of(&hostile, NackReason::None));
    assert!(net.packets(net.other).is_empty());
    net.bench.receive(net.near, &packet);
    assert_eq!(net.packets(net.other), [packet.to_vec()]);
}

#[test]
fn excluded_data_is_no_answer_and_the_next_producer_is_asked() {
    let mut net = Net::new();
    let (forged, honest) = (data("/a/x", b"forged"), data("/a/x", b"honest"));
    net.asks(&interest("/a/x", 1), &excluding([&forged]));
    net.bench.one(net.near);
    net.bench.receive(net.near, &forged);
    assert!(net.packets(net.consumer).is_empty());
    assert_eq!(net.bench.drops(net.near, DropReason::Excluded), 1);
    assert!(net.bench.fw.content_store().is_empty(), "it is not cached, either");
    net.bench.one(net.far);
    net.bench.receive(net.far, &honest);
    assert_eq!(net.packets(net.consumer), [honest.to_vec()]);

    // No producer has another one: the consumer gets a Nack.
    net.bench.pass(ms(10));
    net.asks(&interest("/a/y", 2), &excluding([&data("/a/y", b"forged")]));
    for producer in [net.near, net.far] {
        net.bench.one(producer);
        net.bench.receive(producer, &data("/a/y", b"forged"));
    }
    assert_eq!(net.bench.one(net.consumer).header.nack, Some(NackReason::None));
    assert!(net.bench.fw.pit().is_empty());
}

#[test]
fn data_goes_to_those_who_take_it_and_the_others_are_asked_for_again() {
    let mut net = Net::new();
    let (first, second) = (data("/a/x", b"first"), data("/a/x", b"second"));
    net.asks(&interest("/a/x", 1), &excluding([&first]));
    ask(&mut net.bench, net.other, &interest("/a/x", 2), &excluding([&second]));
    let asked = net.bench.sent(net.near);
    net.bench.receive(net.near, &first);
    assert_eq!(net.packets(net.other), [first.to_vec()]);
    assert!(net.packets(net.consumer).is_empty(), "it excludes the packet");
    // As if its Interest had come after the Data: the same producer is asked, without delay, and
    // what is known of its nonce there does no harm.
    let again = net.bench.one(net.near);
    assert_eq!(again.header.options.get::<Exclude>(), Some(excluding([&first])));
    let nonce = |sent: &Sent| Interest::decode(&sent.packet).unwrap().nonce();
    assert!(asked.iter().all(|before| nonce(before) != nonce(&again)));
    net.bench.receive(net.near, &second);
    assert_eq!(net.packets(net.consumer), [second.to_vec()]);
    assert!(net.packets(net.other).is_empty());
    assert!(net.bench.fw.pit().is_empty());
    let stats = net.bench.fw.stats();
    assert_eq!((stats.satisfied, stats.aggregated), (2, 0), "of two Interests");
}

#[test]
fn an_interest_without_further_next_hops_ends_with_a_nack() {
    let mut net = Net::new();
    let (first, second) = (data("/a/x", b"first"), data("/a/x", b"second"));
    net.asks(&interest("/a/x", 7), &excluding([&first]));
    ask(&mut net.bench, net.other, &interest("/a/x", 8), &excluding([&second]));
    net.bench.sent(net.near);
    net.bench.receive(net.near, &first);
    net.bench.one(net.near);
    // The store has no other packet: the Data is rejected, and the second producer has it, too.
    net.bench.receive(net.near, &first);
    net.bench.one(net.far);
    net.bench.receive(net.far, &first);
    let nack = net.bench.one(net.consumer);
    assert_eq!(nack.header.nack, Some(NackReason::None));
    assert_eq!(Interest::decode(&nack.packet).unwrap().nonce(), Some(7), "its own nonce");
    assert!(net.bench.fw.pit().is_empty());
}

#[test]
fn next_hops_take_turns_with_each_packet_that_is_excluded() {
    let mut net = Net::new();
    let forged: Vec<_> = (0..8u8).map(|n| data("/a/x", &[n])).collect();
    let mut asked = Vec::new();
    for (n, nonce) in (0..9).zip(1..) {
        match n {
            0 => net.bench.ask(net.consumer, &interest("/a/x", nonce)),
            _ => net.asks(&interest("/a/x", nonce), &excluding(&forged[..n])),
        }
        let near = net.packets(net.near).len();
        assert_eq!(near + net.packets(net.far).len(), 1);
        asked.push(near == 0);
        net.bench.pass(ms(5000));
    }
    assert!(!asked[0] && !asked[1], "the nearer one while there is one forgery");
    assert!(asked[2], "then the further one");
    let turns = asked[1..].chunks(2);
    let rounds: Vec<_> = turns.map(|turn| turn.iter().filter(|far| **far).count()).collect();
    assert_eq!(rounds, [1; 4], "in each round of two, both");
}

#[test]
fn many_exclusions_of_one_name_make_one_pending_interest() {
    let mut net = Net::new();
    for n in 0..200u8 {
        net.asks(&interest("/a/x", u32::from(n)), &excluding([&data("/a/x", &[n])]));
    }
    net.bench.ask(net.consumer, &interest("/a/x", 1000));
    assert_eq!(net.bench.fw.pit().len(), 2);
}
