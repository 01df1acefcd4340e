use crate::support;
use control::NextHop;
use forwarder::tables::fib::{Added, FibError};
use forwarder::tables::{FaceId, Fib, MAX_PREFIX, NameHasher};
use packet::{Component, Name};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Op {
    Add(Name, u64, u64),
    Remove(Name, u64),
    RemoveFace(u64),
    Lookup(Name),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (support::name(), 1u64..5, 0u64..3).prop_map(|(n, f, c)| Op::Add(n, f, c)),
        3 => (support::name(), 1u64..5).prop_map(|(n, f)| Op::Remove(n, f)),
        1 => (1u64..5).prop_map(Op::RemoveFace),
        4 => support::name().prop_map(Op::Lookup),
    ]
}

const LIMIT: usize = 20;

/// Faces with their costs, by prefix.
type Model = BTreeMap<Name, BTreeMap<u64, u64>>;

fn hops(faces: &BTreeMap<u64, u64>) -> Vec<NextHop> {
    let mut hops: Vec<_> =
        faces.iter().map(|(face, cost)| NextHop { face: *face, cost: *cost }).collect();
    hops.sort_by_key(|hop| (hop.cost, hop.face));
    hops
}

fn remove_face(model: &mut Model, face: u64) -> usize {
    let routes = model.values_mut().filter_map(|faces| faces.remove(&face)).count();
    model.retain(|_, faces| !faces.is_empty());
    routes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn agrees_with_a_sorted_map(ops in prop::collection::vec(op(), 1..150)) {
        let hasher = NameHasher::new(7);
        let mut fib = Fib::new(LIMIT);
        let mut model = Model::new();
        for op in ops {
            match op {
                Op::Add(name, face, cost) => {
                    let added = fib.add(&hasher.hash(name.as_ref()), FaceId(face), cost);
                    if model.len() == LIMIT && !model.contains_key(&name) {
                        prop_assert_eq!(added, Err(FibError::Full { limit: LIMIT }));
                        continue;
                    }
                    let old = model.entry(name).or_default().insert(face, cost);
                    prop_assert_eq!(added, Ok(old.map_or(Added::New, Added::Changed)));
                }
                Op::Remove(name, face) => {
                    let had = model.get_mut(&name).is_some_and(|f| f.remove(&face).is_some());
                    model.retain(|_, faces| !faces.is_empty());
                    prop_assert_eq!(fib.remove(&hasher.hash(name.as_ref()), FaceId(face)), had);
                }
                Op::RemoveFace(face) => {
                    prop_assert_eq!(fib.remove_face(FaceId(face)), remove_face(&mut model, face));
                }
                Op::Lookup(name) => {
                    let hashed = hasher.hash(name.as_ref());
                    let longest = (0..=name.len()).rev().find_map(|n| {
                        let faces = model.get(&name.as_ref().prefix(n).to_name())?;
                        Some((n, hops(faces)))
                    });
                    let found = fib.lookup(&hashed).map(|(n, hops)| (n, hops.to_vec()));
                    prop_assert_eq!(found, longest);
                    let exact = model.get(&name).map(hops).unwrap_or_default();
                    prop_assert_eq!(fib.next_hops(&hashed), &exact[..]);
                }
            }
            prop_assert_eq!((fib.len(), fib.is_empty()), (model.len(), model.is_empty()));
            let lengths = model.keys().fold(0, |lengths, name| lengths | 1 << name.len());
            prop_assert_eq!(fib.lengths(), lengths);
            for face in 1..5 {
                let routes = model.values().filter(|faces| faces.contains_key(&face)).count();
                prop_assert_eq!(fib.routes_of(FaceId(face)), routes);
            }
        }
        let listed: Vec<_> =
            fib.iter().map(|(name, hops)| (name.to_name(), hops.to_vec())).collect();
        let wanted: Vec<_> = model.iter().map(|(name, f)| (name.clone(), hops(f))).collect();
        prop_assert_eq!(listed, wanted);
    }
}

#[test]
fn routes_that_come_and_go_leave_nothing_behind() {
    let hasher = NameHasher::new(7);
    let names: Vec<Name> = (0..1000).map(|n| format!("/{n}").parse().unwrap()).collect();
    let prefixes: Vec<_> = names.iter().map(|name| hasher.hash(name.as_ref())).collect();
    let mut fib = Fib::new(1000);
    for prefix in &prefixes {
        fib.add(prefix, FaceId(2), 0).unwrap();
    }
    for prefix in &prefixes[..100] {
        fib.add(prefix, FaceId(1), 0).unwrap();
    }
    let before = fib.memory();
    for _ in 0..5 {
        for prefix in &prefixes[100..] {
            fib.add(prefix, FaceId(1), 0).unwrap();
            assert!(fib.remove(prefix, FaceId(1)));
        }
    }
    // The rest of removed routes takes no more than the routes that are there.
    assert!(fib.memory() < before + 1024, "{before} before, {} after", fib.memory());
    assert_eq!(fib.remove_face(FaceId(1)), 100);
    assert_eq!(fib.remove_face(FaceId(2)), 1000);
    assert!(fib.is_empty());
}

#[test]
fn a_prefix_too_deep_to_match_is_rejected() {
    let hasher = NameHasher::new(7);
    let deep = |n: usize| (0..n).map(|_| Component::generic(b"x")).collect::<Name>();
    let mut fib = Fib::new(10);
    let (most, more) = (deep(MAX_PREFIX), deep(MAX_PREFIX + 1));
    assert_eq!(fib.add(&hasher.hash(most.as_ref()), FaceId(1), 0), Ok(Added::New));
    assert_eq!(fib.next_hops(&hasher.hash(most.as_ref())).len(), 1);
    assert!(fib.next_hops(&hasher.hash(more.as_ref())).is_empty());
    assert!(matches!(
        fib.add(&hasher.hash(more.as_ref()), FaceId(1), 0),
        Err(FibError::TooDeep(_))
    ));
    let longer = deep(MAX_PREFIX + 50);
    let found = fib.lookup(&hasher.hash(longer.as_ref())).map(|(n, _)| n);
    assert_eq!(found, Some(MAX_PREFIX));
}

#[test]
fn a_face_is_shown_by_its_number() {
    assert_eq!(format!("{:>4}", FaceId(17)), "  17");
}
