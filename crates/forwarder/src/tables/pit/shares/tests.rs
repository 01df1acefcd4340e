//! Counts of faces and prefixes, compared with sums over a list of entries.

use super::super::{Convention, OutRecord, Pit, PitConfig, PitKey, PitToken, Segments};
use super::*;
use crate::tables::name_hash::NameHasher;
use control::{Duration, Time};
use packet::options::SegmentBits;
use packet::{Component, HopOptions, Interest, InterestBuf, Name};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Faces with small and with large numbers, which are counted apart.
const FACES: [u64; 4] = [1, 2, 1023, 5000];
const SEGMENTS: u16 = 8;

/// The further contents of a record: a long token, and an option of a number of bytes.
#[derive(Clone, Copy, Debug)]
struct Extra {
    token: bool,
    option: usize,
}

#[derive(Clone, Debug)]
enum Op {
    /// A new entry, for a run if the flag says so: bytes of its name, face, its record.
    Insert(bool, usize, usize, Extra),
    /// The n-th entry gets a downstream, which waits for these segments if it is for a run.
    Join(usize, usize, Extra, u16),
    Leave(usize, usize),
    Group(usize, u64),
    Linger(usize),
    /// Of the n-th entry: these segments make an entry of their own, or are answered.
    Split(usize, u16),
    Clear(usize, u16),
    Remove(usize, bool),
}

fn op() -> impl Strategy<Value = Op> {
    let extra = || {
        (any::<bool>(), prop_oneof![Just(0usize), Just(100), Just(400)])
            .prop_map(|(token, option)| Extra { token, option })
    };
    let (n, face, bits) = (0usize..12, 0..FACES.len(), 1u16..1 << SEGMENTS);
    prop_oneof![
        4 => (any::<bool>(), prop_oneof![Just(1usize), Just(120), Just(500)], face.clone(), extra())
            .prop_map(|(run, letters, face, extra)| Op::Insert(run, letters, face, extra)),
        6 => (n.clone(), face.clone(), extra(), bits.clone())
            .prop_map(|(n, face, extra, bits)| Op::Join(n, face, extra, bits)),
        1 => (n.clone(), face).prop_map(|(n, face)| Op::Leave(n, face)),
        3 => (n.clone(), 0u64..3).prop_map(|(n, group)| Op::Group(n, group)),
        1 => n.clone().prop_map(Op::Linger),
        2 => (n.clone(), bits.clone()).prop_map(|(n, bits)| Op::Split(n, bits)),
        2 => (n.clone(), bits).prop_map(|(n, bits)| Op::Clear(n, bits)),
        1 => (n, any::<bool>()).prop_map(|(n, discard)| Op::Remove(n, discard)),
    ]
}

