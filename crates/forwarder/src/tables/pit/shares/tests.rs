//! Counts of faces and prefixes, compared with sums over a list of entries.

use super::super::{OutRecord, Pit, PitConfig, PitKey, PitToken};
use super::*;
use crate::tables::name_hash::NameHasher;
use control::{Duration, Time};
use packet::{HopOptions, Interest, InterestBuf, Name};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Faces with small and with large numbers, which are counted apart.
const FACES: [u64; 4] = [1, 2, 1023, 5000];

/// The further contents of a record: a long token, and an option of a number of bytes.
#[derive(Clone, Copy, Debug)]
struct Extra {
    token: bool,
    option: usize,
}

#[derive(Clone, Debug)]
enum Op {
    /// A new entry: bytes of its name, face, its record.
    Insert(usize, usize, Extra),
    /// The n-th entry gets a downstream.
    Join(usize, usize, Extra),
    Leave(usize, usize),
    Group(usize, u64),
    Linger(usize),
    Remove(usize, bool),
}

fn op() -> impl Strategy<Value = Op> {
    let extra = || {
        (any::<bool>(), prop_oneof![Just(0usize), Just(100), Just(400)])
            .prop_map(|(token, option)| Extra { token, option })
    };
    let (n, face) = (0usize..12, 0..FACES.len());
    prop_oneof![
        4 => (prop_oneof![Just(1usize), Just(120), Just(500)], face.clone(), extra())
            .prop_map(|(letters, face, extra)| Op::Insert(letters, face, extra)),
        6 => (n.clone(), face.clone(), extra())
            .prop_map(|(n, face, extra)| Op::Join(n, face, extra)),
        1 => (n.clone(), face).prop_map(|(n, face)| Op::Leave(n, face)),
        3 => (n.clone(), 0u64..3).prop_map(|(n, group)| Op::Group(n, group)),
        1 => n.clone().prop_map(Op::Linger),
        1 => (n, any::<bool>()).prop_map(|(n, discard)| Op::Remove(n, discard)),
    ]
}

struct Entry {
    key: PitKey,
    bytes: usize,
    group: Option<u64>,
    /// The record of each face that waits.
    faces: BTreeMap<u64, Extra>,
    lingers: bool,
}

/// Pieces of 64 bytes, of blocks as the allocator makes them.
fn pieces(blocks: &[usize], more: usize) -> usize {
    let bytes: usize = blocks.iter().map(|size| memory::block(*size)).sum();
    (bytes + more).div_ceil(64)
}

impl Entry {
    fn interest(&self) -> usize {
        // A short one lies in the entry.
        if self.bytes > 64 { pieces(&[self.bytes], 0) } else { 0 }
    }

    fn record(&self, extra: Extra) -> usize {
        let (token, option) = (if extra.token { 32 } else { 0 }, extra.option);
        self.interest() + pieces(&[token, option], if option > 0 { 40 } else { 0 })
    }
}

fn group(n: u64) -> Group {
    Group::of(n << 54)
}

struct Harness {
    pit: Pit,
    hasher: NameHasher,
    model: Vec<Entry>,
    names: u64,
}

impl Harness {
    fn record(face: usize, extra: Extra) -> InRecord {
        let mut options = HopOptions::new();
        if extra.option > 0 {
            assert!(options.set_raw(864, &vec![0; extra.option]));
        }
        let token = PitToken::new(if extra.token { &[7; 32] } else { &[] }).unwrap();
        let expires = Time::ZERO + Duration::from_secs(4);
        let face = FaceId(FACES[face]);
        InRecord { face, nonce: 1, arrived_at: Time::ZERO, expires, token, options }
    }

    fn insert(&mut self, letters: usize, face: usize, extra: Extra) {
        self.names += 1;
        let name: Name = format!("/{}/{}", self.names, "x".repeat(letters)).parse().unwrap();
        let wire = InterestBuf { nonce: Some(1), ..InterestBuf::new(name) }.encode();
        let interest = Interest::decode(&wire).unwrap();
        let name = self.hasher.hash(interest.name());
        let key = self.pit.insert(&interest, &name, Harness::record(face, extra)).unwrap();
        let mut out = OutRecord::new(FaceId(77), 1, Time::ZERO, Time::ZERO);
        out.release(Time::ZERO);
        self.pit.put_out_record(key, out).unwrap();
        let faces = BTreeMap::from([(FACES[face], extra)]);
        let (bytes, group, lingers) = (wire.len(), None, false);
        self.model.push(Entry { key, bytes, group, faces, lingers });
    }

