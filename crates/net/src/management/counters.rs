//! `/localhost/weir/counters`: everything that the forwarder counts, as JSON.
//!
//! Packets and bytes count from the daemon's start; bytes are those of whole frames on the link.

use super::face_info::FaceInfo;
use crate::resident::resident;
use control::Time;
use forwarder::{Drops, Forwarder, OptionFaults};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

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
    let counters = Counters {
        version: 1,
        uptime_ms,
        received: Traffic::of(&stats.received),
        sent: Traffic::of(&stats.sent),
        satisfied: stats.satisfied,
        nacked: stats.nacked,
        expired: stats.expired,
        aggregated: stats.aggregated,
        drops: drops(&stats.drops),
        malformed_options: malformed(&stats.option_faults),
        fib: forwarder.fib().len(),
        pit: Pit {
            entries: forwarder.pit().len(),
            most: forwarder.pit().most(),
            bytes: forwarder.pit().memory(),
        },
        content_store: ContentStore {
            entries: store.len(),
            bytes: store.memory(),
            capacity: store.capacity(),
            policy: store.policy().to_string(),
            hits: stats.hits,
            misses: stats.misses,
            inserted: store.counters().inserted,
            evicted: store.counters().evicted,
            died: store.counters().died,
            moved: store.counters().moved,
        },
        memory: memory(forwarder),
        faces: Faces { forwarder, faces, now },
    };
    // Maps with texts as keys can always be written.
    serde_json::to_string(&counters).unwrap_or_default()
}

/// The counters of a forwarder.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Counters<'a> {
    /// 1; it rises when a field changes its meaning.
    version: u32,
    /// Milliseconds since the daemon's start.
    uptime_ms: u64,
    /// Packets that came by all faces.
    received: Traffic,
    /// Packets that left by all faces.
    sent: Traffic,
    /// Pending Interests that Data satisfied.
    satisfied: u64,
    /// Pending Interests that ended with a Nack.
    nacked: u64,
    /// Pending Interests that expired.
    expired: u64,
    /// Interests that joined a pending one.
    aggregated: u64,
    /// Packets that were dropped, by reason. Reasons that never occurred are left out.
    drops: BTreeMap<&'static str, u64>,
    /// Hop-by-hop options that were ignored and taken off packets, by reason.
    malformed_options: BTreeMap<&'static str, u64>,
    /// Prefixes with routes.
    fib: usize,
    /// The pending Interest table.
    pit: Pit,
    /// The content store.
    content_store: ContentStore,
    /// Memory, in bytes.
    memory: Memory,
    /// The faces.
    #[cfg_attr(feature = "json-schema", schemars(with = "Vec<Face<'a>>"))]
    faces: Faces<'a>,
}

/// Packets in one direction.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Traffic {
    /// Interests.
    interests: u64,
    /// Data packets.
    data: u64,
    /// Nacks.
    nacks: u64,
    /// Frames: a packet in fragments is several.
    frames: u64,
    /// Bytes of the frames.
    bytes: u64,
}

/// The pending Interest table.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Pit {
    /// Pending Interests.
    entries: usize,
    /// The most that there ever were.
    most: usize,
    /// Bytes of memory that they take.
    bytes: usize,
}

/// The content store.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct ContentStore {
    /// Data packets in it.
    entries: usize,
    /// Bytes of memory that they take.
    bytes: usize,
    /// The largest number of these bytes.
    capacity: usize,
    /// Its policy.
    policy: String,
    /// Interests that it answered.
    hits: u64,
    /// Interests that it did not answer.
    misses: u64,
    /// Data that came in.
    inserted: u64,
    /// Data that had to make room.
    evicted: u64,
    /// Data that grew too old.
    died: u64,
    /// Data that was moved on by the policy.
    moved: u64,
}

/// The use of shared memory, part by part, in bytes.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Memory {
    /// The process's share of the host's memory; null if the system does not say it.
    resident: Option<u64>,
    /// The limit on their sum; null without a limit.
    limit: Option<usize>,
    /// The sum of the parts.
    bytes: usize,
    /// The content store.
    content_store: usize,
    /// Pending Interests.
    pending: usize,
    /// Faces, with their queues; null without a limit.
    faces: Option<usize>,
    /// Routes.
    routes: usize,
    /// Remembered nonces.
    dead_nonces: usize,
    /// Requests that were refused for want of memory.
    refused: Refused,
}

/// Requests that were refused for want of memory.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Refused {
    /// Interests.
    interests: u64,
    /// Packets.
    packets: u64,
    /// Faces.
    faces: u64,
    /// Routes.
    routes: u64,
}

/// The faces of a forwarder, which are counted one after the other while they are written: together
/// they would take several times the memory of their text.
struct Faces<'a> {
    forwarder: &'a Forwarder,
    faces: &'a [FaceInfo],
    now: Time,
}

impl Serialize for Faces<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.faces.iter().filter_map(|f| Face::new(self.forwarder, f, self.now)))
    }
}

