//! The order of publications, and their bounds.

use super::*;

fn stream() -> Stream {
    Stream { name: "/alice".parse().unwrap(), boot: 1 }
}

fn update(low: u64, high: u64, is_confirmed: bool) -> Update {
    Update { stream: stream(), low, high, is_confirmed }
}

fn arrival(bytes: usize) -> Arrival {
    Arrival { content: vec![0; bytes].into(), key: "/alice/KEY/k".parse().unwrap() }
}

/// The numbers that are requested now.
fn asked(streams: &mut Streams) -> Vec<u64> {
    std::iter::from_fn(|| streams.next_wanted(&stream())).map(|(seq, _)| seq).collect()
}

/// The numbers that are requested after an update.
fn updated(streams: &mut Streams, low: u64, high: u64, is_confirmed: bool) -> Vec<u64> {
    streams.update(&update(low, high, is_confirmed));
    asked(streams)
}

fn arrived(streams: &mut Streams, seq: u64) -> Vec<u64> {
    let outcome = streams.arrived(&stream(), seq, arrival(1));
    outcome.released.iter().map(|released| released.seq).collect()
}

#[test]
fn publications_are_released_once_and_in_order() {
    let mut streams = Streams::new(10, 2);
    assert_eq!(updated(&mut streams, 1, 3, false), [1, 2, 3]);
    streams.current(&stream(), 3);
    assert!(arrived(&mut streams, 3).is_empty());
    assert_eq!(arrived(&mut streams, 1), [1]);
    assert_eq!(arrived(&mut streams, 2), [2, 3]);
    assert!(arrived(&mut streams, 2).is_empty());
    assert_eq!(updated(&mut streams, 1, 4, true), [4]);
    let outcome = streams.arrived(&stream(), 4, arrival(1));
    let first = &outcome.released[0];
    assert!(first.is_live && !first.is_late, "it came after the member knew this one");
}

/// A router can repeat vectors that are older than this member, in any order.
#[test]
fn replayed_claims_make_no_publication_live() {
    let mut streams = Streams::new(10, 2);
    for seq in 1..=3 {
        updated(&mut streams, seq, seq, true);
        assert!(!streams.arrived(&stream(), seq, arrival(1)).released[0].is_live);
    }
    updated(&mut streams, 4, 6, true);
    streams.current(&stream(), 5);
    streams.current(&stream(), 1);
    let live = [4, 5, 6].map(|seq| streams.arrived(&stream(), seq, arrival(1)).released[0].is_live);
    assert_eq!(live, [false, false, true]);
}

#[test]
fn a_stream_without_a_place_leaves_nothing() {
    let mut streams = Streams::new(10, 2);
    updated(&mut streams, 1, 3, true);
    arrived(&mut streams, 3);
    assert!(streams.held > 0);
    assert_eq!(streams.forget(|_| false), [stream()]);
    assert_eq!((streams.held, streams.len()), (0, 0));
    assert!(arrived(&mut streams, 2).is_empty() && asked(&mut streams).is_empty());
}

/// Each member can withhold its first publication, and send many others.
#[test]
fn publications_that_wait_for_an_earlier_one_are_bounded() {
    let mut streams = Streams::new(1_000, 0);
    let mut most = 0;
    let names = (0..20).map(|i| Stream { name: format!("/m{i}").parse().unwrap(), boot: 1 });
    let names: Vec<Stream> = names.collect();
    let mut released = 0;
    for stream in &names {
        streams.update(&Update { stream: stream.clone(), ..update(1, 50, true) });
        while streams.next_wanted(stream).is_some() {}
        for seq in 2..=50 {
            released += streams.arrived(stream, seq, arrival(8_000)).released.len();
            most = most.max(streams.held);
        }
    }
    assert!(most <= MOST_HELD, "{most}");
    // In a full memory, publications of the last streams do not wait for the first one.
    assert!(released > 400, "{released}");
    let first = streams.arrived(&names[19], 1, arrival(1)).released;
    assert!(first[0].is_late, "late, and not hidden");
    for stream in &names {
        streams.absent(stream, 1);
    }
    assert_eq!(streams.held, 0);
}

