//! The management protocol: how applications register prefixes and tools ask for the forwarder's
//! state, by Interests under `/localhost/nfd` as NFD defines them and `/localhost/weir` for what is
//! Weir's own.
//!
//! A machine without I/O: the daemon hands in what the forwarder sends to its internal face, and
//! gives what comes back to the forwarder.

pub mod command;
mod counters;
mod dataset;
mod faces;
mod learning;
pub mod metrics;
pub mod parameters;
pub mod response;
pub mod rib;
mod status;

pub use counters::counters_json;

use command::{Command, Refusal};
use control::Time;
use dataset::Datasets;
use forwarder::{FaceId, Forwarder};
use packet::{Interest, LpHeader, LpPacket, Name, NameRef};
use response::ControlResponse;
use rib::Rib;
use std::collections::BTreeSet;

/// Of memory that is shared, datasets that somebody may still read take this part at most.
const DATASETS: usize = 32;

/// How long a face lives (NFD's numbers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistency {
    /// Made by configuration or command; goes with its socket.
    Persistent = 0,
    /// Made by a peer; goes when idle.
    OnDemand = 1,
    /// Made by configuration; its socket is made anew when it breaks.
    Permanent = 2,
}

/// What the driver knows of a face.
#[derive(Clone, Debug)]
pub struct FaceInfo {
    /// Its number.
    pub id: FaceId,
    /// Its name in the configuration.
    pub name: Option<String>,
    /// Where it leads.
    pub uri: String,
    /// Where it begins.
    pub local_uri: String,
    /// Whether it leads to this host's applications.
    pub local: bool,
    /// How long it lives.
    pub persistency: Persistency,
    /// Whether it leads to a multicast group: several may be at the other end.
    pub is_group: bool,
    /// The largest frame; `None` on streams.
    pub mtu: Option<usize>,
    /// Whether its socket is connected.
    pub up: bool,
    /// Frames that the kernel refused or an emulated link lost.
    pub lost: u64,
}

/// What management needs of the daemon for a call.
pub struct Host<'a> {
    /// The forwarder.
    pub forwarder: &'a mut Forwarder,
    /// The faces, in the order of their numbers, without the internal one.
    pub faces: &'a dyn Fn() -> Vec<FaceInfo>,
    /// The listening addresses, as face URIs.
    pub channels: &'a [String],
    /// Prefixes with the names of their strategies.
    pub strategies: &'a [(Name, Name)],
}

/// The management service.
#[derive(Debug)]
pub struct Management {
    /// The face under which the forwarder knows it.
    face: FaceId,
    rib: Rib,
    datasets: Datasets,
    /// Whether announcements make routes.
    believes: bool,
    /// Prefixes whose announcements are known.
    announced: BTreeSet<Name>,
    /// Milliseconds since 1970 when it began.
    started_ms: u64,
}

/// The names that it answers.
#[must_use]
pub fn prefixes() -> [Name; 2] {
    let of = |word: &[u8]| {
        Name::default()
            .with(&packet::Component::generic(b"localhost"))
            .with(&packet::Component::generic(word))
    };
    [of(b"nfd"), of(b"weir")]
}

impl Management {
    /// A service behind the internal face `face`; an application may register `routes_per_face`
    /// prefixes.
    #[must_use]
    pub fn new(face: FaceId, routes_per_face: usize, started_ms: u64) -> Management {
        let (rib, datasets) = (Rib::new(routes_per_face), Datasets::default());
        Management { face, rib, datasets, believes: false, announced: BTreeSet::new(), started_ms }
    }

    /// Tells the forwarder how much memory is kept here, of what they share.
    pub fn count(&self, forwarder: &mut Forwarder) {
        if forwarder.counts_memory() {
            forwarder.set_driver_memory(self.rib.memory() + self.datasets.memory());
        }
    }

    /// The routes by origin.
    pub fn rib(&mut self) -> &mut Rib {
        &mut self.rib
    }

