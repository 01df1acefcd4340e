//! Deadlines of table entries: a hierarchical timing wheel (Varghese and Lauck, 1987, scheme 7).

use super::chunked::Chunked;
use super::slab::NONE;
use control::{Duration, Time};

/// The wheel's grain is 2^20 ns: deadlines are rounded up to it.
const TICK_BITS: u32 = 20;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// 8 levels of 64 slots reach beyond the largest [`Time`].
const LEVELS: usize = 8;
/// The place of what is not in the wheel.
const OUT: u16 = u16::MAX;

/// Deadlines fire up to this much late, never early: 1.05 ms, the resolution of an Interest's
/// lifetime.
pub const GRAIN: Duration = Duration(1 << TICK_BITS);

#[derive(Clone, Copy, Debug)]
struct Link {
    prev: u32,
    next: u32,
    tick: u64,
    place: u16,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

/// Items, named by small numbers such as the slots of a slab, each with at most one deadline.
///
/// Setting and cancelling take constant time and leave nothing behind, so refreshing an item's
/// deadline any number of times does not grow the wheel. An item within 64 ticks of its deadline is
/// in level 0, within 64² ticks (4.3 s) in level 1, and so on; it moves down a level when the wheel
/// reaches its slot.
///
/// Invariant: an item in level `l` has `1 ..= 64` (level 0: `0 ..= 63`) as the difference between
/// its deadline's slot number `tick >> 6 * l` and that of `elapsed`.
#[derive(Clone, Debug)]
pub struct Wheel {
    links: Chunked<Link>,
    lists: Box<[[List; SLOTS]; LEVELS]>,
    /// Bit `s` of word `l` says whether the list of slot `s` in level `l` has items.
    occupied: [u64; LEVELS],
    elapsed: u64,
    /// The earliest slot with items, as [`Wheel::find_slot`] finds it: asked for far more often
    /// than it changes.
    first: Option<(u64, usize, usize)>,
    len: usize,
}

impl Default for Wheel {
    fn default() -> Self {
        let empty = List { head: NONE, tail: NONE };
        Wheel {
            links: Chunked::new(),
            lists: Box::new([[empty; SLOTS]; LEVELS]),
            occupied: [0; LEVELS],
            elapsed: 0,
            first: None,
            len: 0,
        }
    }
}

impl Wheel {
    /// Items with a deadline.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if no item has a deadline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<[[List; SLOTS]; LEVELS]>() + self.links.memory()
    }

    /// Bytes that deadlines of items below `end` may add.
    pub(super) fn growth(&self, end: usize) -> usize {
        self.links.growth(end)
    }

    /// Releases the memory for items from `end` on, none of which has a deadline.
    pub(super) fn trim(&mut self, end: usize) {
        self.links.truncate(end);
    }

    /// Gives an item a deadline, in place of the one it may have.
    pub fn set(&mut self, item: u32, deadline: Time) {
        self.cancel(item);
        self.links.ensure(item as usize + 1, || Link {
            prev: NONE,
            next: NONE,
            tick: 0,
            place: OUT,
        });
        self.links[item].tick = deadline.0.div_ceil(1 << TICK_BITS);
        self.place(item);
        self.len += 1;
    }

    /// Takes an item's deadline away; says whether it had one.
    pub fn cancel(&mut self, item: u32) -> bool {
        let Some(&Link { prev, next, place, .. }) = self.links.get(item) else { return false };
        if place == OUT {
            return false;
        }
        let (level, slot) = (usize::from(place) / SLOTS, usize::from(place) % SLOTS);
        match prev {
            NONE => self.lists[level][slot].head = next,
            _ => self.links[prev].next = next,
        }
        match next {
            NONE => self.lists[level][slot].tail = prev,
            _ => self.links[next].prev = prev,
        }
        if self.lists[level][slot].head == NONE {
            self.occupied[level] &= !(1 << slot);
            if self.first.is_some_and(|(_, l, s)| (l, s) == (level, slot)) {
                self.first = self.find_slot();
            }
        }
        self.links[item].place = OUT;
        self.len -= 1;
        true
    }

