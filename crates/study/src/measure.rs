//! A number from a run.

use crate::samples::Samples;
use crate::selector::{RUN, Selector};
use scenario::result::{Field, Flow, Link, Node, RunResult, Value, Workload};
use scenario::series::{Subject, class_label};
use std::ops::Range;

/// A measured number.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name in formulas.
    pub name: String,
    /// Its subject.
    pub of: Selector,
    /// Its quantity.
    pub what: What,
    /// From when on. Of fields of the summary only flows have a time: that at which they began.
    pub from: Bound,
    /// Until when.
    pub to: Bound,
    /// The statistic over a series.
    pub take: Take,
    /// The statistic over several items.
    pub over: Option<Take>,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A field of the run's summary.
    Value(&'static str),
    /// A sampled quantity.
    Series(&'static str),
}

/// An instant of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Seconds from its beginning.
    Seconds(f64),
    /// A share of its duration.
    Share(f64),
    /// When the first of its flows ended.
    FirstEnd,
    /// When the last of its flows ended.
    LastEnd,
}

/// A statistic over several values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// Their mean.
    Mean,
    /// Their standard deviation (of the population).
    Sd,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The smallest value that this share of all values does not exceed.
    Quantile(f64),
    /// The first.
    First,
    /// The last.
    Last,
    /// Their sum.
    Sum,
    /// Their number.
    Count,
    /// Of a series: seconds until it stays within this share of a target.
    Settling {
        /// The target.
        target: f64,
        /// The permitted distance, as a share of the target.
        within: f64,
    },
}

impl Measure {
    /// The unit of its values; empty for counts and words.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match (self.over.unwrap_or(self.take), self.take, self.what) {
            (Take::Count, ..) | (_, Take::Count, _) => "",
            (_, Take::Settling { .. }, _) => "s",
            (_, _, What::Value(field) | What::Series(field)) => report::unit_of(field).1,
        }
    }
}

impl Bound {
    /// In seconds.
    pub(crate) fn at(self, run: &RunResult) -> f64 {
        match self {
            Bound::Seconds(seconds) => seconds,
            Bound::Share(share) => share * run.duration_s,
            Bound::FirstEnd => {
                let ends = run.flows.iter().filter_map(|flow| flow.end_s);
                ends.fold(run.duration_s, f64::min)
            }
            Bound::LastEnd => run.last_end_s(),
        }
    }
}

impl Take {
    /// The statistic of these values; without values `None`, except for sum and count.
    #[must_use]
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let n = values.len() as f64;
        let sum: f64 = values.iter().sum();
        match self {
            Take::Sum => return Some(sum),
            Take::Count => return Some(n),
            _ if values.is_empty() => return None,
            _ => {}
        }
        let mean = sum / n;
        match self {
            Take::Sd => {
                let squares = values.iter().map(|value| (value - mean) * (value - mean));
                Some((squares.sum::<f64>() / n).sqrt())
            }
            Take::Min => values.iter().copied().reduce(f64::min),
            Take::Max => values.iter().copied().reduce(f64::max),
            Take::Quantile(q) => {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                let rank = (q * n).ceil() as usize;
                sorted.get(rank.clamp(1, sorted.len()) - 1).copied()
            }
            Take::First => values.first().copied(),
            Take::Last => values.last().copied(),
            Take::Mean | Take::Settling { .. } | Take::Sum | Take::Count => Some(mean),
        }
    }

    /// Of a series between two instants.
    fn of_series(self, track: &[(f64, f64)], from: f64, to: f64) -> Option<f64> {
        let seen = track.iter().filter(|(time, _)| (from..=to).contains(time));
        let Take::Settling { target, within } = self else {
            return self.of(&seen.map(|(_, value)| *value).collect::<Vec<_>>());
        };
        let mut settled = None;
        for (time, value) in seen {
            let is_out = (value - target).abs() > within * target.abs();
            settled = if is_out { None } else { settled.or(Some(time - from)) };
        }
        settled
    }
}

impl Measure {
    /// Its value in a run; `None` if the run has none.
    ///
    /// # Errors
    /// Several items match, and no statistic is given.
    pub(crate) fn value(&self, run: &RunResult, samples: &Samples) -> Result<Option<f64>, String> {
        let (from, to) = (self.from.at(run), self.to.at(run));
        let (found, values): (usize, Vec<f64>) = match self.what {
            What::Series(quantity) => {
                let tracks = samples.of(&self.of, quantity);
                let all: Vec<_> =
                    tracks.map(|(_, track)| self.take.of_series(track, from, to)).collect();
                (all.len(), all.into_iter().flatten().collect())
            }
            What::Value(field) => {
                let all = self.fields(run, field, &(from..to));
                (all.len(), all.into_iter().flatten().collect())
            }
        };
        match self.over {
            Some(take) if found > 0 || take == Take::Count => Ok(take.of(&values)),
            None if found > 1 => {
                Err(format!("`{}` has {found} values; `over` must combine them", self.name))
            }
            _ => Ok(values.first().copied()),
        }
    }

