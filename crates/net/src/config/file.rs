//! The content of a configuration file.

use super::faces::{Application, Face, OnDemand, Route, Strategy};
use super::permissions::{Announcements, Authorize};
use super::process::{Daemon, ForwarderLimits, Listen};
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use std::net::SocketAddr;

/// The settings of the file.
#[derive(Clone, Debug)]
pub struct Config {
    /// The process.
    pub daemon: Daemon,
    /// The listeners for peers and applications.
    pub listen: Listen,
    /// The addresses that serve metrics.
    pub metrics: Vec<SocketAddr>,
    /// On-demand faces of peers.
    pub on_demand: OnDemand,
    /// Faces of local applications.
    pub application: Application,
    /// Faces that exist from the start.
    pub faces: Vec<Face>,
    /// Routes that exist from the start.
    pub routes: Vec<Route>,
    /// The content store.
    pub content_store: ContentStoreConfig,
    /// Names below which it takes no Data.
    pub no_cache: Vec<Name>,
    /// The accepted prefix announcements.
    pub announcements: Announcements,
    /// Bounds of the forwarder's tables.
    pub forwarder: ForwarderLimits,
    /// The replies to the probes of a traceroute.
    pub traceroute: Option<forwarder::Traceroute>,
    /// Strategies by prefix.
    pub strategies: Vec<Strategy>,
    /// Rights to send commands; without any, the defaults for applications of this host.
    pub authorize: Vec<Authorize>,
    /// Prefixes that hosts behind this one may use, for hosts that ask.
    pub routable: Vec<Name>,
}

impl Config {
    /// Rights that may be wider than intended: a line for each `[[authorize]]` without a key or a
    /// user.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let rules = (1..).zip(&self.authorize);
        rules.filter(|(_, rule)| rule.is_for_everybody()).map(|(n, rule)| rule.warning(n)).collect()
    }
}
