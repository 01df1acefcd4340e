//! Sections about faces, and about routes and strategies over them.

use super::values::{Exempt, exempt, overhead, rate, rate_in, uri};
use crate::emulate::Emulation;
use crate::interface;
use crate::uri::FaceUri;
use control::{Duration, Rate, Size};
use document::schema::Form;
use document::{Fields, Parts, Queue, Read, Section, lasting, parts};
use forwarder::RateIn;
use packet::Name;
use schemes::Choice;

/// Options of every link.
#[derive(Clone, Debug, Default, PartialEq, Fields, Read)]
#[section(check = LinkOptions::checked)]
pub struct LinkOptions {
    /// Largest payload of a UDP datagram or an Ethernet frame in bytes; longer packets are sent as
    /// NDNLPv2 fragments. Without it: the payload that fits the route's MTU, at most 1472 over IPv4
    /// and 1452 over IPv6 (no fragments on loopback addresses). It is lowered when a narrower path
    /// is found. Over Ethernet: the interface's MTU, which is also the limit of this field there.
    #[field(range = 576..=65_507)]
    pub mtu: Option<usize>,
    /// Pace the face's packets to this rate. Without it the kernel's back-pressure decides.
    #[field(with = rate)]
    pub rate: Option<Rate>,
    /// The link's incoming rate, for schemes that use it; it paces nothing. `"measured"` finds it
    /// from the Data that come, if the neighbour is a forwarder of Weir. A face with it offers
    /// flows their shares by default (see `scheme` under `[daemon]`). A scheme that is named and
    /// needs the rate takes `rate` without it; without that, the rate at which the face sent while
    /// it had a queue.
    #[field(with = rate_in, form = "rate or `\"measured\"`")]
    pub rate_in: Option<RateIn>,
    /// Extra bytes that each frame takes on the link, counted against `rate`. Without it: those of
    /// the IP and UDP headers, or of the Ethernet header.
    #[field(with = overhead, form = Form::Size)]
    pub overhead: Option<Size>,
    /// Limit of the face's queue. Without it: the forwarder's default.
    pub queue: Option<Queue>,
    /// Delay and loss of an emulated link.
    #[field(flatten)]
    pub emulation: Emulation,
    /// Keep UDP frames until the peer acknowledges them, and send lost ones again (NDNLPv2 link
    /// reliability, as in NFD). The peer needs it too.
    #[field(default = false)]
    pub reliability: bool,
    /// The maximum number of bytes that may wait in a UDP peer's receive buffer, each frame counted
    /// with the 832 bytes that Linux adds to it. It applies to peers that acknowledge in time, as
    /// Weir does. The default fits Linux's default buffer. `"0 B"` means no limit and no
    /// acknowledgements, and is the default beside `delay`, `jitter` or `loss`: frames on an
    /// emulated link are in no buffer.
    #[field(default = "128 KiB")]
    pub window: Size,
    /// Send network Nacks over the face.
    #[field(default = true)]
    pub nacks: bool,
    /// Treat UDP and WebSockets from this host as local, so that its applications may register
    /// prefixes; only loopback addresses count.
    #[field(default = false)]
    pub local: bool,
    /// Its scheme parts.
    #[field(flatten)]
    pub parts: Parts,
}

impl LinkOptions {
    /// Frames on an emulated link are in no socket's buffer, so the window has no use there.
    fn checked(mut self, section: &Section<'_>) -> Option<LinkOptions> {
        if !self.emulation.is_none() && section.given("window").is_none() {
            self.window = Size(0);
        }
        Some(self)
    }
}

