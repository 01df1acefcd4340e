//! A round-trip time comes only from an answer that belongs to one Interest. So no round-trip time
//! is shorter than the path, whatever the fetch has sent before.

use crate::support::{Answers, Memory, Pipe, bytes, controller, name, publish, run};
use control::{Arrival, Ask, Controller, Cx, Duration, Lane, Loss, Permit, Sent, Ticket, Time};
use packet::{Component, Interest, InterestBuf, LpPacket};
use proptest::prelude::*;
use security::{Signer, TrustPolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use transport::fetch::{Fetch, FetchConfig, Status};
use transport::publish::Publish;

/// Schemes of all kinds: windows, rates, chunks, and several lanes.
const SCHEMES: [&str; 10] =
    ["aimd", "bbr", "chopcop", "contug", "copa", "cubic", "ictp", "mircc", "ric", "sluice"];

/// A producer behind a cache that answers an Interest for the bare name with some segment.
struct Cached {
    producer: Publish,
    segment: u64,
}

impl Answers for Cached {
    fn receive(&mut self, frame: &[u8]) {
        match self.translated(frame) {
            Some(frame) => self.producer.receive(&frame),
            None => self.producer.receive(frame),
        }
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.producer.poll_transmit(out)
    }
}

impl Cached {
    /// The Interest for the segment, in place of one for the bare name.
    fn translated(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let interest = Interest::decode(LpPacket::decode(frame).ok()?.fragment()?).ok()?;
        let bare = interest.name() == name("/a/file").as_ref() && interest.can_be_prefix();
        if !bare {
            return None;
        }
        let wanted = name("/a/file").with(&Component::version(7));
        let wanted = wanted.with(&Component::segment(self.segment));
        let mut out = Vec::new();
        InterestBuf { nonce: Some(1), ..InterestBuf::new(wanted) }.encode_into(&mut out);
        Some(out)
    }
}

/// A controller, and the shortest round-trip time that it is told, in nanoseconds.
struct Told(Box<dyn Controller>, Arc<AtomicU64>);

impl Controller for Told {
    fn permit(&self, now: Time, ask: &Ask<'_>) -> Permit {
        self.0.permit(now, ask)
    }
    fn on_sent(&mut self, cx: &mut Cx<'_>, sent: &Sent) -> Ticket {
        self.0.on_sent(cx, sent)
    }
    fn came_in(&self, arrival: &Arrival<'_>) -> Option<Lane> {
        self.0.came_in(arrival)
    }
    fn on_data(&mut self, cx: &mut Cx<'_>, arrival: &Arrival<'_>) {
        if let Some(rtt) = arrival.rtt {
            self.1.fetch_min(rtt.0, Ordering::Relaxed);
        }
        self.0.on_data(cx, arrival);
    }
    fn on_loss(&mut self, cx: &mut Cx<'_>, loss: &Loss<'_>) {
        self.0.on_loss(cx, loss);
    }
    fn overdue_at(&self, lane: Lane, sent_at: Time) -> Time {
        self.0.overdue_at(lane, sent_at)
    }
    fn range(&self) -> u16 {
        self.0.range()
    }
    fn may_be_probed(&self) -> bool {
        self.0.may_be_probed()
    }
    fn next_deadline(&self) -> Option<Time> {
        self.0.next_deadline()
    }
    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.0.on_deadline(cx);
    }
}

#[derive(Debug)]
struct Case {
    scheme: &'static str,
    /// The round trip in milliseconds.
    rtt: u64,
    range: Option<u16>,
    heads: u16,
    loss: f64,
    /// The segment in the cache.
    cached: u64,
    is_versioned: bool,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let scheme = prop::sample::select(SCHEMES.as_slice());
    let range = prop_oneof![Just(None), (1..=32u16).prop_map(Some)];
    let loss = prop_oneof![Just(0.0), 0.0..0.2];
    let cached = prop_oneof![Just(0u64), 0..40u64];
    let heads = prop_oneof![Just(0u16), Just(64)];
    let rest = (heads, loss, cached, any::<bool>(), any::<u64>());
    (scheme, 1..4000u64, range, rest).prop_map(|(scheme, rtt, range, rest)| {
        let (heads, loss, cached, is_versioned, seed) = rest;
        Case { scheme, rtt, range, heads, loss, cached, is_versioned, seed }
    })
}

/// Fetches an object of 40 segments. Returns the fetch, and the shortest round-trip time of those
/// that the controller was told and of those that the fetch has used.
fn fetched(case: &Case) -> (Fetch, Duration) {
    let mut producer = Publish::new();
    producer.add(publish("/a/file", bytes(40_000), &Signer::Digest));
    let mut producer = Cached { producer, segment: case.cached };
    let wanted = if case.is_versioned {
        name("/a/file").with(&Component::version(7))
    } else {
        name("/a/file")
    };
    let config = FetchConfig {
        range: case.range,
        heads: case.heads,
        seed: case.seed,
        patience: Duration::from_secs(600),
        ..FetchConfig::new(wanted, TrustPolicy::DigestOnly)
    };
    let told = Arc::new(AtomicU64::new(u64::MAX));
    let controller = Told(controller(case.scheme), told.clone());
    let mut fetch = Fetch::new(config, Box::new(controller));
    let delay = Duration::from_micros(case.rtt * 500);
    let pipe = Pipe { delay, loss: case.loss, seed: case.seed, ..Pipe::default() };
    let limit = Duration::from_secs(3000);
    run(&mut fetch, &mut Memory::default(), &mut producer, &pipe, limit, &mut |_, f| Some(f));
    let told = Some(Duration(told.load(Ordering::Relaxed)));
    let all = [told, fetch.rtt().min(), fetch.stats().rtt.min()];
    let shortest = all.into_iter().flatten().min().expect("the first one is there");
    (fetch, shortest)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_round_trip_is_shorter_than_the_path(case in cases()) {
        let (fetch, shortest) = fetched(&case);
        // A producer answers an Interest for the bare name with segment 0. Another segment, from a
        // cache, is recognised by its time alone.
        let path = Duration::from_millis(if case.cached == 0 { case.rtt } else { case.rtt / 2 });
        prop_assert!(fetch.status() == Status::Done || case.loss > 0.0, "{:?}", fetch.status());
        prop_assert!(shortest >= path, "{} ms", shortest.0 as f64 / 1e6);
        // Without a loss no timeout is false: the path does nothing but take its time.
        if case.loss == 0.0 {
            prop_assert_eq!(fetch.stats().counters.false_timeouts, 0, "{:?}", fetch.stats());
        }
    }
}
