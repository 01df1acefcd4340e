//! Faces that peers and applications bring about.

use super::FaceSet;
use super::room::{self, Newcomer, Room};
use super::turn::DATAGRAM_BUDGET;
use crate::batch::Batch;
use crate::config::LinkOptions;
use crate::daemon::address::{Address, Source, Station};
use crate::daemon::applied::default_payload;
use crate::daemon::crowd::Transport;
use crate::daemon::face::{About, Face, FirstDatagram, Link, MadeBy, Peer};
use crate::daemon::listeners::{FACES, websocket_uri};
use crate::daemon::unproved::Unproved;
use crate::management::authority::Account;
use crate::socket::stream::{Socket, Stream};
use crate::socket::udp::{Udp, local_for};
use crate::socket::websocket::WebSocket;
use crate::socket::{Progress, SendFrames};
use crate::uri::FaceUri;
use control::{Duration, Time};
use forwarder::{FaceId, Forwarder, Scope, Wire};
use mio::Token;
use mio::net::UnixStream;
use packet::LpPacket;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// Bytes of first datagrams that are looked at in one turn.
const BUDGET: usize = 256 << 10;

/// Connections that are accepted in one turn at each listener.
const AT_ONCE: usize = 64;

/// How long no connection is accepted when the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A peer without a connection, and its socket.
pub(super) struct UnprovedPeer {
    pub address: Address,
    pub uris: [String; 2],
    /// The longest frame that its path takes.
    pub payload: usize,
    pub link: Link,
}

/// A frame from a station without a face.
struct FirstFrame {
    from: Station,
    frame: Vec<u8>,
}

impl FaceSet {
    /// Accepts the connections that wait, and datagrams of unknown peers.
    pub fn accept(&mut self, forwarder: &mut Forwarder) {
        let now = self.clock.now();
        if !self.work.listeners {
            return;
        }
        if !self.listeners.end_pause(now) {
            return;
        }
        self.work.listeners = false;
        self.receive_strays(forwarder, now);
        if let Err(error) = self.connections(forwarder, now) {
            tracing::warn!(%error, "cannot accept a connection");
            self.listeners.pause(now + PAUSE);
            self.work.listeners = true;
        }
    }

