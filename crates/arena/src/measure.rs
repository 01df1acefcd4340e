//! The measures of a run.

use crate::fluid::{Course, Demand};
use crate::model::{Cell, Limits, Term};
use crate::network::{Network, Source, is_below};
use crate::score::{delay_factor, geometric_mean, ramp_factor};
use scenario::Scenario;
use scenario::model::Manner;
use scenario::result::{Flow, RunResult};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By flow: instants in seconds, and bytes of content received until then.
pub type Tracks = BTreeMap<String, Vec<(f64, f64)>>;

/// Paths are equally long if their round trips differ by less, in seconds.
const EVEN_S: f64 = 0.001;
/// The part of its max-min rate with which a fetch has arrived.
const ARRIVED: f64 = 0.8;
/// The span over which this is taken, in round trips, and in seconds at least.
const SPAN_ROUND_TRIPS: f64 = 5.0;
const SPAN_S: f64 = 0.05;
/// A short flow counts if the run lasts for this many of its ideal times after its start.
const ENOUGH: f64 = 3.0;

/// The measures of a run. A measure that is not taken in its cell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Content of all fetches after the warm-up, as a share of the optimum.
    #[serde(with = "study::records::exact")]
    pub share: Option<f64>,
    /// The largest shortfall of a fetch from its max-min rate.
    #[serde(with = "study::records::exact")]
    pub unfair: Option<f64>,
    /// Mean queueing delay in milliseconds. With paths of several lengths, round trips do not show
    /// it.
    #[serde(with = "study::records::exact")]
    pub delay_mean_ms: Option<f64>,
    /// Its 99th percentile.
    #[serde(with = "study::records::exact")]
    pub delay_p99_ms: Option<f64>,
    /// The factor of the latter.
    #[serde(with = "study::records::exact")]
    pub delay: Option<f64>,
    /// Seconds until the watched fetch had its share; `None` if it never had.
    #[serde(with = "study::records::exact")]
    pub ramp_s: Option<f64>,
    /// The factor of this time.
    #[serde(with = "study::records::exact")]
    pub ramp: Option<f64>,
    /// Mean of ideal completion over measured completion of short flows.
    #[serde(with = "study::records::exact")]
    pub short: Option<f64>,
    /// Mean of measured completion, less a round trip, over the ideal one.
    #[serde(with = "study::records::exact")]
    pub slowdown: Option<f64>,
    /// Data sent in vain, as a share of those sent.
    #[serde(with = "study::records::exact")]
    pub vain: Option<f64>,
}

impl Measured {
    /// The factor of a measure; 0 if there is none although it was wanted.
    #[must_use]
    pub fn factor(&self, term: Term) -> f64 {
        let factor = match term {
            Term::Share => self.share.map(|share| share.min(1.0)),
            Term::MaxMin => self.unfair.map(|shortfall| 1.0 - shortfall),
            Term::Delay => self.delay,
            Term::Ramp => self.ramp,
            Term::Short => self.short,
            Term::Vain => self.vain.map(|vain| 1.0 - vain),
        };
        factor.unwrap_or(0.0).clamp(0.0, 1.0)
    }

    /// The score by the measures that matter.
    #[must_use]
    pub fn score(&self, terms: &[Term]) -> f64 {
        let factors: Vec<f64> = terms.iter().map(|term| self.factor(*term)).collect();
        geometric_mean(&factors)
    }
}

/// A run with all that its measures are taken from.
pub struct Seen<'s> {
    /// The cell.
    pub cell: &'s Cell,
    /// The scenario.
    pub scenario: &'s Scenario,
    /// Its numbers.
    pub network: &'s Network,
    /// The result.
    pub result: &'s RunResult,
    /// The courses of its fetches.
    pub tracks: &'s Tracks,
}

/// A flow of a run beside its numbers.
struct Pair<'s> {
    flow: &'s Flow,
    source: Source,
    course: Course,
    /// It has the scheme under test.
    is_tested: bool,
}

