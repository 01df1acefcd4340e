//! The bounds of the PIT, to the entry and to the octet, and when it wants to be called.

use crate::support;
use control::{Duration, Time};
use packet::options::SegmentBits;
use packet::{Component, HopOptions, Interest, Name};
use weir_forwarder::tables::memory::block;
use weir_forwarder::tables::pit::{Convention, Run, Segments};
use weir_forwarder::tables::wheel::GRAIN;
use weir_forwarder::tables::{
    FaceId, InRecord, NameHasher, OutRecord, Pit, PitConfig, PitKey, PitToken, Refusal,
};

const PLENTY: PitConfig = PitConfig { entries: 1000, per_face: 1000, memory: 1 << 30 };

struct Bench {
    hasher: NameHasher,
    pit: Pit,
}

fn record(face: u64) -> InRecord {
    let arrived_at = Time::ZERO;
    let expires = Time::ZERO + Duration::from_secs(4);
    let (token, options) = (PitToken::NONE, HopOptions::new());
    InRecord { face: FaceId(face), nonce: 1, arrived_at, expires, token, options }
}

fn out(face: u64) -> OutRecord {
    OutRecord::new(FaceId(face), 1, Time::ZERO, Time::ZERO)
}

/// The name of a segment, long enough that its Interest does not lie in the entry itself.
fn long(n: u64) -> Name {
    let name: Name = format!("/{}", "x".repeat(100)).parse().unwrap();
    name.with(&Component::segment(n))
}

impl Bench {
    fn new(config: PitConfig) -> Bench {
        Bench { hasher: NameHasher::new(1), pit: Pit::new(config) }
    }

    fn insert(&mut self, name: &Name, face: u64) -> Result<PitKey, Refusal> {
        let wire = support::interest(name, false, false, None);
        let interest = Interest::decode(&wire).unwrap();
        self.pit.insert(&interest, &self.hasher.hash(interest.name()), record(face))
    }

    fn insert_run(&mut self, name: &Name, first: u64, of: u16) -> Result<PitKey, Refusal> {
        let wire = support::interest(name, false, false, None);
        let interest = Interest::decode(&wire).unwrap();
        let bits = SegmentBits::first(of);
        let segments = Segments { first, convention: Convention::Typed, bits };
        let hashed = self.hasher.hash(interest.name());
        self.pit.insert_run(&interest, &hashed, &segments, record(1))
    }
}

#[test]
fn the_last_octet_counts() {
    let interest = block(support::interest(&long(0), false, false, None).len());
    let run = block(size_of::<Run>());
    let empty = Pit::new(PLENTY).memory();
    for (short, expected) in [(1, Err(Refusal::Memory)), (0, Ok(()))] {
        let mut b = Bench::new(PitConfig { memory: empty + interest - short, ..PLENTY });
        assert_eq!(b.insert(&long(0), 1).map(|_| ()), expected);
        assert_eq!(b.pit.len(), 1 - short);
        let mut b = Bench::new(PitConfig { memory: empty + interest + run - short, ..PLENTY });
        assert_eq!(b.insert_run(&long(0), 0, 4).map(|_| ()), expected);
        assert_eq!(b.pit.len(), 1 - short);
    }
}

#[test]
fn what_takes_no_memory_is_taken_when_there_is_none() {
    let interest = block(support::interest(&long(0), false, false, None).len());
    let memory = Pit::new(PLENTY).memory() + interest;
    let mut b = Bench::new(PitConfig { memory, ..PLENTY });
    let key = b.insert(&long(0), 1).unwrap();
    assert!(b.pit.memory() > memory, "the entry itself takes some");
    let before = b.pit.memory();
    assert_eq!(b.insert(&long(1), 1), Err(Refusal::Memory));
    assert_eq!(b.pit.put_in_record(key, record(2)).unwrap_err(), Refusal::Memory);
    assert!(b.pit.put_in_record(key, record(1)).unwrap().is_some());
    // One upstream lies in the entry.
    assert_eq!(b.pit.put_out_record(key, out(5)), Ok(()));
    assert_eq!(b.pit.put_out_record(key, out(6)), Err(Refusal::Memory));
    let entry = b.pit.get(key).unwrap();
    assert_eq!((entry.in_records().len(), entry.out_records().len()), (1, 1));
    assert_eq!((b.pit.memory(), b.pit.len()), (before, 1));
}

#[test]
fn lists_within_an_entry_may_grow_up_to_the_last_octet() {
    // What the PIT takes with one entry, for the limits to be at.
    let mut b = Bench::new(PLENTY);
    let key = b.insert(&long(0), 1).unwrap();
    b.pit.put_out_record(key, out(5)).unwrap();
    let memory = b.pit.memory();
    for (limit, fits) in [(memory, true), (memory - 1, false)] {
        let mut b = Bench::new(PitConfig { memory: limit, ..PLENTY });
        let key = b.insert(&long(0), 1).unwrap();
        b.pit.put_out_record(key, out(5)).unwrap();
        assert_eq!(b.pit.put_in_record(key, record(2)).is_ok(), fits);
    }
    for (limit, fits) in [(memory + 1, true), (memory, false)] {
        let mut b = Bench::new(PitConfig { memory: limit, ..PLENTY });
        let key = b.insert(&long(0), 1).unwrap();
        b.pit.put_out_record(key, out(5)).unwrap();
        assert_eq!(b.pit.put_out_record(key, out(6)).is_ok(), fits);
    }
}

