//! The counters in Prometheus' text exposition format, version 0.0.4.
//!
//! The tables `NODE` and `FACE` declare all metrics except the uptime. They read the forwarder and
//! [`FaceInfo`]; other values are arguments of [`text`]. The manual is generated from them. Names
//! have lower-case letters and `_`, and values are whole numbers.

use super::FaceInfo;
use crate::resident::resident;
use forwarder::{Drops, FaceCounters, Forwarder, ForwarderStats, Traffic};
use std::fmt::Write;

/// A family of metrics.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Its meaning, in one sentence.
    pub help: &'static str,
    /// Its labels besides those of a face.
    pub labels: &'static str,
}

impl Family {
    /// Prometheus' own word for its type: what only grows is a counter, and ends in `_total`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.name.ends_with("_total") { "counter" } else { "gauge" }
    }
}

const fn of(name: &'static str, labels: &'static str, help: &'static str) -> Family {
    Family { name, help, labels }
}

/// Takes labels and number of each sample.
type Put<'p> = dyn FnMut(&[(&str, &str)], u64) + 'p;
/// The reader of a metric of the node.
type OfNode = fn(&Forwarder, &mut Put<'_>);
/// The reader of a metric of a face.
type OfFace = fn(&Face<'_>, &mut Put<'_>);

/// A face with what it has counted.
struct Face<'a> {
    info: &'a FaceInfo,
    counters: &'a FaceCounters,
    queued: (u64, u64),
}

const NODE: &[(Family, OfNode)] = &[
    (of("weir_packets_received_total", "type", "Packets that came in"), |f, put| {
        packets(&f.stats().received, put);
    }),
    (of("weir_packets_sent_total", "type", "Packets that left"), |f, put| {
        packets(&f.stats().sent, put);
    }),
    (of("weir_bytes_received_total", "", "Bytes of the frames that came in"), |f, put| {
        put(&[], f.stats().received.bytes);
    }),
    (of("weir_bytes_sent_total", "", "Bytes of the frames that left"), |f, put| {
        put(&[], f.stats().sent.bytes);
    }),
    (of("weir_interests_ended_total", "how", "Pending Interests by how they ended"), |f, put| {
        ended(f.stats(), put);
    }),
    (of("weir_interests_aggregated_total", "", "Interests that joined a pending one"), |f, put| {
        put(&[], f.stats().aggregated);
    }),
    (of("weir_drops_total", "reason", "Packets that were dropped"), |f, put| {
        drops(&f.stats().drops, put);
    }),
    (of("weir_pit_entries", "", "Pending Interests"), |f, put| put(&[], f.pit().len() as u64)),
    (of("weir_fib_entries", "", "Prefixes with routes"), |f, put| put(&[], f.fib().len() as u64)),
    (of("weir_content_store_entries", "", "Data in the content store"), |f, put| {
        put(&[], f.content_store().len() as u64);
    }),
    (of("weir_content_store_capacity_bytes", "", "Its bound, everything counted"), |f, put| {
        put(&[], f.content_store().capacity() as u64);
    }),
    (
        of("weir_content_store_lookups_total", "result", "Interests that it was asked for"),
        |f, put| {
            put(&[("result", "hit")], f.stats().hits);
            put(&[("result", "miss")], f.stats().misses);
        },
    ),
    (of("weir_memory_bytes", "part", "Memory that the parts take"), |f, put| {
        let memory = f.memory();
        put(&[("part", "content_store")], memory.content_store as u64);
        put(&[("part", "pending")], memory.pending as u64);
        put(&[("part", "routes")], memory.routes as u64);
        put(&[("part", "dead_nonces")], memory.dead_nonces as u64);
    }),
    (of("weir_resident_bytes", "", "Memory that the process takes of the host's"), |_, put| {
        if let Some(bytes) = resident() {
            put(&[], bytes);
        }
    }),
];

