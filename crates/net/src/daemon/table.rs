//! All faces with sockets, and the indexes to find them.

use super::address::{Address, DeviceId, Group, Source};
use super::crowd::{Crowd, Transport};
use super::face::{Face, MadeBy, Target};
use crate::config::OnDemand;
use crate::management::{FaceInfo, Persistency};
use control::{Duration, Time};
use forwarder::{FaceId, Forwarder};
use std::collections::{BTreeMap, BTreeSet};

/// Where all places are taken, a UDP face that was quiet for so long makes room for another: it
/// comes again with its peer's next datagram.
const QUIET: Duration = Duration::from_secs(30);
/// The same for one to an unproved address.
const UNPROVED_QUIET: Duration = Duration::from_secs(3);
/// The same if only one datagram came from there, as from most forged addresses. It is as long as a
/// distant producer's answer may take, and bounds how many faces are made in a second.
const ONCE_QUIET: Duration = Duration::from_millis(250);
/// The same for a connection that brought nothing at all.
const SILENT: Duration = Duration::from_secs(10);

/// A face to an unproved address is new for this long. Busy faces that are older may hold three
/// quarters of the places for such faces. The rest is for new ones, which replace each other.
/// Without that rule a sender that keeps many forged addresses busy would lock out all other peers.
const NEWCOMER: Duration = Duration::from_secs(10);

/// The rank of a peer whose face may make room for another. The least useful face comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It sent a single packet, or over a connection none.
    Once,
    /// It was quiet for a while.
    Quiet,
    /// It is not quiet, but nothing shows that it receives.
    Busy,
    /// It receives what is sent to it, and was quiet for long.
    Proved,
}

/// A face, and under what else it is listed.
#[derive(Debug)]
struct Listed {
    face: Face,
    peer: Option<Address>,
    retry: Option<Time>,
    /// The kind and address under which it was counted at its creation. Its socket may be gone at
    /// its end.
    counted: Option<(Transport, Source)>,
}

/// Faces by number, and UDP and Ethernet faces by peer.
#[derive(Debug, Default)]
pub(super) struct FaceTable {
    all: BTreeMap<FaceId, Listed>,
    peers: BTreeMap<Address, FaceId>,
    /// All faces by where they lead; several may lead to one group.
    uris: BTreeSet<(String, FaceId)>,
    /// Faces over emulated links, which have deadlines of their own.
    emulated: BTreeSet<FaceId>,
    /// Broken faces, by when they are to be connected.
    retries: BTreeSet<(Time, FaceId)>,
    /// Faces that peers brought about.
    crowd: Crowd,
    /// Those of applications and commands.
    applications: usize,
    commanded: usize,
    numbers: u64,
}

impl FaceTable {
    pub fn get(&self, id: FaceId) -> Option<&Face> {
        self.all.get(&id).map(|listed| &listed.face)
    }

    pub fn get_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        self.all.get_mut(&id).map(|listed| &mut listed.face)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Face> {
        self.all.values().map(|listed| &listed.face)
    }

    /// How many faces peers brought about.
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// How many faces lead to applications.
    pub fn applications(&self) -> usize {
        self.applications
    }

    /// The number of faces.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many faces commands made.
    pub fn commanded(&self) -> usize {
        self.commanded
    }

    /// A number for an application's URI.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The face to a UDP peer, or to a station or group on an Ethernet.
    pub fn of_peer(&self, peer: Address) -> Option<FaceId> {
        self.peers.get(&peer).copied()
    }

    /// The faces on the link of an interface.
    pub fn on_link(&self, device: DeviceId) -> Vec<FaceId> {
        self.iter().filter(|face| face.begins_at(device)).map(|face| face.id()).collect()
    }

    /// True if a face begins at an interface.
    pub fn uses(&self, device: DeviceId) -> bool {
        self.iter().any(|face| face.begins_at(device))
    }

    /// The face of the configuration that leads there.
    pub fn configured(&self, target: &Target) -> Option<&Face> {
        self.iter().find(|face| {
            face.about().made_by == MadeBy::Configuration && face.target() == Some(target)
        })
    }

    pub fn insert(&mut self, face: Face, peer: Option<Address>) {
        if let Some(peer) = peer {
            self.peers.insert(peer, face.id());
        }
        if face.is_emulated() {
            self.emulated.insert(face.id());
        }
        if let Some(counter) = self.counter(face.about().made_by) {
            *counter += 1;
        }
        let counted = face.peer().source.map(|source| (face.transport(), source));
        if let Some((transport, source)) = counted {
            self.crowd.add(transport, source);
        }
        let id = face.id();
        self.uris.insert((face.about().uri.clone(), id));
        self.all.insert(id, Listed { face, peer, retry: None, counted });
        self.schedule(id);
    }

