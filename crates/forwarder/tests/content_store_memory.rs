//! The content store's own account of its memory, compared with the requests to the allocator.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocator;

use bytes::Bytes;
use control::{Rng, Time};
use forwarder::tables::{ContentStore, ContentStoreConfig, NameHasher, PolicyKind};
use packet::{Component, Data, DataBuf, Interest, Name};

/// Memory that one insertion may use while it works: the offered packet, encoded twice by this
/// test.
const SMALL: usize = 32 << 10;

struct Run {
    hasher: NameHasher,
    store: ContentStore,
    rng: Rng,
    /// Bytes in use before the store was made.
    before: usize,
    inserted: u64,
}

impl Run {
    fn new(policy: PolicyKind, capacity: usize) -> Self {
        let hasher = NameHasher::new(1);
        let rng = Rng::stream(1, &["memory"]);
        let before = allocator::in_use();
        allocator::reset_peak();
        let config = ContentStoreConfig { capacity, policy, ..Default::default() };
        Run { hasher, store: ContentStore::new(config), rng, before, inserted: 0 }
    }

    /// Inserts Data of this size, and asks for one of the last thousand.
    fn insert(&mut self, size: usize, spread: bool) {
        self.inserted += 1;
        let wire = {
            let name = self.name(self.inserted, spread);
            let mut encoded = Vec::new();
            encoded.extend_from_slice(&DataBuf::new(name, vec![0; size]).encode_digest());
            Bytes::copy_from_slice(&encoded)
        };
        let data = Data::decode(&wire).unwrap();
        let hashed = self.hasher.hash(data.name());
        self.store.insert(Time::ZERO, &mut self.rng, &data, wire.clone(), &hashed);
        let one = self.inserted - self.rng.below(self.inserted.min(1000));
        let interest = packet::InterestBuf::new(self.name(one, spread)).encode();
        let interest = Interest::decode(&interest).unwrap();
        self.store.find(Time::ZERO, &interest, &self.hasher.hash(interest.name()));
    }

    /// Segments of one object, or every packet under a prefix of its own.
    fn name(&self, n: u64, spread: bool) -> Name {
        let mut name: Name = "/some/object".parse().unwrap();
        name.push(Component::segment(n).as_ref());
        if spread {
            name.push(Component::generic(b"a").as_ref());
            name.push(Component::generic(b"b").as_ref());
        }
        name
    }

    fn check(&self, what: &str) {
        let measured = allocator::in_use() - self.before;
        let (accounted, limit) = (self.store.memory(), self.store.capacity());
        assert!(accounted * 100 >= measured * 95, "{what}: {accounted} of {measured} accounted");
        assert!(accounted <= limit, "{what}: {accounted} with a limit of {limit}");
        assert!(measured <= limit + SMALL, "{what}: {measured} with a limit of {limit}");
    }

    fn check_peak(&self, what: &str) {
        let peak = allocator::peak() - self.before;
        let limit = self.store.capacity();
        assert!(peak <= limit + SMALL, "{what}: a peak of {peak} with a limit of {limit}");
    }
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn the_limit_is_kept_in_real_memory() {
    for policy in PolicyKind::ALL {
        for (size, spread) in [(0, false), (64, false), (64, true), (8000, false)] {
            let what = format!("{policy}, packets of {size}, spread: {spread}");
            let limit = if size < 1000 { 1 << 20 } else { 8 << 20 };
            let mut run = Run::new(policy, limit);
            let packets = limit / (size + 150);
            for n in 0..packets * 3 {
                run.insert(size, spread);
                if n % 1000 == 0 {
                    run.check(&what);
                }
            }
            assert!(run.store.counters().evicted > 0);
            run.check(&what);
            run.check_peak(&what);
            // The reserve, too, is given back when there is less to use it for.
            run.store.set_capacity(limit / 4, &mut run.rng);
            run.check(&what);
            for _ in 0..packets {
                run.insert(8000 - size, spread);
            }
            run.check(&what);
            run.store.set_capacity(2 * limit, &mut run.rng);
            for _ in 0..packets {
                run.insert(size, spread);
            }
            run.check(&what);
        }
    }
}