const FACE: &[(Family, OfFace)] = &[
    (of("weir_face_up", "", "Whether its socket is connected"), |face, put| {
        put(&[], u64::from(face.info.up));
    }),
    (of("weir_face_packets_received_total", "type", "Packets that came in by it"), |face, put| {
        packets(&face.counters.received, put);
    }),
    (of("weir_face_packets_sent_total", "type", "Packets that left by it"), |face, put| {
        packets(&face.counters.sent, put);
    }),
    (
        of("weir_face_bytes_received_total", "", "Bytes of frames that came in by it"),
        |face, put| {
            put(&[], face.counters.received.bytes);
        },
    ),
    (of("weir_face_bytes_sent_total", "", "Bytes of frames that left by it"), |face, put| {
        put(&[], face.counters.sent.bytes);
    }),
    (of("weir_face_marked_total", "", "Data that left with a congestion mark"), |face, put| {
        put(&[], face.counters.marked);
    }),
    (
        of("weir_face_lost_total", "", "Frames that the kernel refused or a link lost"),
        |face, put| {
            put(&[], face.info.lost);
        },
    ),
    (of("weir_face_drops_total", "reason", "Packets that were dropped there"), |face, put| {
        drops(&face.counters.drops, put);
    }),
    (of("weir_face_queue_packets", "", "Packets that wait to leave"), |face, put| {
        put(&[], face.queued.0);
    }),
    (of("weir_face_queue_bytes", "", "Bytes that wait to leave"), |face, put| {
        put(&[], face.queued.1);
    }),
];

const UPTIME: Family = of("weir_uptime_seconds", "", "How long the daemon runs");

/// Every family; those of faces have the labels `face` and `uri` besides.
pub fn families() -> impl Iterator<Item = (&'static Family, bool)> {
    let node = NODE.iter().map(|(family, _)| (family, false));
    let faces = FACE.iter().map(|(family, _)| (family, true));
    [(&UPTIME, false)].into_iter().chain(node).chain(faces)
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
    drops.iter().for_each(|(reason, n)| put(&[("reason", reason.name())], n));
}

/// Everything that is counted.
#[must_use]
pub fn text(forwarder: &Forwarder, infos: &[FaceInfo], uptime_ms: u64) -> String {
    let mut out = String::new();
    begin(&mut out, &UPTIME);
    line(&mut out, &UPTIME, &[], uptime_ms / 1000);
    for (family, read) in NODE {
        begin(&mut out, family);
        read(forwarder, &mut |labels, number| line(&mut out, family, labels, number));
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
            read(face, &mut |labels, n| line(&mut out, family, &[&own, labels].concat(), n));
        }
    }
    out
}

// Writing to a string cannot fail.
fn begin(out: &mut String, family: &Family) {
    let Family { name, help, .. } = family;
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} {}", family.kind());
}

fn line(out: &mut String, family: &Family, labels: &[(&str, &str)], number: u64) {
    out.push_str(family.name);
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

    #[test]
    fn samples_follow_the_line_that_says_what_they_are() {
        let (mut forwarder, info) = node();
        let interest = packet::InterestBuf::new("/a".parse().unwrap()).encode();
        forwarder.receive(Time(0), info.id, Wire::Borrowed(&interest));
        forwarder.receive(Time(0), info.id, Wire::Borrowed(b"junk"));
        let text = text(&forwarder, &[info], 3999);
        for expected in [
            "# HELP weir_uptime_seconds How long the daemon runs.\n\
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

    /// Prometheus refuses a family that comes twice, and names with other characters.
    #[test]
    fn families_are_told_apart_and_named_as_prometheus_wants() {
        let names: Vec<&str> = families().map(|(family, _)| family.name).collect();
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        let allowed = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(names.iter().all(|name| name.chars().all(allowed)), "{names:?}");
        let (forwarder, info) = node();
        let text = text(&forwarder, &[info], 0);
        for name in names {
            assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name}");
        }
    }

    #[test]
    fn what_would_end_a_label_is_escaped() {
        let mut out = String::new();
        let family = of("weir_x", "", "X");
        line(&mut out, &family, &[("uri", "a\\b\"c\nd")], 1);
        assert_eq!(out, "weir_x{uri=\"a\\\\b\\\"c\\nd\"} 1\n");
    }
}
