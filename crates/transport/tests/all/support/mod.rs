//! A consumer and a producer at the two ends of a pipe, in virtual time.

#![allow(dead_code, reason = "each test uses some of it")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

use control::{Controller, Duration, Rate, Rng, Size, Time};
use packet::{Bytes, Data, LpPacket, Name};
use security::{Signer, TrustPolicy};
use std::collections::VecDeque;
use std::ops::Range;
use transport::fetch::{Fetch, FetchConfig, FetchError, ObjectInfo, Resume, Sink, Status};
use transport::publish::{Preparation, Publication, Publish, Spec};

/// The effects of the pipe on frames, in both directions.
#[derive(Clone)]
pub struct Pipe {
    pub delay: Duration,
    pub loss: f64,
    /// The maximum additional delay of a frame. Frames may overtake each other.
    pub jitter: Duration,
    pub rate: Option<(Rate, Size)>,
    pub seed: u64,
    /// The additional delay of Data for odd segments, as from another source.
    pub detour: Duration,
    /// The producer's host is busy during this time: nothing is lost, but all packets wait.
    pub pause: Option<Range<Time>>,
    /// The node in between does not support options, and removes them.
    pub plain: bool,
}

impl Default for Pipe {
    fn default() -> Pipe {
        let (delay, jitter) = (Duration::from_millis(5), Duration::ZERO);
        let (rate, pause, detour) = (None, None, jitter);
        Pipe { delay, loss: 0.0, jitter, rate, seed: 1, detour, pause, plain: false }
    }
}

impl Pipe {
    /// The instant at which the producer handles a frame that arrives at `at`.
    fn seen(&self, at: Time) -> Time {
        self.pause.as_ref().filter(|pause| pause.contains(&at)).map_or(at, |pause| pause.end)
    }
}

/// True if the frame is Data of an odd segment.
fn is_odd(frame: &[u8]) -> bool {
    let Ok(data) = Data::decode(frame) else { return false };
    let last = data.name().last().and_then(|last| last.as_segment());
    last.is_some_and(|segment| segment % 2 == 1)
}

/// One direction: the frames in flight, in the order of arrival.
struct Way {
    pipe: Pipe,
    rng: Rng,
    frames: Vec<(Time, u64, Bytes)>,
    sent: u64,
    busy_until: Time,
}

impl Way {
    fn new(pipe: &Pipe, name: &str) -> Way {
        let rng = Rng::stream(pipe.seed, &[name]);
        let (frames, busy_until) = (Vec::new(), Time::ZERO);
        Way { pipe: pipe.clone(), rng, frames, sent: 0, busy_until }
    }

    fn send(&mut self, now: Time, frame: Bytes) {
        self.sent += 1;
        if self.rng.chance(self.pipe.loss) {
            return;
        }
        let mut leaves = now;
        if let Some((rate, queue)) = self.pipe.rate {
            let backlog = rate.size_in(self.busy_until.since(now));
            if backlog.0 + frame.len() as u64 > queue.0 {
                return;
            }
            self.busy_until = self.busy_until.max(now) + rate.time_for(Size(frame.len() as u64));
            leaves = self.busy_until;
        }
        let jitter = Duration(self.rng.below(self.pipe.jitter.0 + 1));
        let detour = if is_odd(&frame) { self.pipe.detour } else { Duration::ZERO };
        self.frames.push((leaves + self.pipe.delay + jitter + detour, self.sent, frame));
    }

    fn next(&self) -> Option<Time> {
        self.frames.iter().map(|(at, ..)| *at).min()
    }

    fn arrived(&mut self, now: Time) -> VecDeque<Bytes> {
        let mut due: Vec<_> = self.frames.extract_if(.., |(at, ..)| *at <= now).collect();
        due.sort_by_key(|(at, n, _)| (*at, *n));
        due.into_iter().map(|(.., frame)| frame).collect()
    }
}

/// A sink that keeps its segments, and the earlier ones that it claims to have.
#[derive(Default)]
pub struct Memory {
    pub bytes: Vec<u8>,
    pub resume: Resume,
    pub info: Option<ObjectInfo>,
    pub order: Vec<u64>,
    /// The number of calls of `begin`.
    pub begun: usize,
    /// The arguments of the calls of `bounded`.
    pub bounds: Vec<(u64, bool)>,
}

impl Sink for Memory {
    fn begin(&mut self, info: &ObjectInfo) -> Resume {
        self.info = Some(info.clone());
        self.begun += 1;
        self.resume.clone()
    }

    fn bounded(&mut self, at_most: u64, is_signed: bool) {
        assert!(self.order.is_empty(), "it comes before the first write");
        self.bounds.push((at_most, is_signed));
    }

    fn write(&mut self, segment: u64, offset: u64, content: &[u8]) {
        let offset = offset as usize;
        if self.bytes.len() < offset + content.len() {
            self.bytes.resize(offset + content.len(), 0);
        }
        self.bytes[offset..offset + content.len()].copy_from_slice(content);
        self.order.push(segment);
    }
}

