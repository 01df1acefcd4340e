//! The quantities that are recorded: a line each.

use control::{Duration, Time};
use record::{FlowSample, LinkSample, NetworkSample, NodeSample, WorkloadSample};

/// Something that a sample says.
#[derive(Clone, Copy)]
pub struct Quantity<S: 'static> {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its meaning.
    pub help: &'static str,
    /// Its value by a sample and the one before it, if there was one.
    pub value: fn(&S, Option<&S>) -> Option<f64>,
}

const fn quantity<S>(
    name: &'static str,
    help: &'static str,
    value: fn(&S, Option<&S>) -> Option<f64>,
) -> Quantity<S> {
    Quantity { name, help, value }
}

/// The recorded quantities of a running consumer.
pub const FLOW: &[Quantity<FlowSample>] = &[
    quantity("window", "segments that may be in flight", |s, _| s.window),
    quantity("in_flight", "segments in flight", |s, _| Some(s.in_flight.into())),
    quantity("goodput_mbps", "content delivered since the previous sample", |s, before| {
        let before = before?;
        per_second(s.bytes.0.saturating_sub(before.bytes.0) as f64 * 8e-6, s.at, before.at)
    }),
    quantity("rtt_ms", "smoothed round-trip time; at a constant rate, the mean one", |s, _| {
        Some(s.rtt? as f64 / 1e6)
    }),
    quantity("bytes", "content delivered since the beginning", |s, _| Some(s.bytes.0 as f64)),
    quantity("retransmissions", "Interests sent again since the beginning", |s, _| {
        Some(s.retransmissions as f64)
    }),
    quantity("buffer_s", "of a video: what is in the playout buffer", |s, _| {
        Some(s.video?.buffer.as_secs_f64())
    }),
    quantity("bitrate_mbps", "of a video: the rate of the quality asked for last", |s, _| {
        Some(s.video?.bitrate.0 as f64 / 1e6)
    }),
    quantity("stalls", "of a video: how often it has stalled since the beginning", |s, _| {
        Some(s.video?.stalls as f64)
    }),
];

/// The recorded quantities of a class of a workload.
pub const WORKLOAD: &[Quantity<WorkloadSample>] = &[
    quantity("started", "flows, or requests of chunks, that began since the beginning", |s, _| {
        Some(s.counts.started as f64)
    }),
    quantity("completed", "those that received everything, since the beginning", |s, _| {
        Some(s.counts.completed as f64)
    }),
    quantity(
        "failed",
        "those that ended without receiving everything, since the beginning",
        |s, _| Some(s.counts.failed as f64),
    ),
    quantity("running", "those that run", |s, _| Some(s.counts.running() as f64)),
    quantity(
        "fct_total_s",
        "the completion times of all that are complete; divided by `completed`, their mean",
        |s, _| Some(s.counts.taken as f64 / 1e9),
    ),
    quantity("goodput_mbps", "content received since the previous sample", |s, before| {
        let before = before?;
        per_second(s.bytes.saturating_sub(before.bytes) as f64 * 8e-6, s.at, before.at)
    }),
    quantity("stalled", "players of a video that are stalled", |s, _| {
        (s.players > 0).then_some(s.stalled as f64)
    }),
    quantity("buffer_s", "the mean of what is in the players' playout buffers", |s, _| {
        (s.players > 0).then(|| s.buffer.as_secs_f64() / s.players as f64)
    }),
    quantity("bitrate_mbps", "the mean rate of the qualities that players ask for", |s, _| {
        (s.players > 0).then(|| s.bitrate.0 as f64 / 1e6 / s.players as f64)
    }),
];

/// The recorded quantities of all content stores together, if there are some.
pub const NETWORK: &[Quantity<NetworkSample>] = &[
    quantity("cs_hits", "Interests since the beginning that content stores answered", |s, _| {
        Some(s.answers.hits as f64)
    }),
    quantity("served", "packets since the beginning that producers sent", |s, _| {
        Some(s.answers.served as f64)
    }),
];

/// The recorded quantities of a direction of a link.
pub const LINK: &[Quantity<LinkSample>] = &[
    quantity("queue_bytes", "bytes in the sending face's queues", |s, _| {
        Some(s.queue.bytes as f64)
    }),
    quantity("queue_packets", "packets in them", |s, _| Some(s.queue.packets as f64)),
    quantity(
        "utilization",
        "share of the time since the previous sample in which it was sending",
        |s, before| {
            let before = before?;
            let busy = s.busy.saturating_sub(before.busy).as_secs_f64();
            per_second(busy, s.at, before.at).map(|share| share.min(1.0))
        },
    ),
    quantity("throughput_mbps", "bytes sent since the previous sample", |s, before| {
        let before = before?;
        per_second(s.bytes.saturating_sub(before.bytes) as f64 * 8e-6, s.at, before.at)
    }),
    quantity("capacity_mbps", "the rate", |s, _| Some(s.rate?.0 as f64 / 1e6)),
    quantity("drops", "packets lost since the beginning, by the queue or on the wire", |s, _| {
        Some(s.drops as f64)
    }),
    quantity("marked", "Data sent with a congestion mark since the beginning", |s, _| {
        Some(s.counters.marked as f64)
    }),
];

/// The recorded quantities of a node while it is up.
pub const NODE: &[Quantity<NodeSample>] = &[
    quantity("pit", "pending Interests", |s, _| Some(s.pit as f64)),
    quantity("cs_packets", "Data in the content store", |s, _| Some(s.content_store as f64)),
    quantity("cs_hits", "Interests since the beginning that it answered", |s, _| {
        Some(s.answers.hits as f64)
    }),
    quantity("cs_misses", "Interests since the beginning that it did not answer", |s, _| {
        Some(s.answers.misses as f64)
    }),
    quantity("served", "packets since the beginning that producers at the node sent", |s, _| {
        Some(s.answers.served as f64)
    }),
    quantity(
        "cpu",
        "of a real daemon: processor time as a share of the time since the previous sample",
        |s, before| {
            let (now, then) = (s.process?.0, before?.process?.0);
            per_second(now.saturating_sub(then).as_secs_f64(), s.at, before?.at)
        },
    ),
    quantity("memory_bytes", "of a real daemon: bytes of memory in use", |s, _| {
        Some(s.process?.1 as f64)
    }),
];

fn per_second(amount: f64, now: Time, before: Time) -> Option<f64> {
    let span = now.since(before);
    (span > Duration::ZERO).then(|| amount / span.as_secs_f64())
}
