//! The content store: Data that passed by, kept to answer the next Interest for it.

mod admission;
mod ages;
mod bounds;
mod chain;
mod eviction;
mod exclude;
mod policy;
mod policy_lfu;
mod policy_listed;
mod policy_random;
mod tree;

pub use admission::{Admission, AdmissionError};
pub use policy::{PolicyKind, UnknownPolicy};

use super::memory;
use super::name_hash::{HashedName, MAX_PREFIX};
use crate::summed::counters;
use ages::Ages;
use bytes::Bytes;
use control::{Duration, Rng, Time};
use eviction::Policy;
use packet::{Data, Interest};
use tree::{Cached, Tree};

/// Nodes that a lookup by prefix looks at before it gives up. Only stale Data makes it go on from
/// the first; a store full of it must not make an Interest expensive.
const VISITS: usize = 256;

/// How a content store is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContentStoreConfig {
    /// Bytes of memory that the store may take in all.
    pub capacity: usize,
    /// Packets that it may hold.
    pub packets: usize,
    /// The rule for eviction.
    pub policy: PolicyKind,
    /// The rule for admission.
    pub admission: Admission,
}

impl Default for ContentStoreConfig {
    /// 64 MiB, least recently used, everything.
    fn default() -> Self {
        let (policy, admission) = (PolicyKind::default(), Admission::default());
        ContentStoreConfig { capacity: 64 << 20, packets: usize::MAX, policy, admission }
    }
}

impl ContentStoreConfig {
    /// No store.
    pub const OFF: ContentStoreConfig = ContentStoreConfig {
        capacity: 0,
        packets: 0,
        policy: PolicyKind::Lru,
        admission: Admission::All,
    };

    /// Nothing will ever be in it.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.capacity == 0 || self.packets == 0
    }

    /// Its capacity, for rules that compare stores: packets if they are bounded, else bytes.
    #[must_use]
    pub fn weight(&self) -> u64 {
        if self.packets < usize::MAX { self.packets as u64 } else { self.capacity as u64 }
    }
}

/// The decision on Data of a rule that knows its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// It may come in.
    pub admit: bool,
    /// How long it may stay.
    pub age: Option<Duration>,
}

/// The result of offering Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the store now.
    Inserted,
    /// The same packet was in the store; its freshness counts from now.
    Refreshed,
    /// Admission was against it.
    NotAdmitted,
    /// It does not fit in the store.
    TooLarge,
}

counters! {
    /// The counters of a content store since its creation.
    #[derive(Copy)]
    pub struct StoreCounters {
        /// Interests that it answered.
        pub hits: u64,
        /// Interests that it did not answer.
        pub misses: u64,
        /// Data packets inserted.
        pub inserted: u64,
        /// Data packets that were already stored.
        pub refreshed: u64,
        /// Data packets evicted.
        pub evicted: u64,
        /// Data that was not admitted.
        pub not_admitted: u64,
        /// Data larger than the store.
        pub too_large: u64,
        /// Data packets that expired.
        pub died: u64,
        /// Data that was moved on by the policy.
        pub moved: u64,
    }
}

impl StoreCounters {
    /// Data that left the store, for whatever reason.
    #[must_use]
    pub fn removed(&self) -> u64 {
        self.evicted + self.died + self.moved
    }
}

/// Cached Data by name, within a bound on the memory that all of it takes: packets, names' nodes,
/// index and the policy's records, as the allocator rounds them.
///
/// It keeps whole Data packets and nothing that came with them hop by hop. Of several packets with
/// one name it keeps the one that came last, so that Data asked for by its digest drives out a
/// false one.
pub struct ContentStore {
    capacity: usize,
    /// The bytes that other users of the shared memory leave to it.
    left: usize,
    most: usize,
    admission: Admission,
    admits: bool,
    serves: bool,
    tree: Tree,
    /// Only where copies have ages.
    ages: Option<Box<Ages>>,
    hit_age: Option<Duration>,
    policy: Box<dyn Policy + Send>,
    kind: PolicyKind,
    /// Bytes of packets and digests.
    packets: usize,
    counters: StoreCounters,
}

