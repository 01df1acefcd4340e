use super::*;
use crate::mircc;
use control::{Event, InFlight, Load, Rng};

const MS: u64 = 1_000_000;
/// Segments of 1000 bytes: 8000 bits of Data for an Interest.
const SEGMENT: Size = Size(1000);

struct Nothing;
impl InFlight for Nothing {
    fn total(&self) -> Load {
        Load::default()
    }
    fn lane(&self, _: Lane) -> Load {
        Load::default()
    }
}

struct Much(u64);
impl InFlight for Much {
    fn total(&self) -> Load {
        Load { segments: 1, bytes: Size(self.0) }
    }
    fn lane(&self, _: Lane) -> Load {
        self.total()
    }
}

struct Bench {
    consumer: Consumer,
    rng: Rng,
    now: Time,
    next: u64,
}

/// An Interest that left.
#[derive(Clone, Debug)]
struct Out {
    at: Time,
    lane: Lane,
    memo: [u64; 2],
    options: HopOptions,
}

fn params(set: &[(&str, &str)]) -> Params {
    let mut params = Params::defaults(mircc::SCHEME.params);
    set.iter().for_each(|(name, text)| params.set("mircc", name, text).unwrap());
    params
}

fn bench(set: &[(&str, &str)]) -> Bench {
    let consumer = multipath(&params(set));
    Bench { consumer, rng: Rng::stream(1, &["consumer"]), now: Time(1000 * MS), next: 0 }
}

fn single() -> Bench {
    let consumer = single_path(&params(&[]));
    Bench { consumer, rng: Rng::stream(1, &["consumer"]), now: Time(1000 * MS), next: 0 }
}

/// Data of path `id` with these stamps.
fn from(id: u64, stamp: Option<(u64, u64)>) -> HopOptions {
    let mut options = HopOptions::new();
    options.set(&PathId(id));
    if let Some((primary, secondary)) = stamp {
        options.set(&RateStamp { primary, secondary });
    }
    options
}

