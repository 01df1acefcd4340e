//! When flows were complete, as distributions.

use super::time::class_turn;
use crate::captions::{MOST_LINES, experiment, group_colours};
use crate::colours;
use crate::dashes::dashes;
use crate::picture::{Axis, Form, Line, Panel, Picture, short};
use crate::results::Results;
use crate::text::{digits, given, with_unit};
use scenario::series::class_label;
use std::collections::{BTreeMap, BTreeSet};

/// Of the flows with one scheme, or of one class.
#[derive(Default)]
struct Sample {
    colour: usize,
    /// Times, ascending, and the number of flows with each.
    times: Vec<(f64, u64)>,
    unfinished: u64,
}

impl Sample {
    /// The time by which this share of all flows was complete; an incomplete flow counts as longer
    /// than all others.
    fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q * self.all() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.times.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map(|(time, _)| *time)
    }

    fn all(&self) -> u64 {
        self.times.iter().map(|(_, count)| count).sum::<u64>() + self.unfinished
    }

    fn steps(&self) -> Vec<f64> {
        let all = self.all().max(1) as f64;
        let mut steps = vec![0.0, 0.0];
        // Of thousands, no more than are visible.
        let stride = self.times.len().div_ceil(2_000).max(1);
        let mut seen = 0;
        for (i, (time, count)) in self.times.iter().enumerate() {
            seen += count;
            if (i + 1) % stride == 0 || i + 1 == self.times.len() {
                steps.extend([short(*time), short(seen as f64 / all)]);
            }
        }
        steps
    }
}

