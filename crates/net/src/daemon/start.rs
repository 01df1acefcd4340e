//! From the configuration to a daemon that is ready to run.

use super::applied::{choose, default_payload, root_choice, udp_options};
use super::error::DaemonError;
use super::face::{Face, Link, MadeBy, Target};
use super::listeners::{FACES, Listeners};
use super::reload::Configured;
use super::wake_up::WakeUps;
use super::{Buffers, Daemon, Settings, Work, permissions, stop};
use crate::batch::Batch;
use crate::clock::{Clock, unix_millis};
use crate::config::{self, Config, LinkOptions};
use crate::emulate::DelayLine;
use crate::framing::MAX_FRAME;
use crate::management::{self, FaceEvent, Management};
use crate::socket::stream::{READ_BUFFER, Socket, Stream};
use crate::socket::udp::{ReceiveBuffers, Udp};
use crate::timer::Timer;
use crate::uri::{Carrier, FaceUri};
use control::{Rng, Time};
use document::Queue;
use forwarder::{Announce, FaceConfig, FaceId, Forwarder, ForwarderConfig, LinkType, Scope};
use mio::net::{TcpStream, UnixStream};
use mio::{Events, Interest, Poll, Token};
use packet::Name;
use packet::options::Capability;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Joined datagrams that one call receives at most: a megabyte of buffers, most of it untouched.
const RECEIVE_SLOTS: usize = 16;

/// Pending Interests that one call of the forwarder ends; a turn calls it several times.
const ENDED_AT_ONCE: usize = 512;

pub(super) const TIMER: Token = Token(0);
pub(super) const STOP: Token = Token(1);
pub(super) const WAKE_UP: Token = Token(2);