impl Bench {
    fn with<R>(&mut self, act: impl FnOnce(&mut Consumer, &mut Cx<'_>) -> R) -> R {
        let mut tap = |_: Event| {};
        let mut cx = Cx { now: self.now, rng: &mut self.rng, tap: &mut tap };
        act(&mut self.consumer, &mut cx)
    }

    fn permit(&self, in_flight: &dyn InFlight) -> Permit {
        let ask = Ask { first: self.next, count: 1, attempt: 0, segment: SEGMENT, in_flight };
        self.consumer.permit(self.now, &ask)
    }

    /// Waits for the next permit and sends.
    fn send(&mut self) -> Out {
        let lane = loop {
            match self.permit(&Nothing) {
                Permit::Now(lane) => break lane,
                Permit::At(at) => self.now = at,
                other => panic!("{other:?}"),
            }
        };
        let first = self.next;
        self.next += 1;
        let before = Load::default();
        let (expected, stated) = (SEGMENT, None);
        let sent = Sent { first, count: 1, lane, attempt: 0, expected, stated, before };
        let ticket = self.with(|consumer, cx| consumer.on_sent(cx, &sent));
        Out { at: self.now, lane, memo: ticket.memo, options: ticket.options }
    }

    fn answer(&mut self, out: &Out, rtt_ms: Option<u64>, options: &HopOptions) {
        let arrival = Arrival {
            segment: 0,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.at,
            rtt: rtt_ms.map(Duration::from_millis),
            size: SEGMENT,
            mark: 0,
            late: false,
            options,
            in_flight: &Nothing,
        };
        self.with(|consumer, cx| consumer.on_data(cx, &arrival));
    }

    fn lose(&mut self, out: &Out, cause: Cause, options: &HopOptions) {
        let loss = Loss {
            segment: 0,
            lane: out.lane,
            memo: out.memo,
            sent_at: out.at,
            cause,
            options,
            in_flight: &Nothing,
        };
        self.with(|consumer, cx| consumer.on_loss(cx, &loss));
    }

    /// The number of Interests of each lane that leave in `ms`; nothing returns, but paths stay.
    fn count(&mut self, ms: u64) -> [u32; 8] {
        let end = self.now + Duration::from_millis(ms);
        let mut lanes = [0; 8];
        loop {
            let out = self.send();
            if out.at >= end {
                return lanes;
            }
            lanes[usize::from(out.lane)] += 1;
            for path in self.consumer.paths.iter_mut().flatten() {
                path.waits_since = None;
            }
        }
    }

    /// Finds paths with these stamps.
    fn find_paths(&mut self, paths: &[(u64, u64, u64)]) {
        let out = self.send();
        for (id, primary, secondary) in paths {
            self.answer(&out, Some(50), &from(*id, Some((*primary, *secondary))));
        }
    }
}

#[test]
fn ten_interests_a_second_until_a_rate_is_known_then_the_stamps_rate() {
    let mut b = single();
    let first = b.send();
    assert_eq!((first.at, first.lane), (Time(1000 * MS), NO_PATH));
    assert_eq!(b.send().at.since(first.at), Duration(100 * MS - BURST.0), "ahead by the burst");
    // 800 kbit/s of Data are 100 Interests of 8000 bits.
    b.answer(&first, Some(50), &from(9, Some((800_000, 5))));
    let sent = b.count(1000);
    assert!((99..=101).contains(&sent[1]) && sent[2] == 0, "{sent:?}");
    // The stamp of the last Data counts at once, up and down.
    let out = b.send();
    b.answer(&out, Some(50), &from(9, Some((80_000, 0))));
    let sent = b.count(1000);
    assert!((9..=11).contains(&sent[1]), "{sent:?}");
    b.answer(&out, Some(50), &from(9, Some((8_000_000, 0))));
    let sent = b.count(100);
    assert!((99..=101).contains(&sent[1]), "{sent:?}");
}

#[test]
fn answers_to_retransmissions_only_lower_a_rate() {
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 0)]);
    let out = b.send();
    let rates = |b: &Bench| b.consumer.paths[0].as_ref().unwrap().rates;
    // A store on the way, which another path's answers pass too.
    b.answer(&out, None, &from(7, Some((90_000_000, 90_000_000))));
    assert_eq!((rates(&b), b.consumer.live(b.now).count()), ([8e6, 0.0], 1));
    b.answer(&out, None, &from(7, Some((4_000_000, 0))));
    assert_eq!(rates(&b), [4e6, 0.0]);
    // Nothing else has come for 50 + max(200, 4 * 25) ms.
    b.now = out.at + Duration(260 * MS);
    b.answer(&out, None, &from(1, Some((6_000_000, 0))));
    assert_eq!(rates(&b), [6e6, 0.0]);
}

#[test]
fn the_primary_class_has_the_best_paths_rate_in_proportion_to_all() {
    let mut b = bench(&[]);
    // X = 600; of 600 : 200, 450 and 150 Interests a second; R_s = 0.
    b.find_paths(&[(1, 4_800_000, 0), (2, 1_600_000, 0)]);
    let sent = b.count(1000);
    assert!((448..=452).contains(&sent[1]) && (148..=152).contains(&sent[3]), "{sent:?}");
    assert_eq!((sent[2], sent[4]), (0, 0), "{sent:?}");
}

/// The paper's example 4.3.4: two paths of 10 Mbit/s, what is shared leaves 2.5 for each.
#[test]
fn the_secondary_class_has_what_each_path_leaves() {
    let mut b = bench(&[]);
    b.find_paths(&[(1, 10_000_000, 2_500_000), (2, 10_000_000, 2_500_000)]);
    let sent = b.count(1000);
    // 5 + 5 Mbit/s are 625 Interests each, 2.5 are 312.5: together 15 Mbit/s.
    for (lane, expected) in [(1, 625u32), (3, 625), (2, 312), (4, 312)] {
        assert!(sent[lane].abs_diff(expected) <= 3, "{sent:?}");
    }
    let mut rates = Vec::new();
    b.consumer.gauges(&mut |lane, name, value| rates.push((lane, name, value)));
    assert!(rates.contains(&(NO_PATH, "rate", 15e6)), "{rates:?}");
}

