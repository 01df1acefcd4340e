//! The configuration is read again while the daemon runs.
//!
//! What is as it was stays as it is: a face whose section has not changed keeps its socket, its
//! queues, its counters and what is on its way. What cannot be changed at run time is said, and
//! waits for a start.

use super::error::DaemonError;
use super::{Daemon, Settings, applied, permissions, supervisor};
use crate::config::{self, Config, ConfigError};
use crate::management::rib::{ORIGIN_STATIC, Route};
use forwarder::FaceId;
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the configuration has brought about.
#[derive(Debug, Default)]
pub(super) struct Configured {
    pub faces: Vec<(FaceId, config::Face)>,
    /// Prefix, face and cost.
    pub routes: Vec<(Name, FaceId, u64)>,
    pub strategies: Vec<config::Strategy>,
    store: ContentStoreConfig,
    /// The sections that hold from the start to the end, as text.
    fixed: Vec<(&'static str, String)>,
}

impl Configured {
    pub fn new(config: &Config) -> Configured {
        Configured {
            strategies: config.strategies.clone(),
            store: config.content_store,
            fixed: fixed(config),
            ..Configured::default()
        }
    }
}

/// What a running daemon cannot change: sections, or fields of them.
fn fixed(config: &Config) -> Vec<(&'static str, String)> {
    let store = &config.content_store;
    vec![
        ("[daemon]", format!("{:?}", config.daemon)),
        ("[forwarder]", format!("{:?}", config.forwarder)),
        ("`policy` under [content_store]", format!("{:?}", store.policy)),
        ("`admission` under [content_store]", format!("{:?}", store.admission)),
    ]
}

/// Reads the configuration and does what has changed in it. With a mistake in it, nothing.
pub(super) fn reread(daemon: &mut Daemon) {
    let Some(read) = &mut daemon.wake_ups.reread else {
        return tracing::warn!("there is no configuration that could be read again");
    };
    supervisor::tell(&supervisor::reloading());
    match read() {
        Ok(config) => daemon.adopt(&config),
        Err(ConfigError::Mistakes(mistakes)) => {
            for mistake in &mistakes {
                tracing::error!("{mistake}");
            }
            tracing::error!(mistakes = mistakes.len(), "everything stays as it was");
        }
        Err(error) => tracing::error!(%error, "everything stays as it was"),
    }
    supervisor::tell(supervisor::READY);
}

impl Daemon {
    /// Does what has changed.
    pub(super) fn adopt(&mut self, config: &Config) {
        let now = fixed(config);
        for ((section, before), (_, after)) in self.configured.fixed.iter().zip(&now) {
            if before != after {
                tracing::warn!("{section} has changed; that takes effect at the next start");
            }
        }
        self.settings = Settings {
            on_demand: config.on_demand.clone(),
            application: config.application.clone(),
            udp: applied::udp_options(&config.listen),
            origins: Arc::new(config.listen.origins.clone()),
            ..self.settings
        };
        self.management.set_routes_per_face(config.application.routes);
        self.adopt_listeners(config);
        self.adopt_store(config.content_store);
        self.forwarder.set_uncached(&config.no_cache);
        let (forwarder, management) = (&mut self.forwarder, &mut self.management);
        if let Err(error) = permissions::grant(forwarder, management, config) {
            tracing::error!(%error, "who may command and announce stays as it was");
        }
        let ids = self.adopt_faces(&config.faces);
        self.adopt_routes(&config.routes, &ids);
        self.adopt_strategies(&config.strategies);
        self.management.count(&mut self.forwarder);
        tracing::info!(faces = ids.iter().flatten().count(), "the configuration was read again");
    }

    /// Faces of a listener that is closed stay.
    fn adopt_listeners(&mut self, config: &Config) {
        let registry = self.poll.registry();
        let mut failed = self.listeners.adopt(&config.listen, self.settings.udp, registry);
        failed.extend(self.adopt_metrics(&config.metrics));
        for error in failed {
            tracing::error!(%error, "this is left out");
        }
        // Somebody may have come before they were watched.
        self.work.listeners = true;
    }

    /// What a command has set stays until the file says something else.
    fn adopt_store(&mut self, wanted: ContentStoreConfig) {
        let before = std::mem::replace(&mut self.configured.store, wanted);
        if before.capacity != wanted.capacity {
            self.forwarder.set_content_store_capacity(wanted.capacity);
        }
        if before.packets != wanted.packets {
            self.forwarder.set_content_store_packets(wanted.packets);
        }
    }

