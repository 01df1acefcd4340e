//! One limit on memory: nothing exceeds it, the content store shrinks, rejections are counted.

use crate::support::{Bench, Cheapest, data, frame, interest, ms, name};
use control::Marker;
use forwarder::tables::fib::FibError;
use forwarder::{
    DropReason, FaceConfig, FaceId, FaceParts, ForwarderConfig, Medium, MemoryUse,
    RejectedRequests, Scope,
};
use packet::{InterestBuf, LpHeader};
use proptest::prelude::*;

const LIMIT: usize = 1 << 20;

fn limited(limit: usize) -> Bench {
    let mut config = ForwarderConfig::new(Box::new(Cheapest));
    config.memory = Some(limit);
    config.content_store.capacity = limit;
    config.dead_nonces = 100;
    Bench::with(config)
}

fn memory(b: &Bench) -> MemoryUse {
    let memory = b.fw.memory();
    assert!(memory.total() <= LIMIT, "{memory:?}");
    memory
}

/// A packet of about 4000 bytes, asked for and answered.
fn fetch(b: &mut Bench, (from, to): (FaceId, FaceId), uri: &str) {
    b.ask(from, &interest(uri, 1));
    b.receive(to, &data(uri, &[7; 4000]));
}

/// A consumer and a producer, and a content store that has all that there is.
fn full() -> (Bench, FaceId, FaceId) {
    let mut b = limited(LIMIT);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    for n in 0..400 {
        fetch(&mut b, (d, u), &format!("/a/{n}"));
        b.sent(u);
        b.sent(d);
    }
    assert!(memory(&b).content_store > LIMIT * 8 / 10, "{:?}", memory(&b));
    (b, d, u)
}

#[test]
fn without_a_limit_nothing_is_counted_and_nothing_rejected() {
    let mut b = Bench::new();
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    fetch(&mut b, (d, u), "/a/1");
    let memory = b.fw.memory();
    assert_eq!(
        (memory.limit, memory.faces, memory.refused),
        (None, 0, RejectedRequests::default())
    );
    assert!(memory.content_store > 4000 && b.fw.has_room_for_face(Scope::NonLocal, usize::MAX / 4));
}

/// A marker with much state of its own.
struct Large {
    _state: [u8; 20_000],
}

impl Marker for Large {}

#[test]
fn the_state_of_a_faces_parts_counts() {
    let mut b = limited(LIMIT);
    let before = memory(&b).faces;
    b.face();
    let plain = memory(&b).faces - before;
    let marker: Option<Box<dyn Marker>> = Some(Box::new(Large { _state: [1; 20_000] }));
    b.face_with(FaceConfig {
        parts: FaceParts { marker, ..FaceParts::default() },
        ..FaceConfig::default()
    });
    let with_part = memory(&b).faces - before - plain;
    assert!(with_part >= plain + 20_000, "{with_part} beside {plain}");
}

#[test]
fn the_content_store_gives_way_to_pending_interests() {
    let (mut b, d, _) = full();
    let before = memory(&b);
    for n in 0..100_000 {
        b.ask(d, &interest(&format!("/a/never/{n}"), n));
        if n % 1000 == 0 {
            memory(&b);
        }
    }
    let after = memory(&b);
    // Half of everything is as much as they may have; but for an eighth of that, which is for
    // applications of this host, half of it is for one face.
    assert!(after.pending > LIMIT / 6 && after.pending <= LIMIT / 4, "{after:?}");
    assert!(after.content_store + LIMIT / 6 < before.content_store, "{after:?}");
    let refused = after.refused.interests;
    assert_eq!(refused + b.fw.pit().len() as u64, 100_000, "each is there or counted");
    assert_eq!(b.drops(d, DropReason::Memory), refused);
    assert_eq!(b.drops(d, DropReason::PitFull), 0);
}

#[test]
fn faces_that_ask_for_what_never_comes_leave_something_for_the_next_one() {
    let (mut b, d, _) = full();
    let flooders: Vec<FaceId> = (0..8).map(|_| b.face()).collect();
    for n in 0..20_000 {
        let face = flooders[n as usize % flooders.len()];
        b.ask(face, &interest(&format!("/a/never/{n}"), n));
    }
    let pending = memory(&b).pending;
    assert!(pending > LIMIT / 6 && pending <= LIMIT / 2, "{:?}", memory(&b));
    b.ask(d, &interest("/a/wanted", 1));
    assert_eq!(b.drops(d, DropReason::Memory), 0, "{:?}", memory(&b));
    assert_eq!(b.fw.pit().pending_of(d), 1);
}