#[test]
fn of_a_known_stream_all_are_asked_for_that_members_keep() {
    let mut streams = Streams::new(2, 2);
    assert_eq!(updated(&mut streams, 1, 5, true), [4, 5]);
    let (mut all, mut released) = (Vec::new(), Vec::new());
    streams.update(&update(6, 305, true));
    streams.update(&update(306, 5_000, true));
    loop {
        let now = asked(&mut streams);
        assert!(now.len() <= WINDOW);
        all.extend(&now);
        let Some(last) = now.last() else { break };
        let outcome = streams.arrived(&stream(), *last, arrival(1));
        released.extend(outcome.missing);
        for seq in now {
            released.extend(streams.arrived(&stream(), seq, arrival(1)).missing);
        }
    }
    assert_eq!((all.len(), all[0], all.last()), (2_000, 3_001, Some(&5_000)));
    // The others are reported.
    assert_eq!(released, [(6, 3_000, 2_995)]);
    let other = Stream { boot: 2, ..stream() };
    streams.update(&Update { stream: other.clone(), ..update(1, 300, true) });
    assert_eq!(streams.next_wanted(&other), Some((1, false)), "it began after this member");
}

#[test]
fn the_latest_publications_are_history() {
    let mut streams = Streams::new(2, 2);
    let all = updated(&mut streams, 1, 1_000_000_000, false);
    assert_eq!(all, [999_999_999, 1_000_000_000]);
    assert_eq!(updated(&mut streams, 1, u64::MAX, false).len(), 2);
    let other = Stream { boot: 0, ..stream() };
    streams.update(&Update { stream: other.clone(), ..update(1, u64::MAX, true) });
    assert_eq!(streams.next_wanted(&other), Some((u64::MAX - 1, false)));
    assert_eq!(streams.next_wanted(&other), Some((u64::MAX, false)));
    assert_eq!(streams.next_wanted(&other), None);
}

/// Others have claimed 500 publications before the member itself has.
#[test]
fn the_first_claim_of_the_member_itself_asks_for_no_more_than_history() {
    let mut streams = Streams::new(3, 2);
    assert_eq!(updated(&mut streams, 1, 500, false), [498, 499, 500]);
    assert_eq!(streams.update(&update(1, 501, true)), [498, 499, 500], "of the member now");
    assert_eq!(asked(&mut streams), [501]);
}

#[test]
fn a_claim_that_is_too_large_hides_no_publication() {
    let mut streams = Streams::new(2_000, 2);
    assert_eq!(updated(&mut streams, 1, 1 << 63, false).len(), WINDOW);
    assert_eq!(updated(&mut streams, 1, 2, true), [1, 2]);
    assert_eq!(arrived(&mut streams, 1), [1]);
    assert_eq!(arrived(&mut streams, 2), [2]);
    streams.current(&stream(), 2);
    assert_eq!(updated(&mut streams, 3, 3, true), [3]);
    assert!(streams.arrived(&stream(), 3, arrival(1)).released[0].is_live);
}

#[test]
fn absent_publications_are_skipped_reported_once_and_requested_again() {
    let mut streams = Streams::new(10, 2);
    updated(&mut streams, 1, 4, true);
    assert!(arrived(&mut streams, 4).is_empty());
    assert_eq!(streams.absent(&stream(), 1), Outcome::default());
    assert!(arrived(&mut streams, 3).is_empty());
    let outcome = streams.absent(&stream(), 2);
    assert_eq!(outcome.missing, Some((1, 2, 2)));
    assert_eq!(outcome.released.iter().map(|s| s.seq).collect::<Vec<_>>(), [3, 4]);
    let mut now = Time::ZERO;
    assert_eq!(streams.again(now, |_| true).len(), 2);
    assert!(streams.again(now, |_| true).is_empty(), "they are asked for already");
    updated(&mut streams, 5, 5, true);
    assert_eq!(arrived(&mut streams, 5), [5], "it does not wait for them");
    let late = streams.arrived(&stream(), 1, arrival(1)).released;
    assert!(late[0].is_late && late.len() == 1, "late, and not hidden");
    for _ in 0..ROUNDS - 1 {
        assert_eq!(streams.absent(&stream(), 2).missing, None);
        streams.again(now, |_| true);
    }
    assert!(streams.again(now, |_| true).is_empty(), "vectors are repeated");
    now += REST;
    assert_eq!(streams.again(now, |_| true), [(stream(), 2)], "the member may be back");
    assert_eq!(streams.absent(&stream(), 2).missing, None);
    assert!(streams.again(now, |_| true).is_empty());
}

