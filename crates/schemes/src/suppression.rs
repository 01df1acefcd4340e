//! Suppression of retransmissions that come too fast: NFD's `RetxSuppressionExponential`.
//!
//! An Interest for a pending name is forwarded again only when an interval has passed since it was
//! last forwarded; each such retransmission doubles the interval up to a bound. The interval in
//! force lives in the first word of the strategy's note in the PIT entry.

use control::{Duration, ParamSpec, Params, Time, Value};

/// The parameters, for the tables of the strategies that use it.
pub(crate) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "suppression_initial",
        default: Value::Time(Duration::from_millis(10)),
        range: (1e-6, 60.0),
        help: "how long retransmissions of an Interest are suppressed at first",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_INITIAL_INTERVAL`",
    },
    ParamSpec {
        name: "suppression_max",
        default: Value::Time(Duration::from_millis(250)),
        range: (1e-6, 60.0),
        help: "the longest suppression",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_MAX_INTERVAL`",
    },
    ParamSpec {
        name: "suppression_multiplier",
        default: Value::Number(2.0),
        range: (1.0, 100.0),
        help: "factor of the suppression after each retransmission that was forwarded",
        source: "NFD, `RetxSuppressionExponential::DEFAULT_MULTIPLIER`",
    },
];

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suppression {
    initial: Duration,
    max: Duration,
    multiplier: f64,
}

impl Suppression {
    pub(crate) fn new(params: &Params) -> Suppression {
        let initial = params.time("suppression_initial");
        Suppression {
            initial,
            max: params.time("suppression_max").max(initial),
            multiplier: params.number("suppression_multiplier"),
        }
    }

    /// Must a retransmission wait, when the Interest was last forwarded at `last`?
    pub(crate) fn holds(self, note: &[u64; 2], now: Time, last: Time) -> bool {
        now.since(last) < self.interval(note)
    }

    /// A retransmission is forwarded: the next one has to wait longer.
    pub(crate) fn lengthen(self, note: &mut [u64; 2]) {
        note[0] = self.interval(note).mul_f64(self.multiplier).min(self.max).0;
    }

    /// The Interest is forwarded as a new one.
    pub(crate) fn restart(note: &mut [u64; 2]) {
        note[0] = 0;
    }

    fn interval(self, note: &[u64; 2]) -> Duration {
        if note[0] == 0 { self.initial } else { Duration(note[0]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_doubles_up_to_its_bound() {
        let suppression = Suppression::new(&Params::defaults(PARAMS));
        let mut note = [0; 2];
        let last = Time(1_000_000_000);
        for ms in [10, 20, 40, 80, 160, 250, 250] {
            let end = last + Duration::from_millis(ms);
            assert!(suppression.holds(&note, end - Duration(1), last), "{ms}");
            assert!(!suppression.holds(&note, end, last), "{ms}");
            suppression.lengthen(&mut note);
        }
        Suppression::restart(&mut note);
        assert!(!suppression.holds(&note, last + Duration::from_millis(10), last));
    }
}