pub fn bytes(n: usize) -> Vec<u8> {
    let mut rng = Rng::stream(9, &["content"]);
    (0..n).map(|_| rng.next_u32() as u8).collect()
}

pub fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

pub fn publish(uri: &str, content: Vec<u8>, signer: &Signer) -> Publication {
    let spec = Spec { segment_size: 1000, ..Spec::new(name(uri), 7) };
    Preparation::new(spec, content, signer).unwrap().run(signer).unwrap()
}

pub fn cubic() -> Box<dyn Controller> {
    controller("cubic")
}

/// The controller of a scheme, with its defaults.
pub fn controller(scheme: &str) -> Box<dyn Controller> {
    let scheme = schemes::find(scheme).unwrap();
    scheme.controller.unwrap()(&control::Params::defaults(scheme.params))
}

pub fn fetch(uri: &str) -> Fetch {
    Fetch::new(FetchConfig::new(name(uri), TrustPolicy::DigestOnly), cubic())
}

/// The fate of a frame from the producer.
pub type Tamper<'a> = &'a mut dyn FnMut(Time, Bytes) -> Option<Bytes>;

/// The other end of the pipe.
pub trait Answers {
    fn receive(&mut self, frame: &[u8]);
    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool;
}

impl Answers for Publish {
    fn receive(&mut self, frame: &[u8]) {
        Publish::receive(self, frame);
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        Publish::poll_transmit(self, out)
    }
}

/// A producer that records the Interests that it receives.
pub struct Watched {
    pub producer: Publish,
    pub frames: Vec<Vec<u8>>,
}

impl Answers for Watched {
    fn receive(&mut self, frame: &[u8]) {
        self.frames.push(frame.to_vec());
        self.producer.receive(frame);
    }

    fn poll_transmit(&mut self, out: &mut Vec<u8>) -> bool {
        self.producer.poll_transmit(out)
    }
}

/// Runs until the fetch is over or `limit` has passed; returns the time taken.
pub fn run(
    fetch: &mut Fetch,
    sink: &mut Memory,
    producer: &mut impl Answers,
    pipe: &Pipe,
    limit: Duration,
    tamper: Tamper<'_>,
) -> Time {
    run_from(Time::ZERO, fetch, sink, producer, pipe, limit, tamper)
}

/// The same from `start` on. Frames in flight in an earlier run are lost.
pub fn run_from(
    start: Time,
    fetch: &mut Fetch,
    sink: &mut Memory,
    producer: &mut impl Answers,
    pipe: &Pipe,
    limit: Duration,
    tamper: Tamper<'_>,
) -> Time {
    let (mut up, mut down) = (Way::new(pipe, "up"), Way::new(pipe, "down"));
    let mut now = start;
    let end = start + limit;
    while fetch.status() == Status::Running && now < end {
        if pipe.seen(now) == now {
            for frame in up.arrived(now) {
                let bare = LpPacket::decode(&frame).unwrap().fragment().unwrap();
                producer.receive(if pipe.plain { bare } else { &frame });
            }
        }
        let mut out = Vec::new();
        while producer.poll_transmit(&mut out) {
            let frame = Bytes::from(std::mem::take(&mut out));
            if let Some(frame) = tamper(now, frame) {
                down.send(now, frame);
            }
        }
        for frame in down.arrived(now) {
            fetch.receive(now, &frame, sink);
        }
        if fetch.next_deadline(now).is_some_and(|at| at <= now) {
            fetch.on_deadline(now, sink);
        }
        while fetch.poll_transmit(now, &mut out) {
            up.send(now, Bytes::from(std::mem::take(&mut out)));
        }
        if fetch.status() != Status::Running {
            break;
        }
        let seen = up.next().map(|at| pipe.seen(at.max(now)));
        let next = [seen, down.next(), fetch.next_deadline(now)].into_iter().flatten().min();
        let Some(next) = next else { break };
        assert!(next > now, "a deadline that does not move");
        now = next;
    }
    now
}

/// Runs without tampering; the fetch must succeed.
pub fn succeed(uri: &str, content: &[u8], pipe: &Pipe) -> (Fetch, Memory, Time) {
    let mut producer = Publish::new();
    producer.add(publish(uri, content.to_vec(), &Signer::Digest));
    let (mut fetch, mut sink) = (fetch(uri), Memory::default());
    let limit = Duration::from_secs(600);
    let took = run(&mut fetch, &mut sink, &mut producer, pipe, limit, &mut |_, f| Some(f));
    assert_eq!(fetch.status(), Status::Done, "{:?}", fetch.stats());
    assert!(sink.bytes == content, "other bytes came out than went in");
    (fetch, sink, took)
}

pub fn failure(fetch: &Fetch) -> &FetchError {
    match fetch.status() {
        Status::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}
