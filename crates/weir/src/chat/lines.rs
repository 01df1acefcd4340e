//! The messages of each stream, in the order of their numbers.

use std::collections::{BTreeMap, BTreeSet};
use sync::{Stream, Update};
use weir::message::{Body, Message};

/// Messages of a stream that a member keeps: no more need be asked for.
const MOST_KEPT: u64 = 2_000;

/// Bytes of text that wait for earlier messages, of all streams.
const MOST_HELD: usize = 4_000_000;

/// How often messages that could not be fetched are asked for again.
const ROUNDS: u8 = 3;

/// The streams of a group; their number is bounded by the state vector.
pub struct Lines {
    /// Messages that are fetched of a stream that began before this member joined, in the second
    /// `joined`.
    history: u64,
    joined: u64,
    all: BTreeMap<Stream, Line>,
    /// The bytes of messages that wait for earlier ones.
    held: usize,
}

/// A message that is shown now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub seq: u64,
    pub message: Message,
    /// It was published since this member joined.
    pub is_live: bool,
}

/// The result of an arrival, or of an absence.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    pub shown: Vec<Shown>,
    /// Messages that could not be fetched: the first, the last, and their count.
    pub missing: Option<(u64, u64, usize)>,
}

#[derive(Default)]
struct Line {
    /// The last publication that may be from before this member joined.
    base: u64,
    /// A claim of the stream's member has shown that it knows this member: `base` is final.
    is_current: bool,
    /// Messages that were asked for, or have arrived and wait for earlier ones.
    pending: BTreeMap<u64, Option<Message>>,
    /// The latest messages that were shown.
    seen: BTreeSet<u64>,
    /// Messages that could not be fetched, and how often that was tried.
    missing: BTreeMap<u64, u8>,
    /// Those of them that are not reported yet.
    unreported: BTreeSet<u64>,
    /// The first and the last of more than any member keeps.
    skipped: Option<(u64, u64)>,
}

impl Lines {
    pub fn new(history: u64, joined: u64) -> Lines {
        Lines { history: history.max(1), joined, all: BTreeMap::new(), held: 0 }
    }

    /// The number of streams.
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

    /// Takes an update, and returns the numbers of the messages to ask for, in ascending order.
    pub fn update(&mut self, update: &Update) -> Vec<u64> {
        let history = self.history;
        let is_new = !self.all.contains_key(&update.stream);
        let line = self.all.entry(update.stream.clone()).or_default();
        if !line.is_current {
            line.base = line.base.max(update.high);
        }
        // Of a stream that is known, messages may be missing since a division of the network.
        let is_history = is_new && update.stream.boot < self.joined;
        let is_all = update.is_confirmed && !is_history;
        let fetched = if is_all { MOST_KEPT } else { history };
        let low = update.low.max(update.high.saturating_sub(fetched - 1)).max(1);
        if is_all && low > update.low.max(1) {
            line.skipped = Some((update.low.max(1), low - 1));
        }
        let most = 2 * fetched as usize;
        let mut asked = Vec::new();
        for seq in low..=update.high {
            if line.seen.contains(&seq) || line.pending.contains_key(&seq) {
                continue;
            }
            if line.pending.len() >= most {
                if !update.is_confirmed {
                    break;
                }
                // Claims by others may have filled it with numbers that do not exist.
                let empty = line.pending.iter().rev().find(|(_, message)| message.is_none());
                let Some(last) = empty.map(|(seq, _)| *seq) else { break };
                line.pending.remove(&last);
            }
            line.pending.insert(seq, None);
            asked.push(seq);
        }
        asked
    }

    /// Takes a message that has arrived.
    pub fn arrived(&mut self, stream: &Stream, seq: u64, message: Message) -> Released {
        let Some(line) = self.all.get_mut(stream) else { return Released::default() };
        if !line.seen.contains(&seq) {
            line.missing.remove(&seq);
            line.unreported.remove(&seq);
            self.held += size(&message);
            let before = line.pending.insert(seq, Some(message));
            self.held -= before.flatten().map_or(0, |message| size(&message));
        }
        if self.held > MOST_HELD {
            line.pass_over(self.history as usize);
        }
        self.release(stream)
    }

    /// Takes the number of a message that could not be fetched.
    pub fn absent(&mut self, stream: &Stream, seq: u64) -> Released {
        let Some(line) = self.all.get_mut(stream) else { return Released::default() };
        if line.pending.get(&seq) == Some(&None) {
            line.miss(seq, self.history as usize);
        }
        self.release(stream)
    }