    fn receive_strays(&mut self, forwarder: &mut Forwarder, now: Time) {
        let mut strays = Vec::new();
        let FaceSet { listeners, buffers, work, .. } = self;
        for udp in listeners.udp() {
            let received =
                udp.receive(&mut buffers.datagrams, BUDGET, |datagram, peer, reached| {
                    strays.push(FirstDatagram { peer, reached, datagram: datagram.to_vec() });
                });
            match received {
                Ok(Progress::More) => work.listeners = true,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "UDP receive failed"),
            }
        }
        self.receive_first(forwarder, strays, now);
    }

    /// Passes datagrams that arrived at another face's socket to their sender's face, which is
    /// created if needed.
    pub(super) fn receive_first(
        &mut self,
        forwarder: &mut Forwarder,
        strays: Vec<FirstDatagram>,
        now: Time,
    ) {
        for first in strays {
            let known = self.table.of_peer(Address::Udp(first.peer));
            let Some(id) = known.or_else(|| self.udp_on_demand(forwarder, &first, now)) else {
                continue;
            };
            if let Some(face) = self.table.get_mut(id) {
                face.note_activity(forwarder, now);
            }
            forwarder.receive(now, id, Wire::Borrowed(&first.datagram));
        }
    }

    /// A face for a UDP peer that sent its first datagram; `None` if it is not NDN or there is no
    /// room.
    fn udp_on_demand(
        &mut self,
        forwarder: &mut Forwarder,
        first: &FirstDatagram,
        now: Time,
    ) -> Option<FaceId> {
        LpPacket::decode(&first.datagram).ok()?;
        let peer = first.peer;
        let newcomer = Newcomer {
            source: Source::Internet(peer.ip()),
            scope: Scope::NonLocal,
            transport: Transport::Datagrams,
            bytes: Face::base_memory(true),
        };
        if !self.make_room(forwarder, &newcomer, now) {
            return None;
        }
        let listener = self.listeners.local_for(peer);
        let made = Udp::connect(local_for(listener, first.reached, peer), peer, self.settings.udp);
        let mut udp = match made {
            Ok(udp) => udp,
            Err(error) => {
                tracing::warn!(%peer, %error, "no socket for a new peer");
                return None;
            }
        };
        udp.give_up_when_unreachable();
        let payload = default_payload(peer, udp.route_payload());
        let local_uri = udp.local().map(|a| FaceUri::udp(a).to_string()).unwrap_or_default();
        let batch = Batch::new(udp.max_segments());
        let unproved = UnprovedPeer {
            address: Address::Udp(peer),
            uris: [FaceUri::udp(peer).to_string(), local_uri],
            payload,
            link: Link::Udp(udp, batch),
        };
        self.unproved_face(forwarder, unproved, now)
    }

    /// A face for a peer that sent its first frame, from an address that may be forged.
    pub(super) fn unproved_face(
        &mut self,
        forwarder: &mut Forwarder,
        peer: UnprovedPeer,
        now: Time,
    ) -> Option<FaceId> {
        let UnprovedPeer { address, uris: [uri, local_uri], payload, link: socket } = peer;
        let source = address.source();
        let limits = &self.settings.on_demand.unproved;
        let challenge = match Unproved::exempts(source, limits) {
            true => None,
            false => Some(token()?),
        };
        let is_neighbour = self.unproved.is_neighbour(now, source, limits);
        let link = self.settings.on_demand.link.clone();
        let mtu = link.mtu.unwrap_or(payload);
        let local = link.local && source.is_loopback();
        let peer = Some(address);
        let id = self.add_to_forwarder(forwarder, &uri, local, Some(mtu), peer, &link, now);
        let station = address.station();
        let about = About { local_uri, local, station, ..About::new(MadeBy::Peer, uri) };
        let unproved = challenge.is_some();
        let delay = self.delay_line(&about.uri, &link);
        let known =
            Peer { last_received: now, since: now, source: Some(source), unproved, is_neighbour };
        let mut face = Face::accepted(id, about, socket, known);
        face.set_options(&link, Some(mtu), delay);
        if station.is_some() {
            face.set_device_mtu(forwarder, payload);
        }
        forwarder.set_challenge(id, challenge);
        let limit = face.idle_limit(forwarder, &self.settings.on_demand);
        self.next_idle_check = self.next_idle_check.min(now + limit);
        self.admit(forwarder, face, peer)
    }

    /// Closes an idle face if the face of one more peer needs its place. Returns false if the
    /// limits leave no room.
    pub(super) fn make_room(
        &mut self,
        forwarder: &mut Forwarder,
        newcomer: &Newcomer,
        now: Time,
    ) -> bool {
        let FaceSet { table, unproved, settings, .. } = self;
        match room::for_peer(newcomer, table, unproved, &settings.on_demand, forwarder, now) {
            Room::Free => return true,
            Room::After(id) => {
                self.close(forwarder, id, "closed to make room for another face");
                return true;
            }
            Room::None => {}
        }
        if let Some(count) = self.rejected.count(now) {
            tracing::warn!(
                latest = self.shown(newcomer.source),
                count,
                "no room for another face; `max`, `max_per_address` and `max_per_subnet` under \
                 [on_demand] are the limits"
            );
        }
        false
    }

    /// Closes a silent connection if one more application of a user needs its place. Returns false
    /// if the limits leave no room.
    fn make_room_for_application(
        &mut self,
        forwarder: &mut Forwarder,
        account: Option<Account>,
    ) -> bool {
        let most = self.settings.application.max;
        match room::for_application(account, &self.table, most, forwarder) {
            Room::Free => true,
            Room::After(silent) => {
                let why = "it never sent a packet; closed to make room for another application";
                self.close(forwarder, silent, why);
                room::for_application(account, &self.table, most, forwarder) == Room::Free
            }
            Room::None => false,
        }
    }

    /// Watches a new face's socket and lists the face.
    fn admit(
        &mut self,
        forwarder: &mut Forwarder,
        mut face: Face,
        peer: Option<Address>,
    ) -> Option<FaceId> {
        let id = face.id();
        let token = Token(FACES + id.0 as usize);
        if let Err(error) = face.watch(&self.registry, token) {
            tracing::warn!(%error, "cannot watch a new socket");
            forwarder.remove_face(self.clock.now(), id);
            return None;
        }
        let About { uri, local, .. } = face.about();
        if face.peer().unproved {
            // Forged addresses must not fill the log.
            tracing::debug!(face = %id, uri, "face to an unproved address created");
        } else {
            tracing::info!(face = %id, uri, local, "face created");
        }
        self.list(face, peer);
        Some(id)
    }

    fn connections(&mut self, forwarder: &mut Forwarder, now: Time) -> io::Result<()> {
        for at in 0.. {
            let Some(listener) = self.listeners.unix() else { break };
            if at == AT_ONCE {
                self.work.listeners = true;
                break;
            }
            let local_uri = FaceUri::Unix(listener.path().to_owned()).to_string();
            let Some(socket) = listener.accept()? else { break };
            if !self.make_room_for_application(forwarder, socket.account()) {
                tracing::warn!("no room for another application");
                continue;
            }
            let link = self.settings.application.link.clone();
            // As NFD names them: applications have no addresses, so they get numbers.
            let uri = format!("fd://{}", self.table.next_number());
            let socket = Link::Stream(Stream::new(socket));
            self.on_demand_face(forwarder, socket, None, [uri, local_uri], true, &link, now);
        }
        for index in 0..self.listeners.tcp().len() {
            for at in 0.. {
                if at == AT_ONCE {
                    self.work.listeners = true;
                    break;
                }
                let listener = &self.listeners.tcp()[index].socket;
                let Some((socket, peer)) = listener.accept()? else { break };
                let here = listener.local()?;
                let uris = [FaceUri::tcp(peer).to_string(), FaceUri::tcp(here).to_string()];
                let socket = Link::Stream(Stream::new(Socket::Tcp(socket)));
                self.peer(forwarder, socket, uris, peer.ip(), peer.ip().is_loopback(), now);
            }
        }
        for index in 0..self.listeners.websocket().len() {
            for at in 0.. {
                if at == AT_ONCE {
                    self.work.listeners = true;
                    break;
                }
                let listener = &self.listeners.websocket()[index].socket;
                let Some((socket, peer)) = listener.accept()? else { break };
                let here = listener.local()?;
                // NFD's names for them.
                let uris = [format!("wsclient://{peer}"), websocket_uri(here)];
                // A proxy that gives pages TLS stands on this host, and they do not.
                let local = self.settings.on_demand.link.local && peer.ip().is_loopback();
                let origins = Arc::clone(&self.settings.origins);
                let Some(socket) = WebSocket::accepted(socket, origins) else { continue };
                let socket = Link::WebSocket(Box::new(socket));
                self.peer(forwarder, socket, uris, peer.ip(), local, now);
            }
        }
        Ok(())
    }

    /// A face for an application in this process.
    pub fn attach(&mut self, forwarder: &mut Forwarder, socket: UnixStream, now: Time) {
        let link = self.settings.application.link.clone();
        let uris = [format!("fd://{}", self.table.next_number()), "unix://".to_owned()];
        let socket = Link::Stream(Stream::new(Socket::Unix(socket)));
        self.on_demand_face(forwarder, socket, None, uris, true, &link, now);
    }

    /// A face for a peer who has connected, if there may be one more.
    fn peer(
        &mut self,
        forwarder: &mut Forwarder,
        socket: Link,
        uris: [String; 2],
        address: IpAddr,
        local: bool,
        now: Time,
    ) {
        let bytes = Face::base_memory(false) + socket.memory();
        let scope = if local { Scope::Local } else { Scope::NonLocal };
        let (source, transport) = (Source::Internet(address), Transport::Connections);
        if !self.make_room(forwarder, &Newcomer { source, scope, transport, bytes }, now) {
            return;
        }
        let link = self.settings.on_demand.link.clone();
        self.on_demand_face(forwarder, socket, Some(address), uris, local, &link, now);
    }

    /// A face for a peer at an address, or for an application.
    fn on_demand_face(
        &mut self,
        forwarder: &mut Forwarder,
        socket: Link,
        source: Option<IpAddr>,
        [uri, local_uri]: [String; 2],
        local: bool,
        link: &LinkOptions,
        now: Time,
    ) {
        let scope = if local { Scope::Local } else { Scope::NonLocal };
        let own = socket.memory();
        if !forwarder.has_room_for_face(scope, Face::base_memory(false) + own) {
            tracing::warn!(%uri, "no memory for another face");
            return;
        }
        let id = self.add_to_forwarder(forwarder, &uri, local, None, None, link, now);
        let made_by = source.map_or(MadeBy::Application, |_| MadeBy::Peer);
        let about = About { local_uri, local, ..About::new(made_by, uri) };
        let delay = self.delay_line(&about.uri, link);
        let source = source.map(Source::Internet);
        let known = Peer { last_received: now, since: now, source, ..Peer::default() };
        let mut face = Face::accepted(id, about, socket, known);
        face.set_options(link, None, delay);
        // Others were counted when the forwarder got them.
        if own > 0 {
            forwarder.set_outside(id, face.memory());
        }
        self.admit(forwarder, face, None);
    }

    /// Hands the forwarder the frames that have come by interfaces, and follows what became of
    /// these.
    pub(super) fn receive_frames(&mut self, forwarder: &mut Forwarder) {
        if !std::mem::take(&mut self.work.devices) {
            return;
        }
        let now = self.clock.now();
        self.devices_changed(forwarder, now);
        let FaceSet { devices, table, .. } = self;
        let mut unknown = Vec::new();
        let more = devices.receive(DATAGRAM_BUDGET, |device, received| {
            let from = Station { device, address: received.from };
            let to = received.group.map_or(from, |group| Station { device, address: group });
            let face = table.of_peer(Address::Ether(to)).and_then(|id| table.get_mut(id));
            match face {
                Some(face) => {
                    face.note_activity(forwarder, now);
                    let member = match received.group {
                        Some(_) => Address::Ether(from).member(),
                        None => Default::default(),
                    };
                    forwarder.receive_from(now, face.id(), member, Wire::Borrowed(received.frame));
                }
                // A group that no face has joined.
                None if received.group.is_some() => {}
                None => unknown.push(FirstFrame { from, frame: received.frame.to_vec() }),
            }
        });
        self.work.devices = more;
        self.receive_unknown(forwarder, unknown, now);
    }

    fn receive_unknown(&mut self, forwarder: &mut Forwarder, unknown: Vec<FirstFrame>, now: Time) {
        for FirstFrame { from, frame } in unknown {
            let known = self.table.of_peer(Address::Ether(from));
            let Some(id) = known.or_else(|| self.station(forwarder, from, &frame, now)) else {
                continue;
            };
            if let Some(face) = self.table.get_mut(id) {
                face.note_activity(forwarder, now);
            }
            forwarder.receive(now, id, Wire::Borrowed(&frame));
        }
    }

    /// A face for a station that sent its first frame; `None` if the daemon does not listen there,
    /// if the frame is not NDN, or if there is no room.
    fn station(
        &mut self,
        forwarder: &mut Forwarder,
        from: Station,
        frame: &[u8],
        now: Time,
    ) -> Option<FaceId> {
        if !self.devices.listens(from.device) {
            return None;
        }
        LpPacket::decode(frame).ok()?;
        let newcomer = Newcomer {
            source: Source::Station(from),
            scope: Scope::NonLocal,
            transport: Transport::Frames,
            bytes: Face::base_memory(true),
        };
        if !self.make_room(forwarder, &newcomer, now) {
            return None;
        }
        let FaceSet { devices, registry, settings, .. } = self;
        let (sender, payload) =
            match devices.sender(from.device, from.address, settings.udp, registry) {
                Ok(made) => made,
                Err(error) => {
                    let peer = self.shown(newcomer.source);
                    tracing::warn!(peer, %error, "no socket for a new peer");
                    return None;
                }
            };
        let uris = [FaceUri::Ether(from.address).to_string(), devices.uri(from.device)];
        let batch = Batch::new(sender.max_segments());
        let link = Link::Ether(sender, batch);
        let peer = UnprovedPeer { address: Address::Ether(from), uris, payload, link };
        self.unproved_face(forwarder, peer, now)
    }

    /// Forgets the interfaces that have neither faces nor a listener.
    pub(super) fn forget_unused_devices(&mut self) {
        self.devices.retain(|device| self.table.uses(device));
    }

    /// A peer's address, for the log.
    pub(super) fn shown(&self, source: Source) -> String {
        match source {
            Source::Internet(address) => address.to_string(),
            Source::Station(Station { device, address }) => {
                format!("{address} at {}", self.devices.uri(device))
            }
        }
    }
}

/// A token that only its receiver knows; `None` where the system has no random numbers.
fn token() -> Option<u64> {
    match getrandom::u64() {
        // Zero stands for no token.
        Ok(token) => Some(token.max(1)),
        Err(error) => {
            tracing::error!(%error, "no random numbers for the proof of a new peer's address");
            None
        }
    }
}
