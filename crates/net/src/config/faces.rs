//! Sections about faces, and about routes and strategies over them.

use super::values::{Exempt, exempt, rate, uri};
use crate::emulate::Emulation;
use crate::uri::FaceUri;
use control::{Duration, Rate, Size};
use document::{Fields, Parts, Queue, Read, Section, parts};
use packet::Name;
use schemes::Choice;

/// What can be chosen for every link.
#[derive(Clone, Debug, Default, Fields, Read)]
#[section(check = LinkOptions::checked)]
pub struct LinkOptions {
    /// Largest UDP payload in bytes; longer packets are sent as NDNLPv2 fragments. Without it: what
    /// the route's MTU allows, at most 1472 over IPv4 and 1452 over IPv6 (no fragments on loopback
    /// addresses). It is lowered when the path turns out to be narrower.
    #[field(range = 576..=65_507)]
    pub mtu: Option<usize>,
    /// Pace what the face sends to this rate. Without it the kernel's back-pressure decides.
    #[field(with = rate)]
    pub rate: Option<Rate>,
    /// What the link brings in a second, for schemes that go by it; it paces nothing. Without it:
    /// `rate`; without that, what the face was seen to send at while it had a queue.
    pub rate_in: Option<Rate>,
    /// Bytes that a frame takes on the link besides itself, counted against `rate`. Without it:
    /// those of the IP and UDP headers.
    pub overhead: Option<Size>,
    /// Bound of the face's queue. Without it: the forwarder's own.
    pub queue: Option<Queue>,
    /// Delay and loss of an emulated link.
    #[field(flatten)]
    pub emulation: Emulation,
    /// Keep what is sent over UDP until the peer acknowledges it, and send what is lost again
    /// (NDNLPv2 link reliability, as NFD has it). The peer needs it too.
    #[field(default = false)]
    pub reliability: bool,
    /// What a UDP peer's receive buffer is asked to hold at most, each frame counted with the 832
    /// bytes that Linux adds to it; it is kept to where the peer acknowledges, as Weir does, and in
    /// time. The default fits Linux's default buffer. `"0 B"` is no bound, and no acknowledgement;
    /// so it is unless it is given beside `delay`, `jitter` or `loss`: what is on an emulated link
    /// is in no buffer.
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
    /// What is on an emulated link is in no socket's buffer: nothing has to be held back for it.
    fn checked(mut self, section: &Section<'_>) -> Option<LinkOptions> {
        if !self.emulation.is_none() && section.given("window").is_none() {
            self.window = Size(0);
        }
        Some(self)
    }
}

/// Faces that come about when a peer sends over UDP or connects over TCP.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "on_demand")]
pub struct OnDemand {
    /// The most such faces at a time over UDP, and as many over TCP and WebSocket; besides,
    /// commands may make as many. Where there are as many, an idle face makes room for a new peer:
    /// first one over UDP whose address is not proved.
    #[field(default = 256, range = 0..=10_000)]
    pub max: usize,
    /// The most such faces of either kind to one address (of IPv6, to one /64, but on a network
    /// that this host has an address in). Programs on loopback have half of `max` instead.
    #[field(default = 64, range = 1..=10_000)]
    pub max_per_address: usize,
    /// The same for a subnet: a /24 of IPv4, a /56 of IPv6. It does not hold for networks that this
    /// host has an address in.
    #[field(default = 128, range = 1..=10_000)]
    pub max_per_subnet: usize,
    /// A UDP face over which nothing came for so long is removed; where there are `max` faces, a
    /// connection, too, if another peer comes.
    #[field(default = "10 min")]
    pub idle: Duration,
    /// Peers over UDP that have not proved their addresses.
    #[field(flatten)]
    pub unproved: Unproved,
    /// Their links.
    #[field(flatten)]
    pub link: LinkOptions,
}