    /// Answers a frame that the forwarder sent to the internal face; `wall_ms` is the time since
    /// 1970. `None` if there is nothing to answer.
    pub fn receive(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        wall_ms: u64,
        frame: &[u8],
    ) -> Option<Vec<u8>> {
        let packet = LpPacket::decode(frame).ok()?;
        if packet.nack().is_some() {
            return None;
        }
        let interest = Interest::decode(packet.fragment()?).ok()?;
        let from = FaceId(packet.incoming_face_id()?);
        let data = self.answer(host, now, wall_ms, from, &interest)?;
        // What is asked for again shall be answered anew, and not from the content store.
        let header = LpHeader {
            pit_token: packet.pit_token().unwrap_or_default().into(),
            no_cache: true,
            ..LpHeader::default()
        };
        let mut out = Vec::with_capacity(header.encoded_len(data.len()));
        header.encode_into(&data, &mut out);
        Some(out)
    }

    fn answer(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        wall_ms: u64,
        from: FaceId,
        interest: &Interest<'_>,
    ) -> Option<packet::Bytes> {
        let name = interest.name();
        let word = |i: usize| name.get(i).map_or(&b""[..], |c| c.value());
        if let Some(answer) = self.datasets.published(now, interest) {
            return Some(answer);
        }
        let content = match (word(1), word(2), word(3)) {
            (b"nfd", b"status", b"general") => {
                status::general(host.forwarder, self.started_ms, wall_ms)
            }
            (b"nfd", b"faces", b"list") => status::faces(host.forwarder, &(host.faces)()),
            (b"nfd", b"faces", b"channels") => status::channels(host.channels),
            (b"nfd", b"fib", b"list") => status::fib(host.forwarder),
            (b"nfd", b"rib", b"list") => status::rib(&self.rib, now),
            (b"nfd", b"cs", b"info") => status::content_store(host.forwarder),
            (b"nfd", b"strategy-choice", b"list") => {
                status::strategies(host.forwarder, host.strategies)
            }
            (b"weir", b"counters", _) => {
                let uptime_ms = self.uptime_ms(wall_ms);
                counters_json(host.forwarder, &(host.faces)(), now, uptime_ms).into_bytes()
            }
            (b"nfd", ..) | (b"weir", b"faces", _) => {
                return self.command(host, now, from, interest);
            }
            _ => return None,
        };
        let kept = match host.forwarder.memory().limit {
            Some(limit) => limit / DATASETS,
            None => usize::MAX,
        };
        self.datasets.publish(now, wall_ms, interest, &content, kept)
    }

    /// Answers a command: everything that is not a dataset.
    fn command(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        from: FaceId,
        interest: &Interest<'_>,
    ) -> Option<packet::Bytes> {
        let response = match Command::take(interest) {
            Ok(command) if command.protocol == b"weir" => {
                faces::execute(host.forwarder, now, &command)
            }
            Ok(command) => self.execute(host, now, from, &command),
            Err(Refusal::NotACommand) => return None,
            Err(refusal) => refusal.into(),
        };
        Some(response.data(interest.name()))
    }

    fn execute(
        &mut self,
        host: &mut Host<'_>,
        now: Time,
        from: FaceId,
        command: &Command<'_>,
    ) -> ControlResponse {
        match (command.module, command.verb) {
            (b"rib", b"register") => {
                self.rib.register(host.forwarder, now, from, &command.parameters)
            }
            (b"rib", b"unregister") => {
                self.rib.unregister(host.forwarder, from, &command.parameters)
            }
            _ => ControlResponse::unsupported(),
        }
    }

    /// When [`Management::on_deadline`] wants to be called.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        self.rib.next_deadline()
    }

    /// Removes routes that have expired.
    pub fn on_deadline(&mut self, forwarder: &mut Forwarder, now: Time) {
        self.rib.expire(forwarder, now);
        self.forget_announcements(forwarder);
        self.datasets.forget(now);
    }

    /// The face is gone, and its routes with it.
    pub fn face_gone(&mut self, face: FaceId) {
        self.rib.face_gone(face);
    }

    /// Milliseconds since it began; `wall_ms` is the time since 1970.
    #[must_use]
    pub fn uptime_ms(&self, wall_ms: u64) -> u64 {
        wall_ms.saturating_sub(self.started_ms)
    }

    /// The internal face.
    #[must_use]
    pub fn face(&self) -> FaceId {
        self.face
    }
}

/// Whether `name` is under one of the management prefixes, which nobody else may register.
#[must_use]
pub fn is_reserved(name: NameRef<'_>) -> bool {
    prefixes().iter().any(|p| name.starts_with(p.as_ref()) || p.as_ref().starts_with(name))
        && name.first().is_some()
}

#[cfg(test)]
mod tests;