    /// When [`Wheel::pop_due`] has to be called: not before anything is due, later than the last
    /// `now` it said nothing was due, and sometimes before the next deadline, to move items down.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Time> {
        let (tick, _, _) = self.first?;
        Some(Time(tick.saturating_mul(1 << TICK_BITS)))
    }

    /// Takes out an item whose deadline has come. Items with deadlines in different ticks come in
    /// the order of their deadlines; call it until it returns `None`.
    pub fn pop_due(&mut self, now: Time) -> Option<u32> {
        let target = now.0 >> TICK_BITS;
        while let Some((tick, level, slot)) = self.first.filter(|s| s.0 <= target) {
            self.advance(tick);
            if level == 0 {
                let item = self.lists[0][slot].head;
                self.cancel(item);
                return Some(item);
            }
        }
        self.elapsed = self.elapsed.max(target);
        None
    }

    /// Moves on to the beginning of the earliest slot with items. Slots of several levels may begin
    /// together: all of them are current now, so their items move down.
    fn advance(&mut self, tick: u64) {
        if tick <= self.elapsed {
            return;
        }
        self.elapsed = tick;
        for level in (1..LEVELS).rev() {
            let shift = SLOT_BITS * level as u32;
            if tick.trailing_zeros() >= shift {
                self.move_down(level, (tick >> shift) as usize % SLOTS);
            }
        }
        self.first = self.find_slot();
    }

    /// The earliest slot with items: the tick at which it begins, its level and number.
    fn find_slot(&self) -> Option<(u64, usize, usize)> {
        let mut first: Option<(u64, usize, usize)> = None;
        for level in 0..LEVELS {
            if self.occupied[level] == 0 {
                continue;
            }
            let shift = SLOT_BITS * level as u32;
            // Level 0 holds what is due in the current slot too; in higher levels the current slot
            // has been emptied, and what is in it is due a whole turn later.
            let from = (self.elapsed >> shift) + u64::from(level > 0);
            let turn = self.occupied[level].rotate_right((from % SLOTS as u64) as u32);
            let number = from + u64::from(turn.trailing_zeros());
            let tick = number << shift;
            if first.is_none_or(|(t, _, _)| tick < t) {
                first = Some((tick, level, number as usize % SLOTS));
            }
        }
        first
    }

    /// Appends an item to the list where its tick belongs.
    fn place(&mut self, item: u32) {
        let tick = self.links[item].tick.max(self.elapsed);
        let ahead = tick - self.elapsed;
        let level = (63 - (ahead | 1).leading_zeros()) / SLOT_BITS;
        let slot = (tick >> (SLOT_BITS * level)) as usize % SLOTS;
        let level = level as usize;
        let list = &mut self.lists[level][slot];
        let before = list.tail;
        list.tail = item;
        if before == NONE {
            list.head = item;
        } else {
            self.links[before].next = item;
        }
        self.occupied[level] |= 1 << slot;
        let begins = tick >> (SLOT_BITS * level as u32) << (SLOT_BITS * level as u32);
        // As the search does: of slots that begin together that of the lowest level.
        if self.first.is_none_or(|(first, l, _)| (begins, level) < (first, l)) {
            self.first = Some((begins, level, slot));
        }
        let link = &mut self.links[item];
        (link.prev, link.next) = (before, NONE);
        link.place = (level * SLOTS + slot) as u16;
    }

    fn move_down(&mut self, level: usize, slot: usize) {
        let empty = List { head: NONE, tail: NONE };
        let mut item = std::mem::replace(&mut self.lists[level][slot], empty).head;
        self.occupied[level] &= !(1 << slot);
        while item != NONE {
            let next = self.links[item].next;
            self.place(item);
            item = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn tick(n: u64) -> Time {
        Time(n << TICK_BITS)
    }

    #[test]
    fn deadlines_are_never_early_and_at_most_a_grain_late() {
        let mut wheel = Wheel::default();
        wheel.set(3, Time(1));
        assert_eq!(wheel.next_deadline(), Some(tick(1)));
        assert_eq!(wheel.pop_due(Time((1 << TICK_BITS) - 1)), None);
        assert_eq!(wheel.pop_due(tick(1)), Some(3));
        assert_eq!(wheel.next_deadline(), None);
    }

    #[test]
    fn the_last_instant_is_a_deadline_like_any_other() {
        let mut wheel = Wheel::default();
        wheel.set(0, Time::MAX);
        wheel.set(1, Time(5));
        assert_eq!(wheel.pop_due(tick(1)), Some(1));
        while let Some(at) = wheel.next_deadline().filter(|at| *at < Time::MAX) {
            assert_eq!(wheel.pop_due(at), None);
            assert!(wheel.next_deadline() > Some(at), "a wake-up moves the wheel on");
        }
        assert_eq!(wheel.len(), 1);
    }

    #[test]
    fn a_refresh_leaves_nothing_behind() {
        let mut wheel = Wheel::default();
        for n in 0..10_000 {
            wheel.set(0, tick(4000 + n));
        }
        assert_eq!(wheel.len(), 1);
        assert_eq!(wheel.memory(), {
            let mut fresh = Wheel::default();
            fresh.set(0, tick(1));
            fresh.memory()
        });
    }

    fn ticks() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..70, 0u64..5000, 0u64..300_000, 0u64..(1 << 44)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn behaves_like_a_sorted_map(
            ops in prop::collection::vec((0u8..8, 0u32..50, ticks()), 1..200),
        ) {
            let mut wheel = Wheel::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let mut now = 0;
            for (op, item, ahead) in ops {
                match op {
                    0..=3 => {
                        let at = (now + ahead).min((1 << 44) - 1);
                        wheel.set(item, Time((at << TICK_BITS).saturating_sub(ahead % 2)));
                        model.insert(item, at.max(now));
                    }
                    4 => prop_assert_eq!(wheel.cancel(item), model.remove(&item).is_some()),
                    5..=6 => {
                        now = (now + ahead).min(1 << 43);
                        let mut last = 0;
                        while let Some(item) = wheel.pop_due(tick(now)) {
                            let at = model.remove(&item).unwrap();
                            prop_assert!(last <= at && at <= now);
                            last = at;
                        }
                        prop_assert!(model.values().all(|at| *at > now));
                    }
                    _ => {
                        let next = wheel.next_deadline();
                        prop_assert_eq!(next.is_some(), !model.is_empty());
                        let first = model.values().min().copied().unwrap_or(u64::MAX);
                        prop_assert!(next.is_none_or(|t| t.0 >> TICK_BITS <= first));
                    }
                }
                prop_assert_eq!((wheel.len(), wheel.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!(wheel.first, wheel.find_slot());
            }
        }
    }
}
