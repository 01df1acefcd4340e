use super::super::log_rate;
use super::*;
use crate::shared::strategy::one_of::OneOf;
use crate::shared::strategy::suppression;
use crate::testing::Pending;
use control::Params;
use packet::NackReason;
use packet::options::Offer;

fn splitter() -> OneOf<Splitter> {
    OneOf::new(Splitter::default(), &Params::defaults(suppression::PARAMS))
}

/// The numbers of Interests, of `interests`, that each next hop gets. Each is answered with its
/// link's offer.
fn counts(
    strategy: &mut OneOf<Splitter>,
    entry: &mut Pending,
    interests: usize,
    offers: &[f64],
) -> Vec<usize> {
    let mut counts = vec![0; entry.hops.len()];
    for _ in 0..interests {
        entry.renew();
        entry.now += Duration::from_millis(1);
        for action in entry.interest(strategy, 1) {
            let (Action::Forward(face) | Action::Probe(face)) = action else {
                panic!("{action:?}")
            };
            let at = entry.hops.iter().position(|hop| hop.face == face).unwrap();
            counts[at] += 1;
            if let Some(rate) = offers.get(at) {
                let mut options = Offers::new();
                options.add(Offer { rate: log_rate::code(*rate), link: at as u16 });
                entry.options.set(&options);
            }
            entry.data(strategy, face);
            entry.options = packet::HopOptions::new();
        }
    }
    counts
}

#[test]
fn interests_are_divided_as_paths_offer() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 9), (7, 3)]));
    let offers = [10e6, 20e6, 30e6];
    counts(&mut strategy, &mut entry, 100, &offers);
    let got = counts(&mut strategy, &mut entry, 6000, &offers);
    for (count, share) in got.iter().zip([1000, 2000, 3000]) {
        // Chance alone would be off by thirty; tags are off by one, and by the addition by chance.
        assert!(count.abs_diff(share) <= 5, "{got:?}");
    }
}

#[test]
fn without_offers_all_get_the_same() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 9)]));
    let got = counts(&mut strategy, &mut entry, 1000, &[]);
    assert!(got[0].abs_diff(500) <= 2, "{got:?}");
}

#[test]
fn flows_that_come_in_turns_go_by_all_paths() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    let mut of_one = 0;
    for turn in 0..1000 {
        let got = counts(&mut strategy, &mut entry, 1, &[1e6, 1e6]);
        of_one += if turn % 2 == 0 { got[0] } else { 0 };
    }
    // Of the 500 Interests of one flow; in lockstep it would be 0 or 500.
    assert!((150..350).contains(&of_one), "{of_one}");
}

#[test]
fn a_path_that_offers_nothing_is_asked_each_second() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    counts(&mut strategy, &mut entry, 100, &[100e6, 0.0]);
    let got = counts(&mut strategy, &mut entry, 10_000, &[100e6, 0.0]);
    // An Interest in a millisecond: ten seconds.
    assert!(got[1].abs_diff(10) <= 1, "{got:?}");
    counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
    let got = counts(&mut strategy, &mut entry, 1000, &[100e6, 100e6]);
    assert!(got[1].abs_diff(500) <= 5, "{got:?}");
}

/// Interests, one in a millisecond, of which the second next hop answers none.
fn silent(strategy: &mut OneOf<Splitter>, entry: &mut Pending, interests: usize) -> usize {
    let mut count = 0;
    for _ in 0..interests {
        entry.renew();
        entry.now += Duration::from_millis(1);
        let out = entry.interest(strategy, 1);
        let (Action::Forward(5) | Action::Forward(6) | Action::Forward(7)) = out[0] else {
            panic!("{out:?}")
        };
        count += usize::from(out[0] != Action::Forward(5));
        count += usize::from(out.contains(&Action::Probe(6)));
        if out[0] == Action::Forward(5) {
            entry.data(strategy, 5);
        }
    }
    count
}

#[test]
fn a_next_hop_that_falls_silent_is_left_and_asked_each_second() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    counts(&mut strategy, &mut entry, 100, &[1e6, 1e6]);
    // It gets a half for 100 ms: answers have come at once before.
    let got = silent(&mut strategy, &mut entry, 10_000);
    assert!(got.abs_diff(50 + 10) <= 4, "{got}");
    // Its first answer brings it back.
    counts(&mut strategy, &mut entry, 1000, &[1e6, 1e6]);
    let got = counts(&mut strategy, &mut entry, 1000, &[1e6, 1e6]);
    assert!(got[1].abs_diff(500) <= 5, "{got:?}");
}

