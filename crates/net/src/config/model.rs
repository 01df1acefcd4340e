//! The configuration as types: checked, with defaults filled in.

use crate::emulate::Emulation;
use crate::management::authority::Origin;
use crate::uri::FaceUri;
use control::{Duration, Rate, Size};
use document::{Parts, Queue};
use forwarder::tables::{ContentStoreConfig, PitConfig};
use ipnet::IpNet;
use packet::Name;
use schemes::Choice;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Everything that the file says.
#[derive(Clone, Debug)]
pub struct Config {
    /// The process.
    pub daemon: Daemon,
    /// Where peers and applications may come in.
    pub listen: Listen,
    /// Addresses at which metrics are to be had.
    pub metrics: Vec<SocketAddr>,
    /// Faces that peers bring about.
    pub on_demand: OnDemand,
    /// Faces of local applications.
    pub application: Application,
    /// Faces that exist from the start.
    pub faces: Vec<Face>,
    /// Routes that exist from the start.
    pub routes: Vec<Route>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Names below which it takes no Data.
    pub no_cache: Vec<Name>,
    /// Which prefix announcements are believed.
    pub announcements: Announcements,
    /// Bounds of the forwarder's tables.
    pub forwarder: ForwarderLimits,
    /// Strategies by prefix.
    pub strategies: Vec<Strategy>,
    /// Who may command; nobody said: applications of this host.
    pub authorize: Vec<Authorize>,
    /// Prefixes that hosts behind this one may use, as they are told on request.
    pub routable: Vec<Name>,
}

/// Which prefix announcements are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcements {
    /// Whether those that strategies hear of make routes.
    pub accept: bool,
    /// The file that says who may sign announcements, commanded ones included.
    pub trust: Option<PathBuf>,
}

/// The process.
#[derive(Clone, Debug)]
pub struct Daemon {
    /// What is logged: a level, or `tracing` directives.
    pub log: String,
    /// The form of log lines.
    pub log_format: LogFormat,
    /// The most log lines of one kind in a second; 0: no bound.
    pub log_limit: u32,
    /// Seed of all random streams; `None`: drawn anew at each start.
    pub seed: Option<u64>,
    /// Scheduling priority asked for, as in nice(1).
    pub nice: i32,
    /// How long a stop may take to send what is queued.
    pub drain: Duration,
    /// The most memory that the process takes; `None`: as the bounds of single parts have it.
    pub memory: Option<Size>,
    /// The file does not say how much: `memory` is to be a share of the host's; see
    /// [`Config::share_host`].
    pub shares_host: Option<Given>,
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

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Where peers and applications may come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// UDP addresses.
    pub udp: Vec<SocketAddr>,
    /// TCP addresses.
    pub tcp: Vec<SocketAddr>,
    /// Addresses for WebSockets.
    pub websocket: Vec<SocketAddr>,
    /// Which pages may connect to them.
    pub origins: Origins,
    /// The Unix socket.
    pub unix: Option<PathBuf>,
    /// The permissions of its file, as in chmod(2); `None`: by the user and group that there are.
    pub unix_mode: Option<u32>,
    /// The group that it belongs to, by name or number.
    pub unix_group: Option<String>,
    /// Links to it, for clients that look elsewhere.
    pub unix_links: Vec<PathBuf>,
    /// The UDP and the TCP addresses are defaults: one whose family the host lacks is left out
    /// without an error.
    pub optional: [bool; 2],
    /// Kernel receive buffer asked for on UDP sockets.
    pub receive_buffer: Size,
    /// Exceed the kernel's limit for it (needs privileges).
    pub force_receive_buffer: bool,
}

/// The origins (RFC 6454) of pages that may connect by WebSocket, besides those of this host. What
/// a browser would do for any page, a forwarder has to refuse: the applications of this host are
/// behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Whatever the browser shows.
    Any,
    /// `https://app.example`, `http://192.0.2.1:8080`, as browsers write them.
    Listed(Vec<String>),
}

impl Origins {
    /// Whether a page of this origin may connect.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        match self {
            Origins::Any => true,
            Origins::Listed(list) => {
                list.iter().any(|listed| listed.eq_ignore_ascii_case(origin)) || is_here(origin)
            }
        }
    }
}

