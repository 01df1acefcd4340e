use super::*;
use crate::testing::Pending;
use control::{NextHop, Time};

fn made(text: &str) -> Asf {
    let mut params = Params::defaults(PARAMS);
    for (name, value) in text.split(',').filter_map(|one| one.split_once('=')) {
        params.set("asf", name, value).unwrap();
    }
    Asf::new(&params)
}

/// A new Interest whose Data come from the face that it was sent to, after `ms`.
fn fetch(asf: &mut Asf, entry: &mut Pending, ms: u64) -> u64 {
    entry.renew();
    let out = entry.interest(asf, 1);
    let Some(Action::Forward(face)) = out.first().copied() else { panic!("{out:?}") };
    entry.now += Duration::from_millis(ms);
    entry.data(asf, face);
    face
}

/// A new Interest without an answer for ten seconds.
fn lose(asf: &mut Asf, entry: &mut Pending) -> u64 {
    entry.renew();
    let out = entry.interest(asf, 1);
    let Some(Action::Forward(face)) = out.first().copied() else { panic!("{out:?}") };
    entry.now += Duration::from_secs(10);
    face
}

/// Interests until one is a probe, each answered after 20 ms by the face that it was sent to; what
/// is probed.
fn probed(asf: &mut Asf, entry: &mut Pending) -> (u64, Time) {
    for _ in 0..10_000 {
        entry.renew();
        let out = entry.interest(asf, 1);
        if let [_, Action::Probe(face)] = out[..] {
            return (face, entry.now);
        }
        let [Action::Forward(face)] = out[..] else { panic!("{out:?}") };
        entry.now += Duration::from_millis(20);
        entry.data(asf, face);
    }
    panic!("nothing is ever probed");
}

#[test]
fn the_cheapest_is_asked_before_anything_is_known() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    let out = Pending::with(&[]).interest(&mut asf, 1);
    assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
}

#[test]
fn a_face_that_a_probe_finds_nearer_is_used_from_then_on() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    let (face, _) = probed(&mut asf, &mut entry);
    assert_eq!(face, 6, "the one without a measurement");
    entry.now += Duration::from_millis(5);
    assert_eq!(entry.data(&mut asf, 6), [Action::Linger(LINGER)]);
    entry.now += Duration::from_millis(15);
    assert_eq!(entry.data(&mut asf, 5), [], "the last that was asked");
    assert_eq!(fetch(&mut asf, &mut entry, 5), 6);
    assert_eq!(fetch(&mut asf, &mut entry, 5), 6);
}

#[test]
fn a_slower_answer_to_a_probe_is_measured_as_well() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    probed(&mut asf, &mut entry);
    entry.now += Duration::from_millis(20);
    entry.data(&mut asf, 5);
    entry.now += Duration::from_millis(10);
    entry.data(&mut asf, 6);
    assert_eq!(fetch(&mut asf, &mut entry, 20), 5);
    // Three timeouts of 5, of which 6 is the first choice then: 30 ms are better than none.
    entry.hops.push(NextHop { face: 7, cost: 0 });
    let lost: Vec<u64> = (0..4).map(|_| lose(&mut asf, &mut entry)).collect();
    assert_eq!(lost, [5, 5, 5, 6]);
}

#[test]
fn probes_come_within_five_seconds_and_then_every_interval() {
    let mut asf = made("probing-interval=2 s");
    let mut entry = Pending::with(&[(5, 1), (6, 2)]);
    let begun = entry.now;
    let (_, first) = probed(&mut asf, &mut entry);
    assert!(first.since(begun) <= FIRST_PROBE + Duration::from_millis(20));
    for face in [5, 6] {
        entry.data(&mut asf, face);
    }
    let (_, second) = probed(&mut asf, &mut entry);
    let after = second.since(first);
    assert!(after >= Duration::from_secs(2) && after <= Duration::from_millis(2020), "{after}");
}