    fn fields(&self, run: &RunResult, field: &str, span: &Range<f64>) -> Vec<Option<f64>> {
        match self.of.subject {
            Some(Subject::Flow) => run
                .flows
                .iter()
                .filter(|flow| self.of.names(&flow.flow) && span.contains(&flow.start_s))
                .map(|flow| number(Flow::FIELDS, flow.values(), field))
                .collect(),
            Some(Subject::Link) => run
                .links
                .iter()
                .filter(|link| self.of.names(&format!("{} > {}", link.from, link.to)))
                .map(|link| number(Link::FIELDS, link.values(), field))
                .collect(),
            Some(Subject::Node) => run
                .nodes
                .iter()
                .filter(|node| self.of.names(&node.node))
                .map(|node| number(Node::FIELDS, node.values(), field))
                .collect(),
            Some(Subject::Workload) => run
                .workloads
                .iter()
                .filter(|one| self.of.names(&class_label(&one.workload, &one.class)))
                .map(|one| number(Workload::FIELDS, one.values(), field))
                .collect(),
            Some(Subject::Network) => Vec::new(),
            None => {
                let meant = RUN.iter().filter(|(name, _)| *name == field);
                meant.map(|(_, value)| value(run)).collect()
            }
        }
    }
}

fn number(fields: &[Field], values: Vec<Value>, name: &str) -> Option<f64> {
    let place = fields.iter().position(|field| field.name == name)?;
    match values.into_iter().nth(place)? {
        Value::Count(count) => Some(count as f64),
        Value::Number(number) => Some(number),
        Value::Switch(is_so) => Some(f64::from(u8::from(is_so))),
        Value::Nothing | Value::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::flow_samples;

    fn measure(what: What, take: Take, over: Option<Take>) -> Measure {
        Measure {
            name: "m".to_owned(),
            of: Selector::new(Subject::Flow, "c"),
            what,
            from: Bound::Seconds(2.0),
            to: Bound::Share(1.0),
            take,
            over,
        }
    }

    fn run() -> RunResult {
        let flow = |label: &str, start_s: f64, end_s: Option<f64>| Flow {
            flow: label.to_owned(),
            start_s,
            end_s,
            fct_s: end_s.map(|end| end - start_s),
            ..Flow::default()
        };
        RunResult {
            duration_s: 10.0,
            flows: vec![
                flow("c /x", 0.0, Some(9.0)),
                flow("c /y", 3.0, Some(5.0)),
                flow("c /z", 4.0, None),
                flow("cc /x", 5.0, Some(9.5)),
            ],
            ..RunResult::default()
        }
    }

    #[test]
    fn statistics_of_values() {
        let values = [4.0, 1.0, 3.0, 2.0];
        let of = |take: Take| take.of(&values).unwrap();
        assert_eq!([of(Take::Mean), of(Take::Min), of(Take::Max)], [2.5, 1.0, 4.0]);
        assert_eq!([of(Take::First), of(Take::Last), of(Take::Sum)], [4.0, 2.0, 10.0]);
        assert_eq!([of(Take::Quantile(0.5)), of(Take::Quantile(0.9))], [2.0, 4.0]);
        assert!((of(Take::Sd) - 1.25f64.sqrt()).abs() < 1e-12);
        assert_eq!(Take::Mean.of(&[]), None);
        assert_eq!([Take::Count.of(&[]), Take::Sum.of(&[])], [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn series_are_taken_within_their_bounds() {
        let track = [(1.0, 90.0), (2.0, 4.0), (3.0, 8.0), (9.0, 6.0), (11.0, 90.0)];
        let samples = flow_samples("window", &track);
        let of = |take| measure(What::Series("window"), take, None).value(&run(), &samples);
        assert_eq!(of(Take::Mean), Ok(Some(6.0)));
        assert_eq!(of(Take::Max), Ok(Some(8.0)));
        // From 2 s on it is within 15 % of 7 from 3 s on: 8 and 6 are.
        assert_eq!(of(Take::Settling { target: 7.0, within: 0.15 }), Ok(Some(1.0)));
        assert_eq!(of(Take::Settling { target: 9.0, within: 0.15 }), Ok(None));
        let mut none = measure(What::Series("rtt_ms"), Take::Mean, None);
        assert_eq!(none.value(&run(), &samples), Ok(None));
        none.over = Some(Take::Sum);
        assert_eq!(none.value(&run(), &samples), Ok(None), "the sum of nothing is no measurement");
    }

    #[test]
    fn flows_count_by_when_they_began() {
        let of = |over| {
            measure(What::Value("fct_s"), Take::Mean, over).value(&run(), &Samples::default())
        };
        assert_eq!(of(Some(Take::Mean)), Ok(Some(2.0)), "one of two that began is not complete");
        assert_eq!(of(Some(Take::Count)), Ok(Some(1.0)));
        assert!(of(None).unwrap_err().contains("2 values"));
    }

    #[test]
    fn bounds_are_instants() {
        assert_eq!(Bound::Share(0.4).at(&run()), 4.0);
        assert_eq!(Bound::FirstEnd.at(&run()), 5.0);
        assert_eq!(Bound::LastEnd.at(&run()), 10.0, "one did not end");
    }

    #[test]
    fn names_have_parts() {
        let is = |subject, which, label| Selector::new(subject, which).names(label);
        assert!(is(Subject::Flow, "c", "c /x") && is(Subject::Flow, "c /x", "c /x"));
        assert!(!is(Subject::Flow, "c", "cc /x"));
        assert!(is(Subject::Link, "r > *", "r > c") && !is(Subject::Link, "r > *", "rr > c"));
        assert!(!is(Subject::Node, "r > *", "r > c"));
        assert!(is(Subject::Link, "a > b", "a > b") && !is(Subject::Link, "a", "a > b"));
        assert!(is(Subject::Node, "*", "n7"));
    }
}
