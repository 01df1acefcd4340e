use crate::support;
use bytes::Bytes;
use control::{Duration, Time};
use forwarder::tables::wheel::GRAIN;
use forwarder::tables::{
    FaceId, InRecord, NameHasher, OutRecord, Pit, PitConfig, PitKey, PitToken, Rejection,
};
use packet::{Data, HopOptions, Interest, Name};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    /// Name, CanBePrefix, MustBeFresh, the digest of which Data, face, lifetime in ms.
    Interest(Name, bool, bool, Option<u8>, u64, u64),
    /// Name and variant; what it satisfies is removed if the flag says so.
    Data(Name, u8, bool),
    /// The n-th entry loses its in-record of a face.
    Forget(usize, u64),
    /// The n-th entry is sent to a face.
    Send(usize, u64),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let flag = any::<bool>;
    let digest = prop_oneof![3 => Just(None), 1 => (0u8..2).prop_map(Some)];
    prop_oneof![
        8 => (support::full_name(), flag(), flag(), digest, 1u64..4, 0u64..9000)
            .prop_map(|(n, c, m, d, f, l)| Op::Interest(n, c, m, d, f, l)),
        4 => (support::full_name(), 0u8..2, flag()).prop_map(|(n, v, r)| Op::Data(n, v, r)),
        1 => (0usize..30, 1u64..4).prop_map(|(n, f)| Op::Forget(n, f)),
        1 => (0usize..30, 1u64..4).prop_map(|(n, f)| Op::Send(n, f)),
        2 => (0u64..3000).prop_map(Op::Wait),
    ]
}

struct Entry {
    key: PitKey,
    wire: Bytes,
    faces: Vec<u64>,
    outs: Vec<u64>,
    expires: Time,
}

const CONFIG: PitConfig = PitConfig { entries: 25, per_face: 12, memory: 1 << 20 };

struct Harness {
    hasher: NameHasher,
    pit: Pit,
    model: Vec<Entry>,
    now: Time,
}

fn same(a: &Interest<'_>, b: &Interest<'_>) -> bool {
    let selectors = |i: &Interest<'_>| (i.can_be_prefix(), i.must_be_fresh());
    a.name() == b.name() && selectors(a) == selectors(b)
}

fn variant(name: &Name, variant: u8) -> Bytes {
    support::data(name, variant, 10, None)
}

impl Harness {
    fn pending_of(&self, face: u64) -> usize {
        self.model.iter().filter(|e| e.faces.contains(&face)).count()
    }

    fn record(&self, face: u64, lifetime_ms: u64) -> InRecord {
        InRecord {
            face: FaceId(face),
            nonce: 1,
            arrived_at: self.now,
            expires: self.now + Duration::from_millis(lifetime_ms),
            token: PitToken::new(&[face as u8; 6]).unwrap(),
            options: HopOptions::new(),
        }
    }

    fn interest(&mut self, wire: &Bytes, face: u64, lifetime_ms: u64) -> Result<(), TestCaseError> {
        let interest = Interest::decode(wire).unwrap();
        let name = self.hasher.hash(interest.name());
        let record = self.record(face, lifetime_ms);
        let expires = record.expires;
        let full = self.pending_of(face) >= CONFIG.per_face;
        let known =
            self.model.iter_mut().find(|e| same(&Interest::decode(&e.wire).unwrap(), &interest));
        let found = self.pit.find(&interest, &name);
        prop_assert_eq!(found, known.as_ref().map(|e| e.key));
        let Some(entry) = known else {
            let inserted = self.pit.insert(&interest, &name, record);
            if self.model.len() >= CONFIG.entries {
                prop_assert_eq!(inserted, Err(Rejection::Entries));
            } else if full {
                prop_assert_eq!(inserted, Err(Rejection::PerFace));
            } else {
                let (key, faces, wire) = (inserted.unwrap(), vec![face], wire.clone());
                self.model.push(Entry { key, wire, faces, outs: vec![], expires });
            }
            return Ok(());
        };
        let put = self.pit.put_in_record(entry.key, record);
        if full && !entry.faces.contains(&face) {
            prop_assert_eq!(put.unwrap_err(), Rejection::PerFace);
            return Ok(());
        }
        prop_assert_eq!(put.unwrap().is_some(), entry.faces.contains(&face));
        if !entry.faces.contains(&face) {
            entry.faces.push(face);
        }
        entry.expires = entry.expires.max(expires);
        Ok(())
    }

