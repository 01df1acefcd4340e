//! Nonces of Interests whose PIT entries are gone, to recognise Interests that come round a loop.

use super::index::Index;
use super::memory;
use control::{Duration, Time};
use std::collections::VecDeque;

/// The time that a nonce is remembered is divided into this many periods; it is forgotten with its
/// period, so up to one period late.
const PERIODS: u64 = 32;

/// How long NFD remembers a nonce, longer than an Interest usually needs to come round.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(6);

/// Recent (name, nonce) pairs, as keyed hashes ([`super::NameHasher::nonce_key`]).
///
/// Memory is bounded twice: what is older than the lifetime is dropped, and of more pairs than the
/// capacity allows the oldest. Two pairs with the same 64-bit hash are taken for one; with a
/// million remembered, one fresh Interest in 10^13 is taken for a looping one.
///
/// Invariants: `ring` holds keys in the order of insertion, the first with the running number
/// `first`; `places` has, for each key once, the running number of its latest insertion, cut to 32
/// bits. Earlier insertions of a key stay in the ring until their turn comes, and mean nothing.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    lifetime: Duration,
    capacity: usize,
    ring: VecDeque<u64>,
    first: u32,
    places: Index,
    /// For each period with insertions: its number, and how many keys of the ring are of it.
    periods: VecDeque<(u64, u32)>,
    dropped_early: u64,
}

impl DeadNonces {
    /// Remembers pairs for `lifetime`, and at most `capacity` of them (at least 1).
    #[must_use]
    pub fn new(lifetime: Duration, capacity: usize) -> Self {
        DeadNonces {
            lifetime,
            capacity: capacity.clamp(1, 1 << 30),
            ring: VecDeque::new(),
            first: 0,
            places: Index::gradual(),
            periods: VecDeque::new(),
            dropped_early: 0,
        }
    }

    /// Pairs remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Pairs that were forgotten before their time, because there were too many.
    #[must_use]
    pub fn dropped_early(&self) -> u64 {
        self.dropped_early
    }

    /// Octets of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        memory::block(self.ring.capacity() * size_of::<u64>())
            + memory::block(self.periods.capacity() * size_of::<(u64, u32)>())
            + self.places.memory()
    }

    /// Remembers a pair from `now` on; if it is remembered already, for a whole lifetime again.
    pub fn insert(&mut self, now: Time, key: u64) {
        self.expire(now);
        if self.ring.len() >= self.capacity && self.forget_first() {
            self.dropped_early += 1;
        }
        let place = self.first.wrapping_add(self.ring.len() as u32);
        if let Some(old) = self.find(key) {
            self.places.moved(key, old, place);
        } else {
            self.places.insert(key, place);
        }
        self.ring.push_back(key);
        let period = self.period(now);
        match self.periods.back_mut() {
            Some((last, count)) if *last >= period => *count += 1,
            _ => self.periods.push_back((period, 1)),
        }
    }

    /// Whether a pair was inserted within the lifetime (and up to a 32nd of it longer).
    pub fn contains(&mut self, now: Time, key: u64) -> bool {
        self.expire(now);
        self.find(key).is_some()
    }

    fn at(&self, place: u32) -> usize {
        place.wrapping_sub(self.first) as usize
    }

    fn find(&self, key: u64) -> Option<u32> {
        self.places.find(key, |place| self.ring[self.at(place)] == key)
    }

    fn period(&self, now: Time) -> u64 {
        now.0 / self.lifetime.0.div_ceil(PERIODS).max(1)
    }

    fn expire(&mut self, now: Time) {
        let current = self.period(now);
        while let Some((period, count)) = self.periods.front().copied() {
            // A key inserted at the end of its period has lived PERIODS periods only when PERIODS
            // whole ones have passed since.
            if current <= period + PERIODS {
                break;
            }
            for _ in 0..count {
                self.forget_first();
            }
        }
    }

    /// Forgets the first of the ring; says whether that was the latest insertion of its key.
    fn forget_first(&mut self) -> bool {
        let Some(&key) = self.ring.front() else { return false };
        let alive = self.places.remove(key, self.first);
        self.ring.pop_front();
        self.first = self.first.wrapping_add(1);
        if let Some((_, count)) = self.periods.front_mut() {
            *count -= 1;
            if *count == 0 {
                self.periods.pop_front();
            }
        }
        alive
    }
}
