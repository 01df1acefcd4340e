//! The time for which a direction of a link was busy. Daemons do not count it: every byte took its
//! time at the rate of that moment.

use control::{Duration, Rate};
use scenario::model::{FaultKind, Scenario};

/// A direction of a link, from its beginning on.
pub struct Pace {
    /// Its rates, and from when on.
    rates: Vec<(Duration, Rate)>,
    bytes: u64,
    busy: Duration,
}

impl Pace {
    /// Of the direction of this number: two for each link.
    pub fn new(scenario: &Scenario, number: usize) -> Pace {
        let (this, way) = (number / 2, number % 2);
        let mut rates = vec![(Duration::ZERO, scenario.links[this].directions[way].rate)];
        rates.extend(scenario.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::LinkRate { link, direction, rate } => {
                ((link, direction) == (this, way)).then_some((fault.at, rate))
            }
            _ => None,
        }));
        rates[1..].sort_by_key(|(at, _)| *at);
        Pace { rates, bytes: 0, busy: Duration::ZERO }
    }

    /// The rate at an instant.
    pub fn rate(&self, at: Duration) -> Rate {
        let later = self.rates.partition_point(|(from, _)| *from <= at);
        self.rates[later.max(1) - 1].1
    }

    /// Records that this many bytes had been sent by an instant, which is not before the last one;
    /// returns the total sending time.
    pub fn sent(&mut self, at: Duration, bytes: u64) -> Duration {
        let more = bytes.saturating_sub(self.bytes);
        let rate = self.rate(at).0.max(1) as f64;
        self.bytes = bytes;
        self.busy += Duration::from_secs_f64(more as f64 * 8.0 / rate);
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time_at_the_rate_that_there_was() {
        let text = "[scenario]\nduration = \"10 s\"\n[[node]]\nname = [\"a\", \"b\"]\n\
            [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\n[[content]]\nname = \"/x\"\n\
            at = \"b\"\nsize = \"1 MB\"\n[[consumer]]\nat = \"a\"\nname = \"/x\"\n\
            [[fault]]\nat = \"4 s\"\nkind = \"link-rate\"\nlink = [\"b\", \"a\"]\n\
            rate = \"1 Mbit/s\"\n";
        let batch = scenario::parse(text, "x", &[]).unwrap_or_else(|e| panic!("{e}"));
        let (mut there, mut back) =
            (Pace::new(&batch.runs[0].scenario, 0), Pace::new(&batch.runs[0].scenario, 1));
        let second = Duration::from_secs;
        assert_eq!((there.rate(second(5)).0, back.rate(second(5)).0), (8_000_000, 1_000_000));
        assert_eq!(back.sent(second(3), 1_000_000), second(1));
        // A quarter of a megabyte at an eighth of the rate.
        assert_eq!(back.sent(second(6), 1_250_000), second(3));
        assert_eq!(there.sent(second(6), 1_250_000), Duration::from_millis(1250));
    }
}