impl Daemon {
    /// Opens all sockets and fills the tables.
    ///
    /// # Errors
    /// See [`DaemonError`]. A face that cannot be connected at present is not an error: it is tried
    /// again.
    pub fn new(config: Config) -> Result<Daemon, DaemonError> {
        let system = DaemonError::system;
        let clock = Clock::start();
        let poll = Poll::new().map_err(system("cannot make a poll"))?;
        let timer = Timer::new(poll.registry(), TIMER).map_err(system("cannot make a timer"))?;
        let udp = udp_options(&config.listen);
        let listeners = Listeners::open(&config.listen, udp, poll.registry())?;
        let seed = match config.daemon.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(|e| DaemonError::System {
                what: "cannot get random numbers",
                source: io::Error::other(e),
            })?,
        };
        let mut forwarder = forwarder(&config, seed);
        let now = clock.now();
        let mut management = management(&mut forwarder, &config, now)?;
        management.strategies().extend(strategies(&mut forwarder, &config)?);
        let (stopper, mut stopped) =
            stop::pair().map_err(system("cannot make a pair of sockets"))?;
        let watched = poll.registry().register(&mut stopped, STOP, Interest::READABLE);
        watched.map_err(system("cannot watch for the end"))?;
        let mut wake_ups = WakeUps::new().map_err(system("cannot make a pair of sockets"))?;
        let watched = poll.registry().register(&mut wake_ups.socket, WAKE_UP, Interest::READABLE);
        watched.map_err(system("cannot watch for questions"))?;
        become_nice(config.daemon.nice);
        let next_idle_check = now + config.on_demand.idle;
        let configured = Configured::new(&config);
        let mut daemon = Daemon {
            clock,
            poll,
            events: Events::with_capacity(256),
            timer,
            forwarder,
            management,
            faces: super::Faces::default(),
            listeners,
            settings: Settings {
                on_demand: config.on_demand,
                application: config.application,
                udp,
                origins: Arc::new(config.listen.origins.clone()),
                drain: config.daemon.drain,
                seed,
            },
            buffers: Buffers {
                datagrams: ReceiveBuffers::new(RECEIVE_SLOTS),
                stream: vec![0; READ_BUFFER],
                packet: Vec::with_capacity(2 * MAX_FRAME),
                out: Vec::new(),
            },
            work: Work { listeners: true, ..Work::default() },
            stopped,
            stopper,
            stopping: false,
            wake_ups,
            configured,
            metrics: super::metrics::Served::default(),
            next_idle_check,
            unproved: super::Unproved::default(),
            rejected: super::Rejected::default(),
            log_report: None,
            connecting: Vec::new(),
            memory: None,
        };
        daemon.configured_faces(&config.faces, &config.routes)?;
        daemon.management.count(&mut daemon.forwarder);
        daemon.announce();
        Ok(daemon)
    }

    fn announce(&self) {
        let listening = self.listeners.uris().join(" ");
        tracing::info!(%listening, version = env!("CARGO_PKG_VERSION"), "the forwarder is up");
    }

    /// Makes the faces of the configuration, and their routes.
    fn configured_faces(
        &mut self,
        faces: &[config::Face],
        routes: &[config::Route],
    ) -> Result<(), DaemonError> {
        let now = self.clock.now();
        for face in faces {
            let id = self.configured_face(face, now)?;
            self.configured.faces.push((id, face.clone()));
        }
        for route in routes {
            let route = (route.prefix.clone(), self.configured.faces[route.face].0, route.cost);
            self.configured_route(&route)?;
            self.configured.routes.push(route);
        }
        Ok(())
    }

    pub(super) fn configured_face(
        &mut self,
        face: &config::Face,
        now: Time,
    ) -> Result<FaceId, DaemonError> {
        let target = match &face.uri {
            FaceUri::Unix(path) => Target::Unix(path.clone()),
            FaceUri::Internet { carrier, .. } => {
                let address = face.uri.resolve();
                let address = address
                    .map_err(|source| DaemonError::Host { uri: face.uri.clone(), source })?;
                match (carrier, &face.interface) {
                    (Carrier::Udp, Some(interface)) => Target::Group(address, interface.clone()),
                    (Carrier::Udp, None) => Target::Udp(address),
                    (Carrier::Tcp, _) => Target::Tcp(address),
                }
            }
        };
        let uri = face.uri.to_string();
        let name = face.name.clone().unwrap_or_else(|| face.place());
        let peer = match target {
            Target::Udp(peer) | Target::Group(peer, _) => Some(peer),
            _ => None,
        };
        let local = match &target {
            Target::Unix(_) => true,
            Target::Tcp(peer) => peer.ip().is_loopback(),
            Target::Udp(peer) => face.link.local && peer.ip().is_loopback(),
            Target::Group(..) => false,
        };
        // Members of a group have addresses of their own.
        let is_group = matches!(target, Target::Group(..));
        let known_by = peer.filter(|_| !is_group);
        let mtu = peer.map(|peer| face.link.mtu.unwrap_or(default_payload(peer, None)));
        let id = self.add_to_forwarder(&name, local, mtu, peer, &face.link, now);
        let mut made = Face::new(id, MadeBy::Configuration, uri, Link::Down { retry: now });
        made.name.clone_from(&face.name);
        made.local = local;
        made.target = Some(target);
        made.fixed_mtu = face.link.mtu;
        made.mtu = mtu;
        made.delay = self.delay_line(&name, &face.link);
        made.linked(&face.link, peer.is_some());
        self.list(made, known_by);
        self.dial(id, now);
        Ok(id)
    }

    /// The emulated link of a face, if it has one.
    pub(super) fn delay_line(&self, name: &str, link: &LinkOptions) -> Option<DelayLine> {
        let dice = |role| Rng::stream(self.settings.seed, &["daemon", name, role]);
        let line = || DelayLine::new(link.emulation, ["loss", "jitter"].map(dice));
        (!link.emulation.is_none()).then(line)
    }

    /// Adds a face to the forwarder.
    pub(super) fn add_to_forwarder(
        &mut self,
        name: &str,
        local: bool,
        mtu: Option<usize>,
        peer: Option<SocketAddr>,
        link: &LinkOptions,
        now: Time,
    ) -> FaceId {
        let defaults = FaceConfig::default();
        // IP and UDP headers count against a configured rate, as they do on a real link.
        let headers = peer.map_or(0, |p| if p.is_ipv4() { 28 } else { 48 });
        let overhead = link.overhead.map_or(headers, |size| size.0 as usize);
        let is_group = peer.is_some_and(|peer| peer.ip().is_multicast());
        let one = peer.filter(|_| !is_group);
        let queue = link.queue.map(Queue::bounds);
        let queue = queue.unwrap_or((defaults.data_queue, defaults.queue_packets));
        // That the schemes have these parts was checked when the file was read.
        let config = FaceConfig {
            name: name.to_owned(),
            scope: if local { Scope::Local } else { Scope::NonLocal },
            link_type: if is_group { LinkType::MultiAccess } else { LinkType::PointToPoint },
            mtu,
            overhead,
            rate: link.rate,
            rate_in: link.rate_in,
            data_queue: queue.0,
            queue_packets: queue.1,
            // A stream loses nothing, and says itself how much it takes; of a group nobody knows
            // who ought to acknowledge.
            reliability: one.is_some() && link.reliability,
            window: one.map(|_| link.window).unwrap_or_default(),
            nacks: link.nacks && !is_group,
            capability: Capability::default(),
            announce: Announce::Answer,
            outside: Face::keeps(peer.is_some()),
            marker: link.parts.marker.as_ref().and_then(|c| c.marker().ok()),
            shaper: link.parts.shaper.as_ref().and_then(|c| c.shaper().ok()),
            stamper: link.parts.stamper.as_ref().and_then(|c| c.stamper().ok()),
            ..defaults
        };
        self.forwarder.add_face(now, config)
    }

    /// Connects a face that is to be up; if that fails, it is tried again later.
    pub(super) fn dial(&mut self, id: FaceId, now: Time) {
        let Some(target) = self.faces.get_mut(id).and_then(|f| f.target.clone()) else { return };
        let dialled = self.try_dial(id, &target, now);
        let Some(face) = self.faces.get_mut(id) else { return };
        match dialled {
            Ok(()) if std::mem::take(&mut face.was_down) => {
                let info = face.info();
                self.management.face_event(now, FaceEvent::Up, &info);
            }
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(face = %id, uri = face.uri, %error, "cannot connect, trying again");
                face.down(now);
            }
        }
        self.faces.schedule(id);
    }

    /// Connects a face.
    pub(super) fn try_dial(&mut self, id: FaceId, target: &Target, now: Time) -> io::Result<()> {
        let (link, local_uri, payload) = self.connect(id, target)?;
        let Some(face) = self.faces.get_mut(id) else { return Ok(()) };
        tracing::debug!(face = %id, uri = face.uri, "connecting");
        face.link = link;
        face.blocked = false;
        face.heard = now;
        face.local_uri = local_uri;
        if let Some(payload) = payload {
            let mtu = face.fixed_mtu.unwrap_or(payload);
            face.mtu = Some(mtu);
            self.forwarder.set_mtu(id, Some(mtu));
        }
        self.faces.schedule(id);
        self.forwarder.open_face(now, id);
        self.work.sending.push_back(id);
        Ok(())
    }

    fn connect(
        &mut self,
        id: FaceId,
        target: &Target,
    ) -> io::Result<(Link, String, Option<usize>)> {
        let token = Token(FACES + id.0 as usize);
        let interests = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        let stream = |mut socket: Socket| {
            registry.register(socket.source(), token, interests)?;
            Ok::<_, io::Error>(Link::Stream(Stream::new(socket)))
        };
        match target {
            Target::Udp(peer) => {
                let local = self.listeners.local_for(*peer);
                let mut udp = Udp::connect(local, *peer, self.settings.udp)?;
                registry.register(udp.source(), token, interests)?;
                let uri = FaceUri::udp(udp.local()?).to_string();
                let payload = default_payload(*peer, udp.route_payload());
                let batch = Batch::new(udp.max_segments());
                Ok((Link::Udp(udp, batch), uri, Some(payload)))
            }
            Target::Group(group, interface) => {
                let mut udp = Udp::join(*group, interface, self.settings.udp)?;
                registry.register(udp.source(), token, interests)?;
                let batch = Batch::new(udp.max_segments());
                let payload = default_payload(*group, None);
                Ok((Link::Udp(udp, batch), format!("dev://{interface}"), Some(payload)))
            }
            Target::Tcp(peer) => {
                let socket = TcpStream::connect(*peer)?;
                let uri = FaceUri::tcp(socket.local_addr()?).to_string();
                Ok((stream(Socket::Tcp(socket))?, uri, None))
            }
            Target::Unix(path) => {
                let socket = UnixStream::connect(path)?;
                Ok((stream(Socket::Unix(socket))?, "unix://".to_owned(), None))
            }
        }
    }
}