/// Whether an origin is a server on this host, by a name or an address that can be nowhere else.
fn is_here(origin: &str) -> bool {
    let Some((_, host)) = origin.split_once("://") else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Faces that peers bring about over UDP, TCP and WebSocket.
#[derive(Clone, Debug)]
pub struct OnDemand {
    /// The most of them at a time over UDP, and over connections.
    pub max: usize,
    /// The most of either kind that lead to one address (to one /64 of IPv6).
    pub max_per_address: usize,
    /// The most of either kind that lead to one subnet, a /24 of IPv4 or a /56 of IPv6.
    pub max_per_subnet: usize,
    /// A UDP face over which nothing came for so long is removed.
    pub idle: Duration,
    /// Peers over UDP that have not proved their addresses.
    pub unproved: Unproved,
    /// Their links.
    pub link: LinkOptions,
}

/// What holds for peers over UDP whose addresses may be forged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    /// A face to one, without routes, over which nothing came for so long is removed.
    pub idle: Duration,
    /// What is sent to one address (to one /64 of IPv6) at most.
    pub rate: Rate,
    /// What is sent to one subnet at most.
    pub subnet_rate: Rate,
    /// What is sent to all of them at most.
    pub total_rate: Rate,
    /// What is sent to one address of a network that this host has an address in, at most.
    pub local_rate: Rate,
    /// Loopback needs no proof, and of the networks that this host has addresses in the above is
    /// believed.
    pub exempt_local: bool,
    /// Addresses in these need no proof.
    pub exempt: Vec<IpNet>,
}

impl Unproved {
    /// The rates of an address, of its subnet, and of all together.
    #[must_use]
    pub fn rates(&self) -> [Rate; 3] {
        [self.rate, self.subnet_rate, self.total_rate]
    }

    /// The same for networks that this host has addresses in: each of them is one subnet.
    #[must_use]
    pub fn local_rates(&self) -> [Rate; 3] {
        let all = Rate(self.local_rate.0.saturating_mul(LOCAL_ADDRESSES));
        [self.local_rate, all, all]
    }
}

/// All unproved addresses in networks of this host together have the rate of so many.
const LOCAL_ADDRESSES: u64 = 5;

/// Faces of local applications.
#[derive(Clone, Debug)]
pub struct Application {
    /// The most of them at a time.
    pub max: usize,
    /// The most routes that one may register.
    pub routes: usize,
    /// Their links.
    pub link: LinkOptions,
}

/// A face that exists from the start.
#[derive(Clone, Debug)]
pub struct Face {
    /// Where it leads.
    pub uri: FaceUri,
    /// Its name in routes; the URI if it has none.
    pub name: Option<String>,
    /// The interface of a multicast group, and of no other face.
    pub interface: Option<String>,
    /// Its link.
    pub link: LinkOptions,
}

impl Face {
    /// Where it leads, as text: the URI, that of a group with its interface.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.interface {
            Some(interface) if self.uri.zone().is_none() => format!("{}%{interface}", self.uri),
            _ => self.uri.to_string(),
        }
    }
}

/// What can be chosen for every link.
#[derive(Clone, Debug, Default)]
pub struct LinkOptions {
    /// The largest datagram payload; `None`: as the route allows.
    pub mtu: Option<usize>,
    /// What the face is paced to; `None`: as the kernel takes it.
    pub rate: Option<Rate>,
    /// Bytes that a frame takes besides itself; `None`: those of IP and UDP headers.
    pub overhead: Option<Size>,
    /// The bound of its queue; `None`: the forwarder's default.
    pub queue: Option<Queue>,
    /// The rate of what comes in, for parts of schemes; `None`: as `rate`.
    pub rate_in: Option<Rate>,
    /// Delay and loss of an emulated link.
    pub emulation: Emulation,
    /// Its scheme parts.
    pub parts: Parts,
    /// Whether frames are sent again when they are lost.
    pub reliability: bool,
    /// The bound on what is on its way to a peer that acknowledges.
    pub window: Size,
    /// Whether it sends Nacks.
    pub nacks: bool,
    /// Treated as local although its transport is not (UDP from this host).
    pub local: bool,
}

/// A route that exists from the start.
#[derive(Clone, Debug)]
pub struct Route {
    /// The prefix.
    pub prefix: Name,
    /// Index of its face in [`Config::faces`].
    pub face: usize,
    /// Smaller is preferred.
    pub cost: u64,
}

/// Bounds of the forwarder's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwarderLimits {
    /// The most memory that all parts of the forwarder take together; [`usize::MAX`]: not counted.
    pub memory: usize,
    /// The pending Interests.
    pub pit: PitConfig,
    /// The most prefixes with routes.
    pub routes: usize,
    /// The longest Interest lifetime that is honoured.
    pub max_lifetime: Duration,
    /// The most nonces remembered after their Interest was satisfied.
    pub dead_nonces: usize,
}

/// A strategy for the names below a prefix.
#[derive(Clone, Debug)]
pub struct Strategy {
    /// The prefix.
    pub prefix: Name,
    /// The scheme whose strategy it is.
    pub choice: Choice,
}

/// Lets somebody command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorize {
    /// From where.
    pub from: Origin,
    /// Which of [`crate::management::authority::MODULES`].
    pub modules: Vec<String>,
    /// Only what is about names below it.
    pub prefix: Name,
    /// Programs of these users only, by name or number; with `group`, of either.
    pub user: Vec<String>,
    /// Programs of these groups' users only.
    pub group: Vec<String>,
    /// The file with the certificate of who has to sign.
    pub key: Option<PathBuf>,
    /// The file that says who may sign, by chains of certificates.
    pub trust: Option<PathBuf>,
    /// How far a signature's time may be from this host's.
    pub skew: Duration,
}
