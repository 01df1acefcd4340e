//! The publications of each stream, in the order of their numbers.

use control::{Duration, Time};
use packet::{Bytes, Name};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use sync::{Stream, Update};

/// The number of publications of a stream that a member keeps: no more need be requested.
const MOST_KEPT: u64 = super::kept::MOST_PACKETS as u64;
/// The number of publications of a stream that are requested at a time. The others are a range of
/// numbers, so a claim takes no memory.
const WINDOW: usize = 64;
/// Bytes of publications that wait for earlier ones, of all streams.
const MOST_HELD: usize = 4_000_000;
/// The number of publications of a stream that are requested at a time if its member no longer
/// keeps them. If this number in succession are nowhere else, no earlier ones are requested.
const PROBES: usize = 8;
/// The number of rounds in a row in which a missing publication is requested.
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

/// The next publication of its stream.
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
    /// The next publications.
    pub released: Vec<Released>,
    /// Publications that could not be fetched: the first, the last, and their count.
    pub missing: Option<(u64, u64, u64)>,
}

/// The streams of a group; their number is bounded by the state vector.
pub struct Streams {
    /// The number of publications to fetch of a stream that began before this member joined, in the
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
    /// The first and the last publication still to be requested.
    wanted: Option<(u64, u64)>,
    /// The first wanted publication of all.
    first: Option<u64>,
    /// The publications that its member no longer keeps.
    gone: Gone,
    /// Publications that were requested, or have arrived and wait for earlier ones.
    pending: BTreeMap<u64, Option<Arrival>>,
    /// Publications that were given up, and are requested again. Others do not wait for them.
    late: BTreeSet<u64>,
    /// The latest released publications.
    seen: BTreeSet<u64>,
    /// Publications that could not be fetched.
    missing: BTreeMap<u64, Tries>,
    /// The missing ones that are not reported yet.
    unreported: BTreeSet<u64>,
    /// They are reported at the next opportunity.
    is_report_due: bool,
    /// The first and the last of more than any member keeps.
    skipped: Option<(u64, u64)>,
}

/// The publications that the stream's member no longer keeps, and that are requested elsewhere.
#[derive(Default)]
struct Gone {
    /// The member keeps no publication before this one.
    low: u64,
    /// The first and the last of those still to be requested, the last ones first: others probably
    /// keep those.
    wanted: Option<(u64, u64)>,
    /// The first and the last that have been noted as such.
    noted: Option<(u64, u64)>,
    /// The number of those given up since one has arrived.
    in_vain: usize,
    /// Publications that are no longer requested. They were counted as missing.
    ended: BTreeSet<u64>,
}

/// The rounds in which a publication could not be fetched.
struct Tries {
    rounds: u8,
    /// The earliest time of the next one when there were many.
    next: Time,
}

impl Tries {
    /// True if it has not been requested again, and is not to be at once.
    fn is_new_rest(&self) -> bool {
        self.rounds >= ROUNDS && self.next == Time::ZERO
    }

    fn is_due(&self, now: Time) -> bool {
        self.rounds < ROUNDS || now >= self.next
    }
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

