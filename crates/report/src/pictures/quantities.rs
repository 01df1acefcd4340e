//! The known quantities over time: a line each.

/// A picture of one quantity.
pub struct Spec {
    pub subject: &'static str,
    pub quantity: &'static str,
    pub id: &'static str,
    /// Its description, as the beginning of a sentence.
    pub name: &'static str,
    pub axis: &'static str,
    pub unit: &'static str,
    /// The factor from the recorded unit to the drawn one.
    pub factor: f64,
    pub rank: Rank,
    /// It counts from the beginning: its final value matters, its mean does not.
    pub is_sum: bool,
}

/// The place of a picture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// In sight.
    First,
    /// Behind these.
    More,
    /// Not drawn, because others show it.
    Never,
}

const fn spec(about: [&'static str; 6], factor: f64, rank: Rank) -> Spec {
    let [subject, quantity, id, name, axis, unit] = about;
    Spec { subject, quantity, id, name, axis, unit, factor, rank, is_sum: false }
}

const fn sum(about: [&'static str; 6], rank: Rank) -> Spec {
    Spec { is_sum: true, ..spec(about, 1.0, rank) }
}

const fn first(about: [&'static str; 6]) -> Spec {
    spec(about, 1.0, Rank::First)
}

const fn more(about: [&'static str; 6]) -> Spec {
    spec(about, 1.0, Rank::More)
}

const fn never(subject: &'static str, quantity: &'static str) -> Spec {
    spec([subject, quantity, "", "", "", ""], 1.0, Rank::Never)
}

/// All of them; other recorded quantities are drawn after these, unchanged.
pub const SPECS: &[Spec] = &[
    first(["flow", "goodput_mbps", "rates", "Rates", "goodput", "Mbit/s"]),
    first(["flow", "window", "windows", "Windows", "window", "segments"]),
    first(["flow", "rtt_ms", "rtt", "Smoothed round-trip times", "smoothed RTT", "ms"]),
    first(["flow", "buffer_s", "buffers", "Playout buffers", "in the buffer", "s"]),
    first(["flow", "bitrate_mbps", "quality", "Quality of videos", "quality", "Mbit/s"]),
    sum(["flow", "stalls", "stalls", "Stalls since the beginning", "stalls", ""], Rank::First),
    first(["workload", "began_per_s", "arrivals", "Arrivals", "began", "flows/s"]),
    first(["workload", "running", "running", "Flows at a time", "running", "flows"]),
    first(["workload", "fct_mean_s", "times", "Completion times", "mean completion time", "s"]),
    first(["workload", "goodput_mbps", "workload-rates", "Workloads", "goodput", "Mbit/s"]),
    first(["workload", "buffer_s", "mean-buffers", "Mean playout buffers", "in the buffer", "s"]),
    first(["workload", "bitrate_mbps", "mean-quality", "Mean quality", "quality", "Mbit/s"]),
    first(["workload", "stalled", "stalled", "Stalled players", "stalled", "players"]),
    spec(["network", "hit_ratio", "hit-ratio", "Hit ratio", "hit ratio", "%"], 100.0, Rank::First),
    spec(
        ["node", "hit_ratio", "node-hit-ratio", "Hit ratio by node", "hit ratio", "%"],
        100.0,
        Rank::First,
    ),
    spec(["link", "queue_bytes", "queues", "Queues", "queue", "kB"], 1e-3, Rank::First),
    first(["link", "queue_packets", "queues", "Queues", "queue", "packets"]),
    spec(["link", "utilization", "use", "Use of links", "time in use", "%"], 100.0, Rank::First),
    more(["flow", "in_flight", "in-flight", "In flight", "in flight", "segments"]),
    more(["workload", "completed_per_s", "completions", "Completions", "complete", "flows/s"]),
    sum(
        ["workload", "failed", "failed", "Failed flows since the beginning", "failed", "flows"],
        Rank::More,
    ),
    sum(["link", "drops", "drops", "Drops since the beginning", "lost", "packets"], Rank::More),
    sum(["link", "marked", "marks", "Marks since the beginning", "marked", "Data"], Rank::More),
    more(["node", "pit", "pit", "Pending Interests", "pending", "Interests"]),
    more(["node", "cs_packets", "stores", "Content stores", "stored", "Data"]),
    sum(
        [
            "flow",
            "retransmissions",
            "again",
            "Sent again since the beginning",
            "sent again",
            "Interests",
        ],
        Rank::More,
    ),
    never("flow", "bytes"),
    never("link", "throughput_mbps"),
    never("link", "capacity_mbps"),
    never("node", "cs_hits"),
    never("node", "cs_misses"),
    never("node", "served"),
    never("network", "cs_hits"),
    never("network", "served"),
    never("workload", "started"),
    never("workload", "completed"),
    never("workload", "fct_total_s"),
];

/// The axis label of a quantity.
#[must_use]
pub fn axis_name(quantity: &str) -> String {
    let known = SPECS.iter().find(|spec| spec.quantity == quantity && !spec.axis.is_empty());
    known.map_or_else(|| unit_of(quantity).0.replace('_', " "), |spec| spec.axis.to_owned())
}

/// The axis of a quantity of a kind of subject: its label, its unit, and the factor from the
/// recorded unit to that one.
#[must_use]
pub fn axis_of(subject: &str, quantity: &str) -> (String, &'static str, f64) {
    match SPECS.iter().find(|spec| spec.subject == subject && spec.quantity == quantity) {
        Some(spec) if !spec.axis.is_empty() => (spec.axis.to_owned(), spec.unit, spec.factor),
        _ => (axis_name(quantity), unit_of(quantity).1, 1.0),
    }
}

/// A quantity's name without its unit, and the unit.
pub fn unit_of(quantity: &str) -> (&str, &'static str) {
    const UNITS: &[(&str, &str)] =
        &[("_s", "s"), ("_ms", "ms"), ("_mbps", "Mbit/s"), ("_bytes", "B"), ("_ratio", "share")];
    UNITS
        .iter()
        .find_map(|(end, unit)| Some((quantity.strip_suffix(end)?, *unit)))
        .unwrap_or((quantity, ""))
}
