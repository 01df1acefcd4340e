//! All faces with sockets.

use super::face::{Face, MadeBy};
use crate::management::FaceInfo;
use control::{Duration, Time};
use forwarder::FaceId;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Faces by number, and UDP faces by peer.
#[derive(Debug, Default)]
pub(super) struct Faces {
    all: BTreeMap<FaceId, Face>,
    peers: BTreeMap<SocketAddr, FaceId>,
    /// Faces over emulated links, which have deadlines of their own.
    emulated: BTreeSet<FaceId>,
    /// Configured faces, which are connected again when they break.
    permanent: Vec<FaceId>,
    /// Faces that peers, applications and commands brought about.
    pub guests: usize,
    pub applications: usize,
    pub commanded: usize,
    numbers: u64,
}

impl Faces {
    pub fn get_mut(&mut self, id: FaceId) -> Option<&mut Face> {
        self.all.get_mut(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Face> {
        self.all.values()
    }

    /// A number for an application's URI.
    pub fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The face to a UDP peer.
    pub fn of_peer(&self, peer: SocketAddr) -> Option<FaceId> {
        self.peers.get(&peer).copied()
    }

    pub fn insert(&mut self, face: Face, peer: Option<SocketAddr>) {
        if let Some(peer) = peer {
            self.peers.insert(peer, face.id);
        }
        if face.delay.is_some() {
            self.emulated.insert(face.id);
        }
        if face.target.is_some() {
            self.permanent.push(face.id);
        }
        if let Some(counter) = self.counter(face.made_by) {
            *counter += 1;
        }
        self.all.insert(face.id, face);
    }

    pub fn remove(&mut self, id: FaceId) -> Option<Face> {
        let face = self.all.remove(&id)?;
        self.peers.retain(|_, of| *of != id);
        self.emulated.remove(&id);
        self.permanent.retain(|of| *of != id);
        if let Some(counter) = self.counter(face.made_by) {
            *counter -= 1;
        }
        Some(face)
    }

    /// From now on the face is connected again when it breaks.
    pub fn keep_up(&mut self, id: FaceId) {
        if !self.permanent.contains(&id) {
            self.permanent.push(id);
        }
    }

    /// The face that leads there.
    pub fn of_uri(&self, uri: &str) -> Option<FaceId> {
        self.iter().find(|face| face.uri == uri).map(|face| face.id)
    }

    fn counter(&mut self, made_by: MadeBy) -> Option<&mut usize> {
        match made_by {
            MadeBy::Configuration => None,
            MadeBy::Command => Some(&mut self.commanded),
            MadeBy::Peer => Some(&mut self.guests),
            MadeBy::Application => Some(&mut self.applications),
        }
    }

    /// When the next emulated link has something due.
    pub fn next_due(&self) -> Option<Time> {
        self.emulated.iter().filter_map(|id| self.all.get(id)?.next_due()).min()
    }

    /// The faces whose emulated links have something due.
    pub fn due(&self, now: Time) -> Vec<FaceId> {
        let due =
            |id: &&FaceId| self.all.get(id).and_then(Face::next_due).is_some_and(|at| at <= now);
        self.emulated.iter().filter(due).copied().collect()
    }

    /// When the next broken face is to be connected.
    pub fn next_retry(&self) -> Option<Time> {
        self.retries().map(|(at, _)| at).min()
    }

    /// Broken faces, and when they are to be connected.
    pub fn retries(&self) -> impl Iterator<Item = (Time, FaceId)> {
        self.permanent.iter().filter_map(|id| Some((self.all.get(id)?.retry()?, *id)))
    }

    /// The UDP face over which nothing came for longest, of those that peers brought about.
    pub fn quietest_guest(&self) -> Option<(FaceId, Time)> {
        let guests = self.iter().filter(|f| f.is_idle_guest());
        guests.min_by_key(|f| f.heard).map(|f| (f.id, f.heard))
    }

    /// All of them; those that peers brought about over UDP end after `idle` without a frame.
    pub fn infos(&self, idle: Duration) -> Vec<FaceInfo> {
        let info = |face: &Face| {
            let expires = face.is_idle_guest().then(|| face.heard + idle);
            FaceInfo { expires, ..face.info() }
        };
        self.iter().map(info).collect()
    }
}
