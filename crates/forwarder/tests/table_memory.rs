//! The PIT's and the FIB's account of their memory and of the growth by a change, compared with the
//! requests to the allocator.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocator;

use control::{Duration, Time};
use forwarder::tables::memory::block;
use forwarder::tables::{
    FaceId, Fib, InRecord, NameHasher, OutRecord, Pit, PitConfig, PitKey, PitToken,
};
use packet::{Component, HopOptions, Interest, InterestBuf, Name};

/// Bytes that a change may announce without needing them: the smallest hash tables.
const IDLE: usize = 512;

/// Does something that should allocate at most what was predicted, and not much less.
fn grow<R>(predicted: usize, change: impl FnOnce() -> R) -> R {
    allocator::reset_peak();
    let before = allocator::in_use();
    let result = change();
    let grown = allocator::peak() - before;
    assert!(grown <= predicted, "{grown} were allocated, {predicted} predicted");
    // Of what is replaced by something longer, not all is there at once.
    assert!(predicted <= grown * 3 / 2 + IDLE, "{grown} were allocated, {predicted} predicted");
    result
}

fn interest(name: &Name) -> Vec<u8> {
    InterestBuf { nonce: Some(1), ..InterestBuf::new(name.clone()) }.encode().to_vec()
}

/// A record with this many bytes in its token and in its option.
fn record(face: u64, token: usize, option: usize) -> InRecord {
    let mut options = HopOptions::new();
    if option > 0 {
        assert!(options.set_raw(864, &vec![7; option]));
    }
    InRecord {
        face: FaceId(face),
        nonce: 1,
        arrived_at: Time::ZERO,
        expires: Time::ZERO + Duration::from_secs(4),
        token: PitToken::new(&vec![1; token]).unwrap(),
        // A list of options that was read has no room left over.
        options: options.clone(),
    }
}

struct PitRun {
    hasher: NameHasher,
    pit: Pit,
    keys: Vec<PitKey>,
    /// Bytes in use, and those that the PIT said it takes, when a step began.
    in_use: usize,
    counted: usize,
}

impl PitRun {
    fn begin(&mut self) {
        (self.in_use, self.counted) = (allocator::in_use(), self.pit.memory());
    }

    /// The PIT counts as much as the step allocated, each block rounded up.
    fn check(&self, what: &str) {
        let added = allocator::in_use() - self.in_use;
        let counted = self.pit.memory() - self.counted;
        assert!(
            (added..=added * 3 / 2).contains(&counted),
            "{what}: {added} were added, not {counted}"
        );
    }

    fn insert(&mut self, what: &str, letters: usize, can_be_prefix: bool) {
        self.begin();
        let first = self.pit.len();
        for n in first..first + 300 {
            let name: Name = format!("/{what}/{n}/{}", "x".repeat(letters)).parse().unwrap();
            let mut wire = InterestBuf { nonce: Some(1), ..InterestBuf::new(name) };
            wire.can_be_prefix = can_be_prefix;
            let wire = wire.encode();
            let interest = Interest::decode(&wire).unwrap();
            let name = self.hasher.hash(interest.name());
            let record = record(1, 6, 0);
            let predicted = self.pit.growth(name.whole(), wire.len(), &record);
            self.keys.push(grow(predicted, || {
                let key = self.pit.insert(&interest, &name, record).unwrap();
                self.pit.set_retry(key, Time::ZERO + Duration::from_secs(1));
                key
            }));
        }
        self.check(what);
    }

    /// Interests for one digest each, from a face each: both are counted apart.
    fn insert_digests(&mut self) {
        self.begin();
        for n in 0..300 {
            let digest = Component::implicit_digest([7; 32]);
            let name: Name = format!("/{n}").parse().unwrap();
            let wire = interest(&name.with(&digest));
            let interest = Interest::decode(&wire).unwrap();
            let name = self.hasher.hash(interest.name());
            let record = record(5000 + n, 6, 0);
            let predicted = self.pit.growth(name.whole(), wire.len(), &record);
            let insert = || self.pit.insert(&interest, &name, record);
            let before = allocator::in_use();
            self.keys.push(insert().unwrap());
            let grown = allocator::in_use() - before;
            assert!(grown <= predicted, "{grown} were allocated, {predicted} predicted");
        }
        self.check("digests");
    }

    /// Downstreams for every entry.
    fn join(&mut self, what: &str, faces: std::ops::Range<u64>, token: usize, option: usize) {
        self.begin();
        for key in self.keys.clone() {
            for face in faces.clone() {
                let record = record(face, token, option);
                let predicted = self.pit.growth_of(key, &record);
                grow(predicted, || self.pit.put_in_record(key, record)).unwrap();
            }
        }
        self.check(what);
    }

