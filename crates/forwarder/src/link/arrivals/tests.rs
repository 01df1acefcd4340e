use super::*;
use control::Rng;

const MS: fn(u64) -> Duration = Duration::from_millis;
const MBIT: f64 = 1e6;

/// A link that brings 1 kB each time, has a queue, and takes 40 ms besides.
struct Line {
    now: Time,
    capacity: f64,
    away: Duration,
    queue: f64,
    /// Bits that were asked for and for which no Interest has left yet.
    owed: f64,
    /// The part of Interests that get no answer.
    dead: f64,
    /// The part of Data that is lost, and the longest time that one is delayed by chance.
    loss: f64,
    jitter: Duration,
    rng: Rng,
    meter: ArrivalMeter,
}

impl Line {
    fn new(capacity: f64) -> Line {
        Line {
            now: Time::ZERO,
            capacity,
            away: MS(40),
            queue: 0.0,
            owed: 0.0,
            dead: 0.0,
            loss: 0.0,
            jitter: Duration::ZERO,
            rng: Rng::stream(1, &["line"]),
            meter: ArrivalMeter::default(),
        }
    }

    /// Interests ask for so much, in bit/s, by what the meter states.
    fn ask(&mut self, ms: u64, load: impl Fn(f64) -> f64) {
        let end = self.now + MS(ms);
        while self.now < end {
            let all = load(self.stated());
            let asked = all * (1.0 - self.dead);
            // Data leave a queue at the capacity, and come as they are asked for without one.
            let comes = if self.queue > 0.0 { self.capacity } else { asked.min(self.capacity) };
            let step = Duration::from_secs_f64(8000.0 / comes);
            self.now += step;
            self.owed += all * step.as_secs_f64();
            while self.owed >= 8000.0 {
                self.owed -= 8000.0;
                self.meter.on_interest();
            }
            self.queue = (self.queue + (asked - comes) * step.as_secs_f64()).max(0.0);
            let wait = Duration::from_secs_f64(self.queue / self.capacity);
            let chance = self.jitter.mul_f64(self.rng.unit());
            if !self.rng.chance(self.loss) {
                self.meter.on_data(self.now, Some(self.away + wait + chance), Size(1000));
            }
        }
    }

    /// Means over so long of the stated rate and of the wait, in s.
    fn means(&mut self, ms: u64, load: impl Fn(f64) -> f64) -> (f64, f64) {
        let (mut stated, mut wait) = (0.0, 0.0);
        for _ in 0..ms / 100 {
            self.ask(100, &load);
            stated += self.stated();
            wait += self.queue / self.capacity;
        }
        (stated / (ms / 100) as f64, wait / (ms / 100) as f64)
    }

    fn stated(&self) -> f64 {
        self.meter.rate().0 as f64
    }
}

/// Flows that ask for 99 % of what is stated, and for more than the link has before.
fn kept(stated: f64) -> f64 {
    if stated > 0.0 { 0.99 * stated } else { 30.0 * MBIT }
}

fn close(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found}, not {expected}");
}

#[test]
fn a_link_that_was_never_full_has_no_known_rate() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, |_| 19.0 * MBIT);
    assert_eq!(line.stated(), 0.0);
}

#[test]
fn the_rate_of_a_full_link_is_what_it_brings_and_its_queue_empties() {
    for capacity in [1.0 * MBIT, 20.0 * MBIT, 900.0 * MBIT] {
        let mut line = Line::new(capacity);
        let kept = |stated: f64| if stated > 0.0 { 0.99 * stated } else { 1.3 * capacity };
        while line.stated() == 0.0 {
            line.ask(10, kept);
        }
        assert!(line.queue > 0.02 * capacity, "20 ms wait");
        // An eighth of what is asked for too much in the first period counts as lost.
        close(line.stated(), DRAINING * capacity, 0.3 / 8.0);
        line.ask(5000, kept);
        // The tries of 2 % more fail. No more waits than what they ask for too much in three
        // periods, and the Data that just comes.
        let (stated, wait) = line.means(20_000, kept);
        close(stated, capacity, 0.03);
        let of_one = 8000.0 / capacity;
        let period = (f64::from(FEWEST) * of_one).max(0.1);
        assert!(wait < 3.0 * STEP * period + of_one, "{wait} s");
    }
}

#[test]
fn a_rate_that_changes_is_followed() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    for capacity in [4.0 * MBIT, 20.0 * MBIT] {
        line.capacity = capacity;
        line.ask(15_000, kept);
        close(line.means(10_000, kept).0, capacity, 0.05);
    }
}