#[test]
fn publications_put_back_are_requested_later() {
    let mut streams = Streams::new(10, 2);
    streams.update(&update(1, 2, true));
    assert_eq!(streams.next_wanted(&stream()), Some((1, false)));
    streams.put_back(&stream(), 1);
    assert_eq!(asked(&mut streams), [1, 2]);
    streams.put_back(&stream(), 2);
    assert_eq!(asked(&mut streams), [2]);
}

/// The numbers that are requested elsewhere, if none is found, and those missing then.
fn sought(streams: &mut Streams) -> (Vec<u64>, Option<(u64, u64, u64)>) {
    let (mut all, mut missing) = (Vec::new(), None);
    while let Some(seq) = streams.next_gone(&stream()) {
        all.push(seq);
        missing = missing.or(streams.absent(&stream(), seq).missing);
    }
    (all, missing)
}

#[test]
fn publications_before_those_that_were_known_to_be_gone_are_sought_or_missing() {
    let mut streams = Streams::new(100, 2);
    updated(&mut streams, 1, 200, false);
    streams.gone(&stream(), 181);
    let (all, missing) = sought(&mut streams);
    assert_eq!(all, (173..=180).rev().collect::<Vec<_>>());
    assert_eq!(missing, Some((101, 180, 80)));
    assert_eq!(asked(&mut streams), (181..=200).collect::<Vec<_>>());
    assert_eq!((181..=200).map(|seq| arrived(&mut streams, seq).len()).sum::<usize>(), 20);
    // The member itself claims all of them, and this one knew its stream before.
    streams.all.get_mut(&stream()).unwrap().confirmed = 1;
    streams.update(&update(1, 200, true));
    let (all, missing) = sought(&mut streams);
    assert_eq!(all, (93..=100).rev().collect::<Vec<_>>());
    assert_eq!(missing, Some((1, 100, 100)));
    assert_eq!((asked(&mut streams), arrived(&mut streams, 201)), (vec![], vec![201]));
}

#[test]
fn a_publication_that_is_gone_is_sought_again_after_a_rest() {
    let mut streams = Streams::new(10, 2);
    updated(&mut streams, 1, 2, true);
    streams.gone(&stream(), 2);
    assert_eq!(sought(&mut streams).0, [1]);
    assert_eq!(arrived(&mut streams, 2), [2]);
    let mut now = Time::ZERO + Duration::from_secs(1);
    let mut rounds = 0;
    for _ in 0..10 {
        assert!(streams.again(now, |_| true).is_empty());
        now += REST;
        for (_, seq) in streams.again(now, |_| true) {
            rounds += 1;
            // The statement comes again.
            assert!(streams.gone(&stream(), 2).is_empty());
            assert_eq!(streams.absent(&stream(), seq), Outcome::default(), "reported once");
        }
    }
    assert_eq!(rounds, ROUNDS);
    streams.update(&update(3, 4, true));
    assert_eq!(asked(&mut streams), [3, 4]);
    streams.gone(&stream(), 4);
    assert_eq!(sought(&mut streams).0, [3]);
    streams.again(now, |_| true);
    assert_eq!(streams.again(now + REST, |_| true), [(stream(), 3)]);
    let late = streams.arrived(&stream(), 3, arrival(1)).released;
    assert_eq!(late.len(), 1);
}

