//! The counters in Prometheus' text exposition format, version 0.0.4.
//!
//! The tables `NODE`, `CHECKS`, `FACE` and `TIMES` declare all metrics. They read a [`Node`] and
//! the [`FaceInfo`]s, and the manual is generated from them. Names have lower-case letters and `_`.
//! Values are whole numbers; those of histograms are the numbers of durations, with bounds and sums
//! in seconds. A histogram without durations is left out: most faces lead only to consumers, or
//! only to producers.

use super::Management;
use super::face_info::FaceInfo;
use crate::resident::resident;
use forwarder::{
    Amount, DropReason, Drops, DurationHistogram, FaceCounters, Forwarder, ForwarderStats, Traffic,
};
use std::fmt::{Display, Write};

/// A family of metrics.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Its meaning, in one sentence.
    pub help: &'static str,
    /// Its labels besides those of a face.
    pub labels: &'static str,
    is_histogram: bool,
}

impl Family {
    /// The name of a histogram's samples of a kind: `bucket`, `sum` or `count`.
    #[must_use]
    pub fn sample(&self, kind: &str) -> String {
        format!("{}_{kind}", self.name)
    }

    /// Prometheus' own word for its type: a value that only grows is a counter, and ends in
    /// `_total`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.name.ends_with("_total") {
            _ if self.is_histogram => "histogram",
            true => "counter",
            false => "gauge",
        }
    }
}

const fn of(name: &'static str, labels: &'static str, help: &'static str) -> Family {
    Family { name, help, labels, is_histogram: false }
}

const fn histogram(name: &'static str, labels: &'static str, help: &'static str) -> Family {
    Family { name, help, labels, is_histogram: true }
}

/// Takes labels and number of each sample.
type Put<'p> = dyn FnMut(&[(&str, &str)], u64) + 'p;
/// The reader of a metric of the node.
type OfNode = fn(&Node<'_>, &mut Put<'_>);
/// The reader of a metric of a face.
type OfFace = fn(&Face<'_>, &mut Put<'_>);
/// The reader of a histogram of a face.
type OfTimes = fn(&FaceCounters) -> &DurationHistogram;

/// The sources of all metrics except those of faces.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The forwarder.
    pub forwarder: &'a Forwarder,
    /// Its management.
    pub management: &'a Management,
    /// Milliseconds since the daemon's start.
    pub uptime_ms: u64,
    /// True if the configuration was applied, and completely, when it was last read.
    pub is_applied: bool,
}

impl Node<'_> {
    fn stats(&self) -> &ForwarderStats {
        self.forwarder.stats()
    }
}

/// A face with its counters.
struct Face<'a> {
    info: &'a FaceInfo,
    counters: &'a FaceCounters,
    queued: Amount,
}