impl Seen<'_> {
    /// The measures that matter in the cell, and what its optimum allows.
    ///
    /// # Errors
    /// The optimum cannot be computed.
    pub fn measure(&self) -> Result<(Measured, Limits), String> {
        let pairs = self.pairs()?;
        let (by_hand, by_workload): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
            pairs.into_iter().partition(|pair| pair.flow.workload.is_none());
        let fetches: Vec<&Pair<'_>> =
            by_hand.iter().filter(|pair| pair.source.cap.is_none()).collect();
        let fetches = if fetches.is_empty() { by_workload.iter().collect() } else { fetches };
        let until = self.network.until;
        let from = self.cell.from_s.min(until);
        let optima: Vec<f64> = fetches.iter().map(|pair| pair.course.bits(from, until)).collect();
        let had: Vec<f64> =
            fetches.iter().map(|pair| 8.0 * self.bytes(pair, from, until)).collect();
        let optimum: f64 = optima.iter().sum();
        let mut seen = Measured::default();
        for term in &self.cell.measures {
            match term {
                Term::Share => seen.share = ratio(had.iter().sum(), optimum),
                Term::MaxMin => seen.unfair = shortfall(&had, &optima),
                Term::Delay => queueing(&fetches, &mut seen),
                Term::Ramp => self.ramp(&by_hand, &mut seen),
                Term::Short => self.short(&by_workload, &mut seen),
                Term::Vain => seen.vain = self.vain(),
            }
        }
        let tested = by_hand.iter().enumerate().filter(|(_, pair)| pair.is_tested);
        let tested: Vec<usize> = tested.map(|(number, _)| number).collect();
        let limits = self.network.limits(&tested, optimum, until - from);
        Ok((seen, limits))
    }

    /// The flows of the run: consumers of the file in its order, then those of workloads.
    fn pairs(&self) -> Result<Vec<Pair<'_>>, String> {
        let (network, scenario) = (self.network, self.scenario);
        let (by_hand, by_workload): (Vec<&Flow>, Vec<&Flow>) =
            self.result.flows.iter().partition(|flow| flow.workload.is_none());
        let mut found = Vec::new();
        let mut demands: Vec<Demand> = Vec::new();
        for ((flow, source), consumer) in
            by_hand.into_iter().zip(&network.consumers).zip(&scenario.consumers)
        {
            let nodes = &self.cell.under_test;
            let is_named = nodes.is_empty() || nodes.contains(&flow.node);
            let is_tested = is_named && matches!(consumer.manner, Manner::Fetch { .. });
            demands.push(source.demand(source.start, source.bits));
            found.push((flow, *source, is_tested));
        }
        let sizes: Vec<f64> =
            by_workload.iter().filter(|flow| flow.complete).map(|f| f.bytes as f64).collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        for flow in by_workload {
            let source = network.sources.iter().find(|(at, content, _)| {
                let (node, content) = (&scenario.nodes[*at], &scenario.contents[*content]);
                node.name == flow.node && is_below(&flow.name, &content.name.to_string())
            });
            let Some((_, _, source)) = source else { continue };
            // The size of a flow that was cut off is not known: it has the mean, or what it got.
            let bytes = flow.bytes as f64;
            let bytes = if flow.complete { bytes } else { bytes.max(mean) };
            demands.push(source.demand(flow.start_s, bytes * 8.0));
            found.push((flow, *source, true));
        }
        // A fluid needs an end for flows that the run cuts off.
        let courses = network.pipes.courses(&demands, network.until);
        let courses = courses.map_err(|error| error.to_string())?;
        Ok(found
            .into_iter()
            .zip(courses)
            .map(|((flow, source, is_tested), course)| Pair { flow, source, course, is_tested })
            .collect())
    }

    /// Bytes that a flow received between two instants.
    fn bytes(&self, pair: &Pair<'_>, from: f64, to: f64) -> f64 {
        match self.tracks.get(&pair.flow.flow) {
            Some(track) => received(track, to) - received(track, from),
            // Not sampled: everything, which the cells of workloads ask for.
            None => pair.flow.bytes as f64,
        }
    }

    fn ramp(&self, pairs: &[Pair<'_>], seen: &mut Measured) {
        let node = self.cell.watched.as_deref();
        let Some(pair) = pairs.iter().find(|pair| Some(&*pair.flow.node) == node) else { return };
        let (start, until) = (pair.source.start, self.network.until);
        let span = SPAN_S.max(SPAN_ROUND_TRIPS * pair.source.longest);
        let empty = Vec::new();
        let track = self.tracks.get(&pair.flow.flow).unwrap_or(&empty);
        seen.ramp_s = arrival(track, &pair.course, span, until).map(|at| at - start);
        let life = until - start;
        seen.ramp = Some(ramp_factor(seen.ramp_s.unwrap_or(life), life));
    }

    fn short(&self, pairs: &[Pair<'_>], seen: &mut Measured) {
        let until = self.network.until;
        let (mut parts, mut slower) = (Vec::new(), Vec::new());
        for pair in pairs {
            let start = pair.flow.start_s;
            let ideal = pair.course.end - start;
            if start + ENOUGH * ideal > until {
                continue;
            }
            parts.push(pair.flow.fct_s.map_or(0.0, |taken| (ideal / taken).min(1.0)));
            // A flow that was cut off took at least the rest of the run.
            let taken = pair.flow.fct_s.unwrap_or(until - start);
            slower.push((taken - pair.source.shortest).max(0.0) / ideal);
        }
        (seen.short, seen.slowdown) = (mean(&parts), mean(&slower));
    }

    /// Data that producers sent, or lost in their own queue, and that no consumer could use.
    fn vain(&self) -> Option<f64> {
        let names = self.network.producers.iter().map(|node| &*self.scenario.nodes[*node].name);
        let names: Vec<&str> = names.collect();
        let links = self.result.links.iter().filter(|link| names.contains(&&*link.from));
        let sent: u64 = links.map(|link| link.data + link.queue_drops).sum();
        let mut used = 0.0;
        for flow in &self.result.flows {
            let useful = match flow.interests_whole {
                // A consumer at a constant rate repeats nothing: each of its Data is useful.
                Some(_) => flow.counters.data as f64,
                None => (flow.bytes as f64 / self.network.segment).ceil(),
            };
            // Data that is on its way at the end may still be used.
            used += useful + flow.in_flight as f64;
        }
        (sent > 0).then(|| (1.0 - used / sent as f64).max(0.0))
    }
}

/// A part of a whole that exists.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The largest shortfall of a flow from its optimum, as a share of this.
fn shortfall(had: &[f64], optima: &[f64]) -> Option<f64> {
    let parts = had.iter().zip(optima).filter(|(_, optimum)| **optimum > 0.0);
    let least = parts.map(|(had, optimum)| (had / optimum).min(1.0)).reduce(f64::min);
    least.map(|least| 1.0 - least)
}

/// Queueing delay, over fetches under test, each by its number of Data. A percentile is rounded
/// down by at most 1/64.
fn queueing(fetches: &[&Pair<'_>], seen: &mut Measured) {
    let (mut weights, mut sums) = (0.0, [0.0; 3]);
    let mut is_even = true;
    for pair in fetches.iter().filter(|pair| pair.is_tested) {
        let (Some(mean), Some(p99)) = (pair.flow.rtt_mean_ms, pair.flow.rtt_p99_ms) else {
            continue;
        };
        let [trip, free] = [pair.source.longest, pair.source.free].map(|seconds| seconds * 1e3);
        let (mean, p99) = ((mean - trip).max(0.0), (p99 - trip).max(0.0));
        is_even &= pair.source.longest - pair.source.shortest < EVEN_S;
        let weight = pair.flow.counters.data as f64;
        weights += weight;
        let values = [mean, p99, delay_factor(p99, trip, free)];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
    }
    if weights > 0.0 {
        let [mean, p99, factor] = sums.map(|sum| sum / weights);
        (seen.delay_mean_ms, seen.delay_p99_ms) = (is_even.then_some(mean), Some(p99));
        seen.delay = Some(factor);
    }
}

/// Bytes received until an instant, linear between samples.
fn received(track: &[(f64, f64)], at: f64) -> f64 {
    let next = track.partition_point(|(time, _)| *time <= at);
    match (next.checked_sub(1).map(|before| track[before]), track.get(next)) {
        (None, _) => 0.0,
        (Some((_, bytes)), None) => bytes,
        (Some((t0, b0)), Some((t1, b1))) => b0 + (b1 - b0) * (at - t0) / (t1 - t0),
    }
}

/// The first sample after which a flow has most of its optimum over a span.
fn arrival(track: &[(f64, f64)], course: &Course, span: f64, until: f64) -> Option<f64> {
    let mut samples = track.iter().map(|(at, _)| *at).filter(|at| at + span <= until);
    samples.find(|at| {
        let optimum = course.bits(*at, at + span);
        let had = 8.0 * (received(track, at + span) - received(track, *at));
        optimum > 0.0 && had >= ARRIVED * optimum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::Piece;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    fn course(rate: f64) -> Course {
        Course { pieces: vec![Piece { from: 0.0, to: 10.0, rate }], end: f64::INFINITY }
    }

    #[test]
    fn the_flow_farthest_below_counts() {
        // Of 4 it has 3, of 2 it has 2.5, which does not make up for the other.
        close(shortfall(&[3.0, 2.5], &[4.0, 2.0]).unwrap(), 0.25);
        close(shortfall(&[4.0], &[4.0]).unwrap(), 0.0);
        assert_eq!(shortfall(&[1.0], &[0.0]), None);
    }

    #[test]
    fn bytes_between_samples_are_linear() {
        let track = [(1.0, 0.0), (2.0, 100.0), (4.0, 200.0)];
        close(received(&track, 0.5), 0.0);
        close(received(&track, 1.25), 25.0);
        close(received(&track, 3.0), 150.0);
        close(received(&track, 9.0), 200.0);
    }

    #[test]
    fn a_flow_arrives_when_a_span_brings_four_fifths() {
        // 800 bit/s are possible. 50 bytes in the first second, then 90 in each.
        let track: Vec<(f64, f64)> = (0..=10)
            .map(|t| (f64::from(t), if t == 0 { 0.0 } else { 90.0 * f64::from(t) - 40.0 }))
            .collect();
        // From 0 s on 50 of 100; from 1 s on 90 of 100.
        assert_eq!(arrival(&track, &course(800.0), 1.0, 10.0), Some(1.0));
        // Over two seconds 140 of 200 are too few at first.
        assert_eq!(arrival(&track, &course(800.0), 2.0, 10.0), Some(1.0));
        assert_eq!(arrival(&track, &course(1600.0), 1.0, 10.0), None);
    }

    #[test]
    fn round_trips_above_those_of_an_empty_path_are_queueing() {
        let source = Source {
            group: 0,
            start: 0.0,
            bits: 1.0,
            cap: None,
            shortest: 0.04,
            longest: 0.04,
            free: 0.005,
        };
        let flow = |data, rtt_mean_ms, rtt_p99_ms| {
            let mut flow = Flow { rtt_mean_ms, rtt_p99_ms, ..Flow::default() };
            flow.counters.data = data;
            flow
        };
        let p99 = 65.0;
        let flows = [
            flow(300, Some(46.0), Some(p99)),
            flow(100, Some(42.0), Some(40.0)),
            flow(0, None, None),
        ];
        let pairs: Vec<Pair<'_>> = flows
            .iter()
            .map(|flow| Pair { flow, source, course: course(1.0), is_tested: true })
            .collect();
        let mut seen = Measured::default();
        queueing(&pairs.iter().collect::<Vec<_>>(), &mut seen);
        // 300 Data with 6 ms on average and 25 ms at most, 100 with 2 ms and none.
        close(seen.delay_mean_ms.unwrap(), 5.0);
        close(seen.delay_p99_ms.unwrap(), 18.75);
        close(seen.delay.unwrap(), 0.75 * 45.0 / 65.0 + 0.25);
        // Beside a path that is 30 ms shorter, a round trip may have 30 ms of queue.
        let uneven: Vec<Pair<'_>> = pairs
            .iter()
            .map(|pair| Pair {
                flow: pair.flow,
                source: Source { shortest: 0.01, ..pair.source },
                course: course(1.0),
                is_tested: true,
            })
            .collect();
        let mut seen = Measured::default();
        queueing(&uneven.iter().collect::<Vec<_>>(), &mut seen);
        assert_eq!(seen.delay_mean_ms, None);
        close(seen.delay_p99_ms.unwrap(), 18.75);
    }

    #[test]
    fn a_measure_that_is_missing_is_a_failure() {
        let seen = Measured { share: Some(1.2), unfair: Some(0.19), ..Measured::default() };
        close(seen.score(&[Term::Share, Term::MaxMin]), 0.9);
        close(seen.score(&[Term::Share, Term::Delay]), 0.0);
    }
}
