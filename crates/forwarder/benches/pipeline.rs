//! The whole forwarder in memory: an Interest from its frame to the frame that goes upstream, and
//! its Data from its frame to the frame that goes downstream, one packet at a time.
//!
//! Prints nanoseconds and allocations a packet for a plain small configuration and for a large
//! one: a million routes, a million pending Interests, a full content store. An argument that is a
//! number takes the place of the million. Range Interests of 32 segments stand beside the plain
//! Interests that a forwarder would have to handle if its links expanded them.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints or fails")]

#[path = "../tests/allocator/mod.rs"]
mod allocator;

use bytes::Bytes;
use control::{Action, Duration, Size, Strategy, StrategyCx, Time};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use forwarder::{FaceConfig, FaceId, Forwarder, ForwarderConfig, Medium, QueueLimits, Scope, Wire};
use packet::options::Range;
use packet::{Component, DataBuf, InterestBuf, LpHeader, Name};

/// Segments of a range Interest: as many as a consumer of `bench/run small` asks for at once.
const RUN: usize = 32;
const BATCH: usize = 2_000;
const BATCH_OF_RUNS: usize = BATCH / RUN * RUN;
const BATCHES: usize = 101;

/// Sends to the first next hop.
struct First;

impl Strategy for First {
    fn on_interest(&mut self, s: &mut StrategyCx<'_, '_>) {
        if let Some(hop) = s.next_hops.first() {
            s.act(Action::Forward(hop.face));
        }
    }
}

/// A forwarder between a downstream and an upstream.
struct Bench {
    forwarder: Forwarder,
    now: Time,
    down: FaceId,
    up: FaceId,
    out: Vec<u8>,
}

/// Nanoseconds and allocations a packet.
#[derive(Clone, Copy)]
struct Cost(f64, f64);

impl Bench {
    fn new(capacity: usize, mtu: Option<usize>, memory: Option<usize>) -> Bench {
        let mut config = ForwarderConfig::new(Box::new(First));
        config.memory = memory;
        config.content_store = ContentStoreConfig { capacity, ..ContentStoreConfig::default() };
        config.pit = PitConfig { entries: 1 << 22, per_face: 1 << 22, memory: 1 << 32 };
        config.routes = 1 << 21;
        let mut forwarder = Forwarder::new(config);
        let now = Time(1_000_000_000);
        let mut face = |scope| {
            let queue = Size(64 << 20);
            let (data_queue, interest_queue) = (queue, queue);
            let config = FaceConfig {
                scope,
                medium: Medium { mtu, ..Medium::default() },
                queues: QueueLimits {
                    data: data_queue,
                    interests: interest_queue,
                    ..QueueLimits::default()
                },
                ..FaceConfig::default()
            };
            forwarder.add_face(now, config)
        };
        let (down, up) = (face(Scope::NonLocal), face(Scope::NonLocal));
        Bench { forwarder, now, down, up, out: Vec::new() }
    }

    fn drain(&mut self) {
        while let Some(face) = self.forwarder.poll_ready() {
            self.out.clear();
            while self.forwarder.poll_transmit(self.now, face, &mut self.out).is_some() {}
        }
    }

