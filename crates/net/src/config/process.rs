//! Sections about the process: what it listens on, what it counts, and bounds of its tables.

use super::values::{
    Origins, addresses, bytes, interfaces, log, memory, mode, names, origins, paths, short_name,
    socket, websockets,
};
use control::{Duration, Size};
use document::parts::StoreRules;
use document::schema::Form;
use document::{Fields, Read, Section, Words, lasting, parts};
use forwarder::ForwarderConfig;
use forwarder::tables::{ContentStoreConfig, PitConfig};
use packet::Name;
use schemes::Choice;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The process.
#[derive(Clone, Debug, PartialEq, Fields, Read)]
#[section(name = "daemon")]
pub struct Daemon {
    /// The log on standard error: `off`, `error`, `warn`, `info`, `debug`, `trace`; other levels
    /// for parts of the program follow, as in `info,net::management=debug`.
    #[field(default = "info", with = log)]
    pub log: String,
    /// Form of log lines.
    #[field(default = "text")]
    pub log_format: LogFormat,
    /// The maximum number of log lines of one kind per second, such as those of faces that come and
    /// go; a count of the others follows a second later. Levels `debug` and `trace` have no limit;
    /// 0: no lines at all.
    #[field(default = 20, range = 0..=1_000_000)]
    pub log_limit: u32,
    /// Seed of all random streams, for repeatable runs. Without it: a new one at each start.
    #[field(range = 0..)]
    pub seed: Option<u64>,
    /// Scheduling priority, as in nice(1). Negative values need privileges; they help to empty
    /// receive buffers in time on a busy host.
    #[field(default = 0, range = -20..=19)]
    pub nice: i32,
    /// A scheme as a whole: every face to a peer without a scheme of its own for a part has this
    /// one's part, and the root has its strategy, if it has one. Consumers choose their own scheme:
    /// `weir get --control`. Without it, faces with a `rate_in` have the parts of `sluice`,
    /// unless they name a part of another scheme; `"drop-tail"` means none.
    #[field(part = "marker, shaper, stamper or strategy", by = parts::of_forwarder)]
    pub scheme: Option<Choice>,
    /// The time that a stop may take to send queued packets.
    #[field(default = "500 ms")]
    pub drain: Duration,
    /// The total memory limit of the process, at least `"16 MB"`. Sizes above the
    /// memory of the host or of the control group are mistakes, here and for single parts. Content
    /// store, pending Interests, queues, routes and faces share it: the store makes room for the
    /// others. Requests that find no room then are rejected and counted. The limits of single
    /// parts apply as well. `auto`: a quarter of the memory of the host or of the control group,
    /// at most 2 GB, plus the parts of `capacity`, `pending_memory` and `dead_nonces` that exceed
    /// their defaults, but never more than the host has. `unlimited`: only the limits of single
    /// parts, and no fair shares: one peer can fill the table of pending Interests for all others.
    #[field(default = "auto", form = "size, `\"auto\"` or `\"unlimited\"`", with = memory)]
    pub memory: Option<Size>,
    /// The file leaves the limit to the host's memory; see
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

/// Marks the limits of single parts that the file sets, so that a share of the host's memory leaves
/// them unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// `pending_per_face` under `[forwarder]`.
    pub pending_per_face: bool,
    /// `dead_nonces` under `[forwarder]`.
    pub dead_nonces: bool,
    /// `receive_buffer` under `[listen]`.
    pub receive_buffer: bool,
}

/// The addresses of the listeners. An empty list or `"off"` closes a listener.
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
    /// The origins of pages that may connect, besides those of servers on this host:
    /// `["https://app.example"]`, or `"any"`. Programs that are no web pages send no origin, and
    /// may connect.
    #[field(name = "websocket_origins", default = [], form = "origins", with = origins)]
    pub origins: Origins,
    /// Network interfaces, such as `"eth0"` or `["eth0", "eth0.5"]`, on which peers may connect
    /// over Ethernet without IP: EtherType 0x8624, as in NFD. The daemon needs CAP_NET_RAW. The
    /// interface of a VLAN counts as one of its own. An interface that is down or missing may come
    /// later.
    #[field(default, form = "interfaces", with = interfaces)]
    pub ether: Vec<String>,
    /// Unix socket for local applications, or `"off"`. Its folder is made if it is missing.
    /// `unix_mode` and `unix_group` decide which programs may connect.
    #[field(default = "/run/nfd/nfd.sock", form = "absolute path, or `\"off\"`", with = socket)]
    pub unix: Option<PathBuf>,
    /// Permissions of the Unix socket's file, in octal digits: `"660"`. Without it: 660, but 666 if
    /// root runs the daemon, `unix_group` is not given and the host has no group `ndn`: then every
    /// program of the host may connect.
    #[field(form = "octal digits", with = mode)]
    pub unix_mode: Option<u32>,
    /// Group of the Unix socket's file, by name or number. Without it: `ndn` if root runs the
    /// daemon and the host has that group, else the group of the daemon's user.
    pub unix_group: Option<String>,
    /// A path, or a list of them, for symbolic links to the Unix socket, for clients that look
    /// elsewhere, such as `["/run/nfd.sock", "/var/run/nfd.sock", "/run/ndn/nfd.sock"]`. They are
    /// removed when the daemon ends.
    #[field(default, form = "paths", with = paths)]
    pub unix_links: Vec<PathBuf>,
    /// Receive buffer of UDP sockets, and of the socket of each interface under `ether`; the kernel
    /// grants at most `net.core.rmem_max`. Smaller with `memory` under `[daemon]`.
    #[field(default = "8 MB")]
    pub receive_buffer: Size,
    /// Exceed `net.core.rmem_max` (SO_RCVBUFFORCE; needs CAP_NET_ADMIN).
    #[field(default = false)]
    pub force_receive_buffer: bool,
    /// The UDP and TCP addresses are defaults: one whose family the host lacks is left out without
    /// an error.
    #[field(skip)]
    pub optional: [bool; 2],
}