/// The flows of a group by scheme, those of workloads by class.
fn samples(results: &Results) -> BTreeMap<String, Sample> {
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    let by_group = group_colours(&results.groups);
    // If all request the same content, only the group distinguishes them.
    let classes = results.runs().flat_map(|run| &run.completions);
    let classes: BTreeSet<(&str, &str)> =
        classes.map(|class| (class.workload.as_str(), class.class.as_str())).collect();
    let is_one = classes.len() == 1
        && results.runs().all(|run| run.flows.iter().all(|flow| flow.workload.is_some()));
    for (number, group) in results.groups.iter().enumerate() {
        let flows = group.runs.iter().flat_map(|run| &run.flows);
        for flow in flows.filter(|flow| flow.workload.is_none()) {
            let sample = samples.entry(label(&group.label, &flow.control)).or_default();
            sample.colour = colours::scheme(&flow.control);
            match flow.fct_s {
                Some(time) => sample.times.push((time, 1)),
                None => sample.unfinished += 1,
            }
        }
        for class in group.runs.iter().flat_map(|run| &run.completions) {
            let what = class_label(&class.workload, &class.class);
            let name = match group.label.as_str() {
                group if is_one && !group.is_empty() => group.to_owned(),
                group => label(group, &what),
            };
            let sample = samples.entry(name).or_default();
            // As in the pictures over time.
            sample.colour = match results.groups.len() {
                1 => colours::thing(class_turn(results, &what)),
                _ => by_group[number],
            };
            let mut seen = 0;
            for (time, count) in &class.times {
                sample.times.push((*time, count.saturating_sub(seen)));
                seen = *count;
            }
            sample.unfinished += class.started.saturating_sub(seen);
        }
    }
    for sample in samples.values_mut() {
        sample.times.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    samples
}

/// The label of a line, without repeating the group or the scheme.
fn label(group: &str, what: &str) -> String {
    match group {
        "" => what.to_owned(),
        group if group.contains(what) => group.to_owned(),
        group => format!("{group}: {what}"),
    }
}

/// The distribution of completion times, a line for each scheme and each class.
pub fn picture(results: &Results) -> Option<Picture> {
    let samples = samples(results);
    if samples.values().all(|sample| sample.times.is_empty()) {
        return None;
    }
    let lines: Vec<Line> = samples.iter().map(|(label, sample)| line(label, sample)).collect();
    let panels = lines.chunks(MOST_LINES).map(|lines| {
        let mut lines = lines.to_vec();
        let palette: Vec<usize> = lines.iter().map(|line| line.colour).collect();
        lines.iter_mut().zip(dashes(&palette)).for_each(|(line, dash)| line.dash = dash);
        Panel { lines, ..Panel::default() }
    });
    let unfinished: u64 = samples.values().map(|sample| sample.unfinished).sum();
    let mut caption = experiment(results);
    if unfinished > 0 {
        caption += &match unfinished {
            1 => " One flow was not complete at the end and counts".to_owned(),
            n => format!(" {n} flows were not complete at the end and count"),
        };
        caption += " as longer than all others.";
    }
    if results.runs().any(|run| !run.completions.is_empty()) {
        caption += " Times of workloads are right to within 1/64.";
    }
    caption += " The medians are marked.";
    Some(Picture {
        id: "completion".to_owned(),
        title: finding(&samples),
        caption,
        form: Form::Cdf,
        x: Axis::new("completion time", "s"),
        y: Axis { most: Some(1.0), ..Axis::new("share of flows", "") },
        panels: panels.collect(),
        corner: "times in s".to_owned(),
        heads: ["flows", "median", "95 %", "most", "not done"].map(str::to_owned).to_vec(),
    })
}

/// A line for completion times: seconds, ascending, and the number of flows with each. Flows that
/// never were complete count as longer than all others. Its cells are flows, median, 95 %, the
/// longest and those that were not complete.
#[must_use]
pub fn distribution(label: &str, colour: usize, times: Vec<(f64, u64)>, unfinished: u64) -> Line {
    line(label, &Sample { colour, times, unfinished })
}

fn line(label: &str, sample: &Sample) -> Line {
    let median = sample.quantile(0.5);
    let longest = sample.times.last().map(|(time, _)| *time);
    Line {
        label: label.to_owned(),
        colour: sample.colour,
        raw: sample.steps(),
        mark: median.map(|median| (format!("median {}", with_unit(median, "s")), short(median))),
        cells: vec![
            sample.all().to_string(),
            given(median),
            given(sample.quantile(0.95)),
            given(longest),
            sample.unfinished.to_string(),
        ],
        ..Line::default()
    }
}

fn finding(samples: &BTreeMap<String, Sample>) -> String {
    let mut medians: Vec<(&String, Option<f64>)> =
        samples.iter().map(|(label, s)| (label, s.quantile(0.5))).collect();
    // Where less than half of the flows finished, the median is longer than all others.
    medians.sort_by(|a, b| a.1.unwrap_or(f64::INFINITY).total_cmp(&b.1.unwrap_or(f64::INFINITY)));
    match &*medians {
        [] | [(_, None), ..] => "Completion: less than half of the flows finished".to_owned(),
        [(label, Some(median))] => {
            format!(
                "Completion: half of the flows with {label} took at most {}",
                with_unit(*median, "s")
            )
        }
        [(_, Some(least)), .., (_, Some(most))] if digits(*least) == digits(*most) => {
            format!(
                "Completion: half of the flows took at most {} with all",
                with_unit(*least, "s")
            )
        }
        [(fast, Some(least)), .., (slow, most)] => format!(
            "Completion: half of the flows took at most {} with {fast}, {} with {slow}",
            with_unit(*least, "s"),
            most.map_or("less than half finished".to_owned(), |most| with_unit(most, "s"))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_never_ended_are_longer_than_all() {
        let sample = |times: &[f64], unfinished| Sample {
            times: times.iter().map(|time| (*time, 1)).collect(),
            unfinished,
            ..Sample::default()
        };
        assert_eq!(sample(&[1.0, 2.0, 3.0], 0).quantile(0.5), Some(2.0));
        assert_eq!(sample(&[1.0, 2.0], 2).quantile(0.5), Some(2.0));
        assert_eq!(sample(&[1.0], 2).quantile(0.5), None);
        assert_eq!(sample(&[4.0], 1).steps(), [0.0, 0.0, 4.0, 0.5]);
        // Three of four took 2 s, one 5 s.
        let counted = Sample { times: vec![(2.0, 3), (5.0, 1)], ..Sample::default() };
        assert_eq!((counted.quantile(0.75), counted.quantile(0.76)), (Some(2.0), Some(5.0)));
        assert_eq!(counted.steps(), [0.0, 0.0, 2.0, 0.75, 5.0, 1.0]);
    }
}