#[test]
fn interests_carry_class_round_trip_and_the_hint_of_their_path() {
    let mut b = bench(&[("discovery", "0")]);
    let out = b.send();
    assert_eq!(out.options.get(), Some(TrafficClass::Primary));
    assert_eq!(out.options.get::<RttHint>(), None, "before the first round trip");
    assert_eq!(out.memo[0], DISCOVERY);
    let hint = |n: u8| SteeringHint { kind: SteeringKind::Bloom, bytes: [n; 16][..].into() };
    for id in [1, 2] {
        let mut options = from(id, Some((8_000_000, 8_000_000)));
        options.set(&hint(id as u8));
        b.answer(&out, Some(50), &options);
    }
    let mut lanes = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let out = b.send();
        lanes.insert(out.lane);
        let path = out.lane.div_ceil(2);
        assert_eq!(out.options.get(), Some(hint(path as u8)), "lane {}", out.lane);
        let is_secondary = out.lane.is_multiple_of(2);
        let class = if is_secondary { TrafficClass::Secondary } else { TrafficClass::Primary };
        assert_eq!(out.options.get(), Some(class));
        assert_eq!(out.options.get(), Some(RttHint(50 * MS)));
        assert_eq!(out.memo[0], 0);
    }
    assert_eq!(lanes.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn a_steered_answer_does_not_replace_what_steers() {
    let mut b = bench(&[("discovery", "0")]);
    let out = b.send();
    let hint = |n: u8| SteeringHint { kind: SteeringKind::Bloom, bytes: [n; 16][..].into() };
    let answer = |n: u8| {
        let mut options = from(1, Some((8_000_000, 0)));
        options.set(&hint(n));
        options
    };
    b.answer(&out, Some(50), &answer(1));
    let steered = b.send();
    b.answer(&steered, Some(50), &answer(2));
    assert_eq!(b.send().options.get(), Some(hint(1)));
    b.answer(&out, Some(50), &answer(3));
    assert_eq!(b.send().options.get(), Some(hint(3)), "an answer to an Interest without a hint");
}

#[test]
fn three_in_a_hundred_look_for_paths() {
    for form in ["bloom", "random", "label"] {
        let mut b = bench(&[("hint", form)]);
        let out = b.send();
        let mut answer = from(1, Some((8_000_000, 0)));
        let bytes = [1u8; 16][..].into();
        answer.set(&SteeringHint { kind: SteeringKind::Bloom, bytes });
        answer.set(&PathLabel::default());
        b.answer(&out, Some(50), &answer);
        let known = b.consumer.paths[0].as_ref().unwrap().hint.clone();
        let mut free = 0;
        for _ in 0..2000 {
            let out = b.send();
            b.consumer.paths[0].as_mut().unwrap().waits_since = None;
            free += u32::from(out.memo[0] == DISCOVERY);
            let hint = match form {
                "label" => out.options.get().map(Hint::Label),
                _ => out.options.get().map(Hint::Steering),
            };
            assert_eq!(out.memo[0] == 0, hint == known, "form {form}");
        }
        // 60 are expected, with a deviation of sqrt(2000 * 0.03 * 0.97) = 7.6.
        assert!(free.abs_diff(60) < 31, "form {form}: {free}");
    }
}

#[test]
fn a_random_value_steers_to_the_path_that_it_found() {
    let mut b = bench(&[("hint", "random"), ("discovery", "0")]);
    let first = b.send();
    let value = first.options.get::<SteeringHint>().unwrap();
    assert_eq!(value.kind, SteeringKind::Random);
    assert_eq!(value, random_value(first.memo[1]));
    b.answer(&first, Some(50), &from(1, Some((8_000_000, 0))));
    assert_eq!(b.send().options.get(), Some(value));
}

#[test]
fn a_label_comes_back_in_fallback_mode() {
    let mut b = bench(&[("hint", "label"), ("discovery", "0")]);
    let first = b.send();
    assert_eq!(first.options.get(), Some(PathLabel::default()), "discovery");
    let mut answer = from(1, Some((8_000_000, 0)));
    let mut label = PathLabel::default();
    label.hop_count = 3;
    answer.set(&label);
    b.answer(&first, Some(50), &answer);
    let label = b.send().options.get::<PathLabel>().unwrap();
    assert_eq!((label.mode(), label.hop_count), (Some(LabelMode::Fallback), 3));
}

#[test]
fn a_nack_lowers_the_rate_of_its_path_and_never_raises_it() {
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 4_000_000), (2, 8_000_000, 4_000_000)]);
    let out = b.send();
    let slot = usize::from((out.lane - 1) / 2);
    let rates = |b: &Bench, slot: usize| b.consumer.paths[slot].as_ref().unwrap().rates;
    b.lose(&out, Cause::Nack(50), &from(77, Some((1_000_000, 5_000_000))));
    assert_eq!(rates(&b, slot), [1e6, 4e6]);
    assert_eq!(rates(&b, 1 - slot), [8e6, 4e6], "the other path is another matter");
    b.lose(&out, Cause::Nack(50), &from(77, Some((9_000_000, 0))));
    assert_eq!(rates(&b, slot), [1e6, 0.0]);
    b.lose(&out, Cause::Nack(50), &HopOptions::new());
    assert_eq!(rates(&b, slot), [1e6, 0.0]);
    assert_eq!(b.consumer.live(b.now).count(), 2, "a Nack is no silence");
}

