//! Entries for runs against a naive model: who waits for which segment.

use forwarder::FaceId;
use forwarder::tables::pit::{Convention, Segments};
use forwarder::tables::{
    InRecord, NameHasher, OutRecord, Pit, PitConfig, PitKey, PitToken, Rejection,
};
use packet::options::SegmentBits;
use packet::{Component, HopOptions, Interest, InterestBuf, Name};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

use control::{Duration, Time};

#[derive(Clone, Debug)]
enum Op {
    /// A face asks for some of a run; what is pending is joined, the rest makes an entry.
    Ask { face: u64, first: u64, of: Vec<u16> },
    /// A segment is answered.
    Answer(u64),
    /// These segments are rejected, whatever entries they are in.
    Reject { first: u64, of: Vec<u16> },
    /// A face waits no longer in whichever entry holds a segment.
    Leave { face: u64, segment: u64 },
    /// The entry of a segment ends.
    End(u64),
}

const FACES: u64 = 4;
const PER_FACE: usize = 40;

fn op() -> impl Strategy<Value = Op> {
    // Few segments, so that runs overlap.
    let of = || prop::collection::vec(0u16..24, 1..20);
    let first = 0u64..30;
    prop_oneof![
        4 => (0..FACES, first.clone(), of())
            .prop_map(|(face, first, of)| Op::Ask { face, first, of }),
        4 => (0u64..54).prop_map(Op::Answer),
        2 => (first, of()).prop_map(|(first, of)| Op::Reject { first, of }),
        1 => (0..FACES, 0u64..54).prop_map(|(face, segment)| Op::Leave { face, segment }),
        1 => (0u64..54).prop_map(Op::End),
    ]
}

struct Harness {
    pit: Pit,
    hasher: NameHasher,
    /// The segments that each face waits for.
    model: BTreeMap<u64, BTreeSet<u64>>,
}

fn wire(segment: u64) -> Vec<u8> {
    let name: Name = "/a/v=1".parse().unwrap();
    let name = name.with(&Component::segment(segment));
    InterestBuf { nonce: Some(1), ..InterestBuf::new(name) }.encode().to_vec()
}

fn record(face: u64) -> InRecord {
    let arrived_at = Time::ZERO;
    let expires = Time::ZERO + Duration::from_secs(4);
    let (token, options) = (PitToken::NONE, HopOptions::new());
    InRecord { face: FaceId(face), nonce: 1, arrived_at, expires, token, options }
}

impl Harness {
    fn keys(&self) -> Vec<PitKey> {
        let wire = wire(0);
        let interest = Interest::decode(&wire).unwrap();
        let mut found = Vec::new();
        self.pit.find_runs(&self.hasher.hash(interest.name()), &mut found);
        found
    }

    /// The entry in which a segment is pending, and its place there.
    fn entry_of(&self, segment: u64) -> Option<(PitKey, u16)> {
        let name: Name = "/a/v=1".parse().unwrap();
        let name = name.with(&Component::segment(segment));
        let places = self
            .keys()
            .into_iter()
            .filter_map(|key| Some((key, self.pit.get(key)?.run()?.place_of(name.as_ref())?)));
        let places: Vec<_> = places.collect();
        assert!(places.len() <= 1, "{segment} is pending twice");
        places.first().copied()
    }

    fn pending_of(&self, face: u64) -> usize {
        self.model.values().filter(|faces| faces.contains(&face)).count()
    }

    fn ask(&mut self, face: u64, first: u64, of: &[u16]) -> Result<(), TestCaseError> {
        let bits: SegmentBits = of.iter().copied().collect();
        let mut left = Segments { first, convention: Convention::Typed, bits };
        for key in self.keys() {
            let pending = self.pit.get(key).unwrap().run().unwrap().pending();
            let shared = left.within(&pending);
            if shared.is_empty() {
                continue;
            }
            let back = Segments { bits: shared, ..pending }.within(&left);
            prop_assert_eq!(back.count(), shared.count());
            left.bits = left.bits.without(back);
            let segments: Vec<u64> = back.iter().map(|at| first + u64::from(at)).collect();
            let more = segments.iter().filter(|n| !self.model[n].contains(&face)).count();
            let joined = self.pit.join_run(key, record(face), shared);
            if self.pending_of(face) + more > PER_FACE {
                prop_assert_eq!(joined.unwrap_err(), Rejection::PerFace);
                continue;
            }
            prop_assert!(joined.is_ok());
            for segment in segments {
                self.model.get_mut(&segment).unwrap().insert(face);
            }
        }
        if left.bits.is_empty() {
            return Ok(());
        }
        let wire = wire(first);
        let interest = Interest::decode(&wire).unwrap();
        let name = self.hasher.hash(interest.name());
        let made = self.pit.insert_run(&interest, &name, &left, record(face));
        if self.pending_of(face) + usize::from(left.bits.count()) > PER_FACE {
            prop_assert_eq!(made.unwrap_err(), Rejection::PerFace);
            return Ok(());
        }
        let key = made.unwrap();
        let (now, expires) = (Time::ZERO, Time::ZERO + Duration::from_secs(4));
        let mut out = OutRecord::new(FaceId(99), 1, now, expires);
        out.release(now);
        self.pit.put_out_record(key, out).unwrap();
        self.pit.note_asked(key, FaceId(99), left.bits);
        for at in left.bits.iter() {
            let before = self.model.insert(first + u64::from(at), [face].into());
            prop_assert!(before.is_none(), "it was pending");
        }
        Ok(())
    }