/// They could not be fetched from anywhere, and then their member states that it keeps them no
/// longer. Another member that has them may come back.
#[test]
fn missing_publications_of_which_the_member_has_none_any_more_are_sought_elsewhere() {
    let mut streams = Streams::new(10, 2);
    updated(&mut streams, 1, 3, true);
    streams.absent(&stream(), 1);
    streams.absent(&stream(), 2);
    let outcome = streams.arrived(&stream(), 3, arrival(1));
    assert_eq!(outcome.missing, Some((1, 2, 2)));
    let mut now = Time::ZERO;
    // More rounds than `Tries::rounds` can count.
    for _ in 0..300 {
        streams.again(now, |_| true);
        streams.absent(&stream(), 1);
        streams.absent(&stream(), 2);
        now += REST;
    }
    let both = [(stream(), 1), (stream(), 2)];
    assert_eq!(streams.again(now, |_| true), both);
    assert!(streams.gone(&stream(), 3).is_empty());
    for _ in 0..ROUNDS - 1 {
        assert_eq!(streams.absent(&stream(), 1), Outcome::default(), "reported once");
        assert_eq!(streams.absent(&stream(), 2), Outcome::default(), "reported once");
        now += REST;
        assert_eq!(streams.again(now, |_| true), both);
    }
    let late = streams.arrived(&stream(), 1, arrival(1)).released;
    assert!(late[0].is_late && late.len() == 1);
    assert_eq!(streams.absent(&stream(), 2), Outcome::default());
    assert!(streams.again(now + REST, |_| true).is_empty(), "no more than its rounds");
}

#[test]
fn missing_publications_between_others_that_are_gone_are_reported_once() {
    let mut streams = Streams::new(100, 2);
    updated(&mut streams, 41, 41, false);
    assert_eq!(streams.absent(&stream(), 41).missing, Some((41, 41, 1)));
    updated(&mut streams, 1, 80, false);
    streams.gone(&stream(), 81);
    let (all, missing) = sought(&mut streams);
    assert_eq!(all, (73..=80).rev().collect::<Vec<_>>());
    assert_eq!(missing, Some((1, 80, 79)));
}

/// They are requested again when newer ones have taken their places.
#[test]
fn a_publication_that_is_not_asked_for_any_more_is_reported_once() {
    let mut streams = Streams::new(10, 2);
    updated(&mut streams, 1, 1, true);
    assert_eq!(streams.absent(&stream(), 1).missing, Some((1, 1, 1)));
    assert_eq!(streams.again(Time::ZERO, |_| true), [(stream(), 1)]);
    streams.all.get_mut(&stream()).unwrap().missing.clear();
    assert_eq!(streams.absent(&stream(), 1), Outcome::default());
    streams.gone(&stream(), 2);
    assert_eq!(streams.absent(&stream(), 1), Outcome::default());
}

#[test]
fn of_missing_publications_that_are_gone_the_latest_are_sought_after_a_rest() {
    let mut streams = Streams::new(100, 2);
    streams.update(&update(1, 100, true));
    let mut missing = None;
    while let Some((seq, _)) = streams.next_wanted(&stream()) {
        missing = missing.or(streams.absent(&stream(), seq).missing);
    }
    assert_eq!(missing, Some((1, 100, 100)));
    assert!(streams.gone(&stream(), 101).is_empty());
    let mut now = Time::ZERO + Duration::from_secs(1);
    for _ in 0..3 {
        assert!(streams.again(now, |_| true).is_empty(), "after a rest");
        now += REST;
        let again: Vec<_> = streams.again(now, |_| true).into_iter().map(|(_, seq)| seq).collect();
        assert_eq!(again, (37..=100).collect::<Vec<_>>());
        again.iter().for_each(|seq| assert_eq!(streams.absent(&stream(), *seq).missing, None));
    }
    assert!(streams.again(now + REST, |_| true).is_empty(), "three times");
    // Claims of all of them by others.
    assert_eq!(updated(&mut streams, 1, 101, false), [101]);
    assert_eq!(sought(&mut streams), (vec![], None), "they were reported");
}
