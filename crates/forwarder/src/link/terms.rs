//! What the other end of a link understands, and telling it what this one does.
//!
//! A face says it in an IDLE frame, which is ignored by whoever does not know more. Whoever opens a
//! link speaks first, and whoever accepted it answers in kind: libraries that an application may
//! have connected with need not be able to read an IDLE frame, and never get one.

use control::{Duration, Time};
use packet::LpHeader;
use packet::options::Capability;

/// When a face says what this end understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announce {
    /// Not at all: the other end knows, or is several.
    #[default]
    Never,
    /// Once the other end has.
    Answer,
    /// When it comes up.
    First,
}

/// How often it is said again: a datagram is lost easily, and another may take a peer's place.
const EVERY: Duration = Duration::from_secs(30);
/// What was heard on a link of datagrams counts for three periods and a little.
const VALID: Duration = Duration::from_secs(95);

/// What both ends of a link have said.
#[derive(Debug)]
pub(crate) struct Terms {
    /// What this end understands.
    own: Capability,
    announce: Announce,
    /// What the other end is known to understand without saying so.
    known: Capability,
    /// What it understands, as things are.
    now: Capability,
    /// When what it said does not count any more.
    until: Option<Time>,
    /// When to say it again.
    next: Option<Time>,
    /// It is to be said with the next frame.
    due: bool,
}

impl Terms {
    pub(crate) fn new(own: Capability, known: Capability, announce: Announce) -> Terms {
        let due = announce == Announce::First;
        Terms { own, announce, known, now: known, until: None, next: None, due }
    }

    /// This end has opened the link, perhaps anew, to whoever is there now.
    pub(crate) fn opened(&mut self) {
        *self = Terms::new(self.own, self.known, Announce::First);
    }

    /// What the other end understands.
    #[inline]
    pub(crate) const fn peer(&self) -> Capability {
        self.now
    }

    /// The other end said what it understands.
    pub(crate) fn heard(&mut self, now: Time, capability: Capability, is_stream: bool) {
        self.now = capability;
        self.until = (!is_stream).then(|| now + VALID);
        self.due |= self.announce == Announce::Answer && self.next.is_none();
    }

    /// Something is to be said.
    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        self.due
    }

    /// Appends the frame that says it, if it is to be said now; its octets.
    pub(crate) fn say(&mut self, now: Time, out: &mut Vec<u8>) -> Option<usize> {
        if !std::mem::take(&mut self.due) {
            return None;
        }
        self.next = Some(now + EVERY);
        let mut header = LpHeader::default();
        header.options.set(&self.own);
        let start = out.len();
        header.encode_into(&[], out);
        Some(out.len() - start)
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        match (self.next, self.until) {
            (Some(next), Some(until)) => Some(next.min(until)),
            (next, until) => next.or(until),
        }
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.until.is_some_and(|until| until <= now) {
            (self.now, self.until) = (self.known, None);
            if self.announce == Announce::Answer {
                self.next = None;
            }
        }
        if self.next.is_some_and(|next| next <= now) {
            (self.next, self.due) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    fn terms(announce: Announce) -> Terms {
        Terms::new(Capability::ALL, Capability(0), announce)
    }

    #[test]
    fn whoever_opened_speaks_first_and_again_every_30_s() {
        let mut terms = terms(Announce::First);
        let mut out = Vec::new();
        assert_eq!(terms.say(at(0), &mut out), Some(7));
        // LpPacket, type 904 with one octet: both bits.
        assert_eq!(out, [0x64, 5, 0xfd, 0x03, 0x88, 1, 3]);
        assert_eq!((terms.say(at(0), &mut out), terms.next_deadline()), (None, Some(at(30))));
        terms.on_deadline(at(29));
        assert!(!terms.is_due());
        terms.on_deadline(at(30));
        assert!(terms.is_due());
    }

    #[test]
    fn whoever_accepted_answers_and_says_nothing_unasked() {
        let mut terms = terms(Announce::Answer);
        assert!(!terms.is_due() && terms.next_deadline().is_none());
        terms.heard(at(5), Capability::ALL, true);
        let mut out = Vec::new();
        assert!(terms.say(at(5), &mut out).is_some());
        terms.heard(at(6), Capability::ALL, true);
        assert!(!terms.is_due(), "the answer was given");
        assert_eq!(terms.next_deadline(), Some(at(35)));
    }

    #[test]
    fn a_link_that_is_opened_anew_begins_anew() {
        let mut terms = terms(Announce::Answer);
        terms.heard(at(0), Capability::ALL, true);
        terms.opened();
        assert!(terms.is_due() && terms.peer() == Capability(0));
    }

    #[test]
    fn what_is_not_said_again_does_not_count_for_ever_on_datagrams() {
        let mut terms = terms(Announce::Answer);
        terms.heard(at(0), Capability(Capability::OPTIONS), false);
        terms.say(at(0), &mut Vec::new());
        assert!(terms.peer().has(Capability::OPTIONS) && !terms.peer().has(Capability::RANGE));
        for secs in [30, 60, 90] {
            terms.on_deadline(at(secs));
            assert!(terms.say(at(secs), &mut Vec::new()).is_some());
        }
        assert_eq!(terms.next_deadline(), Some(at(95)));
        terms.on_deadline(at(95));
        assert_eq!((terms.peer(), terms.next_deadline()), (Capability(0), None));
        terms.heard(at(200), Capability::ALL, false);
        assert!(terms.is_due(), "it is told anew");
    }
}
