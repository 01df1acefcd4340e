//! The difference between two sets of values of one quantity.

use super::observed::Measured;
use scenario::Mean;
use serde::Serialize;

/// The main quantities: by these [`Difference::beyond`] decides whether two runs agree.
const MAIN: &[(&str, &str)] = &[
    ("network", "goodput_mbps"),
    ("network", "fct_s"),
    ("flow", "goodput_mbps"),
    ("flow", "fct_s"),
    ("workload", "goodput_mean_mbps"),
    ("workload", "fct_mean_s"),
    ("link", "queue_mean_bytes"),
];

/// Shares, with a resolution of one percentage point.
const SHARES: &[&str] = &["utilization", "delivery_ratio", "hit_ratio", "jain_index"];

/// How runs of the two folders belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Their seeds are the same: of the differences of the pairs, by Student's t.
    Paired,
    /// They are not: of two samples with variances of their own, by Welch.
    Welch,
    /// One of them has a single run: there is no interval.
    Single,
}

/// A quantity of a thing in both folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// `network`, `flow`, `workload`, `link` or `node`.
    pub kind: &'static str,
    /// The item, as in the series.
    pub entity: String,
    /// The field's name, as in the summary.
    pub quantity: &'static str,
    /// It is one of those that decide whether the two agree.
    pub main: bool,
    /// The mean over the runs of the first folder in which it applies.
    pub first: Option<Mean>,
    /// The same of the second.
    pub second: Option<Mean>,
    /// The second less the first.
    pub difference: Option<Mean>,
    /// The difference as a share of the first; `None` if that is zero.
    pub share: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub share_ci95: Option<f64>,
    /// It has a value in some runs of one folder and not in those of the other.
    pub missing: bool,
    /// The resolution of the quantity, in its unit.
    pub resolution: f64,
    /// It exceeds the tolerance and the resolution, or a value is missing.
    pub beyond: bool,
}

/// A quantity of both folders, run by run; of pairs, in the same order.
pub struct Values<'v> {
    /// The thing.
    pub kind: &'static str,
    /// The field.
    pub of: Measured,
    /// A value, or none, for each run.
    pub values: [&'v [Option<f64>]; 2],
    /// Bytes of a packet of the thing, if it is a link.
    pub packet: f64,
}

