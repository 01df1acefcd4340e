//! The bounds of the PIT, to the entry and to the byte, and when it wants to be called.

use crate::support;
use control::{Duration, Time};
use forwarder::tables::memory::block;
use forwarder::tables::wheel::GRAIN;
use forwarder::tables::{
    FaceId, InRecord, MAX_PREFIX, NameHasher, OutRecord, Pit, PitConfig, PitKey, PitToken,
    Rejection,
};
use packet::{Component, Data, HopOptions, Interest, Name};

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

    fn insert(&mut self, name: &Name, face: u64) -> Result<PitKey, Rejection> {
        let wire = support::interest(name, false, false, None);
        let interest = Interest::decode(&wire).unwrap();
        self.pit.insert(&interest, &self.hasher.hash(interest.name()), record(face))
    }
}

#[test]
fn the_last_byte_counts() {
    let interest = block(support::interest(&long(0), false, false, None).len());
    let empty = Pit::new(PLENTY).memory();
    for (short, expected) in [(1, Err(Rejection::Memory)), (0, Ok(()))] {
        let mut b = Bench::new(PitConfig { memory: empty + interest - short, ..PLENTY });
        assert_eq!(b.insert(&long(0), 1).map(|_| ()), expected);
        assert_eq!(b.pit.len(), 1 - short);
    }
}

#[test]
fn records_without_extra_memory_are_accepted_at_the_limit() {
    let interest = block(support::interest(&long(0), false, false, None).len());
    let memory = Pit::new(PLENTY).memory() + interest;
    let mut b = Bench::new(PitConfig { memory, ..PLENTY });
    let key = b.insert(&long(0), 1).unwrap();
    assert!(b.pit.memory() > memory, "the entry itself takes some");
    let before = b.pit.memory();
    assert_eq!(b.insert(&long(1), 1), Err(Rejection::Memory));
    assert_eq!(b.pit.put_in_record(key, record(2)).unwrap_err(), Rejection::Memory);
    assert!(b.pit.put_in_record(key, record(1)).unwrap().is_some());
    // One upstream lies in the entry.
    assert_eq!(b.pit.put_out_record(key, out(5)), Ok(()));
    assert_eq!(b.pit.put_out_record(key, out(6)), Err(Rejection::Memory));
    let entry = b.pit.get(key).unwrap();
    assert_eq!((entry.in_records().len(), entry.out_records().len()), (1, 1));
    assert_eq!((b.pit.memory(), b.pit.len()), (before, 1));
}

#[test]
fn lists_within_an_entry_may_grow_up_to_the_last_byte() {
    // The memory of the PIT with one entry, to put the limits there.
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
fn entries_and_pending_interests_of_a_face_are_bounded() {
    let mut b = Bench::new(PitConfig { entries: 3, per_face: 2, ..PLENTY });
    let key = b.insert(&long(0), 1).unwrap();
    b.insert(&long(1), 1).unwrap();
    assert_eq!(b.insert(&long(2), 1), Err(Rejection::PerFace));
    assert!(b.insert(&long(2), 2).is_ok());
    assert_eq!(b.insert(&long(3), 3), Err(Rejection::Entries));
    assert_eq!(b.pit.put_in_record(key, record(2)).map(|old| old.is_none()), Ok(true));
    assert!(b.pit.remove(key).is_some());
    assert_eq!(b.pit.put_in_record(key, record(2)).unwrap_err(), Rejection::Gone);
    assert!(b.insert(&long(3), 1).is_ok());
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
    assert_eq!(b.pit.put_out_record(keys[0], out(1)), Err(Rejection::Gone));
    assert!(b.pit.remove_in_record(keys[0], FaceId(1)).is_none());
    (0..3).for_each(|n| assert!(b.insert(&long(n), 1).is_ok()));
    assert_eq!((b.pit.most(), b.pit.config()), (5, &PLENTY));
    assert!(!b.pit.is_empty());
}

#[test]
fn a_key_is_a_number_and_back() {
    let mut b = Bench::new(PLENTY);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let keys: Vec<PitKey> = (0..5).map(|n| b.insert(&long(n), 1).unwrap()).collect();
        for key in keys {
            assert_eq!(PitKey::from_bits(key.to_bits()), key);
            assert!(seen.insert(key.to_bits()), "each entry has its own");
            assert!(b.pit.remove(key).is_some());
        }
    }
}

