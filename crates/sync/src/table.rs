//! The streams that a member knows, in bounded memory.

use crate::vector::{Stream, Vector, most_bytes};
use control::Time;
use packet::{Name, NameRef};
use std::collections::BTreeMap;

/// The number of publications by which a claim about a member may exceed the member's own claim.
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
    /// The identity that signed it, if it speaks for the stream.
    pub owner: Option<NameRef<'a>>,
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
    /// The name of the member itself. Its current start is in each vector, but not in the table.
    own: Name,
    streams: BTreeMap<Stream, Entry>,
    /// The identities that have claimed their own streams. If an identity speaks for those of
    /// others, the longest name counts.
    owners: BTreeMap<Stream, Name>,
    /// The bytes of all streams in an encoded vector, at most.
    bytes: usize,
}

impl Table {
    pub fn new(limits: Limits, own: Name) -> Table {
        Table { limits, own, streams: BTreeMap::new(), owners: BTreeMap::new(), bytes: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Stream, &Entry)> {
        self.streams.iter()
    }

    /// True if the stream is known.
    pub fn contains(&self, stream: &Stream) -> bool {
        self.streams.contains_key(stream)
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
        let taken = match self.streams.get_mut(&stream) {
            Some(entry) => entry.take(now, claim),
            None => self.add(now, &stream, claim),
        };
        if let Some(owner) = claim.owner.filter(|_| self.contains(&stream)) {
            let known = self.owners.entry(stream).or_insert_with(|| owner.to_name());
            if known.len() < owner.len() {
                *known = owner.to_name();
            }
        }
        taken
    }

    fn add(&mut self, now: Time, stream: &Stream, claim: &Claim<'_>) -> Taken {
        let need = most_bytes(stream.name.as_ref());
        if need > self.limits.bytes {
            return Taken::NoRoom;
        }
        let before = (self.streams.clone(), self.owners.clone(), self.bytes);
        if !self.make_room(claim, need) {
            // Streams that have made room in vain are there again.
            (self.streams, self.owners, self.bytes) = before;
            return Taken::NoRoom;
        }
        self.bytes += need;
        let confirmed = if claim.owner.is_some() { claim.seq } else { 0 };
        self.streams.insert(stream.clone(), Entry { seq: claim.seq, confirmed, updated: now });
        Taken::Raised(Raise { low: 1, high: claim.seq })
    }

    /// Removes streams, until there is room for one more of the claim's name. False if there is
    /// none.
    fn make_room(&mut self, claim: &Claim<'_>, need: usize) -> bool {
        // Others have room for the current start, too.
        let most = self.limits.starts - usize::from(*claim.name == self.own);
        while self.starts(claim.name).count() >= most {
            let Some(start) = self.dispensable_start(claim) else { return false };
            self.remove(&start);
        }
        while self.bytes + need > self.limits.bytes {
            let Some(other) = self.dispensable(claim, need) else { return false };
            self.remove(&other);
        }
        true
    }

    fn remove(&mut self, stream: &Stream) {
        if self.streams.remove(stream).is_some() {
            self.bytes -= most_bytes(stream.name.as_ref());
            self.owners.remove(stream);
        }
    }

    fn starts(&self, name: &Name) -> impl Iterator<Item = (&Stream, &Entry)> {
        self.streams.iter().filter(move |(stream, _)| stream.name == *name)
    }

    /// The start that makes room for another one of the same name. A member replaces an unconfirmed
    /// start, or the one that was raised longest ago. Others may replace earlier starts by later
    /// ones, but not the last confirmed one: members have to agree on the starts that they keep.
    fn dispensable_start(&self, claim: &Claim<'_>) -> Option<Stream> {
        let mut starts = self.starts(claim.name);
        let start = if claim.owner.is_some() {
            starts.min_by_key(|(_, entry)| (entry.confirmed > 0, entry.updated))
        } else {
            let confirmed = self.starts(claim.name).filter(|(_, entry)| entry.confirmed > 0);
            let current = confirmed.max_by_key(|(_, entry)| entry.updated);
            let current = current.map(|(stream, _)| stream);
            starts.find(|(stream, _)| stream.boot < claim.boot && Some(*stream) != current)
        };
        start.map(|(stream, _)| stream.clone())
    }

    /// The stream that makes room for a member's claim about itself: the unconfirmed one that was
    /// raised longest ago, or a stream of the identity with the most bytes if that has more than
    /// the claiming one would have. So no identity keeps others out by many streams.
    fn dispensable(&self, claim: &Claim<'_>, need: usize) -> Option<Stream> {
        let owner = claim.owner?;
        if let Some(unconfirmed) = self.oldest(None) {
            return Some(unconfirmed);
        }
        let mut shares: BTreeMap<&Name, usize> = BTreeMap::new();
        for (stream, owner) in &self.owners {
            *shares.entry(owner).or_default() += most_bytes(stream.name.as_ref());
        }
        let own = shares.iter().find(|(name, _)| name.as_ref() == owner);
        let most = shares.iter().max_by_key(|(_, bytes)| **bytes)?;
        let is_larger = *most.1 > own.map_or(0, |(_, bytes)| *bytes) + need;
        // Otherwise the member can only replace its own.
        self.oldest(Some(if is_larger { most.0 } else { own?.0 }))
    }

    /// The stream of this owner that was raised longest ago; `None`: of those without an owner.
    fn oldest(&self, owner: Option<&Name>) -> Option<Stream> {
        let streams = self.streams.iter().filter(|(stream, _)| self.owners.get(stream) == owner);
        streams.min_by_key(|(_, entry)| entry.updated).map(|(stream, _)| stream.clone())
    }
}

impl Entry {
    fn take(&mut self, now: Time, claim: &Claim<'_>) -> Taken {
        let plausible = self.confirmed.saturating_add(LEAP);
        if claim.owner.is_none() && self.confirmed > 0 && claim.seq > plausible {
            return Taken::Implausible;
        }
        let before = self.seq;
        let mut low = before.saturating_add(1);
        if claim.owner.is_some() && claim.seq > self.confirmed {
            low = low.min(self.confirmed + 1);
            self.confirmed = claim.seq;
        }
        if self.confirmed > 0 && self.seq > self.confirmed.saturating_add(LEAP) {
            // Others claimed it before the member itself sent anything.
            self.seq = self.confirmed;
            self.updated = now;
        }
        if claim.seq > self.seq {
            self.seq = claim.seq;
            self.updated = now;
        }
        match low <= claim.seq && (claim.seq > before || claim.owner.is_some()) {
            true => Taken::Raised(Raise { low, high: claim.seq }),
            false => Taken::Known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_with(limits: Limits) -> Table {
        Table::new(limits, "/own".parse().unwrap())
    }

    fn claim(table: &mut Table, name: &str, boot: u64, seq: u64, is_own: bool) -> Taken {
        let name: Name = name.parse().unwrap();
        let owner = is_own.then_some(name.as_ref());
        table.take(Time(seq), &Claim { name: &name, boot, seq, owner })
    }

    fn raised(low: u64, high: u64) -> Taken {
        Taken::Raised(Raise { low, high })
    }

    #[test]
    fn forged_names_fill_the_table_and_members_still_get_in() {
        let mut table = table_with(Limits { bytes: 1_000, ..Limits::default() });
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
        // Members that sent something stay, too: there is no room for more of them.
        let all = (0..1_000)
            .filter(|i| claim(&mut table, &format!("/m/{i}"), 1, 1, true) != Taken::NoRoom);
        assert!(all.count() < 40 && table.bytes <= 1_000);
    }

    #[test]
    fn starts_of_a_name_are_bounded_and_the_earliest_makes_room() {
        let mut table = table_with(Limits { starts: 3, ..Limits::default() });
        for boot in 1..=3 {
            assert_eq!(claim(&mut table, "/a", boot, 1, true), raised(1, 1));
        }
        assert_eq!(claim(&mut table, "/a", 4, 1, true), raised(1, 1));
        assert_eq!(boots(&table), [2, 3, 4]);
    }

    #[test]
    fn starts_of_the_member_itself_leave_room_for_its_current_one() {
        let mut table = table_with(Limits { starts: 3, ..Limits::default() });
        for boot in 1..=3 {
            claim(&mut table, "/own", boot, 1, false);
        }
        assert_eq!(boots(&table), [2, 3]);
    }

    fn boots(table: &Table) -> Vec<u64> {
        table.iter().map(|(stream, _)| stream.boot).collect()
    }

    /// Otherwise members that learn of a start by others would keep other starts than those that
    /// learn of it from itself, and answer each other for ever.
    #[test]
    fn later_starts_replace_earlier_ones_by_the_claims_of_others_as_well() {
        let mut table = table_with(Limits { starts: 3, ..Limits::default() });
        for boot in 2..=4 {
            claim(&mut table, "/a", boot, 1, false);
        }
        assert_eq!(claim(&mut table, "/a", 1, 1, false), Taken::NoRoom);
        assert_eq!(claim(&mut table, "/a", 5, 1, false), raised(1, 1));
        assert_eq!(boots(&table), [3, 4, 5]);
        // The start that the member itself has confirmed last stays.
        claim(&mut table, "/a", 3, 2, true);
        for boot in 6..100 {
            claim(&mut table, "/a", boot, 1, false);
        }
        assert_eq!(boots(&table), [3, 98, 99]);
    }

    #[test]
    fn no_identity_keeps_others_out_by_many_streams() {
        let mut table = table_with(Limits { bytes: 2_000, ..Limits::default() });
        let own = |table: &mut Table, owner: &str, name: String, boot| {
            let (owner, name): (Name, Name) = (owner.parse().unwrap(), name.parse().unwrap());
            let claim = Claim { name: &name, boot, seq: 1, owner: Some(owner.as_ref()) };
            table.take(Time(boot), &claim)
        };
        own(&mut table, "/alice", "/alice".to_owned(), 1);
        for i in 0..1_000 {
            own(&mut table, "/mallory", format!("/mallory/{i}"), i);
        }
        for i in 0..20 {
            let name = format!("/m/{i}");
            assert_ne!(own(&mut table, &name, name.clone(), 1), Taken::NoRoom, "{name}");
        }
        assert!(table.bytes <= 2_000 && table.owners.len() == table.streams.len());
        let names: Vec<_> = table.iter().map(|(stream, _)| stream.name.to_string()).collect();
        assert!(names.contains(&"/alice".to_owned()), "{names:?}");
        assert_eq!(names.iter().filter(|name| name.starts_with("/m/")).count(), 20);
        // It has a place as well, for its last stream.
        assert!(names.contains(&"/mallory/999".to_owned()), "{names:?}");
        let long = format!("/mallory/{}", "x".repeat(3_000));
        assert_eq!(own(&mut table, "/mallory", long, 1), Taken::NoRoom);
        assert!(table.streams.len() > 20, "a name that fits nowhere displaces nothing");
    }

    #[test]
    fn a_claim_without_room_displaces_nothing_of_its_identity_either() {
        let mut table = table_with(Limits { bytes: 2_000, ..Limits::default() });
        let own = |table: &mut Table, owner: &str, name: String| {
            let (owner, name): (Name, Name) = (owner.parse().unwrap(), name.parse().unwrap());
            let claim = Claim { name: &name, boot: 1, seq: 1, owner: Some(owner.as_ref()) };
            table.take(Time(1), &claim)
        };
        own(&mut table, "/o", "/o".to_owned());
        for i in 0..1_000 {
            let name = format!("/m{i:03}");
            own(&mut table, &name, name.clone());
        }
        let before: Vec<Stream> = table.iter().map(|(stream, _)| stream.clone()).collect();
        assert_eq!(own(&mut table, "/o", format!("/o/{}", "x".repeat(1_000))), Taken::NoRoom);
        assert!(table.iter().map(|(stream, _)| stream).eq(&before), "/o was removed");
        assert!(before.iter().any(|stream| stream.name.to_string() == "/o"));
    }

    #[test]
    fn a_huge_number_by_others_hides_nothing() {
        let mut table = table_with(Limits::default());
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
        let mut table = table_with(Limits { future_s: 10, ..Limits::default() });
        claim(&mut table, "/a", 110, 1, true);
        claim(&mut table, "/b", 111, 1, true);
        let sent = table.vector(100);
        let names: Vec<_> = sent.iter().map(|(name, ..)| name.to_string()).collect();
        assert_eq!(names, ["/a"]);
        assert_eq!(table.vector(101).iter().count(), 2);
    }
}
