//! The facts about a face: its ends, its peer, its marking, and its pauses.

use crate::daemon::address::{Source, Station};
use crate::mac::Mac;
use crate::management::Persistency;
use control::{Duration, Time};
use std::net::SocketAddr;

/// The length of the first and of the longest pause.
const FIRST_AWAY: Duration = Duration::from_secs(1);
const LAST_AWAY: Duration = Duration::from_secs(64);

/// Where a configured face leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum Target {
    Udp(SocketAddr),
    /// A multicast group on an interface.
    Group(SocketAddr, String),
    /// A station or a group on the link of an interface.
    Ether(Mac, String),
    Tcp(SocketAddr),
    Unix(std::path::PathBuf),
}

impl Target {
    /// The target that a face keeps: where a permanent one is connected again. An interface that
    /// was down comes back with the persistent faces on it, as in NFD.
    pub fn kept(self, persistency: Persistency) -> Option<Target> {
        match persistency {
            Persistency::Permanent => Some(self),
            Persistency::Persistent => Some(self).filter(|to| matches!(to, Target::Ether(..))),
            Persistency::OnDemand => None,
        }
    }
}

/// The creator of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum MadeBy {
    Configuration,
    Command,
    Peer,
    Application,
}

/// The face in lists: its ends and its creator.
#[derive(Debug)]
pub(in crate::daemon) struct About {
    pub made_by: MadeBy,
    /// Its name in the configuration.
    pub name: Option<String>,
    pub uri: String,
    pub local_uri: String,
    pub local: bool,
    /// Its place on an Ethernet.
    pub station: Option<Station>,
    pub persistency: Persistency,
}

impl About {
    /// A face to this URI, in a network, with the persistency that its creator gives.
    pub fn new(made_by: MadeBy, uri: String) -> About {
        let persistency = match made_by {
            MadeBy::Configuration => Persistency::Permanent,
            MadeBy::Command => Persistency::Persistent,
            MadeBy::Peer | MadeBy::Application => Persistency::OnDemand,
        };
        let local_uri = String::new();
        About { made_by, name: None, uri, local_uri, local: false, station: None, persistency }
    }
}

/// The longest frames of a face over UDP or Ethernet.
#[derive(Debug, Default)]
pub(super) struct Mtu {
    /// The limit that the configuration or a command sets.
    pub fixed: Option<usize>,
    /// `None` for a stream.
    pub current: Option<usize>,
}

/// The peer of a face.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Peer {
    /// The time of its last frame.
    pub last_received: Time,
    /// The creation of an on-demand face.
    pub since: Time,
    /// The address for which an on-demand face was created.
    pub source: Option<Source>,
    /// The address may be forged until the forwarder reports a proof.
    pub unproved: bool,
    /// It is in a network of this host, so that it has a higher rate limit. Over UDP it keeps its
    /// place, too.
    pub is_neighbour: bool,
}

/// The pause after a report that nothing receives at the other end. A sender that knows the
/// addresses and ports can forge such a report.
#[derive(Debug, Default)]
pub(super) struct Absence {
    /// Nothing is sent before then, unless a frame arrives.
    until: Option<Time>,
    /// The length of the last pause, if nothing has arrived since.
    length: Duration,
}

impl Absence {
    /// Begins the next pause, which is twice as long as the one before.
    pub fn extend(&mut self, now: Time) {
        self.length = Duration(self.length.0 * 2).clamp(FIRST_AWAY, LAST_AWAY);
        self.until = Some(now + self.length);
    }

    /// A frame arrived. True if there was a pause.
    pub fn end(&mut self) -> bool {
        self.length = Duration::ZERO;
        self.until.take().is_some()
    }

    /// True once, when the pause is over.
    pub fn take_over(&mut self, now: Time) -> bool {
        self.until.take_if(|until| *until <= now).is_some()
    }

    pub fn is_on(&self) -> bool {
        self.until.is_some()
    }
}

/// Attempts to connect again.
#[derive(Debug)]
pub(super) struct Retry {
    /// The face-down event has been sent.
    pub was_down: bool,
    /// The time until the next attempt.
    pub wait: Duration,
}