    fn join(&mut self, n: usize, face: usize, extra: Extra) {
        let Some(entry) = self.model.get_mut(n).filter(|entry| !entry.lingers) else { return };
        self.pit.put_in_record(entry.key, Harness::record(face, extra)).unwrap();
        entry.faces.insert(FACES[face], extra);
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Insert(letters, face, extra) => self.insert(letters, face, extra),
            Op::Join(n, face, extra) => self.join(n, face, extra),
            Op::Leave(n, face) => {
                let Some(entry) = self.model.get_mut(n) else { return };
                let removed = self.pit.remove_in_record(entry.key, FaceId(FACES[face]));
                assert_eq!(removed.is_some(), entry.faces.remove(&FACES[face]).is_some());
            }
            Op::Group(n, g) => {
                let Some(entry) = self.model.get_mut(n) else { return };
                self.pit.set_group(entry.key, || group(g));
                entry.group = entry.group.or(Some(g));
            }
            Op::Linger(n) => {
                let Some(entry) = self.model.get_mut(n) else { return };
                self.pit.linger(entry.key, FaceId(77), Time::ZERO);
                entry.faces.clear();
                entry.lingers = true;
            }
            Op::Remove(n, discard) => {
                if n >= self.model.len() {
                    return;
                }
                let key = self.model.remove(n).key;
                if discard {
                    self.pit.discard(key);
                } else {
                    assert!(self.pit.remove(key).is_some());
                }
            }
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for face in FACES {
            let of = |entry: &Entry| entry.faces.get(&face).map(|extra| entry.record(*extra));
            let records: Vec<usize> = self.model.iter().filter_map(of).collect();
            prop_assert_eq!(self.pit.pending_of(FaceId(face)), records.len());
            prop_assert_eq!(self.pit.heap_of(FaceId(face)), 64 * records.iter().sum::<usize>());
        }
        for g in 0..3 {
            let of = |entry: &&Entry| entry.group == Some(g);
            let interests: Vec<usize> = self.model.iter().filter(of).map(Entry::interest).collect();
            prop_assert_eq!(self.pit.entries_in(group(g)), interests.len());
            prop_assert_eq!(self.pit.heap_in(group(g)), 64 * interests.iter().sum::<usize>());
        }
        let lingering = self.model.iter().filter(|entry| entry.lingers).count();
        prop_assert_eq!(self.pit.unanswered(), self.model.len() - lingering);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn shares_are_sums_over_entries(ops in prop::collection::vec(op(), 1..80)) {
        let mut pit = Pit::new(PitConfig::default());
        pit.count_shares();
        let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
        for op in &ops {
            h.apply(op);
            h.check()?;
        }
        while !h.model.is_empty() {
            h.apply(&Op::Remove(0, true));
        }
        h.check()?;
        prop_assert_eq!(h.pit.heap(), 0);
    }
}

#[test]
fn prefixes_are_in_a_thousand_groups_by_their_hashes() {
    let mut pit = Pit::new(PitConfig::default());
    pit.count_shares();
    let groups: std::collections::BTreeSet<Option<usize>> =
        (0..1 << 12).map(|n: u64| Group::of(n << 52 | 0xfff).slot()).collect();
    assert_eq!(groups.len(), 1024);
    // None of them is that of entries that are not counted, which has no place.
    assert!(groups.iter().all(Option::is_some));
    assert_eq!(Group::NONE.slot(), None);
}

#[test]
fn nothing_is_counted_where_nothing_is_shared() {
    let pit = Pit::new(PitConfig::default());
    let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
    h.insert(500, 0, Extra { token: true, option: 100 });
    h.pit.set_group(h.model[0].key, || group(0));
    let face = FaceId(FACES[0]);
    assert_eq!((h.pit.pending_of(face), h.pit.heap_of(face)), (1, 0));
    assert_eq!((h.pit.entries_in(group(0)), h.pit.heap_in(group(0))), (0, 0));
}

#[test]
fn counters_take_memory_that_is_counted() {
    let (mut pit, without) = (Pit::new(PitConfig::default()), Pit::new(PitConfig::default()));
    pit.count_shares();
    // Two counters of four bytes for each group, and some for the faces.
    let added = pit.memory() - without.memory();
    assert!((2 * 4 * 1024..2 * 4 * 1024 + 512).contains(&added), "{added}");
    let extra = Extra { token: false, option: 0 };
    let record = Harness::record(0, extra);
    let (growth, before) = (pit.shares.growth(record.face), pit.shares.memory());
    assert_eq!(pit.growth(0, 0, &record), without.growth(0, 0, &record) + growth);
    assert_eq!(growth, memory::block(4 * 4), "a list, with room for four faces at first");
    pit.shares.count_record(record.face, 3);
    assert_eq!(pit.shares.memory(), before + growth);
    assert_eq!((pit.shares.growth(record.face), without.shares.growth(record.face)), (0, 0));
}

#[test]
fn places_of_entries_that_are_gone_stay() {
    let pit = Pit::new(PitConfig::default());
    let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
    let extra = Extra { token: false, option: 0 };
    (0..3).for_each(|_| h.insert(1, 0, extra));
    h.apply(&Op::Remove(1, true));
    assert_eq!((h.pit.len(), h.pit.places()), (2, 3));
}

#[test]
fn a_downstream_with_a_large_number_may_need_two_hash_tables() {
    let mut pit = Pit::new(PitConfig::default());
    pit.count_shares();
    let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
    let extra = Extra { token: false, option: 0 };
    h.insert(120, 0, extra);
    let key = h.model[0].key;
    let (small, large) = (Harness::record(0, extra), Harness::record(3, extra));
    assert_eq!(h.pit.growth_of(key, &small), h.pit.growth_upstream(key));
    let table = memory::block(128);
    assert_eq!(h.pit.growth_of(key, &large), h.pit.growth_upstream(key) + 2 * table);
}
