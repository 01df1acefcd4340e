//! Faces that are made, changed and ended by command.

use super::Daemon;
use super::applied::default_payload;
use super::face::{Face, Link, MadeBy, Target};
use super::marking;
use crate::config::LinkOptions;
use crate::management::orders::{Change, Create, Order, Task, told};
use crate::management::parameters::ControlParameters;
use crate::management::response::ControlResponse;
use crate::management::{CONGESTION_MARKING, LOCAL_FIELDS, Persistency, RELIABILITY};
use crate::socket::stream::Socket;
use crate::uri::{Carrier, FaceUri};
use control::{Duration, Time};
use forwarder::{FaceId, Scope, Wire};
use schemes::Choice;
use std::net::SocketAddr;

/// How long a connection may take: less than those wait who asked for it.
const PATIENCE: Duration = Duration::from_secs(3);

/// A face that a command waits for.
#[derive(Debug)]
pub(super) struct Connecting {
    face: FaceId,
    order: Order,
    pub until: Time,
}

/// What comes of a try.
enum Tried {
    Done(Box<ControlResponse>),
    /// A face that has still to be connected.
    Begun(FaceId),
}

impl Daemon {
    /// Does what management wants done, and replies when it is done.
    pub(super) fn obey(&mut self, order: Order, now: Time) {
        let response = match &order.task {
            Task::Create(create) => match self.create(&order, create, now) {
                Tried::Done(response) => *response,
                Tried::Begun(face) => {
                    let until = now + PATIENCE;
                    return self.connecting.push(Connecting { face, order, until });
                }
            },
            Task::Update(id, change) => self.update(&order, *id, change),
            Task::Destroy(id) => {
                self.close(*id, "a command ended it");
                let body = ControlParameters { face_id: Some(id.0), ..Default::default() };
                ControlResponse::new(200, "OK", body)
            }
        };
        self.reply(&order, &response, now);
    }

    fn reply(&mut self, order: &Order, response: &ControlResponse, now: Time) {
        self.management.obeyed(now, order, response);
        let frame = order.reply(response);
        self.forwarder.receive(now, self.management.face(), Wire::Borrowed(&frame));
    }

    fn create(&mut self, order: &Order, create: &Create, now: Time) -> Tried {
        let refuse = |code, why: String| Tried::Done(Box::new(order.refusal(code, why)));
        let FaceUri::Internet { carrier, .. } = &create.uri else {
            return refuse(406, "no face can be made there".to_owned());
        };
        let peer = match create.uri.resolve() {
            Ok(peer) => peer,
            Err(error) => return refuse(400, error.to_string()),
        };
        let is_udp = *carrier == Carrier::Udp;
        let known = self.faces.of_peer(peer).filter(|_| is_udp);
        let known = known.or_else(|| self.faces.of_uri(&create.uri.to_string()));
        if let Some(face) = known.and_then(|id| self.faces.get_mut(id)) {
            // Who may make faces vouches for the address.
            self.forwarder.set_challenge(face.id, None);
            let body = told(&face.info(), &order.asked, true);
            let text = "there is a face to that URI already";
            return Tried::Done(Box::new(ControlResponse::new(409, text, body)));
        }
        let most = self.settings.on_demand.max;
        let has_room = self.forwarder.has_room_for_face(Scope::NonLocal, Face::keeps(is_udp));
        if self.faces.commanded >= most || !has_room {
            return refuse(500, format!("no room for another face; commands may make {most}"));
        }
        let base = self.settings.on_demand.link.parts.marker.clone();
        let base = base.unwrap_or_else(marking::default);
        let marker = match marking::changed(&base, create.change.marking) {
            Ok(marker) => marker,
            Err(refused) => return refuse(refused.code, refused.why),
        };
        let (id, target) = self.commanded(create, peer, is_udp, marker, now);
        if let Err(error) = self.try_dial(id, &target, now) {
            self.close(id, "it cannot be connected");
            return refuse(504, format!("cannot connect: {error}"));
        }
        if is_udp { Tried::Done(Box::new(self.made(id, &order.asked))) } else { Tried::Begun(id) }
    }

    /// Lists a face that is not connected yet.
    fn commanded(
        &mut self,
        create: &Create,
        peer: SocketAddr,
        is_udp: bool,
        marker: Choice,
        now: Time,
    ) -> (FaceId, Target) {
        let change = &create.change;
        let link = self.link_for(change, is_udp, &marker);
        let known_by = is_udp.then_some(peer);
        let local = peer.ip().is_loopback() && (!is_udp || link.local);
        let payload = known_by.map(|peer| link.mtu.unwrap_or(default_payload(peer, None)));
        let uri = create.uri.to_string();
        let id = self.add_to_forwarder(&uri, local, payload, known_by, &link, now);
        let target = if is_udp { Target::Udp(peer) } else { Target::Tcp(peer) };
        let mut face = Face::new(id, MadeBy::Command, uri, Link::Down { retry: now });
        face.local = local;
        face.persistency = change.persistency.unwrap_or(Persistency::Persistent);
        face.target = (face.persistency == Persistency::Permanent).then(|| target.clone());
        face.fixed_mtu = link.mtu;
        face.mtu = payload;
        face.delay = self.delay_line(&face.uri, &link);
        face.linked(&link, is_udp);
        if link.parts.marker.is_none() {
            face.marker = marker;
        }
        if local && change.flags & change.mask & LOCAL_FIELDS != 0 {
            face.flags |= LOCAL_FIELDS;
            self.forwarder.set_local_fields(id, true);
        }
        self.list(face, known_by);
        (id, target)
    }

