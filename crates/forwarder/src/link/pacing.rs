//! When a face may send next, and how fast its queue really drains.

use control::{Duration, Rate, Size, Time};

/// Lets packets out at a rate, exactly: what a division leaves over, less than a nanosecond, is
/// carried to the next packet, so that the rate holds over any number of packets.
#[derive(Clone, Debug)]
pub struct Pacer {
    rate: Rate,
    /// How late the driver may call and still catch up. Time in which there was nothing to send
    /// earns nothing: a burst after a pause leaves at the rate too.
    slack: Duration,
    next: Time,
    /// Nanoseconds times the rate, left over by earlier divisions; less than the rate.
    remainder: u64,
}

impl Pacer {
    /// A pacer that lets the first packet out at once.
    #[must_use]
    pub fn new(rate: Rate, slack: Duration) -> Pacer {
        Pacer { rate, slack, next: Time::ZERO, remainder: 0 }
    }

    /// The configured rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Changes the rate. Bytes sent before keep the time of the former rate.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.remainder = 0;
    }

    /// The first instant at which the next packet may leave.
    #[must_use]
    pub fn next(&self) -> Time {
        if self.rate.0 == 0 { Time::MAX } else { self.next }
    }

    /// When the last byte of what leaves at `now` is on the link. Frames that no rate holds back
    /// (acknowledgements, repeated and idle frames) leave after what is leaving, or at once.
    #[must_use]
    pub fn left(&self, now: Time) -> Time {
        let leaving = self.rate.0 > 0 && self.next > now - self.slack;
        if leaving { self.next } else { now }
    }

    /// A packet joined an empty queue: the pause before it is forgotten.
    pub fn on_backlog(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.remainder = 0;
        }
    }

    /// A packet of `size` bytes leaves at `now`, which is not before [`Pacer::next`].
    pub fn on_sent(&mut self, now: Time, size: Size) {
        let base = self.next.max(now - self.slack);
        let (span, remainder) = self.span(size, self.remainder);
        self.remainder = remainder;
        self.next = base + span;
    }

    /// `size` bytes of what left did not take the link's time after all.
    pub fn refund(&mut self, size: Size) {
        self.next = self.next - self.span(size, 0).0;
    }

    /// How long `size` bytes take, and what the division leaves over.
    fn span(&self, size: Size, remainder: u64) -> (Duration, u64) {
        let rate = self.rate.0.max(1);
        // A division of 64 bits takes a tenth of the time of one of 128, and packets fit into it.
        let bits = size.0.checked_mul(8_000_000_000).and_then(|b| b.checked_add(remainder));
        match bits {
            Some(bits) => (Duration(bits / rate), bits % rate),
            None => {
                let bits = u128::from(size.0) * 8_000_000_000 + u128::from(remainder);
                let span = u64::try_from(bits / u128::from(rate)).unwrap_or(u64::MAX);
                (Duration(span), (bits % u128::from(rate)) as u64)
            }
        }
    }
}

/// Measures the rate at which a queue drains while it is never empty.
#[derive(Clone, Debug, Default)]
pub struct DrainMeter {
    since: Option<Time>,
    bytes: u64,
    rate: Rate,
}

/// A sample needs this long a backlog; shorter ones say more about the driver's batches than about
/// the link.
const SAMPLE: Duration = Duration::from_millis(10);

impl DrainMeter {
    /// The measured rate; zero until there was a backlog for long enough.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// A packet joined an empty queue.
    pub fn on_backlog(&mut self, now: Time) {
        self.since = Some(now);
        self.bytes = 0;
    }

