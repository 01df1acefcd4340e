//! Segments of runs: which of them two runs share, and which entries a segment may be in.

use crate::support;
use control::{Duration, Time};
use forwarder::tables::pit::{Convention, Segments, segment_of};
use forwarder::tables::{FaceId, InRecord, NameHasher, Pit, PitConfig};
use packet::options::{MAX_RANGE, SegmentBits};
use packet::{Component, HopOptions, Interest, Name};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn conventions() -> impl Strategy<Value = Convention> {
    prop_oneof![4 => Just(Convention::Typed), 1 => Just(Convention::Marked)]
}

fn segments() -> impl Strategy<Value = Segments> {
    let first = prop_oneof![0u64..600, u64::MAX - 600..=u64::MAX];
    let bits = prop::collection::vec(0..MAX_RANGE, 0..40);
    (first, conventions(), bits).prop_map(|(first, convention, bits)| Segments {
        first,
        convention,
        bits: bits.into_iter().collect(),
    })
}

/// The numbers of the segments; beyond the largest number there are none.
fn numbers(segments: &Segments) -> BTreeSet<u64> {
    segments.bits.iter().filter_map(|at| segments.first.checked_add(u64::from(at))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn two_runs_share_the_segments_that_are_in_both(a in segments(), b in segments()) {
        let shared: BTreeSet<u64> =
            a.within(&b).iter().map(|at| b.first + u64::from(at)).collect();
        let mut both: BTreeSet<u64> = numbers(&a).intersection(&numbers(&b)).copied().collect();
        if a.convention != b.convention {
            both.clear();
        }
        prop_assert_eq!(shared, both);
    }
}

#[test]
fn a_segment_has_one_name_in_each_convention() {
    for convention in [Convention::Typed, Convention::Marked] {
        for segment in [0, 1, 255, 256, 70_000, u64::MAX] {
            let component = convention.component(segment);
            assert_eq!(segment_of(component.as_ref()), Some((segment, convention)));
        }
    }
    // A longer form of the same number is another name.
    let longer = Component::new(Component::segment(7).as_ref().typ(), &[0, 7]);
    assert_eq!(segment_of(longer.as_ref()), None);
    assert_eq!(segment_of(Component::generic(b"seg").as_ref()), None);
}

struct Bench {
    hasher: NameHasher,
    pit: Pit,
}

impl Bench {
    /// An entry for one segment that is pending, and the one after it that is not any more.
    fn insert(&mut self, object: &str, convention: Convention, first: u64, must_be_fresh: bool) {
        let name: Name = object.parse().unwrap();
        let wire =
            support::interest(&name.with(&convention.component(first)), false, must_be_fresh, None);
        let interest = Interest::decode(&wire).unwrap();
        let bits = SegmentBits::first(2);
        let (arrived_at, expires) = (Time::ZERO, Time::ZERO + Duration::from_secs(4));
        let (token, options) = (Default::default(), HopOptions::new());
        let record = InRecord { face: FaceId(1), nonce: 1, arrived_at, expires, token, options };
        let segments = Segments { first, convention, bits };
        let hashed = self.hasher.hash(interest.name());
        let key = self.pit.insert_run(&interest, &hashed, &segments, record).unwrap();
        assert!(self.pit.clear_segments(key, [1].into_iter().collect()));
    }

    /// Freshness and first segment of each entry that is found by a name.
    fn find(&self, name: &Name) -> Vec<(bool, u64)> {
        let mut found = Vec::new();
        self.pit.find_runs(&self.hasher.hash(name.as_ref()), &mut found);
        let entries = found.iter().map(|key| self.pit.get(*key).unwrap());
        entries.map(|e| (e.must_be_fresh(), e.run().unwrap().pending().first)).collect()
    }
}

#[test]
fn runs_are_found_in_order_from_the_block_that_they_begin_in_and_its_neighbours() {
    let mut b = Bench { hasher: NameHasher::new(1), pit: Pit::new(PitConfig::default()) };
    let firsts = [1000, 512, 0, 511, 255, 256, 767, 768, u64::MAX - 1];
    for first in firsts {
        b.insert("/a", Convention::Typed, first, true);
        b.insert("/a", Convention::Typed, first, false);
        b.insert("/other", Convention::Typed, first, false);
    }
    let name: Name = "/a".parse().unwrap();
    for segment in [0, 255, 256, 300, 511, 512, 767, 768, 1023, 5000, u64::MAX - 256] {
        let near = |first: &u64| (first / 256).abs_diff(segment / 256) <= 1;
        let mut near: Vec<u64> = firsts.into_iter().filter(near).collect();
        near.sort_unstable();
        let both = [false, true].into_iter();
        let expected: Vec<_> =
            both.flat_map(|fresh| near.iter().map(move |first| (fresh, *first))).collect();
        assert_eq!(b.find(&name.clone().with(&Component::segment(segment))), expected, "{segment}");
    }
    assert!(b.find(&name).is_empty() && b.find(&Name::new()).is_empty());
}

#[test]
fn a_name_is_of_a_run_if_its_segment_is_waited_for() {
    let mut b = Bench { hasher: NameHasher::new(1), pit: Pit::new(PitConfig::default()) };
    b.insert("/a", Convention::Typed, 300, false);
    let run = b.pit.iter().next().unwrap().run().unwrap();
    let name: Name = "/a".parse().unwrap();
    let place = |component: &Component| run.place_of(name.clone().with(component).as_ref());
    assert_eq!(place(&Component::segment(300)), Some(0));
    // It is not waited for any more, was never, or is written otherwise.
    assert_eq!(place(&Component::segment(301)), None);
    assert_eq!(place(&Component::segment(299)), None);
    assert_eq!(place(&Component::segment(300 + (1 << 16))), None);
    assert_eq!(place(&Convention::Marked.component(300)), None);
    assert_eq!(place(&Component::generic(b"x")), None);
}
