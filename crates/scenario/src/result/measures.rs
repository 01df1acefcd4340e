//! Goodput, fairness and queues after the warm-up, from samples of a run.
//!
//! The number of samples does not depend on the length of the run: when there are too many, every
//! other one is dropped and the interval doubled.

use super::flow::Flow;
use super::link::Link;
use super::settled::Settled;
use crate::model::{Scenario, Warmup};
use crate::warmup;
use control::{Duration, Time};
use record::{FlowSample, LinkSample, Recorder, WorkloadSample};

/// The first interval is this part of the run.
const FINEST: u64 = 32_768;
/// Values that are kept of a run.
const MOST_VALUES: usize = 2_000_000;
/// Samples that are left when every other one has been dropped.
const FEWEST: usize = 100;
const MOST: usize = 1_000;
/// The quantile of queues.
const HIGH: f64 = 0.99;

/// A direction of a link at an instant.
#[derive(Clone, Copy, Default)]
struct Backlog {
    bytes: u32,
    /// The time that the link needs for these bytes.
    delay_ms: f32,
}

/// A sample of all flows and links. Those without a sample at this instant have their last one.
#[derive(Clone, Default)]
struct Moment {
    at: Time,
    /// Content that each consumer of the file has received.
    flows: Vec<u64>,
    /// Content of each class of workloads.
    workloads: Vec<u64>,
    backlogs: Vec<Backlog>,
}

/// Samples of a run.
pub struct Measures {
    every: Duration,
    fewest: usize,
    flows: usize,
    directions: usize,
    moments: Vec<Moment>,
}

impl Measures {
    /// Without samples.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Measures {
        let (flows, directions) = (scenario.consumers.len(), 2 * scenario.links.len());
        Measures {
            every: Duration((scenario.duration.0 / FINEST).max(1)),
            fewest: (MOST_VALUES / (flows + directions).max(1)).clamp(FEWEST, MOST),
            flows,
            directions,
            moments: Vec::new(),
        }
    }

    /// When the next sample is due.
    #[must_use]
    pub fn due(&self) -> Time {
        self.moments.last().map_or(Time::ZERO, |last| last.at + self.every)
    }

    /// The moment of a sample.
    fn at(&mut self, at: Time) -> &mut Moment {
        if self.moments.last().is_none_or(|last| last.at != at) {
            if self.moments.len() >= 2 * self.fewest {
                let mut is_kept = false;
                self.moments.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.every = self.every + self.every;
            }
            let before = self.moments.last().cloned().unwrap_or_else(|| Moment {
                flows: vec![0; self.flows],
                backlogs: vec![Backlog::default(); self.directions],
                ..Moment::default()
            });
            self.moments.push(Moment { at, ..before });
        }
        let last = self.moments.len() - 1;
        &mut self.moments[last]
    }

    /// The results of a run with these flows, the last of which ended at `to_s`. Fills in the
    /// queues of the links.
    #[must_use]
    pub fn settled(
        &self,
        scenario: &Scenario,
        flows: &[Flow],
        to_s: f64,
        links: &mut [Link],
    ) -> Settled {
        let by_hand = &flows[..self.flows.min(flows.len())];
        let first = flows.iter().map(|flow| flow.start_s).fold(to_s, f64::min);
        let rows = self.moments.iter();
        let rows = rows.filter(|row| (first..=to_s).contains(&seconds(row.at)));
        let rows: Vec<&Moment> = rows.collect();
        let sums: Vec<u64> = rows.iter().map(|row| content(row, by_hand)).collect();
        let found = match scenario.record.warmup {
            Warmup::Detected => detected(&rows, &sums).map(|row| seconds(rows[row].at)),
            Warmup::Until(span) => Some(span.as_secs_f64()).filter(|from| *from < to_s),
        };
        // The last sample before the end of the warm-up; without one, nothing had come before.
        let from = found.filter(|from| *from > first);
        let start = rows.iter().rposition(|row| from.is_some_and(|from| seconds(row.at) <= from));
        let from_s = start.map_or(first, |row| seconds(rows[row].at));
        let (after, before) =
            (&rows[start.unwrap_or(0)..], start.map(|row| (rows[row], sums[row])));
        let span = to_s - from_s;
        let came = by_hand.iter().map(|flow| flow.bytes).sum::<u64>()
            + self.moments.last().map_or(0, |last| last.workloads.iter().sum());
        let came = came.saturating_sub(before.map_or(0, |(_, sum)| sum));
        let shares: Vec<f64> = by_hand
            .iter()
            .enumerate()
            .filter_map(|(i, flow)| {
                let had = before.map_or(0, |(row, _)| received(row, i, flow));
                let from = from_s.max(flow.start_s);
                let ran = flow.end_s.unwrap_or(to_s).min(to_s) - from;
                (ran > 0.0).then(|| flow.bytes.saturating_sub(had) as f64 / ran)
            })
            .collect();
        for (number, link) in links.iter_mut().enumerate() {
            queues(after, number, link);
        }
        let means = links.iter().filter_map(|link| link.queue_delay_mean_ms);
        let highs = links.iter().filter_map(|link| link.queue_delay_p99_ms);
        Settled {
            warmup_rule: match scenario.record.warmup {
                Warmup::Detected => "mser-5".to_owned(),
                Warmup::Until(_) => "given".to_owned(),
            },
            warmup_detected: found.is_some(),
            from_s,
            to_s,
            goodput_mbps: (span > 0.0).then(|| came as f64 * 8e-6 / span),
            jain_index: record::jain_index(&shares),
            queue_delay_mean_ms: means.reduce(f64::max),
            queue_delay_p99_ms: highs.reduce(f64::max),
        }
    }
}

