//! Routes by who made them. The FIB holds, for each prefix and face, the cheapest of them.

use super::is_reserved;
use super::parameters::ControlParameters;
use super::response::ControlResponse;
use control::{Duration, Time};
use forwarder::tables::fib::FibError;
use forwarder::tables::memory;
use forwarder::{FaceId, Forwarder};
use packet::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Origin of routes that an application registers for itself.
pub const ORIGIN_APPLICATION: u64 = 0;
/// Origin of routes by a prefix announcement.
pub const ORIGIN_ANNOUNCEMENT: u64 = 129;
/// Origin of routes from the configuration.
pub const ORIGIN_STATIC: u64 = 255;
/// Route flag: more specific prefixes have the route, too.
pub const CHILD_INHERIT: u64 = 1;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its cost.
    pub cost: u64,
    /// ChildInherit and Capture, kept and told as they were given.
    pub flags: u64,
    /// When it goes.
    pub expires: Option<Time>,
}

/// Who made a route, and by which face it leaves.
pub type RouteKey = (FaceId, u64);

/// The routing information base.
#[derive(Clone, Debug)]
pub struct Rib {
    routes: BTreeMap<Name, BTreeMap<RouteKey, Route>>,
    /// Prefixes of each face, once for each origin.
    by_face: BTreeMap<FaceId, BTreeSet<(Name, u64)>>,
    expiries: BTreeSet<(Time, Name, RouteKey)>,
    per_face: usize,
    /// Octets of memory held.
    memory: usize,
}

/// Octets of memory that a route takes: its places in trees that are half full, the name in each.
fn octets(prefix: &Name) -> usize {
    768 + 3 * memory::block(prefix.as_ref().as_bytes().len())
}

impl Rib {
    /// An empty RIB in which a face may have `per_face` routes.
    #[must_use]
    pub fn new(per_face: usize) -> Rib {
        Rib {
            routes: BTreeMap::new(),
            by_face: BTreeMap::new(),
            expiries: BTreeSet::new(),
            per_face,
            memory: 0,
        }
    }