#[test]
fn a_face_is_left_after_so_many_timeouts() {
    let (mut asf, mut entry) = (made("max-timeouts=2"), Pending::with(&[(5, 1), (6, 2)]));
    assert_eq!(fetch(&mut asf, &mut entry, 20), 5);
    let lost: Vec<u64> = (0..3).map(|_| lose(&mut asf, &mut entry)).collect();
    assert_eq!(lost, [5, 5, 6]);
    // Data set the count back.
    let mut asf = made("max-timeouts=2");
    let mut entry = Pending::with(&[(5, 1), (6, 2)]);
    for _ in 0..5 {
        assert_eq!(lose(&mut asf, &mut entry), 5);
        assert_eq!(fetch(&mut asf, &mut entry, 20), 5);
    }
}

#[test]
fn one_interest_at_a_time_is_timed() {
    let (mut asf, mut entry) = (made("max-timeouts=2"), Pending::with(&[(5, 1), (6, 2)]));
    fetch(&mut asf, &mut entry, 20);
    // Ten at once that are lost are one timeout.
    for _ in 0..10 {
        entry.renew();
        assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    }
    entry.now += Duration::from_secs(1);
    entry.renew();
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    entry.now += Duration::from_secs(1);
    entry.renew();
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(6)]);
}

#[test]
fn a_nack_puts_a_face_behind_all_others_until_data_come_from_it() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    fetch(&mut asf, &mut entry, 20);
    entry.renew();
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    let out = entry.nack(&mut asf, 5, NackReason::NoRoute);
    assert_eq!(out, [Action::Forward(6)]);
    let out = entry.nack(&mut asf, 6, NackReason::NoRoute);
    assert_eq!(out, [Action::Nack(NackReason::NoRoute)]);
    // Both have rejected: the cheaper one, and its Data make it the first again.
    assert_eq!(fetch(&mut asf, &mut entry, 30), 5);
    assert_eq!(fetch(&mut asf, &mut entry, 30), 5);
}

// NDNLPv2, "Reliability": [lp-23].
#[test]
fn an_interest_given_up_by_the_link_goes_to_the_next_face() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    fetch(&mut asf, &mut entry, 20);
    entry.renew();
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    assert_eq!(entry.dropped(&mut asf, 5), [Action::Forward(6)]);
    assert_eq!(entry.dropped(&mut asf, 6), [], "both may have arrived: there was no Nack");
    // Data of the second make it the first.
    assert_eq!(entry.data(&mut asf, 6), [Action::Linger(Duration::from_millis(50))]);
    entry.renew();
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(6)]);
}

#[test]
fn a_retransmission_waits_and_then_goes_to_the_next_in_order() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2)]));
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)]);
    entry.now += Duration::from_millis(9);
    assert_eq!(entry.interest(&mut asf, 2), []);
    entry.now += Duration::from_millis(1);
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(6)]);
    entry.now += Duration::from_millis(20);
    assert_eq!(entry.interest(&mut asf, 1), [Action::Forward(5)], "asked earliest");
}

#[test]
fn ranks_have_the_chances_of_nfd() {
    let (mut asf, mut entry) = (made(""), Pending::with(&[(5, 1), (6, 2), (7, 3), (8, 4)]));
    // 5 has timed out, the others answer after 10, 20 and 30 ms.
    let space = asf.measured.enter(entry.now, entry.name.as_ref().as_bytes());
    for (face, ms) in [(5, 1), (6, 10), (7, 20), (8, 30)] {
        space.asked(entry.now, face, 1);
        space.answered(entry.now, face, Duration::from_millis(ms), 1);
    }
    space.failed(5, 2);
    let mut counts = [0u32; 4];
    for i in 0..1000 {
        let point = f64::from(i) / 1000.0;
        let face = space.to_probe(entry.hops.iter(), point).unwrap();
        counts[face as usize - 5] += 1;
    }
    assert_eq!(counts, [100, 400, 300, 200]);
    entry.hops.clear();
    assert_eq!(space.to_probe(entry.hops.iter(), 0.5), None);
}