    fn reject(&mut self, first: u64, of: &[u16]) -> Result<(), TestCaseError> {
        let bits: SegmentBits = of.iter().copied().collect();
        let rejected = Segments { first, convention: Convention::Typed, bits };
        for key in self.keys() {
            let pending = self.pit.get(key).unwrap().run().unwrap().pending();
            let bits = rejected.within(&pending);
            if bits.is_empty() {
                continue;
            }
            let split = self.pit.split_run(key, bits).unwrap();
            let part = self.pit.get(split).unwrap().run().unwrap();
            prop_assert_eq!(part.pending().bits, bits);
            prop_assert!(bits.without(part.asked_of(FaceId(99))).is_empty());
            self.pit.remove(split).unwrap();
            for at in bits.iter() {
                prop_assert!(self.model.remove(&(pending.first + u64::from(at))).is_some());
            }
        }
        Ok(())
    }

    fn apply(&mut self, op: &Op) -> Result<(), TestCaseError> {
        match op {
            Op::Ask { face, first, of } => self.ask(*face, *first, of)?,
            Op::Reject { first, of } => self.reject(*first, of)?,
            Op::Answer(segment) => {
                let known = self.model.remove(segment);
                let found = self.entry_of(*segment);
                prop_assert_eq!(found.is_some(), known.is_some());
                let Some((key, place)) = found else { return Ok(()) };
                let run = self.pit.get(key).unwrap().run().unwrap();
                let waits = |face: &u64| run.wanted_by(FaceId(*face)).has(place);
                prop_assert_eq!(Some((0..FACES).filter(waits).collect()), known);
                if !self.pit.clear_segments(key, [place].into_iter().collect()) {
                    self.pit.discard(key);
                }
            }
            Op::Leave { face, segment } => {
                let Some((key, _)) = self.entry_of(*segment) else { return Ok(()) };
                let pending = self.pit.get(key).unwrap().run().unwrap().pending();
                self.pit.remove_in_record(key, FaceId(*face));
                for at in pending.bits.iter() {
                    let segment = pending.first + u64::from(at);
                    let faces = self.model.get_mut(&segment).unwrap();
                    faces.remove(face);
                    if faces.is_empty() {
                        self.model.remove(&segment);
                    }
                }
                if self.pit.get(key).unwrap().in_records().is_empty() {
                    self.pit.remove(key);
                }
            }
            Op::End(segment) => {
                let Some((key, _)) = self.entry_of(*segment) else { return Ok(()) };
                let pending = self.pit.get(key).unwrap().run().unwrap().pending();
                self.pit.remove(key).unwrap();
                for at in pending.bits.iter() {
                    self.model.remove(&(pending.first + u64::from(at)));
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let mut seen = BTreeMap::new();
        for key in self.keys() {
            let entry = self.pit.get(key).unwrap();
            let run = entry.run().unwrap();
            let pending = run.pending();
            prop_assert!(!pending.bits.is_empty() && !entry.in_records().is_empty());
            prop_assert_eq!(entry.segments(), pending.bits.count());
            for at in pending.bits.iter() {
                let faces: BTreeSet<u64> =
                    (0..FACES).filter(|face| run.wanted_by(FaceId(*face)).has(at)).collect();
                let before = seen.insert(pending.first + u64::from(at), faces);
                prop_assert!(before.is_none(), "a segment is pending in two entries");
            }
            for face in 0..FACES {
                let waits = !run.wanted_by(FaceId(face)).is_empty();
                prop_assert_eq!(entry.in_record(FaceId(face)).is_some(), waits);
            }
        }
        prop_assert_eq!(&seen, &self.model);
        for face in 0..FACES {
            prop_assert_eq!(self.pit.pending_of(FaceId(face)), self.pending_of(face));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn downstreams_of_each_segment_match_the_model(ops in prop::collection::vec(op(), 1..60)) {
        let pit = Pit::new(PitConfig { per_face: PER_FACE, ..PitConfig::default() });
        let mut h = Harness { pit, hasher: NameHasher::new(1), model: BTreeMap::new() };
        for op in &ops {
            h.apply(op)?;
            h.check()?;
        }
        for key in h.keys() {
            h.pit.remove(key);
        }
        prop_assert!(h.pit.is_empty() && !h.pit.has_runs());
        // Nothing is left that entries own; slots and buckets are there for the next.
        h.model.clear();
        let mut memory = Vec::new();
        for _ in 0..2 {
            h.ask(0, 0, &[0, 1, 2])?;
            h.ask(1, 2, &[0, 1])?;
            h.reject(1, &[0])?;
            for key in h.keys() {
                h.pit.remove(key);
            }
            h.model.clear();
            memory.push(h.pit.memory());
        }
        prop_assert_eq!(memory[0], memory[1]);
    }
}
