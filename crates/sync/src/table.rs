//! The streams that a member knows, in bounded memory.

use crate::vector::{Stream, Vector, most_bytes};
use control::Time;
use packet::Name;
use std::collections::BTreeMap;

/// A claim about a member by others may exceed the member's own last claim by so many publications.
/// Larger numbers are wrong: they would hide the member's next publications.
const LEAP: u64 = 1 << 20;

/// The bounds of a member's memory, which also bound the size of its vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Streams of one name, from 1.
    pub starts: usize,
    /// Bytes of all streams in an encoded vector.
    pub bytes: usize,
    /// Seconds by which a bootstrap time may be in the future.
    pub future_s: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        // A packet has 8,800 bytes; names, signature and certificates' names need the rest.
        Limits { starts: 8, bytes: 6_000, future_s: 86_400 }
    }
}

/// The knowledge about a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The last publication.
    pub seq: u64,
    /// The last publication by the member's own claim; 0 without one.
    pub confirmed: u64,
    /// The instant at which `seq` was raised last.
    pub updated: Time,
}

/// New publications of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raise {
    /// The first of them.
    pub low: u64,
    /// The last of them.
    pub high: u64,
}

/// A claim about a stream.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    pub name: &'a Name,
    pub boot: u64,
    pub seq: u64,
    /// The stream's member signed it.
    pub is_own: bool,
}

/// The effect of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// There are publications that were unknown, or unconfirmed.
    Raised(Raise),
    /// It is known.
    Known,
    /// There is no room for the stream.
    NoRoom,
    /// The number is not plausible.
    Implausible,
}

/// All streams.
#[derive(Clone, Debug)]
pub struct Table {
    limits: Limits,
    streams: BTreeMap<Stream, Entry>,
    /// The bytes of all streams in an encoded vector, at most.
    bytes: usize,
}

