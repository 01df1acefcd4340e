//! Faces that the configuration or a command asks for, and how they are connected.

use super::FaceSet;
use super::news::News;
use crate::batch::Batch;
use crate::config::{self, LinkOptions};
use crate::daemon::address::{Address, Station};
use crate::daemon::applied::{ETHERNET, default_payload};
use crate::daemon::devices::Change as DeviceChange;
use crate::daemon::error::DaemonError;
use crate::daemon::face::{About, Face, Link, MadeBy, Target};
use crate::daemon::listeners::FACES;
use crate::daemon::marking;
use crate::emulate::DelayLine;
use crate::mac::Mac;
use crate::management::orders::{Change, Create, Rejected};
use crate::management::{CONGESTION_MARKING, FaceEvent, LOCAL_FIELDS, Persistency, RELIABILITY};
use crate::socket::SendFrames;
use crate::socket::ether::permitted;
use crate::socket::stream::{Socket, Stream};
use crate::socket::udp::Udp;
use crate::uri::{FaceUri, Transport};
use control::{Rng, Time};
use document::Queue;
use forwarder::{
    Announce, FaceConfig, FaceId, FaceParts, Forwarder, LinkType, Medium, QueueLimits, Scope,
};
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Token};
use packet::options::Capability;
use schemes::Choice;
use std::io;

/// A face that a command asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::daemon) enum Made {
    /// There was one to that URI.
    Known(FaceId),
    Connected(FaceId),
    /// It is being connected.
    Begun(FaceId),
}

impl FaceSet {
    /// Makes a face of the configuration.
    ///
    /// # Errors
    /// Its host is not known, or another configured face leads there.
    pub fn configured_face(
        &mut self,
        forwarder: &mut Forwarder,
        face: &config::Face,
        now: Time,
    ) -> Result<FaceId, DaemonError> {
        let target = match &face.uri {
            FaceUri::Unix(path) => Target::Unix(path.clone()),
            FaceUri::Ether(address) => {
                permitted()
                    .map_err(|source| DaemonError::Ether { uri: face.uri.to_string(), source })?;
                Target::Ether(*address, face.interface.clone().unwrap_or_default())
            }
            // The reader of the configuration lets no other through.
            FaceUri::Device(name) => Target::Ether(Mac::NDN, name.clone()),
            FaceUri::Internet { transport, .. } => {
                let address = face.uri.resolve();
                let address = address
                    .map_err(|source| DaemonError::Host { uri: face.uri.clone(), source })?;
                match (transport, &face.interface) {
                    (Transport::Udp, Some(interface)) => Target::Group(address, interface.clone()),
                    (Transport::Udp, None) => Target::Udp(address),
                    (Transport::Tcp, _) => Target::Tcp(address),
                }
            }
        };
        let uri = face.uri.to_string();
        let name = face.name.clone().unwrap_or_else(|| face.place());
        if let Some(first) = self.table.configured(&target) {
            let first = first.about();
            let first = first.name.as_ref().unwrap_or(&first.uri).clone();
            return Err(DaemonError::SamePlace { first, second: name });
        }
        let peer = self.address(&target);
        let local = match &target {
            Target::Unix(_) => true,
            Target::Tcp(peer) => peer.ip().is_loopback() && !face.is_remote,
            Target::Udp(peer) => face.link.local && peer.ip().is_loopback(),
            Target::Group(..) | Target::Ether(..) => false,
        };
        // Members of a group of UDP have addresses of their own.
        let known_by = peer.filter(|_| !matches!(target, Target::Group(..)));
        let mtu = peer.map(|peer| face.link.mtu.unwrap_or(first_payload(peer)));
        let id = self.add_to_forwarder(forwarder, &name, local, mtu, peer, &face.link, now);
        let about = About {
            name: face.name.clone(),
            local,
            station: peer.and_then(Address::station),
            ..About::new(MadeBy::Configuration, uri)
        };
        let mut made = Face::outgoing(id, about, target, now);
        made.set_options(&face.link, mtu, self.delay_line(&name, &face.link));
        self.list(made, known_by);
        self.dial(forwarder, id, now);
        Ok(id)
    }

    /// The address of a face without a connection.
    fn address(&mut self, target: &Target) -> Option<Address> {
        match target {
            Target::Udp(peer) | Target::Group(peer, _) => Some(Address::Udp(*peer)),
            Target::Ether(address, interface) => {
                let device = self.devices.id(interface);
                Some(Address::Ether(Station { device, address: *address }))
            }
            Target::Tcp(_) | Target::Unix(_) => None,
        }
    }

