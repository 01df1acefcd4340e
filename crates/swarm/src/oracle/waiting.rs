//! The longest delay of packets, and the slowest acceptable consumer.

/// A path there and back, by its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Way {
    /// Propagation both ways.
    pub round_trip: f64,
    /// The longest delay of a packet in both directions: full queues at the smallest rates of
    /// links, its own transmission, jitter and reordering.
    pub waits: f64,
    /// The probability that an Interest, or its Data, is lost by a wire, in the long run.
    pub loss: f64,
    /// The same while wires that lose in bursts do so.
    pub worst: f64,
}

/// A consumer repeats a lost Interest after at most this time: the default InterestLifetime of NDN,
/// after which no Data can arrive.
const LIFETIME: f64 = 4.0;

/// A run of losses of smaller probability does not happen in the campaigns: 1e-9 is a thousand
/// times less than one in all segments of a thousand scenarios.
const NEVER: f64 = 1e-9;

/// With a higher loss, no number of attempts is enough.
const MOST: f64 = 0.99;

/// The number of attempts of which at least one succeeds, but for one time in 1e9.
#[must_use]
pub fn attempts(loss: f64) -> f64 {
    if loss > MOST {
        return f64::INFINITY;
    }
    // Not by logarithms, whose last bit differs between platforms.
    let (mut attempts, mut chance) = (1.0, loss);
    while chance > NEVER {
        (attempts, chance) = (attempts + 1.0, chance * loss);
    }
    attempts
}

impl Way {
    /// The longest round trip: all queues are full.
    #[must_use]
    pub fn longest(&self) -> f64 {
        self.round_trip + self.waits
    }

    /// The longest time between two Interests for a segment: a timeout. It is at most three longest
    /// round trips (RFC 6298: SRTT + 4 RTTVAR, where RTTVAR is at most half of SRTT), and at least
    /// the lifetime of Interests.
    #[must_use]
    pub fn timeout(&self) -> f64 {
        LIFETIME.max(3.0 * self.longest())
    }

    /// The longest without progress for a consumer whose packets queues drop too, with a
    /// probability of `others`.
    #[must_use]
    pub fn silence(&self, others: f64) -> f64 {
        let loss = 1.0 - (1.0 - self.worst) * (1.0 - others);
        attempts(loss) * (self.timeout() + self.longest())
    }

    /// The longest time without progress after the path works again and its queues are empty:
    /// attempts until one is not lost on a wire, and two more for queues that returning consumers
    /// fill together.
    #[must_use]
    pub fn recovery(&self) -> f64 {
        (attempts(self.worst) + 2.0) * (self.timeout() + self.longest())
    }

    /// The time of `segments` by stop and wait: one Interest at a time, each answered after the
    /// longest round trip, and a time-out for each loss.
    #[must_use]
    pub fn stop_and_wait(&self, segments: f64) -> f64 {
        let losses = segments * self.loss / (1.0 - self.loss).max(f64::MIN_POSITIVE);
        // Losses by chance: the mean, and six standard deviations of that many.
        let losses = losses + 6.0 * losses.sqrt();
        segments * self.longest() + losses * self.timeout()
    }

    /// Returns `true` if an answer can arrive within the Interest's lifetime even through full
    /// queues.
    #[must_use]
    pub fn is_within_lifetime(&self) -> bool {
        self.longest() < LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_the_logarithm_of_what_never_happens() {
        assert_eq!((attempts(0.0), attempts(0.2), attempts(0.5)), (1.0, 13.0, 30.0));
        assert!(attempts(1.0).is_infinite());
    }

    #[test]
    fn stop_and_wait_by_hand() {
        let way = Way { round_trip: 0.1, waits: 0.1, loss: 0.0, worst: 0.0 };
        assert!((way.stop_and_wait(50.0) - 10.0).abs() < 1e-9);
        // One in five lost: 100 losses for 400 segments, and 60 for chance, 4 s each.
        let way = Way { loss: 0.2, ..way };
        assert!((way.stop_and_wait(400.0) - (80.0 + 160.0 * 4.0)).abs() < 1e-6);
        assert!(way.is_within_lifetime());
        // One attempt and two more, each 4 s and a round trip.
        assert!((way.recovery() - 3.0 * 4.2).abs() < 1e-9);
        // Half is dropped: 30 attempts.
        assert!((way.silence(0.5) - 30.0 * 4.2).abs() < 1e-9);
        assert!(!Way { waits: 5.0, ..way }.is_within_lifetime());
    }
}