    fn data(&mut self, wire: &Bytes, remove: bool) -> Result<(), TestCaseError> {
        let data = Data::decode(wire).unwrap();
        let name = self.hasher.hash(data.name());
        let mut found = Vec::new();
        self.pit.find_satisfied(&data, &name, &mut found);
        let satisfied = |e: &Entry| data.satisfies(&Interest::decode(&e.wire).unwrap());
        let mut wanted: Vec<_> =
            self.model.iter().filter(|e| satisfied(e)).map(|e| e.key).collect();
        if remove {
            for key in &found {
                let entry = self.pit.remove(*key).unwrap();
                let at = self.model.iter().position(|e| e.key == *key).unwrap();
                let known = self.model.remove(at);
                prop_assert_eq!(entry.interest(), &known.wire[..]);
                prop_assert!(self.pit.get(*key).is_none());
            }
        }
        found.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(found, wanted);
        Ok(())
    }

    fn wait(&mut self, ms: u64) -> Result<(), TestCaseError> {
        self.now += Duration::from_millis(ms);
        let mut last = Time::ZERO;
        while let Some((key, entry)) = self.pit.pop_expired(self.now) {
            let at = self.model.iter().position(|e| e.key == key).unwrap();
            let known = self.model.remove(at);
            prop_assert_eq!(entry.expires(), known.expires);
            prop_assert!(known.expires <= self.now);
            prop_assert!(known.expires + GRAIN > last, "in the order of their deadlines");
            last = known.expires;
        }
        prop_assert!(self.model.iter().all(|e| e.expires + GRAIN > self.now));
        prop_assert!(self.pit.next_deadline().is_none_or(|at| at > self.now));
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.pit.len(), self.model.len());
        let mut lengths = 0;
        for known in &self.model {
            let interest = Interest::decode(&known.wire).unwrap();
            let entry = self.pit.get(known.key).unwrap();
            prop_assert_eq!(entry.components(), interest.name().len());
            prop_assert_eq!(entry.can_be_prefix(), interest.can_be_prefix());
            prop_assert_eq!(entry.must_be_fresh(), interest.must_be_fresh());
            prop_assert!(!entry.excludes());
            lengths |= u128::from(interest.can_be_prefix()) << interest.name().len();
        }
        prop_assert_eq!(self.pit.lengths(), lengths);
        for face in 1..4 {
            prop_assert_eq!(self.pit.pending_of(FaceId(face)), self.pending_of(face));
        }
        for known in &self.model {
            let entry = self.pit.get(known.key).unwrap();
            prop_assert_eq!(entry.name(), Interest::decode(&known.wire).unwrap().name());
            let faces: Vec<_> = entry.in_records().iter().map(|r| r.face.0).collect();
            prop_assert_eq!(&faces, &known.faces);
            for face in faces {
                let token = &entry.in_record(FaceId(face)).unwrap().token;
                prop_assert_eq!(token.as_bytes(), &[face as u8; 6][..]);
            }
            let outs: Vec<_> = entry.out_records().iter().map(|r| r.face().0).collect();
            prop_assert_eq!(&outs, &known.outs);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn agrees_with_a_list(ops in prop::collection::vec(op(), 1..120)) {
        let mut h = Harness {
            hasher: NameHasher::new(7),
            pit: Pit::new(CONFIG),
            model: Vec::new(),
            now: Time::ZERO,
        };
        let empty = h.pit.memory();
        for op in ops {
            match op {
                Op::Interest(name, prefix, fresh, digest, face, lifetime) => {
                    let of = digest.map(|v| variant(&name, v));
                    let wire = support::interest(&name, prefix, fresh, of.as_ref());
                    h.interest(&wire, face, lifetime)?;
                }
                Op::Data(name, v, remove) => h.data(&variant(&name, v), remove)?,
                Op::Forget(n, face) => {
                    let Some(entry) = h.model.get_mut(n) else { continue };
                    let removed = h.pit.remove_in_record(entry.key, FaceId(face));
                    prop_assert_eq!(removed.is_some(), entry.faces.contains(&face));
                    entry.faces.retain(|f| *f != face);
                }
                Op::Send(n, face) => {
                    let Some(entry) = h.model.get_mut(n) else { continue };
                    let out = OutRecord::new(FaceId(face), 9, h.now, h.now);
                    prop_assert_eq!(h.pit.put_out_record(entry.key, out), Ok(()));
                    if !entry.outs.contains(&face) {
                        entry.outs.push(face);
                    }
                }
                Op::Wait(ms) => h.wait(ms)?,
            }
            h.check()?;
        }
        h.wait(100_000)?;
        prop_assert!(h.pit.is_empty() && h.pit.next_deadline().is_none());
        // Slots and the index keep what they once needed; nothing else is left.
        prop_assert!(h.pit.memory() < empty + 64 * 500 + 64 * 96, "{}", h.pit.memory());
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn record(face: u64) -> InRecord {
    InRecord {
        face: FaceId(face),
        nonce: 1,
        arrived_at: Time::ZERO,
        expires: Time::ZERO + Duration::from_secs(4),
        token: PitToken::NONE,
        options: HopOptions::new(),
    }
}

#[test]
fn large_interests_run_into_the_memory_bound_and_not_beyond() {
    let hasher = NameHasher::new(7);
    let mut pit = Pit::new(PitConfig { entries: 1000, per_face: 1000, memory: 1 << 20 });
    let mut rejected = 0;
    for n in 0..1000 {
        let mut big = packet::InterestBuf::new(name(&format!("/big/{n}")));
        big.parameters = Some(vec![0; 8000].into());
        let wire = big.encode();
        let interest = Interest::decode(&wire).unwrap();
        match pit.insert(&interest, &hasher.hash(interest.name()), record(1)) {
            Ok(_) => assert_eq!(rejected, 0),
            Err(reason) => {
                assert_eq!(reason, Rejection::Memory);
                rejected += 1;
            }
        }
    }
    assert!(rejected > 0 && pit.memory() > (1 << 20) - 9000);
    // One entry, one chunk of slots and one part of the index may be added by the last insertion.
    assert!(pit.memory() < (1 << 20) + 64 * 400 + 9000, "{}", pit.memory());
}

#[test]
fn names_too_long_to_match_by_are_rejected_with_can_be_prefix_only() {
    let hasher = NameHasher::new(7);
    let mut pit = Pit::new(PitConfig::default());
    let deep = name(&"/x".repeat(100));
    for can_be_prefix in [false, true] {
        let wire = support::interest(&deep, can_be_prefix, false, None);
        let interest = Interest::decode(&wire).unwrap();
        let inserted = pit.insert(&interest, &hasher.hash(interest.name()), record(1));
        assert_eq!(inserted.err(), can_be_prefix.then_some(Rejection::PrefixTooDeep));
    }
    let wire = variant(&deep, 0);
    let data = Data::decode(&wire).unwrap();
    let digest = support::interest(&deep, false, false, Some(&wire));
    let interest = Interest::decode(&digest).unwrap();
    pit.insert(&interest, &hasher.hash(interest.name()), record(1)).unwrap();
    let mut found = Vec::new();
    pit.find_satisfied(&data, &hasher.hash(data.name()), &mut found);
    assert_eq!(found.len(), 2, "by its name and by its digest");
}

#[test]
fn interests_that_come_and_go_leave_nothing_behind() {
    let hasher = NameHasher::new(7);
    let mut pit = Pit::new(PitConfig::default());
    let mut peak = 0;
    for n in 0..5000 {
        let name = name(&format!("/{n}"));
        let wire = support::interest(&name, true, false, Some(&variant(&name, 0)));
        let interest = Interest::decode(&wire).unwrap();
        let mut record = record(n);
        record.token = PitToken::new(&[1; 32]).unwrap();
        record.options.set_raw(864, &[0; 40]);
        let key = pit.insert(&interest, &hasher.hash(interest.name()), record).unwrap();
        for face in 0..4 {
            let out = OutRecord::new(FaceId(face), 1, Time::ZERO, Time::ZERO);
            pit.put_out_record(key, out).unwrap();
        }
        if n < 2500 {
            peak = peak.max(pit.memory());
        }
        assert!(n < 2500 || pit.memory() <= peak, "{} over {peak}", pit.memory());
        pit.remove(key).unwrap();
        assert_eq!(pit.pending_of(FaceId(n)), 0);
    }
}

#[test]
fn retries_come_when_they_were_asked_for_and_die_with_their_entry() {
    let hasher = NameHasher::new(7);
    let mut pit = Pit::new(PitConfig::default());
    let mut insert = |uri: &str| {
        let wire = support::interest(&name(uri), false, false, None);
        let interest = Interest::decode(&wire).unwrap();
        pit.insert(&interest, &hasher.hash(interest.name()), record(1)).unwrap()
    };
    let (a, b) = (insert("/a"), insert("/b"));
    let at = Time::ZERO + Duration::from_millis(50);
    pit.set_retry(a, at);
    pit.set_retry(b, at);
    assert!(pit.remove(b).is_some());
    assert_eq!(PitKey::from_bits(a.to_bits()), a);
    assert_eq!(pit.pop_retry(at - Duration(1)), None);
    assert_eq!(pit.pop_retry(at + GRAIN), Some(a));
    assert_eq!(pit.pop_retry(at + GRAIN), None);
    assert!(pit.get(a).is_some(), "a retry does not end the entry");
}

#[test]
fn a_held_interest_has_no_release_time() {
    let mut out = OutRecord::new(FaceId(1), 7, Time(5), Time(9));
    assert_eq!(out.released_at(), None);
    out.release(Time(6));
    assert_eq!((out.face(), out.released_at()), (FaceId(1), Some(Time(6))));
}