    fn release(&mut self, stream: &Stream) -> Released {
        let Some(line) = self.all.get_mut(stream) else { return Released::default() };
        let released = line.release(2 * self.history as usize);
        self.held -= released.shown.iter().map(|shown| size(&shown.message)).sum::<usize>();
        released
    }

    /// The messages of a member that could not be fetched and are asked for again, now that it is
    /// here.
    pub fn again(&mut self, of: impl Fn(&Stream) -> bool) -> Vec<(Stream, u64)> {
        let mut asked = Vec::new();
        for (stream, line) in self.all.iter_mut().filter(|(stream, _)| of(stream)) {
            for (seq, _) in line.missing.iter().filter(|(_, rounds)| **rounds < ROUNDS) {
                if !line.pending.contains_key(seq) {
                    line.pending.insert(*seq, None);
                    asked.push((stream.clone(), *seq));
                }
            }
        }
        asked
    }
}

/// The bytes that a message takes while it waits.
fn size(message: &Message) -> usize {
    let content = match &message.body {
        Body::Text(text) => text.len(),
        Body::File { object, .. } => object.encoded_len(),
        _ => 0,
    };
    content + size_of::<Message>()
}

impl Line {
    fn miss(&mut self, seq: u64, most: usize) {
        self.pending.remove(&seq);
        let is_first = *self.missing.entry(seq).and_modify(|n| *n += 1).or_insert(1) == 1;
        if is_first {
            self.unreported.insert(seq);
        }
        while self.missing.len() > most {
            self.missing.pop_first();
        }
    }

    /// Lets no message wait for earlier ones: those are shown when they arrive.
    fn pass_over(&mut self, most: usize) {
        let arrived = self.pending.iter().rev().find(|(_, message)| message.is_some());
        let Some(last) = arrived.map(|(seq, _)| *seq) else { return };
        let earlier = self.pending.range(..last).filter(|(_, message)| message.is_none());
        for seq in earlier.map(|(seq, _)| *seq).collect::<Vec<_>>() {
            self.miss(seq, most);
        }
    }

