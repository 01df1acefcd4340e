//! Sections about the process: what it listens on, what it counts, and bounds of its tables.

use super::memory;
use super::values::{
    Origins, addresses, bytes, log, mode, names, origins, paths, socket, websockets,
};
use control::{Duration, Size};
use document::parts::StoreRules;
use document::schema::Form;
use document::{Fields, Read, Section, Words, parts};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use packet::Name;
use schemes::Choice;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The process.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "daemon")]
pub struct Daemon {
    /// What is logged to standard error: `off`, `error`, `warn`, `info`, `debug`, `trace`; others
    /// for parts of the program behind it, as in `info,net::management=debug`.
    #[field(default = "info", with = log)]
    pub log: String,
    /// Form of log lines.
    #[field(default = "text")]
    pub log_format: LogFormat,
    /// The most log lines of one kind in a second, as of faces that come and go; how many more
    /// there were is written a second later. Levels `debug` and `trace` have no bound; 0: none at
    /// all.
    #[field(default = 20, range = 0..=1_000_000)]
    pub log_limit: u32,
    /// Seed of all random streams, for runs that shall repeat. Without it: drawn anew at each
    /// start.
    #[field(range = 0..)]
    pub seed: Option<u64>,
    /// Scheduling priority, as in nice(1). Negative values need privileges; they help to empty
    /// receive buffers in time on a busy host.
    #[field(default = 0, range = -20..=19)]
    pub nice: i32,
    /// A scheme as a whole: every face to a peer that names no scheme for a part has this one's,
    /// and the root its strategy, if it has the part. What consumers do is theirs to choose: `weir
    /// get --control`.
    #[field(part = "marker, shaper, stamper or strategy", by = parts::whole)]
    pub scheme: Option<Choice>,
    /// How long a stop may take to send what is queued.
    #[field(default = "500 ms")]
    pub drain: Duration,
    /// The most memory that the process takes, everything counted, at least `"16 MB"`. Content
    /// store, pending Interests, queues, routes and what faces keep share it: the store gives way
    /// to the others, and what then finds no room is refused and counted. Bounds of single parts
    /// hold besides. `auto`: a quarter of the host's memory or of the control group's, at most 2
    /// GB, and what `capacity` and `pending_memory` ask for beyond their defaults. `unlimited`:
    /// only the bounds of single parts, and no fair shares: one peer can fill the table of pending
    /// Interests for everybody.
    #[field(default = "auto", form = "size, `\"auto\"` or `\"unlimited\"`", with = memory::limit)]
    pub memory: Option<Size>,
    /// The file does not say how much: `memory` is to be a share of the host's; see
    /// [`Config::share_host`](super::Config::share_host).
    #[field(skip)]
    pub shares_host: Option<Given>,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Which bounds of single parts the file gives, so that a share of the host's memory leaves them
/// as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// `pending_per_face` under `[forwarder]`.
    pub pending_per_face: bool,
    /// `dead_nonces` under `[forwarder]`.
    pub dead_nonces: bool,
    /// `receive_buffer` under `[listen]`.
    pub receive_buffer: bool,
}

/// Where peers and applications may connect. An empty list or `"off"` closes a listener.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "listen", check = Listen::checked)]
pub struct Listen {
    /// UDP addresses; a bare port means all addresses.
    #[field(default = 6363, form = "addresses", with = addresses)]
    pub udp: Vec<SocketAddr>,
    /// TCP addresses; a bare port means all addresses.
    #[field(default = 6363, form = "addresses", with = addresses)]
    pub tcp: Vec<SocketAddr>,
    /// Addresses for WebSockets (RFC 6455), by which programs in browsers attach; NFD's port is
    /// 9696. TLS is for a proxy in front of it.
    #[field(default = "off", form = "addresses", with = websockets)]
    pub websocket: Vec<SocketAddr>,
    /// Of which origins pages may connect, besides those of servers on this host:
    /// `["https://app.example"]`, or `"any"`. Programs that are no pages say no origin, and may.
    #[field(name = "websocket_origins", default = [], form = "origins", with = origins)]
    pub origins: Origins,
    /// Unix socket for local applications, or `"off"`. Its folder is made if it is missing.
    /// Programs may connect as `unix_mode` and `unix_group` say.
    #[field(default = "/run/nfd/nfd.sock", with = socket)]
    pub unix: Option<PathBuf>,
    /// Permissions of the Unix socket's file, in octal digits: `"660"`. Without it: 660, but 666 if
    /// root runs the daemon, `unix_group` is not given and the host has no group `ndn`: then every
    /// program of the host may connect.
    #[field(form = Form::Text, with = mode)]
    pub unix_mode: Option<u32>,
    /// Group of the Unix socket's file, by name or number. Without it: `ndn` if root runs the
    /// daemon and the host has that group, else the group of the daemon's user.
    pub unix_group: Option<String>,
    /// A path, or a list of them, at which symbolic links to the Unix socket are made for clients
    /// that look elsewhere, such as `["/run/nfd.sock", "/var/run/nfd.sock", "/run/ndn/nfd.sock"]`.
    /// They go when the daemon ends.
    #[field(default, form = "paths", with = paths)]
    pub unix_links: Vec<PathBuf>,
    /// Receive buffer asked for on UDP sockets; the kernel grants at most `net.core.rmem_max`.
    /// Smaller with `memory` under `[daemon]`.
    #[field(default = "8 MB")]
    pub receive_buffer: Size,
    /// Exceed `net.core.rmem_max` (SO_RCVBUFFORCE; needs CAP_NET_ADMIN).
    #[field(default = false)]
    pub force_receive_buffer: bool,
    /// The UDP and the TCP addresses are defaults: one whose family the host lacks is left out
    /// without an error.
    #[field(skip)]
    pub optional: [bool; 2],
}

