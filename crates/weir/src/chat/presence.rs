//! The members that are here: those that have signed a new vector, or sent a message, not long ago.

use control::{Duration, Time};
use packet::Name;
use std::collections::BTreeMap;

/// The number of missed heartbeats after which a member counts as gone.
const SILENT_BEATS: u64 = 4;
/// Members that are remembered; the one that was seen longest ago makes room.
const MOST: usize = 1_024;
/// Starts of a member that are remembered; the first makes room.
const MOST_STARTS: usize = 8;
/// Milliseconds after which a start that has announced its end has ended for sure. It waits for 5 s
/// until others have its messages, and signs vectors meanwhile.
const LEAVING_MS: u64 = 10_000;

/// The members.
pub struct Presence {
    silence: Duration,
    all: BTreeMap<Name, Seen>,
}

/// A member that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The instant of its last sign of life.
    pub at: Time,
    /// It is here.
    pub is_here: bool,
    starts: Vec<Start>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    boot: u64,
    /// The instant of its last sign of life.
    at: Time,
    /// The latest time that the member has signed, by its own clock.
    time_ms: u64,
    /// The time, by the same clock, of the message in which it announced its end.
    left_ms: Option<u64>,
}

impl Start {
    /// True if a sign of life with this signed time is new. The vectors of a key's earlier start
    /// have the later one too, and count for that. So if the later one has left, newer signs are of
    /// the earlier one.
    fn is_new(&self, time_ms: Option<u64>) -> bool {
        let ended_ms = self.left_ms.map(|left_ms| left_ms.saturating_add(LEAVING_MS));
        match time_ms {
            Some(time_ms) => time_ms > self.time_ms.max(ended_ms.unwrap_or(0)),
            None => ended_ms.is_none(),
        }
    }
}

/// The effect of a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is no newer than others of this start, or this start has left: delayed or replayed.
    Stale,
    /// The member was here already.
    Again,
    /// The member was not here before.
    First,
}

impl Seen {
    /// The start with this bootstrap time. Clocks can be set back, so the order is that of arrival.
    fn start(&mut self, boot: u64) -> &mut Start {
        let at = self.starts.iter().position(|start| start.boot == boot).unwrap_or_else(|| {
            if self.starts.len() == MOST_STARTS {
                self.starts.remove(0);
            }
            self.starts.push(Start { boot, at: Time::ZERO, time_ms: 0, left_ms: None });
            self.starts.len() - 1
        });
        &mut self.starts[at]
    }
}

impl Presence {
    /// `beat` is the time between heartbeats.
    pub fn new(beat: Duration) -> Presence {
        Presence { silence: Duration(beat.0.saturating_mul(SILENT_BEATS)), all: BTreeMap::new() }
    }

    /// Takes a sign of life of a member's start `boot`. `time_ms` is its signed time. It is
    /// compared with earlier ones of the same start only, so wrong clocks do not matter.
    pub fn sign(&mut self, now: Time, name: &Name, boot: u64, time_ms: Option<u64>) -> Sign {
        if !self.all.contains_key(name) && self.all.len() == MOST {
            let oldest = self.all.iter().min_by_key(|(_, seen)| (seen.is_here, seen.at));
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.map(|name| self.all.remove(&name));
        }
        let seen = self.all.entry(name.clone()).or_insert_with(|| Seen {
            at: now,
            is_here: false,
            starts: Vec::new(),
        });
        let start = seen.start(boot);
        if !start.is_new(time_ms) {
            return Sign::Stale;
        }
        start.time_ms = start.time_ms.max(time_ms.unwrap_or(0));
        start.at = now;
        seen.at = now;
        if std::mem::replace(&mut seen.is_here, true) { Sign::Again } else { Sign::First }
    }

    /// A member has left in its start `boot`, at `time_ms` by its own clock. Returns true if it was
    /// here, and no other start of it is.
    pub fn left(&mut self, now: Time, name: &Name, boot: u64, time_ms: u64) -> bool {
        let silence = self.silence;
        let Some(seen) = self.all.get_mut(name) else { return false };
        let start = seen.start(boot);
        // Its clock may have been set back.
        start.left_ms = Some(time_ms.max(start.time_ms));
        let others = seen.starts.iter().filter(|start| start.left_ms.is_none());
        let other = others.map(|start| start.at).max().filter(|at| now < *at + silence);
        match other {
            Some(at) if seen.is_here => {
                seen.at = at;
                false
            }
            _ => std::mem::take(&mut seen.is_here),
        }
    }