#[test]
fn a_silent_path_is_forgotten() {
    // After three timeouts in a row.
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 0)]);
    let out = b.send();
    (0..2).for_each(|_| b.lose(&out, Cause::Timeout, &HopOptions::new()));
    b.answer(&out, None, &from(1, Some((8_000_000, 0))));
    (0..2).for_each(|_| b.lose(&out, Cause::Timeout, &HopOptions::new()));
    assert_eq!(b.consumer.live(b.now).count(), 1);
    b.lose(&out, Cause::Timeout, &HopOptions::new());
    assert_eq!(b.consumer.live(b.now).count(), 0);
    assert_eq!(b.send().lane, NO_PATH, "from the beginning");
    // After five round trips of 50 ms: 250 ms is more than the timeout of 50 + 4 * 25 = 150,
    // which is 200 at least. One Interest leaves a second: nothing else is asked for meanwhile.
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8000, 0)]);
    let out = b.send();
    b.now = out.at + Duration(250 * MS);
    assert_eq!(b.consumer.live(b.now).count(), 1);
    b.now = out.at + Duration(251 * MS);
    assert_eq!(b.consumer.live(b.now).count(), 0);
    b.answer(&out, Some(300), &from(1, Some((8000, 0))));
    assert_eq!(b.consumer.live(b.now).count(), 1, "late is not never");
    b.now += Duration::from_secs(1000);
    assert_eq!(b.consumer.live(b.now).count(), 1, "a path that nobody uses is not silent");
}

#[test]
fn hostile_stamps_neither_stop_nor_unleash_a_consumer() {
    // Zero: one Interest a second.
    let mut b = bench(&[]);
    b.find_paths(&[(1, 0, 0)]);
    let (first, second) = (b.send(), b.send());
    assert_eq!(second.at.since(first.at), Duration(1000 * MS - BURST.0));
    // Absent, unreadable or the largest number: a window, that of cubic, which begins with 4
    // segments.
    let mut unreadable = from(1, None);
    unreadable.set_raw(872, &[0xff]);
    for options in [from(1, None), unreadable, from(1, Some((u64::MAX, u64::MAX)))] {
        let mut b = bench(&[]);
        let out = b.send();
        b.answer(&out, Some(50), &options);
        assert_eq!(b.consumer.unstamped.window(), Some(4.0));
    }
    // Nearly infinite: what is in flight is bounded.
    let mut b = bench(&[]);
    b.find_paths(&[(1, u64::MAX - 1, u64::MAX - 1)]);
    assert!(matches!(b.permit(&Much(63_999_000)), Permit::Now(_)));
    assert_eq!(b.permit(&Much(63_999_001)), Permit::Wait);
    // The first stamp takes over.
    let mut b = bench(&[]);
    let out = b.send();
    b.answer(&out, Some(50), &from(1, None));
    b.answer(&out, Some(50), &from(1, Some((8_000_000, 0))));
    assert_eq!(b.consumer.unstamped.window(), None);
    // Once a path is stamped, Data without a stamp (from a store nearby) changes nothing.
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 0)]);
    let out = b.send();
    b.answer(&out, Some(50), &from(1, None));
    assert_eq!(b.consumer.paths[0].as_ref().unwrap().rates, [8e6, 0.0]);
    assert_eq!(b.consumer.ignored, 1);
}