impl Listen {
    fn checked(mut self, section: &Section<'_>) -> Option<Listen> {
        self.optional = ["udp", "tcp"].map(|field| section.given(field).is_none());
        Some(self)
    }
}

/// What the daemon counts, for Prometheus: `GET /metrics` by HTTP.
#[derive(Debug, Fields, Read)]
#[section(name = "metrics")]
pub(super) struct Metrics {
    /// TCP addresses, `"127.0.0.1:9363"` for instance; a bare port means all addresses, and whoever
    /// reaches them may look. Web pages of other servers are refused: the `Host` of a request has
    /// to be the address or `localhost`; of an address that is not on loopback, any IP address or
    /// this host's name. [The names](counters.md#metrics) are listed.
    #[field(default = "off", form = "addresses", with = addresses)]
    pub(super) listen: Vec<SocketAddr>,
}

/// The cache of Data packets.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "content_store")]
pub(super) struct ContentStore {
    /// Bound of its memory, everything counted; `"0 B"` switches it off. With a size as `memory`
    /// under `[daemon]` and without this field: what others do not need of that.
    #[field(default = "64 MiB", form = Form::Size, with = bytes)]
    capacity: usize,
    /// The most packets in it, whatever their sizes. Without it: as many as `capacity` takes.
    #[field(range = 0..)]
    packets: Option<usize>,
    /// Data below these names are never kept. How soon an answer comes shows a neighbour whether
    /// the store had it, and so what others have asked for.
    #[field(default, form = "name, or list of names", with = names)]
    pub(super) no_cache: Vec<Name>,
    #[field(flatten)]
    rules: StoreRules,
}

impl ContentStore {
    pub(super) fn config(&self) -> ContentStoreConfig {
        let StoreRules { policy, admission } = self.rules;
        let packets = self.packets.unwrap_or(usize::MAX);
        ContentStoreConfig { capacity: self.capacity, packets, policy, admission }
    }
}

/// Bounds of the forwarder's tables.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "forwarder", check = ForwarderLimits::checked)]
pub struct ForwarderLimits {
    /// The pending Interests.
    #[field(flatten)]
    pub pit: Pending,
    /// The most prefixes with routes.
    #[field(default = 1_048_576, range = 1..=100_000_000)]
    pub routes: usize,
    /// The longest Interest lifetime that is honoured; longer ones are cut to it.
    #[field(default = "2 min")]
    pub max_lifetime: Duration,
    /// The most nonces remembered after their Interest is gone, against loops; fewer with `memory`
    /// under `[daemon]`.
    #[field(default = 1_048_576, range = 0..=100_000_000)]
    pub dead_nonces: usize,
    /// The most memory that all parts of the forwarder take together; [`usize::MAX`]: not counted.
    #[field(skip)]
    pub memory: usize,
}

/// Bounds of the table of pending Interests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Read)]
pub struct Pending {
    /// The most pending Interests; further ones are refused.
    #[field(default = 1_048_576, name = "pending_interests", range = 1..=100_000_000)]
    pub entries: usize,
    /// The most pending Interests that came in by one face; fewer with `memory` under `[daemon]`.
    #[field(default = 262_144, name = "pending_per_face", range = 1..=100_000_000)]
    pub per_face: usize,
    /// The most memory that pending Interests may take. With a size as `memory` under `[daemon]`
    /// and without this field: half of what is shared.
    #[field(name = "pending_memory", default = "512 MiB", form = Form::Size, with = bytes)]
    pub memory: usize,
}

impl ForwarderLimits {
    fn checked(mut self, _: &Section<'_>) -> Option<ForwarderLimits> {
        self.memory = usize::MAX;
        Some(self)
    }
}

impl From<Pending> for PitConfig {
    fn from(of: Pending) -> PitConfig {
        PitConfig { entries: of.entries, per_face: of.per_face, memory: of.memory }
    }
}
