use super::consumer::Consumer;
use super::link::Reporter;
use super::mark::{Mark, Report};
use super::*;
use crate::testing::{Flying, Play, SEGMENT};
use control::{
    Arrival, Cause, Controller, Cx, DataMeta, LinkView, Marker, Params, PathEstimate, Rate, Rng,
    Size, Time, Verdict,
};
use packet::HopOptions;

fn delay(link: u32, us: u64) -> u64 {
    Mark { count: 1, link, report: Report::Delay(Duration::from_micros(us)) }.encode()
}

fn rate(link: u32, bits: u64) -> u64 {
    Mark { count: 1, link, report: Report::Rate(Rate(bits)) }.encode()
}

#[test]
fn a_mark_has_count_identity_and_value() {
    let mark = Mark { count: 2, link: 7, report: Report::Delay(Duration::from_micros(12_345)) };
    assert_eq!(mark.encode(), 2 << 56 | 7 << 24 | 12_345);
    assert_eq!(Mark::decode(mark.encode()), Some(mark));
    // 5,000,000 bytes a second have 23 bits: 19531 * 2^8, and 19531 * 256 = 4,999,936.
    let mark = Mark { count: 1, link: u32::MAX, report: Report::Rate(Rate(40_000_000)) };
    let number = 1 << 56 | 0xffff_ffff << 24 | 0x80_0000 | 19_531 << 8 | 8;
    assert_eq!(mark.encode(), number);
    let back = Mark { report: Report::Rate(Rate(8 * 4_999_936)), ..mark };
    assert_eq!(Mark::decode(number), Some(back));
    assert_eq!(Mark::decode(1), None, "of an ordinary router");
    let long = Mark { count: 1, link: 0, report: Report::Delay(Duration::from_secs(100)) };
    assert_eq!(long.encode() & 0xff_ffff, 0x7f_ffff, "8.4 s");
    // A rate that no link has does not overflow.
    let hostile = Mark::decode(1 << 56 | 0x80_0000 | 0x7fff << 8 | 255).unwrap();
    assert_eq!(hostile.report, Report::Rate(Rate(u64::MAX)));
}

#[test]
fn the_count_makes_the_later_mark_the_larger_one() {
    let first = Mark { count: 1, link: u32::MAX, report: Report::Rate(Rate(u64::MAX)) }.encode();
    assert!(Mark::counted(first) > first);
    let second = Mark { count: 2, link: 0, report: Report::Delay(Duration::ZERO) }.encode();
    assert!(second > first);
    assert_eq!(Mark::decode(Mark::counted(first)).unwrap().link, u32::MAX);
    let last = Mark { count: 255, link: 1, report: Report::Delay(Duration::ZERO) }.encode();
    assert_eq!(Mark::counted(last), last);
}

/// A link under test, with its dice.
struct Link {
    reporter: Reporter,
    rng: Rng,
}

impl Link {
    fn new(seed: u64) -> Link {
        Link { reporter: Reporter::default(), rng: Rng::stream(seed, &["link"]) }
    }

    /// Data of `bytes` with this mark joins the queue at `ms`, and leaves after `sojourn` ms.
    fn pass(&mut self, ms: u64, bytes: u64, mark: u64, sojourn: u64) -> u64 {
        let (view, mut tap) = (LinkView::default(), |_| {});
        let now = Time::ZERO + Duration::from_millis(ms);
        let mut cx = Cx { now, rng: &mut self.rng, tap: &mut tap };
        let options = HopOptions::default();
        let data = DataMeta { flow: 0, segment: 0, size: Size(bytes), mark, options };
        let verdict = self.reporter.on_enqueue(&mut cx, &view, &data);
        let sojourn = Duration::from_millis(sojourn);
        assert_eq!(self.reporter.on_dequeue(&mut cx, &view, &data, sojourn), Verdict::Pass);
        let Verdict::Mark(mark) = verdict else { panic!("all Data has a mark") };
        mark
    }
}