    /// Takes an update. Then [`Streams::next_wanted`] has the numbers to request. Returns those
    /// that were requested by the claims of others, and that the member has claimed itself now.
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
        let low = update.low.max(line.gone.low);
        let claimed = line.pending.range(low..=update.high.max(low));
        claimed.filter(|(_, arrival)| arrival.is_none()).map(|(seq, _)| *seq).collect()
    }

    /// The next publication of a stream to request, and true if only others have claimed it. `None`
    /// while many are requested.
    pub fn next_wanted(&mut self, stream: &Stream) -> Option<(u64, bool)> {
        self.all.get_mut(stream)?.next_wanted()
    }

    /// The next publication that its member no longer keeps, and that is requested elsewhere.
    pub fn next_gone(&mut self, stream: &Stream) -> Option<u64> {
        self.all.get_mut(stream)?.next_gone()
    }

    /// Takes back the last publication that [`Streams::next_wanted`] returned, because it cannot be
    /// requested now.
    pub fn put_back(&mut self, stream: &Stream, seq: u64) {
        if let Some(line) = self.all.get_mut(stream)
            && line.pending.get(&seq) == Some(&None)
        {
            line.pending.remove(&seq);
            line.wanted = Some((seq, line.wanted.map_or(seq, |(_, last)| last)));
        }
    }

    /// The stream's member has stated that it keeps no publication before `low`. Returns those that
    /// need not be requested from it any more.
    pub fn gone(&mut self, stream: &Stream, low: u64) -> Vec<u64> {
        self.all.get_mut(stream).map(|line| line.gone(low)).unwrap_or_default()
    }

    /// Takes a publication that has arrived.
    pub fn arrived(&mut self, stream: &Stream, seq: u64, arrival: Arrival) -> Outcome {
        let Some(line) = self.all.get_mut(stream) else { return Outcome::default() };
        match line.pending.get_mut(&seq) {
            Some(Some(_)) => return Outcome::default(),
            Some(asked) => {
                self.held += size(&arrival);
                *asked = Some(arrival);
                if seq < line.gone.low {
                    line.gone.in_vain = 0;
                }
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

    /// Takes the publications that wait for no earlier one, and those to be reported.
    pub fn release(&mut self, stream: &Stream) -> Outcome {
        let Some(line) = self.all.get_mut(stream) else { return Outcome::default() };
        let outcome = line.release();
        let released = outcome.released.iter();
        self.held -= released.map(|released| size(&released.arrival)).sum::<usize>();
        outcome
    }

    /// The missing publications of a member that are requested again, now that the member is here.
    pub fn again(&mut self, now: Time, of: impl Fn(&Stream) -> bool) -> Vec<(Stream, u64)> {
        let mut asked = Vec::new();
        for (stream, line) in self.all.iter_mut().filter(|(stream, _)| of(stream)) {
            let Incoming { missing, late, .. } = line;
            let most = WINDOW.saturating_sub(late.len());
            for tries in missing.values_mut().filter(|tries| tries.is_new_rest()) {
                tries.next = now + REST;
            }
            let may = missing.iter_mut();
            let may = may.filter(|(seq, tries)| !late.contains(seq) && tries.is_due(now));
            for (seq, tries) in may.take(most) {
                tries.next = now + REST;
                asked.push((stream.clone(), *seq));
            }
            late.extend(asked.iter().filter(|(of, _)| of == stream).map(|(_, seq)| *seq));
        }
        asked
    }
}

/// The first of `count` numbers, of which `last` is the last.
fn first_of(last: u64, count: u64) -> u64 {
    last.saturating_sub(count - 1)
}

/// The bytes that a publication takes while it waits.
fn size(arrival: &Arrival) -> usize {
    arrival.content.len() + size_of::<Arrival>()
}

impl Incoming {
    /// Notes the publications of an update that are to be requested. `is_earlier`: the stream began
    /// before this member joined.
    fn want(&mut self, update: &Update, history: u64, is_earlier: bool) {
        let (least, high) = (update.low.max(1), update.high);
        // Publications of a known stream may be missing since a division of the network.
        let is_all = update.is_confirmed && !(is_earlier && self.confirmed == 0);
        let fetched = if is_all { MOST_KEPT } else { history };
        let mut low = least.max(first_of(high, fetched));
        if let Some(first) = self.first.filter(|first| update.is_confirmed && *first < low) {
            // Others have claimed it already, and it could not be fetched from them.
            low = first.max(least).max(first_of(high, MOST_KEPT));
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
        let oldest = first_of(last, MOST_KEPT);
        if first < oldest {
            self.skip(first, oldest - 1);
        }
        self.wanted = Some((first.max(oldest), last));
        self.divide();
    }

    fn skip(&mut self, first: u64, last: u64) {
        let (low, high) = self.skipped.unwrap_or((first, last));
        self.skipped = Some((low.min(first), high.max(last)));
    }

    /// Takes the statement that no publication before `low` is kept any more.
    fn gone(&mut self, low: u64) -> Vec<u64> {
        let known = self.gone.low;
        self.gone.low = known.max(low);
        let asked = self.pending.range(known..self.gone.low);
        let asked = asked.filter(|(_, arrival)| arrival.is_none()).map(|(seq, _)| *seq);
        let asked: Vec<u64> = asked.collect();
        asked.iter().for_each(|seq| _ = self.pending.remove(seq));
        if let (Some(first), Some(last)) = (asked.first(), asked.last()) {
            self.look_elsewhere(*first, *last);
        }
        // A member that keeps them may come back, however often none had them.
        for (_, tries) in self.missing.range_mut(known..self.gone.low) {
            tries.rounds = ROUNDS;
        }
        self.trim_gone();
        self.divide();
        asked
    }

    /// Divides the wanted publications into those that the member keeps, and others.
    fn divide(&mut self) {
        if let Some((first, last)) = self.wanted
            && first < self.gone.low
        {
            self.wanted = (last >= self.gone.low).then_some((self.gone.low, last));
            self.look_elsewhere(first, last.min(self.gone.low - 1));
        }
    }

    /// Notes publications to be requested elsewhere, unless they were noted before.
    fn look_elsewhere(&mut self, first: u64, last: u64) {
        let noted = self.gone.noted;
        let (from, to) = noted.unwrap_or((first, last));
        self.gone.noted = Some((from.min(first), to.max(last)));
        if first < from {
            self.look_for_earlier(first, last.min(from - 1));
        }
        let first = if noted.is_some() { first.max(to.saturating_add(1)) } else { first };
        if first > last || noted.is_some_and(|(_, to)| last <= to) {
            return;
        }
        self.gone.in_vain = 0;
        let oldest = first_of(last, MOST_KEPT);
        let mut low = first.max(oldest);
        if let Some((earliest, latest)) = self.gone.wanted {
            self.give_up(earliest, latest.min(oldest.saturating_sub(1)));
            if latest >= oldest {
                low = earliest.max(oldest);
            }
        }
        self.gone.wanted = Some((low, last));
    }

    /// Adds publications before the noted ones.
    fn look_for_earlier(&mut self, first: u64, last: u64) {
        self.gone.in_vain = 0;
        let newest = self.gone.wanted.map_or(last, |(_, newest)| newest);
        let low = first.max(first_of(newest, MOST_KEPT));
        if low > first {
            self.give_up(first.max(first_of(last, MOST_KEPT)), last.min(low - 1));
        }
        if low <= last {
            self.gone.wanted = Some((low, newest));
        }
    }

    /// Gives up publications that no known source has, neither the member nor another.
    fn give_up(&mut self, first: u64, last: u64) {
        let is_new = |seq: &u64| !self.is_known(*seq) && !self.is_missing(*seq);
        let lost = (first..=last).filter(is_new).collect::<Vec<_>>();
        self.is_report_due |= !lost.is_empty();
        self.unreported.extend(lost);
    }

    /// Gives up those that were not requested elsewhere yet.
    fn end_search(&mut self) {
        if let Some((first, last)) = self.gone.wanted.take() {
            self.give_up(first, last);
        }
    }

    fn is_known(&self, seq: u64) -> bool {
        self.seen.contains(&seq) || self.pending.contains_key(&seq) || self.late.contains(&seq)
    }

    /// It could not be fetched, and was counted.
    fn is_missing(&self, seq: u64) -> bool {
        self.missing.contains_key(&seq) || self.gone.ended.contains(&seq)
    }

    /// The number of those that are requested elsewhere now.
    fn gone_asked(&self) -> usize {
        self.pending.range(..self.gone.low).filter(|(_, arrival)| arrival.is_none()).count()
    }

    fn next_gone(&mut self) -> Option<u64> {
        while let Some((first, seq)) = self.gone.wanted {
            if self.gone_asked() >= PROBES {
                return None;
            }
            self.gone.wanted = (first < seq).then(|| (first, seq - 1));
            let is_done = self.unreported.contains(&seq) || self.is_missing(seq);
            if !is_done && !self.is_known(seq) {
                self.pending.insert(seq, None);
                return Some(seq);
            }
        }
        None
    }

    fn next_wanted(&mut self) -> Option<(u64, bool)> {
        while let Some((seq, last)) = self.wanted {
            let is_old = seq > self.confirmed;
            // Claims of others take no place of the member's own claims.
            let counted = if is_old { u64::MAX } else { self.confirmed };
            let asked = self.pending.range(..=counted).filter(|(_, arrival)| arrival.is_none());
            if asked.count() >= WINDOW {
                return None;
            }
            self.wanted = (seq < last).then(|| (seq + 1, last));
            if !self.is_known(seq) {
                self.pending.insert(seq, None);
                return Some((seq, is_old));
            }
        }
        None
    }

    fn miss(&mut self, seq: u64) {
        self.pending.remove(&seq);
        if self.late.remove(&seq) && !self.missing.contains_key(&seq) {
            // It was reported, and newer ones have taken its place among those to ask for again.
            return;
        }
        if seq < self.gone.low {
            return self.miss_gone(seq);
        }
        match self.missing.entry(seq) {
            Entry::Occupied(mut tries) => {
                tries.get_mut().rounds = tries.get().rounds.saturating_add(1);
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Tries { rounds: 1, next: Time::ZERO });
                self.unreported.insert(seq);
            }
        }
        self.drop_first(self.missing.len().saturating_sub(MOST_KEPT as usize));
    }

    /// Keeps the latest of the missing publications that the member no longer keeps.
    fn trim_gone(&mut self) {
        let gone = self.missing.range(..self.gone.low).count();
        self.drop_first(gone.saturating_sub(WINDOW));
    }

    /// Asks no more for the first missing publications, this number of them.
    fn drop_first(&mut self, count: usize) {
        for _ in 0..count {
            if let Some((seq, _)) = self.missing.pop_first() {
                self.end(seq);
            }
        }
    }

    /// Notes that a missing publication is no longer requested.
    fn end(&mut self, seq: u64) {
        self.gone.ended.insert(seq);
        while self.gone.ended.len() as u64 > MOST_KEPT {
            self.gone.ended.pop_first();
        }
    }

    /// Its member will not have it, but another one may be out of reach: it is requested a few
    /// times more, each after a rest.
    fn miss_gone(&mut self, seq: u64) {
        if let Some(tries) = self.missing.get_mut(&seq) {
            tries.rounds += 1;
            if tries.rounds >= 2 * ROUNDS {
                self.missing.remove(&seq);
                self.end(seq);
            }
            return;
        }
        self.missing.insert(seq, Tries { rounds: ROUNDS, next: Time::ZERO });
        self.trim_gone();
        self.unreported.insert(seq);
        self.gone.in_vain += 1;
        if self.gone.in_vain >= PROBES {
            self.end_search();
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
        self.end_search();
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
        while self.gone.wanted.is_none()
            && let Some(first) = self.pending.first_entry()
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
        let is_idle =
            self.pending.is_empty() && self.wanted.is_none() && self.gone.wanted.is_none();
        // One report is for all that end with the search.
        let is_due = is_idle || self.is_report_due && self.gone_asked() == 0;
        self.is_report_due &= !is_due;
        if (is_due || self.unreported.len() as u64 >= MOST_KEPT)
            && let (Some(first), Some(last)) = (self.unreported.first(), self.unreported.last())
        {
            outcome.missing = Some((*first, *last, self.unreported.len() as u64));
            self.unreported.clear();
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