#[test]
fn names_are_matched_by_prefixes_of_up_to_the_largest_number_of_components() {
    let deep = |n: usize| (0..n).map(|_| Component::generic(b"x")).collect::<Name>();
    let mut b = Bench::new(PLENTY);
    let mut keys = Vec::new();
    for n in [MAX_PREFIX - 1, MAX_PREFIX] {
        let wire = support::interest(&deep(n), true, false, None);
        let interest = Interest::decode(&wire).unwrap();
        keys.push(b.pit.insert(&interest, &b.hasher.hash(interest.name()), record(1)).unwrap());
    }
    for (n, expected) in [
        (MAX_PREFIX - 2, &[][..]),
        (MAX_PREFIX - 1, &[keys[0]][..]),
        (MAX_PREFIX, &[keys[1], keys[0]]),
        (MAX_PREFIX + 1, &[keys[1], keys[0]]),
        (MAX_PREFIX + 70, &[keys[1], keys[0]]),
    ] {
        let wire = support::data(&deep(n), 0, 1, None);
        let data = Data::decode(&wire).unwrap();
        let mut found = Vec::new();
        b.pit.find_satisfied(&data, &b.hasher.hash(data.name()), &mut found);
        assert_eq!(found, expected, "the longest first, {n}");
    }
    assert_eq!(b.pit.lengths(), 1 << (MAX_PREFIX - 1) | 1 << MAX_PREFIX);
}

#[test]
fn memory_owned_by_a_record_is_counted() {
    let hasher = NameHasher::new(1);
    let wire = support::interest(&"/a".parse().unwrap(), false, false, None);
    let interest = Interest::decode(&wire).unwrap();
    let name = hasher.hash(interest.name());
    // A token that does not lie in the record has a block of 32 bytes, an option of 50 more.
    for (token, option) in [(0, 0), (32, 0), (0, 50), (32, 50)] {
        let mut heavy = record(1);
        heavy.token = PitToken::new(&vec![7; token]).unwrap();
        assert!(option == 0 || heavy.options.set_raw(864, &vec![7; option]));
        let options = if option > 0 { block(option) + 40 } else { 0 };
        let owned = block(token) + options;
        let mut pit = Pit::new(PLENTY);
        let growth = |pit: &Pit, record| pit.growth(name.whole(), wire.len(), record);
        assert_eq!(growth(&pit, &heavy), growth(&pit, &record(1)) + owned);
        let key = pit.insert(&interest, &name, heavy.clone()).unwrap();
        assert_eq!(pit.heap(), owned);
        heavy.face = FaceId(2);
        assert_eq!(pit.growth_of(key, &heavy), pit.growth_of(key, &record(2)) + owned);
        assert!(pit.remove_in_record(key, FaceId(1)).is_some());
        assert_eq!(pit.heap(), 0);
    }
}

#[test]
fn upstreams_that_do_not_lie_in_the_entry_are_counted() {
    let mut b = Bench::new(PLENTY);
    let key = b.insert(&"/a".parse().unwrap(), 1).unwrap();
    for (face, least) in [(5, 0), (6, 2), (7, 3)] {
        b.pit.put_out_record(key, out(face)).unwrap();
        assert!(b.pit.heap() >= least * size_of::<OutRecord>(), "{}", b.pit.heap());
        assert_eq!(b.pit.heap() == 0, least == 0);
    }
}

#[test]
fn entries_of_one_name_are_found_in_the_order_of_their_selectors() {
    let selectors = [(false, false), (false, true), (true, false), (true, true)];
    for turn in 0..4 {
        let mut b = Bench::new(PLENTY);
        let mut keys = [None; 4];
        for n in (0..4).map(|n| (3 * n + turn) % 4) {
            let (can_be_prefix, must_be_fresh) = selectors[n];
            let wire = support::interest(&long(0), can_be_prefix, must_be_fresh, None);
            let interest = Interest::decode(&wire).unwrap();
            let name = b.hasher.hash(interest.name());
            keys[n] = Some(b.pit.insert(&interest, &name, record(1)).unwrap());
        }
        let wire = support::data(&long(0), 0, 1, None);
        let data = Data::decode(&wire).unwrap();
        let mut found = Vec::new();
        b.pit.find_satisfied(&data, &b.hasher.hash(data.name()), &mut found);
        assert_eq!(found, keys.map(Option::unwrap));
    }
}

#[test]
fn tokens_are_equal_if_their_bytes_are() {
    let token = |bytes: &[u8]| PitToken::new(bytes).unwrap();
    assert_eq!(token(&[]), PitToken::NONE);
    for len in [1, 6, 14, 15, 32] {
        assert_eq!(token(&vec![7; len]), token(&vec![7; len]));
        assert_ne!(token(&vec![7; len]), token(&vec![8; len]));
        assert_ne!(token(&vec![7; len]), token(&vec![7; len - 1]));
    }
}
