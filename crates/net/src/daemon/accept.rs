//! Faces that peers and applications bring about.

use super::Daemon;
use super::applied::default_payload;
use super::crowd::{Transport, groups};
use super::face::{Face, FirstDatagram, Link, MadeBy};
use super::listeners::{FACES, websocket_uri};
use super::unproved::Unproved;
use crate::batch::Batch;
use crate::config::LinkOptions;
use crate::management::FaceEvent;
use crate::socket::Progress;
use crate::socket::stream::{Socket, Stream};
use crate::socket::udp::{Udp, local_for};
use crate::socket::websocket::WebSocket;
use crate::uri::FaceUri;
use control::{Duration, Time};
use forwarder::{FaceId, Scope, Wire};
use ipnet::{IpNet, Ipv4Net};
use mio::{Interest, Token};
use packet::LpPacket;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Bytes of first datagrams that are looked at in one turn.
const BUDGET: usize = 256 << 10;

/// Connections that are accepted in one turn at each listener.
const AT_ONCE: usize = 64;

/// All addresses of this host that are not on a network (RFC 1122, section 3.2.1.3).
const LOOPBACK: IpNet = IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8));

/// How long no connection is accepted when the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    /// Accepts the connections that wait, and datagrams of unknown peers.
    pub(super) fn accept(&mut self) {
        let now = self.clock.now();
        if self.listeners.paused.is_some_and(|until| now < until) {
            return;
        }
        self.listeners.paused = None;
        self.work.listeners = false;
        self.first_datagrams(now);
        if let Err(error) = self.connections(now) {
            tracing::warn!(%error, "cannot accept a connection");
            self.listeners.paused = Some(now + PAUSE);
            self.work.listeners = true;
        }
    }

    fn first_datagrams(&mut self, now: Time) {
        let mut first_datagrams = Vec::new();
        for index in 0..self.listeners.udp.len() {
            let Daemon { listeners, buffers, .. } = self;
            let udp = &mut listeners.udp[index].socket;
            let received =
                udp.receive(&mut buffers.datagrams, BUDGET, |datagram, peer, reached| {
                    first_datagrams.push(FirstDatagram {
                        peer,
                        reached,
                        datagram: datagram.to_vec(),
                    });
                });
            match received {
                Ok(Progress::More) => self.work.listeners = true,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a UDP listener has trouble"),
            }
        }
        self.receive_first(first_datagrams, now);
    }

    /// Gives datagrams that came to a socket of somebody else to their sender's face, which is made
    /// if need be.
    pub(super) fn receive_first(&mut self, first_datagrams: Vec<FirstDatagram>, now: Time) {
        for first in first_datagrams {
            let known = self.faces.of_peer(first.peer);
            let Some(id) = known.or_else(|| self.udp_on_demand(&first, now)) else { continue };
            if let Some(face) = self.faces.get_mut(id) {
                face.hears(&mut self.forwarder, now);
            }
            self.forwarder.receive(now, id, Wire::Borrowed(&first.datagram));
        }
    }

    /// A face for a UDP peer that sent its first datagram; `None` if it is not NDN or there is no
    /// room.
    fn udp_on_demand(&mut self, first: &FirstDatagram, now: Time) -> Option<FaceId> {
        LpPacket::decode(&first.datagram).ok()?;
        let peer = first.peer;
        let from = (peer.ip(), Scope::NonLocal);
        if !self.makes_room(from, Transport::Datagrams, Face::keeps(true), now) {
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
        let limits = &self.settings.on_demand.unproved;
        let challenge = match Unproved::exempts(peer.ip(), limits) {
            true => None,
            false => Some(token()?),
        };
        let is_neighbour = self.unproved.is_neighbour(now, peer.ip(), limits);
        let link = self.settings.on_demand.link.clone();
        let payload = link.mtu.unwrap_or_else(|| default_payload(peer, udp.route_payload()));
        let uri = FaceUri::udp(peer).to_string();
        let local = link.local && peer.ip().is_loopback();
        let id = self.add_to_forwarder(&uri, local, Some(payload), Some(peer), &link, now);
        let batch = Batch::new(udp.max_segments());
        let local_uri = udp.local().map(|a| FaceUri::udp(a).to_string()).unwrap_or_default();
        let mut face = Face::new(id, MadeBy::Peer, uri, Link::Udp(udp, batch));
        face.local_uri = local_uri;
        face.local = local;
        face.fixed_mtu = link.mtu;
        face.mtu = Some(payload);
        (face.heard, face.since, face.source) = (now, now, Some(peer.ip()));
        (face.unproved, face.is_neighbour) = (challenge.is_some(), is_neighbour);
        self.forwarder.set_challenge(id, challenge);
        let limit = face.idle_limit(&self.forwarder, &self.settings.on_demand);
        self.next_idle_check = self.next_idle_check.min(now + limit);
        self.admit(face, &link, Some(peer))
    }

    /// Whether there is room for the face of one more peer, perhaps because an idle one goes.
    fn makes_room(
        &mut self,
        (address, scope): (IpAddr, Scope),
        transport: Transport,
        bytes: usize,
        now: Time,
    ) -> bool {
        let settings = &self.settings.on_demand;
        let crowd = &self.faces.crowd;
        let [host, subnet] = groups(address);
        let many = |group, most| crowd.within(transport, group) >= most;
        let has_many = many(host, settings.max_per_address);
        let group = match () {
            // Programs of this host leave half of the places to others, unless they make room as
            // unknown peers do.
            () if address.is_loopback() => {
                let most = settings.max.div_ceil(2);
                let is_full = crowd.of(transport) >= most
                    && self.faces.local(transport) >= most
                    && Unproved::exempts(address, &settings.unproved);
                is_full.then(|| if address.is_ipv4() { LOOPBACK } else { address.into() })
            }
            // All hosts of a link share the prefix that stands for one host elsewhere.
            () if has_many && address.is_ipv6() && self.unproved.is_local(now, address) => {
                let is_full = self.faces.to(address, transport) >= settings.max_per_address;
                is_full.then(|| IpNet::from(address))
            }
            () if has_many => Some(host),
            () if many(subnet, settings.max_per_subnet)
                && !self.unproved.is_local(now, address) =>
            {
                Some(subnet)
            }
            () => None,
        };
        let has_memory = self.forwarder.has_room_for_face(scope, bytes);
        if group.is_none() && crowd.of(transport) < settings.max && has_memory {
            return true;
        }
        let idle = |transport, group| {
            self.faces.dispensable(now, transport, group, &self.forwarder, settings)
        };
        let other = match transport {
            Transport::Datagrams => Transport::Connections,
            Transport::Connections => Transport::Datagrams,
        };
        // Memory is shared by both kinds, their places are not.
        let shared = || (group.is_none() && !has_memory).then(|| idle(other, None)).flatten();
        if let Some(id) = idle(transport, group).or_else(shared) {
            self.close(id, "it makes room for another face");
            return true;
        }
        if let Some(count) = self.rejected.count(now) {
            tracing::warn!(
                latest = %address,
                count,
                "no room for another face; `max`, `max_per_address` and `max_per_subnet` under \
                 [on_demand] are the limits"
            );
        }
        false
    }

    /// Watches a new face's socket and lists the face.
    fn admit(
        &mut self,
        mut face: Face,
        link: &LinkOptions,
        peer: Option<SocketAddr>,
    ) -> Option<FaceId> {
        let id = face.id;
        face.delay = self.delay_line(&face.uri, link);
        face.linked(link, peer.is_some());
        let token = Token(FACES + id.0 as usize);
        let interests = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        let watched = match &mut face.link {
            Link::Udp(udp, _) => registry.register(udp.source(), token, interests),
            Link::Stream(stream) => registry.register(stream.socket().source(), token, interests),
            Link::WebSocket(socket) => match socket.source() {
                Some(source) => registry.register(source, token, interests),
                None => Ok(()),
            },
            Link::Down { .. } => Ok(()),
        };
        if let Err(error) = watched {
            tracing::warn!(%error, "cannot watch a new socket");
            self.forwarder.remove_face(self.clock.now(), id);
            return None;
        }
        if face.unproved {
            // Forged addresses must not fill the log.
            tracing::debug!(face = %id, uri = face.uri, "face to an unproved address created");
        } else {
            tracing::info!(face = %id, uri = face.uri, local = face.local, "face created");
        }
        self.list(face, peer);
        Some(id)
    }

    /// Lists a new face, and tells who wants to know.
    pub(super) fn list(&mut self, face: Face, peer: Option<SocketAddr>) {
        self.management.face_event(self.clock.now(), FaceEvent::Created, &face.info());
        self.faces.insert(face, peer);
    }

    fn connections(&mut self, now: Time) -> io::Result<()> {
        for at in 0.. {
            let Some(listener) = &self.listeners.unix else { break };
            if at == AT_ONCE {
                self.work.listeners = true;
                break;
            }
            let local_uri = FaceUri::Unix(listener.path().to_owned()).to_string();
            let Some(socket) = listener.accept()? else { break };
            if !self.has_room_for_application(socket.account()) {
                tracing::warn!("no room for another application");
                continue;
            }
            let link = self.settings.application.link.clone();
            // As NFD names them: applications have no addresses, so they get numbers.
            let uri = format!("fd://{}", self.faces.next_number());
            let socket = Link::Stream(Stream::new(socket));
            self.on_demand_face(socket, None, [uri, local_uri], true, &link, now);
        }
        for index in 0..self.listeners.tcp.len() {
            for at in 0.. {
                if at == AT_ONCE {
                    self.work.listeners = true;
                    break;
                }
                let Some((socket, peer)) = self.listeners.tcp[index].socket.accept()? else {
                    break;
                };
                let here = self.listeners.tcp[index].socket.local()?;
                let uris = [FaceUri::tcp(peer).to_string(), FaceUri::tcp(here).to_string()];
                let socket = Link::Stream(Stream::new(Socket::Tcp(socket)));
                self.peer(socket, uris, peer.ip(), peer.ip().is_loopback(), now);
            }
        }
        for index in 0..self.listeners.websocket.len() {
            for at in 0.. {
                if at == AT_ONCE {
                    self.work.listeners = true;
                    break;
                }
                let accepted = self.listeners.websocket[index].socket.accept()?;
                let Some((socket, peer)) = accepted else { break };
                // NFD's names for them.
                let here = self.listeners.websocket[index].socket.local()?;
                let uris = [format!("wsclient://{peer}"), websocket_uri(here)];
                // A proxy that gives pages TLS stands on this host, and they do not.
                let local = self.settings.on_demand.link.local && peer.ip().is_loopback();
                let origins = Arc::clone(&self.settings.origins);
                let Some(socket) = WebSocket::accepted(socket, origins) else { continue };
                let socket = Link::WebSocket(Box::new(socket));
                self.peer(socket, uris, peer.ip(), local, now);
            }
        }
        Ok(())
    }

    /// A face for a peer who has connected, if there may be one more.
    fn peer(&mut self, socket: Link, uris: [String; 2], address: IpAddr, local: bool, now: Time) {
        let bytes = Face::keeps(false) + socket.memory();
        let scope = if local { Scope::Local } else { Scope::NonLocal };
        if !self.makes_room((address, scope), Transport::Connections, bytes, now) {
            return;
        }
        let link = self.settings.on_demand.link.clone();
        self.on_demand_face(socket, Some(address), uris, local, &link, now);
    }

    /// A face for a peer at an address, or for an application.
    fn on_demand_face(
        &mut self,
        socket: Link,
        source: Option<IpAddr>,
        [uri, local_uri]: [String; 2],
        local: bool,
        link: &LinkOptions,
        now: Time,
    ) {
        let scope = if local { Scope::Local } else { Scope::NonLocal };
        let own = socket.memory();
        if !self.forwarder.has_room_for_face(scope, Face::keeps(false) + own) {
            tracing::warn!(%uri, "no memory for another face");
            return;
        }
        let id = self.add_to_forwarder(&uri, local, None, None, link, now);
        let made_by = source.map_or(MadeBy::Application, |_| MadeBy::Peer);
        let mut face = Face::new(id, made_by, uri, socket);
        face.local_uri = local_uri;
        face.local = local;
        (face.heard, face.since, face.source) = (now, now, source);
        // Others were counted when the forwarder got them.
        if own > 0 {
            self.forwarder.set_outside(id, face.memory());
        }
        self.admit(face, link, None);
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
