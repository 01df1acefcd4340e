//! When flows were complete, as distributions.

use super::{MOST_LINES, experiment};
use crate::colours;
use crate::picture::{Axis, Form, Line, Panel, Picture, short};
use crate::results::Results;
use crate::words::{digits, many, with_unit};
use std::collections::BTreeMap;

/// Of the flows with one scheme.
#[derive(Default)]
struct Sample {
    control: String,
    times: Vec<f64>,
    unfinished: usize,
}

impl Sample {
    /// The least time by which so great a share of all was complete; a flow that never was counts
    /// as longer than all others.
    fn quantile(&self, q: f64) -> Option<f64> {
        let all = self.times.len() + self.unfinished;
        let rank = ((q * all as f64).ceil() as usize).max(1);
        self.times.get(rank - 1).copied()
    }

    fn steps(&self) -> Vec<f64> {
        let all = (self.times.len() + self.unfinished).max(1) as f64;
        let mut steps = vec![0.0, 0.0];
        // Of thousands no more than anybody can see.
        let stride = self.times.len().div_ceil(2_000).max(1);
        for (i, time) in self.times.iter().enumerate() {
            if (i + 1) % stride == 0 || i + 1 == self.times.len() {
                steps.extend([short(*time), short((i + 1) as f64 / all)]);
            }
        }
        steps
    }
}

/// The distribution of completion times, a line for each scheme.
pub fn picture(results: &Results) -> Option<Picture> {
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    for group in &results.groups {
        for flow in group.runs.iter().flat_map(|run| &run.flows) {
            let label = match group.label.contains(flow.control.as_str()) {
                true => group.label.clone(),
                false if group.label.is_empty() => flow.control.clone(),
                false => format!("{}: {}", group.label, flow.control),
            };
            let sample = samples.entry(label).or_default();
            sample.control.clone_from(&flow.control);
            match flow.fct_s {
                Some(time) => sample.times.push(time),
                None => sample.unfinished += 1,
            }
        }
    }
    samples.retain(|_, sample| !sample.times.is_empty());
    samples.values_mut().for_each(|sample| sample.times.sort_by(f64::total_cmp));
    if samples.is_empty() {
        return None;
    }
    let mut lines: Vec<Line> = samples.iter().map(|(label, sample)| line(label, sample)).collect();
    let palette: Vec<usize> = lines.iter().map(|line| line.colour).collect();
    lines.iter_mut().zip(colours::dashes(&palette)).for_each(|(line, dash)| line.dash = dash);
    let panels =
        lines.chunks(MOST_LINES).map(|lines| Panel { lines: lines.to_vec(), ..Panel::default() });
    let unfinished: usize = samples.values().map(|sample| sample.unfinished).sum();
    let mut caption = experiment(results);
    if unfinished > 0 {
        let were = if unfinished == 1 { "was" } else { "were" };
        caption += &format!(
            " {} {were} not complete at the end and counts as longer than all others.",
            many(unfinished, "flow")
        );
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
        heads: ["flows", "median (s)", "95 % by (s)", "longest (s)", "not complete"]
            .map(str::to_owned)
            .to_vec(),
    })
}

fn line(label: &str, sample: &Sample) -> Line {
    let given = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    let median = sample.quantile(0.5);
    Line {
        label: label.to_owned(),
        colour: colours::scheme(&sample.control),
        raw: sample.steps(),
        mark: median.map(|median| (format!("median {}", with_unit(median, "s")), short(median))),
        cells: vec![
            (sample.times.len() + sample.unfinished).to_string(),
            given(median),
            given(sample.quantile(0.95)),
            given(sample.times.last().copied()),
            sample.unfinished.to_string(),
        ],
        ..Line::default()
    }
}

fn finding(samples: &BTreeMap<String, Sample>) -> String {
    let medians = samples.iter().filter_map(|(label, s)| Some((label, s.quantile(0.5)?)));
    let mut medians: Vec<(&String, f64)> = medians.collect();
    medians.sort_by(|a, b| a.1.total_cmp(&b.1));
    match &*medians {
        [] => "Completion: less than half of the flows were complete".to_owned(),
        [(label, median)] => {
            format!(
                "Completion: half of the flows with {label} took at most {}",
                with_unit(*median, "s")
            )
        }
        [(fast, least), .., (slow, most)] => format!(
            "Completion: {fast} is fastest, half of its flows took at most {}; {slow} is slowest \
             with {}",
            with_unit(*least, "s"),
            with_unit(*most, "s")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_never_ended_are_longer_than_all() {
        let sample = |times: &[f64], unfinished| Sample {
            times: times.to_vec(),
            unfinished,
            ..Sample::default()
        };
        assert_eq!(sample(&[1.0, 2.0, 3.0], 0).quantile(0.5), Some(2.0));
        assert_eq!(sample(&[1.0, 2.0], 2).quantile(0.5), Some(2.0));
        assert_eq!(sample(&[1.0], 2).quantile(0.5), None);
        assert_eq!(sample(&[4.0], 1).steps(), [0.0, 0.0, 4.0, 0.5]);
    }
}
