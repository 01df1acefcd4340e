use crate::support;
use bytes::Bytes;
use control::{Duration, Ratio, Rng, Time};
use forwarder::tables::{
    Admission, ContentStore, ContentStoreConfig, NameHasher, Outcome, PolicyKind,
};
use packet::{Data, Interest, Name};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    /// Name, variant, size of the content, freshness.
    Insert(Name, u8, usize, Option<u64>),
    /// Name, CanBePrefix, MustBeFresh, the digest of which variant and size.
    Find(Name, bool, bool, Option<(u8, usize)>),
    Erase(Name, usize),
    Resize(usize),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let flag = any::<bool>;
    let size = || prop_oneof![Just(10usize), Just(900), Just(4000)];
    let digest = prop_oneof![3 => Just(None), 1 => (0u8..2, size()).prop_map(Some)];
    let freshness = prop_oneof![Just(None), Just(Some(0)), (1u64..5000).prop_map(Some)];
    prop_oneof![
        8 => (support::name(), 0u8..2, size(), freshness)
            .prop_map(|(n, v, s, f)| Op::Insert(n, v, s, f)),
        8 => (support::full_name(), flag(), flag(), digest)
            .prop_map(|(n, c, m, d)| Op::Find(n, c, m, d)),
        1 => (support::name(), 0usize..10).prop_map(|(n, l)| Op::Erase(n, l)),
        1 => (30_000usize..60_000).prop_map(Op::Resize),
        1 => (0u64..2000).prop_map(Op::Wait),
    ]
}

struct Entry {
    name: Name,
    wire: Bytes,
    stale_at: Time,
    /// When it was inserted and last used, in steps; how often used.
    inserted: usize,
    used: usize,
    uses: u64,
}

struct Harness {
    kind: PolicyKind,
    hasher: NameHasher,
    store: ContentStore,
    model: Vec<Entry>,
    rng: Rng,
    now: Time,
    step: usize,
}

impl Harness {
    fn new(kind: PolicyKind) -> Self {
        let config = ContentStoreConfig { capacity: 40_000, policy: kind, ..Default::default() };
        Harness {
            kind,
            hasher: NameHasher::new(7),
            store: ContentStore::new(config),
            model: Vec::new(),
            rng: Rng::stream(7, &["store"]),
            now: Time::ZERO,
            step: 0,
        }
    }

    fn holds(&self, name: &Name) -> bool {
        self.store.holds(&self.hasher.hash(name.as_ref()))
    }

    /// Lets the model evict as many as the store did, but not the newcomer, and compares.
    fn evict(&mut self, newcomer: Option<&Name>) -> Result<(), TestCaseError> {
        while self.model.len() > self.store.len() {
            let old = self.model.iter().enumerate().filter(|(_, e)| Some(&e.name) != newcomer);
            let victim = match self.kind {
                PolicyKind::Fifo => old.min_by_key(|(_, e)| e.inserted),
                PolicyKind::Lru => old.min_by_key(|(_, e)| e.used),
                PolicyKind::Lfu => old.min_by_key(|(_, e)| (e.uses, e.used)),
                PolicyKind::Random => old.into_iter().find(|(_, e)| !self.holds(&e.name)),
            };
            let at = victim.expect("the store evicted something").0;
            self.model.swap_remove(at);
        }
        for entry in &self.model {
            prop_assert!(self.holds(&entry.name), "{}", entry.name);
        }
        prop_assert_eq!(self.model.len(), self.store.len());
        prop_assert!(self.store.memory() <= self.store.capacity());
        Ok(())
    }

    fn insert(&mut self, name: &Name, wire: &Bytes) -> Result<(), TestCaseError> {
        let data = Data::decode(wire).unwrap();
        let hashed = self.hasher.hash(data.name());
        let outcome = self.store.insert(self.now, &mut self.rng, &data, wire.clone(), &hashed);
        let stale_at = self.now + Duration::from_millis(data.freshness_ms().unwrap_or(0));
        let step = self.step;
        if let Some(known) = self.model.iter_mut().find(|e| e.name == *name && e.wire == *wire) {
            prop_assert_eq!(outcome, Outcome::Refreshed);
            (known.stale_at, known.used, known.uses) = (stale_at, step, known.uses + 1);
            return Ok(());
        }
        prop_assert_eq!(outcome, Outcome::Inserted);
        self.model.retain(|e| e.name != *name);
        let (name, wire) = (name.clone(), wire.clone());
        let (inserted, used, uses) = (step, step, 1);
        self.model.push(Entry { name, wire, stale_at, inserted, used, uses });
        let newcomer = self.model[self.model.len() - 1].name.clone();
        self.evict(Some(&newcomer))
    }