#[test]
fn path_ids_out_of_thin_air_fill_no_memory() {
    let mut b = bench(&[]);
    let out = b.send();
    for id in 0..10_000 {
        b.now += Duration(1);
        b.answer(&out, Some(50), &from(id, Some((8_000, 0))));
    }
    assert_eq!(b.consumer.live(b.now).count(), MOST_PATHS);
    assert!(b.consumer.find(PathId(9_999)).is_some() && b.consumer.find(PathId(0)).is_none());
    b.send();
}

#[test]
fn a_clock_that_goes_back_does_not_stop_a_consumer() {
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 0)]);
    b.send();
    b.now = Time(5 * MS);
    let first = b.send();
    assert!(first.at <= Time(5 * MS) + Duration::from_secs(1), "{:?}", first.at);
    b.now = Time(MS);
    b.send();
    let (second, third) = (b.send(), b.send());
    assert!(third.at.since(second.at) <= Duration(MS), "at its pace again");
}

#[test]
fn data_determines_the_lane_of_its_path() {
    let mut b = bench(&[]);
    b.find_paths(&[(1, 8_000_000, 8_000_000), (2, 8_000_000, 8_000_000)]);
    let options = [from(1, None), from(2, None), from(3, None)];
    let lanes = options.each_ref().map(|options| {
        let arrival = Arrival {
            segment: 0,
            lane: 2,
            memo: [0; 2],
            sent_at: b.now,
            rtt: None,
            size: SEGMENT,
            mark: 0,
            late: false,
            options,
            in_flight: &Nothing,
        };
        b.consumer.came_in(&arrival)
    });
    assert_eq!(lanes, [Some(2), Some(4), None]);
}

/// 8.1e18 bit/s on each of two paths: (4.2) gives the primary class X R_p / sum R_p = MAX_RATE / 2
/// on each, the secondary MAX_RATE on each; of the sum, three times MAX_RATE, a third is left.
#[test]
fn stamps_of_more_than_any_link_carries_are_lowered_and_counted() {
    let mut b = bench(&[]);
    for id in [1, 2] {
        let out = b.send();
        b.answer(&out, Some(10), &from(id, Some((8_097_191_751_105_346_000, u64::MAX - 1))));
    }
    let rates: Vec<_> = b.consumer.rates(b.now).map(|(_, _, rate)| rate).collect();
    let (primary, secondary) = (MAX_RATE.0 as f64 / 6.0, MAX_RATE.0 as f64 / 3.0);
    assert_eq!(rates.len(), 4);
    for (rate, expected) in rates.iter().zip([primary, secondary, primary, secondary]) {
        assert!((rate - expected).abs() < 1.0, "{rate} for {expected}");
    }
    let mut gauges = Vec::new();
    b.consumer.gauges(&mut |lane, name, value| gauges.push((lane, name, value)));
    assert!(gauges.contains(&(NO_PATH, "stamps lowered", 2.0)), "{gauges:?}");
}

/// Of each round trip six of ten Interests are lost: twice that is more than all.
#[test]
fn a_window_holds_beside_stamps_while_most_is_lost_and_until_it_allows_for_more() {
    let mut b = bench(&[("discovery", "0")]);
    let stamp = from(1, Some((8_000_000, 0)));
    b.find_paths(&[(1, 8_000_000, 0)]);
    let mut rounds = 0;
    while b.consumer.unstamped.window().is_none() {
        let outs: Vec<Out> = (0..10).map(|_| b.send()).collect();
        b.now += Duration(50 * MS);
        outs[..6].iter().for_each(|out| b.lose(out, Cause::Gap, &HopOptions::new()));
        outs[6..].iter().for_each(|out| b.answer(out, Some(50), &stamp));
        rounds += 1;
        assert!(rounds < 10);
    }
    // One round trip alone may be an outage.
    assert_eq!(rounds, 2);
    // A window of 4 is less than the 50 segments that 8 Mbit/s are in 50 ms. At 480 kbit/s they are
    // 3, and it has to be half as much again; at 240 kbit/s 1.5.
    for (rate, holds) in [(480_000, true), (240_000, false)] {
        let out = b.send();
        b.answer(&out, Some(50), &from(1, Some((rate, 0))));
        assert_eq!(b.consumer.unstamped.window().is_some(), holds, "{rate}");
    }
}