    /// Ends the faces whose sections are gone or have changed, and makes those that are new. Gives
    /// the numbers of all, in the order of the sections.
    fn adopt_faces(&mut self, wanted: &[config::Face]) -> Vec<Option<FaceId>> {
        // A section's text says all of it.
        let text = |face: &config::Face| format!("{face:?}");
        let wanted: Vec<(String, &config::Face)> = wanted.iter().map(|f| (text(f), f)).collect();
        let stays: BTreeSet<&str> = wanted.iter().map(|(text, _)| text.as_str()).collect();
        let mut kept = BTreeMap::new();
        for (id, face) in std::mem::take(&mut self.configured.faces) {
            let text = text(&face);
            if stays.contains(text.as_str()) && self.faces.get_mut(id).is_some() {
                kept.insert(text, id);
            } else {
                self.close(id, "its section is gone or has changed");
            }
        }
        let now = self.clock.now();
        let mut ids = Vec::new();
        for (text, face) in wanted {
            let id = kept.get(&text).copied().or_else(|| match self.configured_face(face, now) {
                Ok(id) => Some(id),
                Err(error) => {
                    tracing::error!(%error, "a new face cannot be made");
                    None
                }
            });
            self.configured.faces.extend(id.map(|id| (id, face.clone())));
            ids.push(id);
        }
        ids
    }

    /// Routes of the configuration alone: what applications and tools have registered stays.
    fn adopt_routes(&mut self, wanted: &[config::Route], ids: &[Option<FaceId>]) {
        let wanted: Vec<(Name, FaceId, u64)> = wanted
            .iter()
            .filter_map(|route| Some((route.prefix.clone(), ids[route.face]?, route.cost)))
            .collect();
        let before = std::mem::take(&mut self.configured.routes);
        let (was, is): (BTreeSet<_>, BTreeSet<_>) =
            (before.iter().collect(), wanted.iter().collect());
        for (prefix, face, _) in was.difference(&is) {
            let key = (*face, ORIGIN_STATIC);
            self.management.rib().remove(&mut self.forwarder, prefix, key);
        }
        for route in wanted.clone() {
            if was.contains(&route) || self.configured_route(&route).is_ok() {
                self.configured.routes.push(route);
            } else {
                tracing::error!(prefix = %route.0, "no room for a new route");
            }
        }
    }

    /// Makes a route of the configuration.
    pub(super) fn configured_route(
        &mut self,
        (prefix, face, cost): &(Name, FaceId, u64),
    ) -> Result<(), DaemonError> {
        // Longer prefixes are what the file says of them, too, and inherit nothing.
        let entry = Route { cost: *cost, flags: 0, expires: None };
        let rib = self.management.rib();
        rib.add(&mut self.forwarder, prefix, (*face, ORIGIN_STATIC), entry)
            .map_err(|e| DaemonError::Table { prefix: prefix.clone(), why: e.to_string() })
    }

    /// Strategies that are as they were keep what they have learned.
    fn adopt_strategies(&mut self, wanted: &[config::Strategy]) {
        let same = |a: &config::Strategy, b: &config::Strategy| {
            a.prefix == b.prefix && a.choice.to_string() == b.choice.to_string()
        };
        let before = std::mem::replace(&mut self.configured.strategies, wanted.to_vec());
        for gone in before.iter().filter(|b| wanted.iter().all(|w| w.prefix != b.prefix)) {
            self.management.strategies().remove(&gone.prefix);
            if gone.prefix.is_empty() {
                self.choose(&gone.prefix, &applied::root_choice());
            } else {
                self.forwarder.unset_strategy(gone.prefix.as_ref());
            }
        }
        for new in wanted.iter().filter(|w| !before.iter().any(|b| same(b, w))) {
            self.choose(&new.prefix, &new.choice);
        }
    }

    fn choose(&mut self, prefix: &Name, choice: &schemes::Choice) {
        let (forwarder, chosen) = (&mut self.forwarder, self.management.strategies());
        if let Err(error) = applied::choose(forwarder, chosen, prefix, choice) {
            tracing::error!(%error, "the strategy stays as it was");
        }
    }
}
