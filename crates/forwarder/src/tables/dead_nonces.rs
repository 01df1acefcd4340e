//! Nonces of Interests whose PIT entries are gone, to recognise Interests that come round a loop.

use super::memory;
use control::{Duration, Time};

/// The time that a nonce is remembered is divided into this many periods; it is forgotten with its
/// period, so up to one period late.
const PERIODS: u64 = 32;

/// How long NFD remembers a nonce, longer than an Interest usually needs to come round.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(6);

/// Pairs that have a place in a line.
const PLACES: usize = 7;

/// So many places of two lines are taken on average before the table is moved to one of twice the
/// lines: at that load one pair of some thousand meets two lines that are full, and the oldest in
/// them goes.
const FULL: usize = 7;

/// A table begins with so many lines.
const FEWEST: usize = 4;

/// Lines of an old table that each insertion moves to the new one: there it leaves room for more
/// insertions than the move takes.
const MOVED: usize = 2;

/// A line of the processor's caches: pairs, and the periods of their insertion modulo 256. Pairs
/// older than a lifetime are void, and are removed before their period's number comes again.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    keys: [u64; PLACES],
    periods: [u8; 8],
}

/// In each of eight bytes a 1.
const ONES: u64 = u64::MAX / 255;
/// In each of eight bytes the highest bit.
const HIGH: u64 = ONES << 7;

impl Line {
    /// A line of pairs that are long forgotten.
    fn empty(period: u64) -> Line {
        Line { keys: [0; PLACES], periods: [long_ago(period); 8] }
    }

    /// The places that can be used, as the highest bits of bytes.
    #[inline]
    fn free(&self, period: u64) -> u64 {
        let (now, then) = (ONES * (period & 0xff), u64::from_le_bytes(self.periods));
        // The ages, byte by byte: what one borrows stays in its byte.
        let ages = ((now | HIGH) - (then & !HIGH)) ^ ((now ^ !then) & HIGH);
        let old = ((ages & !HIGH) + ONES * (127 - PERIODS)) | ages;
        old & (HIGH >> 8)
    }

    /// Where a key is, if it means anything in this period.
    fn find(&self, key: u64, period: u64) -> Option<usize> {
        (0..PLACES).find(|at| self.keys[*at] == key && self.age(*at, period) <= PERIODS)
    }

    fn age(&self, at: usize, period: u64) -> u64 {
        u64::from((period as u8).wrapping_sub(self.periods[at]))
    }

    /// Empties a place, and says how old the pair there was.
    fn take(&mut self, at: usize, period: u64) -> u64 {
        let age = self.age(at, period);
        self.periods[at] = long_ago(period);
        age
    }
}

/// A period that nothing is remembered from.
fn long_ago(period: u64) -> u8 {
    (period as u8).wrapping_sub(128)
}

/// A power of two of lines. A pair lies in the line that the high bits of its key say, or in the
/// one after.
#[derive(Clone, Debug, Default)]
struct Table {
    lines: Box<[Line]>,
    /// For each line the bits of its keys, and of some that it had: most keys are asked for that
    /// are not there, and hardly ever does the processor have to wait for a line to say so.
    hints: Box<[u32]>,
}

/// A key's bit in the hints; its line is chosen by other bits.
fn hint(key: u64) -> u32 {
    1 << (key & 31)
}

impl Table {
    fn new(lines: usize, period: u64) -> Table {
        Table {
            lines: vec![Line::empty(period); lines].into_boxed_slice(),
            hints: vec![0; lines].into_boxed_slice(),
        }
    }

    /// The two lines where a key may be.
    #[inline]
    fn pair(&self, key: u64) -> [usize; 2] {
        let lines = self.lines.len();
        let first = ((u128::from(key) * lines as u128) >> 64) as usize;
        [first, (first + 1) & (lines - 1)]
    }

    /// Line and place of this key, if it means anything in this period.
    #[inline]
    fn find(&self, key: u64, period: u64) -> Option<(usize, usize)> {
        if self.lines.is_empty() {
            return None;
        }
        let [first, second] = self.pair(key);
        if (self.hints[first] | self.hints[second]) & hint(key) == 0 {
            return None;
        }
        self.find_in(first, key, period).or_else(|| self.find_in(second, key, period))
    }

    #[inline]
    fn find_in(&self, line: usize, key: u64, period: u64) -> Option<(usize, usize)> {
        self.lines[line].find(key, period).map(|at| (line, at))
    }

    /// Bytes of memory held.
    fn memory(&self) -> usize {
        bytes_of(self.lines.len())
    }

