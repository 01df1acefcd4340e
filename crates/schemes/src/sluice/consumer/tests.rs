use super::super::{PARAMS, log_rate};
use super::*;
use crate::testing::{Out, Play, SEGMENT};
use packet::HopOptions;
use packet::options::Offer;
use std::collections::VecDeque;

/// The round trip of the path without a queue.
const RTT: Duration = Duration::from_millis(50);

/// A consumer, and a path whose slowest link has a queue.
struct Bench {
    play: Play,
    /// The rate of the slowest link, in bit/s, and the Data that its queue holds.
    rate: f64,
    queue: u64,
    /// The offer on Data.
    offer: Option<f64>,
    /// One of this number of Data is lost by chance.
    loses: Option<u64>,
    /// Answers that are on their way, and losses that will be noticed.
    coming: VecDeque<(Time, Out, bool)>,
    /// The time at which the link has sent all its Data.
    free_at: Time,
    asked: u64,
    /// The number of Interests that state the round trip.
    hinted: u64,
}

/// The counts of a run.
#[derive(Debug, Default)]
struct Came {
    data: u64,
    dropped: u64,
}

impl Bench {
    fn new(rate: f64, queue: u64) -> Bench {
        let consumer = Consumer::new(&Params::defaults(PARAMS));
        let mut play = Play::new(Box::new(consumer));
        play.now = Time(1_000_000_000);
        let (coming, free_at) = (VecDeque::new(), Time::ZERO);
        let (asked, hinted) = (0, 0);
        Bench { play, rate, queue, offer: None, loses: None, coming, free_at, asked, hinted }
    }

    fn service(&self) -> Duration {
        Rate(self.rate as u64).time_for(SEGMENT)
    }

    /// An Interest has left: its Data is queued at the link, or dropped there.
    fn forward(&mut self, out: Out, came: &mut Came) {
        self.asked += 1;
        self.hinted += u64::from(out.ticket.options.get::<RttHint>().is_some());
        let at_link = self.play.now + RTT;
        let waits = self.free_at.max(at_link).since(at_link);
        let is_full = waits.0 > self.service().0 * self.queue;
        let by_chance = self.loses.is_some_and(|nth| self.asked.is_multiple_of(nth));
        if is_full || by_chance {
            came.dropped += u64::from(is_full);
            self.coming.push_back((at_link + waits, out, false));
            return;
        }
        self.free_at = self.free_at.max(at_link) + self.service();
        self.coming.push_back((self.free_at, out, true));
    }

    fn receive(&mut self, came: &mut Came) {
        let Some((_, out, arrives)) = self.coming.pop_front() else { return };
        if !arrives {
            return self.play.lose(&out, Cause::Gap);
        }
        let mut options = HopOptions::new();
        if let Some(rate) = self.offer {
            let mut offers = Offers::new();
            offers.add(Offer { rate: log_rate::code(rate), link: 1 });
            options.set(&offers);
        }
        self.play.options = options;
        came.data += 1;
        self.play.data_of(&out, SEGMENT);
    }

    fn run(&mut self, time: Duration) -> Came {
        let (end, mut came) = (self.play.now + time, Came::default());
        while self.play.now < end {
            let next = self.coming.front().map_or(end, |(at, ..)| *at);
            match self.play.permit(1) {
                Permit::Now(_) => {
                    let out = self.play.ask(1).expect("it is permitted");
                    self.forward(out, &mut came);
                }
                Permit::At(at) if at < next => self.play.now = at,
                _ if next > end => self.play.now = end,
                _ => {
                    self.play.now = next.max(self.play.now);
                    self.receive(&mut came);
                }
            }
        }
        came
    }

    /// The Data of a second at this rate.
    fn full(rate: f64) -> f64 {
        rate / (8.0 * SEGMENT.0 as f64)
    }
}