    fn send(&mut self, faces: std::ops::Range<u64>) {
        self.begin();
        for key in self.keys.clone() {
            for face in faces.clone() {
                let out = OutRecord::new(FaceId(face), 1, Time::ZERO, Time::ZERO);
                let predicted = self.pit.growth_upstream(key);
                grow(predicted, || self.pit.put_out_record(key, out)).unwrap();
            }
        }
        self.check("upstreams");
    }

    fn remove(&mut self) {
        let keys: Vec<PitKey> = self.keys.drain(..).collect();
        for (n, key) in keys.into_iter().enumerate() {
            match n % 3 {
                0 => self.pit.discard(key),
                1 => self.pit.linger(key, FaceId(10), Time::ZERO),
                _ => assert!(self.pit.remove(key).is_some()),
            }
        }
        while self.pit.pop_expired(Time::ZERO + Duration::from_millis(1)).is_some() {}
        assert_eq!((self.pit.len(), self.pit.heap()), (0, 0));
    }
}

fn the_pit() {
    let config = PitConfig::default();
    let (hasher, before) = (NameHasher::new(1), allocator::in_use());
    let (pit, keys) = (Pit::new(config), Vec::with_capacity(2000));
    let in_use = allocator::in_use() - keys.capacity() * size_of::<PitKey>();
    assert_eq!(pit.memory(), in_use - before, "an empty PIT");
    let mut run = PitRun { hasher, pit, keys, in_use: 0, counted: 0 };
    run.insert_digests();
    run.remove();
    run.insert("plain", 1, false);
    run.insert("prefix", 1, true);
    run.insert("long", 110, false);
    run.join("downstreams", 2..4, 0, 0);
    run.join("long tokens", 4..6, 32, 0);
    run.join("options", 6..8, 0, 50);
    run.send(10..12);
    run.send(11..14);
    run.remove();
    // Some more is kept than at first: places for 128 entries, hash tables, and lists of chunks.
    while run.pit.trim(1000) {}
    assert!(run.pit.memory() < in_use - before + (80 << 10), "{}", run.pit.memory());
}

struct FibRun {
    hasher: NameHasher,
    fib: Fib,
    names: Vec<Name>,
    /// Bytes in use, and those that the FIB said it takes, when a step began.
    in_use: usize,
    counted: usize,
}

impl FibRun {
    fn begin(&mut self) {
        (self.in_use, self.counted) = (allocator::in_use(), self.fib.memory());
    }

    /// The bytes that the step added or removed. The tree of faces is an estimate.
    fn check(&self, what: &str) {
        let real = allocator::in_use().abs_diff(self.in_use);
        let counted = self.fib.memory().abs_diff(self.counted);
        assert!(
            (real * 9 / 10..=real * 3 / 2 + 256).contains(&counted),
            "{what}: {real}, not {counted}"
        );
    }

    fn add(&mut self, n: usize, face: u64) {
        let prefix = self.hasher.hash(self.names[n].as_ref());
        let predicted = self.fib.growth(&prefix, FaceId(face));
        allocator::reset_peak();
        let before = allocator::in_use();
        self.fib.add(&prefix, FaceId(face), 1).unwrap();
        let grown = allocator::peak() - before;
        // A node of the tree has room for eleven faces and twelve nodes below it.
        let node = if self.fib.routes_of(FaceId(face)) == 1 { 3 * (11 * 48 + 12 * 8) } else { 0 };
        assert!(grown <= predicted + node, "{grown} were allocated, {predicted} predicted");
        let idle = 3 * block(size_of::<[u64; 4]>()) + 64 * self.fib.next_hops(&prefix).len();
        assert!(predicted <= grown + idle, "{grown} were allocated, {predicted} predicted");
    }
}

fn the_fib() {
    let names = (0..1000).map(|n| format!("/some/prefix/{n}").parse().unwrap()).collect();
    let (hasher, fib) = (NameHasher::new(1), Fib::new(10_000));
    let mut run = FibRun { hasher, fib, names, in_use: 0, counted: 0 };
    for face in 1..10 {
        run.begin();
        (0..500).for_each(|n| run.add(n, face));
        run.check(&format!("face {face}"));
    }
    run.begin();
    (500..1000).for_each(|n| run.add(n, 1000 + n as u64));
    run.check("a face for each prefix");
    run.begin();
    (1500..2000).for_each(|face| assert_eq!(run.fib.remove_face(FaceId(face)), 1));
    (1..9).for_each(|face| assert_eq!(run.fib.remove_face(FaceId(face)), 500));
    run.check("fewer faces");
    for name in &run.names[..500] {
        assert!(run.fib.remove(&run.hasher.hash(name.as_ref()), FaceId(9)));
    }
    assert!(run.fib.is_empty());
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn the_reported_memory_of_tables_is_exact() {
    the_pit();
    the_fib();
}