    /// The emulated link of a face, if it has one.
    pub(super) fn delay_line(&self, name: &str, link: &LinkOptions) -> Option<DelayLine> {
        if link.emulation.is_none() {
            return None;
        }
        let seed = self.settings.seed;
        let dice = ["loss", "jitter"].map(|role| Rng::stream(seed, &["daemon", name, role]));
        Some(DelayLine::new(link.emulation, dice))
    }

    /// Adds a face to the forwarder.
    pub(super) fn add_to_forwarder(
        &self,
        forwarder: &mut Forwarder,
        name: &str,
        local: bool,
        mtu: Option<usize>,
        peer: Option<Address>,
        link: &LinkOptions,
        now: Time,
    ) -> FaceId {
        let defaults = FaceConfig::default();
        // Headers count against a configured rate, as they do on a real link.
        let headers = peer.map_or(0, Address::headers);
        let overhead = link.overhead.map_or(headers, |size| size.0 as usize);
        let is_group = peer.is_some_and(Address::is_group);
        let one = peer.filter(|_| !is_group);
        let queue = link.queue.map(Queue::bounds);
        let (data, packets) = queue.unwrap_or((defaults.queues.data, defaults.queues.packets));
        // The reader of the configuration has checked that the schemes have these parts.
        let config = FaceConfig {
            name: name.to_owned(),
            scope: if local { Scope::Local } else { Scope::NonLocal },
            link_type: if is_group { LinkType::MultiAccess } else { LinkType::PointToPoint },
            medium: Medium {
                mtu,
                overhead,
                rate: link.rate,
                rate_in: link.rate_in.unwrap_or_default(),
                ..defaults.medium
            },
            queues: QueueLimits { data, packets, ..defaults.queues },
            // A stream loses nothing, and limits itself. In a group no single peer could
            // acknowledge.
            reliability: one.is_some() && link.reliability,
            window: one.map(|_| link.window).unwrap_or_default(),
            nacks: link.nacks && !is_group,
            capability: Capability::default(),
            announce: Announce::Answer,
            outside: Face::base_memory(peer.is_some()),
            parts: FaceParts {
                marker: link.parts.marker.as_ref().and_then(|c| c.marker().ok()),
                shaper: link.parts.shaper.as_ref().and_then(|c| c.shaper().ok()),
                stamper: link.parts.stamper.as_ref().and_then(|c| c.stamper().ok()),
            },
            ..defaults
        };
        forwarder.add_face(now, config)
    }

    /// Connects a face that is to be up; if that fails, it is tried again later.
    pub(super) fn dial(&mut self, forwarder: &mut Forwarder, id: FaceId, now: Time) {
        let Some(target) = self.table.get(id).and_then(|face| face.target().cloned()) else {
            return;
        };
        let dialled = self.try_dial(forwarder, id, &target, now);
        let Some(face) = self.table.get_mut(id) else { return };
        match dialled {
            Ok(()) if face.came_up() => {
                let face = face.info();
                self.news.push_back(News { event: FaceEvent::Up, face });
            }
            Ok(()) => {}
            Err(error) => {
                let uri = &face.about().uri;
                tracing::warn!(face = %id, uri, %error, "cannot connect, trying again");
                face.down(now);
            }
        }
        self.table.schedule(id);
    }

