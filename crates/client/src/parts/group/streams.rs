//! The publications of each stream, in the order of their numbers.

use control::{Duration, Time};
use packet::{Bytes, Name};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use sync::{Stream, Update};

/// Publications of a stream that a member keeps: no more need be asked for.
const MOST_KEPT: u64 = super::kept::MOST_PACKETS as u64;
/// Publications of a stream that are asked for at a time. The others are a range of numbers, so a
/// claim takes no memory.
const WINDOW: usize = 64;
/// Bytes of publications that wait for earlier ones, of all streams.
const MOST_HELD: usize = 4_000_000;
/// How often publications that could not be fetched are asked for in a row.
const ROUNDS: u8 = 3;
/// The time until each round after those: their member may be back, or an old vector was repeated.
const REST: Duration = Duration::from_secs(60);

/// A verified publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its content.
    pub content: Bytes,
    /// The key that signed it.
    pub key: Name,
}

/// A publication that is next in its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Its number.
    pub seq: u64,
    /// Its content and its signer.
    pub arrival: Arrival,
    /// It was published since this member joined.
    pub is_live: bool,
    /// Later ones have been released before: it could not be fetched then.
    pub is_late: bool,
}

/// The result of an arrival, or of an absence.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The publications that are next.
    pub released: Vec<Released>,
    /// Publications that could not be fetched: the first, the last, and their count.
    pub missing: Option<(u64, u64, u64)>,
}

/// The streams of a group; their number is bounded by the state vector.
pub struct Streams {
    /// Publications that are fetched of a stream that began before this member joined, in the
    /// second `joined`.
    history: u64,
    joined: u64,
    all: BTreeMap<Stream, Incoming>,
    /// The bytes of publications that wait for earlier ones.
    held: usize,
}

#[derive(Default)]
struct Incoming {
    /// The last publication that may be from before this member joined.
    base: u64,
    /// A claim of the stream's member has shown that it knows this member: `base` is final.
    is_current: bool,
    /// The last publication that its member has claimed itself; 0 without one.
    confirmed: u64,
    /// The first and the last publication that are still to be asked for.
    wanted: Option<(u64, u64)>,
    /// The first publication that was ever wanted.
    first: Option<u64>,
    /// Publications that were asked for, or have arrived and wait for earlier ones.
    pending: BTreeMap<u64, Option<Arrival>>,
    /// Publications that were given up, and are asked for again. Others do not wait for them.
    late: BTreeSet<u64>,
    /// The latest publications that were released.
    seen: BTreeSet<u64>,
    /// Publications that could not be fetched.
    missing: BTreeMap<u64, Tries>,
    /// Those of them that are not reported yet.
    unreported: BTreeSet<u64>,
    /// The first and the last of more than any member keeps.
    skipped: Option<(u64, u64)>,
}

/// The rounds in which a publication could not be fetched.
struct Tries {
    rounds: u8,
    /// The earliest time of the next one when there were many.
    next: Time,
}

impl Streams {
    /// No streams yet.
    #[must_use]
    pub fn new(history: u64, joined: u64) -> Streams {
        let history = history.clamp(1, MOST_KEPT);
        Streams { history, joined, all: BTreeMap::new(), held: 0 }
    }

    /// The number of streams.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Drops streams that have no place in the state vector any more, and returns them.
    pub fn forget(&mut self, is_known: impl Fn(&Stream) -> bool) -> Vec<Stream> {
        let dropped = self.all.keys().filter(|stream| !is_known(stream));
        let dropped: Vec<_> = dropped.cloned().collect();
        for line in dropped.iter().filter_map(|stream| self.all.remove(stream)) {
            self.held -= line.pending.values().flatten().map(size).sum::<usize>();
        }
        dropped
    }

    /// The stream's member had `seq` publications when it knew of this member. Later ones are live.
    /// Before that, claims may be replayed.
    pub fn current(&mut self, stream: &Stream, seq: u64) {
        if let Some(line) = self.all.get_mut(stream).filter(|line| !line.is_current) {
            line.base = seq;
            line.is_current = true;
        }
    }