    fn find(&mut self, wire: &Bytes) -> Result<(), TestCaseError> {
        let interest = Interest::decode(wire).unwrap();
        let hashed = self.hasher.hash(interest.name());
        let found = self.store.find(self.now, &interest, &hashed);
        let answers = |e: &Entry| {
            Data::decode(&e.wire).unwrap().satisfies(&interest)
                && (!interest.must_be_fresh() || self.now < e.stale_at)
        };
        let Some(found) = found else {
            prop_assert!(!self.model.iter().any(answers));
            return Ok(());
        };
        let hit = self.model.iter().position(|e| e.wire == found && answers(e));
        prop_assert!(hit.is_some());
        let entry = &mut self.model[hit.unwrap()];
        (entry.used, entry.uses) = (self.step, entry.uses + 1);
        Ok(())
    }

    fn erase(&mut self, prefix: &Name, limit: usize) -> Result<(), TestCaseError> {
        let below = |e: &Entry| e.name.as_ref().starts_with(prefix.as_ref());
        let matching = self.model.iter().filter(|e| below(e)).count();
        let erased = self.store.erase(&self.hasher.hash(prefix.as_ref()), limit);
        prop_assert_eq!(erased, matching.min(limit));
        let (store, hasher) = (&self.store, &self.hasher);
        self.model.retain(|e| !below(e) || store.holds(&hasher.hash(e.name.as_ref())));
        self.evict(None)
    }

    fn step(&mut self, op: Op) -> Result<(), TestCaseError> {
        self.step += 1;
        match op {
            Op::Insert(name, variant, size, freshness) => {
                let wire = support::data(&name, variant, size, freshness);
                self.insert(&name, &wire)
            }
            Op::Find(name, prefix, fresh, digest) => {
                let of = digest.map(|(v, size)| support::data(&name, v, size, None));
                let wire = support::interest(&name, prefix, fresh, of.as_ref());
                self.find(&wire)
            }
            Op::Erase(prefix, limit) => self.erase(&prefix, limit),
            Op::Resize(capacity) => {
                self.store.set_capacity(capacity, &mut self.rng);
                self.evict(None)
            }
            Op::Wait(ms) => {
                self.now += Duration::from_millis(ms);
                Ok(())
            }
        }
    }
}

fn agrees_with_a_list(kind: PolicyKind) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..Default::default()
    });
    let result = runner.run(&prop::collection::vec(op(), 1..200), |ops| {
        let mut harness = Harness::new(kind);
        ops.into_iter().try_for_each(|op| harness.step(op))
    });
    if let Err(error) = result {
        panic!("{kind}: {error}");
    }
}

#[test]
fn lru_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Lru);
}

#[test]
fn lfu_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Lfu);
}

#[test]
fn fifo_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Fifo);
}

#[test]
fn random_agrees_with_a_list() {
    agrees_with_a_list(PolicyKind::Random);
}

fn offer(h: &mut Harness, n: usize) -> Outcome {
    let name = format!("/a/{n}").parse().unwrap();
    let wire = support::data(&name, 0, 100, None);
    let data = Data::decode(&wire).unwrap();
    let hashed = h.hasher.hash(data.name());
    h.store.insert(h.now, &mut h.rng, &data, wire.clone(), &hashed)
}

#[test]
fn admission_lets_in_the_configured_share() {
    let mut h = Harness::new(PolicyKind::Lru);
    h.store.set_admission(Admission::Probability(Ratio::new(0.25).unwrap()));
    let admitted = (0..4000).filter(|n| offer(&mut h, *n) == Outcome::Inserted).count();
    // 1000 expected; the standard deviation is 27, five of them are 137.
    assert!(admitted.abs_diff(1000) < 137, "{admitted}");
    h.store.set_admission(Admission::None);
    assert_eq!(offer(&mut h, 5000), Outcome::NotAdmitted);
    let counters = *h.store.counters();
    assert_eq!(counters.inserted, admitted as u64);
    assert_eq!(counters.not_admitted, 4001 - admitted as u64);
    assert_eq!(counters.evicted, admitted as u64 - h.store.len() as u64);
}