    /// Connects a face.
    ///
    /// # Errors
    /// A system call fails.
    fn try_dial(
        &mut self,
        forwarder: &mut Forwarder,
        id: FaceId,
        target: &Target,
        now: Time,
    ) -> io::Result<()> {
        let (link, local_uri, payload) = self.connect(id, target)?;
        let Some(face) = self.table.get_mut(id) else { return Ok(()) };
        tracing::debug!(face = %id, uri = face.about().uri, "connecting");
        face.connect(link, local_uri, now);
        match (payload, target) {
            (Some(payload), Target::Ether(..)) => face.set_device_mtu(forwarder, payload),
            (Some(payload), _) => face.set_path_mtu(forwarder, payload),
            (None, _) => {}
        }
        self.table.schedule(id);
        forwarder.open_face(now, id);
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
        let registry = &self.registry;
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
            Target::Ether(address, interface) => {
                let FaceSet { devices, registry, settings, .. } = self;
                let device = devices.id(interface);
                let (sender, mtu) = devices.sender(device, *address, settings.udp, registry)?;
                sender.register(registry, token)?;
                let batch = Batch::new(sender.max_segments());
                Ok((Link::Ether(sender, batch), devices.uri(device), Some(mtu)))
            }
            Target::Tcp(peer) => {
                let mut socket = TcpStream::connect(*peer)?;
                registry.register(&mut socket, token, interests)?;
                let uri = FaceUri::tcp(socket.local_addr()?).to_string();
                Ok((Link::Stream(Stream::new(Socket::Tcp(socket))), uri, None))
            }
            Target::Unix(path) => {
                let mut socket = UnixStream::connect(path)?;
                registry.register(&mut socket, token, interests)?;
                let link = Link::Stream(Stream::new(Socket::Unix(socket)));
                Ok((link, "unix://".to_owned(), None))
            }
        }
    }

    /// Makes a face that a command asks for.
    ///
    /// # Errors
    /// It cannot be made; nothing is changed then.
    pub fn create(
        &mut self,
        forwarder: &mut Forwarder,
        create: &Create,
        now: Time,
    ) -> Result<Made, Rejected> {
        let made = self.try_create(forwarder, create, now);
        if made.is_err() {
            self.forget_unused_devices();
        }
        made
    }

    fn try_create(
        &mut self,
        forwarder: &mut Forwarder,
        create: &Create,
        now: Time,
    ) -> Result<Made, Rejected> {
        let target = commanded_target(create).map_err(|why| Rejected { code: 400, why })?;
        let address = self.address(&target);
        let mut known = address.and_then(|address| self.table.of_peer(address));
        // The same station may be on the links of several interfaces.
        if known.is_none() && !matches!(target, Target::Ether(..)) {
            known = self.table.of_uri(&create.uri.to_string());
        }
        if let Some(id) = known {
            // A user who may make faces vouches for the address.
            forwarder.set_challenge(id, None);
            return Ok(Made::Known(id));
        }
        let most = self.settings.on_demand.max;
        let has_room =
            forwarder.has_room_for_face(Scope::NonLocal, Face::base_memory(address.is_some()));
        if self.table.commanded() >= most || !has_room {
            let why = format!("no room for another face; commands may make {most}");
            return Err(Rejected { code: 500, why });
        }
        let base = self.settings.on_demand.link.parts.marker.clone();
        let base = base.unwrap_or_else(marking::default);
        let marker = marking::changed(&base, create.change.marking)?;
        let id = self.commanded(forwarder, create, &target, marker, now);
        if let Err(error) = self.try_dial(forwarder, id, &target, now) {
            self.close(forwarder, id, "it cannot be connected");
            return Err(Rejected { code: 504, why: format!("cannot connect: {error}") });
        }
        Ok(if address.is_some() { Made::Connected(id) } else { Made::Begun(id) })
    }

    /// Lists a face that is not connected yet.
    fn commanded(
        &mut self,
        forwarder: &mut Forwarder,
        create: &Create,
        target: &Target,
        marker: Choice,
        now: Time,
    ) -> FaceId {
        let change = &create.change;
        let address = self.address(target);
        let link = self.link_for(change, address.is_some(), &marker);
        let local = match target {
            Target::Udp(peer) => peer.ip().is_loopback() && link.local,
            Target::Tcp(peer) => peer.ip().is_loopback(),
            _ => false,
        };
        let payload = address.map(|address| link.mtu.unwrap_or(first_payload(address)));
        let uri = create.uri.to_string();
        let id = self.add_to_forwarder(forwarder, &uri, local, payload, address, &link, now);
        let about = About {
            local,
            persistency: change.persistency.unwrap_or(Persistency::Persistent),
            station: address.and_then(Address::station),
            ..About::new(MadeBy::Command, uri)
        };
        let delay = self.delay_line(&about.uri, &link);
        let mut face = Face::outgoing(id, about, target.clone(), now);
        face.set_options(&link, payload, delay);
        if link.parts.marker.is_none() {
            face.keep_marker(marker);
        }
        if local && change.flags & change.mask & LOCAL_FIELDS != 0 {
            face.set_local_fields(forwarder, true);
        }
        self.list(face, address);
        id
    }

    /// The link of peers' faces, as a command changes it.
    fn link_for(&self, change: &Change, is_framed: bool, marker: &Choice) -> LinkOptions {
        let mut link = self.settings.on_demand.link.clone();
        if is_framed && change.mtu.is_some() {
            link.mtu = change.mtu;
        }
        if change.mask & RELIABILITY != 0 {
            link.reliability = change.flags & RELIABILITY != 0;
        }
        let marks = match change.mask & CONGESTION_MARKING {
            0 => link.parts.marker.is_some(),
            _ => change.flags & CONGESTION_MARKING != 0,
        };
        link.parts.marker = marks.then(|| marker.clone());
        link
    }

    /// True if a TCP face is connected.
    ///
    /// # Errors
    ///
    /// The reason why it never will be.
    pub fn is_connected(&mut self, id: FaceId) -> Result<bool, String> {
        let face = self.table.get_mut(id).ok_or_else(|| "it was rejected".to_owned())?;
        face.is_connected()
    }

    /// Changes a face as a command asks.
    ///
    /// # Errors
    /// It cannot be changed so; nothing is changed then.
    pub fn update(
        &mut self,
        forwarder: &mut Forwarder,
        id: FaceId,
        change: &Change,
    ) -> Result<(), Rejected> {
        let Some(face) = self.table.get_mut(id) else {
            return Err(Rejected { code: 404, why: format!("there is no face {id}") });
        };
        if let Some(why) = unchangeable(face, change) {
            return Err(Rejected { code: 409, why });
        }
        face.change_marking(forwarder, change)?;
        if let Some(persistency) = change.persistency {
            if persistency != Persistency::OnDemand {
                forwarder.set_challenge(id, None);
            }
            let target = face.target().cloned().or_else(|| target(face));
            face.set_persistency(persistency, target);
        }
        if change.mask & LOCAL_FIELDS != 0 {
            face.set_local_fields(forwarder, change.flags & LOCAL_FIELDS != 0);
        }
        if let Some(mtu) = change.mtu.filter(|_| face.mtu().is_some()) {
            let most = self.devices.mtu(face.about().station).unwrap_or(mtu);
            face.fix_mtu(forwarder, mtu, most);
        }
        self.table.schedule(id);
        tracing::info!(face = %id, ?change, "face updated");
        Ok(())
    }

    /// Follows interfaces that went, came, or have another MTU.
    pub(super) fn devices_changed(&mut self, forwarder: &mut Forwarder, now: Time) {
        let FaceSet { devices, registry, settings, .. } = self;
        for (device, change) in devices.changed(settings.udp, registry, now) {
            let uri = self.devices.uri(device);
            let faces = self.table.on_link(device);
            match change {
                DeviceChange::Down(why) => {
                    tracing::warn!(uri, why, "an Ethernet interface is down");
                    for id in faces {
                        self.broken(forwarder, id, &why);
                    }
                }
                DeviceChange::Up => {
                    tracing::info!(uri, "an Ethernet interface is up");
                    for id in faces {
                        if self.table.get(id).is_some_and(Face::is_down) {
                            self.dial(forwarder, id, now);
                        }
                    }
                }
                DeviceChange::Mtu(mtu) => {
                    tracing::info!(uri, mtu, "an Ethernet interface has another MTU");
                    for id in faces {
                        if let Some(face) = self.table.get_mut(id) {
                            face.set_device_mtu(forwarder, mtu);
                        }
                    }
                }
            }
        }
    }
}

