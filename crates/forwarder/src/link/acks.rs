//! The receiving end of NDNLPv2's link reliability: what is to be acknowledged, and what came
//! before.

use control::{Duration, Time};
use std::collections::VecDeque;

use crate::tables::memory::{self, Room};

/// The most acknowledgements that wait. Later frames are not acknowledged, so the peer sends them
/// again.
const MAX_PENDING: usize = 4096;

/// NFD's `idleAckTimerPeriod`: how long an acknowledgement waits for a packet that takes it along.
const IDLE: Duration = Duration::from_millis(5);

/// So many acknowledgements do not wait: the peer may be waiting for them.
const ENOUGH: usize = 8;

/// The TxSequences of frames that came and are not acknowledged yet.
#[derive(Debug)]
pub(crate) struct Acks {
    pending: VecDeque<u64>,
    /// When the first of them came.
    since: Time,
    /// How long it may wait.
    wait: Duration,
}

impl Acks {
    /// `dense` says that every frame is to be acknowledged, so that acknowledgements are gathered;
    /// otherwise they are few, and each is awaited.
    pub(crate) fn new(dense: bool) -> Acks {
        let wait = if dense { IDLE } else { Duration::ZERO };
        Acks { pending: VecDeque::new(), since: Time::ZERO, wait }
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        memory::deque(&self.pending)
    }

    /// A frame with this TxSequence has arrived. The acknowledgement may take `room` bytes of
    /// memory.
    pub(crate) fn push(&mut self, now: Time, tx: u64, room: Room) {
        if self.pending.is_empty() {
            self.since = now;
        }
        if self.pending.len() < MAX_PENDING && room.holds(|| memory::deque_growth(&self.pending, 1))
        {
            self.pending.push_back(tx);
        }
    }

    /// When they are to be sent at the latest.
    pub(crate) fn due(&self) -> Option<Time> {
        match self.pending.len() {
            0 => None,
            1..ENOUGH => Some(self.since + self.wait),
            _ => Some(Time::ZERO),
        }
    }

    /// Moves at most `most` of them, the oldest first.
    pub(crate) fn take(&mut self, most: usize, into: &mut Vec<u64>) {
        into.extend(self.pending.drain(..most.min(self.pending.len())));
    }

    /// Returns acknowledgements of [`Acks::take`] that could not be sent.
    pub(crate) fn requeue(&mut self, taken: &[u64]) {
        taken.iter().rev().for_each(|tx| self.pending.push_front(*tx));
    }
}

/// How many Sequences back a duplicate is known for one.
const SPAN: u64 = 16_384;
const WORDS: usize = SPAN as usize / 64;

/// Sequences further back than this are those of a sender that restarted.
const FAR: u64 = 1 << 32;

/// The Sequences of recent frames: a bit map that moves with the highest one (RFC 4303, 3.4.3).
#[derive(Debug)]
pub(crate) struct Seen {
    bits: Box<[u64; WORDS]>,
    highest: Option<u64>,
}

impl Seen {
    /// Bytes of memory that it takes.
    pub(crate) const MEMORY: usize = memory::block(WORDS * size_of::<u64>());

    pub(crate) fn new() -> Seen {
        Seen { bits: Box::new([0; WORDS]), highest: None }
    }

    /// Records a frame with this Sequence and returns true if it is the first one. A Sequence older
    /// than the map counts as the first.
    pub(crate) fn is_first(&mut self, sequence: u64) -> bool {
        let Some(highest) = self.highest else {
            self.begin(sequence);
            return true;
        };
        let (ahead, behind) = (sequence.wrapping_sub(highest), highest.wrapping_sub(sequence));
        if ahead == 0 || behind < SPAN {
            return self.set(sequence);
        }
        if ahead < SPAN {
            for passed in 1..=ahead {
                self.clear(highest.wrapping_add(passed));
            }
            self.highest = Some(sequence);
            return self.set(sequence);
        }
        if behind >= FAR {
            self.begin(sequence);
        }
        true
    }

    fn begin(&mut self, sequence: u64) {
        self.bits.fill(0);
        self.highest = Some(sequence);
        self.set(sequence);
    }

    fn place(sequence: u64) -> (usize, u64) {
        let bit = sequence % SPAN;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn set(&mut self, sequence: u64) -> bool {
        let (word, bit) = Seen::place(sequence);
        let first = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        first
    }

    fn clear(&mut self, sequence: u64) {
        let (word, bit) = Seen::place(sequence);
        self.bits[word] &= !bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_acks_are_bounded_and_the_oldest_are_taken_first() {
        let mut acks = Acks::new(true);
        assert_eq!(acks.due(), None);
        (0..5000).for_each(|tx| acks.push(Time(tx), tx, Room::Uncounted));
        assert_eq!(acks.due(), Some(Time::ZERO));
        let mut taken = Vec::new();
        acks.take(2, &mut taken);
        assert_eq!(taken, [0, 1]);
        acks.requeue(&taken);
        taken.clear();
        acks.take(usize::MAX, &mut taken);
        assert_eq!((taken.len(), taken.last()), (MAX_PENDING, Some(&4095)));
        acks.push(Time(7), 9, Room::Uncounted);
        assert_eq!(acks.due(), Some(Time(7) + IDLE));
    }

    #[test]
    fn a_duplicate_is_known_in_any_order_and_across_the_end_of_numbers() {
        for start in [0, 1_000_000, u64::MAX - 2] {
            let mut seen = Seen::new();
            let at = |n: u64| start.wrapping_add(n);
            for n in [0, 1, 3, 2, 7, 5] {
                assert!(seen.is_first(at(n)));
                assert!(!seen.is_first(at(n)));
            }
            assert!(seen.is_first(at(4)) && !seen.is_first(at(0)));
        }
    }

    #[test]
    fn numbers_beyond_the_map_pass() {
        let mut seen = Seen::new();
        assert!(seen.is_first(100_000));
        assert!(seen.is_first(100_000 - SPAN) && seen.is_first(100_000 - SPAN));
        assert!(!seen.is_first(100_000), "it did not move back for it");
        // The bit of 100,000 is that of 100,000 + SPAN.
        assert!(seen.is_first(100_000 + SPAN - 1) && seen.is_first(100_000 + SPAN));
        assert!(!seen.is_first(100_001 + SPAN - 2));
    }

    #[test]
    fn a_sender_that_restarts_its_numbers_is_accepted() {
        let mut seen = Seen::new();
        assert!(seen.is_first(u64::MAX / 2));
        for start in [3, u64::MAX - 5] {
            assert!(seen.is_first(start) && !seen.is_first(start));
            assert!(seen.is_first(start + 1) && !seen.is_first(start + 1));
        }
    }
}