#[test]
fn the_store_takes_back_memory_of_expired_pending_interests() {
    let (mut b, d, u) = full();
    for n in 0..100_000 {
        b.ask(d, &interest(&format!("/a/never/{n}"), n));
    }
    let (pressed, len) = (memory(&b).content_store, b.fw.pit().len());
    b.pass(ms(5000));
    assert_eq!((b.fw.pit().len(), b.fw.stats().expired), (0, len as u64));
    b.sent(u);
    for n in 0..400 {
        fetch(&mut b, (d, u), &format!("/a/again/{n}"));
        b.sent(u);
        b.sent(d);
    }
    assert!(memory(&b).content_store > pressed, "{:?}", memory(&b));
}

#[test]
fn full_queues_leave_memory_for_the_next_face() {
    let (mut b, d, u) = full();
    let stuck: Vec<FaceId> = (0..16).map(|_| b.face()).collect();
    let mut number = 0;
    let mut ask = |b: &mut Bench, face: FaceId, times: usize| {
        for _ in 0..times {
            number += 1;
            fetch(b, (face, u), &format!("/a/more/{number}"));
            b.sent(u);
            memory(b);
        }
    };
    for face in stuck {
        ask(&mut b, face, 200);
    }
    let refused = memory(&b).refused.packets;
    assert!(refused > 0);
    assert_eq!(b.fw.stats().drops.of(DropReason::Memory), refused, "each is counted");
    let faces = memory(&b).faces;
    assert!(faces > LIMIT / 3 && faces <= LIMIT / 2, "{:?}", memory(&b));
    // One that is empty still gets through.
    ask(&mut b, d, 1);
    assert_eq!(b.sent(d).len(), 1, "{:?} {:?}", memory(&b), b.fw.counters(d));
    b.check_books(d);
}

#[test]
fn memory_of_removed_faces_is_released() {
    let mut b = limited(LIMIT);
    let before = memory(&b).faces;
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    fetch(&mut b, (d, u), "/a/1");
    b.fw.set_outside(d, 10_000);
    assert!(memory(&b).faces > before + 14_000);
    b.fw.remove_face(b.now, d);
    b.fw.remove_face(b.now, u);
    assert_eq!(memory(&b).faces, before);
}

#[test]
fn emptied_queues_release_the_memory_of_their_peak() {
    let mut b = limited(LIMIT);
    let (d, u) = (b.face(), b.face());
    b.route("/a", u);
    let before = memory(&b).faces;
    for n in 0..300 {
        b.ask(d, &interest(&format!("/a/{n}"), n));
    }
    let long = memory(&b).faces;
    assert!(long > before + 300 * 50, "{long}");
    b.sent(u);
    assert!(memory(&b).faces < before + LIMIT / 32, "{:?}", memory(&b));
}