#[test]
fn a_far_next_hop_gets_copies_until_it_answers_and_then_time_to_answer() {
    let ms = Duration::from_millis;
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1)]));
    counts(&mut strategy, &mut entry, 1, &[1e6]);
    // The first Interest with the second next hop, of which a copy goes there.
    let mut first = Pending::with(&[(5, 1), (6, 1)]);
    first.now = entry.now + ms(1);
    assert_eq!(first.interest(&mut strategy, 1), [Action::Forward(5), Action::Probe(6)]);
    let (began, mut copies, mut awaited) = (first.now, 1, 1);
    assert_eq!(first.data(&mut strategy, 5), [Action::Linger(LINGER)]);
    entry.hops.push(NextHop { face: 6, cost: 1 });
    entry.now = began;
    while entry.now < began + ms(600) {
        entry.renew();
        entry.now += ms(1);
        let out = entry.interest(&mut strategy, 1);
        assert_eq!(out[0], Action::Forward(5), "at {:?}", entry.now);
        copies += usize::from(out.contains(&Action::Probe(6)));
        entry.now += ms(1);
        awaited += usize::from(entry.data(&mut strategy, 5) == [Action::Linger(LINGER)]);
        assert_eq!(entry.options.get::<RttSpread>(), None);
    }
    // One in 10 ms for 40 ms, then each after a third more time: 4 + ln 15 / ln (4/3).
    assert!((12..=15).contains(&copies), "{copies}");
    assert_eq!(awaited, copies);
    // The answer to the first copy, for which no downstream waits.
    first.now = entry.now;
    assert_eq!(first.data(&mut strategy, 6), []);
    let round = first.now.since(began);
    // A repetition of an Interest of face 6 waits as long, and Data of face 5 report it.
    let mut asked = [0; 2];
    for _ in 0..100 {
        entry.renew();
        entry.now += ms(1);
        let out = entry.interest(&mut strategy, 1);
        let [Action::Forward(face)] = out[..] else { panic!("{out:?}") };
        asked[face as usize - 5] += 1;
        if face == 5 {
            entry.data(&mut strategy, 5);
            assert_eq!(entry.options.get(), Some(RttSpread(round.0)));
            entry.options = packet::HopOptions::new();
            continue;
        }
        let left = entry.now;
        entry.now = left + round - Duration(1);
        assert_eq!(entry.interest(&mut strategy, 1), []);
        entry.now = left + round;
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(5)]);
        break;
    }
    assert_eq!(asked[1], 1, "{asked:?}");
}

#[test]
fn a_repetition_goes_to_the_next_hop_that_lives_and_a_copy_to_the_other_one() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    counts(&mut strategy, &mut entry, 100, &[1e6, 1e6]);
    silent(&mut strategy, &mut entry, 1000);
    entry.renew();
    entry.now += Duration::from_millis(1);
    assert_eq!(entry.interest(&mut strategy, 1)[0], Action::Forward(5));
    entry.upstreams.retain(|upstream| upstream.face == 5);
    entry.now += Duration::from_millis(100);
    let again = [Action::Forward(5), Action::Probe(6)];
    assert_eq!(entry.interest(&mut strategy, 1), again);
    // The Nack of the one that got a copy says nothing about the other one.
    assert_eq!(entry.nack(&mut strategy, 6, NackReason::NoRoute), []);
}

/// The spread in Data of face 5, which answers after 1 ms, beside face 6 after 100 ms.
fn reported_spread(offers: [f64; 2], pause: Duration) -> Option<u64> {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    let mut reported_spread = None;
    for turn in 0..400 {
        entry.renew();
        let began = entry.now;
        let out = entry.interest(&mut strategy, 1);
        for action in out {
            let (Action::Forward(face) | Action::Probe(face)) = action else { continue };
            let at = face as usize - 5;
            entry.now = began + Duration::from_millis([1, 100][at]);
            let mut options = Offers::new();
            options.add(Offer { rate: log_rate::code(offers[at]), link: at as u16 });
            entry.options = packet::HopOptions::new();
            entry.options.set(&options);
            entry.data(&mut strategy, face);
            if face == 5 {
                reported_spread =
                    entry.options.get::<RttSpread>().map(|spread| spread.0 / 1_000_000);
            }
        }
        entry.now = began + Duration::from_millis(1);
        if turn == 390 {
            entry.now += pause;
            entry.hops.retain(|hop| pause == Duration::ZERO || hop.face == 5);
        }
    }
    reported_spread
}

#[test]
fn data_reports_the_delay_of_a_longer_path_in_use() {
    assert_eq!(reported_spread([1e6, 1e6], Duration::ZERO), Some(99));
    assert_eq!(reported_spread([100e6, 1e6], Duration::ZERO), None, "hardly used");
    assert_eq!(reported_spread([1e6, 1e6], GONE), None, "its route is gone");
}

#[test]
fn a_slow_next_hop_gets_the_second_repetition_of_what_a_fast_one_has_lost() {
    for (slow, first) in [(1e6, Action::Forward(5)), (60e6, Action::Forward(6))] {
        let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
        counts(&mut strategy, &mut entry, 1000, &[100e6, slow]);
        loop {
            entry.renew();
            entry.now += Duration::from_millis(1);
            if entry.interest(&mut strategy, 1) == [Action::Forward(5)] {
                break;
            }
            entry.data(&mut strategy, 6);
        }
        entry.now += Duration::from_millis(100);
        assert_eq!(entry.interest(&mut strategy, 1), [first]);
        entry.now += Duration::from_millis(100);
        let next = if first == Action::Forward(5) { 6 } else { 5 };
        assert_eq!(entry.interest(&mut strategy, 1), [Action::Forward(next)]);
    }
}