fn close(found: u64, expected: f64, within: f64) {
    let ratio = found as f64 / expected;
    assert!((ratio - 1.0).abs() <= within, "{found}, not {expected}");
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_offer_is_the_pace_from_the_second_round_trip_on() {
    let mut bench = Bench::new(100e6, 1000);
    bench.offer = Some(20e6);
    bench.run(RTT.mul_f64(3.0));
    // The code of a rate is up to 0.07 % below it; a burst is half a millisecond.
    close(bench.run(SECOND).data, Bench::full(20e6), 0.01);
    bench.offer = Some(60e6);
    bench.run(RTT.mul_f64(2.0));
    close(bench.run(SECOND).data, Bench::full(60e6), 0.01);
}

#[test]
fn the_first_interests_one_of_eight_and_one_in_each_round_trip_state_it() {
    // 312 Interests and 20 round trips in a second; then less than one Interest in a round trip.
    for (rate, first, part) in [(20e6, 64, 1.0 / 8.0), (0.1e6, 1, 1.0)] {
        let mut bench = Bench::new(100e6, 1000);
        bench.offer = Some(rate);
        bench.run(RTT.mul_f64(7.0));
        // Not the first window, which leaves before a round trip is known.
        assert!(bench.hinted >= first, "{} of {}", bench.hinted, bench.asked);
        bench.run(SECOND.mul_f64(60.0));
        let (asked, hinted) = (bench.asked, bench.hinted);
        bench.run(SECOND.mul_f64(20.0));
        let (asked, hinted) = (bench.asked - asked, bench.hinted - hinted);
        assert!(asked > 20, "{asked}");
        close(hinted, asked as f64 * part, 0.05);
    }
}

#[test]
fn random_loss_lowers_no_pace() {
    let mut bench = Bench::new(100e6, 1000);
    (bench.offer, bench.loses) = (Some(20e6), Some(20));
    bench.run(SECOND);
    close(bench.run(SECOND).data, Bench::full(20e6) * 0.95, 0.01);
}

#[test]
fn without_offers_the_model_fills_the_path() {
    let mut bench = Bench::new(20e6, 30);
    bench.run(Duration::from_secs(5));
    // BBR cruises at its bandwidth, and goes down to empty the queue: a tenth is its own matter.
    close(bench.run(Duration::from_secs(5)).data, Bench::full(20e6) * 5.0, 0.1);
}

#[test]
fn when_offers_end_the_model_goes_on_without_a_pause() {
    let mut bench = Bench::new(20e6, 1000);
    bench.offer = Some(20e6);
    bench.run(Duration::from_secs(2));
    // The link becomes slow and stops its offers: the model was far below the pace of the offer.
    (bench.rate, bench.offer) = (2e6, None);
    bench.run(Duration::from_secs(3));
    close(bench.run(Duration::from_secs(5)).data, Bench::full(2e6) * 5.0, 0.2);
}

#[test]
fn an_offer_above_a_link_that_makes_none_gives_way_to_the_model() {
    let mut bench = Bench::new(10e6, 16);
    bench.offer = Some(100e6);
    bench.run(Duration::from_secs(3));
    let came = bench.run(Duration::from_secs(10));
    close(came.data, Bench::full(10e6) * 10.0, 0.15);
    // The pace of the offer would have nine of ten dropped.
    assert!(came.dropped * 10 < came.data, "{came:?}");
}

#[test]
fn the_spacing_of_first_data_shows_a_slower_link() {
    let mut bench = Bench::new(10e6, 16);
    bench.offer = Some(100e6);
    let came = bench.run(Duration::from_secs(3));
    // At the pace of the offer, the first round trip alone would bring 78 Data, and drop 60.
    assert!(came.dropped * 50 < came.data, "{came:?}");
    close(came.data, Bench::full(10e6) * 3.0, 0.2);
}

#[test]
fn first_data_that_come_as_asked_for_leave_the_offer_in_force() {
    let mut bench = Bench::new(100e6, 1000);
    bench.offer = Some(90e6);
    bench.run(RTT.mul_f64(4.0));
    close(bench.run(SECOND).data, Bench::full(90e6), 0.01);
}

#[test]
fn a_silent_link_that_becomes_slower_gets_no_endless_queue() {
    let mut bench = Bench::new(20e6, u64::from(u32::MAX));
    bench.offer = Some(20e6);
    bench.run(Duration::from_secs(2));
    // Nothing is lost: only the time that Data take shows it.
    bench.rate = 5e6;
    bench.run(Duration::from_secs(10));
    let queues: Vec<Duration> = (0..100)
        .map(|_| {
            bench.run(Duration::from_millis(100));
            bench.free_at.since(bench.play.now)
        })
        .collect();
    // At the pace of the offer, 15 of 20 Mbit/s of 20 s would wait: a minute. The model keeps two
    // pipes in flight and some segments, each of which takes a quarter of a pipe. A try of the
    // offer adds a half in at most three round trips: before Data come at its pace, while they are
    // counted, and until the round trip ends. With four in the queue, each of them takes five.
    let most = queues.iter().max().copied().unwrap_or_default();
    let mean = queues.iter().fold(Duration::ZERO, |sum, queue| sum + *queue).mul_f64(0.01);
    assert!(mean < RTT.mul_f64(4.0), "{mean:?}");
    assert!(most < RTT.mul_f64(4.0 + 0.5 * 3.0 * 5.0), "{most:?}");
}

#[test]
fn an_offer_of_everything_brings_no_flood() {
    let mut bench = Bench::new(10e6, 16);
    bench.run(SECOND);
    bench.offer = Some(1e12);
    let (before, came) = (bench.asked, bench.run(RTT.mul_f64(2.0)));
    // A pace of 1e12 bit/s asks for all of an object at once. The limit in flight is 64, and four
    // for each Data of two round trips. A round trip is a pipe and a queue of 16 Data.
    let in_two = Bench::full(10e6) * (2.0 * RTT.as_secs_f64()) + 2.0 * 16.0;
    let most = came.data as f64 + 64.0 + 4.0 * in_two;
    assert!(((bench.asked - before) as f64) < most, "{} of {most}", bench.asked - before);
}

#[test]
fn an_offer_of_nothing_does_not_last_for_ever() {
    let mut bench = Bench::new(20e6, 1000);
    bench.offer = Some(0.0);
    assert!(bench.run(Duration::from_secs(10)).data >= 8, "one Interest a second at least");
    bench.offer = Some(20e6);
    bench.run(Duration::from_secs(3));
    close(bench.run(SECOND).data, Bench::full(20e6), 0.01);
}