#[test]
fn faces_and_routes_are_rejected_where_there_is_no_memory_for_them() {
    let mut b = limited(LIMIT);
    let u = b.face();
    let mut faces = 0;
    while b.fw.has_room_for_face(Scope::NonLocal, 10_000) {
        let face = b.face_with(FaceConfig { outside: 10_000, ..FaceConfig::default() });
        assert!(b.fw.counters(face).is_some());
        memory(&b);
        faces += 1;
    }
    assert!((7..13).contains(&faces), "an eighth of a megabyte has room for so many: {faces}");
    assert!(
        b.fw.has_room_for_face(Scope::Local, 10_000),
        "remote faces leave some to applications"
    );
    let mut routes = 0;
    let refused = loop {
        match b.fw.add_route(u, name(&format!("/some/prefix/{routes}")).as_ref(), 0) {
            Ok(_) => routes += 1,
            Err(error) => break error,
        }
        memory(&b);
    };
    assert_eq!(refused, FibError::Memory);
    assert!(routes > 100, "{routes}");
    assert_eq!(
        memory(&b).refused,
        RejectedRequests { faces: 1, routes: 1, ..RejectedRequests::default() },
    );
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Ask { face: usize, name: u32, nonce: u32, prefix: bool },
    Answer { face: usize, name: u32, size: usize },
    Fragment { face: usize, sequence: u64, index: u64, len: usize },
    Transmit { face: usize, packets: usize },
    Outside { face: usize, bytes: usize },
    Route { face: usize, name: u32 },
    Replace { face: usize },
    Pass { ms: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let face = 0usize..6;
    prop_oneof![
        8 => (face.clone(), 0u32..60, any::<u32>(), any::<bool>())
            .prop_map(|(face, name, nonce, prefix)| Op::Ask { face, name, nonce, prefix }),
        8 => (face.clone(), 0u32..60, 0usize..8000)
            .prop_map(|(face, name, size)| Op::Answer { face, name, size }),
        4 => (face.clone(), 0u64..40, 0u64..9, 1usize..1400)
            .prop_map(|(face, sequence, index, len)| Op::Fragment { face, sequence, index, len }),
        4 => (face.clone(), 0usize..40)
            .prop_map(|(face, packets)| Op::Transmit { face, packets }),
        1 => (face.clone(), 0usize..3000).prop_map(|(face, bytes)| Op::Outside { face, bytes }),
        1 => (face.clone(), 0u32..60).prop_map(|(face, name)| Op::Route { face, name }),
        1 => face.prop_map(|face| Op::Replace { face }),
        1 => (0u64..3000).prop_map(|ms| Op::Pass { ms }),
    ]
}

/// Streams, and datagrams with and without acknowledgements.
fn some_face(b: &mut Bench, kind: usize) -> FaceId {
    let config = match kind {
        0 => FaceConfig { scope: Scope::Local, ..FaceConfig::default() },
        1 | 2 => FaceConfig::default(),
        3 => FaceConfig {
            medium: Medium { mtu: Some(1400), ..Medium::default() },
            ..FaceConfig::default()
        },
        _ => FaceConfig {
            reliability: true,
            medium: Medium { mtu: Some(1400), ..Medium::default() },
            ..FaceConfig::default()
        },
    };
    let face = b.face_with(config);
    b.fw.add_route(face, name("/a").as_ref(), kind as u64).ok();
    face
}

fn uri(name: u32) -> String {
    format!("/a/{}/{name}", "x".repeat(1 + name as usize % 50))
}

fn apply(b: &mut Bench, faces: &mut [FaceId], op: Op) {
    match op {
        Op::Ask { face, name, nonce, prefix } => {
            let can_be_prefix = prefix;
            let asked = InterestBuf { can_be_prefix, ..interest(&uri(name), nonce) };
            b.ask(faces[face], &asked);
        }
        Op::Answer { face, name, size } => {
            b.receive(faces[face], &data(&uri(name), &vec![1; size]));
        }
        Op::Fragment { face, sequence, index, len } => {
            let header = LpHeader {
                sequence: Some(sequence * 10 + index),
                frag_index: index,
                frag_count: 10,
                ..LpHeader::default()
            };
            b.receive(faces[face], &frame(&header, &vec![6; len]));
        }
        Op::Transmit { face, packets } => {
            let mut out = Vec::new();
            for _ in 0..packets {
                b.fw.poll_transmit(b.now, faces[face], &mut out);
            }
        }
        Op::Outside { face, bytes } => b.fw.set_outside(faces[face], bytes),
        Op::Route { face, name: number } => {
            b.fw.add_route(faces[face], name(&uri(number)).as_ref(), 1).ok();
        }
        Op::Replace { face } => {
            b.fw.remove_face(b.now, faces[face]);
            faces[face] = some_face(b, face);
        }
        Op::Pass { ms: span } => b.pass(ms(span)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn memory_never_exceeds_the_limit(
        limit in 100_000usize..250_000,
        ops in prop::collection::vec(op(), 1..900),
    ) {
        let mut b = limited(limit);
        let mut faces: Vec<FaceId> = (0..6).map(|kind| some_face(&mut b, kind)).collect();
        let start = b.fw.memory().total();
        prop_assert!(start <= limit, "{start}");
        for op in ops {
            apply(&mut b, &mut faces, op);
            let memory = b.fw.memory();
            prop_assert!(memory.total() <= limit, "{memory:?} after {op:?}");
        }
        for face in faces {
            b.check_books(face);
            b.fw.remove_face(b.now, face);
        }
        prop_assert_eq!(b.fw.memory().faces, 0);
    }
}
