//! The number of Interests sent while all answers are Nacks or wrong Data.
//!
//! The forwarder is near, like that of the same host, so its Nacks return at once. Nothing else
//! limits the rate then.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use crate::support::{Memory, bytes, controller, failure, name, publish};
use control::{Duration, Time};
use packet::tlv::types;
use packet::{Bytes, Data, DataBuf, Interest, LpHeader, LpPacket, NackReason, Name};
use security::{Signer, TrustPolicy};
use transport::fetch::{Fetch, FetchConfig, FetchError, Status};
use transport::publish::Publish;

/// The one-way delay to the forwarder.
const NEAR: Duration = Duration::from_micros(25);
/// The one-way delay to the producer.
const FAR: Duration = Duration::from_millis(10);
/// The maximum number of Interests in any second while no answer is good.
const MOST_A_SECOND: usize = 10;
const SIZE: usize = 4_000_000;
const SECOND: Duration = Duration::from_secs(1);

/// The fate of an Interest.
enum Fate {
    /// The producer answers.
    Passes,
    /// The forwarder sends a Nack.
    Rejected(NackReason),
    /// The forwarder or another producer answers with this packet.
    Answered(Bytes),
    /// There is no answer.
    Silent,
}

/// A consumer, and the Interests that it has sent.
struct World {
    fetch: Fetch,
    sink: Memory,
    producer: Publish,
    now: Time,
    sent: Vec<Time>,
    coming: Vec<(Time, u64, Bytes)>,
    number: u64,
}

impl World {
    fn new(uri: &str, scheme: &str, content: &[u8]) -> World {
        let mut config = FetchConfig::new(name(uri), TrustPolicy::DigestOnly);
        config.patience = Duration::from_secs(60);
        let mut producer = Publish::new();
        producer.add(publish("/a/file", content.to_vec(), &Signer::Digest));
        World {
            fetch: Fetch::new(config, controller(scheme)),
            sink: Memory::default(),
            producer,
            now: Time::ZERO,
            sent: Vec::new(),
            coming: Vec::new(),
            number: 0,
        }
    }

