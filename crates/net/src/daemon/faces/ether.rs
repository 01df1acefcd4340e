//! Frames of Ethernet on their way to faces, and interfaces that change.

use super::room::Newcomer;
use super::{DATAGRAM_BUDGET, FaceSet};
use crate::batch::Batch;
use crate::daemon::address::{Address, Source, Station};
use crate::daemon::crowd::Transport;
use crate::daemon::devices::Change;
use crate::daemon::face::{Face, Link};
use crate::daemon::faces::accept::UnprovedPeer;
use crate::socket::SendFrames;
use crate::uri::FaceUri;
use control::Time;
use forwarder::{FaceId, Forwarder, Scope, Wire};
use packet::LpPacket;

/// A frame from a station without a face.
struct FirstFrame {
    from: Station,
    frame: Vec<u8>,
}

impl FaceSet {
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
                    face.hears(forwarder, now);
                    let member = match received.group {
                        Some(_) => Address::Ether(from).member(),
                        None => Default::default(),
                    };
                    forwarder.receive_from(now, face.id, member, Wire::Borrowed(received.frame));
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
                face.hears(forwarder, now);
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
            bytes: Face::keeps(true),
        };
        if !self.makes_room(forwarder, &newcomer, now) {
            return None;
        }
        let FaceSet { devices, registry, settings, .. } = self;
        let (sender, payload) = match devices.sender(
            from.device,
            from.address,
            settings.udp,
            registry,
        ) {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(peer = self.shown(newcomer.source), %error, "no socket for a new peer");
                return None;
            }
        };
        let uris = [FaceUri::Ether(from.address).to_string(), devices.uri(from.device)];
        let batch = Batch::new(sender.max_segments());
        let link = Link::Ether(sender, batch);
        let peer = UnprovedPeer { address: Address::Ether(from), uris, payload, link };
        self.unproved_face(forwarder, peer, now)
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

    /// Follows interfaces that went, came, or have another MTU.
    pub(super) fn devices_changed(&mut self, forwarder: &mut Forwarder, now: Time) {
        let FaceSet { devices, registry, settings, .. } = self;
        for (device, change) in devices.changed(settings.udp, registry, now) {
            let uri = self.devices.uri(device);
            let faces = self.table.on_link(device);
            match change {
                Change::Down(why) => {
                    tracing::warn!(uri, why, "an Ethernet interface is down");
                    for id in faces {
                        self.broken(forwarder, id, &why);
                    }
                }
                Change::Up => {
                    tracing::info!(uri, "an Ethernet interface is up");
                    for id in faces {
                        let is_down = |face: &Face| matches!(face.link, Link::Down { .. });
                        if self.table.get(id).is_some_and(is_down) {
                            self.dial(forwarder, id, now);
                        }
                    }
                }
                Change::Mtu(mtu) => {
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
