//! The tables of one forwarder.
//!
//! Others read the PIT; its entries change by methods that say what has happened, in [`pending`].

mod pending;

use bytes::Bytes;
use control::{Duration, Links, NextHop, Rng, Time};
use packet::{HopOptions, Interest, NameRef};

use super::cache::Cache;
use super::grant::{Change, Grant};
use super::strategies::{Question, Strategies};
use crate::config::ForwarderConfig;
use crate::events::Taps;
use crate::tables::content_store::Verdict;
use crate::tables::fib::{Added, FibError};
use crate::tables::prefix_map::PrefixMap;
use crate::tables::{
    DeadNonces, FaceId, Fib, Group, HashedName, Lengths, MAX_PREFIX, NameHasher, Pit, PitEntry,
    PitKey, PrefixTooDeep, Reach,
};

/// How a PIT entry ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Satisfied { freshness: Duration, cached: bool },
    Unsatisfied,
}

/// Hints beyond these are not looked up: a packet of nothing but hints would cost thousands of
/// lookups.
const MAX_HINTS: usize = 16;

/// Without a route, prefixes of so many components share memory.
const COMPONENTS: usize = 2;

/// The tables of a forwarder that are keyed by names.
pub(crate) struct Tables {
    hasher: NameHasher,
    fib: Fib,
    pit: Pit,
    cache: Cache,
    dead_nonces: DeadNonces,
    dead_nonce_lifetime: Duration,
    strategies: Strategies,
    announcements: PrefixMap<Bytes>,
}

impl Tables {
    /// Empty tables; `stream` makes the random streams of this node by their roles.
    pub(crate) fn new(config: ForwarderConfig, stream: impl Fn(&str) -> Rng) -> Tables {
        let mut pit = Pit::new(config.pit);
        if config.memory.is_some() {
            pit.count_shares();
        }
        Tables {
            hasher: NameHasher::new(config.seed),
            fib: Fib::new(config.routes),
            pit,
            cache: Cache::new(config.content_store, stream("content store")),
            dead_nonces: DeadNonces::new(config.dead_nonce_lifetime, config.dead_nonces),
            dead_nonce_lifetime: config.dead_nonce_lifetime,
            strategies: Strategies::new(config.strategy, stream("strategy")),
            announcements: PrefixMap::default(),
        }
    }

    #[inline]
    pub(crate) fn hasher(&self) -> &NameHasher {
        &self.hasher
    }

    pub(crate) fn fib(&self) -> &Fib {
        &self.fib
    }

    #[inline]
    pub(crate) fn pit(&self) -> &Pit {
        &self.pit
    }

    #[inline]
    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    #[inline]
    pub(crate) fn cache_mut(&mut self) -> &mut Cache {
        &mut self.cache
    }

    pub(crate) fn dead_nonces(&self) -> &DeadNonces {
        &self.dead_nonces
    }

    pub(crate) fn strategies(&self) -> &Strategies {
        &self.strategies
    }

    #[inline]
    pub(crate) fn strategies_mut(&mut self) -> &mut Strategies {
        &mut self.strategies
    }

