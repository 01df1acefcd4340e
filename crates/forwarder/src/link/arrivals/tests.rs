use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;
const MBIT: f64 = 1e6;

/// A link that brings 1 kB each time, has a queue, and takes 40 ms besides.
struct Line {
    now: Time,
    capacity: f64,
    away: Duration,
    queue: f64,
    meter: ArrivalMeter,
}

impl Line {
    fn new(capacity: f64) -> Line {
        let meter = ArrivalMeter::default();
        Line { now: Time::ZERO, capacity, away: MS(40), queue: 0.0, meter }
    }

    /// Interests ask for so much, in bit/s, at first and by what the meter states then.
    fn ask(&mut self, ms: u64, load: impl Fn(f64) -> f64) {
        let end = self.now + MS(ms);
        while self.now < end {
            let asked = load(self.meter.rate().0 as f64);
            // Data leave a queue at the capacity, and come as they are asked for without one.
            let comes = if self.queue > 0.0 { self.capacity } else { asked.min(self.capacity) };
            let step = Duration::from_secs_f64(8000.0 / comes);
            self.now += step;
            self.queue = (self.queue + (asked - comes) * step.as_secs_f64()).max(0.0);
            let wait = Duration::from_secs_f64(self.queue / self.capacity);
            self.meter.on_data(self.now, self.away + wait, Size(1000));
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
        close(line.stated(), DRAINING * capacity, 0.01);
        // Flows ask for 99 % of what is stated.
        line.ask(5000, kept);
        // The tries of 2 % more fail, and little waits because of them.
        let (stated, wait) = line.means(20_000, kept);
        close(stated, capacity, 0.03);
        assert!(wait < 0.01, "{wait} s");
    }
}

#[test]
fn a_rate_that_changes_is_followed() {
    let mut line = Line::new(20.0 * MBIT);
    let kept = |stated: f64| if stated > 0.0 { 0.99 * stated } else { 30.0 * MBIT };
    line.ask(10_000, kept);
    close(line.stated(), 20.0 * MBIT, 0.25);
    for capacity in [4.0 * MBIT, 20.0 * MBIT] {
        line.capacity = capacity;
        line.ask(15_000, kept);
        close(line.means(10_000, kept).0, capacity, 0.05);
    }
}

#[test]
fn flows_that_ask_for_less_leave_the_rate_as_it_is() {
    let mut line = Line::new(20.0 * MBIT);
    let kept = |stated: f64| if stated > 0.0 { 0.99 * stated } else { 30.0 * MBIT };
    line.ask(10_000, kept);
    let before = line.meter.rate;
    line.ask(20_000, |_| 5.0 * MBIT);
    close(line.stated(), before, 0.05);
}

#[test]
fn a_neighbour_that_is_further_away_than_before_is_no_queue() {
    let mut line = Line::new(20.0 * MBIT);
    let kept = |stated: f64| if stated > 0.0 { 0.99 * stated } else { 30.0 * MBIT };
    line.ask(10_000, kept);
    line.away = MS(140);
    line.ask(20_000, kept);
    close(line.stated(), 20.0 * MBIT, 0.05);
}

#[test]
fn delays_that_vary_are_no_queue() {
    let mut line = Line::new(20.0 * MBIT);
    let mut number = 0_u64;
    for _ in 0..200 {
        // Up to 8 ms for all Data of each tenth of a second.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        line.away = MS(40 + (number >> 61));
        line.ask(100, |_| 10.0 * MBIT);
    }
    let known = line.stated();
    assert!(known == 0.0 || known > 9.0 * MBIT, "{known}");
}

#[test]
fn a_clock_that_goes_back_and_times_of_nothing_are_harmless() {
    let mut line = Line::new(20.0 * MBIT);
    line.ask(3000, |_| 30.0 * MBIT);
    line.now = Time::ZERO;
    line.ask(3000, |_| 10.0 * MBIT);
    for taken in [Duration::ZERO, Duration::MAX] {
        (0..100).for_each(|_| line.meter.on_data(line.now, taken, Size(u64::MAX)));
    }
    line.ask(3000, |_| 10.0 * MBIT);
}