#[test]
fn each_link_of_the_path_is_as_likely() {
    let mut links = [Link::new(1), Link::new(2), Link::new(3)];
    let mut reports = std::collections::BTreeMap::new();
    for ms in 0..30_000 {
        let mark = links.iter_mut().fold(0, |mark, link| link.pass(ms, 1000, mark, 0));
        let mark = Mark::decode(mark).unwrap();
        assert_eq!(mark.count, 3);
        *reports.entry(mark.link).or_insert(0_u32) += 1;
    }
    // 10,000 each; the standard deviation is 82.
    assert_eq!(reports.len(), 3);
    assert!(reports.values().all(|count| count.abs_diff(10_000) < 410), "{reports:?}");
}

#[test]
fn a_link_reports_the_latest_delay_and_its_rate() {
    let mut link = Link::new(4);
    let (mut delays, mut rates) = (0_u32, Vec::new());
    for ms in 0..10_000 {
        // 1250 bytes a ms are 10 Mbit/s.
        match Mark::decode(link.pass(ms, 1250, 0, ms % 7)).unwrap().report {
            Report::Rate(rate) => rates.push(rate.0),
            Report::Delay(delay) => {
                delays += 1;
                let before = ms.saturating_sub(1) % 7;
                assert_eq!(delay, Duration::from_millis(before), "that of the packet before");
            }
        }
    }
    // 5000; the standard deviation is 50.
    assert!(delays.abs_diff(5000) < 250, "{delays}");
    assert!(rates[..3].contains(&0), "10 kB have not been sent yet");
    // 1,250,000 bytes have 21 bits: 19531 * 2^6 = 1,249,984.
    assert!(rates[20..].iter().all(|rate| *rate == 8 * 1_249_984), "{:?}", &rates[20..30]);
}

/// A consumer with a window of 100 segments of 8000 bytes, of which it uses one.
fn consumer() -> Play {
    let mut consumer = Consumer::new(&Params::defaults(PARAMS));
    let (mut rng, mut tap) = (Rng::stream(0, &[]), |_| {});
    let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
    let rtt_min = Duration::from_millis(100);
    let estimate = PathEstimate { rate: Rate(64_000_000), rtt_min, segment: SEGMENT };
    assert!(consumer.seed(&mut cx, 0, estimate));
    let play = Play::new(Box::new(consumer));
    assert_eq!(play.gauge("window"), 100.0);
    play
}

/// The milliseconds at which Data with this mark, with a round trip of 1 ms, shrinks the window.
fn cuts(play: &mut Play, ms: std::ops::Range<u64>, mark: u64) -> Vec<u64> {
    let mut shrinks = |at: &u64| {
        play.at_ms(*at - 1);
        let out = play.ask(1).expect("one is within the window");
        let before = play.gauge("window");
        play.at_ms(*at);
        play.data(&out, mark);
        play.gauge("window") < before
    };
    ms.filter(|at| shrinks(at)).collect()
}

#[test]
fn marks_follow_codel_for_a_link() {
    let mut play = consumer();
    // A rate of which the consumer has more than all: each mark of CoDel's is congestion.
    cuts(&mut play, 999..1000, rate(5, 8000));
    // Above since 1000; after 1100, at 1101; then 100 / sqrt(2) = 70.71 after 1100: 1170.71; then
    // 100 / sqrt(3) = 57.74: 1228.45; then 50: 1278.45.
    assert_eq!(cuts(&mut play, 1000..1300, delay(5, 5001)), [1101, 1171, 1229, 1279]);
    // 100 halved four times.
    assert_eq!(play.gauge("window"), 6.25);
    assert_eq!(cuts(&mut play, 1300..1301, delay(5, 5000)), [], "5 ms end it");
    assert_eq!(cuts(&mut play, 1301..1403, delay(5, 6000)), [1402], "it begins again");
}

#[test]
fn each_link_has_a_state_of_its_own() {
    let mut play = consumer();
    cuts(&mut play, 998..999, rate(5, 8000));
    cuts(&mut play, 999..1000, rate(6, 8000));
    assert_eq!(cuts(&mut play, 1000..1060, delay(5, 6000)), []);
    assert_eq!(cuts(&mut play, 1060..1150, delay(6, 6000)), [], "90 ms of the second link");
    assert_eq!(cuts(&mut play, 1150..1151, delay(5, 6000)), [1150], "150 ms of the first");
}

#[test]
fn a_link_without_a_rate_marks_nothing() {
    let mut play = consumer();
    assert_eq!(cuts(&mut play, 1000..1500, delay(5, 6000)), []);
}