    /// Octets of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Every prefix with its routes, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &BTreeMap<RouteKey, Route>)> {
        self.routes.iter()
    }

    /// Whether the prefix has a route of this origin.
    #[must_use]
    pub fn has_origin(&self, prefix: &Name, origin: u64) -> bool {
        let routes = self.routes.get(prefix);
        routes.is_some_and(|routes| routes.keys().any(|(_, of)| *of == origin))
    }

    /// Adds a route or changes it.
    ///
    /// # Errors
    /// The FIB refuses it; nothing is changed then.
    pub fn add(
        &mut self,
        forwarder: &mut Forwarder,
        prefix: &Name,
        key: RouteKey,
        route: Route,
    ) -> Result<(), FibError> {
        let known = self.routes.get(prefix);
        let is_new = known.is_none_or(|routes| !routes.contains_key(&key));
        if is_new && !forwarder.has_room_for_route(octets(prefix)) {
            return Err(FibError::Memory);
        }
        let others = known.into_iter().flatten().filter(|(k, _)| k.0 == key.0 && **k != key);
        let cost = others.map(|(_, r)| r.cost).chain([route.cost]).min().unwrap_or(route.cost);
        forwarder.add_route(key.0, prefix.as_ref(), cost)?;
        let old = self.routes.entry(prefix.clone()).or_default().insert(key, route);
        self.memory += if old.is_none() { octets(prefix) } else { 0 };
        if let Some(at) = old.and_then(|r| r.expires) {
            self.expiries.remove(&(at, prefix.clone(), key));
        }
        if let Some(at) = route.expires {
            self.expiries.insert((at, prefix.clone(), key));
        }
        self.by_face.entry(key.0).or_default().insert((prefix.clone(), key.1));
        Ok(())
    }

    /// Removes a route; says whether it was there.
    pub fn remove(&mut self, forwarder: &mut Forwarder, prefix: &Name, key: RouteKey) -> bool {
        let Some(routes) = self.routes.get_mut(prefix) else { return false };
        let Some(route) = routes.remove(&key) else { return false };
        self.memory -= octets(prefix);
        let left = routes.iter().filter(|(k, _)| k.0 == key.0).map(|(_, r)| r.cost).min();
        if routes.is_empty() {
            self.routes.remove(prefix);
        }
        if let Some(at) = route.expires {
            self.expiries.remove(&(at, prefix.clone(), key));
        }
        if let Some(of_face) = self.by_face.get_mut(&key.0) {
            of_face.remove(&(prefix.clone(), key.1));
            if of_face.is_empty() {
                self.by_face.remove(&key.0);
            }
        }
        match left {
            // The prefix is in the FIB already, so there is room for it.
            Some(cost) => drop(forwarder.add_route(key.0, prefix.as_ref(), cost)),
            None => drop(forwarder.remove_route(key.0, prefix.as_ref())),
        }
        true
    }

    /// The face is gone; the forwarder has removed its routes from the FIB itself.
    pub fn face_gone(&mut self, face: FaceId) {
        for (prefix, origin) in self.by_face.remove(&face).unwrap_or_default() {
            let Some(routes) = self.routes.get_mut(&prefix) else { continue };
            let route = routes.remove(&(face, origin));
            self.memory -= if route.is_some() { octets(&prefix) } else { 0 };
            if routes.is_empty() {
                self.routes.remove(&prefix);
            }
            if let Some(at) = route.and_then(|r| r.expires) {
                self.expiries.remove(&(at, prefix, (face, origin)));
            }
        }
    }

    /// When the next route expires.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        self.expiries.first().map(|(at, ..)| *at)
    }

    /// Removes the routes that have expired.
    pub fn expire(&mut self, forwarder: &mut Forwarder, now: Time) {
        while let Some((at, prefix, key)) = self.expiries.first().cloned() {
            if at > now {
                return;
            }
            self.remove(forwarder, &prefix, key);
            // A route that is not there any more must not keep the loop.
            self.expiries.remove(&(at, prefix, key));
        }
    }

    /// The command `rib/register` from face `from`.
    pub fn register(
        &mut self,
        forwarder: &mut Forwarder,
        now: Time,
        from: FaceId,
        asked: &ControlParameters,
    ) -> ControlResponse {
        let refuse = |code, text: String| ControlResponse::new(code, text, asked.clone());
        let Some(prefix) = &asked.name else {
            return refuse(400, "rib/register needs a Name".to_owned());
        };
        let face = asked.face_id.filter(|id| *id != 0).map_or(from, FaceId);
        if forwarder.counters(face).is_none() {
            return refuse(410, format!("there is no face {face}"));
        }
        if is_reserved(prefix.as_ref()) {
            return refuse(403, format!("{prefix} belongs to the forwarder"));
        }
        let origin = asked.origin.unwrap_or(ORIGIN_APPLICATION);
        let has = self.by_face.get(&face);
        let known = has.is_some_and(|routes| routes.contains(&(prefix.clone(), origin)));
        if !known && has.map_or(0, BTreeSet::len) >= self.per_face {
            return refuse(403, format!("face {face} has {} routes, its limit", self.per_face));
        }
        let route = Route {
            cost: asked.cost.unwrap_or(0),
            flags: asked.flags.unwrap_or(CHILD_INHERIT),
            expires: asked.expiration_ms.map(|ms| now + Duration::from_millis(ms)),
        };
        match self.add(forwarder, prefix, (face, origin), route) {
            Ok(()) => {
                tracing::debug!(%prefix, %face, origin, cost = route.cost, "route registered");
                let body = ControlParameters {
                    name: Some(prefix.clone()),
                    face_id: Some(face.0),
                    origin: Some(origin),
                    cost: Some(route.cost),
                    flags: Some(route.flags),
                    expiration_ms: asked.expiration_ms,
                    ..ControlParameters::default()
                };
                ControlResponse::new(200, "Success", body)
            }
            Err(error @ FibError::TooDeep(_)) => refuse(414, error.to_string()),
            Err(error @ (FibError::Full { .. } | FibError::Memory)) => {
                refuse(500, error.to_string())
            }
        }
    }

    /// The command `rib/unregister` from face `from`; removing what is not there is a success, too.
    pub fn unregister(
        &mut self,
        forwarder: &mut Forwarder,
        from: FaceId,
        asked: &ControlParameters,
    ) -> ControlResponse {
        let Some(prefix) = &asked.name else {
            let text = "rib/unregister needs a Name";
            return ControlResponse::new(400, text, asked.clone());
        };
        let face = asked.face_id.filter(|id| *id != 0).map_or(from, FaceId);
        let origin = asked.origin.unwrap_or(ORIGIN_APPLICATION);
        if self.remove(forwarder, prefix, (face, origin)) {
            tracing::debug!(%prefix, %face, origin, "route unregistered");
        }
        let body = ControlParameters {
            name: Some(prefix.clone()),
            face_id: Some(face.0),
            origin: Some(origin),
            ..ControlParameters::default()
        };
        ControlResponse::new(200, "Success", body)
    }
}