impl ContentStore {
    /// An empty store.
    #[must_use]
    pub fn new(config: ContentStoreConfig) -> Self {
        ContentStore {
            capacity: config.capacity,
            left: usize::MAX,
            most: config.packets,
            admission: config.admission,
            admits: true,
            serves: true,
            tree: Tree::default(),
            ages: None,
            hit_age: None,
            policy: config.policy.build(),
            kind: config.policy,
            packets: 0,
            counters: StoreCounters::default(),
        }
    }

    /// Data packets in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// It may hold nothing.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.capacity == 0
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let ages = self.ages.as_ref().map_or(0, |ages| ages.memory());
        size_of::<Self>() + self.tree.memory() + self.policy.memory() + self.packets + ages
    }

    /// Bytes of memory that it may take.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Its replacement policy.
    #[must_use]
    pub fn policy(&self) -> PolicyKind {
        self.kind
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> &StoreCounters {
        &self.counters
    }

    /// Changes which Data is taken in from now on.
    pub fn set_admission(&mut self, admission: Admission) {
        self.admission = admission;
    }

    /// Changes the capacity; of what is too much the policy's victims go at once, and their memory
    /// is given back.
    pub fn set_capacity(&mut self, bytes: usize, rng: &mut Rng) {
        self.capacity = bytes;
        self.shrink(bytes, rng);
    }

    /// Sets the bytes that other users of the shared memory leave to it. It shrinks on the next
    /// [`ContentStore::give_way`].
    pub fn set_left(&mut self, bytes: usize) {
        self.left = bytes;
    }

    /// Other users need shared memory: sets the bytes of the store and releases the excess. Returns
    /// false if it cannot shrink so far: an empty store has a size, too.
    pub fn give_way(&mut self, bytes: usize, rng: &mut Rng) -> bool {
        self.left = bytes;
        self.shrink(bytes, rng);
        self.memory() <= bytes
    }

    fn shrink(&mut self, bytes: usize, rng: &mut Rng) {
        while self.memory() > bytes {
            if self.tree.can_trim() {
                self.trim_one();
            } else if !self.evict(rng) {
                break;
            }
        }
    }

    /// The bound that holds now.
    fn bound(&self) -> usize {
        self.capacity.min(self.left)
    }

    /// Offers Data that arrived now. `wire` is its packet and should own exactly its bytes: a part
    /// of a larger buffer would keep that buffer alive, uncounted.
    ///
    /// Data with the NoCache policy must not be offered.
    pub fn insert(
        &mut self,
        now: Time,
        rng: &mut Rng,
        data: &Data<'_>,
        wire: Bytes,
        name: &HashedName<'_>,
    ) -> Outcome {
        self.insert_decided(now, rng, data, wire, name, None)
    }

    /// As [`ContentStore::insert`], where a rule that knows the way has decided.
    pub fn insert_decided(
        &mut self,
        now: Time,
        rng: &mut Rng,
        data: &Data<'_>,
        wire: Bytes,
        name: &HashedName<'_>,
        verdict: Option<Verdict>,
    ) -> Outcome {
        self.remove_expired(now);
        debug_assert_eq!(data.wire(), &wire[..], "the view is of another packet");
        let freshness = Duration::from_millis(data.freshness_ms().unwrap_or(0));
        let name_at = memory::offset_of(data.wire(), name.name().as_bytes());
        let cached = Cached::new(wire, name_at, now + freshness);
        let outcome = self.offer(rng, cached, name, verdict.map(|verdict| verdict.admit));
        if let Some(age) = verdict.and_then(|verdict| verdict.age)
            && matches!(outcome, Outcome::Inserted | Outcome::Refreshed)
            && let Some(slot) = self.tree.find(name)
        {
            self.ages.get_or_insert_default().set(now, slot, Some(age));
        }
        let counter = match outcome {
            Outcome::Inserted => &mut self.counters.inserted,
            Outcome::Refreshed => &mut self.counters.refreshed,
            Outcome::NotAdmitted => &mut self.counters.not_admitted,
            Outcome::TooLarge => &mut self.counters.too_large,
        };
        *counter += 1;
        outcome
    }

    /// Removes packets whose lifetime in the store is over.
    fn remove_expired(&mut self, now: Time) {
        while let Some(slot) = self.ages.as_ref().and_then(|ages| ages.dead(now)) {
            self.remove(slot);
            self.counters.died += 1;
        }
    }

    fn offer(
        &mut self,
        rng: &mut Rng,
        cached: Cached,
        name: &HashedName<'_>,
        decided: Option<bool>,
    ) -> Outcome {
        if !self.admits {
            return Outcome::NotAdmitted;
        }
        let there = self.tree.find(name);
        if let Some(slot) = there
            && self.refresh(slot, &cached)
        {
            return Outcome::Refreshed;
        }
        let admitted = match (decided, self.admission) {
            (Some(decided), _) => decided,
            (None, Admission::Probability(p)) => rng.chance(p.get()),
            (None, Admission::None) => false,
            (None, Admission::All | Admission::OnPath(_)) => true,
        };
        if !admitted {
            return Outcome::NotAdmitted;
        }
        if let Some(slot) = there {
            self.remove(slot);
        }
        let packet = packet_memory(&cached);
        if !self.make_room(rng, packet, name) {
            return Outcome::TooLarge;
        }
        let Some(slot) = self.tree.insert(name, cached) else { return Outcome::TooLarge };
        self.policy.insert(slot);
        self.packets += packet;
        Outcome::Inserted
    }

    /// If the packet in `slot` is the same, makes it as fresh as the one that arrived.
    fn refresh(&mut self, slot: u32, arrived: &Cached) -> bool {
        let there = self.tree.get_mut(slot);
        if there.wire != arrived.wire {
            return false;
        }
        (there.stale_at, there.doubted) = (arrived.stale_at, false);
        self.tree.bring_forward(slot);
        self.policy.touch(slot);
        true
    }

    /// The packet that answers an Interest, if there is one. A stale packet does not answer an
    /// Interest with MustBeFresh; of several that do, the one under a newer branch of names is
    /// taken. An Interest without MustBeFresh gets a packet below a keyword first: python-ndn's
    /// `catchunks` looks for metadata under the bare name, and finds it in stores that follow
    /// canonical order.
    pub fn find(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
    ) -> Option<Bytes> {
        let found = self.look_up(now, interest, name, None);
        self.hit(found)
    }

    /// The slot of the packet that answers an Interest. For one that excludes packets, those at the
    /// addresses `passed` do not, nor do doubted ones if it is to be fresh.
    fn look_up(
        &mut self,
        now: Time,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        passed: Option<&[usize]>,
    ) -> Option<u32> {
        if self.is_empty() || !self.serves {
            return None;
        }
        self.remove_expired(now);
        let must_be_fresh = interest.must_be_fresh();
        let fresh = |cached: &Cached| {
            if must_be_fresh && now >= cached.stale_at {
                return false;
            }
            !passed.is_some_and(|passed| {
                (must_be_fresh && cached.doubted) || passed.contains(&cached.wire.as_ptr().addr())
            })
        };
        let exact = self.tree.find(name).filter(|slot| fresh(self.tree.get(*slot)));
        exact.or_else(|| self.find_by_digest(name, fresh)).or_else(|| {
            match (interest.can_be_prefix(), must_be_fresh) {
                (false, _) => None,
                (true, true) => self.tree.find_below(name, VISITS, fresh),
                (true, false) => self.tree.find_below_keywords(name, VISITS, fresh),
            }
        })
    }

    /// Counts a lookup, and gives the packet that it found.
    fn hit(&mut self, found: Option<u32>) -> Option<Bytes> {
        let wire = found.map(|slot| {
            self.policy.touch(slot);
            self.hit_age = self.ages.as_ref().and_then(|ages| ages.get(slot));
            self.tree.get(slot).wire.clone()
        });
        match wire {
            Some(_) => self.counters.hits += 1,
            None => self.counters.misses += 1,
        }
        wire
    }

    /// The age of the copy that was found last, if it has one.
    #[must_use]
    pub fn hit_age(&self) -> Option<Duration> {
        self.hit_age
    }

    /// The Data of exactly this name has this age from now on.
    pub fn set_age(&mut self, now: Time, name: &HashedName<'_>, age: Duration) {
        if let (Some(ages), Some(slot)) = (&mut self.ages, self.tree.find(name)) {
            ages.set(now, slot, Some(age));
        }
    }

    /// Takes the Data of exactly this name away; says whether there was any.
    pub fn take_away(&mut self, name: &HashedName<'_>) -> bool {
        let found = self.tree.find(name);
        if let Some(slot) = found {
            self.remove(slot);
            self.counters.moved += 1;
        }
        found.is_some()
    }

    /// True if there is Data of exactly this name, fresh or stale. Changes nothing.
    #[must_use]
    pub fn holds(&self, name: &HashedName<'_>) -> bool {
        self.tree.find(name).is_some()
    }

    /// True if there is Data at or below a prefix.
    #[must_use]
    pub fn has_below(&self, prefix: &HashedName<'_>) -> bool {
        self.tree.find_below(prefix, MAX_PREFIX + 2, |_| true).is_some()
    }

    /// Removes Data at and below a prefix, at most `limit` packets; returns how many. Of a prefix
    /// longer than [`MAX_PREFIX`] components only the Data of exactly that name can be found.
    pub fn erase(&mut self, prefix: &HashedName<'_>, limit: usize) -> usize {
        let mut erased = 0;
        while erased < limit {
            // A node has Data or children with Data, at most MAX_PREFIX + 1 levels below.
            let found = self.tree.find_below(prefix, MAX_PREFIX + 2, |_| true);
            let Some(slot) = found else { break };
            self.remove(slot);
            erased += 1;
        }
        erased
    }

    /// The Data whose name is that of the Interest without the last component, if that is its
    /// implicit digest.
    fn find_by_digest(
        &mut self,
        name: &HashedName<'_>,
        fresh: impl Fn(&Cached) -> bool,
    ) -> Option<u32> {
        let wanted = name.implicit_digest()?;
        let slot = self.tree.find_prefix(name, name.components() - 1)?;
        if !fresh(self.tree.get(slot)) {
            return None;
        }
        (self.digest_of(slot)?[..] == *wanted).then_some(slot)
    }

    /// Evicts until Data of this name with `packet` bytes fits; `false` if it never will.
    fn make_room(&mut self, rng: &mut Rng, packet: usize, name: &HashedName<'_>) -> bool {
        let bound = self.bound();
        if packet >= bound || self.most == 0 {
            return false;
        }
        loop {
            let (nodes, end) = self.tree.growth(name);
            let ages = self.ages.as_ref().map_or(0, |ages| ages.growth(end));
            let needed = packet + nodes + self.policy.growth(end) + ages;
            if self.memory() + needed <= bound && self.len() < self.most {
                return true;
            }
            if !self.evict(rng) {
                return false;
            }
        }
    }

    fn evict(&mut self, rng: &mut Rng) -> bool {
        let Some(slot) = self.policy.victim(rng) else { return false };
        self.remove(slot);
        self.counters.evicted += 1;
        true
    }

    fn remove(&mut self, slot: u32) {
        let Some(cached) = self.tree.remove(slot) else { return };
        self.policy.remove(slot);
        if let Some(ages) = &mut self.ages {
            ages.remove(slot);
        }
        self.packets -= packet_memory(&cached);
        // Where a quarter of the slots is free (many small packets gave way to few large ones),
        // their memory serves better as packets. Two steps a removal keep up with any pace.
        for _ in 0..2 {
            if self.tree.is_sparse() {
                self.trim_one();
            }
        }
    }

    fn trim_one(&mut self) {
        if let Some((from, to)) = self.tree.trim_one() {
            self.policy.moved(from, to);
            if let Some(ages) = &mut self.ages {
                ages.moved(from, to);
            }
        }
        self.policy.truncate(self.tree.end());
        if let Some(ages) = &mut self.ages {
            ages.truncate(self.tree.end());
        }
    }
}

/// The bytes of a packet. A driver that shares its buffers may have requested fewer.
fn packet_memory(cached: &Cached) -> usize {
    let digest = if cached.digest.is_some() { memory::block(32) } else { 0 };
    memory::packet(cached.wire.len()) + digest
}