impl Listen {
    fn checked(mut self, section: &Section<'_>) -> Option<Listen> {
        self.optional = ["udp", "tcp"].map(|field| section.given(field).is_none());
        Some(self)
    }
}

/// The daemon's counters for Prometheus, `GET /metrics` by HTTP, and its health for supervisors,
/// `GET /healthz` and `GET /readyz`.
#[derive(Debug, Fields, Read)]
#[section(name = "metrics")]
pub(super) struct Metrics {
    /// TCP addresses, `"127.0.0.1:9363"` for instance; a bare port means all addresses, and every
    /// host that reaches them may read. Web pages of other servers are rejected: the `Host` of a
    /// request has to be the address or `localhost`; for an address that is not on loopback, any IP
    /// address or this host's name. The reference lists [the names](counters.md#metrics).
    #[field(default = "off", form = "addresses", with = addresses)]
    pub(super) listen: Vec<SocketAddr>,
}

/// The cache of Data packets.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "content_store")]
pub(super) struct ContentStore {
    /// Its total memory limit; `"0 B"` switches it off. With a size as `memory` under
    /// `[daemon]` and without this field: the part of that memory that others do not need.
    #[field(default = "64 MiB", form = Form::Size, with = bytes)]
    capacity: usize,
    /// The maximum number of packets in it, of any size. Without it: as many as fit into
    /// `capacity`.
    #[field(range = 0..)]
    packets: Option<usize>,
    /// Names below which Data is never kept. The delay of an answer shows a neighbour if the store
    /// had it, and so which names others have requested.
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

/// The replies to `weir traceroute`.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "traceroute")]
pub(super) struct Traceroute {
    /// Reply to a probe whose HopLimit ends here: with the name below, a number that is new at each
    /// start, the kind of the next hop, and whether the content store has Data below the target.
    /// A probe has one reply of about its own size.
    #[field(default = true)]
    answer: bool,
    /// The name of this forwarder in replies, such as `"/example/router1"`, of at most 200 bytes.
    /// Without it, only the number.
    #[field(with = short_name)]
    name: Option<Name>,
    /// The maximum number of replies per second and face; further probes are dropped.
    #[field(default = 10, range = 1..=1000)]
    rate: u32,
}

impl Traceroute {
    pub(super) fn config(self) -> Option<forwarder::Traceroute> {
        let Traceroute { answer, name, rate } = self;
        answer.then_some(forwarder::Traceroute { name, rate })
    }
}

/// Limits of the forwarder's tables.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
#[section(name = "forwarder")]
pub struct ForwarderLimits {
    /// The pending Interests.
    #[field(flatten)]
    pub pit: Pending,
    /// The maximum number of prefixes with routes.
    #[field(default = ForwarderConfig::ROUTES, range = 1..=100_000_000)]
    pub routes: usize,
    /// The longest Interest lifetime; longer ones are shortened to it.
    #[field(default = "2 min", with = lasting)]
    pub max_lifetime: Duration,
    /// Forward Interests of peers to other peers. `false`: peers may ask only for names that
    /// applications of this host have registered. Other Interests are answered by a Nack, even if
    /// the content store has their Data.
    #[field(default = true)]
    pub transit: bool,
    /// The maximum number of nonces remembered after the end of their Interests, to detect loops;
    /// fewer with `memory` under `[daemon]`.
    #[field(default = ForwarderConfig::DEAD_NONCES, range = 0..=100_000_000)]
    pub dead_nonces: usize,
    /// The memory limit of all parts of the forwarder together. Without one, nothing is counted.
    #[field(skip)]
    pub memory: Option<usize>,
}

/// Limits of the table of pending Interests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Read)]
pub struct Pending {
    /// The maximum number of pending Interests; further ones are rejected.
    #[field(default = PitConfig::DEFAULT.entries, name = "pending_interests",
            range = 1..=100_000_000)]
    pub entries: usize,
    /// The maximum number of pending Interests of one incoming face; fewer with `memory` under
    /// `[daemon]`.
    #[field(default = PitConfig::DEFAULT.per_face, name = "pending_per_face",
            range = 1..=100_000_000)]
    pub per_face: usize,
    /// The memory limit of pending Interests. With a size as `memory` under `[daemon]` and without
    /// this field: half of the shared memory.
    #[field(name = "pending_memory", default = "512 MiB", form = Form::Size, with = bytes)]
    pub memory: usize,
}

impl From<Pending> for PitConfig {
    fn from(of: Pending) -> PitConfig {
        PitConfig { entries: of.entries, per_face: of.per_face, memory: of.memory }
    }
}
