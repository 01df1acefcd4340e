//! Unanswered Interests, and the limits of their memory.

use super::slab::Pin;
use super::table::Place;
use super::wanted::Wanted;
use control::Time;
use packet::{Bytes, HopOptions, LpHeader, Name};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The maximum number of bytes of the unanswered Interests of one origin.
const MOST_OF_ORIGIN: usize = 8_000_000;
/// The same for one of its files: the others have room, however slowly this one comes.
const MOST_OF_FILE: usize = 2_000_000;
/// Bytes that an Interest takes besides its packet and names.
const OVERHEAD: usize = 384;

/// An unanswered Interest.
pub struct Pending {
    /// The header of its answer.
    pub header: LpHeader,
    /// Its options.
    pub asked: HopOptions,
    /// The packet.
    pub interest: Bytes,
    /// The number of the origin.
    pub origin: usize,
    /// The name of the file.
    pub file: Name,
    /// The packet of the file.
    pub wanted: Wanted,
    /// The segment's place in the range that the Interest requests, if it requests one.
    pub at: Option<u16>,
    /// The end of its lifetime.
    pub expires: Time,
    /// Its memory.
    pub _charge: Charge,
    /// The block that it waits for stays until it is answered.
    pub pin: Option<Pin>,
}

/// The memory of the Interests of one origin.
#[derive(Default)]
pub struct Budget {
    used: Rc<RefCell<Used>>,
}

#[derive(Default)]
struct Used {
    all: usize,
    files: BTreeMap<Name, usize>,
}

/// The memory of one Interest, until it is dropped.
pub struct Charge {
    used: Rc<RefCell<Used>>,
    file: Name,
    bytes: usize,
}

impl Budget {
    /// Takes memory for an Interest for a file. `None`: too many wait.
    pub fn charge(&self, file: &Name, interest: &[u8]) -> Option<Charge> {
        let bytes = OVERHEAD + interest.len() + file.as_ref().encoded_len();
        let mut used = self.used.borrow_mut();
        let of_file = used.files.get(file).copied().unwrap_or_default() + bytes;
        if used.all + bytes > MOST_OF_ORIGIN || of_file > MOST_OF_FILE {
            return None;
        }
        used.all += bytes;
        match used.files.get_mut(file) {
            Some(used) => *used = of_file,
            None => drop(used.files.insert(file.clone(), of_file)),
        }
        drop(used);
        Some(Charge { used: Rc::clone(&self.used), file: file.clone(), bytes })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut used = self.used.borrow_mut();
        used.all -= self.bytes;
        if let Some(of_file) = used.files.get_mut(&self.file) {
            *of_file -= self.bytes;
            if *of_file == 0 {
                used.files.remove(&self.file);
            }
        }
    }
}

/// The packet that an Interest requests, and the Interest's token.
type Request = (Wanted, Vec<u8>);

/// The Interests that wait for news of one origin's files, by the news.
#[derive(Default)]
pub struct Waiting {
    entries: BTreeMap<(Place, Request), Pending>,
}

impl Waiting {
    /// Adds an Interest. A repeated one replaces the one before.
    pub fn insert(&mut self, place: Place, pending: Pending) {
        let request = (pending.wanted, pending.header.pit_token.to_vec());
        self.entries.insert((place, request), pending);
    }

    /// Moves the Interests at these places to a queue. The others take no time.
    pub fn release(&mut self, places: Range<Place>, queue: &mut impl Extend<Pending>) {
        let begin = (places.start, (Wanted::FIRST, Vec::new()));
        let end = (places.end, (Wanted::FIRST, Vec::new()));
        while let Some((key, _)) = self.entries.range::<(Place, Request), _>(&begin..&end).next() {
            let key = key.clone();
            queue.extend(self.entries.remove(&key));
        }
    }