    /// Takes the messages that wait for no earlier one.
    fn release(&mut self, most: usize) -> Released {
        let mut released = Released::default();
        while let Some(first) = self.pending.first_entry()
            && first.get().is_some()
        {
            let (seq, message) = first.remove_entry();
            self.seen.insert(seq);
            let is_live = seq > self.base;
            released.shown.extend(message.map(|message| Shown { seq, message, is_live }));
        }
        while self.seen.len() > most {
            self.seen.pop_first();
        }
        if let Some((first, last)) = self.skipped.take() {
            released.missing = Some((first, last, (last - first + 1) as usize));
            return released;
        }
        if self.pending.is_empty()
            && let (Some(first), Some(last)) = (self.unreported.first(), self.unreported.last())
        {
            released.missing = Some((*first, *last, self.unreported.len()));
            self.unreported.clear();
        }
        released
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

    fn text(seq: u64) -> Message {
        Message { time_ms: seq, body: Body::Text(seq.to_string()) }
    }

    fn arrived(lines: &mut Lines, seq: u64) -> Vec<u64> {
        let released = lines.arrived(&stream(), seq, text(seq));
        released.shown.iter().map(|shown| shown.seq).collect()
    }

    #[test]
    fn messages_are_shown_once_and_in_order() {
        let mut lines = Lines::new(10, 2);
        assert_eq!(lines.update(&update(1, 3, false)), [1, 2, 3]);
        lines.current(&stream(), 3);
        assert!(arrived(&mut lines, 3).is_empty());
        assert_eq!(arrived(&mut lines, 1), [1]);
        assert_eq!(arrived(&mut lines, 2), [2, 3]);
        assert!(arrived(&mut lines, 2).is_empty());
        assert_eq!(lines.update(&update(1, 4, true)), [4]);
        let released = lines.arrived(&stream(), 4, text(4));
        assert!(released.shown[0].is_live, "it came after the member knew this one");
    }

    /// A router can repeat vectors that are older than this member, in any order.
    #[test]
    fn replayed_claims_make_no_message_live() {
        let mut lines = Lines::new(10, 2);
        for seq in 1..=3 {
            lines.update(&update(seq, seq, true));
            assert!(!lines.arrived(&stream(), seq, text(seq)).shown[0].is_live);
        }
        lines.update(&update(4, 6, true));
        lines.current(&stream(), 5);
        lines.current(&stream(), 1);
        let live = |lines: &mut Lines, seq| {
            lines
                .arrived(&stream(), seq, text(seq))
                .shown
                .iter()
                .map(|shown| shown.is_live)
                .collect()
        };
        assert_eq!(
            [4, 5, 6].map(|seq| -> Vec<bool> { live(&mut lines, seq) }).concat(),
            [false, false, true]
        );
    }

    #[test]
    fn a_stream_without_a_place_leaves_nothing() {
        let mut lines = Lines::new(10, 2);
        lines.update(&update(1, 3, true));
        lines.arrived(&stream(), 3, text(3));
        assert!(lines.held > 0);
        assert_eq!(lines.forget(|_| false), [stream()]);
        assert_eq!((lines.held, lines.len()), (0, 0));
        assert!(lines.arrived(&stream(), 2, text(2)).shown.is_empty());
    }

    /// A member can withhold its first message, and send many others.
    #[test]
    fn messages_that_wait_for_an_earlier_one_are_bounded() {
        let mut lines = Lines::new(1_000, 0);
        lines.update(&update(1, 1_900, true));
        let (mut shown, mut most) = (0, 0);
        for seq in 2..=1_900 {
            let message = Message { time_ms: 0, body: Body::Text("x".repeat(4_000)) };
            shown += lines.arrived(&stream(), seq, message).shown.len();
            most = most.max(lines.held);
        }
        // When there is no more room, none waits for the first one any more.
        assert_eq!(shown, 1_899);
        assert!(most <= MOST_HELD, "{most}");
        assert_eq!(arrived(&mut lines, 1), [1], "late, and not hidden");
        assert_eq!(lines.held, 0);
    }

    #[test]
    fn of_a_known_stream_all_are_asked_for_that_members_keep() {
        let mut lines = Lines::new(2, 2);
        assert_eq!(lines.update(&update(1, 5, true)), [4, 5]);
        assert_eq!(lines.update(&update(6, 305, true)).len(), 300);
        let asked = lines.update(&update(306, 5000, true));
        assert_eq!((asked.len(), asked[0]), (2000, 3001));
        let other = Update { stream: Stream { boot: 2, ..stream() }, ..update(1, 300, true) };
        assert_eq!(lines.update(&other).len(), 300, "it began after this member");
        // The others are reported, with the next message.
        let released = lines.arrived(&stream(), 4, text(4));
        assert_eq!(released.missing, Some((306, 3000, 2695)));
    }

    #[test]
    fn the_latest_messages_are_history() {
        let mut lines = Lines::new(2, 2);
        assert_eq!(lines.update(&update(1, 1_000_000_000, false)), [999_999_999, 1_000_000_000]);
        assert_eq!(lines.update(&update(1, u64::MAX, false)).len(), 2);
        assert_eq!(lines.update(&update(1, u64::MAX - 7, false)).len(), 0, "there is a bound");
    }

    #[test]
    fn a_claim_that_is_too_large_hides_no_message() {
        let mut lines = Lines::new(3, 2);
        lines.update(&update(1, u64::MAX, false));
        lines.update(&update(1, u64::MAX - 9, false));
        assert_eq!(lines.update(&update(1, 2, true)), [1, 2]);
        assert_eq!(arrived(&mut lines, 1), [1]);
        assert_eq!(arrived(&mut lines, 2), [2]);
        lines.current(&stream(), 2);
        assert_eq!(lines.update(&update(3, 3, true)), [3]);
        assert!(lines.arrived(&stream(), 3, text(3)).shown[0].is_live);
    }

    #[test]
    fn absent_messages_are_skipped_told_once_and_asked_for_again() {
        let mut lines = Lines::new(10, 2);
        lines.update(&update(1, 4, true));
        assert!(arrived(&mut lines, 4).is_empty());
        assert_eq!(lines.absent(&stream(), 1), Released::default());
        assert!(arrived(&mut lines, 3).is_empty());
        let released = lines.absent(&stream(), 2);
        assert_eq!(released.missing, Some((1, 2, 2)));
        assert_eq!(released.shown.iter().map(|s| s.seq).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(lines.again(|_| true).len(), 2);
        assert_eq!(arrived(&mut lines, 1), [1], "late, and not hidden");
        for _ in 0..ROUNDS - 1 {
            assert_eq!(lines.absent(&stream(), 2).missing, None);
            lines.again(|_| true);
        }
        assert!(lines.again(|_| true).is_empty(), "not for ever");
    }
}