/// Returns `true` if CoDel's first mark is congestion, with these dice, for a flow with a window of
/// 100 segments of 8000 bytes in 100 ms, 64 Mbit/s, on a link of this rate.
fn is_congestion(dice: u64, bits: u64) -> bool {
    let mut consumer = Consumer::new(&Params::defaults(PARAMS));
    let (mut rng, mut tap) = (Rng::stream(dice, &[]), |_| {});
    let mut cx = Cx { now: Time(0), rng: &mut rng, tap: &mut tap };
    let (options, rtt) = (HopOptions::default(), Duration::from_millis(100));
    let estimate = PathEstimate { rate: Rate(64_000_000), rtt_min: rtt, segment: SEGMENT };
    consumer.seed(&mut cx, 0, estimate);
    for (ms, mark) in [(1000, rate(5, bits)), (1001, delay(5, 6000)), (1102, delay(5, 6000))] {
        cx.now = Time::ZERO + Duration::from_millis(ms);
        let arrival = Arrival {
            segment: 0,
            lane: 0,
            memo: [0; 2],
            sent_at: cx.now - rtt,
            rtt: Some(rtt),
            size: SEGMENT,
            mark,
            late: false,
            options: &options,
            in_flight: &Flying(0),
        };
        consumer.on_data(&mut cx, &arrival);
    }
    let mut window = 0.0;
    consumer.gauges(&mut |_, _, value| window = value);
    window == 50.0
}

#[test]
fn a_mark_is_congestion_by_the_flows_share() {
    let congestions =
        |bits| (0..4000).filter(|dice| is_congestion(*dice, bits)).count().cast_signed();
    assert_eq!(congestions(64_000_000), 4000, "all of the link's rate");
    // A quarter of the rate, 1000 of 4000; the standard deviation is 27.
    let quarter = congestions(256_000_000);
    assert!((quarter - 1000).abs() < 137, "{quarter}");
}

#[test]
fn slow_start_ends_at_a_queue_of_a_hundred_segments() {
    let start = |us| {
        let mut play = Play::new(Box::new(Consumer::new(&Params::defaults(PARAMS))));
        cuts(&mut play, 999..1000, rate(5, 1_000_000_000));
        cuts(&mut play, 1000..1020, 0);
        let before = play.gauge("window");
        (before, cuts(&mut play, 1020..1021, delay(5, us)), play.gauge("window"))
    };
    // 6.4 ms at 1 Gbit/s are 800 kB, 100 segments; the mark rounds the rate down a little.
    let (before, cut, after) = start(6500);
    assert_eq!((cut, after), (vec![1020], before / 2.0));
    let (_, cut, _) = start(6300);
    assert_eq!(cut, []);
}

#[test]
fn ordinary_marks_cut_once_a_round_trip_and_losses_too() {
    let mut play = consumer();
    let outs: Vec<_> = (0..6).map(|_| play.ask(1).unwrap()).collect();
    play.now += play.ms(10);
    for out in &outs[..3] {
        play.data(out, 1);
        assert_eq!(play.gauge("window"), 50.0);
    }
    let mut play = consumer();
    let outs: Vec<_> = (0..6).map(|_| play.ask(1).unwrap()).collect();
    play.now += play.ms(10);
    for out in &outs[..3] {
        play.lose(out, Cause::Gap);
        assert_eq!(play.gauge("window"), 50.0);
    }
}

#[test]
fn links_without_number_are_forgotten() {
    let mut play = consumer();
    for link in 0..10_000 {
        let at = u64::from(link) + 1;
        cuts(&mut play, at..at + 1, delay(link, 6000));
    }
    // The delay of link 9999 is remembered: CoDel begins with its rate, at 10,001. Link 0 is
    // forgotten: CoDel begins with its next delay.
    cuts(&mut play, 10_001..10_002, rate(9999, 8000));
    assert_eq!(cuts(&mut play, 10_002..10_110, delay(9999, 6000)), [10_102]);
    cuts(&mut play, 20_001..20_002, rate(0, 8000));
    assert_eq!(cuts(&mut play, 20_002..20_110, delay(0, 6000)), [20_103]);
}
