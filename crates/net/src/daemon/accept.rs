//! Faces that peers and applications bring about.

use super::Daemon;
use super::doors::{FACES, websocket_uri};
use super::face::{Face, Link, MadeBy, Stranger};
use super::start::default_payload;
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
use mio::{Interest, Token};
use packet::LpPacket;
use std::io;
use std::net::SocketAddr;

/// Octets of first datagrams that are looked at in one turn.
const BUDGET: usize = 256 << 10;

/// How long no connection is accepted when the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

impl Daemon {
    /// Lets in whoever is before the doors.
    pub(super) fn accept(&mut self) {
        let now = self.clock.now();
        if self.doors.paused.is_some_and(|until| now < until) {
            return;
        }
        self.doors.paused = None;
        self.work.doors = false;
        self.first_datagrams(now);
        if let Err(error) = self.connections(now) {
            tracing::warn!(%error, "cannot accept a connection");
            self.doors.paused = Some(now + PAUSE);
            self.work.doors = true;
        }
    }

    fn first_datagrams(&mut self, now: Time) {
        let mut strangers = Vec::new();
        for door in 0..self.doors.udp.len() {
            let Daemon { doors, buffers, .. } = self;
            let udp = &doors.udp[door].socket;
            let received =
                udp.receive(&mut buffers.datagrams, BUDGET, |datagram, peer, reached| {
                    strangers.push(Stranger { peer, reached, datagram: datagram.to_vec() });
                });
            match received {
                Ok(Progress::More) => self.work.doors = true,
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "a UDP listener has trouble"),
            }
        }
        self.welcome(strangers, now);
    }

    /// Gives datagrams that came to a socket of somebody else to their sender's face, which is made
    /// if need be.
    pub(super) fn welcome(&mut self, strangers: Vec<Stranger>, now: Time) {
        for stranger in strangers {
            let known = self.faces.of_peer(stranger.peer);
            let Some(id) = known.or_else(|| self.udp_guest(&stranger, now)) else { continue };
            if let Some(face) = self.faces.get_mut(id) {
                face.heard = now;
            }
            self.forwarder.receive(now, id, Wire::Borrowed(&stranger.datagram));
        }
    }

    /// A face for a UDP peer that sent its first datagram; `None` if it is not NDN or there is no
    /// room.
    fn udp_guest(&mut self, stranger: &Stranger, now: Time) -> Option<FaceId> {
        LpPacket::decode(&stranger.datagram).ok()?;
        let peer = stranger.peer;
        if !self.makes_room(Scope::NonLocal, Face::keeps(true), now) {
            tracing::debug!(%peer, "no room for another face");
            return None;
        }
        let listener = self.doors.local_for(peer);
        let made =
            Udp::connect(local_for(listener, stranger.reached, peer), peer, self.settings.udp);
        let udp = match made {
            Ok(udp) => udp,
            Err(error) => {
                tracing::warn!(%peer, %error, "no socket for a new peer");
                return None;
            }
        };
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
        face.heard = now;
        self.next_idle_check = self.next_idle_check.min(now + self.settings.on_demand.idle);
        self.admit(face, &link, Some(peer))
    }

    /// Whether there is room for the face of one more peer, perhaps because a quiet one goes.
    fn makes_room(&mut self, scope: Scope, octets: usize, now: Time) -> bool {
        let settings = &self.settings.on_demand;
        let has_place = self.faces.guests < settings.max;
        if has_place && self.forwarder.has_room_for_face(scope, octets) {
            return true;
        }
        let Some(quiet) = self.faces.dispensable_guest(now, settings.idle) else { return false };
        self.close(quiet, "it makes room for another face");
        true
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
        tracing::info!(face = %id, uri = face.uri, local = face.local, "face created");
        self.list(face, peer);
        Some(id)
    }

    /// Lists a new face, and tells who wants to know.
    pub(super) fn list(&mut self, face: Face, peer: Option<SocketAddr>) {
        self.management.face_event(self.clock.now(), FaceEvent::Created, &face.info());
        self.faces.insert(face, peer);
    }

    fn connections(&mut self, now: Time) -> io::Result<()> {
        while let Some(door) = &self.doors.unix {
            let local_uri = FaceUri::Unix(door.path().to_owned()).to_string();
            let Some(socket) = door.accept()? else { break };
            if self.faces.applications >= self.settings.application.max {
                tracing::warn!("no room for another application");
                continue;
            }
            let link = self.settings.application.link.clone();
            // As NFD names them: applications have no addresses, so they get numbers.
            let uri = format!("fd://{}", self.faces.next_number());
            let socket = Link::Stream(Stream::new(socket));
            self.guest(socket, MadeBy::Application, [uri, local_uri], true, &link, now);
        }
        for door in 0..self.doors.tcp.len() {
            while let Some((socket, peer)) = self.doors.tcp[door].socket.accept()? {
                let here = self.doors.tcp[door].socket.local()?;
                let uris = [FaceUri::tcp(peer).to_string(), FaceUri::tcp(here).to_string()];
                let socket = Link::Stream(Stream::new(Socket::Tcp(socket)));
                self.peer(socket, uris, peer.ip().is_loopback(), now);
            }
        }
        for door in 0..self.doors.websocket.len() {
            while let Some((socket, peer)) = self.doors.websocket[door].socket.accept()? {
                // NFD's names for them.
                let here = self.doors.websocket[door].socket.local()?;
                let uris = [format!("wsclient://{peer}"), websocket_uri(here)];
                // A proxy that gives pages TLS stands on this host, and they do not.
                let local = self.settings.on_demand.link.local && peer.ip().is_loopback();
                let socket = WebSocket::new(socket, self.settings.origins.clone());
                self.peer(Link::WebSocket(Box::new(socket)), uris, local, now);
            }
        }
        Ok(())
    }

    /// A face for a peer who has connected, if there may be one more.
    fn peer(&mut self, socket: Link, uris: [String; 2], local: bool, now: Time) {
        let scope = if local { Scope::Local } else { Scope::NonLocal };
        if !self.makes_room(scope, Face::keeps(false) + socket.memory(), now) {
            tracing::debug!(peer = uris[0], "no room for another face");
            return;
        }
        let link = self.settings.on_demand.link.clone();
        self.guest(socket, MadeBy::Peer, uris, local, &link, now);
    }

    fn guest(
        &mut self,
        socket: Link,
        made_by: MadeBy,
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
        let mut face = Face::new(id, made_by, uri, socket);
        face.local_uri = local_uri;
        face.local = local;
        face.heard = now;
        // Others were counted when the forwarder got them.
        if own > 0 {
            self.forwarder.set_outside(id, face.memory());
        }
        self.admit(face, link, None);
    }
}
