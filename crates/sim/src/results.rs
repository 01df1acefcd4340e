//! Samples while it runs, and what it came to.

use control::{Duration, Rate, Time};
use forwarder::{FaceId, Forwarder};

use crate::network::{FlowEntry, Network, WireEnd};
use crate::node::{Node, Port};
use record::{
    FlowId, FlowResult, FlowSample, LinkId, LinkResult, LinkSample, NetworkSample, NodeResult,
    NodeSample, Outcome, Queue, Recorder, StoreCounts, WorkloadSample,
};

/// What a link's faces have counted, over all lives of the sending node.
#[derive(Clone, Debug)]
pub(crate) struct LinkSums {
    pub result: LinkResult,
    /// Of the queue of Data: bytes, and their squares, times nanoseconds.
    occupancy: (u128, u128),
}

impl LinkSums {
    pub fn new(from: String, to: String) -> LinkSums {
        let result = LinkResult { from, to, ..LinkResult::default() };
        LinkSums { result, occupancy: (0, 0) }
    }

    /// Adds what the sending face has counted in its present life.
    pub fn add(&mut self, now: Time, forwarder: &Forwarder, face: FaceId) {
        let sum = &mut self.result;
        if let Some(counters) = forwarder.counters(face) {
            sum.sent.add(&counters.sent);
            sum.tally.add(&counters.queue);
            sum.marked += counters.marked;
        }
        sum.queued = forwarder.queued(face).unwrap_or_default();
        if let Some(occupancy) = forwarder.queue_occupancy(now, face) {
            self.occupancy.0 += occupancy.byte_ns;
            self.occupancy.1 += occupancy.byte2_ns;
            sum.queue.max = sum.queue.max.max(occupancy.peak.0);
        }
    }

    /// The sending node crashed: what waited in it is lost.
    pub fn crash(&mut self) {
        let (packets, bytes) = std::mem::take(&mut self.result.queued);
        let crashed = &mut self.result.crashed;
        *crashed = (crashed.0 + packets, crashed.1 + bytes);
    }
}

impl Network {
    /// What has come of it so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome {
            duration: self.now.since(Time::ZERO),
            events: self.calls,
            packet_hops: self.trace.hops,
            flows: (0..self.flows.len()).map(|flow| self.flow_result(flow)).collect(),
            workloads: self.workload_results(),
            links: self.wires.iter().map(|end| self.link_result(end)).collect(),
            nodes: (0..)
                .zip(&self.nodes)
                .map(|(number, node)| self.node_result(number, node))
                .collect(),
            trace_hash: self.trace.digest(),
        }
    }

    fn node_result(&self, number: u32, node: &Node) -> NodeResult {
        NodeResult { served: self.served(number), ..node.result() }
    }

    pub(crate) fn flow_result(&self, flow: usize) -> FlowResult {
        let (app, workload) = match &self.flows[flow] {
            FlowEntry::Over(result) => return FlowResult::clone(result),
            FlowEntry::Live { app, workload } => (&self.apps[*app as usize], *workload),
        };
        let mut result = self.named(flow, app.node);
        app.result(self.now, &mut result);
        if let Some((workload, class)) = workload {
            (result.workload, result.class) = (Some(workload), class);
        }
        result
    }

    /// The sums over all lives of the sending node.
    fn link_sums(&self, end: &WireEnd) -> LinkSums {
        let mut sums = end.past.clone();
        if let Some(forwarder) = &self.nodes[end.from as usize].forwarder {
            sums.add(self.now, forwarder, end.from_face);
        }
        sums
    }

    fn link_result(&self, end: &WireEnd) -> LinkResult {
        let LinkSums { mut result, occupancy } = self.link_sums(end);
        let span = self.now.0.max(1) as f64;
        let mean = occupancy.0 as f64 / span;
        let variance = (occupancy.1 as f64 / span - mean * mean).max(0.0);
        result.queue = Queue { mean, stdev: variance.sqrt(), max: result.queue.max };
        result.rate = self.rate(end);
        result.wire = end.wire.counters;
        result.in_flight = end.wire.in_flight() as u64;
        result.utilization = (end.wire.counters.busy.0 as f64 / span).min(1.0);
        result
    }

    fn rate(&self, end: &WireEnd) -> Option<Rate> {
        match self.nodes[end.from as usize].port(end.from_face) {
            Port::Link { plan, .. } => plan.spec.rate,
            Port::App { .. } => None,
        }
    }

    /// Gives the recorder a sample of everything.
    pub(crate) fn sample(&mut self) {
        let Some(mut recorder) = self.recorder.take() else {
            self.every = Duration::ZERO;
            return self.schedule_sample(self.now);
        };
        for (number, end) in self.wires.iter().enumerate() {
            let LinkSums { result, .. } = self.link_sums(end);
            recorder.link(&LinkSample {
                at: self.now,
                link: LinkId(number as u32 / 2),
                backward: number % 2 == 1,
                queue: result.queued,
                bytes: result.sent.bytes,
                busy: end.wire.busy(self.now),
                rate: self.rate(end),
                drops: LinkResult { wire: end.wire.counters, ..result }.drops(),
                marked: result.marked,
            });
        }
        self.flow_samples().for_each(|sample| recorder.flow(&sample));
        self.sample_nodes(&mut *recorder);
        self.numbered_workload_samples().for_each(|sample| recorder.workload(&sample));
        self.recorder = Some(recorder);
        self.schedule_sample(self.now + self.every);
    }

    fn sample_nodes(&self, recorder: &mut dyn Recorder) {
        let mut sum = NetworkSample { at: self.now, ..NetworkSample::default() };
        for node in &self.nodes {
            let StoreCounts { hits, misses, served } = self.store_counts(node.id);
            (sum.hits, sum.misses) = (sum.hits + hits, sum.misses + misses);
            sum.served += served;
            let Some(forwarder) = &node.forwarder else { continue };
            recorder.node(&NodeSample {
                at: self.now,
                node: node.id,
                pit: forwarder.pit().len(),
                content_store: forwarder.content_store().len(),
                hits,
                misses,
                served,
                process: None,
            });
        }
        recorder.network(&sum);
    }

    /// The flows that run.
    pub(crate) fn flow_samples(&self) -> impl Iterator<Item = FlowSample> {
        (0..).map(FlowId).zip(&self.flows).filter_map(|(flow, entry)| {
            let FlowEntry::Live { app, .. } = entry else { return None };
            self.apps[*app as usize].sample(self.now, flow)
        })
    }

    /// The classes of all workloads.
    pub(crate) fn numbered_workload_samples(&self) -> impl Iterator<Item = WorkloadSample> {
        let classes = self.workload_samples().into_iter().flatten().enumerate();
        classes.map(|(number, sample)| WorkloadSample { at: self.now, number, ..sample })
    }
}