/// Of three next hops, the fast one has just died, a slow one lives, and one has never answered.
#[test]
fn interests_of_a_dead_next_hop_go_to_a_slow_live_one() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1), (7, 1)]));
    let mut pending = Vec::new();
    for turn in 0..4000 {
        entry.renew();
        entry.now += Duration::from_millis(1);
        let face = match entry.interest(&mut strategy, 1)[0] {
            Action::Forward(face) => face,
            action => panic!("{action:?}"),
        };
        if face == 7 || (face == 5 && turn >= 3000) {
            pending.push((face, std::mem::replace(&mut entry, Pending::with(&[]))));
            let last = &pending.last().unwrap().1;
            (entry.hops, entry.now) = (last.hops.clone(), last.now);
            continue;
        }
        let mut options = Offers::new();
        let rate = if face == 5 { 100e6 } else { 1e6 };
        options.add(Offer { rate: log_rate::code(rate), link: face as u16 });
        entry.options = packet::HopOptions::new();
        entry.options.set(&options);
        entry.data(&mut strategy, face);
    }
    let now = entry.now;
    let (_, lost) = pending.iter_mut().rfind(|(face, _)| *face == 5).unwrap();
    lost.now = now + Duration::from_millis(100);
    let again = lost.interest(&mut strategy, 1);
    assert_eq!(again[0], Action::Forward(6), "{again:?}");
}

#[test]
fn next_hops_that_are_all_silent_are_all_asked() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(6, 1), (7, 1)]));
    assert_eq!(silent(&mut strategy, &mut entry, 10_000), 10_000);
}

#[test]
fn interests_that_are_seconds_apart_go_by_all_paths() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1), (7, 1)]));
    counts(&mut strategy, &mut entry, 3, &[1e6, 2e6, 1e6]);
    let mut got = [0; 3];
    for _ in 0..30 {
        entry.now += Duration::from_secs(2);
        let one = counts(&mut strategy, &mut entry, 1, &[1e6, 2e6, 1e6]);
        got.iter_mut().zip(one).for_each(|(sum, count)| *sum += count);
    }
    assert_eq!(got, [10; 3]);
}

#[test]
fn shares_are_exact_after_very_many_interests_without_offers() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    counts(&mut strategy, &mut entry, 1, &[]);
    strategy.choice_mut().prefixes.values_mut().for_each(|ways| ways.turn = 1e12);
    counts(&mut strategy, &mut entry, 100, &[10e6, 30e6]);
    let got = counts(&mut strategy, &mut entry, 4000, &[10e6, 30e6]);
    assert!(got[0].abs_diff(1000) <= 5, "{got:?}");
}

#[test]
fn all_of_many_next_hops_get_their_share_and_new_ones_too() {
    let hops = |from: u64| (from..from + 12).map(|face| (face, 1)).collect::<Vec<_>>();
    let (mut strategy, mut entry) = (splitter(), Pending::with(&hops(100)));
    for from in [100, 200, 300] {
        entry.hops = Pending::with(&hops(from)).hops;
        let got = counts(&mut strategy, &mut entry, 1200, &[1e6; 12]);
        assert!(got.iter().all(|count| count.abs_diff(100) <= 3), "{from}: {got:?}");
    }
}

#[test]
fn state_is_bounded() {
    let hops: Vec<(u64, u64)> = (10..110).map(|face| (face, 1)).collect();
    let (mut strategy, mut entry) = (splitter(), Pending::with(&hops));
    let got = counts(&mut strategy, &mut entry, 1600, &[]);
    assert!(got[..MOST_WAYS].iter().all(|count| count.abs_diff(100) <= 3), "{got:?}");
    let is_bounded = |ways: &Ways| ways.ways.len() <= MOST_WAYS;
    assert!(strategy.choice_mut().prefixes.values().all(is_bounded));
    for number in 0..1000 {
        entry.name = format!("/{number}/a/b").parse().unwrap();
        counts(&mut strategy, &mut entry, 1, &[]);
    }
    assert!(strategy.choice_mut().prefixes.len() <= MOST_PREFIXES);
}

#[test]
fn a_retransmission_goes_where_the_interest_has_not_been() {
    let (mut strategy, mut entry) = (splitter(), Pending::with(&[(5, 1), (6, 1)]));
    counts(&mut strategy, &mut entry, 10, &[1e6, 1e6]);
    entry.renew();
    let out = entry.interest(&mut strategy, 1);
    let [Action::Forward(first)] = out[..] else { panic!("{out:?}") };
    let other = 11 - first;
    assert_eq!(entry.nack(&mut strategy, first, NackReason::Congestion), [Action::Forward(other)]);
}