#[test]
fn flows_that_ask_for_less_leave_the_rate_as_it_is() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    let before = line.meter.rate;
    line.ask(20_000, |_| 5.0 * MBIT);
    close(line.stated(), before, 0.05);
}

#[test]
fn a_neighbour_that_is_further_away_than_before_is_no_queue() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    line.away = MS(140);
    line.ask(20_000, kept);
    close(line.means(5000, kept).0, 20.0 * MBIT, 0.05);
}

/// Lost Data take the link's time as others do, and each estimate would lose them again.
#[test]
fn the_rate_of_a_link_that_loses_data_is_that_of_the_asked_ones() {
    for loss in [0.02, 0.05, 0.2] {
        let mut line = Line::new(20.0 * MBIT);
        line.loss = loss;
        line.ask(30_000, kept);
        // A period has 250 Data, of which chance takes 1 to 3 % more or less.
        close(line.means(60_000, kept).0, 20.0 * MBIT, 0.05);
    }
}

/// Half of the Interests are for names that are nowhere, and then none.
#[test]
fn interests_without_answers_do_not_fill_the_link_for_ever() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    line.dead = 0.5;
    line.ask(20_000, kept);
    line.dead = 0.0;
    // The queue has 30 Mbit/s too much for eight periods, and then a fifth of 20 Mbit/s to empty.
    line.ask(10_000, kept);
    let (stated, wait) = line.means(10_000, kept);
    close(stated, 20.0 * MBIT, 0.05);
    assert!(wait < 0.01, "{wait} s");
}

/// The neighbour answers a hundredth of the Interests.
#[test]
fn a_link_that_loses_nearly_all_has_no_more_than_twice_the_rate_of_what_it_brings() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    line.loss = 0.99;
    let load = |stated: f64| kept(stated).min(10.0 * MBIT);
    line.ask(1_000_000, load);
    assert_eq!(line.queue, 0.0);
    line.capacity = 5.0 * MBIT;
    line.ask(1_000_000, load);
    assert!(line.stated() <= 2.0 * 0.05 * MBIT, "{}", line.stated());
}

#[test]
fn delays_that_vary_are_no_queue() {
    for jitter in [MS(2), MS(10), MS(40)] {
        let mut line = Line::new(20.0 * MBIT);
        line.jitter = jitter;
        line.ask(10_000, kept);
        let (stated, _) = line.means(60_000, kept);
        close(stated, 20.0 * MBIT, 0.05);
        line.ask(20_000, |_| 2.0 * MBIT);
        close(line.means(10_000, |_| 2.0 * MBIT).0, 20.0 * MBIT, 0.05);
    }
}

/// All Data of a second are late together, by up to 8 ms. The rate is never less than what is asked
/// for.
#[test]
fn delays_that_vary_for_all_data_are_no_queue() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    for load in [19.0 * MBIT, 2.0 * MBIT] {
        for _ in 0..100 {
            line.away = MS(40) + MS(8).mul_f64(line.rng.unit());
            line.ask(1000, |stated| load.min(kept(stated)));
        }
        // A period has 237 Data of the first load, and may miss one.
        assert!(line.meter.rate > 19.0 * MBIT * 236.0 / 237.0, "{}", line.meter.rate);
        assert!(line.meter.rate < 20.0 * MBIT * 1.05, "{}", line.meter.rate);
    }
}

#[test]
fn a_neighbour_that_lies_about_its_time_has_no_more_than_its_link() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(10_000, kept);
    for _ in 0..300 {
        // The times are by chance, from none at all to the longest.
        line.away = Duration(line.rng.next_u64() >> (line.rng.next_u64() % 64));
        line.ask(100, kept);
    }
    let (stated, queue) = (line.stated(), line.queue);
    assert!(stated > 0.5 * MBIT && stated < 100.0 * MBIT, "{stated}, {queue}");
    line.away = MS(40);
    line.ask(60_000, kept);
    close(line.means(10_000, kept).0, 20.0 * MBIT, 0.05);
}

#[test]
fn a_clock_that_goes_back_and_times_of_nothing_do_not_stop_it() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(3000, kept);
    line.now = Time::ZERO;
    line.ask(3000, kept);
    for taken in [None, Some(Duration::ZERO), Some(Duration::MAX)] {
        (0..100).for_each(|_| line.meter.on_data(line.now, taken, Size(u64::MAX)));
        (0..100).for_each(|_| line.meter.on_nack());
    }
    line.ask(60_000, kept);
    close(line.means(10_000, kept).0, 20.0 * MBIT, 0.05);
}