    /// A packet left; `empty` says whether it was the last one.
    pub fn on_sent(&mut self, now: Time, size: Size, empty: bool) {
        let Some(since) = self.since else { return };
        self.bytes = self.bytes.saturating_add(size.0);
        let span = now.since(since);
        if span >= SAMPLE {
            let sample = Rate::of(Size(self.bytes), span);
            self.rate = if self.rate == Rate(0) {
                sample
            } else {
                // An average over some eight samples: the gain that RFC 6298 uses for its mean.
                Rate((self.rate.0 - self.rate.0 / 8).saturating_add(sample.0 / 8))
            };
            self.on_backlog(now);
        }
        if empty {
            self.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time(n * 1_000_000)
    }

    #[test]
    fn the_rate_holds_over_any_number_of_packets() {
        // 7 Mbit/s: 1500 bytes take 1714285.714... ns; 7000 of them take 12 s exactly.
        let mut pacer = Pacer::new(Rate::from_mbps(7), Duration::ZERO);
        pacer.on_backlog(Time(0));
        for _ in 0..7000 {
            pacer.on_sent(pacer.next(), Size(1500));
        }
        assert_eq!(pacer.next(), Time(12_000_000_000));
    }

    #[test]
    fn lateness_is_made_up_for_and_idleness_is_not() {
        // 8 Mbit/s: 1000 bytes take 1 ms.
        let mut pacer = Pacer::new(Rate::from_mbps(8), Duration::from_millis(2));
        pacer.on_backlog(ms(0));
        pacer.on_sent(ms(0), Size(1000));
        assert_eq!(pacer.next(), ms(1));
        pacer.on_sent(ms(3), Size(1000));
        assert_eq!(pacer.next(), ms(2), "2 ms late: the next two may leave at once");
        pacer.on_sent(ms(103), Size(1000));
        assert_eq!(pacer.next(), ms(102), "never more than the slack behind");
        pacer.on_backlog(ms(200));
        assert_eq!(pacer.next(), ms(200));
    }

    #[test]
    fn unpaced_packets_leave_behind_the_paced_packets() {
        // 8 Mbit/s: 1000 bytes take 1 ms.
        let mut pacer = Pacer::new(Rate::from_mbps(8), Duration::from_millis(2));
        assert_eq!(pacer.left(ms(50)), ms(50), "nothing is before it");
        pacer.on_backlog(ms(100));
        pacer.on_sent(ms(100), Size(5000));
        assert_eq!(pacer.left(ms(100)), ms(105), "the packet itself");
        assert_eq!(pacer.left(ms(103)), ms(105), "behind the packet");
        assert_eq!(pacer.left(ms(200)), ms(200), "long after it");
        pacer.set_rate(Rate(0));
        assert_eq!(pacer.left(ms(200)), ms(200), "a face that is stopped has acknowledgements");
    }

    #[test]
    fn refunded_bytes_take_no_time() {
        // 8 Mbit/s: 1000 bytes take 1 ms.
        let mut pacer = Pacer::new(Rate::from_mbps(8), Duration::ZERO);
        pacer.on_sent(Time(0), Size(3000));
        pacer.refund(Size(1000));
        assert_eq!(pacer.next(), Time(2_000_000));
        pacer.refund(Size(5000));
        assert_eq!(pacer.next(), Time(0), "time does not begin before its beginning");
    }

    #[test]
    fn a_rate_of_zero_stops_the_face() {
        let pacer = Pacer::new(Rate(0), Duration::ZERO);
        assert_eq!(pacer.next(), Time::MAX);
    }

    #[test]
    fn a_new_rate_counts_from_the_next_packet() {
        let mut pacer = Pacer::new(Rate::from_mbps(8), Duration::ZERO);
        pacer.on_sent(Time(0), Size(1000));
        pacer.set_rate(Rate::from_mbps(16));
        assert_eq!(pacer.next(), Time(1_000_000));
        pacer.on_sent(Time(1_000_000), Size(1000));
        assert_eq!(pacer.next(), Time(1_500_000));
    }

    #[test]
    fn a_size_beyond_any_packet_is_counted_too() {
        // 10^10 bytes at 8 Gbit/s take 10 s.
        let mut pacer = Pacer::new(Rate(8_000_000_000), Duration::ZERO);
        pacer.on_sent(Time(0), Size(10_000_000_000));
        assert_eq!(pacer.next(), Time(10_000_000_000));
    }

    #[test]
    fn drain_rate_counts_backlogged_time_only() {
        let mut meter = DrainMeter::default();
        meter.on_backlog(Time(0));
        // 1000 bytes each millisecond for 10 ms: 8 Mbit/s.
        for i in 1..=10 {
            meter.on_sent(Time(i * 1_000_000), Size(1000), i == 10);
        }
        assert_eq!(meter.rate(), Rate::from_mbps(8));
        meter.on_backlog(Time(5_000_000_000));
        meter.on_sent(Time(5_001_000_000), Size(1000), true);
        assert_eq!(meter.rate(), Rate::from_mbps(8), "a pause is not a slow link");
    }
}
