//! The tables at their largest: a million routes, a million pending Interests, a full content
//! store.
//!
//! Prints nanoseconds an operation, every packet in random order so that nothing is in the
//! processor's caches by luck, and bytes of memory an entry as the allocator was asked for them.
//! The packets are decoded and their names hashed where the line says so. An argument that is a
//! number takes the place of the million.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints or fails")]

#[path = "../tests/allocator/mod.rs"]
mod allocator;

use bytes::Bytes;
use control::{Duration, Rng, Time};
use forwarder::tables::{
    ContentStore, ContentStoreConfig, DeadNonces, FaceId, Fib, InRecord, NameHasher, OutRecord,
    Pit, PitConfig, PitToken, PolicyKind, dead_nonces::DEFAULT_LIFETIME,
};
use packet::{Component, Data, DataBuf, HopOptions, Interest, InterestBuf, Name};
use std::hint::black_box;

/// Packets that are made ahead, so that making them is not measured.
const BATCH: usize = 20_000;
const BATCHES: usize = 15;

/// The median over batches of the nanoseconds that `work` takes for one of `items`.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn nanoseconds<T>(
    mut items: impl FnMut(usize) -> Vec<T>,
    batches: usize,
    mut work: impl FnMut(&T),
) -> f64 {
    let mut times: Vec<f64> = (0..batches)
        .map(|n| {
            let items = items(n);
            let start = std::time::Instant::now();
            items.iter().for_each(&mut work);
            start.elapsed().as_nanos() as f64 / items.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(what: &str, nanoseconds: f64) {
    println!("{what:<64}{nanoseconds:>8.0} ns");
}

fn report_memory(what: &str, bytes: f64) {
    println!("{what:<64}{bytes:>8.0} bytes");
}

/// Prefixes of 2, 3 and 4 components, about 30 bytes.
fn prefix(n: usize) -> Name {
    let parts =
        [format!("region-{:03}", n % 997), format!("site-{n}"), "app".into(), "east".into()];
    parts.iter().take(2 + n % 3).map(|p| Component::generic(p.as_bytes())).collect()
}

/// How names of packets that follow each other hang together.
#[derive(Clone, Copy, Debug)]
enum Mix {
    /// As in transfers: 64 objects at a time, a segment of each in turn, 250 segments an object.
    Objects,
    /// No two packets have more than one component in common: the worst there is.
    Unasked,
}

impl Mix {
    /// The name of packet `n`, of 5 to 7 components below one of `routes` prefixes.
    fn name(self, n: usize, routes: usize) -> Name {
        let (object, segment) = match self {
            Mix::Objects => (n / (64 * 250) * 64 + n % 64, n / 64 % 250),
            Mix::Unasked => (n, n),
        };
        prefix(object.wrapping_mul(7_919) % routes)
            .with(&Component::generic(format!("video-{object}.mp4").as_bytes()))
            .with(&Component::version(1_700_000_000_000))
            .with(&Component::segment(segment as u64))
    }
}

fn interest(name: Name) -> Bytes {
    let mut interest = InterestBuf::new(name);
    interest.nonce = Some(0x1234_5678);
    interest.encode()
}

fn data(name: Name, size: usize) -> Bytes {
    let mut data = DataBuf::new(name, vec![0; size]);
    data.freshness_ms = Some(10_000);
    Bytes::copy_from_slice(&data.encode_digest())
}

fn in_record(now: Time) -> InRecord {
    InRecord {
        face: FaceId(1),
        nonce: 0x1234_5678,
        arrived_at: now,
        expires: now + Duration::from_secs(4),
        token: PitToken::NONE,
        options: HopOptions::new(),
    }
}

struct Bench {
    entries: usize,
    hasher: NameHasher,
    rng: Rng,
}

impl Bench {
    /// A batch of things made from random numbers below the number of entries.
    fn random<T>(&mut self, mut make: impl FnMut(usize) -> T) -> Vec<T> {
        (0..BATCH).map(|_| make(self.rng.below(self.entries as u64) as usize)).collect()
    }

    /// All numbers below the number of entries, shuffled.
    fn shuffled(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.entries).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
        all
    }

    fn unasked(&self, n: usize) -> Name {
        Mix::Unasked.name(n, self.entries)
    }

    fn names(&mut self) {
        let (hasher, routes) = (self.hasher.clone(), self.entries);
        let names = self.random(|n| Mix::Unasked.name(n, routes));
        let ns = nanoseconds(
            |_| names.clone(),
            BATCHES,
            |name| {
                black_box(hasher.hash(black_box(name.as_ref())));
            },
        );
        report("hash a name of 6 components and its prefixes", ns);
        let wires = self.random(|n| interest(Mix::Unasked.name(n, routes)));
        let ns = nanoseconds(
            |_| wires.clone(),
            BATCHES,
            |wire| {
                black_box(Interest::decode(black_box(wire))).unwrap();
            },
        );
        report("decode an Interest", ns);
    }

    fn fib(&mut self) -> Fib {
        let (hasher, routes) = (self.hasher.clone(), self.entries);
        let mut fib = Fib::new(self.entries);
        let before = allocator::in_use();
        let order = self.shuffled();
        let mut chunks = order.chunks(BATCH.min(order.len()));
        let ns = nanoseconds(
            |_| chunks.next().unwrap().iter().map(|n| (*n, prefix(*n))).collect(),
            order.len().div_ceil(BATCH),
            |(n, name)| {
                let hashed = hasher.hash(name.as_ref());
                fib.add(&hashed, FaceId(1 + *n as u64 % 16), 1).unwrap();
            },
        );
        report("FIB: hash and add a route", ns);
        let measured = (allocator::in_use() - before) as f64 / fib.len() as f64;
        report_memory("FIB: memory of an entry with one next hop", measured);
        report_memory("     as accounted", fib.memory() as f64 / fib.len() as f64);
        let ns = nanoseconds(
            |_| self.random(|n| Mix::Unasked.name(n, routes)),
            BATCHES,
            |name| assert!(black_box(fib.lookup(&hasher.hash(name.as_ref()))).is_some()),
        );
        report("FIB: hash and longest-prefix match", ns);
        fib
    }

    fn pit(&mut self) -> Pit {
        let (hasher, routes) = (self.hasher.clone(), self.entries);
        let config = PitConfig { entries: usize::MAX, per_face: usize::MAX, memory: usize::MAX };
        let mut pit = Pit::new(config);
        let before = allocator::in_use();
        let mut made = 0;
        let ns = nanoseconds(
            |_| {
                made += BATCH.min(self.entries);
                (made - BATCH.min(self.entries)..made).map(|n| interest(self.unasked(n))).collect()
            },
            self.entries.div_ceil(BATCH),
            |wire| {
                let interest = Interest::decode(wire).unwrap();
                let name = hasher.hash(interest.name());
                assert!(pit.find(&interest, &name).is_none());
                let key = pit.insert(&interest, &name, in_record(Time::ZERO)).unwrap();
                let out = OutRecord::new(FaceId(2), 1, Time::ZERO, Time::ZERO);
                pit.put_out_record(key, out).unwrap();
            },
        );
        report("PIT: decode, hash, find none, insert, in- and out-record", ns);
        let measured = (allocator::in_use() - before) as f64 / pit.len() as f64;
        report_memory("PIT: memory of an entry, its Interest included", measured);
        report_memory("     as accounted", pit.memory() as f64 / pit.len() as f64);
        report_memory(
            "     of which the Interest",
            interest(self.unasked(self.entries / 2)).len() as f64,
        );
        let ns = nanoseconds(
            |_| self.random(|n| interest(Mix::Unasked.name(n, routes))),
            BATCHES,
            |wire| {
                let interest = Interest::decode(wire).unwrap();
                let key = pit.find(&interest, &hasher.hash(interest.name())).unwrap();
                pit.put_in_record(key, in_record(Time::ZERO)).unwrap();
            },
        );
        report("PIT: decode, hash, find, replace the in-record", ns);
        pit
    }

    fn store(&mut self, policy: PolicyKind, size: usize, mix: Mix) -> ContentStore {
        let (hasher, routes) = (self.hasher.clone(), self.entries);
        let mut rng = self.rng.clone();
        let capacity = self.entries * if size < 1000 { 330 } else { 1100 };
        let before = allocator::in_use();
        let config = ContentStoreConfig { capacity, policy, ..Default::default() };
        let mut store = ContentStore::new(config);
        let mut made = 0;
        let mut offer = |store: &mut ContentStore, wire: &Bytes| {
            let data = Data::decode(wire).unwrap();
            let name = hasher.hash(data.name());
            store.insert(Time::ZERO, &mut rng, &data, wire.clone(), &name);
        };
        let mut next = || {
            made += 1;
            data(mix.name(made, routes), size)
        };
        while store.counters().evicted < 1000 {
            let wire = next();
            offer(&mut store, &wire);
        }
        let count = store.len();
        let what = format!("CS, {policy}, {size} bytes, {mix:?}");
        let measured = (allocator::in_use() - before) as f64;
        report_memory(&format!("{what}: memory of an entry"), measured / count as f64);
        report_memory("     of which the Data", data(mix.name(count, routes), size).len() as f64);
        let share = measured * 100.0 / capacity as f64;
        println!("{:<64}{share:>8.1} %", "     measured, as a share of the limit");
        let ns = nanoseconds(
            |_| (0..BATCH).map(|_| next()).collect(),
            BATCHES,
            |wire| offer(&mut store, wire),
        );
        report(&format!("{what}: decode, hash, evict, insert"), ns);
        let newest = made;
        let ns = nanoseconds(
            |_| {
                let some = |rng: &mut Rng| newest - rng.below(count as u64 / 2) as usize;
                (0..BATCH).map(|_| interest(mix.name(some(&mut self.rng), routes))).collect()
            },
            BATCHES,
            |wire: &Bytes| {
                let interest = Interest::decode(wire).unwrap();
                black_box(store.find(Time::ZERO, &interest, &hasher.hash(interest.name())));
            },
        );
        report(&format!("{what}: decode, hash, hit"), ns);
        store
    }

    fn nonces(&mut self) {
        let mut nonces = DeadNonces::new(DEFAULT_LIFETIME, self.entries);
        let before = allocator::in_use();
        let hasher = self.hasher.clone();
        let mut rng = self.rng.clone();
        let mut keys = |_| (0..BATCH).map(|_| rng.next_u64()).collect::<Vec<_>>();
        let batches = 2 * self.entries.div_ceil(BATCH);
        let ns = nanoseconds(&mut keys, batches, |key| nonces.insert(Time::ZERO, *key));
        report("dead nonces: insert, forgetting the oldest", ns);
        let measured = (allocator::in_use() - before) as f64 / nonces.len() as f64;
        report_memory("dead nonces: memory of one", measured);
        let ns = nanoseconds(&mut keys, BATCHES, |key| {
            black_box(nonces.contains(Time::ZERO, hasher.nonce_key(*key, 1)));
        });
        report("dead nonces: hash and look up, not found", ns);
    }

    /// The share of the tables in a forwarder's time for an Interest and for its Data.
    fn journeys(&mut self, fib: &Fib, pit: &mut Pit, store: &mut ContentStore, mix: Mix) {
        let (hasher, routes) = (self.hasher.clone(), self.entries);
        let mut rng = self.rng.clone();
        let mut nonces = DeadNonces::new(DEFAULT_LIFETIME, self.entries);
        let now = Time(1_000_000);
        // Names that nothing knows yet.
        let first = 16_000 * 1000 + pit.len() + store.len();
        let fresh = |batch: usize| (0..BATCH).map(move |n| first + batch * BATCH + n);
        let ns = nanoseconds(
            |batch| fresh(batch).map(|n| interest(mix.name(n, routes))).collect(),
            BATCHES,
            |wire| {
                let interest = Interest::decode(wire).unwrap();
                let name = hasher.hash(interest.name());
                assert!(!nonces.contains(now, hasher.nonce_key(name.whole(), 1)));
                assert!(pit.find(&interest, &name).is_none());
                assert!(store.find(now, &interest, &name).is_none());
                let key = pit.insert(&interest, &name, in_record(now)).unwrap();
                let (_, hops) = fib.lookup(&name).unwrap();
                let out = OutRecord::new(FaceId(hops[0].face), 1, now, now);
                pit.put_out_record(key, out).unwrap();
            },
        );
        report(&format!("an Interest ({mix:?}): decode, hash, nonce, PIT, CS, FIB"), ns);
        let mut found = Vec::new();
        let ns = nanoseconds(
            |batch| fresh(batch).map(|n| data(mix.name(n, routes), 64)).collect(),
            BATCHES,
            |wire: &Bytes| {
                let data = Data::decode(wire).unwrap();
                let name = hasher.hash(data.name());
                pit.find_satisfied(&data, &name, &mut found);
                assert_eq!(found.len(), 1);
                for key in found.drain(..) {
                    let entry = pit.remove(key).unwrap();
                    let nonce = entry.out_records()[0].nonce;
                    nonces.insert(now, hasher.nonce_key(name.whole(), nonce));
                }
                store.insert(now, &mut rng, &data, wire.clone(), &name);
            },
        );
        report(&format!("its Data ({mix:?}): decode, hash, PIT, nonce, CS"), ns);
    }
}

fn main() {
    let number = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let entries = number.unwrap_or(1_000_000).max(BATCH);
    println!("tables with {entries} entries");
    let (hasher, rng) = (NameHasher::new(1), Rng::stream(1, &["bench"]));
    let mut bench = Bench { entries, hasher, rng };
    bench.names();
    bench.nonces();
    for policy in PolicyKind::ALL {
        bench.store(policy, 1000, Mix::Objects);
    }
    let fib = bench.fib();
    let mut pit = bench.pit();
    for mix in [Mix::Objects, Mix::Unasked] {
        let mut store = bench.store(PolicyKind::Lru, 64, mix);
        bench.journeys(&fib, &mut pit, &mut store, mix);
    }
}