#[test]
fn random_replacement_evicts_old_and_new_packets_alike() {
    let mut h = Harness::new(PolicyKind::Random);
    let mut n = 0;
    while h.store.counters().evicted == 0 {
        offer(&mut h, n);
        n += 1;
    }
    let full = h.store.len();
    for n in n..n + full {
        offer(&mut h, n);
    }
    let survivors = (0..full)
        .filter(|n| {
            let name: Name = format!("/a/{n}").parse().unwrap();
            h.holds(&name)
        })
        .count();
    // After as many insertions as there are places, a share of 1 / e of the first is left.
    let expected = full as f64 / std::f64::consts::E;
    assert!((survivors as f64 - expected).abs() < expected * 0.5, "{survivors} of {full}");
}

#[test]
fn no_capacity_is_no_store() {
    let mut h = Harness::new(PolicyKind::Lru);
    h.store.set_capacity(0, &mut h.rng.clone());
    assert_eq!(offer(&mut h, 0), Outcome::TooLarge);
    assert!(h.store.is_empty());
}

#[test]
fn memory_of_many_small_packets_is_given_to_few_large_ones() {
    let mut h = Harness::new(PolicyKind::Lru);
    h.store.set_capacity(1 << 20, &mut h.rng.clone());
    for n in 0..10_000 {
        offer(&mut h, n);
    }
    for n in 0..2000 {
        let name = format!("/b/{n}").parse().unwrap();
        let wire = support::data(&name, 0, 8000, None);
        h.insert(&name, &wire).ok();
    }
    let packets: usize = h.store.len() * 8100;
    assert!(packets > (1 << 20) * 95 / 100, "{} packets", h.store.len());
}

#[test]
fn a_store_full_of_stale_data_answers_quickly_that_it_has_none() {
    let mut h = Harness::new(PolicyKind::Lru);
    h.store.set_capacity(4 << 20, &mut h.rng.clone());
    for n in 0..5000 {
        offer(&mut h, n);
    }
    let fresh: Name = "/a/fresh".parse().unwrap();
    let wire = support::data(&fresh, 0, 10, Some(1000));
    let data = Data::decode(&wire).unwrap();
    let hashed = h.hasher.hash(data.name());
    h.store.insert(h.now, &mut h.rng, &data, wire.clone(), &hashed);
    let interest = support::interest(&"/a".parse().unwrap(), true, true, None);
    let interest = Interest::decode(&interest).unwrap();
    let hashed = h.hasher.hash(interest.name());
    // The newest branch is looked at first.
    assert_eq!(h.store.find(h.now, &interest, &hashed), Some(wire));
    h.now += Duration::from_secs(2);
    assert_eq!(h.store.find(h.now, &interest, &hashed), None);
    assert_eq!((h.store.counters().hits, h.store.counters().misses), (1, 1));
}

/// python-ndn's `catchunks` asks for the bare name, does not say fresh, and wants metadata.
#[test]
fn without_must_be_fresh_packets_below_keywords_are_found_first() {
    let mut h = Harness::new(PolicyKind::Lru);
    let names = ["/a/32=zoo/seg=0", "/a/32=metadata/v=1/seg=0", "/a/32=head-segment/seg=0"];
    let later = ["/a/v=1/seg=0", "/a/v=1/seg=1"];
    for uri in names.into_iter().chain(later) {
        let wire = support::data(&uri.parse().unwrap(), 0, 10, Some(1000));
        let data = Data::decode(&wire).unwrap();
        let hashed = h.hasher.hash(data.name());
        h.store.insert(h.now, &mut h.rng, &data, wire.clone(), &hashed);
    }
    let mut find = |must_be_fresh| {
        let wire = support::interest(&"/a".parse().unwrap(), true, must_be_fresh, None);
        let interest = Interest::decode(&wire).unwrap();
        let found = h.store.find(h.now, &interest, &h.hasher.hash(interest.name())).unwrap();
        Data::decode(&found).unwrap().name().to_string()
    };
    // The shorter component comes first in canonical order, whichever the letters are.
    assert_eq!(find(false), "/a/32=zoo/seg=0");
    assert_eq!(find(true), "/a/v=1/seg=1");
}