    pub fn remove(&mut self, id: FaceId) -> Option<Face> {
        let Listed { face, peer, retry, counted } = self.all.remove(&id)?;
        if let Some(peer) = peer
            && self.of_peer(peer) == Some(id)
        {
            self.peers.remove(&peer);
        }
        self.uris.remove(&(face.about().uri.clone(), id));
        self.emulated.remove(&id);
        retry.map(|at| self.retries.remove(&(at, id)));
        if let Some(counter) = self.counter(face.about().made_by) {
            *counter -= 1;
        }
        if let Some((transport, source)) = counted {
            self.crowd.remove(transport, source);
        }
        Some(face)
    }

    /// Sees to it that a face is connected again, or is not: to be called when it broke, was
    /// connected, or leads elsewhere.
    pub fn schedule(&mut self, id: FaceId) {
        let Some(listed) = self.all.get_mut(&id) else { return };
        let due = listed.face.retry();
        let before = std::mem::replace(&mut listed.retry, due);
        if before != due {
            before.map(|at| self.retries.remove(&(at, id)));
            self.retries.extend(due.map(|at| (at, id)));
        }
    }

    /// The face that leads there; of several the first.
    pub fn of_uri(&self, uri: &str) -> Option<FaceId> {
        let first = self.uris.range((uri.to_owned(), FaceId(0))..).next();
        first.filter(|(found, _)| found == uri).map(|(_, id)| *id)
    }

    fn counter(&mut self, made_by: MadeBy) -> Option<&mut usize> {
        match made_by {
            MadeBy::Configuration | MadeBy::Peer => None,
            MadeBy::Command => Some(&mut self.commanded),
            MadeBy::Application => Some(&mut self.applications),
        }
    }

    /// When the next emulated link has something due.
    pub fn next_due(&self) -> Option<Time> {
        self.emulated.iter().filter_map(|id| self.get(*id)?.next_due()).min()
    }

    /// The faces whose emulated links have something due.
    pub fn due(&self, now: Time) -> Vec<FaceId> {
        let emulated = self.emulated.iter().filter_map(|id| self.get(*id));
        let due = emulated.filter(|face| face.next_due().is_some_and(|at| at <= now));
        due.map(|face| face.id()).collect()
    }

    /// When the next broken face is to be connected.
    pub fn next_retry(&self) -> Option<Time> {
        self.retries.first().map(|(at, _)| *at)
    }