    /// The members that have become silent.
    pub fn expire(&mut self, now: Time) -> Vec<Name> {
        let silence = self.silence;
        let mut gone = Vec::new();
        for (name, seen) in &mut self.all {
            if seen.is_here && now >= seen.at + silence {
                seen.is_here = false;
                gone.push(name.clone());
            }
        }
        gone
    }

    /// The instant at which a member becomes silent.
    pub fn next_deadline(&self) -> Option<Time> {
        let here = self.all.values().filter(|seen| seen.is_here);
        here.map(|seen| seen.at + self.silence).min()
    }

    /// A member, if it was ever seen.
    pub fn get(&self, name: &Name) -> Option<&Seen> {
        self.all.get(name)
    }

    /// True if another member is here.
    pub fn is_anyone_here(&self) -> bool {
        self.all.values().any(|seen| seen.is_here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Duration::from_secs(s)
    }

    fn alice() -> (Presence, Name) {
        (Presence::new(Duration::from_secs(10)), "/alice".parse().unwrap())
    }

    #[test]
    fn members_come_fall_silent_and_come_back() {
        let (mut presence, alice) = alice();
        assert_eq!(presence.sign(at(0), &alice, 1, Some(1)), Sign::First);
        assert_eq!(presence.sign(at(30), &alice, 1, Some(2)), Sign::Again);
        assert_eq!(presence.next_deadline(), Some(at(70)));
        assert!(presence.expire(at(69)).is_empty());
        assert_eq!(presence.expire(at(70)), std::slice::from_ref(&alice));
        assert!(presence.expire(at(99)).is_empty() && !presence.is_anyone_here());
        assert_eq!(presence.sign(at(100), &alice, 1, Some(3)), Sign::First);
    }

    #[test]
    fn a_member_that_has_left_comes_back_with_another_start() {
        let (mut presence, alice) = alice();
        presence.sign(at(0), &alice, 5, Some(1));
        assert!(presence.left(at(0), &alice, 5, 1) && !presence.left(at(0), &alice, 5, 1));
        assert_eq!(presence.sign(at(1), &alice, 5, Some(2)), Sign::Stale);
        // A vector comes late that was signed before the clock was set back.
        presence.sign(at(1), &alice, 6, Some(60_000));
        assert!(presence.left(at(1), &alice, 6, 1_000));
        assert_eq!(presence.sign(at(1), &alice, 6, Some(60_001)), Sign::Stale);
        // Its clock was set back.
        assert_eq!(presence.sign(at(2), &alice, 4, Some(1)), Sign::First);
        assert!(presence.is_anyone_here());
    }

    #[test]
    fn a_start_that_leaves_does_not_hide_another_one_of_the_same_key() {
        let (mut presence, alice) = alice();
        assert_eq!(presence.sign(at(0), &alice, 1, Some(1_000)), Sign::First);
        assert_eq!(presence.sign(at(10), &alice, 2, Some(11_000)), Sign::Again);
        assert!(!presence.left(at(11), &alice, 2, 12_000) && presence.is_anyone_here());
        // It was signed before the later start has ended for sure.
        assert_eq!(presence.sign(at(12), &alice, 2, Some(13_000)), Sign::Stale);
        // It was signed afterwards, so by the earlier one.
        assert_eq!(presence.sign(at(22), &alice, 2, Some(23_000)), Sign::Again);
        assert_eq!(presence.sign(at(23), &alice, 2, Some(23_000)), Sign::Stale);
        assert_eq!(presence.sign(at(24), &alice, 2, None), Sign::Stale, "a late message");
        assert!(presence.left(at(63), &alice, 1, 64_000), "neither has been seen for 40 s");
        assert!(!presence.is_anyone_here());
    }

    #[test]
    fn repeated_signs_keep_no_member_here() {
        let (mut presence, alice) = alice();
        presence.sign(at(0), &alice, 1, Some(1_000));
        assert_eq!(presence.sign(at(30), &alice, 1, Some(1_000)), Sign::Stale);
        assert_eq!(presence.sign(at(31), &alice, 1, Some(999)), Sign::Stale);
        assert_eq!(presence.expire(at(40)), std::slice::from_ref(&alice));
        assert_eq!(presence.sign(at(41), &alice, 1, Some(1_000)), Sign::Stale);
        assert!(!presence.is_anyone_here());
    }

    #[test]
    fn the_member_that_was_seen_longest_ago_makes_room() {
        let (mut presence, alice) = alice();
        presence.sign(at(0), &alice, 1, None);
        for i in 0..MOST as u64 {
            let name: Name = format!("/m{i}").parse().unwrap();
            assert_eq!(presence.sign(at(1 + i), &name, 1, None), Sign::First);
        }
        assert!(presence.get(&alice).is_none() && presence.all.len() == MOST);
    }
}
