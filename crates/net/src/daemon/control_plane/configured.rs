//! The faces, routes and strategies of the configuration, which a reload compares.

use crate::config::{self, Config};
use forwarder::FaceId;
use forwarder::tables::{Admission, ContentStoreConfig, PolicyKind};
use packet::Name;

/// A route of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StaticRoute {
    pub prefix: Name,
    pub face: FaceId,
    pub cost: u64,
}

/// Faces, routes and strategies that the configuration has created.
#[derive(Debug)]
pub(super) struct Configured {
    pub faces: Vec<(FaceId, config::Face)>,
    pub routes: Vec<StaticRoute>,
    pub strategies: Vec<config::Strategy>,
    pub store: ContentStoreConfig,
    pub fixed: Fixed,
}

/// Sections, or fields of them, that a running daemon cannot change.
#[derive(Debug)]
pub(super) struct Fixed {
    pub daemon: config::Daemon,
    pub forwarder: config::ForwarderLimits,
    pub policy: PolicyKind,
    pub admission: Admission,
}

impl Fixed {
    pub fn new(config: &Config) -> Fixed {
        Fixed {
            // The scheme is that of faces and of the root's strategy, which a reload replaces.
            daemon: config::Daemon { scheme: None, ..config.daemon.clone() },
            forwarder: config.forwarder.clone(),
            policy: config.content_store.policy,
            admission: config.content_store.admission,
        }
    }

    /// The names of the parts that `other` would change.
    pub fn changed(&self, other: &Fixed) -> impl Iterator<Item = &'static str> {
        let parts = [
            ("[daemon]", self.daemon != other.daemon),
            ("[forwarder]", self.forwarder != other.forwarder),
            ("`policy` under [content_store]", self.policy != other.policy),
            ("`admission` under [content_store]", self.admission != other.admission),
        ];
        parts.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name)
    }
}

impl Configured {
    pub fn new(config: &Config) -> Configured {
        Configured {
            strategies: config.strategies.clone(),
            store: config.content_store,
            fixed: Fixed::new(config),
            faces: Vec::new(),
            routes: Vec::new(),
        }
    }
}
