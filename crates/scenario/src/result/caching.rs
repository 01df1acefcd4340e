//! The effect of content stores, before and after their warm-up.

use super::described::record;
use super::number::digits;
use crate::model::{Scenario, Warmup};
use crate::warmup;
use control::{Duration, Since, Time};
use record::{Answers, StoreSample};
use serde::{Deserialize, Serialize};

/// The effect of content stores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Caching {
    /// `mser-5` if the end of the warm-up was looked for, `given` if the scenario says it.
    pub warmup_rule: String,
    /// True if the end was found. Otherwise the run is too short, and all of it counts as warm-up.
    pub warmup_detected: bool,
    /// The end of the warm-up.
    pub warmup_end_s: f64,
    /// The whole run.
    pub whole: Hits,
    /// Until the end of the warm-up.
    pub before: Hits,
    /// From the end of the warm-up on.
    pub after: Hits,
    /// The nodes with a content store, from the end of the warm-up on; in the whole run if it was
    /// not found.
    pub nodes: Vec<NodeHits>,
}

record! {
    /// Answers by their place.
    pub struct Hits {
        /// Interests that content stores answered.
        pub hits: u64,
        /// Packets that producers sent.
        pub served: u64,
        /// Hits, as a share of both: the share of all answers that came from a content store.
        pub hit_ratio: Option<f64>,
    }
}

record! {
    /// The answers of a node's content store.
    pub struct NodeHits {
        /// The node.
        pub node: String,
        /// Interests that it answered.
        pub hits: u64,
        /// Interests that it did not.
        pub misses: u64,
        /// Hits, as a share of both.
        pub hit_ratio: Option<f64>,
    }
}

/// Samples of a run, whatever its length.
const SAMPLES: usize = 500;
/// So many counts are kept at most; a network with very many nodes is sampled less often.
const COUNTS: usize = 2_000_000;

/// The interval of samples, and how many there are; `None` if no node has a content store.
#[must_use]
pub fn sampling(scenario: &Scenario) -> Option<(Duration, usize)> {
    scenario.has_stores().then(|| {
        if let Warmup::Until(end) = scenario.warmup {
            // The counts at the beginning and at this time are sufficient.
            return (end, 2);
        }
        let most = (COUNTS / scenario.nodes.len().max(1)).clamp(2 * warmup::BATCH, SAMPLES);
        (Duration(scenario.duration.0.div_ceil(most as u64).max(1)), most + 1)
    })
}

impl Caching {
    /// The answers after the warm-up; of the whole run if its end was not found.
    #[must_use]
    pub fn settled(&self) -> &Hits {
        if self.warmup_detected { &self.after } else { &self.whole }
    }

    /// The effect in a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [whole, before, after] =
            [&self.whole, &self.before, &self.after].map(|hits| match hits.hit_ratio {
                Some(ratio) => format!("{} %", digits(100.0 * ratio)),
                None => "nothing".to_owned(),
            });
        let (rule, end) = (&self.warmup_rule, digits(self.warmup_end_s));
        match self.warmup_detected {
            true if self.warmup_end_s == 0.0 => {
                format!("content stores gave {after} of all answers; no warm-up was found ({rule})")
            }
            true => format!(
                "content stores gave {after} of all answers after a warm-up of {end} s ({rule}), \
                 {before} before"
            ),
            false => format!(
                "content stores gave {whole} of all answers; the run is too short to tell the end \
                 of the warm-up"
            ),
        }
    }

    /// From the samples of a run and its end; nothing, if there are none.
    #[must_use]
    pub fn new(scenario: &Scenario, samples: &[StoreSample], end: &StoreSample) -> Option<Caching> {
        let first = samples.first()?;
        let found = match scenario.warmup {
            Warmup::Detected => detected(samples),
            Warmup::Until(span) => Some(Time::ZERO + span),
        };
        let cut = found.and_then(|at| samples.iter().rfind(|sample| sample.at <= at));
        let cut = cut.unwrap_or(end);
        let settled = between(if found.is_some() { cut } else { first }, end);
        let stores = scenario.nodes.iter().zip(&settled).filter(|(node, _)| node.has_store());
        Some(Caching {
            warmup_rule: match scenario.warmup {
                Warmup::Detected => "mser-5".to_owned(),
                Warmup::Until(_) => "given".to_owned(),
            },
            warmup_detected: found.is_some(),
            warmup_end_s: cut.at.as_secs_f64(),
            whole: Hits::new(&between(first, end)),
            before: Hits::new(&between(first, cut)),
            after: Hits::new(&between(cut, end)),
            nodes: stores.map(|(node, answers)| NodeHits::new(&node.name, answers)).collect(),
        })
    }
}

/// The end of the warm-up by the network's hit ratio. Intervals without an answer say nothing.
fn detected(samples: &[StoreSample]) -> Option<Time> {
    let intervals = samples.windows(2).filter_map(|pair| {
        let ratio = Hits::new(&between(&pair[0], &pair[1])).hit_ratio?;
        Some((pair[0].at, ratio))
    });
    let (begins, ratios): (Vec<Time>, Vec<f64>) = intervals.unzip();
    begins.get(warmup::mser5(&ratios)?).copied()
}

/// The answers between two samples, by node.
fn between(from: &StoreSample, to: &StoreSample) -> Vec<Answers> {
    from.answers.iter().zip(&to.answers).map(|(from, to)| to.since(from)).collect()
}

fn ratio(part: u64, rest: u64) -> Option<f64> {
    let all = part + rest;
    (all > 0).then(|| part as f64 / all as f64)
}

impl Hits {
    fn new(answers: &[Answers]) -> Hits {
        let hits = answers.iter().map(|node| node.hits).sum();
        let served = answers.iter().map(|node| node.served).sum();
        Hits { hits, served, hit_ratio: ratio(hits, served) }
    }
}

impl NodeHits {
    fn new(node: &str, answers: &Answers) -> NodeHits {
        NodeHits {
            node: node.to_owned(),
            hits: answers.hits,
            misses: answers.misses,
            hit_ratio: ratio(answers.hits, answers.misses),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, hits: u64, served: u64) -> StoreSample {
        let at = Time::ZERO + Duration::from_secs(at);
        StoreSample { at, answers: vec![Answers { hits, misses: 2 * served, served }] }
    }

    #[test]
    fn the_warm_up_ends_where_the_hit_ratio_becomes_stable() {
        // Nothing but misses for 20 s, then 3 hits for each packet of the producer.
        let mut samples = vec![sample(0, 0, 0)];
        for at in 1..=100u64 {
            let warm = at.saturating_sub(20);
            samples.push(sample(at, 3 * warm, 4 * at.min(20) + warm));
        }
        let found = detected(&samples).unwrap();
        assert_eq!(found, Time::ZERO + Duration::from_secs(20));
        let (cut, end) = (&samples[20], &samples[100]);
        let after = Hits::new(&between(cut, end));
        assert_eq!((after.hits, after.served, after.hit_ratio), (240, 80, Some(0.75)));
        assert_eq!(Hits::new(&between(&samples[0], cut)).hit_ratio, Some(0.0));
    }
}
