//! A forwarder's own account of its shared memory, compared with the requests to the allocator.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocator;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "pipelines/support.rs"]
mod support;

use control::Rng;
use forwarder::{FaceConfig, FaceId, ForwarderConfig, Medium};
use packet::LpHeader;
use support::{Bench, Cheapest, data, frame, interest, ms};

/// A limit at which memory is scarce from the start.
const SCARCE: usize = 8 << 20;

/// A limit at which it is plentiful at first, so that changes are not counted one by one, and
/// scarce at the end (`state/budget.rs`).
const PLENTIFUL: usize = 256 << 20;

/// Memory that one packet may use while it is processed, and this test for its own.
const SMALL: usize = 256 << 10;

struct Run {
    bench: Bench,
    faces: Vec<FaceId>,
    before: usize,
    rng: Rng,
    limit: usize,
}

impl Run {
    fn new(limit: usize, store: usize) -> Run {
        let before = allocator::in_use();
        allocator::reset_peak();
        let mut config = ForwarderConfig::new(Box::new(Cheapest));
        config.memory = Some(limit);
        config.content_store.capacity = store;
        config.dead_nonces = 5000;
        let mut bench = Bench::with(config);
        let face = |n| FaceConfig {
            reliability: n % 4 == 1,
            medium: Medium { mtu: (n % 2 == 1).then_some(1400), ..Medium::default() },
            ..FaceConfig::default()
        };
        let faces: Vec<FaceId> = (0..8).map(|n| bench.face_with(face(n))).collect();
        bench.route("/a", faces[0]);
        Run { bench, faces, before, rng: Rng::stream(1, &["memory"]), limit }
    }

    /// As many as fill the memory that `many` fill where it is scarce.
    fn scaled(&self, many: usize) -> u32 {
        (many * (self.limit / SCARCE)) as u32
    }

    fn any_face(&mut self) -> FaceId {
        self.faces[self.rng.below(self.faces.len() as u64) as usize]
    }

    /// Asks for segments, answers them all, and takes nothing off the wire.
    fn fill_queues(&mut self) {
        for n in 0..self.scaled(6000) {
            let face = self.any_face();
            let uri = format!("/a/object/{n}");
            self.bench.ask(face, &interest(&uri, n));
            self.bench.sent(self.faces[0]);
            self.bench.receive(self.faces[0], &data(&uri, &[1; 4000]));
        }
    }

    fn flood_interests(&mut self) {
        for n in 0..self.scaled(40_000) {
            let face = self.any_face();
            self.bench.ask(face, &interest(&format!("/a/never/there/{n}"), n));
        }
    }

    fn begin_packets(&mut self) {
        for n in 0..u64::from(self.scaled(4000)) {
            let face = self.any_face();
            let header = LpHeader {
                sequence: Some(n * 10),
                frag_index: n % 9,
                frag_count: 10,
                ..LpHeader::default()
            };
            self.bench.receive(face, &frame(&header, &[6; 900]));
        }
    }

    fn drain(&mut self) {
        let mut out = Vec::new();
        for face in self.faces.clone() {
            while self.bench.fw.poll_transmit(self.bench.now, face, &mut out).is_some() {
                out.clear();
            }
        }
    }

    fn check(&self, what: &str) {
        let measured = allocator::in_use() - self.before;
        let peak = allocator::peak() - self.before;
        let memory = self.bench.fw.memory();
        let accounted = memory.total();
        assert!(accounted <= self.limit, "{what}: {memory:?}");
        assert!(peak <= self.limit + SMALL, "{what}: a peak of {peak}, {memory:?}");
        assert!(accounted + SMALL >= measured, "{what}: {measured} in use, {memory:?}");
    }
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn the_limit_is_kept_in_real_memory() {
    for (limit, store) in [(SCARCE, SCARCE), (PLENTIFUL, SCARCE)] {
        let mut run = Run::new(limit, store);
        for round in 0..3 {
            let at = format!("{limit} bytes, round {round}");
            run.fill_queues();
            run.check(&format!("{at}: queues"));
            run.flood_interests();
            run.check(&format!("{at}: Interests"));
            run.begin_packets();
            run.check(&format!("{at}: packets in parts"));
            run.drain();
            run.check(&format!("{at}: drained"));
            run.bench.pass(ms(5000));
            run.check(&format!("{at}: expired"));
        }
        let refused = run.bench.fw.memory().refused;
        assert!(refused.packets > 0 && refused.interests > 0, "{refused:?}");
    }
}