    /// Where the oldest pair of these lines is.
    fn oldest(&self, lines: [usize; 2], period: u64) -> Option<(usize, usize)> {
        let places = lines.into_iter().flat_map(|line| (0..PLACES).map(move |at| (line, at)));
        let aged = places.map(|(line, at)| (self.lines[line].age(at, period), (line, at)));
        let remembered = aged.filter(|(age, _)| *age <= PERIODS);
        remembered.max_by_key(|(age, _)| *age).map(|(_, place)| place)
    }
}

/// The bytes of a table of so many lines and of the one before it.
fn while_growing_to(lines: usize) -> usize {
    bytes_of(lines) + bytes_of(lines / 2)
}

/// The bytes of a table of so many lines.
fn bytes_of(lines: usize) -> usize {
    memory::block(lines * size_of::<Line>()) + memory::block(lines * size_of::<u32>())
}

/// Recent (name, nonce) pairs, as keyed hashes ([`super::NameHasher::nonce_key`]).
///
/// Memory is bounded twice: what is older than the lifetime is dropped, and of more pairs than the
/// capacity allows an old one: the oldest of some ten. Two pairs with the same 64-bit hash are
/// taken for one: with a million remembered, that is one fresh Interest in 10^13.
///
/// A pair is in one of two neighbouring lines of the processor's caches, and stays there until its
/// place is used again: nothing is kept beside it, and nothing is done when its time is over. A
/// table that is too small is moved by and by, some lines with each insertion.
///
/// Invariants: `counts[p % 64]` is the number of pairs that were inserted (last) in period `p`, for
/// the last `PERIODS + 1` periods; `len` is their sum.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    lifetime: Duration,
    capacity: usize,
    table: Table,
    /// The table before, and how many of its lines were moved.
    old: Option<(Table, usize)>,
    counts: [u32; 64],
    len: usize,
    /// The current period, and when it ends.
    period: u64,
    turns_at: Time,
    /// The line that is swept next.
    sweep: usize,
    dropped_early: u64,
}

impl DeadNonces {
    /// Remembers pairs for `lifetime`, and at most `capacity` of them (at least 1).
    #[must_use]
    pub fn new(lifetime: Duration, capacity: usize) -> Self {
        DeadNonces {
            lifetime,
            capacity: capacity.clamp(1, 1 << 30),
            table: Table::default(),
            old: None,
            counts: [0; 64],
            len: 0,
            period: 0,
            turns_at: Time::ZERO,
            sweep: 0,
            dropped_early: 0,
        }
    }

    /// Pairs remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it remembers none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Pairs that were forgotten before their time, because there were too many.
    #[must_use]
    pub fn dropped_early(&self) -> u64 {
        self.dropped_early
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.table.memory() + self.old.as_ref().map_or(0, |(old, _)| old.memory())
    }

    /// The most bytes of memory that it ever holds, also while it grows.
    #[must_use]
    pub fn most_memory(&self) -> usize {
        let mut lines = FEWEST;
        while FULL * lines / 2 < self.capacity {
            lines *= 2;
        }
        while_growing_to(lines)
    }

    /// The most pairs whose table never takes more than `bytes` bytes, also while it grows.
    #[must_use]
    pub fn capacity_within(bytes: usize) -> usize {
        let mut lines = FEWEST;
        while while_growing_to(2 * lines) <= bytes {
            lines *= 2;
        }
        FULL * lines / 2
    }

    /// Releases the table's memory once no pair is remembered.
    pub fn trim(&mut self, now: Time) {
        self.turn(now);
        if self.len == 0 {
            (self.table, self.old, self.sweep) = (Table::default(), None, 0);
        }
    }

    /// Remembers a pair from `now` on; if it is remembered already, for a whole lifetime again.
    pub fn insert(&mut self, now: Time, key: u64) {
        if self.contains(now, key) {
            self.forget(key);
        }
        if self.len >= self.capacity {
            self.forget_an_old_one(key);
        }
        if self.len >= FULL * self.table.lines.len() / 2 {
            self.finish_move();
            self.move_to((2 * self.table.lines.len()).max(FEWEST));
        }
        self.counts[self.period as usize % 64] += 1;
        self.len += 1;
        self.place(key, self.period as u8);
        if self.old.is_some() {
            self.move_some(MOVED);
        }
    }

    /// True if a pair was inserted within the lifetime (and up to a 32nd of it longer).
    pub fn contains(&mut self, now: Time, key: u64) -> bool {
        self.turn(now);
        self.table.find(key, self.period).is_some()
            || self.old.as_ref().is_some_and(|(old, _)| old.find(key, self.period).is_some())
    }

    /// Takes a key out.
    #[cold]
    fn forget(&mut self, key: u64) {
        let old = self.old.as_mut().map(|(old, _)| old);
        for table in std::iter::once(&mut self.table).chain(old) {
            if let Some((line, at)) = table.find(key, self.period) {
                let age = table.lines[line].take(at, self.period);
                self.counts[(self.period - age) as usize % 64] -= 1;
                self.len -= 1;
            }
        }
    }

