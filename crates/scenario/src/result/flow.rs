//! The result of a consumer.

use super::described::record;
use crate::model::Scenario;
use control::Duration;
use record::{Counters, FlowResult, Transfer};
use std::collections::BTreeMap;

record! {
    /// A consumer.
    pub struct Flow {
        /// Its label, which no other flow of the run has: `entity` in the series.
        pub flow: String,
        /// Its node.
        pub node: String,
        /// The content that it asked for.
        pub name: String,
        /// Its congestion control.
        pub control: String,
        /// When it began.
        pub start_s: f64,
        /// When it ended, with or without success; nothing if it was still running.
        pub end_s: Option<f64>,
        /// Bytes of received content.
        pub bytes: u64,
        /// Content over time, from its beginning to its end or that of the run.
        pub goodput_mbps: Option<f64>,
        /// Flow completion time, if the flow received everything.
        pub fct_s: Option<f64>,
        part counters: Counters,
        /// Of Interests at a constant rate: those whose requested segments all arrived.
        pub interests_whole: Option<u64>,
        /// Mean of the window over time, in segments.
        pub window_mean: Option<f64>,
        /// Its standard deviation.
        pub window_stdev: Option<f64>,
        /// The mean round-trip time.
        pub rtt_mean_ms: Option<f64>,
        /// The time that 99 % of the round trips stay below, to within 1/64.
        pub rtt_p99_ms: Option<f64>,
        /// Requested segments that were outstanding when the run, or the flow, ended.
        pub in_flight: u64,
        /// Received segments as a share of the requested segments with a known outcome: segments in
        /// flight count neither as delivered nor as lost. Nothing, if no outcome is known.
        pub delivery_ratio: Option<f64>,
        /// The flow received everything.
        pub complete: bool,
        /// Why it failed.
        pub error: Option<String>,
        /// The workload that it belongs to, if a workload started it.
        pub workload: Option<String>,
        /// Its class, if the workload has several.
        pub class: Option<String>,
        /// Of a video: from the beginning to the first picture.
        pub startup_delay_s: Option<f64>,
        /// Of a video: how often it stalled.
        pub stalls: Option<u64>,
        /// Of a video: the total time of stalls.
        pub stall_s: Option<f64>,
        /// Of a video: how much was played.
        pub played_s: Option<f64>,
        /// Of a video: segments in another quality than the one before.
        pub quality_switches: Option<u64>,
        /// Of a video: the mean of the rates of its segments' qualities.
        pub bitrate_mean_mbps: Option<f64>,
    }
}

impl Flow {
    pub(super) fn new(flow: &FlowResult, run: Duration) -> Flow {
        let end = flow.end.map_or(run.as_secs_f64(), |end| end.as_secs_f64());
        let start_s = flow.start.as_secs_f64();
        let taken = end - start_s;
        let Transfer { bytes, counters, in_flight, complete, .. } = flow.transfer;
        let Counters { interests, data, retransmissions, .. } = counters;
        let once = interests.saturating_sub(retransmissions);
        let asked = flow.rate.map_or(once, |rate| rate.asked);
        let settled = asked.saturating_sub(in_flight);
        Flow {
            flow: String::new(),
            node: flow.node.clone(),
            name: flow.name.clone(),
            control: flow.control.clone(),
            start_s,
            end_s: flow.end.map(|end| end.as_secs_f64()),
            bytes,
            goodput_mbps: (taken > 0.0).then(|| bytes as f64 * 8e-6 / taken),
            fct_s: flow.end.filter(|_| complete).map(|_| taken),
            counters,
            interests_whole: flow.rate.map(|rate| rate.whole),
            window_mean: flow.transfer.window_mean,
            window_stdev: flow.transfer.window_stdev,
            rtt_mean_ms: flow.transfer.rtt_mean.map(|span| span.as_secs_f64() * 1e3),
            rtt_p99_ms: flow.transfer.rtt_p99.map(|span| span.as_secs_f64() * 1e3),
            in_flight,
            delivery_ratio: (settled > 0).then(|| (data as f64 / settled as f64).min(1.0)),
            complete,
            error: flow.transfer.error.clone(),
            workload: None,
            class: None,
            startup_delay_s: flow.video.and_then(|v| v.startup).map(|d| d.as_secs_f64()),
            stalls: flow.video.map(|video| video.stalls),
            stall_s: flow.video.map(|video| video.stalled.as_secs_f64()),
            played_s: flow.video.map(|video| video.played.as_secs_f64()),
            quality_switches: flow.video.map(|video| video.switches),
            bitrate_mean_mbps: flow.video.and_then(|v| v.bitrate).map(|rate| rate * 1e-6),
        }
    }
}