    /// The link of peers' faces, with what was said of this one.
    fn link_for(&self, change: &Change, is_udp: bool, marker: &Choice) -> LinkOptions {
        let mut link = self.settings.on_demand.link.clone();
        if is_udp && change.mtu.is_some() {
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

    fn made(&mut self, id: FaceId, asked: &ControlParameters) -> ControlResponse {
        let info = self.faces.get_mut(id).map(|face| told(&face.info(), asked, true));
        ControlResponse::new(200, "OK", info.unwrap_or_default())
    }

    /// Looks after the faces that are being connected, and replies when they are; says whether any
    /// was.
    pub(super) fn connected(&mut self) -> bool {
        let mut waiting = std::mem::take(&mut self.connecting);
        let before = waiting.len();
        let now = self.clock.now();
        waiting.retain(|connecting| {
            let id = connecting.face;
            let response = match self.state(id) {
                Ok(false) if connecting.until > now => return true,
                Ok(true) => self.made(id, &connecting.order.asked),
                Ok(false) => connecting.order.refusal(504, "the connection took too long"),
                Err(why) => connecting.order.refusal(504, format!("cannot connect: {why}")),
            };
            if response.code != 200 {
                self.close(id, "it cannot be connected");
            }
            self.reply(&connecting.order, &response, now);
            false
        });
        let any = waiting.len() < before;
        self.connecting = waiting;
        any
    }

    /// Whether a TCP face is connected.
    ///
    /// # Errors
    /// It will not be, and why.
    fn state(&mut self, id: FaceId) -> Result<bool, String> {
        let refused = || "it was refused".to_owned();
        let face = self.faces.get_mut(id).ok_or_else(refused)?;
        let Link::Stream(stream) = &mut face.link else { return Err(refused()) };
        let Socket::Tcp(socket) = stream.socket() else { return Ok(true) };
        match socket.take_error() {
            Ok(None) => Ok(socket.peer_addr().is_ok()),
            Ok(Some(error)) | Err(error) => Err(error.to_string()),
        }
    }

    fn update(&mut self, order: &Order, id: FaceId, change: &Change) -> ControlResponse {
        let Some(face) = self.faces.get_mut(id) else {
            return order.refusal(404, format!("there is no face {id}"));
        };
        if let Some(why) = unchangeable(face, change) {
            return order.refusal(409, why);
        }
        if let Err(refused) = self.change_marking(id, change) {
            return order.refusal(refused.code, refused.why);
        }
        let Some(face) = self.faces.get_mut(id) else { return order.refusal(404, "it is gone") };
        if let Some(persistency) = change.persistency {
            face.persistency = persistency;
            if persistency != Persistency::OnDemand {
                self.forwarder.set_challenge(id, None);
            }
            face.target = match persistency {
                Persistency::Permanent => face.target.take().or_else(|| target(&face.uri)),
                Persistency::Persistent | Persistency::OnDemand => None,
            };
        }
        if change.mask & LOCAL_FIELDS != 0 {
            let on = change.flags & LOCAL_FIELDS != 0;
            face.flags = (face.flags & !LOCAL_FIELDS) | if on { LOCAL_FIELDS } else { 0 };
            self.forwarder.set_local_fields(id, on);
        }
        if let Some(mtu) = change.mtu.filter(|_| face.mtu.is_some()) {
            (face.fixed_mtu, face.mtu) = (Some(mtu), Some(mtu));
            self.forwarder.set_mtu(id, Some(mtu));
        }
        let body = told(&face.info(), &order.asked, false);
        self.faces.schedule(id);
        tracing::info!(face = %id, ?change, "face updated");
        ControlResponse::new(200, "OK", body)
    }
}

/// Where a face leads, to be connected again.
fn target(uri: &str) -> Option<Target> {
    let uri: FaceUri = uri.parse().ok()?;
    let FaceUri::Internet { carrier, .. } = &uri else { return None };
    let peer = uri.resolve().ok()?;
    Some(if *carrier == Carrier::Udp { Target::Udp(peer) } else { Target::Tcp(peer) })
}

/// What of a face cannot be changed as it is wanted.
fn unchangeable(face: &Face, change: &Change) -> Option<String> {
    if (face.flags ^ change.flags) & change.mask & RELIABILITY != 0 {
        return Some("reliability is chosen when a face is made".into());
    }
    let wanted = change.persistency.filter(|wanted| *wanted != face.persistency)?;
    let is_udp = face.mtu.is_some();
    let may = match (face.made_by, wanted) {
        (MadeBy::Application, _) => false,
        _ if is_udp => true,
        // A peer that connected cannot be reached at the port that it connected from.
        (MadeBy::Peer, wanted) => wanted != Persistency::Permanent,
        (_, wanted) => wanted != Persistency::OnDemand,
    };
    (!may).then(|| format!("a face to {} cannot become {wanted:?}", face.uri))
}
