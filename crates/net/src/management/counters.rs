//! `/localhost/weir/counters`: all counters of the forwarder, as JSON.
//!
//! Packets and bytes count from the daemon's start; bytes are those of whole frames on the link.
//! The counters are the forwarder's own structs. [`Pit`], [`ContentStore`] and [`Queue`] can be
//! read from the JSON text too.

use super::face_info::FaceInfo;
use crate::resident::resident;
use control::Time;
use forwarder::tables::StoreCounters;
use forwarder::{Amount, FaceCounters, Forwarder, ForwarderStats, QueueTally, RejectedRequests};
use serde::{Deserialize, Serialize, Serializer};

/// The name of the dataset.
pub const COUNTERS: &str = "/localhost/weir/counters";

/// The whole state as a JSON text.
#[must_use]
pub fn counters_json(
    forwarder: &Forwarder,
    faces: &[FaceInfo],
    now: Time,
    uptime_ms: u64,
) -> String {
    let store = forwarder.content_store();
    let counters = Counters {
        version: 1,
        uptime_ms,
        stats: forwarder.stats(),
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
            counters: *store.counters(),
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
    #[serde(flatten)]
    stats: &'a ForwarderStats,
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

/// The pending Interest table.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Pit {
    /// Pending Interests.
    pub entries: usize,
    /// The most that there ever were.
    pub most: usize,
    /// Bytes of memory that they take.
    pub bytes: usize,
}

/// The content store.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ContentStore {
    /// Data packets in it.
    pub entries: usize,
    /// Bytes of memory that they take.
    pub bytes: usize,
    /// The largest number of these bytes.
    pub capacity: usize,
    /// Its policy.
    pub policy: String,
    /// Its counters.
    #[serde(flatten)]
    pub counters: StoreCounters,
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
    /// Requests that were rejected for want of memory.
    refused: RejectedRequests,
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
    #[serde(flatten)]
    counters: &'a FaceCounters,
    /// Frames that the kernel rejected or the emulated link lost.
    lost: u64,
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

/// The queue of a face.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Queue {
    /// Packets that wait now.
    pub packets: u64,
    /// Bytes that wait now.
    pub bytes: u64,
    /// How long the first Data packet has waited, in microseconds.
    pub head_sojourn_us: u64,
    /// The packets so far.
    #[serde(flatten)]
    pub tally: QueueTally,
    /// The most bytes of Data that ever waited.
    pub data_peak_bytes: u64,
    /// Bytes of Data times the seconds that they waited. Divided by a span, this is the mean.
    pub data_byte_s: f64,
    /// Squares of the bytes of Data times the seconds that they waited.
    pub data_byte2_s: f64,
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
        refused: memory.refused,
    }
}

impl<'a> Face<'a> {
    fn new(forwarder: &'a Forwarder, info: &'a FaceInfo, now: Time) -> Option<Face<'a>> {
        let counters = forwarder.counters(info.id)?;
        let Amount { packets, bytes } = forwarder.queued(info.id)?;
        let view = forwarder.link_view(now, info.id)?;
        let past = forwarder.queue_occupancy(now, info.id)?;
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
            counters,
            lost: info.lost,
            queue: Queue {
                packets,
                bytes,
                head_sojourn_us: view.data_out.head_sojourn.0 / 1000,
                tally: counters.queue,
                data_peak_bytes: past.peak.0,
                data_byte_s: past.byte_ns as f64 / 1e9,
                data_byte2_s: past.byte2_ns as f64 / 1e9,
            },
        })
    }
}
