//! The limits of a content store: numbers, memory, switches, and the ages of copies.

use crate::support;
use bytes::Bytes;
use control::{Duration, Rng, Time};
use forwarder::tables::content_store::Verdict;
use forwarder::tables::{
    Admission, ContentStore, ContentStoreConfig, MAX_PREFIX, NameHasher, Outcome, PolicyKind,
};
use packet::{Data, Interest, Name};

struct Bench {
    hasher: NameHasher,
    store: ContentStore,
    rng: Rng,
    now: Time,
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

impl Bench {
    fn new(config: ContentStoreConfig) -> Bench {
        let (hasher, rng) = (NameHasher::new(7), Rng::stream(7, &["store"]));
        Bench { hasher, store: ContentStore::new(config), rng, now: Time::ZERO }
    }

    fn offer(&mut self, wire: &Bytes, verdict: Option<Verdict>) -> Outcome {
        let data = Data::decode(wire).unwrap();
        let hashed = self.hasher.hash(data.name());
        let (store, rng) = (&mut self.store, &mut self.rng);
        store.insert_decided(self.now, rng, &data, wire.clone(), &hashed, verdict)
    }

    fn insert(&mut self, uri: &str, size: usize) -> Outcome {
        self.offer(&support::data(&name(uri), 0, size, None), None)
    }

    /// True if an Interest for this name, or below it, is answered.
    fn asks(&mut self, uri: &str, can_be_prefix: bool) -> bool {
        let wire = support::interest(&name(uri), can_be_prefix, false, None);
        let interest = Interest::decode(&wire).unwrap();
        let hashed = self.hasher.hash(interest.name());
        self.store.find(self.now, &interest, &hashed).is_some()
    }

    fn holds(&self, uri: &str) -> bool {
        self.store.holds(&self.hasher.hash(name(uri).as_ref()))
    }

    fn take_away(&mut self, uri: &str) -> bool {
        self.store.take_away(&self.hasher.hash(name(uri).as_ref()))
    }

