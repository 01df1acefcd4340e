//! Reading the configuration again while the daemon runs.
//!
//! Unchanged parts continue: a face whose section has not changed keeps its socket, its queues, its
//! counters and its packets in flight. Changes of `Fixed` need a restart and are logged. Fields of
//! `[listen]`, `[on_demand]` and `[application]` are taken over by `FaceSet::adopt`, those of
//! `[[face]]` by comparing whole sections. Any other new field needs a line in
//! `ControlPlane::adopt`, or a reload ignores it.

use super::ControlPlane;
use super::configured::{Fixed, StaticRoute};
use crate::config::{self, Config};
use crate::daemon::error::DaemonError;
use crate::daemon::faces::FaceSet;
use crate::daemon::{applied, permissions};
use crate::management::rib::{ORIGIN_STATIC, Route, RouteKey};
use forwarder::tables::ContentStoreConfig;
use forwarder::{FaceId, Forwarder};
use packet::Name;
use std::collections::{BTreeMap, BTreeSet};

impl ControlPlane {
    /// Makes the faces and routes of the configuration that the daemon starts with.
    ///
    /// # Errors
    /// The host of a face is not known, or a route has no room.
    pub fn begin(
        &mut self,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        config: &Config,
    ) -> Result<(), DaemonError> {
        let now = self.clock.now();
        for face in &config.faces {
            let id = faces.configured_face(forwarder, face, now)?;
            self.configured.faces.push((id, face.clone()));
        }
        for route in &config.routes {
            let (prefix, face) = (route.prefix.clone(), self.configured.faces[route.face].0);
            let route = StaticRoute { prefix, face, cost: route.cost };
            self.configured_route(forwarder, &route)?;
            self.configured.routes.push(route);
        }
        self.management.count(forwarder);
        Ok(())
    }

    /// Applies the changes of a configuration that was read again.
    pub(super) fn adopt(
        &mut self,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        config: &Config,
    ) {
        for section in self.configured.fixed.changed(&Fixed::new(config)) {
            let warning = format!("{section} has changed; that takes effect at the next start");
            tracing::warn!("{warning}");
            self.warnings.push(warning);
        }
        self.management.set_routes_per_face(config.application.routes);
        let mut failed = faces.adopt(config);
        failed.extend(self.metrics.adopt(&config.metrics, &self.wake_ups));
        self.left_out.clear();
        for error in failed {
            tracing::error!(%error, "skipped");
            self.left_out.push(error.to_string());
        }
        forwarder.set_traceroute(config.traceroute.clone());
        self.adopt_store(forwarder, config.content_store);
        forwarder.set_uncached(&config.no_cache);
        if let Err(error) = permissions::grant(forwarder, &mut self.management, config) {
            tracing::error!(%error, "previous authorization rules kept");
            self.left_out.push(error.to_string());
        }
        let ids = self.adopt_faces(forwarder, faces, &config.faces);
        self.take_news(forwarder, faces);
        self.adopt_routes(forwarder, &config.routes, &ids);
        self.adopt_strategies(forwarder, &config.strategies);
        self.management.count(forwarder);
        tracing::info!(faces = ids.iter().flatten().count(), "configuration reloaded");
    }

    /// A value set by a command stays until the file changes it.
    fn adopt_store(&mut self, forwarder: &mut Forwarder, wanted: ContentStoreConfig) {
        let before = std::mem::replace(&mut self.configured.store, wanted);
        if before.capacity != wanted.capacity {
            forwarder.set_content_store_capacity(wanted.capacity);
        }
        if before.packets != wanted.packets {
            forwarder.set_content_store_packets(wanted.packets);
        }
    }