    /// Takes the Interests that wait for an answer of the origin, and whose lifetime ends at this
    /// instant or before.
    pub fn take_unanswered(&mut self, end: Time) -> Vec<Pending> {
        let answers = (Place::Answer(0), (Wanted::FIRST, Vec::new()))..;
        let entries = self.entries.range(answers);
        let entries = entries.take_while(|((place, _), _)| matches!(place, Place::Answer(_)));
        let due = entries.filter(|(_, pending)| pending.expires <= end);
        let keys: Vec<_> = due.map(|(key, _)| key.clone()).collect();
        keys.iter().filter_map(|key| self.entries.remove(key)).collect()
    }

    /// Drops those whose lifetime is over. Returns their number.
    pub fn expire(&mut self, now: Time) -> usize {
        let before = self.entries.len();
        self.entries.retain(|_, pending| now < pending.expires);
        before - self.entries.len()
    }

    /// The number of Interests.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::wanted::Part;
    use super::*;
    use control::Duration;

    fn pending(budget: &Budget, file: &str, segment: u64, token: u8) -> Option<Pending> {
        let file: Name = file.parse().unwrap();
        let interest = Bytes::from(vec![0; 100]);
        let charge = budget.charge(&file, &interest)?;
        Some(Pending {
            header: LpHeader { pit_token: [token][..].into(), ..LpHeader::default() },
            asked: HopOptions::new(),
            interest,
            origin: 0,
            file,
            wanted: Wanted { of_head: false, part: Part::Segment(7, segment) },
            at: None,
            expires: Time::ZERO + Duration::from_secs(segment),
            _charge: charge,
            pin: None,
        })
    }

    /// The segments of the released Interests.
    fn released(waiting: &mut Waiting, places: Range<Place>) -> Vec<u64> {
        let mut queue = Vec::new();
        waiting.release(places, &mut queue);
        let segment = |pending: &Pending| match pending.wanted.part {
            Part::Segment(_, segment) => segment,
            _ => 0,
        };
        queue.iter().map(segment).collect()
    }

    #[test]
    fn only_interests_whose_bytes_have_come_are_looked_at_again() {
        let (budget, mut waiting) = (Budget::default(), Waiting::default());
        for segment in 1..=1000 {
            let place = Place::Bytes((1, segment / 128), (segment % 128 + 1) * 10);
            waiting.insert(place, pending(&budget, "/a", segment, 0).unwrap());
        }
        let some = |block, from, to| Place::Bytes((1, block), from)..Place::Bytes((1, block), to);
        assert_eq!(released(&mut waiting, some(0, 0, 50)), [1, 2, 3]);
        assert_eq!(released(&mut waiting, some(0, 0, 50)), [0; 0]);
        assert_eq!(released(&mut waiting, some(2, 0, 11)), [256]);
        assert_eq!(waiting.len(), 996);
        assert_eq!(waiting.expire(Time::ZERO + Duration::from_secs(500)), 500 - 3 - 1);
        waiting.clear();
        assert!(budget.used.borrow().files.is_empty() && budget.used.borrow().all == 0);
    }

    #[test]
    fn a_repeated_interest_takes_the_place_of_the_one_before() {
        let (budget, mut waiting) = (Budget::default(), Waiting::default());
        for token in [1, 2, 1, 1] {
            waiting.insert(Place::Answer(1), pending(&budget, "/a", 5, token).unwrap());
        }
        assert_eq!(waiting.len(), 2);
        assert_eq!(released(&mut waiting, Place::Answer(1)..Place::Answer(2)), [5, 5]);
        assert_eq!(budget.used.borrow().all, 0);
    }

    #[test]
    fn one_file_does_not_take_the_memory_of_others() {
        let budget = Budget::default();
        let take = |file: &str| {
            let mut all = Vec::new();
            while let Some(pending) = pending(&budget, file, 1, 0) {
                all.push(pending);
            }
            all
        };
        let first = take("/a");
        assert!(first.len() > 2000, "enough for windows of several consumers");
        let others: Vec<_> = (0..9).map(|n| take(&format!("/{n}"))).collect();
        assert_eq!(others[0].len(), first.len());
        assert!(others[8].is_empty(), "all of them have a limit, too");
        drop(others);
        assert_eq!(take("/b").len(), first.len());
    }
}
