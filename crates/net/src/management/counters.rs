//! `/localhost/weir/counters`: everything that the forwarder counts, as JSON.
//!
//! The object's fields are described in `docs/reference/counters.md`.

use super::FaceInfo;
use crate::resident::resident;
use control::Time;
use forwarder::{Drops, Forwarder, OptionFaults, ReliabilityCounters, Traffic};
use serde_json::{Map, Value, json};

/// The whole state as a JSON text.
#[must_use]
pub fn counters_json(
    forwarder: &Forwarder,
    faces: &[FaceInfo],
    now: Time,
    uptime_ms: u64,
) -> String {
    let stats = forwarder.stats();
    let store = forwarder.content_store();
    let whole = json!({
        "version": 1,
        "uptime_ms": uptime_ms,
        "received": traffic(&stats.received),
        "sent": traffic(&stats.sent),
        "satisfied": stats.satisfied,
        "nacked": stats.nacked,
        "expired": stats.expired,
        "aggregated": stats.aggregated,
        "drops": drops(&stats.drops),
        "malformed_options": malformed(&stats.option_faults),
        "fib": forwarder.fib().len(),
        "pit": pit(forwarder),
        "content_store": {
            "entries": store.len(),
            "bytes": store.memory(),
            "capacity": store.capacity(),
            "policy": store.policy().to_string(),
            "hits": stats.hits,
            "misses": stats.misses,
            "inserted": store.counters().inserted,
            "evicted": store.counters().evicted,
            "died": store.counters().died,
            "moved": store.counters().moved,
        },
        "memory": memory(forwarder),
    });
    // Face by face: as values all of them would take ten times the memory of their text.
    let mut text = whole.to_string();
    text.pop();
    text.push_str(",\"faces\":[");
    for (number, face) in faces.iter().filter_map(|f| face(forwarder, f, now)).enumerate() {
        text.push_str(if number > 0 { "," } else { "" });
        text.push_str(&face.to_string());
    }
    text.push_str("]}");
    text
}

fn pit(forwarder: &Forwarder) -> Value {
    let pit = forwarder.pit();
    json!({ "entries": pit.len(), "most": pit.most(), "bytes": pit.memory() })
}

/// The use of shared memory, part by part.
fn memory(forwarder: &Forwarder) -> Value {
    let memory = forwarder.memory();
    json!({
        "resident": resident(),
        "limit": memory.limit,
        "bytes": memory.total(),
        "content_store": memory.content_store,
        "pending": memory.pending,
        "faces": memory.limit.map(|_| memory.faces),
        "routes": memory.routes,
        "dead_nonces": memory.dead_nonces,
        "refused": {
            "interests": memory.refused.interests,
            "packets": memory.refused.packets,
            "faces": memory.refused.faces,
            "routes": memory.refused.routes,
        },
    })
}

fn face(forwarder: &Forwarder, info: &FaceInfo, now: Time) -> Option<Value> {
    let counters = forwarder.counters(info.id)?;
    let (packets, bytes) = forwarder.queued(info.id)?;
    let view = forwarder.link_view(now, info.id)?;
    let past = forwarder.queue_occupancy(now, info.id)?;
    let seconds = |bytes_ns: u128| bytes_ns as f64 / 1e9;
    let pair = |(packets, bytes): (u64, u64)| json!({ "packets": packets, "bytes": bytes });
    Some(json!({
        "id": info.id.0,
        "name": info.name,
        "uri": info.uri,
        "local_uri": info.local_uri,
        "local": info.local,
        "proved": forwarder.is_proved(info.id),
        "up": info.up,
        "mtu": info.mtu,
        "received": traffic(&counters.received),
        "sent": traffic(&counters.sent),
        "idle": counters.idle,
        "marked": counters.marked,
        "reliability": reliability(&counters.reliability),
        "lost": info.lost,
        "drops": drops(&counters.drops),
        "malformed_options": malformed(&counters.option_faults),
        "queue": {
            "packets": packets,
            "bytes": bytes,
            "head_sojourn_us": view.data_out.head_sojourn.0 / 1000,
            "offered": pair(counters.queue.offered),
            "sent": pair(counters.queue.sent),
            "dropped": pair(counters.queue.dropped),
            "data_peak_bytes": past.peak.0,
            "data_byte_s": seconds(past.byte_ns),
            "data_byte2_s": seconds(past.byte2_ns),
        },
    }))
}

fn reliability(counters: &ReliabilityCounters) -> Value {
    json!({
        "acknowledged": counters.acknowledged,
        "retransmitted": counters.retransmitted,
        "exhausted": counters.exhausted,
        "unprotected": counters.unprotected,
        "resent_frames": counters.resent_frames,
    })
}

fn traffic(t: &Traffic) -> Value {
    json!({
        "interests": t.interests,
        "data": t.data,
        "nacks": t.nacks,
        "frames": t.frames,
        "bytes": t.bytes,
    })
}

fn drops(drops: &Drops) -> Value {
    by_reason(drops.iter().map(|(reason, n)| (reason.name(), n)))
}

fn malformed(faults: &OptionFaults) -> Value {
    by_reason(faults.iter().map(|(fault, n)| (fault.name(), n)))
}

fn by_reason(counts: impl Iterator<Item = (&'static str, u64)>) -> Value {
    Value::Object(counts.map(|(reason, n)| (reason.to_owned(), json!(n))).collect::<Map<_, _>>())
}
