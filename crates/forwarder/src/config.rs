//! Configuration of a forwarder and of its faces.

use control::{Duration, Marker, Rate, Shaper, Size, Stamper, Strategy};
use packet::Name;
use packet::options::{Capability, MAX_RANGE};
use std::fmt;

use crate::tables::{ContentStoreConfig, PitConfig, dead_nonces};

/// The configuration of a forwarder.
pub struct ForwarderConfig {
    /// The seed of every random stream. Secret on a real network: the tables' hash key comes from
    /// it.
    pub seed: u64,
    /// The node's name; with the seed it chooses the random streams.
    pub name: String,
    /// The strategy of every prefix that has not chosen another.
    pub strategy: Box<dyn Strategy>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Bounds of the table of pending Interests.
    pub pit: PitConfig,
    /// The maximum number of prefixes with routes.
    pub routes: usize,
    /// The memory limit in bytes for everything together. Without one, nothing is counted.
    /// The limits of single parts apply as well.
    pub memory: Option<usize>,
    /// The most pending Interests that one call of [`crate::Forwarder::on_deadline`] ends, and the
    /// most that it asks the strategy about: what is left is due at once. A driver that has other
    /// work meanwhile bounds it.
    pub ended_at_once: usize,
    /// How long nonces are remembered when their PIT entry is gone.
    pub dead_nonce_lifetime: Duration,
    /// The most nonces that are remembered.
    pub dead_nonces: usize,
    /// Longer InterestLifetimes are shortened to this one, so that no sender can hold memory for
    /// long.
    pub max_lifetime: Duration,
    /// Names of the regions that this node is in: a forwarding hint for one of them has reached its
    /// goal here.
    pub regions: Vec<Name>,
    /// The longest range that one Interest may ask for, in segments; at most
    /// [`packet::options::MAX_RANGE`], and below 2 none.
    pub max_range: u16,
    /// Interests of peers may leave to other peers. Without it they reach only local faces; others
    /// are rejected before they use any table, so that a peer cannot join or delay an Interest of
    /// this host.
    pub transit: bool,
}

impl ForwarderConfig {
    /// The default of [`ForwarderConfig::routes`].
    pub const ROUTES: usize = 1 << 20;
    /// The default of [`ForwarderConfig::dead_nonces`].
    pub const DEAD_NONCES: usize = 1 << 20;

    /// Defaults for everything but the strategy: seed 0, 64 MiB of content store, a million pending
    /// Interests and routes, nonces remembered for 6 s, lifetimes of up to 2 minutes, memory as a
    /// whole not counted.
    #[must_use]
    pub fn new(strategy: Box<dyn Strategy>) -> ForwarderConfig {
        ForwarderConfig {
            seed: 0,
            name: String::new(),
            strategy,
            content_store: ContentStoreConfig::default(),
            pit: PitConfig::default(),
            routes: ForwarderConfig::ROUTES,
            memory: None,
            ended_at_once: usize::MAX,
            dead_nonce_lifetime: dead_nonces::DEFAULT_LIFETIME,
            dead_nonces: ForwarderConfig::DEAD_NONCES,
            max_lifetime: Duration::from_secs(120),
            regions: Vec::new(),
            max_range: MAX_RANGE,
            transit: true,
        }
    }
}

impl fmt::Debug for ForwarderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwarderConfig").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The answers to the probes of a traceroute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traceroute {
    /// The name of the node in replies.
    pub name: Option<Name>,
    /// The most replies per second and face.
    pub rate: u32,
}

/// The other end of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// An application on this host. Names under `/localhost` cross only such faces.
    Local,
    /// Another host.
    #[default]
    NonLocal,
}

/// How many are at the other end of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// One.
    #[default]
    PointToPoint,
    /// Several peers. Each receives the frames of all others.
    MultiAccess,
    /// Several peers. Some do not receive the frames of others, so packets may leave by the face
    /// that they came from.
    AdHoc,
}

/// The configuration of a face.
pub struct FaceConfig {
    /// A name of its own; it chooses the random streams of the face's parts.
    pub name: String,
    /// The other end.
    pub scope: Scope,
    /// How many are at the other end.
    pub link_type: LinkType,
    /// Its frames and their rate.
    pub medium: Medium,
    /// The limits of its queues.
    pub queues: QueueLimits,
    /// Limits on incomplete packets.
    pub reassembly: ReassemblyLimits,
    /// Keeps frames until the peer acknowledges them, and sends lost ones again (NDNLPv2,
    /// "Reliability"). Point-to-point faces only.
    pub reliability: bool,
    /// The most bytes that may wait in the receive buffer of an acknowledging peer, each frame
    /// counted with the 832 bytes that Linux adds to it. Zero is no limit.
    pub window: Size,
    /// Sends Nacks. They only ever go to point-to-point faces.
    pub nacks: bool,
    /// Sends packets with the number of their incoming face, and lets Interests name their outgoing
    /// face (the "local fields" of NFD).
    pub local_fields: bool,
    /// Stores Data packets from this face that match no pending Interest, as ccnd accepts them from
    /// applications. Otherwise they are dropped.
    pub pushes: bool,
    /// The capabilities that the peer has until it announces its own. Without
    /// [`Capability::OPTIONS`] it is sent no hop-by-hop options.
    pub capability: Capability,
    /// When this end says what it understands.
    pub announce: Announce,
    /// Bytes of memory that the driver keeps for it from the start; see
    /// [`crate::Forwarder::set_outside`].
    pub outside: usize,
    /// Its parts of a scheme.
    pub parts: FaceParts,
}