    /// Takes an update. [`Streams::next_wanted`] has the numbers to ask for then. Returns those
    /// that were asked for by the claims of others, and that the member has claimed itself now.
    pub fn update(&mut self, update: &Update) -> Vec<u64> {
        let (history, joined) = (self.history, self.joined);
        let line = self.all.entry(update.stream.clone()).or_default();
        if !line.is_current {
            line.base = line.base.max(update.high);
        }
        line.want(update, history, update.stream.boot < joined);
        if !update.is_confirmed {
            return Vec::new();
        }
        line.confirmed = line.confirmed.max(update.high);
        let claimed = line.pending.range(update.low..=update.high.max(update.low));
        claimed.filter(|(_, arrival)| arrival.is_none()).map(|(seq, _)| *seq).collect()
    }

    /// The next publication of a stream to ask for, and whether only others have claimed it. There
    /// is none while many are asked for.
    pub fn next_wanted(&mut self, stream: &Stream) -> Option<(u64, bool)> {
        self.all.get_mut(stream)?.next_wanted()
    }

    /// Takes back a publication that [`Streams::next_wanted`] returned last, and that cannot be
    /// asked for now.
    pub fn put_back(&mut self, stream: &Stream, seq: u64) {
        if let Some(line) = self.all.get_mut(stream)
            && line.pending.get(&seq) == Some(&None)
        {
            line.pending.remove(&seq);
            line.wanted = Some((seq, line.wanted.map_or(seq, |(_, last)| last)));
        }
    }

    /// Takes a publication that has arrived.
    pub fn arrived(&mut self, stream: &Stream, seq: u64, arrival: Arrival) -> Outcome {
        let Some(line) = self.all.get_mut(stream) else { return Outcome::default() };
        match line.pending.get_mut(&seq) {
            Some(Some(_)) => return Outcome::default(),
            Some(asked) => {
                self.held += size(&arrival);
                *asked = Some(arrival);
            }
            None if line.late.remove(&seq) || !line.seen.contains(&seq) => {
                line.unreported.remove(&seq);
                let released = vec![line.releases(seq, arrival)];
                return Outcome { released, missing: None };
            }
            None => return Outcome::default(),
        }
        if self.held > MOST_HELD {
            line.pass_over();
        }
        self.release(stream)
    }

    /// Takes the number of a publication that could not be fetched.
    pub fn absent(&mut self, stream: &Stream, seq: u64) -> Outcome {
        let Some(line) = self.all.get_mut(stream) else { return Outcome::default() };
        if line.pending.get(&seq) == Some(&None) || line.late.contains(&seq) {
            line.miss(seq);
        }
        self.release(stream)
    }

    fn release(&mut self, stream: &Stream) -> Outcome {
        let Some(line) = self.all.get_mut(stream) else { return Outcome::default() };
        let outcome = line.release();
        let released = outcome.released.iter();
        self.held -= released.map(|released| size(&released.arrival)).sum::<usize>();
        outcome
    }

    /// The publications of a member that could not be fetched and are asked for again, now that it
    /// is here.
    pub fn again(&mut self, now: Time, of: impl Fn(&Stream) -> bool) -> Vec<(Stream, u64)> {
        let mut asked = Vec::new();
        for (stream, line) in self.all.iter_mut().filter(|(stream, _)| of(stream)) {
            let Incoming { missing, late, .. } = line;
            let most = WINDOW.saturating_sub(late.len());
            let is_due = |tries: &Tries| tries.rounds < ROUNDS || now >= tries.next;
            let may =
                missing.iter_mut().filter(|(seq, tries)| !late.contains(seq) && is_due(tries));
            for (seq, tries) in may.take(most) {
                tries.next = now + REST;
                asked.push((stream.clone(), *seq));
            }
            late.extend(asked.iter().filter(|(of, _)| of == stream).map(|(_, seq)| *seq));
        }
        asked
    }
}

/// The bytes that a publication takes while it waits.
fn size(arrival: &Arrival) -> usize {
    arrival.content.len() + size_of::<Arrival>()
}