/// The forwarder's own part of the configuration.
fn forwarder(config: &Config, seed: u64) -> Forwarder {
    let limits = &config.forwarder;
    Forwarder::new(ForwarderConfig {
        seed,
        name: "daemon".to_owned(),
        content_store: config.content_store,
        pit: limits.pit.into(),
        memory: limits.memory,
        ended_at_once: ENDED_AT_ONCE,
        routes: limits.routes,
        dead_nonces: limits.dead_nonces,
        max_lifetime: limits.max_lifetime,
        ..ForwarderConfig::new(root_strategy())
    })
}

/// The strategy of the root, unless the configuration says otherwise.
fn root_strategy() -> Box<dyn control::Strategy> {
    root_choice().strategy().expect("the default has a strategy")
}

/// Sets the strategies of the configuration; returns all prefixes with their strategies' names.
fn strategies(
    forwarder: &mut Forwarder,
    config: &Config,
) -> Result<BTreeMap<Name, Name>, DaemonError> {
    let root = (Name::default(), schemes::instance::name(&root_choice()));
    let mut all = BTreeMap::from([root]);
    for entry in &config.strategies {
        choose(forwarder, &mut all, &entry.prefix, &entry.choice)?;
    }
    Ok(all)
}

/// Adds the internal face and its routes.
fn management(
    forwarder: &mut Forwarder,
    config: &Config,
    now: Time,
) -> Result<Management, DaemonError> {
    let face = FaceConfig {
        name: "management".to_owned(),
        scope: Scope::Local,
        local_fields: true,
        capability: Capability::default(),
        ..FaceConfig::default()
    };
    let id = forwarder.add_face(now, face);
    let mut management = Management::new(id, config.application.routes, unix_millis());
    for prefix in management::prefixes() {
        forwarder
            .add_route(id, prefix.as_ref(), 0)
            .map_err(|e| DaemonError::Table { prefix: prefix.clone(), why: e.to_string() })?;
    }
    forwarder.set_uncached(&config.no_cache);
    permissions::grant(forwarder, &mut management, config)?;
    management.log_packets(forwarder);
    Ok(management)
}

fn become_nice(nice: i32) {
    if nice == 0 {
        return;
    }
    if let Err(error) = rustix::process::nice(nice) {
        tracing::warn!(nice, %error, "scheduling priority left as it is");
    }
}