/// The counters of a face.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Face<'a> {
    #[serde(flatten)]
    place: FacePlace<'a>,
    /// Packets that came by it.
    received: Traffic,
    /// Packets that left by it.
    sent: Traffic,
    /// Frames that only keep the link alive.
    idle: u64,
    /// Data that left with a congestion mark.
    marked: u64,
    /// On faces with `reliability`, packets by what became of them.
    reliability: Reliability,
    /// Frames that the kernel refused or the emulated link lost.
    lost: u64,
    /// Packets that were dropped, by reason. Reasons that never occurred are left out.
    drops: BTreeMap<&'static str, u64>,
    /// Hop-by-hop options that were ignored and taken off packets, by reason.
    malformed_options: BTreeMap<&'static str, u64>,
    /// The packets that wait to leave.
    queue: Queue,
}

/// Where a face leads.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct FacePlace<'a> {
    /// Its number.
    id: u64,
    /// Its name in the configuration, or null.
    name: Option<&'a str>,
    /// The URI of the other end.
    uri: &'a str,
    /// The URI of this end.
    local_uri: &'a str,
    /// It leads to an application on this host.
    local: bool,
    /// The other end has proved that it receives what is sent to its address, or need not.
    proved: bool,
    /// Its socket is connected.
    up: bool,
    /// The largest frame in bytes; null on streams.
    mtu: Option<usize>,
}

/// Packets with reliability.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Reliability {
    /// Packets that were acknowledged.
    acknowledged: u64,
    /// Packets of which a frame was sent again.
    retransmitted: u64,
    /// Packets that were given up.
    exhausted: u64,
    /// Packets without protection: too many waited already, or the peer never acknowledges.
    unprotected: u64,
    /// Frames that were sent again.
    resent_frames: u64,
}

/// The queue of a face.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Queue {
    /// Packets that wait now.
    packets: u64,
    /// Bytes that wait now.
    bytes: u64,
    /// How long the first Data packet has waited, in microseconds.
    head_sojourn_us: u64,
    /// Packets that were offered to the queue so far.
    offered: Sum,
    /// Packets that left it so far.
    sent: Sum,
    /// Packets that it has dropped so far.
    dropped: Sum,
    /// The most bytes of Data that ever waited.
    data_peak_bytes: u64,
    /// Bytes of Data times the seconds that they waited. Divided by a span, this is the mean.
    data_byte_s: f64,
    /// Squares of the bytes of Data times the seconds that they waited.
    data_byte2_s: f64,
}

/// A number of packets.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
struct Sum {
    /// The packets.
    packets: u64,
    /// Their bytes.
    bytes: u64,
}

fn memory(forwarder: &Forwarder) -> Memory {
    let memory = forwarder.memory();
    Memory {
        resident: resident(),
        limit: memory.limit,
        bytes: memory.total(),
        content_store: memory.content_store,
        pending: memory.pending,
        faces: memory.limit.map(|_| memory.faces),
        routes: memory.routes,
        dead_nonces: memory.dead_nonces,
        refused: Refused {
            interests: memory.refused.interests,
            packets: memory.refused.packets,
            faces: memory.refused.faces,
            routes: memory.refused.routes,
        },
    }
}

impl<'a> Face<'a> {
    fn new(forwarder: &Forwarder, info: &'a FaceInfo, now: Time) -> Option<Face<'a>> {
        let counters = forwarder.counters(info.id)?;
        let (packets, bytes) = forwarder.queued(info.id)?;
        let view = forwarder.link_view(now, info.id)?;
        let past = forwarder.queue_occupancy(now, info.id)?;
        let [offered, sent, dropped] =
            [counters.queue.offered, counters.queue.sent, counters.queue.dropped]
                .map(|(packets, bytes)| Sum { packets, bytes });
        let reliability = &counters.reliability;
        let place = FacePlace {
            id: info.id.0,
            name: info.name.as_deref(),
            uri: &info.uri,
            local_uri: &info.local_uri,
            local: info.local,
            proved: forwarder.is_proved(info.id),
            up: info.up,
            mtu: info.mtu,
        };
        Some(Face {
            place,
            received: Traffic::of(&counters.received),
            sent: Traffic::of(&counters.sent),
            idle: counters.idle,
            marked: counters.marked,
            reliability: Reliability {
                acknowledged: reliability.acknowledged,
                retransmitted: reliability.retransmitted,
                exhausted: reliability.exhausted,
                unprotected: reliability.unprotected,
                resent_frames: reliability.resent_frames,
            },
            lost: info.lost,
            drops: drops(&counters.drops),
            malformed_options: malformed(&counters.option_faults),
            queue: Queue {
                packets,
                bytes,
                head_sojourn_us: view.data_out.head_sojourn.0 / 1000,
                offered,
                sent,
                dropped,
                data_peak_bytes: past.peak.0,
                data_byte_s: past.byte_ns as f64 / 1e9,
                data_byte2_s: past.byte2_ns as f64 / 1e9,
            },
        })
    }
}

impl Traffic {
    fn of(t: &forwarder::Traffic) -> Traffic {
        let forwarder::Traffic { interests, data, nacks, frames, bytes } = *t;
        Traffic { interests, data, nacks, frames, bytes }
    }
}

fn drops(drops: &Drops) -> BTreeMap<&'static str, u64> {
    drops.iter().map(|(reason, n)| (reason.name(), n)).collect()
}

fn malformed(faults: &OptionFaults) -> BTreeMap<&'static str, u64> {
    faults.iter().map(|(fault, n)| (fault.name(), n)).collect()
}