/// On-demand faces, created when a peer sends over UDP or Ethernet, or connects over TCP.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "on_demand")]
pub struct OnDemand {
    /// The maximum number of on-demand faces for each of UDP, Ethernet, and TCP with
    /// WebSocket; commands may create the same number again. At the limit, an idle face
    /// makes room for a new peer: one over UDP or Ethernet whose address is not proved goes
    /// first.
    #[field(default = 256, range = 0..=10_000)]
    pub max: usize,
    /// The maximum number of on-demand faces of each kind to one address (for IPv6, to one /64,
    /// except on a network in which this host has an address). Programs on loopback have half of
    /// `max` instead.
    #[field(default = 64, range = 1..=10_000)]
    pub max_per_address: usize,
    /// The same for a subnet: a /24 of IPv4, a /56 of IPv6. Networks in which this host has an
    /// address are exempt.
    #[field(default = 128, range = 1..=10_000)]
    pub max_per_subnet: usize,
    /// Removes a UDP or Ethernet face over which nothing has arrived for this long. At the limit
    /// `max`, a connection as well, when another peer arrives.
    #[field(default = "10 min", with = lasting)]
    pub idle: Duration,
    /// Peers over UDP or Ethernet that have not proved their addresses.
    #[field(flatten)]
    pub unproved: Unproved,
    /// Their links.
    #[field(flatten)]
    pub link: LinkOptions,
}

/// Limits for UDP peers whose addresses may be forged.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
pub struct Unproved {
    /// The same for a face without routes to an address that has not
    /// [proved](wire.md#proof-of-an-address) that it receives. The peer's next datagram makes a new
    /// face.
    #[field(name = "unproved_idle", default = "30 s", with = lasting)]
    pub idle: Duration,
    /// The rate limit to an unproved address (for IPv6, to a /64), IP headers included; excess is
    /// dropped and counted as `unproved-limit`. Bursts of 200 ms are allowed. Datagrams with a
    /// forged sender cannot send more than this to a victim.
    #[field(name = "unproved_rate", default = "100 Mbit/s")]
    pub rate: Rate,
    /// The rate limit to all unproved addresses of a subnet (/24 or /56) together.
    #[field(name = "unproved_subnet_rate", default = "200 Mbit/s")]
    pub subnet_rate: Rate,
    /// The rate limit to all unproved addresses together.
    #[field(name = "unproved_total_rate", default = "500 Mbit/s")]
    pub total_rate: Rate,
    /// Networks whose addresses count as proved, such as `["local", "192.0.2.0/24"]`. `local` is
    /// loopback, and the networks in which this host has an address, up to `unproved_local_rate`;
    /// stations on its Ethernet links are in such a network.
    /// Add peers of other projects that fetch at higher rates here, or as a `[[face]]`.
    #[field(
        name = "unproved_exempt",
        default = ["local"],
        form = "networks, or `\"local\"`",
        with = exempt,
    )]
    pub exempt: Exempt,
    /// With `local` in `unproved_exempt`: the rate limit to an unproved address in a network of
    /// this host; all of them together have five times as much.
    #[field(name = "unproved_local_rate", default = "400 Mbit/s")]
    pub local_rate: Rate,
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

/// The number of single rates that all unproved addresses in networks of this host share.
const LOCAL_ADDRESSES: u64 = 5;

/// Faces of local applications, over the Unix socket. `mtu` and `local` have no effect here.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "application")]
pub struct Application {
    /// The maximum number of such faces. At the limit, the oldest connection that never sent a
    /// packet makes room for another.
    #[field(default = 1024, range = 1..=10_000)]
    pub max: usize,
    /// The maximum number of routes registered for one face, an application's or another. A face
    /// with routes for this many prefixes gets no next hop by `fib/add-nexthop`, either.
    #[field(default = 10_000, range = 0..=1_000_000)]
    pub routes: usize,
    /// Their links.
    #[field(flatten)]
    pub link: LinkOptions,
}