/// The labels of a run's flows, in their order: node and name, and a number where these are not
/// enough.
#[must_use]
pub fn flow_labels(scenario: &Scenario) -> Vec<String> {
    let names: Vec<String> = scenario.contents.iter().map(|c| c.name.to_string()).collect();
    labels(scenario.consumers.iter().map(|consumer| {
        (scenario.nodes[consumer.at].name.as_str(), names[consumer.content].as_str())
    }))
}

/// Gives flows their labels: those of consumers as [`flow_labels`] has them.
pub(super) fn label(flows: &mut [Flow]) {
    let names = flows.iter().map(|flow| (flow.node.as_str(), flow.name.as_str()));
    let labels = labels(names);
    flows.iter_mut().zip(labels).for_each(|(flow, label)| flow.flow = label);
}

fn labels<'a>(flows: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut seen: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    flows
        .map(|(node, name)| {
            let twins = seen.entry((node, name)).or_insert(0);
            *twins += 1;
            match *twins {
                1 => format!("{node} {name}"),
                n => format!("{node} {name} #{n}"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_have_a_number() {
        let flows = [("a", "/x"), ("a", "/y"), ("a", "/x"), ("b", "/x")];
        assert_eq!(labels(flows.into_iter()), ["a /x", "a /y", "a /x #2", "b /x"]);
    }

    #[test]
    fn counters_have_the_names_and_texts_of_the_transfer() {
        let at = Flow::FIELDS.iter().position(|field| field.name == "interests").unwrap();
        let shown = Flow::FIELDS[at..].iter().map(|field| (field.name, field.help));
        assert_eq!(shown.take(Counters::COUNTS.len()).collect::<Vec<_>>(), Counters::COUNTS);
        let counters = Counters { interests: 9, data: 8, marks: 3, ..Counters::default() };
        let transfer = Transfer { counters, ..Transfer::default() };
        let result = FlowResult { transfer, ..FlowResult::default() };
        let flow = serde_json::to_value(Flow::new(&result, Duration::from_secs(1))).unwrap();
        let counted = serde_json::to_value(counters).unwrap();
        for (name, value) in counted.as_object().unwrap() {
            assert_eq!(flow[name], *value, "{name}");
        }
    }

    #[test]
    fn a_flow_of_an_earlier_version_is_read() {
        let text = r#"{"node":"c","interests":9,"interests_whole":2,"false_timeouts":4,"gaps":5}"#;
        let flow: Flow = serde_json::from_str(text).unwrap();
        let counters = Counters { interests: 9, false_losses: 4, gaps: 5, ..Counters::default() };
        assert_eq!((flow.counters, flow.interests_whole), (counters, Some(2)));
    }

    #[test]
    fn segments_in_flight_are_neither_delivered_nor_lost() {
        // 100 segments, 5 of them asked for twice; 90 came, 6 are on their way: 90 of 94.
        let delivered = |counters: Counters, in_flight: u64| {
            let transfer = Transfer { counters, in_flight, ..Transfer::default() };
            let flow = FlowResult { transfer, ..FlowResult::default() };
            let flow = Flow::new(&flow, Duration::from_secs(1));
            (flow.delivery_ratio, flow.in_flight)
        };
        let none = Counters::default();
        let counters = Counters { interests: 105, retransmissions: 5, data: 90, ..none };
        assert_eq!(delivered(counters, 6), (Some(90.0 / 94.0), 6));
        assert_eq!(delivered(Counters { interests: 6, ..none }, 6), (None, 6));
    }
}
