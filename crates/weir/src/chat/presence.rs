//! The members that are here: those that have signed a vector, or sent a message, not long ago.

use control::{Duration, Time};
use packet::Name;
use std::collections::BTreeMap;

/// A member that is silent for so many of its signs of life is gone.
const SILENT_BEATS: u64 = 4;
/// Members that are remembered.
const MOST: usize = 1_024;

/// The members.
pub struct People {
    silence: Duration,
    all: BTreeMap<Name, Person>,
}

/// A member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// When it was heard last.
    pub heard: Time,
    /// It is here.
    pub is_here: bool,
    /// The start after which it has left.
    left: Option<u64>,
}

impl People {
    /// `beat` is the time between signs of life.
    pub fn new(beat: Duration) -> People {
        People { silence: Duration(beat.0.saturating_mul(SILENT_BEATS)), all: BTreeMap::new() }
    }

    /// A member was heard, in its start `boot`. Returns true if it was not here before.
    pub fn heard(&mut self, now: Time, name: &Name, boot: u64) -> bool {
        if !self.all.contains_key(name) && self.all.len() == MOST {
            return false;
        }
        let absent = Person { heard: now, is_here: false, left: None };
        let person = self.all.entry(name.clone()).or_insert(absent);
        if person.left.is_some_and(|left| boot <= left) {
            return false;
        }
        (person.heard, person.left) = (now, None);
        !std::mem::replace(&mut person.is_here, true)
    }

    /// A member has left, in its start `boot`. Returns true if it was here.
    pub fn left(&mut self, name: &Name, boot: u64) -> bool {
        let Some(person) = self.all.get_mut(name) else { return false };
        person.left = person.left.max(Some(boot));
        std::mem::take(&mut person.is_here)
    }

    /// The members that have become silent.
    pub fn expire(&mut self, now: Time) -> Vec<Name> {
        let silence = self.silence;
        let silent = |person: &Person| person.is_here && now >= person.heard + silence;
        let mut gone = Vec::new();
        for (name, person) in self.all.iter_mut().filter(|(_, person)| silent(person)) {
            person.is_here = false;
            gone.push(name.clone());
        }
        gone
    }

    /// The instant at which a member becomes silent.
    pub fn next_deadline(&self) -> Option<Time> {
        let here = self.all.values().filter(|person| person.is_here);
        here.map(|person| person.heard + self.silence).min()
    }

    /// A member, if it was ever heard.
    pub fn get(&self, name: &Name) -> Option<&Person> {
        self.all.get(name)
    }

    /// True if another member is here.
    pub fn is_anyone_here(&self) -> bool {
        self.all.values().any(|person| person.is_here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn members_come_fall_silent_and_come_back() {
        let mut people = People::new(Duration::from_secs(10));
        let alice: Name = "/alice".parse().unwrap();
        assert!(people.heard(at(0), &alice, 1));
        assert!(!people.heard(at(30), &alice, 1));
        assert_eq!(people.next_deadline(), Some(at(70)));
        assert!(people.expire(at(69)).is_empty());
        assert_eq!(people.expire(at(70)), std::slice::from_ref(&alice));
        assert!(people.expire(at(99)).is_empty() && !people.is_anyone_here());
        assert!(people.heard(at(100), &alice, 1));
    }

    #[test]
    fn a_member_that_has_left_comes_back_with_another_start() {
        let mut people = People::new(Duration::from_secs(10));
        let alice: Name = "/alice".parse().unwrap();
        people.heard(at(0), &alice, 5);
        assert!(people.left(&alice, 5) && !people.left(&alice, 5));
        assert!(!people.heard(at(1), &alice, 5), "its vectors are late, or sent again");
        assert!(people.heard(at(2), &alice, 6) && people.is_anyone_here());
    }
}