    fn has_below(&self, uri: &str) -> bool {
        self.store.has_below(&self.hasher.hash(name(uri).as_ref()))
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }
}

#[test]
fn a_store_without_room_is_off() {
    let default = ContentStoreConfig::default();
    assert!(!default.is_off() && ContentStoreConfig::OFF.is_off());
    assert!(ContentStoreConfig { packets: 0, ..default }.is_off());
    assert!(ContentStoreConfig { capacity: 0, ..default }.is_off());
    let store = ContentStore::new(ContentStoreConfig { policy: PolicyKind::Fifo, ..default });
    assert!(!store.is_off() && store.policy() == PolicyKind::Fifo);
    let mut off = Bench::new(ContentStoreConfig::OFF);
    assert!(off.store.is_off());
    assert_eq!(off.insert("/a", 10), Outcome::TooLarge);
}

#[test]
fn stores_compare_by_packets_if_those_are_bounded_and_else_by_memory() {
    let default = ContentStoreConfig::default();
    assert_eq!(default.weight(), 64 << 20);
    assert_eq!(ContentStoreConfig { packets: 9, ..default }.weight(), 9);
}

#[test]
fn of_more_packets_than_there_may_be_the_policys_victims_go() {
    let config = ContentStoreConfig { packets: 3, ..ContentStoreConfig::default() };
    let mut b = Bench::new(config);
    assert_eq!(b.store.most_packets(), 3);
    for uri in ["/a", "/b", "/c"] {
        assert_eq!(b.insert(uri, 10), Outcome::Inserted);
    }
    assert!(b.asks("/a", false));
    assert_eq!((b.insert("/d", 10), b.store.len()), (Outcome::Inserted, 3));
    assert!(b.holds("/a") && !b.holds("/b") && b.holds("/c") && b.holds("/d"));
    b.store.set_packets(2, &mut b.rng);
    assert!(b.holds("/a") && !b.holds("/c") && b.holds("/d"));
    assert_eq!((b.store.most_packets(), b.store.counters().evicted), (2, 2));
    b.store.set_packets(5, &mut b.rng);
    assert_eq!((b.store.len(), b.insert("/e", 10), b.store.len()), (2, Outcome::Inserted, 3));
    b.store.set_packets(0, &mut b.rng);
    assert!(b.store.is_empty());
    assert_eq!((b.insert("/f", 10), b.store.is_empty()), (Outcome::TooLarge, true));
    assert_eq!(b.store.counters().too_large, 1);
}

#[test]
fn memory_is_bounded_where_copies_have_ages_too() {
    for capacity in (20_000..60_000).step_by(500) {
        let config = ContentStoreConfig { capacity, ..ContentStoreConfig::default() };
        let mut b = Bench::new(config);
        for n in 0..300 {
            let wire = support::data(&name(&format!("/{n}")), 0, 50, None);
            let age = Some(Duration::from_secs(n));
            assert_eq!(b.offer(&wire, Some(Verdict { admit: true, age })), Outcome::Inserted);
            let (memory, evicted) = (b.store.memory(), b.store.counters().evicted);
            assert!(memory <= capacity, "{memory} of {capacity}");
            assert!(evicted == 0 || memory > capacity / 2, "{memory} of {capacity}");
        }
    }
}

#[test]
fn memory_bounds_the_number_of_packets_too() {
    let config = ContentStoreConfig { capacity: 1 << 20, ..ContentStoreConfig::default() };
    let mut b = Bench::new(config);
    let most = b.store.most_packets();
    for n in 0..20_000 {
        b.insert(&format!("/{n}"), 0);
    }
    assert!(b.store.counters().evicted > 0);
    // The smallest packets come near to it, within a small factor.
    let len = b.store.len();
    assert!(len <= most && most <= 3 * len, "{len} of {most}");
    b.store.set_capacity(1 << 19, &mut b.rng);
    assert_eq!(b.store.most_packets(), most / 2);
}

#[test]
fn a_disabled_store_neither_admits_nor_serves_and_keeps_its_packets() {
    let mut b = Bench::new(ContentStoreConfig::default());
    assert!(b.store.admits() && b.store.serves());
    b.insert("/a", 10);
    b.store.switch(false, true);
    assert!(!b.store.admits() && b.store.serves());
    assert_eq!(
        (b.insert("/b", 10), b.insert("/a", 10)),
        (Outcome::NotAdmitted, Outcome::NotAdmitted)
    );
    assert!(b.asks("/a", false) && !b.holds("/b"));
    b.store.switch(true, false);
    assert!(b.store.admits() && !b.store.serves());
    assert_eq!(b.insert("/b", 10), Outcome::Inserted);
    assert!(!b.asks("/a", false) && b.holds("/a"));
    assert_eq!((b.store.counters().hits, b.store.counters().misses), (1, 1));
    b.store.switch(true, true);
    assert!(b.asks("/a", false));
}

#[test]
fn a_packet_that_is_not_admitted_leaves_the_one_of_its_name_where_it_is() {
    let mut b = Bench::new(ContentStoreConfig::default());
    b.insert("/a", 10);
    b.store.set_admission(Admission::None);
    let other = support::data(&name("/a"), 1, 10, None);
    assert_eq!(b.offer(&other, None), Outcome::NotAdmitted);
    assert_eq!(b.insert("/a", 10), Outcome::Refreshed);
    // A rule that knows the way decides instead.
    let verdict = |admit| Some(Verdict { admit, age: None });
    assert_eq!(b.offer(&other, verdict(true)), Outcome::Inserted);
    b.store.set_admission(Admission::All);
    assert_eq!(
        b.offer(&support::data(&name("/b"), 0, 1, None), verdict(false)),
        Outcome::NotAdmitted
    );
    let counters = b.store.counters();
    assert_eq!((counters.inserted, counters.refreshed, counters.not_admitted), (2, 1, 2));
}

#[test]
fn copies_live_as_long_as_their_ages_say() {
    let mut b = Bench::new(ContentStoreConfig::default());
    let verdict = |admit, secs| Some(Verdict { admit, age: Some(Duration::from_secs(secs)) });
    let data = |uri: &str| support::data(&name(uri), 0, 10, None);
    b.insert("/ageless", 10);
    let without = b.store.memory();
    assert_eq!(b.offer(&data("/a"), verdict(true, 2)), Outcome::Inserted);
    assert_eq!(b.offer(&data("/b"), verdict(true, 4)), Outcome::Inserted);
    assert_eq!(b.offer(&data("/c"), verdict(false, 1)), Outcome::NotAdmitted);
    assert!(b.store.memory() > without + 64 * 24, "ages take memory");
    assert!(b.asks("/a", false));
    assert_eq!(b.store.hit_age(), Some(Duration::from_secs(2)));
    assert!(b.asks("/ageless", false));
    assert_eq!(b.store.hit_age(), None);
    b.wait(1999);
    assert!(b.asks("/a", false) && b.asks("/b", false));
    assert_eq!(b.store.hit_age(), Some(Duration::from_secs(4)));
    b.wait(1);
    assert!(!b.asks("/a", false) && !b.holds("/a"), "it has lived its time");
    assert_eq!(b.store.counters().died, 1);
    // One that comes again begins a new life, as does one that is given another age.
    assert_eq!(b.offer(&data("/b"), verdict(true, 3)), Outcome::Refreshed);
    b.wait(2500);
    assert!(b.asks("/b", false));
    b.store.set_age(b.now, &b.hasher.hash(name("/b").as_ref()), Duration::from_secs(1));
    b.wait(999);
    assert!(b.asks("/b", false));
    b.wait(1);
    // New Data finds the room of the removed ones.
    b.insert("/d", 10);
    assert!(!b.holds("/b") && b.holds("/ageless"));
    assert_eq!((b.store.counters().died, b.store.len()), (2, 2));
    assert_eq!(b.store.counters().evicted, 0);
}

#[test]
fn packets_moved_out_of_the_store_are_counted() {
    let mut b = Bench::new(ContentStoreConfig::default());
    let empty = b.store.memory();
    b.insert("/a/b", 1000);
    let one = b.store.memory();
    assert!(!b.take_away("/a") && !b.take_away("/a/b/c"));
    assert_eq!((b.store.counters().moved, b.store.memory()), (0, one));
    assert!(b.take_away("/a/b"));
    assert_eq!((b.store.counters().moved, b.store.len()), (1, 0));
    assert!(b.store.memory() < one - 1000 && b.store.memory() >= empty);
    assert!(!b.take_away("/a/b"));
}

#[test]
fn data_is_found_below_every_prefix_that_can_be_matched() {
    let mut b = Bench::new(ContentStoreConfig::default());
    let deep = "/x".repeat(MAX_PREFIX + 10);
    b.insert(&deep, 10);
    for n in [0, 1, MAX_PREFIX, MAX_PREFIX + 10] {
        let prefix = if n == 0 { "/".to_owned() } else { "/x".repeat(n) };
        assert!(b.has_below(&prefix), "{n}");
        assert!(n == 0 || b.asks(&prefix, true), "{n}");
    }
    assert!(!b.has_below("/y") && !b.has_below(&"/x".repeat(MAX_PREFIX + 9)));
    assert_eq!(b.store.erase(&b.hasher.hash(Name::new().as_ref()), 10), 1);
    assert!(b.store.is_empty() && !b.has_below("/"));
}

#[test]
fn a_store_gives_way_to_others_as_far_as_it_can() {
    let config = ContentStoreConfig { capacity: 1 << 20, ..ContentStoreConfig::default() };
    let mut b = Bench::new(config);
    let empty = b.store.memory();
    (0..200).for_each(|n| assert_eq!(b.insert(&format!("/a/{n}"), 1000), Outcome::Inserted));
    let all = b.store.memory();
    assert!(b.store.give_way(all, &mut b.rng));
    assert_eq!((b.store.len(), b.store.memory()), (200, all), "there is room for all of it");
    assert!(b.store.give_way(100_000, &mut b.rng));
    assert!(b.store.memory() <= 100_000 && b.store.memory() > 90_000, "{}", b.store.memory());
    assert!(b.holds("/a/199") && !b.holds("/a/0"));
    // Its limit from now on.
    (0..200).for_each(|n| assert_eq!(b.insert(&format!("/b/{n}"), 1000), Outcome::Inserted));
    assert!(b.store.memory() <= 100_000);
    b.store.set_left(5000);
    let len = b.store.len();
    assert_eq!(b.insert("/large", 5000), Outcome::TooLarge);
    assert_eq!(b.store.len(), len, "what never fits drives nothing out");
    b.store.set_left(usize::MAX);
    (0..200).for_each(|n| assert_eq!(b.insert(&format!("/c/{n}"), 1000), Outcome::Inserted));
    assert!((0..200).all(|n| b.holds(&format!("/c/{n}"))));
    assert!(!b.store.give_way(empty - 1, &mut b.rng), "an empty store has a size");
    // Each of the 64 parts of the index keeps eight words.
    let least = b.store.memory();
    assert!(b.store.is_empty() && least <= empty + 64 * 64, "{least}");
    assert!(b.store.give_way(least, &mut b.rng) && !b.store.give_way(least - 1, &mut b.rng));
    assert_eq!(b.store.capacity(), 1 << 20, "what is configured stays");
}

#[test]
fn a_digest_is_kept_beside_the_packet_where_there_is_room() {
    let mut b = Bench::new(ContentStoreConfig::default());
    let wire = support::data(&name("/a"), 0, 1000, None);
    b.offer(&wire, None);
    let ask = |b: &mut Bench, of: &Bytes| {
        let interest = support::interest(&name("/a"), false, false, Some(of));
        let interest = Interest::decode(&interest).unwrap();
        let hashed = b.hasher.hash(interest.name());
        b.store.find(b.now, &interest, &hashed)
    };
    let other = support::data(&name("/a"), 1, 1000, None);
    let without = b.store.memory();
    // 32 bytes, as the allocator rounds them with a word of its own.
    for _ in 0..2 {
        assert_eq!((ask(&mut b, &wire), ask(&mut b, &other)), (Some(wire.clone()), None));
        assert_eq!(b.store.memory(), without + 48);
    }
    // The digest goes with its packet.
    b.offer(&other, None);
    assert_eq!(b.store.memory(), without);
    for room in [47, 48] {
        b.store.set_left(without + room);
        assert_eq!(ask(&mut b, &other), Some(other.clone()));
        assert_eq!(b.store.memory(), if room == 48 { without + 48 } else { without });
    }
}

#[test]
fn policies_and_rules_of_admission_have_names() {
    for (kind, name) in PolicyKind::ALL.into_iter().zip(["lru", "lfu", "fifo", "random"]) {
        assert_eq!((kind.to_string().as_str(), name.parse()), (name, Ok(kind)));
    }
    let error = "mru".parse::<PolicyKind>().unwrap_err().to_string();
    assert!(error.contains("`mru`") && error.contains("lru, lfu, fifo and random"), "{error}");
    let rule = |text: &str| text.parse::<Admission>().unwrap();
    for (text, on_path) in [("all", false), ("none", false), ("1 %", false), ("lcd", true)] {
        assert_eq!(rule(text).on_path().is_some(), on_path, "{text}");
    }
    assert!("age:base=0 s".parse::<Admission>().is_err(), "nothing lives for no time");
}

/// The name of the packet that is found below a prefix.
fn found_below(b: &mut Bench, uri: &str, must_be_fresh: bool) -> String {
    let wire = support::interest(&name(uri), true, must_be_fresh, None);
    let interest = Interest::decode(&wire).unwrap();
    let hashed = b.hasher.hash(interest.name());
    let found = b.store.find(b.now, &interest, &hashed).unwrap();
    Data::decode(&found).unwrap().name().to_string()
}

#[test]
fn packets_below_keywords_are_found_before_smaller_components() {
    let mut b = Bench::new(ContentStoreConfig::default());
    for uri in ["/a/b/seg=0", "/a/32=x/seg=0", "/a/v=1/seg=0"] {
        b.insert(uri, 10);
    }
    assert_eq!(found_below(&mut b, "/a", false), "/a/32=x/seg=0");
}

#[test]
fn a_packet_that_comes_again_is_found_first_below_each_of_its_prefixes() {
    let mut b = Bench::new(ContentStoreConfig::default());
    let data = |uri: &str| support::data(&name(uri), 0, 10, Some(1000));
    for uri in ["/r/a/x/1", "/r/a/x/2", "/r/a/y/1", "/r/b/1"] {
        assert_eq!(b.offer(&data(uri), None), Outcome::Inserted);
        assert_eq!(found_below(&mut b, "/r", true), uri, "the newest branch comes first");
    }
    assert_eq!(b.offer(&data("/r/a/x/1"), None), Outcome::Refreshed);
    for prefix in ["/r", "/r/a", "/r/a/x"] {
        assert_eq!(found_below(&mut b, prefix, true), "/r/a/x/1", "below {prefix}");
    }
    assert_eq!(found_below(&mut b, "/r/b", true), "/r/b/1");
}