impl Incoming {
    /// Notes the publications of an update that are to be asked for. `is_earlier`: the stream began
    /// before this member joined.
    fn want(&mut self, update: &Update, history: u64, is_earlier: bool) {
        let (least, high) = (update.low.max(1), update.high);
        // Of a stream that is known, publications may be missing since a division of the network.
        let is_all = update.is_confirmed && !(is_earlier && self.confirmed == 0);
        let fetched = if is_all { MOST_KEPT } else { history };
        let kept = |count: u64| high.saturating_sub(count - 1);
        let mut low = least.max(kept(fetched));
        if let Some(first) = self.first.filter(|first| update.is_confirmed && *first < low) {
            // Others have claimed it already, and it could not be fetched from them.
            low = first.max(least).max(kept(MOST_KEPT));
        }
        if is_all && low > least {
            self.skip(least, low - 1);
        }
        if low > high {
            return;
        }
        self.first = Some(self.first.map_or(low, |first| first.min(low)));
        // Claims by others may be far too large.
        let known = self
            .wanted
            .filter(|(_, last)| !update.is_confirmed || last.saturating_sub(high) <= MOST_KEPT);
        let (first, last) =
            known.map_or((low, high), |(first, last)| (first.min(low), last.max(high)));
        let oldest = last.saturating_sub(MOST_KEPT - 1);
        if first < oldest {
            self.skip(first, oldest - 1);
        }
        self.wanted = Some((first.max(oldest), last));
    }

    fn skip(&mut self, first: u64, last: u64) {
        let (low, high) = self.skipped.unwrap_or((first, last));
        self.skipped = Some((low.min(first), high.max(last)));
    }

    fn next_wanted(&mut self) -> Option<(u64, bool)> {
        while let Some((seq, last)) = self.wanted {
            let is_old = seq > self.confirmed;
            // Claims of others take no place of those that the member has made itself.
            let counted = if is_old { u64::MAX } else { self.confirmed };
            let asked = self.pending.range(..=counted).filter(|(_, arrival)| arrival.is_none());
            if asked.count() >= WINDOW {
                return None;
            }
            self.wanted = (seq < last).then(|| (seq + 1, last));
            let is_known = self.seen.contains(&seq)
                || self.pending.contains_key(&seq)
                || self.late.contains(&seq);
            if !is_known {
                self.pending.insert(seq, None);
                return Some((seq, is_old));
            }
        }
        None
    }