impl Table {
    pub fn new(limits: Limits) -> Table {
        Table { limits, streams: BTreeMap::new(), bytes: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Stream, &Entry)> {
        self.streams.iter()
    }

    /// The streams that other members accept at the time `clock_s`, in seconds since 1970. The
    /// others would make them ignore the whole vector.
    pub fn current(&self, clock_s: u64) -> impl Iterator<Item = (&Stream, &Entry)> {
        let last = clock_s.saturating_add(self.limits.future_s);
        self.streams.iter().filter(move |(stream, _)| stream.boot <= last)
    }

    /// The vector to send.
    pub fn vector(&self, clock_s: u64) -> Vector {
        let mut vector = Vector::new();
        for (stream, entry) in self.current(clock_s) {
            vector.raise(&stream.name, stream.boot, entry.seq);
        }
        vector
    }

    /// Takes a claim.
    pub fn take(&mut self, now: Time, claim: &Claim<'_>) -> Taken {
        let stream = Stream { name: claim.name.clone(), boot: claim.boot };
        match self.streams.get_mut(&stream) {
            Some(entry) => entry.take(now, claim),
            None => self.add(now, stream, claim),
        }
    }

    fn add(&mut self, now: Time, stream: Stream, claim: &Claim<'_>) -> Taken {
        let need = most_bytes(stream.name.as_ref());
        let starts =
            |table: &Table| table.streams.keys().filter(|other| other.name == stream.name).count();
        while starts(self) >= self.limits.starts {
            if !self.evict(claim, Some(&stream)) {
                return Taken::NoRoom;
            }
        }
        while self.bytes + need > self.limits.bytes {
            if !self.evict(claim, None) {
                return Taken::NoRoom;
            }
        }
        self.bytes += need;
        let confirmed = if claim.is_own { claim.seq } else { 0 };
        self.streams.insert(stream, Entry { seq: claim.seq, confirmed, updated: now });
        Taken::Raised(Raise { low: 1, high: claim.seq })
    }

    /// Makes room for a member's claim about itself: removes the unconfirmed stream that is oldest,
    /// or an earlier start of the same member. Returns false if there is none.
    fn evict(&mut self, claim: &Claim<'_>, of: Option<&Stream>) -> bool {
        if !claim.is_own {
            return false;
        }
        let unconfirmed = |(stream, entry): &(&Stream, &Entry)| {
            entry.confirmed == 0 && of.is_none_or(|of| stream.name == of.name)
        };
        let found = self.streams.iter().filter(unconfirmed).min_by_key(|(_, entry)| entry.updated);
        let earlier = || self.streams.iter().find(|(stream, _)| stream.name == *claim.name);
        let Some(stream) = found.or_else(earlier).map(|(stream, _)| stream.clone()) else {
            return false;
        };
        self.bytes -= most_bytes(stream.name.as_ref());
        self.streams.remove(&stream);
        true
    }
}

impl Entry {
    fn take(&mut self, now: Time, claim: &Claim<'_>) -> Taken {
        let plausible = self.confirmed.saturating_add(LEAP);
        if !claim.is_own && self.confirmed > 0 && claim.seq > plausible {
            return Taken::Implausible;
        }
        let before = self.seq;
        let mut low = before.saturating_add(1);
        if claim.is_own && claim.seq > self.confirmed {
            low = low.min(self.confirmed + 1);
            self.confirmed = claim.seq;
        }
        if self.confirmed > 0 && self.seq > self.confirmed.saturating_add(LEAP) {
            // Others claimed it before the member itself was heard.
            self.seq = self.confirmed;
            self.updated = now;
        }
        if claim.seq > self.seq {
            self.seq = claim.seq;
            self.updated = now;
        }
        match low <= claim.seq && (claim.seq > before || claim.is_own) {
            true => Taken::Raised(Raise { low, high: claim.seq }),
            false => Taken::Known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(table: &mut Table, name: &str, boot: u64, seq: u64, is_own: bool) -> Taken {
        let name: Name = name.parse().unwrap();
        table.take(Time(seq), &Claim { name: &name, boot, seq, is_own })
    }

    fn raised(low: u64, high: u64) -> Taken {
        Taken::Raised(Raise { low, high })
    }

    #[test]
    fn forged_names_fill_the_table_and_members_still_get_in() {
        let mut table = Table::new(Limits { bytes: 1_000, ..Limits::default() });
        let mut taken = 0;
        for i in 0..5_000 {
            taken += usize::from(
                claim(&mut table, &format!("/forged/{i}"), 1, 1, false) != Taken::NoRoom,
            );
        }
        assert!((20..40).contains(&taken), "{taken}");
        assert_eq!(claim(&mut table, "/alice", 1, 5, true), raised(1, 5));
        assert!(table.bytes <= 1_000);
        // No forged name replaces a member.
        claim(&mut table, "/forged/new", 1, 1, false);
        assert!(table.iter().any(|(stream, _)| stream.name.to_string() == "/alice"));
        // Members that were heard stay, too: there is no room for more of them.
        let all = (0..1_000)
            .filter(|i| claim(&mut table, &format!("/m/{i}"), 1, 1, true) != Taken::NoRoom);
        assert!(all.count() < 40 && table.bytes <= 1_000);
    }

    #[test]
    fn starts_of_a_name_are_bounded_and_the_earliest_makes_room() {
        let mut table = Table::new(Limits { starts: 3, ..Limits::default() });
        for boot in 1..=3 {
            assert_eq!(claim(&mut table, "/a", boot, 1, true), raised(1, 1));
        }
        assert_eq!(claim(&mut table, "/a", 9, 1, false), Taken::NoRoom);
        assert_eq!(claim(&mut table, "/a", 4, 1, true), raised(1, 1));
        let boots: Vec<_> = table.iter().map(|(stream, _)| stream.boot).collect();
        assert_eq!(boots, [2, 3, 4]);
    }

    #[test]
    fn a_huge_number_by_others_hides_nothing() {
        let mut table = Table::new(Limits::default());
        assert_eq!(claim(&mut table, "/a", 1, u64::MAX, false), raised(1, u64::MAX));
        // The member has 12 publications, whatever others claim.
        assert_eq!(claim(&mut table, "/a", 1, 12, true), raised(1, 12));
        assert_eq!(table.iter().next().unwrap().1.seq, 12);
        assert_eq!(claim(&mut table, "/a", 1, u64::MAX, false), Taken::Implausible);
        assert_eq!(claim(&mut table, "/a", 1, 13, false), raised(13, 13));
        assert_eq!(claim(&mut table, "/a", 1, 13, true), raised(13, 13));
        assert_eq!(claim(&mut table, "/a", 1, 13, true), Taken::Known);
        assert_eq!(claim(&mut table, "/a", 1, 11, true), Taken::Known);
    }

    #[test]
    fn streams_of_the_future_are_not_sent() {
        let mut table = Table::new(Limits { future_s: 10, ..Limits::default() });
        claim(&mut table, "/a", 110, 1, true);
        claim(&mut table, "/b", 111, 1, true);
        let sent = table.vector(100);
        let names: Vec<_> = sent.iter().map(|(name, ..)| name.to_string()).collect();
        assert_eq!(names, ["/a"]);
        assert_eq!(table.vector(101).iter().count(), 2);
    }
}