    /// Ends the faces whose sections are gone or have changed, and makes those that are new. Gives
    /// the numbers of all, in the order of the sections.
    fn adopt_faces(
        &mut self,
        forwarder: &mut Forwarder,
        faces: &mut FaceSet,
        wanted: &[config::Face],
    ) -> Vec<Option<FaceId>> {
        let by_place: BTreeMap<String, &config::Face> =
            wanted.iter().map(|face| (face.place(), face)).collect();
        let mut kept = BTreeMap::new();
        for (id, face) in std::mem::take(&mut self.configured.faces) {
            let place = face.place();
            if by_place.get(&place) == Some(&&face) && faces.get(id).is_some() {
                kept.insert(place, id);
            } else {
                faces.close(forwarder, id, "its section is gone or has changed");
            }
        }
        let now = self.clock.now();
        let mut ids = Vec::new();
        for face in wanted {
            let id = kept.get(&face.place()).copied().or_else(|| {
                match faces.configured_face(forwarder, face, now) {
                    Ok(id) => Some(id),
                    Err(error) => {
                        tracing::error!(%error, "a new face cannot be made");
                        self.left_out.push(error.to_string());
                        None
                    }
                }
            });
            self.configured.faces.extend(id.map(|id| (id, face.clone())));
            ids.push(id);
        }
        ids
    }

    /// Routes of the configuration alone: what applications and tools have registered stays.
    fn adopt_routes(
        &mut self,
        forwarder: &mut Forwarder,
        wanted: &[config::Route],
        ids: &[Option<FaceId>],
    ) {
        let mut routes = Vec::new();
        for route in wanted {
            if let Some(face) = ids[route.face] {
                let prefix = route.prefix.clone();
                routes.push(StaticRoute { prefix, face, cost: route.cost });
            }
        }
        let before = std::mem::take(&mut self.configured.routes);
        let (was, is): (BTreeSet<_>, BTreeSet<_>) =
            (before.iter().collect(), routes.iter().collect());
        for StaticRoute { prefix, face, .. } in was.difference(&is) {
            let key = RouteKey { face: *face, origin: ORIGIN_STATIC };
            self.management.rib().remove(forwarder, prefix, key);
        }
        for route in routes.clone() {
            if was.contains(&route) || self.configured_route(forwarder, &route).is_ok() {
                self.configured.routes.push(route);
            } else {
                tracing::error!(prefix = %route.prefix, "no room for a new route");
                self.left_out.push(format!("no room for the route of {}", route.prefix));
            }
        }
    }

    /// Makes a route of the configuration.
    fn configured_route(
        &mut self,
        forwarder: &mut Forwarder,
        route: &StaticRoute,
    ) -> Result<(), DaemonError> {
        let StaticRoute { prefix, face, cost } = route;
        let key = RouteKey { face: *face, origin: ORIGIN_STATIC };
        // No CHILD_INHERIT: the file states the routes of longer prefixes, too.
        let entry = Route { cost: *cost, flags: 0, expires: None };
        let added = self.management.rib().add(forwarder, prefix, key, entry);
        added.map_err(DaemonError::table(prefix))
    }

    /// Strategies that are as they were keep what they have learned.
    fn adopt_strategies(&mut self, forwarder: &mut Forwarder, wanted: &[config::Strategy]) {
        let before = std::mem::take(&mut self.configured.strategies);
        for gone in before.iter().filter(|b| wanted.iter().all(|w| w.prefix != b.prefix)) {
            self.management.strategies().remove(&gone.prefix);
            if gone.prefix.is_empty() {
                self.choose(forwarder, &gone.prefix, &applied::root_choice());
            } else {
                forwarder.unset_strategy(gone.prefix.as_ref());
            }
        }
        for new in wanted {
            let old = before.iter().find(|b| b.prefix == new.prefix);
            let is_same = old.is_some_and(|old| old.choice == new.choice);
            let is_chosen = is_same || self.choose(forwarder, &new.prefix, &new.choice);
            // One that cannot be chosen is tried again at the next time.
            let current = if is_chosen { Some(new) } else { old };
            self.configured.strategies.extend(current.cloned());
        }
    }

    /// True if the strategy is chosen now.
    fn choose(
        &mut self,
        forwarder: &mut Forwarder,
        prefix: &Name,
        choice: &schemes::Choice,
    ) -> bool {
        let chosen = self.management.strategies();
        let outcome = applied::choose(forwarder, chosen, prefix, choice);
        if let Err(error) = &outcome {
            tracing::error!(%error, "previous strategy kept");
            self.left_out.push(error.to_string());
        }
        outcome.is_ok()
    }
}