#[test]
fn runs_are_entries_like_others() {
    let mut b = Bench::new(PitConfig { entries: 2, ..PLENTY });
    let key = b.insert_run(&long(0), 0, 4).unwrap();
    assert_eq!(b.pit.most(), 1);
    let part = b.pit.split_run(key, SegmentBits::first(2)).unwrap();
    assert_ne!(part, key);
    assert_eq!(b.pit.len(), 2);
    assert_eq!(b.pit.split_run(key, [2].into_iter().collect()), Err(Refusal::Entries));
    assert_eq!(b.insert_run(&long(9), 9, 1), Err(Refusal::Entries));
    assert_eq!(b.insert(&long(9), 1), Err(Refusal::Entries));
    // All that is pending needs no entry of its own.
    assert_eq!(b.pit.split_run(key, SegmentBits::first(4)), Ok(key));
    assert!(b.pit.remove(part).is_some());
    assert!(b.insert(&long(9), 1).is_ok());
    assert_eq!(b.pit.join_run(part, record(2), SegmentBits::first(1)).unwrap_err(), Refusal::Gone);
    assert_eq!(b.pit.split_run(part, SegmentBits::first(1)), Err(Refusal::Gone));
}

#[test]
fn a_part_of_a_run_needs_the_memory_of_its_copy() {
    let mut b = Bench::new(PLENTY);
    b.insert_run(&long(0), 0, 4).unwrap();
    let (memory, copy) = (b.pit.memory(), b.pit.heap());
    for (limit, fits) in [(memory + copy, true), (memory + copy - 1, false)] {
        let mut b = Bench::new(PitConfig { memory: limit, ..PLENTY });
        let key = b.insert_run(&long(0), 0, 4).unwrap();
        let split = b.pit.split_run(key, SegmentBits::first(2));
        assert_eq!(split.is_ok(), fits, "{split:?}");
        assert_eq!(b.pit.pending_of(FaceId(1)), 4);
    }
}

#[test]
fn a_face_may_have_as_many_pending_segments_as_interests() {
    let mut b = Bench::new(PitConfig { per_face: 4, ..PLENTY });
    assert_eq!(b.insert_run(&long(0), 0, 5), Err(Refusal::PerFace));
    let key = b.insert_run(&long(0), 0, 4).unwrap();
    assert_eq!(b.insert(&long(9), 1), Err(Refusal::PerFace));
    assert_eq!(
        b.pit.join_run(key, record(2), SegmentBits::first(4)).map(|old| old.is_none()),
        Ok(true)
    );
    assert_eq!(b.insert(&long(9), 2), Err(Refusal::PerFace));
    assert!(b.pit.clear_segments(key, SegmentBits::first(1)));
    assert!(b.insert(&long(9), 2).is_ok());
}

#[test]
fn the_earlier_of_expiry_and_retry_is_the_next_deadline() {
    let mut b = Bench::new(PLENTY);
    assert_eq!(b.pit.next_deadline(), None);
    let key = b.insert(&long(0), 1).unwrap();
    let ms = |ms| Time::ZERO + Duration::from_millis(ms);
    let (soon, late) = (ms(20), ms(50));
    for (expiry, retry, first) in [(late, soon, soon), (soon, late, soon), (late, late, late)] {
        b.pit.set_expiry(key, expiry);
        b.pit.set_retry(key, retry);
        let next = b.pit.next_deadline().unwrap();
        assert!(first <= next && next < first + GRAIN, "{next:?}");
    }
    assert!(b.pit.pop_expired(ms(40)).is_none());
    assert_eq!(b.pit.pop_retry(late + GRAIN), Some(key));
    let (expired, entry) = b.pit.pop_expired(late + GRAIN).unwrap();
    assert_eq!((expired, entry.expires()), (key, late));
    assert_eq!(b.pit.next_deadline(), None);
}

#[test]
fn the_most_entries_that_there_ever_were_are_remembered() {
    let mut b = Bench::new(PLENTY);
    let keys: Vec<PitKey> = (0..5).map(|n| b.insert(&long(n), 1).unwrap()).collect();
    keys.iter().for_each(|key| b.pit.discard(*key));
    assert_eq!((b.pit.len(), b.pit.most(), b.pit.is_empty()), (0, 5, true));
    // One that is gone cannot go again.
    b.pit.discard(keys[0]);
    b.pit.linger(keys[0], FaceId(1), Time::ZERO);
    b.pit.set_expiry(keys[0], Time::ZERO);
    b.pit.set_retry(keys[0], Time::ZERO);
    assert_eq!((b.pit.len(), b.pit.unanswered(), b.pit.next_deadline()), (0, 0, None));
    assert_eq!(b.pit.put_out_record(keys[0], out(1)), Err(Refusal::Gone));
    assert!(b.pit.remove_in_record(keys[0], FaceId(1)).is_none());
    (0..3).for_each(|n| assert!(b.insert(&long(n), 1).is_ok()));
    assert_eq!((b.pit.most(), b.pit.config()), (5, &PLENTY));
}