const NODE: &[(Family, OfNode)] = &[
    (of("weir_build_info", "version", "1, with the program's version"), |_, put| {
        put(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    }),
    (of("weir_uptime_seconds", "", "Uptime in seconds"), |node, put| {
        put(&[], node.uptime_ms / 1000);
    }),
    (
        of(
            "weir_config_last_reload_successful",
            "",
            "1 if the last read configuration was applied completely, otherwise 0",
        ),
        |node, put| put(&[], u64::from(node.is_applied)),
    ),
    (of("weir_packets_received_total", "type", "Packets received"), |f, put| {
        packets(&f.stats().received, put);
    }),
    (of("weir_packets_sent_total", "type", "Packets sent"), |f, put| {
        packets(&f.stats().sent, put);
    }),
    (of("weir_bytes_received_total", "", "Bytes of received frames"), |f, put| {
        put(&[], f.stats().received.bytes);
    }),
    (of("weir_bytes_sent_total", "", "Bytes of sent frames"), |f, put| {
        put(&[], f.stats().sent.bytes);
    }),
    (
        of("weir_interests_ended_total", "how", "Pending Interests that ended, by outcome"),
        |f, put| {
            ended(f.stats(), put);
        },
    ),
    (
        of("weir_interests_aggregated_total", "", "Interests aggregated with a pending one"),
        |f, put| {
            put(&[], f.stats().aggregated);
        },
    ),
    (of("weir_drops_total", "reason", "Packets dropped"), |f, put| {
        // All of them: a rate needs the zero before the first drop.
        let drops = &f.stats().drops;
        DropReason::ALL.iter().for_each(|r| put(&[("reason", r.name())], drops.of(*r)));
    }),
    (of("weir_malformed_options_total", "reason", "Options removed from packets"), |f, put| {
        let faults = f.stats().malformed_options.iter();
        faults.for_each(|(fault, n)| put(&[("reason", fault.name())], n));
    }),
    (of("weir_pit_entries", "", "Pending Interests"), |f, put| {
        put(&[], f.forwarder.pit().len() as u64);
    }),
    (of("weir_pit_capacity_entries", "", "Maximum number of pending Interests"), |f, put| {
        put(&[], f.forwarder.pit().config().entries as u64);
    }),
    (of("weir_fib_entries", "", "Prefixes with routes"), |f, put| {
        put(&[], f.forwarder.fib().len() as u64);
    }),
    (of("weir_content_store_entries", "", "Data in the content store"), |f, put| {
        put(&[], f.forwarder.content_store().len() as u64);
    }),
    (of("weir_content_store_capacity_bytes", "", "Capacity of the content store"), |f, put| {
        put(&[], f.forwarder.content_store().capacity() as u64);
    }),
    (of("weir_content_store_inserted_total", "", "Data packets inserted"), |f, put| {
        put(&[], f.forwarder.content_store().counters().inserted);
    }),
    (of("weir_content_store_evicted_total", "", "Data packets evicted"), |f, put| {
        put(&[], f.forwarder.content_store().counters().evicted);
    }),
    (of("weir_content_store_lookups_total", "result", "Content-store lookups"), |f, put| {
        put(&[("result", "hit")], f.forwarder.content_store().counters().hits);
        put(&[("result", "miss")], f.forwarder.content_store().counters().misses);
    }),
    (of("weir_memory_bytes", "part", "Memory in use, by part"), |f, put| {
        let memory = f.forwarder.memory();
        put(&[("part", "content_store")], memory.content_store as u64);
        put(&[("part", "pending")], memory.pending as u64);
        put(&[("part", "routes")], memory.routes as u64);
        put(&[("part", "dead_nonces")], memory.dead_nonces as u64);
        if memory.limit.is_some() {
            put(&[("part", "faces")], memory.faces as u64);
        }
    }),
    (of("weir_memory_limit_bytes", "", "Memory limit of all parts together, if any"), |f, put| {
        if let Some(limit) = f.forwarder.memory().limit {
            put(&[], limit as u64);
        }
    }),
    (of("weir_memory_refused_total", "what", "Requests rejected for lack of memory"), |f, put| {
        let refused = f.forwarder.memory().refused;
        put(&[("what", "interests")], refused.interests);
        put(&[("what", "packets")], refused.packets);
        put(&[("what", "faces")], refused.faces);
        put(&[("what", "routes")], refused.routes);
    }),
    (of("weir_resident_bytes", "", "Resident memory of the process"), |_, put| {
        if let Some(bytes) = resident() {
            put(&[], bytes);
        }
    }),
];

/// Of signatures, by what was signed and what the check showed.
const CHECKS: Family = histogram(
    "weir_verification_seconds",
    "of result",
    "Time to verify the signature of a command or announcement",
);

const FACE: &[(Family, OfFace)] = &[
    (of("weir_face_up", "", "1 if the face's socket is connected, otherwise 0"), |face, put| {
        put(&[], u64::from(face.info.up));
    }),
    (
        of("weir_face_packets_received_total", "type", "Packets received on the face"),
        |face, put| {
            packets(&face.counters.received, put);
        },
    ),
    (of("weir_face_packets_sent_total", "type", "Packets sent on the face"), |face, put| {
        packets(&face.counters.sent, put);
    }),
    (
        of("weir_face_frames_sent_total", "", "Frames sent on the face; a packet has one or more"),
        |face, put| put(&[], face.counters.sent.frames),
    ),
    (
        of("weir_face_bytes_received_total", "", "Bytes of frames received on the face"),
        |face, put| {
            put(&[], face.counters.received.bytes);
        },
    ),
    (of("weir_face_bytes_sent_total", "", "Bytes of frames sent on the face"), |face, put| {
        put(&[], face.counters.sent.bytes);
    }),
    (of("weir_face_marked_total", "", "Data packets sent with a congestion mark"), |face, put| {
        put(&[], face.counters.marked);
    }),
    (
        of("weir_face_lost_total", "", "Frames that the kernel rejected or a link lost"),
        |face, put| {
            put(&[], face.info.lost);
        },
    ),
    (
        of(
            "weir_face_resent_frames_total",
            "",
            "Frames that link reliability retransmitted because the peer did not acknowledge them",
        ),
        |face, put| put(&[], face.counters.reliability.resent_frames),
    ),
    (
        of(
            "weir_face_given_up_total",
            "",
            "Packets that link reliability retransmitted without success",
        ),
        |face, put| put(&[], face.counters.reliability.exhausted),
    ),
    (of("weir_face_drops_total", "reason", "Packets dropped on the face"), |face, put| {
        drops(&face.counters.drops, put);
    }),
    (of("weir_face_queue_packets", "", "Packets waiting in the face's queues"), |face, put| {
        put(&[], face.queued.packets);
    }),
    (of("weir_face_queue_bytes", "", "Bytes waiting in the face's queues"), |face, put| {
        put(&[], face.queued.bytes);
    }),
];

const TIMES: &[(Family, OfTimes)] = &[
    (
        histogram(
            "weir_face_round_trip_seconds",
            "",
            "Time from queueing an Interest to receiving its Data; repeated Interests do not count",
        ),
        |counters| &counters.round_trips,
    ),
    (
        histogram(
            "weir_face_queueing_seconds",
            "",
            "Time that packets waited in the face's queues before they were sent",
        ),
        |counters| &counters.waits,
    ),
];

/// Every family, and true for those of faces, which also have the labels `face` and `uri`.
pub fn families() -> impl Iterator<Item = (&'static Family, bool)> {
    let node = NODE.iter().map(|(family, _)| family).chain([&CHECKS]);
    let faces = FACE.iter().map(|(family, _)| family);
    let faces = faces.chain(TIMES.iter().map(|(family, _)| family));
    node.map(|family| (family, false)).chain(faces.map(|family| (family, true)))
}

fn packets(traffic: &Traffic, put: &mut Put<'_>) {
    put(&[("type", "interest")], traffic.interests);
    put(&[("type", "data")], traffic.data);
    put(&[("type", "nack")], traffic.nacks);
}

fn ended(stats: &ForwarderStats, put: &mut Put<'_>) {
    put(&[("how", "satisfied")], stats.satisfied);
    put(&[("how", "nacked")], stats.nacked);
    put(&[("how", "expired")], stats.expired);
}

fn drops(drops: &Drops, put: &mut Put<'_>) {
    // Most faces never have most of them. A rate needs the zero before the first drop of a queue.
    let of_queues = [DropReason::InterestQueueFull, DropReason::DataQueueFull];
    for reason in DropReason::ALL {
        let count = drops.of(*reason);
        if count > 0 || of_queues.contains(reason) {
            put(&[("reason", reason.name())], count);
        }
    }
}

/// The text with all metrics.
#[must_use]
pub fn text(node: &Node<'_>, infos: &[FaceInfo]) -> String {
    let mut out = String::new();
    let forwarder = node.forwarder;
    for (family, read) in NODE {
        begin(&mut out, family);
        read(node, &mut |labels, number| line(&mut out, family.name, labels, number));
    }
    begin(&mut out, &CHECKS);
    for (of, checks) in node.management.checks() {
        for (result, times) in checks.iter() {
            durations(&mut out, &CHECKS, &[("of", of), ("result", result)], times);
        }
    }
    let faces: Vec<(Face<'_>, String)> = infos
        .iter()
        .filter_map(|info| {
            let counters = forwarder.counters(info.id)?;
            let queued = forwarder.queued(info.id)?;
            Some((Face { info, counters, queued }, info.id.to_string()))
        })
        .collect();
    for (family, read) in FACE {
        begin(&mut out, family);
        for (face, number) in &faces {
            let own = [("face", number.as_str()), ("uri", face.info.uri.as_str())];
            read(face, &mut |labels, n| line(&mut out, family.name, &[&own, labels].concat(), n));
        }
    }
    for (family, read) in TIMES {
        begin(&mut out, family);
        for (face, number) in &faces {
            let own = [("face", number.as_str()), ("uri", face.info.uri.as_str())];
            let times = read(face.counters);
            // Many faces never have any.
            if times.total() > 0 {
                durations(&mut out, family, &own, times);
            }
        }
    }
    out
}

// Writing to a string cannot fail.
fn begin(out: &mut String, family: &Family) {
    let Family { name, help, .. } = family;
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} {}", family.kind());
}

/// A histogram.
fn durations(
    out: &mut String,
    family: &Family,
    labels: &[(&str, &str)],
    times: &DurationHistogram,
) {
    let total = times.total();
    let name = family.sample("bucket");
    for (bound, count) in times.cumulated() {
        let bound = (bound.0 as f64 / 1e9).to_string();
        line(out, &name, &[labels, &[("le", bound.as_str())]].concat(), count);
    }
    line(out, &name, &[labels, &[("le", "+Inf")]].concat(), total);
    line(out, &family.sample("sum"), labels, times.sum_ns() as f64 / 1e9);
    line(out, &family.sample("count"), labels, total);
}

fn line(out: &mut String, name: &str, labels: &[(&str, &str)], number: impl Display) {
    out.push_str(name);
    for (i, (label, value)) in labels.iter().enumerate() {
        let _ = write!(out, "{}{label}=\"", if i == 0 { '{' } else { ',' });
        for c in value.chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                other => out.push(other),
            }
        }
        out.push('"');
    }
    let _ = writeln!(out, "{} {number}", if labels.is_empty() { "" } else { "}" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Time;
    use forwarder::{FaceConfig, ForwarderConfig, Wire};

    fn node() -> (Forwarder, FaceInfo) {
        let strategy = schemes::Choice::named("best-route").unwrap().strategy().unwrap();
        let mut forwarder = Forwarder::new(ForwarderConfig::new(strategy));
        let id = forwarder.add_face(Time(0), FaceConfig::default());
        let info = FaceInfo { lost: 7, ..FaceInfo::new(id, "udp4://192.0.2.1:6363") };
        (forwarder, info)
    }

    fn written(forwarder: &Forwarder, uptime_ms: u64, infos: &[FaceInfo]) -> String {
        let management = Management::new(forwarder::FaceId(9), 1, 0);
        text(&Node { forwarder, management: &management, uptime_ms, is_applied: true }, infos)
    }

    /// An Interest leaves after 20 µs in the queue. Its Data comes 3 ms after the face took it.
    #[test]
    fn histograms_count_what_is_not_longer_than_their_bounds() {
        let (mut forwarder, info) = node();
        let consumer = forwarder.add_face(Time(0), FaceConfig::default());
        forwarder.add_route(info.id, "/a".parse::<packet::Name>().unwrap().as_ref(), 0).unwrap();
        let interest = packet::InterestBuf::new("/a".parse().unwrap()).encode();
        forwarder.receive(Time(0), consumer, Wire::Borrowed(&interest));
        assert!(forwarder.poll_transmit(Time(20_000), info.id, &mut Vec::new()).is_some());
        let data = packet::DataBuf::new("/a".parse().unwrap(), "x").encode_digest();
        forwarder.receive(Time(3_000_000), info.id, Wire::Borrowed(&data));
        let text = written(&forwarder, 0, &[info, FaceInfo::new(consumer, "udp4://192.0.2.2:1")]);
        let own = "face=\"1\",uri=\"udp4://192.0.2.1:6363\"";
        for expected in [
            "# TYPE weir_face_round_trip_seconds histogram\n".to_owned(),
            format!("weir_face_round_trip_seconds_bucket{{{own},le=\"0.00001\"}} 0\n"),
            format!("weir_face_round_trip_seconds_bucket{{{own},le=\"0.002\"}} 0\n"),
            format!("weir_face_round_trip_seconds_bucket{{{own},le=\"0.005\"}} 1\n"),
            format!("weir_face_round_trip_seconds_bucket{{{own},le=\"+Inf\"}} 1\n"),
            format!("weir_face_round_trip_seconds_sum{{{own}}} 0.003\n"),
            format!("weir_face_round_trip_seconds_count{{{own}}} 1\n"),
            format!("weir_face_queueing_seconds_bucket{{{own},le=\"0.00001\"}} 0\n"),
            format!("weir_face_queueing_seconds_bucket{{{own},le=\"0.00002\"}} 1\n"),
        ] {
            assert!(text.contains(&expected), "{expected} in {text}");
        }
        assert!(!text.contains("weir_face_round_trip_seconds_count{face=\"2\""), "none came by it");
    }

    #[test]
    fn samples_follow_their_help_and_type_lines() {
        let (mut forwarder, info) = node();
        let interest = packet::InterestBuf::new("/a".parse().unwrap()).encode();
        forwarder.receive(Time(0), info.id, Wire::Borrowed(&interest));
        forwarder.receive(Time(0), info.id, Wire::Borrowed(b"junk"));
        let text = written(&forwarder, 3999, &[info]);
        for expected in [
            "# HELP weir_uptime_seconds Uptime in seconds.\n\
             # TYPE weir_uptime_seconds gauge\nweir_uptime_seconds 3\n",
            "# TYPE weir_packets_received_total counter\n\
             weir_packets_received_total{type=\"interest\"} 1\n",
            "weir_drops_total{reason=\"malformed\"} 1\n",
            "weir_interests_ended_total{how=\"nacked\"} 1\n",
            "weir_face_up{face=\"1\",uri=\"udp4://192.0.2.1:6363\"} 1\n",
            "weir_face_lost_total{face=\"1\",uri=\"udp4://192.0.2.1:6363\"} 7\n",
            "weir_face_packets_received_total{face=\"1\",uri=\"udp4://192.0.2.1:6363\",\
             type=\"interest\"} 1\n",
        ] {
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }

    /// Prometheus rejects a family that comes twice, and names with other characters.
    #[test]
    fn metric_families_are_unique_and_have_valid_names() {
        let names: Vec<&str> = families().map(|(family, _)| family.name).collect();
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        let allowed = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(names.iter().all(|name| name.chars().all(allowed)), "{names:?}");
        let (forwarder, info) = node();
        let text = written(&forwarder, 0, &[info]);
        for name in names {
            assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
        }
    }

    #[test]
    fn quotes_and_newlines_in_labels_are_escaped() {
        let mut out = String::new();
        line(&mut out, "weir_x", &[("uri", "a\\b\"c\nd")], 1);
        assert_eq!(out, "weir_x{uri=\"a\\\\b\\\"c\\nd\"} 1\n");
    }
}