/// The frames of a face, and their rate.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// The largest frame in bytes. `None` is a stream, on which packets are never fragmented.
    /// A packet of [`packet::MAX_PACKET`] bytes fits into frames of 100 or more; one that needs
    /// more than 400 frames is dropped.
    pub mtu: Option<usize>,
    /// Bytes that each frame takes on the link besides itself; counted against the rate.
    pub overhead: usize,
    /// The rate at which packets leave. Without it, as fast as the driver accepts them.
    pub rate: Option<Rate>,
    /// The incoming rate, for parts.
    pub rate_in: RateIn,
    /// The time behind the rate that a driver which wakes up late may catch up in one go.
    pub slack: Duration,
}

impl Default for Medium {
    /// A stream without a rate.
    fn default() -> Self {
        let slack = Duration::from_millis(1);
        Medium { mtu: None, overhead: 0, rate: None, rate_in: RateIn::Symmetric, slack }
    }
}

/// The source of a link's incoming rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateIn {
    /// It is that of the other direction.
    #[default]
    Symmetric,
    /// It is configured.
    Known(Rate),
    /// It is measured, if the face has parts; 0 until the link has been full.
    Measured,
}

/// The limits of a face's queues.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Bytes of the queue of Data.
    pub data: Size,
    /// Bytes of the queue of Interests and Nacks.
    pub interests: Size,
    /// Packets in either queue, whatever their bytes.
    pub packets: usize,
    /// Interests that the face's shaper may hold; each segment of a range is one.
    pub held: usize,
}

impl Default for QueueLimits {
    /// 4 MiB of Data, 1 MiB of Interests and Nacks. Shapers hold what consumers that ask for chunks
    /// of 32 segments have outstanding: 4,096 chunks.
    fn default() -> Self {
        let (data, interests) = (Size(4 << 20), Size(1 << 20));
        QueueLimits { data, interests, packets: usize::MAX, held: 1 << 17 }
    }
}

/// The limits on incomplete packets of one face, from all senders together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Packets that are not whole yet.
    pub packets: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// The time after the latest fragment in which the next one must come.
    pub timeout: Duration,
}

impl Default for ReassemblyLimits {
    /// 64 packets, 512 KiB, 500 ms (NFD's time-out).
    fn default() -> Self {
        ReassemblyLimits { packets: 64, bytes: 512 * 1024, timeout: Duration::from_millis(500) }
    }
}

/// When a face says what this end understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announce {
    /// Not at all: the other end knows, or is several.
    #[default]
    Never,
    /// Once the other end has.
    Answer,
    /// When it comes up.
    First,
}

/// The parts of a scheme at a face.
#[derive(Default)]
pub struct FaceParts {
    /// Management of the queue of Data.
    pub marker: Option<Box<dyn Marker>>,
    /// Interest shaping.
    pub shaper: Option<Box<dyn Shaper>>,
    /// Stamping of hop-by-hop options.
    pub stamper: Option<Box<dyn Stamper>>,
}

impl Default for FaceConfig {
    /// A non-local stream without a rate: 4 MiB of Data, 1 MiB of Interests and Nacks in its
    /// queues, Nacks on, the other end known to understand everything, no parts.
    fn default() -> Self {
        FaceConfig {
            name: String::new(),
            scope: Scope::default(),
            link_type: LinkType::default(),
            medium: Medium::default(),
            queues: QueueLimits::default(),
            reassembly: ReassemblyLimits::default(),
            reliability: false,
            window: Size::ZERO,
            nacks: true,
            local_fields: false,
            pushes: false,
            capability: Capability::ALL,
            announce: Announce::Never,
            outside: 0,
            parts: FaceParts::default(),
        }
    }
}

impl FaceConfig {
    /// Where lost fragments are sent again, others wait for them: eight times as much is kept.
    pub(crate) fn reassembly_limits(&self) -> ReassemblyLimits {
        let ReassemblyLimits { packets, bytes, timeout } = self.reassembly;
        let times = if self.reliability { 8 } else { 1 };
        ReassemblyLimits { packets: packets * times, bytes: bytes * times, timeout }
    }
}

impl fmt::Debug for FaceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaceConfig")
            .field("name", &self.name)
            .field("scope", &self.scope)
            .field("link_type", &self.link_type)
            .field("medium", &self.medium)
            .finish_non_exhaustive()
    }
}