/// What holds for peers over UDP whose addresses may be forged.
#[derive(Clone, Debug, PartialEq, Eq, Fields, Read)]
pub struct Unproved {
    /// The same for a UDP face without routes to an address that has not
    /// [proved](wire.md#proof-of-an-address) that it receives what is sent to it. The peer's next
    /// datagram makes a new face.
    #[field(name = "unproved_idle", default = "30 s")]
    pub idle: Duration,
    /// The most that is sent to an unproved address (of IPv6, to a /64), IP headers included; what
    /// is beyond it is dropped and counted as `unproved-limit`. Bursts may be of 200 ms. Datagrams
    /// with a forged sender can bring a victim no more than this.
    #[field(name = "unproved_rate", default = "100 Mbit/s")]
    pub rate: Rate,
    /// The most that is sent to all unproved addresses of a subnet (/24 or /56).
    #[field(name = "unproved_subnet_rate", default = "200 Mbit/s")]
    pub subnet_rate: Rate,
    /// The most that is sent to all unproved addresses together.
    #[field(name = "unproved_total_rate", default = "500 Mbit/s")]
    pub total_rate: Rate,
    /// Networks whose addresses count as proved, such as `["local", "192.0.2.0/24"]`. `local` is
    /// loopback, and the networks that this host has an address in up to `unproved_local_rate`.
    /// Peers of other projects that fetch at higher rates belong here, or into a `[[face]]`.
    #[field(
        name = "unproved_exempt",
        default = ["local"],
        form = "networks, or `\"local\"`",
        with = exempt,
    )]
    pub exempt: Exempt,
    /// With `local` in `unproved_exempt`: the most that goes to an unproved address in a network of
    /// this host; five times as much goes to all.
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

/// All unproved addresses in networks of this host together have the rate of so many.
const LOCAL_ADDRESSES: u64 = 5;

/// Faces of local applications, over the Unix socket. `mtu` and `local` mean nothing here.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "application")]
pub struct Application {
    /// The most such faces at a time. Where there are as many, the oldest connection that never
    /// sent a packet makes room for another.
    #[field(default = 1024, range = 1..=10_000)]
    pub max: usize,
    /// The most routes that may be registered for one face, an application's or another; from so
    /// many prefixes on it gets no next hop by `fib/add-nexthop`, either.
    #[field(default = 10_000, range = 0..=1_000_000)]
    pub routes: usize,
    /// Their links.
    #[field(flatten)]
    pub link: LinkOptions,
}

/// A face that exists from the start. UDP faces send from the port that the daemon listens on, so
/// that two daemons which name each other share one face at each end. TCP and Unix faces are
/// connected again when they break. The URI may be that of a multicast group, `udp4://224.0.23.170`
/// or `udp6://[ff02::1234]`, both with the port 56363: all members on one interface are at the
/// other end then, and no Nacks are sent.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "face", repeated, check = Face::checked)]
pub struct Face {
    /// Where it leads.
    #[field(form = "face URI", with = uri)]
    pub uri: FaceUri,
    /// Its name in routes. Without it: the URI.
    pub name: Option<String>,
    /// The network interface of a face to a multicast group. The URI of a group of IPv6 may have it
    /// behind a `%` instead.
    pub interface: Option<String>,
    /// Its link.
    #[field(flatten)]
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

    /// Its name in routes; one group may be on several interfaces.
    pub(super) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.place())
    }

    /// Only a multicast group has an interface, which its URI may name.
    fn checked(mut self, section: &Section<'_>) -> Option<Face> {
        let own = self.uri.zone().map(str::to_owned);
        let why = match (self.uri.is_group(), &self.interface, &own) {
            (true, None, None) => "a multicast group needs an `interface`".to_owned(),
            (true, Some(given), Some(own)) if given != own => {
                format!("the URI names the interface `{own}` and this another one")
            }
            (false, Some(_), _) => "only a multicast group has an `interface`".to_owned(),
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
    /// Names below it are asked for over the face.
    #[field(required)]
    pub(super) prefix: Option<Name>,
    /// Name or URI of a `[[face]]`.
    pub(super) face: String,
    /// The smaller, the more preferred.
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

/// The forwarding strategy for the names below a prefix. The root has `best-route` unless something
/// else is said. Commands may choose for others until 1000 prefixes have one.
#[derive(Clone, Debug, Fields, Read)]
#[section(name = "strategy", repeated)]
pub struct Strategy {
    /// The names it is for.
    pub prefix: Name,
    /// A scheme that has a strategy, or the strategy's name in the NFD management protocol:
    /// `"/localhost/nfd/strategy/asf/v=5/probing-interval~30000"`.
    #[field(name = "strategy", part = "strategy", by = parts::strategy)]
    pub choice: Choice,
}