/// A face that exists from the start. UDP faces send from the port that the daemon listens on, so
/// that two daemons which name each other share one face at each end. Broken TCP and Unix
/// connections are opened again. Two faces to the same place are a mistake. The URI may be that of
/// a multicast group, `udp4://224.0.23.170` or `udp6://[ff02::1234]`, both with the port 56363:
/// then all members on one interface are at the other end, and no Nacks are sent. With
/// `ether://[08:00:27:01:01:01]` and an `interface`, a station on its link is at the other end,
/// over Ethernet without IP; `ether://[01:00:5e:00:17:aa]` is NDN's group there. Both need
/// CAP_NET_RAW. Such a face is down while its interface is.
#[derive(Clone, Debug, PartialEq, Fields, Read)]
#[section(name = "face", repeated, check = Face::checked)]
pub struct Face {
    /// The URI of the other end.
    #[field(form = "face URI", with = uri)]
    pub uri: FaceUri,
    /// Its name in routes. Without it: the URI.
    pub name: Option<String>,
    /// The network interface of a face to a multicast group, or over Ethernet. The URI of a group
    /// of IPv6 may have it after a `%` instead.
    pub interface: Option<String>,
    /// A program at the other end counts as a peer, even on this host by TCP.
    #[field(skip)]
    pub is_remote: bool,
    /// Its link.
    #[field(flatten)]
    pub link: LinkOptions,
}

impl Face {
    /// The other end as text: the URI, that of a group with its interface.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.interface {
            Some(interface) if self.uri.zone().is_none() => format!("{}%{interface}", self.uri),
            _ => self.uri.to_string(),
        }
    }

    /// Its name in routes; one group may be on several interfaces.
    pub(super) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.place())
    }

    /// Only a multicast group or a place on an Ethernet has an interface, which its URI may name.
    fn checked(mut self, section: &Section<'_>) -> Option<Face> {
        let own = self.uri.zone().map(str::to_owned);
        let is_ether = matches!(self.uri, FaceUri::Ether(_));
        let checked = self.interface.as_deref().map_or(Ok(()), interface::check_name);
        let why = match (self.uri.is_group() || is_ether, &self.interface, &own, checked) {
            (true, None, None, _) if is_ether => {
                "a face over Ethernet needs an `interface`".to_owned()
            }
            (true, None, None, _) => "a multicast group needs an `interface`".to_owned(),
            (true, Some(given), Some(own), _) if given != own => {
                format!("the URI names the interface `{own}` and this another one")
            }
            (false, Some(_), ..) => {
                "only a multicast group or a face over Ethernet has an `interface`".to_owned()
            }
            (true, Some(name), _, Err(why)) => format!("`{name}`: {why}"),
            (is_group, ..) => {
                self.interface = self.interface.or(own).filter(|_| is_group);
                return Some(self);
            }
        };
        let field = if self.interface.is_some() { "interface" } else { "uri" };
        section.doc.mistake(section.place(field), why);
        None
    }
}

/// A route that exists from the start.
#[derive(Debug, Fields, Read)]
#[section(name = "route", repeated)]
pub(super) struct ListedRoute {
    /// The prefix. Interests below it leave by the face.
    #[field(required)]
    pub(super) prefix: Option<Name>,
    /// Name or URI of a `[[face]]`.
    pub(super) face: String,
    /// A smaller cost is preferred.
    #[field(default = 0, range = 0..)]
    pub(super) cost: u64,
}

/// A route that exists from the start.
#[derive(Clone, Debug)]
pub struct Route {
    /// The prefix.
    pub prefix: Name,
    /// Index of its face in [`Config::faces`](super::Config::faces).
    pub face: usize,
    /// Smaller is preferred.
    pub cost: u64,
}

/// The forwarding strategy for the names below a prefix. The root has `best-route` by default.
/// Commands may set strategies until 1000 prefixes have one.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "strategy", repeated)]
pub struct Strategy {
    /// The prefix.
    pub prefix: Name,
    /// A scheme that has a strategy, or the strategy's name in the NFD management protocol:
    /// `"/localhost/nfd/strategy/asf/v=5/probing-interval~30000"`.
    #[field(name = "strategy", part = "strategy", by = parts::strategy)]
    pub choice: Choice,
}