/// Where a command's face leads.
///
/// # Errors
/// The host is not found, or no face can be made there: a text.
fn commanded_target(create: &Create) -> Result<Target, String> {
    match (&create.uri, &create.device) {
        (FaceUri::Internet { transport, .. }, _) => {
            let peer = create.uri.resolve().map_err(|error| error.to_string())?;
            Ok(if *transport == Transport::Udp { Target::Udp(peer) } else { Target::Tcp(peer) })
        }
        (FaceUri::Ether(address), Some(device)) => Ok(Target::Ether(*address, device.clone())),
        _ => Err("no face can be made there".to_owned()),
    }
}

/// The payload of a face's frames until its socket is there.
fn first_payload(address: Address) -> usize {
    match address {
        Address::Udp(peer) => default_payload(peer, None),
        Address::Ether(_) => ETHERNET,
    }
}

/// Where a face leads, to be connected again.
fn target(face: &Face) -> Option<Target> {
    let uri = face.about().uri.parse::<FaceUri>().ok()?;
    let device = match face.about().local_uri.parse() {
        Ok(FaceUri::Device(name)) => Some(name),
        _ => None,
    };
    commanded_target(&Create { uri, device, change: Change::default() }).ok()
}

/// The property of a face that cannot be changed as requested.
fn unchangeable(face: &Face, change: &Change) -> Option<String> {
    if (face.flags() ^ change.flags) & change.mask & RELIABILITY != 0 {
        return Some("reliability is chosen when a face is made".into());
    }
    let wanted = change.persistency.filter(|wanted| *wanted != face.about().persistency)?;
    let is_framed = face.mtu().is_some();
    let may = match (face.about().made_by, wanted) {
        (MadeBy::Application, _) => false,
        _ if is_framed => true,
        // A peer that connected cannot be reached at the port that it connected from.
        (MadeBy::Peer, wanted) => wanted != Persistency::Permanent,
        (_, wanted) => wanted != Persistency::OnDemand,
    };
    if may {
        return None;
    }
    Some(format!("a face to {} cannot become {wanted:?}", face.about().uri))
}