impl Recorder for Measures {
    fn link(&mut self, sample: &LinkSample) {
        let number = sample.link.index() + usize::from(sample.backward);
        let bytes = sample.queue.bytes;
        let rate = sample.rate.map_or(0, |rate| rate.0);
        let delay_ms = if rate > 0 { bytes as f64 * 8e3 / rate as f64 } else { 0.0 } as f32;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if let Some(backlog) = self.at(sample.at).backlogs.get_mut(number) {
            *backlog = Backlog { bytes, delay_ms };
        }
    }

    fn flow(&mut self, sample: &FlowSample) {
        if let Some(flow) = self.at(sample.at).flows.get_mut(sample.flow.index()) {
            *flow = sample.bytes.0;
        }
    }

    fn workload(&mut self, sample: &WorkloadSample) {
        let classes = &mut self.at(sample.at).workloads;
        if classes.len() <= sample.number {
            classes.resize(sample.number + 1, 0);
        }
        classes[sample.number] = sample.bytes;
    }
}

fn seconds(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

/// Content that a flow had received. An ended flow has no sample of its end.
fn received(row: &Moment, number: usize, flow: &Flow) -> u64 {
    match flow.end_s {
        Some(end) if end <= seconds(row.at) => flow.bytes,
        _ => row.flows.get(number).copied().unwrap_or(0),
    }
}

/// Content that all flows had received.
fn content(row: &Moment, flows: &[Flow]) -> u64 {
    let by_hand = flows.iter().enumerate().map(|(number, flow)| received(row, number, flow));
    by_hand.sum::<u64>() + row.workloads.iter().sum::<u64>()
}

/// The number of the sample at which the goodput settles.
fn detected(rows: &[&Moment], sums: &[u64]) -> Option<usize> {
    let rates: Vec<f64> = rows
        .windows(2)
        .zip(sums.windows(2))
        .map(|(rows, sums)| {
            let span = (seconds(rows[1].at) - seconds(rows[0].at)).max(1e-9);
            sums[1].saturating_sub(sums[0]) as f64 / span
        })
        .collect();
    warmup::mser5(&rates)
}

/// The queue of a direction over these samples.
fn queues(rows: &[&Moment], number: usize, link: &mut Link) {
    let mut backlogs: Vec<Backlog> =
        rows.iter().filter_map(|row| row.backlogs.get(number).copied()).collect();
    if backlogs.is_empty() {
        return;
    }
    let rank = ((backlogs.len() as f64 * HIGH).ceil() as usize).clamp(1, backlogs.len()) - 1;
    let sum: f64 = backlogs.iter().map(|backlog| f64::from(backlog.delay_ms)).sum();
    let has_rate = link.rate_mbps.is_some();
    link.queue_delay_mean_ms = has_rate.then(|| sum / backlogs.len() as f64);
    backlogs.sort_by_key(|backlog| backlog.bytes);
    link.queue_p99_bytes = Some(u64::from(backlogs[rank].bytes));
    backlogs.sort_by(|a, b| a.delay_ms.total_cmp(&b.delay_ms));
    link.queue_delay_p99_ms = has_rate.then(|| f64::from(backlogs[rank].delay_ms));
}