    fn miss(&mut self, seq: u64) {
        self.pending.remove(&seq);
        self.late.remove(&seq);
        match self.missing.entry(seq) {
            Entry::Occupied(mut tries) => {
                tries.get_mut().rounds = tries.get().rounds.saturating_add(1);
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Tries { rounds: 1, next: Time::ZERO });
                self.unreported.insert(seq);
            }
        }
        while self.missing.len() as u64 > MOST_KEPT {
            self.missing.pop_first();
        }
    }

    /// Lets no publication wait for earlier ones: those are released when they arrive.
    fn pass_over(&mut self) {
        let arrived = self.pending.iter().rev().find(|(_, arrival)| arrival.is_some());
        let Some(last) = arrived.map(|(seq, _)| *seq) else { return };
        let earlier = self.pending.range(..last).filter(|(_, arrival)| arrival.is_none());
        for seq in earlier.map(|(seq, _)| *seq).collect::<Vec<_>>() {
            self.miss(seq);
        }
    }

    fn releases(&mut self, seq: u64, arrival: Arrival) -> Released {
        let is_late = self.seen.last().is_some_and(|last| *last > seq);
        self.missing.remove(&seq);
        self.seen.insert(seq);
        while self.seen.len() as u64 > MOST_KEPT {
            self.seen.pop_first();
        }
        Released { seq, arrival, is_live: seq > self.base, is_late }
    }

    /// Takes the publications that wait for no earlier one.
    fn release(&mut self) -> Outcome {
        let mut outcome = Outcome::default();
        while let Some(first) = self.pending.first_entry()
            && first.get().is_some()
        {
            if let (seq, Some(arrival)) = first.remove_entry() {
                outcome.released.push(self.releases(seq, arrival));
            }
        }
        if let Some((first, last)) = self.skipped.take() {
            outcome.missing = Some((first, last, last - first + 1));
            return outcome;
        }
        let is_idle = self.pending.is_empty() && self.wanted.is_none();
        if (is_idle || self.unreported.len() as u64 >= MOST_KEPT)
            && let (Some(first), Some(last)) = (self.unreported.first(), self.unreported.last())
        {
            outcome.missing = Some((*first, *last, self.unreported.len() as u64));
            self.unreported.clear();
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream { name: "/alice".parse().unwrap(), boot: 1 }
    }

    fn update(low: u64, high: u64, is_confirmed: bool) -> Update {
        Update { stream: stream(), low, high, is_confirmed }
    }

    fn arrival(bytes: usize) -> Arrival {
        Arrival { content: vec![0; bytes].into(), key: "/alice/KEY/k".parse().unwrap() }
    }

    /// The numbers that are asked for now.
    fn asked(streams: &mut Streams) -> Vec<u64> {
        std::iter::from_fn(|| streams.next_wanted(&stream())).map(|(seq, _)| seq).collect()
    }

    /// Those that an update leads to.
    fn updated(streams: &mut Streams, low: u64, high: u64, is_confirmed: bool) -> Vec<u64> {
        streams.update(&update(low, high, is_confirmed));
        asked(streams)
    }

    fn arrived(streams: &mut Streams, seq: u64) -> Vec<u64> {
        let outcome = streams.arrived(&stream(), seq, arrival(1));
        outcome.released.iter().map(|released| released.seq).collect()
    }

    #[test]
    fn publications_are_released_once_and_in_order() {
        let mut streams = Streams::new(10, 2);
        assert_eq!(updated(&mut streams, 1, 3, false), [1, 2, 3]);
        streams.current(&stream(), 3);
        assert!(arrived(&mut streams, 3).is_empty());
        assert_eq!(arrived(&mut streams, 1), [1]);
        assert_eq!(arrived(&mut streams, 2), [2, 3]);
        assert!(arrived(&mut streams, 2).is_empty());
        assert_eq!(updated(&mut streams, 1, 4, true), [4]);
        let outcome = streams.arrived(&stream(), 4, arrival(1));
        let first = &outcome.released[0];
        assert!(first.is_live && !first.is_late, "it came after the member knew this one");
    }

    /// A router can repeat vectors that are older than this member, in any order.
    #[test]
    fn replayed_claims_make_no_publication_live() {
        let mut streams = Streams::new(10, 2);
        for seq in 1..=3 {
            updated(&mut streams, seq, seq, true);
            assert!(!streams.arrived(&stream(), seq, arrival(1)).released[0].is_live);
        }
        updated(&mut streams, 4, 6, true);
        streams.current(&stream(), 5);
        streams.current(&stream(), 1);
        let live =
            [4, 5, 6].map(|seq| streams.arrived(&stream(), seq, arrival(1)).released[0].is_live);
        assert_eq!(live, [false, false, true]);
    }

    #[test]
    fn a_stream_without_a_place_leaves_nothing() {
        let mut streams = Streams::new(10, 2);
        updated(&mut streams, 1, 3, true);
        arrived(&mut streams, 3);
        assert!(streams.held > 0);
        assert_eq!(streams.forget(|_| false), [stream()]);
        assert_eq!((streams.held, streams.len()), (0, 0));
        assert!(arrived(&mut streams, 2).is_empty() && asked(&mut streams).is_empty());
    }

    /// Each member can withhold its first publication, and send many others.
    #[test]
    fn publications_that_wait_for_an_earlier_one_are_bounded() {
        let mut streams = Streams::new(1_000, 0);
        let mut most = 0;
        let names = (0..20).map(|i| Stream { name: format!("/m{i}").parse().unwrap(), boot: 1 });
        let names: Vec<Stream> = names.collect();
        let mut released = 0;
        for stream in &names {
            streams.update(&Update { stream: stream.clone(), ..update(1, 50, true) });
            while streams.next_wanted(stream).is_some() {}
            for seq in 2..=50 {
                released += streams.arrived(stream, seq, arrival(8_000)).released.len();
                most = most.max(streams.held);
            }
        }
        assert!(most <= MOST_HELD, "{most}");
        // When there is no more room, those of the last streams do not wait for the first one.
        assert!(released > 400, "{released}");
        let first = streams.arrived(&names[19], 1, arrival(1)).released;
        assert!(first[0].is_late, "late, and not hidden");
        for stream in &names {
            streams.absent(stream, 1);
        }
        assert_eq!(streams.held, 0);
    }

    #[test]
    fn of_a_known_stream_all_are_asked_for_that_members_keep() {
        let mut streams = Streams::new(2, 2);
        assert_eq!(updated(&mut streams, 1, 5, true), [4, 5]);
        let (mut all, mut released) = (Vec::new(), Vec::new());
        streams.update(&update(6, 305, true));
        streams.update(&update(306, 5_000, true));
        loop {
            let now = asked(&mut streams);
            assert!(now.len() <= WINDOW);
            all.extend(&now);
            let Some(last) = now.last() else { break };
            let outcome = streams.arrived(&stream(), *last, arrival(1));
            released.extend(outcome.missing);
            for seq in now {
                released.extend(streams.arrived(&stream(), seq, arrival(1)).missing);
            }
        }
        assert_eq!((all.len(), all[0], all.last()), (2_000, 3_001, Some(&5_000)));
        // The others are reported.
        assert_eq!(released, [(6, 3_000, 2_995)]);
        let other = Stream { boot: 2, ..stream() };
        streams.update(&Update { stream: other.clone(), ..update(1, 300, true) });
        assert_eq!(streams.next_wanted(&other), Some((1, false)), "it began after this member");
    }

    #[test]
    fn the_latest_publications_are_history() {
        let mut streams = Streams::new(2, 2);
        let all = updated(&mut streams, 1, 1_000_000_000, false);
        assert_eq!(all, [999_999_999, 1_000_000_000]);
        assert_eq!(updated(&mut streams, 1, u64::MAX, false).len(), 2);
        let other = Stream { boot: 0, ..stream() };
        streams.update(&Update { stream: other.clone(), ..update(1, u64::MAX, true) });
        assert_eq!(streams.next_wanted(&other), Some((u64::MAX - 1, false)));
        assert_eq!(streams.next_wanted(&other), Some((u64::MAX, false)));
        assert_eq!(streams.next_wanted(&other), None);
    }

    /// Others have claimed 500 publications before the member itself has.
    #[test]
    fn the_first_claim_of_the_member_itself_asks_for_no_more_than_history() {
        let mut streams = Streams::new(3, 2);
        assert_eq!(updated(&mut streams, 1, 500, false), [498, 499, 500]);
        assert_eq!(streams.update(&update(1, 501, true)), [498, 499, 500], "of the member now");
        assert_eq!(asked(&mut streams), [501]);
    }

    #[test]
    fn a_claim_that_is_too_large_hides_no_publication() {
        let mut streams = Streams::new(2_000, 2);
        assert_eq!(updated(&mut streams, 1, 1 << 63, false).len(), WINDOW);
        assert_eq!(updated(&mut streams, 1, 2, true), [1, 2]);
        assert_eq!(arrived(&mut streams, 1), [1]);
        assert_eq!(arrived(&mut streams, 2), [2]);
        streams.current(&stream(), 2);
        assert_eq!(updated(&mut streams, 3, 3, true), [3]);
        assert!(streams.arrived(&stream(), 3, arrival(1)).released[0].is_live);
    }

    #[test]
    fn absent_publications_are_skipped_told_once_and_asked_for_again() {
        let mut streams = Streams::new(10, 2);
        updated(&mut streams, 1, 4, true);
        assert!(arrived(&mut streams, 4).is_empty());
        assert_eq!(streams.absent(&stream(), 1), Outcome::default());
        assert!(arrived(&mut streams, 3).is_empty());
        let outcome = streams.absent(&stream(), 2);
        assert_eq!(outcome.missing, Some((1, 2, 2)));
        assert_eq!(outcome.released.iter().map(|s| s.seq).collect::<Vec<_>>(), [3, 4]);
        let mut now = Time::ZERO;
        assert_eq!(streams.again(now, |_| true).len(), 2);
        assert!(streams.again(now, |_| true).is_empty(), "they are asked for already");
        updated(&mut streams, 5, 5, true);
        assert_eq!(arrived(&mut streams, 5), [5], "it does not wait for them");
        let late = streams.arrived(&stream(), 1, arrival(1)).released;
        assert!(late[0].is_late && late.len() == 1, "late, and not hidden");
        for _ in 0..ROUNDS - 1 {
            assert_eq!(streams.absent(&stream(), 2).missing, None);
            streams.again(now, |_| true);
        }
        assert!(streams.again(now, |_| true).is_empty(), "vectors are repeated");
        now += REST;
        assert_eq!(streams.again(now, |_| true), [(stream(), 2)], "the member may be back");
        assert_eq!(streams.absent(&stream(), 2).missing, None);
        assert!(streams.again(now, |_| true).is_empty());
    }

    #[test]
    fn what_cannot_be_asked_for_now_is_asked_for_later() {
        let mut streams = Streams::new(10, 2);
        streams.update(&update(1, 2, true));
        assert_eq!(streams.next_wanted(&stream()), Some((1, false)));
        streams.put_back(&stream(), 1);
        assert_eq!(asked(&mut streams), [1, 2]);
        streams.put_back(&stream(), 2);
        assert_eq!(asked(&mut streams), [2]);
    }
}