struct Entry {
    key: PitKey,
    bytes: usize,
    group: Option<u64>,
    /// The segments that each face waits for, if the entry is for a run, and its record.
    faces: BTreeMap<u64, (u16, Extra)>,
    run: bool,
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

fn bits(set: u16) -> SegmentBits {
    (0..SEGMENTS).filter(|at| set >> at & 1 == 1).collect()
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

    fn insert(&mut self, run: bool, letters: usize, face: usize, extra: Extra) {
        self.names += 1;
        let name: Name = format!("/{}/{}", self.names, "x".repeat(letters)).parse().unwrap();
        let name = name.with(&Component::segment(0));
        let wire = InterestBuf { nonce: Some(1), ..InterestBuf::new(name) }.encode();
        let interest = Interest::decode(&wire).unwrap();
        let name = self.hasher.hash(interest.name());
        let (record, all) = (Harness::record(face, extra), bits(u16::MAX));
        let key = if run {
            let segments = Segments { first: 0, convention: Convention::Typed, bits: all };
            self.pit.insert_run(&interest, &name, &segments, record).unwrap()
        } else {
            self.pit.insert(&interest, &name, record).unwrap()
        };
        let mut out = OutRecord::new(FaceId(77), 1, Time::ZERO, Time::ZERO);
        out.release(Time::ZERO);
        self.pit.put_out_record(key, out).unwrap();
        self.pit.note_asked(key, FaceId(77), all);
        let faces = BTreeMap::from([(FACES[face], ((1 << SEGMENTS) - 1, extra))]);
        let (bytes, group, lingers) = (wire.len(), None, false);
        self.model.push(Entry { key, bytes, group, faces, run, lingers });
    }

    fn join(&mut self, n: usize, face: usize, extra: Extra, set: u16) {
        let Some(entry) = self.model.get_mut(n).filter(|entry| !entry.lingers) else { return };
        let record = Harness::record(face, extra);
        let pending = entry.faces.values().fold(0, |all, (set, _)| all | set);
        let before = entry.faces.get(&FACES[face]).map_or(0, |(set, _)| *set);
        let wanted = set & pending | before;
        if !entry.run {
            self.pit.put_in_record(entry.key, record).unwrap();
        } else if wanted != 0 {
            self.pit.join_run(entry.key, record, bits(set)).unwrap();
        } else {
            return;
        }
        entry.faces.insert(FACES[face], (wanted, extra));
    }

    fn split(&mut self, n: usize, set: u16) {
        let Some(entry) = self.model.get_mut(n).filter(|entry| entry.run) else { return };
        let pending = entry.faces.values().fold(0, |all, (set, _)| all | set);
        let of = |set: u16| {
            let faces = entry.faces.iter();
            let faces = faces.map(|(face, (wanted, extra))| (*face, (wanted & set, *extra)));
            faces.filter(|(_, (wanted, _))| *wanted != 0).collect::<BTreeMap<_, _>>()
        };
        let (part, rest) = (of(set), of(!set));
        if part.is_empty() || pending & !set == 0 {
            return;
        }
        let key = self.pit.split_run(entry.key, bits(set)).unwrap();
        entry.faces = rest;
        let (bytes, group) = (entry.bytes, entry.group);
        self.model.push(Entry { key, bytes, group, faces: part, run: true, lingers: false });
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Insert(run, letters, face, extra) => self.insert(run, letters, face, extra),
            Op::Join(n, face, extra, set) => self.join(n, face, extra, set),
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
                let Some(entry) = self.model.get_mut(n).filter(|entry| !entry.run) else { return };
                self.pit.linger(entry.key, FaceId(77), Time::ZERO);
                entry.faces.clear();
                entry.lingers = true;
            }
            Op::Split(n, set) => self.split(n, set),
            Op::Clear(n, set) => {
                let Some(entry) = self.model.get_mut(n).filter(|entry| entry.run) else { return };
                let left = self.pit.clear_segments(entry.key, bits(set));
                entry.faces.values_mut().for_each(|(wanted, _)| *wanted &= !set);
                entry.faces.retain(|_, (wanted, _)| *wanted != 0);
                assert_eq!(left, !entry.faces.is_empty());
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
            let of = |entry: &Entry| entry.faces.get(&face).map(|(_, extra)| entry.record(*extra));
            let records: Vec<usize> = self.model.iter().filter_map(of).collect();
            prop_assert_eq!(self.pit.entries_of(FaceId(face)), records.len());
            prop_assert_eq!(self.pit.heap_of(FaceId(face)), 64 * records.iter().sum::<usize>());
            let waits = |entry: &Entry| {
                let (wanted, _) = entry.faces.get(&face)?;
                Some(if entry.run { wanted.count_ones() as usize } else { 1 })
            };
            let pending: usize = self.model.iter().filter_map(waits).sum();
            prop_assert_eq!(self.pit.pending_of(FaceId(face)), pending);
        }
        for g in 0..3 {
            let of = |entry: &&Entry| entry.group == Some(g);
            let interests: Vec<usize> = self.model.iter().filter(of).map(Entry::interest).collect();
            prop_assert_eq!(self.pit.entries_in(group(g)), interests.len());
            prop_assert_eq!(self.pit.heap_in(group(g)), 64 * interests.iter().sum::<usize>());
        }
        let lingering = self.model.iter().filter(|entry| entry.lingers).count();
        prop_assert_eq!(self.pit.unanswered(), self.model.len() - lingering);
        prop_assert_eq!(self.pit.has_runs(), self.model.iter().any(|entry| entry.run));
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
    h.insert(false, 500, 0, Extra { token: true, option: 100 });
    h.pit.set_group(h.model[0].key, || group(0));
    let face = FaceId(FACES[0]);
    assert_eq!((h.pit.entries_of(face), h.pit.heap_of(face)), (0, 0));
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
    assert_eq!(growth, 2 * memory::block(4 * 4), "two lists, with room for four faces at first");
    pit.shares.count_record(record.face, 3);
    assert_eq!(pit.shares.memory(), before + growth);
    assert_eq!((pit.shares.growth(record.face), without.shares.growth(record.face)), (0, 0));
}

#[test]
fn places_of_entries_that_are_gone_stay() {
    let pit = Pit::new(PitConfig::default());
    let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
    let extra = Extra { token: false, option: 0 };
    (0..3).for_each(|_| h.insert(false, 1, 0, extra));
    h.apply(&Op::Remove(1, true));
    assert_eq!((h.pit.len(), h.pit.places()), (2, 3));
}

#[test]
fn a_downstream_with_a_large_number_may_need_three_hash_tables() {
    let mut pit = Pit::new(PitConfig::default());
    pit.count_shares();
    let mut h = Harness { pit, hasher: NameHasher::new(1), model: Vec::new(), names: 0 };
    let extra = Extra { token: false, option: 0 };
    h.insert(false, 120, 0, extra);
    let key = h.model[0].key;
    let (small, large) = (Harness::record(0, extra), Harness::record(3, extra));
    assert_eq!(h.pit.growth_of(key, &small), h.pit.growth_upstream(key));
    let table = memory::block(128);
    assert_eq!(h.pit.growth_of(key, &large), h.pit.growth_upstream(key) + 3 * table);
}