    /// Forgets the oldest of those that are where this key belongs, or in the lines after.
    #[cold]
    fn forget_an_old_one(&mut self, key: u64) {
        self.finish_move();
        let lines = self.table.lines.len();
        let first = self.table.pair(key)[0];
        for line in (first..lines).chain(0..first) {
            let pair = [line, (line + 1) & (lines - 1)];
            if let Some((line, at)) = self.table.oldest(pair, self.period) {
                return self.drop_early(line, at);
            }
        }
    }

    #[cold]
    fn drop_early(&mut self, line: usize, at: usize) {
        let age = self.table.lines[line].take(at, self.period);
        self.counts[(self.period - age) as usize % 64] -= 1;
        self.len -= 1;
        self.dropped_early += 1;
    }

    /// Puts a pair, which was counted, into the emptier of its two lines. Where both are full of
    /// what is remembered, the oldest goes.
    fn place(&mut self, key: u64, period: u8) {
        let pair = self.table.pair(key);
        let free = pair.map(|line| self.table.lines[line].free(self.period));
        let emptier = usize::from(free[1].count_ones() > free[0].count_ones());
        let mut place = (pair[emptier], free[emptier].trailing_zeros() as usize / 8);
        if free[emptier] == 0 {
            let Some(oldest) = self.table.oldest(pair, self.period) else { return };
            self.drop_early(oldest.0, oldest.1);
            place = oldest;
        }
        let line = &mut self.table.lines[place.0];
        line.keys[place.1] = key;
        line.periods[place.1] = period;
        self.table.hints[place.0] |= hint(key);
    }

    /// Begins to move to a table of so many lines.
    fn move_to(&mut self, lines: usize) {
        let old = std::mem::replace(&mut self.table, Table::new(lines, self.period));
        self.sweep = 0;
        self.old = (!old.lines.is_empty()).then_some((old, 0));
    }

    /// Moves so many lines of the old table.
    fn move_some(&mut self, lines: usize) {
        let Some((mut old, from)) = self.old.take() else { return };
        let to = (from + lines).min(old.lines.len());
        for line in &mut old.lines[from..to] {
            let line = std::mem::replace(line, Line::empty(self.period));
            for (at, key) in line.keys.into_iter().enumerate() {
                if line.age(at, self.period) <= PERIODS {
                    self.place(key, line.periods[at]);
                }
            }
        }
        if to < old.lines.len() {
            self.old = Some((old, to));
        }
    }

    fn finish_move(&mut self) {
        self.move_some(usize::MAX / 2);
    }

    /// Goes on to the period of `now`.
    #[inline]
    fn turn(&mut self, now: Time) {
        if now >= self.turns_at {
            self.turn_to(now);
        }
    }

    #[cold]
    fn turn_to(&mut self, now: Time) {
        let length = self.lifetime.0.div_ceil(PERIODS).max(1);
        let period = now.0 / length;
        self.turns_at = Time((period + 1).saturating_mul(length));
        let passed = period - self.period;
        for over in 0..passed.min(PERIODS + 1) {
            // A key inserted at the end of its period has lived PERIODS periods only when PERIODS
            // whole ones have passed since.
            let Some(gone) = (self.period + over).checked_sub(PERIODS) else { continue };
            self.len -= std::mem::take(&mut self.counts[gone as usize % 64]) as usize;
        }
        self.period = period;
        if self.len == 0 {
            (self.table, self.old) = (Table::default(), None);
            return;
        }
        let lines = self.table.lines.len();
        // The old table is not swept. However few calls come, it is gone after 16 periods, long
        // before the number of a period comes again and its pairs would seem to be new.
        self.move_some(lines.div_ceil(8).saturating_mul(passed as usize));
        self.sweep(lines.div_ceil(PERIODS as usize).saturating_mul(passed as usize).min(lines));
        // A quarter of what is full: the next doubling is as far as the next halving.
        if self.old.is_none() && lines > FEWEST && self.len < FULL * lines / 8 {
            self.move_to(lines / 2);
        }
    }

    /// Makes what means nothing any more old in so many lines: in each lifetime in all, so that no
    /// pair is there when its period's number comes again.
    fn sweep(&mut self, lines: usize) {
        for _ in 0..lines {
            self.sweep = (self.sweep + 1) & (self.table.lines.len() - 1);
            let line = &mut self.table.lines[self.sweep];
            let mut hints = 0;
            for at in 0..PLACES {
                if line.age(at, self.period) > PERIODS {
                    line.take(at, self.period);
                } else {
                    hints |= hint(line.keys[at]);
                }
            }
            self.table.hints[self.sweep] = hints;
        }
    }
}