    fn receive(&mut self, face: FaceId, frame: &[u8]) {
        self.forwarder.receive(self.now, face, Wire::Borrowed(frame));
        self.drain();
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    fn timed(&mut self, face: FaceId, frames: &[Bytes]) -> Cost {
        let (start, blocks) = (std::time::Instant::now(), allocator::blocks());
        for frame in frames {
            self.receive(face, frame);
        }
        let packets = frames.len() as f64;
        let nanoseconds = start.elapsed().as_nanos() as f64 / packets;
        // Once a thousand packets, as the daemon's loop would at some point.
        self.now += Duration::from_millis(1);
        self.forwarder.on_deadline(self.now);
        Cost(nanoseconds, (allocator::blocks() - blocks) as f64 / packets)
    }

    /// Measures Interests and the Data for them, with `content` bytes each; then the same
    /// Interests again, which the content store answers.
    fn measure(&mut self, what: &str, name: impl Fn(usize) -> Name, content: usize) {
        let mut costs = [const { Vec::new() }; 3];
        for batch in 0..BATCHES {
            let names: Vec<Name> = (0..BATCH).map(|i| name(batch * BATCH + i)).collect();
            let asked: Vec<Bytes> = names.iter().map(|n| interest(n, 1)).collect();
            let again: Vec<Bytes> = names.iter().map(|n| interest(n, 2)).collect();
            let data: Vec<Bytes> = names.iter().map(|n| data(n, content)).collect();
            let (down, up) = (self.down, self.up);
            costs[0].push(self.timed(down, &asked));
            costs[1].push(self.timed(up, &data));
            // Of a full store the latest part alone is sure to be there.
            let last = if content > 1000 { BATCH - BATCH / 10 } else { 0 };
            costs[2].push(self.timed(down, &again[last..]));
        }
        let kinds = ["Interest", "its Data", "Interest that the content store answers"];
        for (kind, costs) in kinds.into_iter().zip(&mut costs) {
            costs.sort_by(|a, b| a.0.total_cmp(&b.0));
            // The fastest batch: what disturbs one from outside only makes it slower.
            let Cost(nanoseconds, blocks) = costs[0];
            println!("{what:<42}{kind:<40}{nanoseconds:>7.0} ns {blocks:>6.2} allocations");
        }
        let stats = self.forwarder.stats();
        assert_eq!(stats.drops.total(), 0, "{:?}", stats.drops);
    }
}

/// An object whose Interests ask for a run of segments each, and one whose Interests ask for one;
/// their Data in order. Prints the cost of a segment: its share of an Interest, and its Data.
fn ranges(content: usize) {
    for (kind, step) in [("of a range Interest", RUN), ("of a plain Interest", 1)] {
        let mut bench = Bench::new(256 << 20, None, None);
        let (down, up) = (bench.down, bench.up);
        bench.forwarder.add_route(up, prefix(1).as_ref(), 0).unwrap();
        let mut costs = Vec::new();
        for batch in 0..BATCHES {
            let first = batch * BATCH_OF_RUNS;
            let segments = first..first + BATCH_OF_RUNS;
            let names: Vec<Name> = segments.map(|n| segment(prefix(1), n)).collect();
            let asked: Vec<Bytes> = names.iter().step_by(step).map(|n| run(n, step)).collect();
            let data: Vec<Bytes> = names.iter().map(|n| data(n, content)).collect();
            let Cost(asking, _) = bench.timed(down, &asked);
            let Cost(answering, _) = bench.timed(up, &data);
            costs.push(asking / step as f64 + answering);
        }
        // The fastest batch, as above.
        let fastest = costs.into_iter().fold(f64::INFINITY, f64::min);
        println!("{:<42}{kind:<40}{fastest:>7.0} ns", format!("a segment of {content} bytes"));
        let stats = bench.forwarder.stats();
        assert_eq!(stats.drops.total(), 0, "{:?}", stats.drops);
    }
}

/// An Interest for a run of segments.
fn run(name: &Name, segments: usize) -> Bytes {
    let plain = interest(name, 1);
    let Some(range) = Range::whole(segments as u16).filter(|_| segments > 1) else { return plain };
    let mut header = LpHeader::default();
    header.options.set(&range);
    let mut frame = Vec::new();
    header.encode_into(&plain, &mut frame);
    frame.into()
}

fn interest(name: &Name, nonce: u32) -> Bytes {
    InterestBuf { nonce: Some(nonce), ..InterestBuf::new(name.clone()) }.encode()
}

fn data(name: &Name, content: usize) -> Bytes {
    DataBuf::new(name.clone(), vec![0; content]).encode_digest()
}

/// A prefix out of many, of 2 to 4 components.
fn prefix(n: usize) -> Name {
    let parts = [format!("region-{:03}", n % 997), format!("site-{n}"), "a".into(), "b".into()];
    parts.iter().take(2 + n % 3).map(|p| Component::generic(p.as_bytes())).collect()
}

/// Segment `n` of an object below a prefix.
fn segment(prefix: Name, n: usize) -> Name {
    prefix
        .with(&Component::generic(b"video.mp4"))
        .with(&Component::version(1_700_000_000_000))
        .with(&Component::segment(n as u64))
}

fn small(content: usize, mtu: Option<usize>, memory: Option<usize>) {
    let mut bench = Bench::new(256 << 20, mtu, memory);
    let up = bench.up;
    bench.forwarder.add_route(up, prefix(1).as_ref(), 0).unwrap();
    let mut link = mtu.map_or("stream".to_owned(), |mtu| format!("MTU {mtu}"));
    if let Some(memory) = memory {
        link = format!("{} MB", memory >> 20);
    }
    let what = format!("small tables, {content} bytes, {link}");
    bench.measure(&what, |n| segment(prefix(1), n), content);
}

fn large(entries: usize) {
    let mut bench = Bench::new(1 << 30, None, None);
    let (down, up) = (bench.down, bench.up);
    for n in 0..entries {
        bench.forwarder.add_route(up, prefix(n).as_ref(), 0).unwrap();
    }
    // Fill the content store, then leave as many Interests pending.
    let stride = |n: usize| n.wrapping_mul(7_919) % entries;
    for n in 0..entries {
        let name = segment(prefix(stride(n)), 1_000_000 + n);
        bench.receive(down, &interest(&name, 1));
        bench.receive(up, &data(&name, 900));
    }
    for n in 0..entries {
        bench.receive(down, &interest(&segment(prefix(stride(n)), 9_000_000 + n), 1));
    }
    println!(
        "large: {} routes, {} pending Interests, {} Data in {} MB of content store",
        bench.forwarder.fib().len(),
        bench.forwarder.pit().len(),
        bench.forwarder.content_store().len(),
        bench.forwarder.content_store().memory() / 1_000_000,
    );
    bench.measure("large tables, 64 bytes", |n| segment(prefix(stride(n * 31)), n), 64);
}

fn main() {
    let number = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    for (content, mtu) in [(64, None), (1000, None), (8000, None), (8000, Some(1400))] {
        small(content, mtu, None);
    }
    // The default of a daemon on a host with 8 GB or more.
    small(64, None, Some(2 << 30));
    ranges(64);
    large(number.unwrap_or(1_000_000));
}