    /// The name of a packet with the hashes that its journey needs: those of prefixes of the
    /// lengths `own`, besides those that every packet needs. `has_flow`: scheme parts want to know
    /// the flow, which is the name without segment and version.
    pub(crate) fn hashed<'n>(
        &self,
        name: NameRef<'n>,
        own: Lengths,
        has_flow: bool,
    ) -> HashedName<'n> {
        let mut lengths = own | self.strategies.lengths() | self.pit.lengths();
        let components = name.len().min(MAX_PREFIX);
        if !self.cache.store().is_off() {
            lengths |= 1 << components.saturating_sub(1);
        }
        if has_flow {
            lengths |= 0b11 << components.saturating_sub(2);
        }
        self.hasher.hash_prefixes(name, lengths)
    }

    /// Bytes of memory that a change would add at most.
    pub(super) fn growth(&self, change: Change<'_>) -> usize {
        match change {
            Change::Insert { hash, len, record } => self.pit.growth(hash, len, record),
            Change::Join { key, record } => self.pit.growth_of(key, record),
            Change::Upstream { key } => self.pit.growth_upstream(key),
            Change::Route { prefix, face } => self.fib.growth(prefix, face),
        }
    }

    pub(crate) fn add_route(
        &mut self,
        grant: Grant,
        prefix: &HashedName<'_>,
        face: FaceId,
        cost: u64,
    ) -> Result<Added, FibError> {
        grant.spend(&mut self.fib, Fib::memory, |fib| fib.add(prefix, face, cost))
    }

    pub(crate) fn remove_route(&mut self, prefix: &HashedName<'_>, face: FaceId) -> bool {
        self.fib.remove(prefix, face)
    }

    pub(crate) fn remove_routes_of(&mut self, face: FaceId) {
        self.fib.remove_face(face);
    }

    /// True if an Interest with this name and nonce was here before, and its PIT entry has gone.
    pub(crate) fn is_dead(&mut self, now: Time, name: &HashedName<'_>, nonce: u32) -> bool {
        // With a content store that answers what comes round, there is often none to remember.
        !self.dead_nonces.is_empty()
            && self.dead_nonces.contains(now, self.hasher.nonce_key(name.whole(), nonce))
    }

    /// Dead nonce list insert for an entry that is out of the PIT. While Data can answer from the
    /// content store, a looping Interest meets it there; otherwise its nonces have to be remembered
    /// (NFD Developer's Guide, 4.2.1).
    pub(crate) fn record_nonces(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        entry: &PitEntry,
        ending: Ending,
    ) {
        let Tables { hasher, dead_nonces, dead_nonce_lifetime, .. } = self;
        record_nonces(now, hasher, dead_nonces, *dead_nonce_lifetime, name, entry, ending);
    }

    /// The same for an entry that is in the PIT still.
    pub(crate) fn record_nonces_of(
        &mut self,
        now: Time,
        name: &HashedName<'_>,
        key: PitKey,
        ending: Ending,
    ) {
        let Tables { pit, hasher, dead_nonces, dead_nonce_lifetime, .. } = self;
        if let Some(entry) = pit.get(key) {
            record_nonces(now, hasher, dead_nonces, *dead_nonce_lifetime, name, entry, ending);
        }
    }

    /// Releases memory that a flood has left behind; see [`crate::Forwarder::release_memory`].
    pub(crate) fn trim(&mut self, now: Time, steps: usize) -> bool {
        self.dead_nonces.trim(now);
        self.pit.trim(steps)
    }

    /// FIB: longest-prefix match by the name, or by the first hint that has a route. Appends the
    /// next hops to `hops`; the length of the prefix, if no hint decides.
    pub(crate) fn find_next_hops(
        &self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        hops: &mut Vec<NextHop>,
    ) -> Option<usize> {
        let mut hinted = false;
        for hint in interest.forwarding_hint().take(MAX_HINTS) {
            hinted = true;
            if let Some((_, found)) = self.fib.lookup(&self.hasher.hash(hint)) {
                hops.extend_from_slice(found);
                break;
            }
        }
        if hinted {
            return None;
        }
        let (length, found) = self.fib.lookup(name).unwrap_or_default();
        hops.extend_from_slice(found);
        Some(length)
    }

    /// How far an Interest goes, and which way.
    pub(crate) fn reach(&self, interest: &Interest<'_>) -> Reach {
        let hops = interest.hop_limit().unwrap_or(u8::MAX);
        let hint = interest.forwarding_hint().fold(0, |before: u16, name| {
            before.wrapping_mul(31).wrapping_add(self.hasher.hash(name).whole() as u16)
        });
        Reach { hops, hint }
    }

    /// Counts an entry, which has been found a route, under its prefix, if that is not done yet.
    /// `routed` is the length of the route's prefix where it is known.
    pub(crate) fn count_prefix(
        &mut self,
        key: PitKey,
        name: &HashedName<'_>,
        routed: Option<usize>,
    ) {
        let Tables { pit, fib, .. } = self;
        pit.set_group(key, || match routed {
            Some(routed) => group(name, routed),
            None => group(name, routed_length(fib, name)),
        });
    }

    /// The group of a name's prefix: that of its route, or its first components if that is the
    /// root's or there is none. A forwarding hint changes nothing.
    pub(super) fn group_of(&self, name: &HashedName<'_>) -> Group {
        group(name, routed_length(&self.fib, name))
    }

    /// Asks the strategy of the name about an entry of the PIT; says whether there is one.
    pub(crate) fn ask(
        &mut self,
        question: Question<'_>,
        key: PitKey,
        options: &mut HopOptions,
        links: &dyn Links,
        taps: &mut Taps,
    ) -> bool {
        let Some(entry) = self.pit.get_mut(key) else { return false };
        self.strategies.ask(question, entry, options, links, taps);
        true
    }

    /// Asks about Data, which no route matters to; of Data below a prefix that was asked for, the
    /// strategy of the Interest.
    pub(crate) fn ask_of_data(
        &mut self,
        question: Question<'_>,
        key: PitKey,
        options: &mut HopOptions,
        links: &dyn Links,
        taps: &mut Taps,
    ) {
        let Some(entry) = self.pit.get_mut(key) else { return };
        self.strategies.clear_next_hops();
        if entry.components() == question.name.components() {
            self.strategies.ask(question, entry, options, links, taps);
        } else {
            let bytes = entry.name().to_name();
            let name = self.hasher.hash(bytes.as_ref());
            self.strategies.ask(Question { name: &name, ..question }, entry, options, links, taps);
        }
    }

    /// Asks about an entry that is out of the PIT already; there is nothing left that the strategy
    /// could do.
    pub(crate) fn ask_of_ended(
        &mut self,
        question: Question<'_>,
        entry: &mut PitEntry,
        options: &mut HopOptions,
        links: &dyn Links,
        taps: &mut Taps,
    ) {
        self.strategies.clear_next_hops();
        self.strategies.ask(question, entry, options, links, taps);
    }

    /// See [`Cache::copy_verdict`].
    pub(crate) fn copy_verdict(
        &mut self,
        satisfied: &[PitKey],
        is_original: bool,
        options: &mut HopOptions,
    ) -> Option<Verdict> {
        self.cache.copy_verdict(&self.pit, satisfied, is_original, options)
    }

    /// The store has answered an Interest with the options `asked` by this packet.
    pub(crate) fn note_answer(
        &mut self,
        now: Time,
        asked: &HopOptions,
        packet: &Bytes,
        options: &mut HopOptions,
    ) {
        self.cache.note_answer(now, &self.hasher, asked, packet, options);
    }

    /// The announcement of the longest prefix of a name that has one.
    pub(crate) fn announcement(&self, name: NameRef<'_>) -> Option<&Bytes> {
        let found = self.announcements.longest_match(&self.hasher.hash(name));
        found.map(|(_, announcement)| announcement)
    }

    pub(crate) fn set_announcement(
        &mut self,
        prefix: NameRef<'_>,
        announcement: Option<Bytes>,
    ) -> Result<(), PrefixTooDeep> {
        let name = self.hasher.hash(prefix);
        match announcement {
            Some(bytes) => self.announcements.insert(&name, bytes).map(drop),
            None => {
                self.announcements.remove(&name);
                Ok(())
            }
        }
    }
}

fn routed_length(fib: &Fib, name: &HashedName<'_>) -> usize {
    fib.lookup(name).map_or(0, |(length, _)| length)
}

fn group(name: &HashedName<'_>, routed: usize) -> Group {
    let length = if routed == 0 { COMPONENTS.min(name.longest_prefix()) } else { routed };
    Group::of(name.prefix(length).map_or(0, |(hash, _)| hash))
}

/// See [`Tables::record_nonces`].
fn record_nonces(
    now: Time,
    hasher: &NameHasher,
    dead_nonces: &mut DeadNonces,
    lifetime: Duration,
    name: &HashedName<'_>,
    entry: &PitEntry,
    ending: Ending,
) {
    let stops_loops = match ending {
        Ending::Unsatisfied => false,
        Ending::Satisfied { freshness, cached } => {
            cached && (!entry.must_be_fresh() || freshness >= lifetime)
        }
    };
    if stops_loops || entry.out_records().is_empty() {
        return;
    }
    let hash = if entry.components() == name.components() {
        name.whole()
    } else {
        hasher.hash(entry.name()).whole()
    };
    for record in entry.out_records() {
        let key = hasher.nonce_key(hash, record.nonce);
        dead_nonces.insert(now, key);
    }
}