    /// Runs for `time`, or until the fetch is over.
    fn run(&mut self, time: Duration, mut fate: impl FnMut(&Interest<'_>) -> Fate) {
        let end = self.now + time;
        while self.fetch.status() == Status::Running {
            let mut frame = Vec::new();
            while self.fetch.poll_transmit(self.now, &mut frame) {
                let frame = std::mem::take(&mut frame);
                self.sent.push(self.now);
                self.answer(&frame, &mut fate);
            }
            let next = self.coming.iter().map(|(at, ..)| *at).min();
            let next = next.into_iter().chain(self.fetch.next_deadline(self.now)).min().unwrap();
            assert!(next > self.now, "a deadline that does not move");
            self.now = next.min(end);
            if next > end {
                return;
            }
            let mut due: Vec<_> = self.coming.extract_if(.., |(at, ..)| *at <= next).collect();
            due.sort_by_key(|(at, n, _)| (*at, *n));
            for (.., frame) in due {
                self.fetch.receive(self.now, &frame, &mut self.sink);
            }
            self.fetch.on_deadline(self.now, &mut self.sink);
        }
    }

    fn answer(&mut self, frame: &[u8], fate: &mut impl FnMut(&Interest<'_>) -> Fate) {
        let link = LpPacket::decode(frame).unwrap();
        let interest = Interest::decode(link.fragment().unwrap()).unwrap();
        let mut out = Vec::new();
        let after = match fate(&interest) {
            Fate::Passes => {
                self.producer.receive(frame);
                self.producer.poll_transmit(&mut out);
                FAR
            }
            Fate::Rejected(reason) => {
                let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
                header.encode_into(link.fragment().unwrap(), &mut out);
                NEAR
            }
            Fate::Silent => return,
            Fate::Answered(data) => {
                out.extend_from_slice(&data);
                NEAR
            }
        };
        if !out.is_empty() {
            self.number += 1;
            self.coming.push((self.now + after + after, self.number, out.into()));
        }
    }

    /// The maximum number of Interests within a second, from `from` on.
    fn most_a_second(&self, from: Time) -> usize {
        let sent: Vec<Time> = self.sent.iter().copied().filter(|at| *at >= from).collect();
        let within =
            |first: &Time| sent.iter().filter(|at| *at >= first && **at < *first + SECOND).count();
        sent.iter().map(within).max().unwrap_or(0)
    }
}

/// A transfer in progress, whose producer disappears now.
fn begun(scheme: &str, content: &[u8]) -> World {
    let mut world = World::new("/a/file", scheme, content);
    while world.fetch.stats().verified < 600 {
        world.run(Duration::from_millis(1), |_| Fate::Passes);
    }
    assert_eq!(world.fetch.status(), Status::Running);
    world
}

const SCHEMES: [&str; 6] = ["bbr", "cubic", "fixed", "icp", "rate", "mircc"];

/// RFC 8793: a network Nack states why the forwarder cannot satisfy the Interest. Here the reasons
/// are permanent, such as a missing route.
#[test]
fn a_producer_that_goes_away_is_asked_for_a_few_times_a_second() {
    let content = bytes(SIZE);
    for scheme in SCHEMES {
        for reason in [NackReason::NoRoute, NackReason::None, NackReason::Other(160)] {
            let mut world = begun(scheme, &content);
            // Requests in flight are answered meanwhile.
            world.run(Duration::from_millis(100), |_| Fate::Rejected(reason));
            let gone = world.now;
            world.run(Duration::from_secs(20), |_| Fate::Rejected(reason));
            let most = world.most_a_second(gone);
            assert!(most <= MOST_A_SECOND, "{scheme}, {reason}: {most} within a second");
            // The transfer continues within the longest pause of a second and two round trips. It
            // completes soon, because the limit on 3400 segments in flight grows exponentially.
            let (back, verified) = (world.now, world.fetch.stats().verified);
            world.run(Duration::from_millis(1040), |_| Fate::Passes);
            let after = world.fetch.stats().verified;
            assert!(after > verified, "{scheme}, {reason}: nothing came");
            world.run(Duration::from_secs(60), |_| Fate::Passes);
            assert_eq!(world.fetch.status(), Status::Done, "{scheme}: {:?}", world.fetch.stats());
            assert!(world.sink.bytes == content);
            assert!(world.now.since(back) < Duration::from_secs(30), "{scheme}");
        }
    }
}

/// An on-path attacker, or a router that has just lost a route: single Nacks among good answers.
#[test]
fn single_nacks_do_not_slow_a_transfer_that_goes_on() {
    let content = bytes(SIZE);
    let took = |every: u64| {
        let mut world = begun("fixed", &content);
        let (from, mut n) = (world.now, 0);
        world.run(Duration::from_secs(60), |_| {
            n += 1;
            let rejected = n % every == 0;
            if rejected { Fate::Rejected(NackReason::NoRoute) } else { Fate::Passes }
        });
        assert_eq!(world.fetch.status(), Status::Done, "{:?}", world.fetch.stats());
        world.now.since(from)
    };
    let (undisturbed, disturbed) = (took(u64::MAX), took(10));
    // 3400 segments in windows of 100 take 34 round trips. A segment with a Nack is requested
    // again after 50 ms, and the last one, with another Nack, after 100 ms: 8 round trips.
    assert!(disturbed.0 < undisturbed.0 * 3 / 2, "{disturbed} instead of {undisturbed}");
}

/// Any number of Nacks in a row, and then none.
#[test]
fn a_burst_of_nacks_is_over_when_it_is_over() {
    let content = bytes(SIZE);
    let mut world = begun("fixed", &content);
    let (from, mut n) = (world.now, 0);
    world.run(Duration::from_secs(60), |_| {
        n += 1;
        if n <= 20 { Fate::Rejected(NackReason::NoRoute) } else { Fate::Passes }
    });
    assert_eq!(world.fetch.status(), Status::Done);
    // Data packets in flight end the pause: 34 round trips of 20 ms, and the 1.1 s that a segment
    // may wait after five Nacks.
    let took = world.now.since(from);
    assert!(took < Duration::from_millis(2 * 34 * 20 + 1100), "{took}");
}

/// A packet of this name, signed by its digest.
fn plain(name: Name) -> Bytes {
    let data = DataBuf { freshness_ms: Some(1000), ..DataBuf::new(name, b"hello".to_vec()) };
    let mut wire = Vec::new();
    Signer::Digest.encode(&data, &mut wire);
    wire.into()
}

/// A program that answers every Interest under its prefix with one packet (python-ndn's first
/// example), and one that has a single packet of that name.
#[test]
fn plain_data_are_asked_for_a_few_times_and_named_in_the_error() {
    let any = |interest: &Interest<'_>| Fate::Answered(plain(interest.name().to_name()));
    let one = |interest: &Interest<'_>| match Data::decode(&plain(name("/hello"))) {
        Ok(data) if data.satisfies(interest) => Fate::Answered(plain(name("/hello"))),
        _ => Fate::Silent,
    };
    type Answer<'a> = &'a dyn Fn(&Interest<'_>) -> Fate;
    let fates: [(Answer<'_>, _); 2] = [(&any, "/hello/32=metadata"), (&one, "/hello")];
    for (fate, came) in fates {
        for scheme in SCHEMES {
            let mut world = World::new("/hello", scheme, &[]);
            // Up to 64 Interests for heads leave before anything has arrived.
            while world.fetch.stats().forged == 0 {
                world.run(Duration::from_millis(1), fate);
            }
            let answered = world.now;
            world.run(Duration::from_secs(60), fate);
            let most = world.most_a_second(answered);
            assert!(most <= MOST_A_SECOND, "{scheme}: {most} within a second");
            let (name, came) = (name("/hello"), name(came));
            let expected = FetchError::NotAnObject { name, came, bytes: 5 };
            assert_eq!(failure(&world.fetch), &expected, "{scheme}");
            assert!(world.now < Time::ZERO + Duration::from_secs(10), "{scheme}: {:?}", world.now);
        }
    }
}

/// At some instant another program begins to answer under the same names. Its packets do not match
/// Interests with a digest, so the forwarder drops them (Packet Format v0.3, "Implicit Digest").
#[test]
fn data_that_do_not_verify_are_asked_for_a_few_times_a_second() {
    let content = bytes(SIZE);
    let other = |interest: &Interest<'_>| {
        let last = interest.name().last().unwrap();
        if last.typ() == types::IMPLICIT_DIGEST {
            return Fate::Silent;
        }
        Fate::Answered(plain(interest.name().to_name()))
    };
    for scheme in SCHEMES {
        let mut world = begun(scheme, &content);
        // Requests by digest stay unanswered. Their timeouts double within this second.
        world.run(SECOND, other);
        let gone = world.now;
        world.run(Duration::from_secs(20), other);
        let most = world.most_a_second(gone);
        assert!(most <= MOST_A_SECOND, "{scheme}: {most} within a second");
        let verified = world.fetch.stats().verified;
        // The timeouts have doubled to 4 s.
        world.run(Duration::from_millis(4040), |_| Fate::Passes);
        assert!(world.fetch.stats().verified > verified, "{scheme}: nothing came");

        let mut world = begun(scheme, &content);
        world.run(Duration::from_secs(90), other);
        let error = failure(&world.fetch).to_string();
        assert!(error.contains("is not what its publisher signed"), "{scheme}: {error}");
    }
}