impl Values<'_> {
    /// The difference; `None` if no run has a value.
    pub fn difference(&self, entity: &str, method: Method, within: f64) -> Option<Difference> {
        let there = self.values.map(|side| side.iter().flatten().copied().collect::<Vec<f64>>());
        let [first, second] = [&there[0], &there[1]].map(|values| Mean::of(values));
        if first.is_none() && second.is_none() {
            return None;
        }
        let Measured { quantity, is_count, .. } = self.of;
        let difference = match method {
            Method::Paired => {
                let pairs = self.values[0].iter().zip(self.values[1]);
                let pairs: Vec<(f64, f64)> = pairs.filter_map(|(a, b)| (*a).zip(*b)).collect();
                Mean::of_pairs(&pairs)
            }
            Method::Welch | Method::Single => Mean::apart(&there[0], &there[1]),
        };
        let whole = first.map(|mean| mean.mean.abs()).filter(|whole| *whole > 0.0);
        let share = difference.zip(whole).map(|(difference, whole)| difference.times(1.0 / whole));
        let resolution = self.resolution(quantity, is_count);
        let allowed = (within * whole.unwrap_or(0.0)).max(resolution);
        // A difference exactly at the limit must not depend on rounding.
        let is_far = difference.is_some_and(|one| one.mean.abs() > allowed * (1.0 + 1e-9));
        let missing = self.is_missing(method);
        Some(Difference {
            kind: self.kind,
            entity: entity.to_owned(),
            quantity,
            main: MAIN.contains(&(self.kind, quantity)),
            first,
            second,
            difference,
            share: share.map(|share| share.mean),
            share_ci95: share.and_then(|share| share.ci95),
            missing,
            resolution,
            beyond: missing || is_far,
        })
    }

    /// It has a value in some runs of one folder and not in those of the other.
    fn is_missing(&self, method: Method) -> bool {
        let [first, second] = self.values;
        if method == Method::Paired {
            return first.iter().zip(second).any(|(a, b)| a.is_some() != b.is_some());
        }
        let [of_first, of_second] = self.values.map(|side| side.iter().flatten().count());
        of_first * second.len() != of_second * first.len()
    }

    /// Smaller differences mean nothing, whatever their share: a queue consists of whole packets,
    /// and counts are whole numbers.
    fn resolution(&self, quantity: &str, is_count: bool) -> f64 {
        match quantity {
            _ if self.kind == "link" && quantity.starts_with("queue_") => self.packet,
            _ if SHARES.contains(&quantity) => 0.01,
            _ if is_count => 1.0,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'v>(
        (kind, quantity): (&'static str, &'static str),
        first: &'v [Option<f64>],
        second: &'v [Option<f64>],
    ) -> Values<'v> {
        let of = Measured { quantity, is_count: quantity == "drops", value: None };
        Values { kind, of, values: [first, second], packet: 1000.0 }
    }

    fn found(values: &Values<'_>, method: Method, within: f64) -> Difference {
        values.difference("x", method, within).unwrap()
    }

    const GOODPUT: (&str, &str) = ("flow", "goodput_mbps");
    const QUEUE: (&str, &str) = ("link", "queue_mean_bytes");

    #[test]
    fn pairs_have_a_narrower_interval_than_samples() {
        let (first, second) = ([1.0, 2.0, 3.0].map(Some), [2.0, 3.1, 3.9].map(Some));
        let of = values(GOODPUT, &first, &second);
        // Differences 1, 1.1, 0.9: standard error 0.057735, t(2) = 4.303; a half of the mean 2.
        let paired = found(&of, Method::Paired, 0.05);
        assert!((paired.difference.unwrap().ci95.unwrap() - 0.24843).abs() < 1e-5);
        assert!((paired.share.unwrap() - 0.5).abs() < 1e-9);
        assert!((paired.share_ci95.unwrap() - 0.124_217).abs() < 1e-5);
        // Variances 1 and 0.91, of the means 0.33333 and 0.30333: standard error 0.79792;
        // 0.40535 / (0.05556 + 0.04601) = 3.99 degrees of freedom, rounded down 3; t(3) = 3.182.
        let welch = found(&of, Method::Welch, 0.05);
        assert!((welch.difference.unwrap().ci95.unwrap() - 2.53898).abs() < 1e-4);
        assert!(paired.beyond && welch.beyond && paired.main);
        let one = values(GOODPUT, &first[..1], &second[..1]);
        assert_eq!(found(&one, Method::Single, 0.05).difference.unwrap().ci95, None);
    }

    #[test]
    fn the_tolerance_is_a_share_of_the_first_value() {
        let beyond = |a: f64, b: f64| {
            found(&values(GOODPUT, &[Some(a)], &[Some(b)]), Method::Single, 0.05).beyond
        };
        assert!(!beyond(10.0, 10.5) && !beyond(10.0, 9.5), "exactly as much as it may be");
        assert!(beyond(10.0, 10.51) && beyond(10.0, 9.49));
        assert!(beyond(0.0, 0.1), "nothing came, and something");
        assert!(!beyond(0.0, 0.0));
    }

    #[test]
    fn differences_below_the_resolution_do_not_count() {
        let beyond = |what, a: f64, b: f64| {
            found(&values(what, &[Some(a)], &[Some(b)]), Method::Single, 0.05).beyond
        };
        // Packets of 1000 bytes: less than one of them in the queue, and more than one more.
        assert!(!beyond(QUEUE, 0.0, 300.0) && beyond(QUEUE, 0.0, 1300.0));
        assert!(!beyond(QUEUE, 40_000.0, 41_900.0) && beyond(QUEUE, 40_000.0, 42_100.0));
        let drops = ("link", "drops");
        assert!(!beyond(drops, 0.0, 1.0) && beyond(drops, 0.0, 2.0));
        let used = ("link", "utilization");
        assert!(!beyond(used, 0.001, 0.002) && beyond(used, 0.10, 0.12));
    }

    #[test]
    fn values_of_only_one_result_are_a_difference() {
        let fct = ("flow", "fct_s");
        let (both, one) = ([Some(2.0), Some(2.0)], [Some(2.0), None]);
        let paired = found(&values(fct, &both, &one), Method::Paired, 0.05);
        assert!(paired.beyond && paired.missing && paired.share == Some(0.0));
        assert!(found(&values(fct, &both, &one), Method::Welch, 0.05).beyond);
        assert!(!found(&values(fct, &one, &one), Method::Paired, 0.05).beyond);
        let never = found(&values(fct, &both, &[None, None]), Method::Paired, 0.05);
        assert!(never.beyond && never.difference.is_none() && never.second.is_none());
        assert_eq!(values(fct, &[None], &[None]).difference("x", Method::Single, 0.05), None);
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        let queue = found(&values(QUEUE, &[Some(0.0)], &[Some(5.0)]), Method::Single, 0.05);
        assert_eq!((queue.share, queue.difference.map(|d| d.mean)), (None, Some(5.0)));
    }
}