    /// The broken faces that are to be connected now.
    pub fn retries(&self, now: Time) -> Vec<FaceId> {
        self.retries.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id).collect()
    }

    /// The UDP face of a peer that is to end first unless something comes, and when.
    pub fn next_to_end(
        &self,
        forwarder: &Forwarder,
        settings: &OnDemand,
    ) -> Option<(FaceId, Time)> {
        let on_demand = self.iter().filter(|face| face.is_idle_on_demand());
        let ends = on_demand.map(|face| {
            (face.id(), face.peer().last_received + face.idle_limit(forwarder, settings))
        });
        ends.min_by_key(|(id, at)| (*at, *id))
    }

    /// How many faces lead to one address.
    pub fn to(&self, source: Source, transport: Transport) -> usize {
        let faces = self.iter().filter(|face| face.transport() == transport);
        faces.filter(|face| face.peer().source == Some(source)).count()
    }

    /// How many faces lead to programs of this host.
    pub fn local(&self, transport: Transport) -> usize {
        let faces = self.iter().filter(|face| face.transport() == transport);
        faces.filter(|face| face.peer().source.is_some_and(|at| at.is_loopback())).count()
    }

    /// The on-demand face over `transport` to close for another peer; with a `group`, a face that
    /// leads into it. The face of the lowest [`Rank`] is chosen and, among equals, the one that was
    /// idle longest.
    pub fn dispensable(
        &self,
        now: Time,
        transport: Transport,
        group: Option<Group>,
        forwarder: &Forwarder,
        settings: &OnDemand,
    ) -> Option<FaceId> {
        let on_demand = self.iter().filter(|f| {
            f.about().made_by == MadeBy::Peer
                && f.about().persistency == Persistency::OnDemand
                && f.transport() == transport
                && group.is_none_or(|group| f.peer().source.is_some_and(|at| group.contains(at)))
                // A peer with a registered prefix may wait for Interests for hours.
                && forwarder.fib().routes_of(f.id()) == 0
        });
        let on_demand: Vec<&Face> = on_demand.collect();
        let (mut unproved, mut lasting) = (0, 0);
        for face in on_demand.iter().filter(|face| face.is_unproved(forwarder)) {
            unproved += 1;
            lasting += usize::from(now.since(face.peer().since) >= NEWCOMER);
        }
        let is_crowded = lasting * 4 > unproved * 3;
        let ranked = on_demand.iter().filter_map(|f| {
            let (quiet, once) =
                (now.since(f.peer().last_received), f.peer().last_received == f.peer().since);
            let (rank, may) = match transport {
                Transport::Connections if once => (Rank::Once, quiet >= SILENT.min(settings.idle)),
                Transport::Connections => (Rank::Quiet, quiet >= settings.idle),
                _ if !f.is_unproved(forwarder) => (Rank::Proved, quiet >= QUIET),
                _ if once && quiet >= ONCE_QUIET => (Rank::Once, true),
                _ if quiet >= UNPROVED_QUIET => (Rank::Quiet, true),
                _ => {
                    let is_settled = now.since(f.peer().since) >= ONCE_QUIET;
                    let lasts = now.since(f.peer().since) >= NEWCOMER;
                    (Rank::Busy, is_settled && lasts == is_crowded)
                }
            };
            may.then_some((rank, f.peer().last_received, f.id()))
        });
        ranked.min().map(|(.., id)| id)
    }

    /// All of them; those that peers brought about over UDP end after some time without a frame.
    pub fn infos(&self, forwarder: &Forwarder, settings: &OnDemand) -> Vec<FaceInfo> {
        let mut infos = Vec::new();
        for face in self.iter() {
            let mut info = face.info();
            if face.is_idle_on_demand() {
                info.expires =
                    Some(face.peer().last_received + face.idle_limit(forwarder, settings));
            }
            infos.push(info);
        }
        infos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::face::{About, Target};

    fn face(id: u64, uri: &str, retry: u64) -> Face {
        let about = About::new(MadeBy::Configuration, uri.to_owned());
        let target = Target::Tcp("192.0.2.1:6363".parse().unwrap());
        Face::outgoing(FaceId(id), about, target, Time(retry))
    }

    #[test]
    fn broken_faces_are_due_in_their_order_and_not_when_they_are_gone_or_up() {
        let mut faces = FaceTable::default();
        for (id, retry) in [(1, 50), (2, 30), (3, 30), (4, 70)] {
            faces.insert(face(id, "tcp4://192.0.2.1:6363", retry), None);
        }
        assert_eq!(faces.next_retry(), Some(Time(30)));
        assert_eq!(faces.retries(Time(50)), [2, 3, 1].map(FaceId));
        faces.remove(FaceId(2));
        // It failed again.
        let third = faces.get_mut(FaceId(3)).unwrap();
        third.down(Time(60));
        let again = third.retry().unwrap();
        assert!(again > Time(60));
        faces.schedule(FaceId(3));
        assert_eq!(faces.retries(again), [1, 4, 3].map(FaceId));
        // It is to be left alone.
        faces.get_mut(FaceId(1)).unwrap().set_persistency(Persistency::OnDemand, None);
        faces.schedule(FaceId(1));
        assert_eq!((faces.next_retry(), faces.retries(Time(69))), (Some(Time(70)), vec![]));
        faces.remove(FaceId(3));
        faces.remove(FaceId(4));
        assert_eq!(faces.next_retry(), None);
    }

    #[test]
    fn faces_are_found_by_where_they_lead() {
        let mut faces = FaceTable::default();
        let peer = Address::Udp("192.0.2.1:6363".parse().unwrap());
        faces.insert(face(7, "udp4://192.0.2.1:6363", 0), Some(peer));
        faces.insert(face(5, "udp4://192.0.2.1:63", 0), None);
        faces.insert(face(9, "udp4://192.0.2.1:6363", 0), None);
        assert_eq!(faces.of_uri("udp4://192.0.2.1:6363"), Some(FaceId(7)));
        assert_eq!(faces.of_uri("udp4://192.0.2.1:6"), None);
        assert_eq!(faces.of_peer(peer), Some(FaceId(7)));
        faces.remove(FaceId(7));
        assert_eq!(faces.of_uri("udp4://192.0.2.1:6363"), Some(FaceId(9)));
        assert_eq!(faces.of_peer(peer), None);
        faces.remove(FaceId(9));
        assert_eq!(faces.of_uri("udp4://192.0.2.1:6363"), None);
        assert_eq!(faces.of_uri("udp4://192.0.2.1:63"), Some(FaceId(5)));
    }
}
