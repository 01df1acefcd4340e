//! Routes by origin, and the FIB's next hops computed from them.
//!
//! Of the routes for a prefix to one face, the cheapest counts. A prefix with routes inherits those
//! of shorter prefixes that have the flag ChildInherit, for faces to which it has no route of its
//! own; the nearest prefix counts. A prefix with a Capture route inherits nothing, and passes on
//! only its own routes.

use control::Time;
use forwarder::tables::fib::FibError;
use forwarder::tables::memory;
use forwarder::{FaceId, Forwarder};
use packet::{Name, NameRef};
use std::collections::{BTreeMap, BTreeSet};

/// Origin of routes that an application registers for itself.
pub const ORIGIN_APPLICATION: u64 = 0;
/// Origin of routes by a prefix announcement.
pub const ORIGIN_ANNOUNCEMENT: u64 = 129;
/// Origin of routes from the configuration.
pub const ORIGIN_STATIC: u64 = 255;
/// Route flag: more specific prefixes have the route, too.
pub const CHILD_INHERIT: u64 = 1;
/// Route flag: the prefix has no routes of shorter ones.
pub const CAPTURE: u64 = 2;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its cost.
    pub cost: u64,
    /// [`CHILD_INHERIT`] and [`CAPTURE`]; other flags are kept and reported unchanged.
    pub flags: u64,
    /// The time of its expiry.
    pub expires: Option<Time>,
}

/// The routes of a prefix differ in these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteKey {
    /// The outgoing face.
    pub face: FaceId,
    /// The creator, as NFD numbers them: [`ORIGIN_APPLICATION`] and others.
    pub origin: u64,
}

/// The cost of each face.
type Hops = BTreeMap<FaceId, u64>;

/// A prefix with routes.
#[derive(Clone, Debug, Default)]
struct Entry {
    routes: BTreeMap<RouteKey, Route>,
    /// The next hops that the FIB has.
    hops: Vec<(FaceId, u64)>,
}

impl Entry {
    /// The cheapest route of each face among those with all of `flags`.
    fn cheapest(&self, flags: u64) -> Hops {
        let mut hops = Hops::new();
        for (key, route) in self.routes.iter().filter(|(_, r)| r.flags & flags == flags) {
            let cost = hops.entry(key.face).or_insert(route.cost);
            *cost = route.cost.min(*cost);
        }
        hops
    }

    fn captures(&self) -> bool {
        self.routes.values().any(|route| route.flags & CAPTURE != 0)
    }

    /// The part that longer prefixes inherit.
    fn passed_on(&self) -> (Hops, bool) {
        (self.cheapest(CHILD_INHERIT), self.captures())
    }
}

/// The routing information base.
#[derive(Clone, Debug, Default)]
pub struct Rib {
    entries: BTreeMap<Name, Entry>,
    /// Prefixes of each face, once for each origin.
    by_face: BTreeMap<FaceId, BTreeSet<(Name, u64)>>,
    expiries: BTreeSet<(Time, Name, RouteKey)>,
    /// Bytes of memory held.
    memory: usize,
}

/// Bytes of memory that a route takes: its places in trees that are half full, the name in each,
/// and its next hop in the FIB.
fn bytes(prefix: &Name) -> usize {
    832 + 3 * memory::block(prefix.as_ref().as_bytes().len())
}

impl Rib {
    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Every prefix with its routes, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &BTreeMap<RouteKey, Route>)> {
        self.entries.iter().map(|(prefix, entry)| (prefix, &entry.routes))
    }

    /// The number of routes of a face.
    #[must_use]
    pub fn routes_of(&self, face: FaceId) -> usize {
        self.by_face.get(&face).map_or(0, BTreeSet::len)
    }

    /// True if the route exists.
    #[must_use]
    pub fn has(&self, prefix: &Name, key: RouteKey) -> bool {
        self.entries.get(prefix).is_some_and(|entry| entry.routes.contains_key(&key))
    }

    /// True if the prefix has a route of this origin.
    #[must_use]
    pub fn has_origin(&self, prefix: &Name, origin: u64) -> bool {
        let entry = self.entries.get(prefix);
        entry.is_some_and(|entry| entry.routes.keys().any(|key| key.origin == origin))
    }

    /// The faces of applications that have registered this name, or a prefix of it other than `/`,
    /// for themselves.
    pub fn applications_at<'r>(&'r self, name: NameRef<'r>) -> impl Iterator<Item = FaceId> + 'r {
        let prefixes = (1..=name.len()).map(move |length| name.prefix(length).to_name());
        let entries = prefixes.filter_map(|prefix| self.entries.get(&prefix));
        let routes = entries.flat_map(|entry| entry.routes.keys());
        routes.filter(|key| key.origin != ORIGIN_STATIC).map(|key| key.face)
    }

    /// Adds a route or changes it.
    ///
    /// # Errors
    /// The FIB rejects it; then the routes are unchanged.
    pub fn add(
        &mut self,
        forwarder: &mut Forwarder,
        prefix: &Name,
        key: RouteKey,
        route: Route,
    ) -> Result<(), FibError> {
        if !self.has(prefix, key) && !forwarder.has_room_for_route(bytes(prefix)) {
            return Err(FibError::Memory);
        }
        let known = self.entries.get(prefix);
        if !known.is_some_and(|entry| entry.hops.iter().any(|(face, _)| *face == key.face)) {
            forwarder.add_route(key.face, prefix.as_ref(), route.cost)?;
        }
        let before = known.map(Entry::passed_on).unwrap_or_default();
        let entry = self.entries.entry(prefix.clone()).or_default();
        let old = entry.routes.insert(key, route);
        let is_passed_on = entry.passed_on() != before;
        self.memory += if old.is_none() { bytes(prefix) } else { 0 };
        if let Some(at) = old.and_then(|r| r.expires) {
            self.expiries.remove(&(at, prefix.clone(), key));
        }
        if let Some(at) = route.expires {
            self.expiries.insert((at, prefix.clone(), key));
        }
        self.by_face.entry(key.face).or_default().insert((prefix.clone(), key.origin));
        self.spread(forwarder, prefix, is_passed_on);
        Ok(())
    }

    /// Removes a route; returns true if it existed.
    pub fn remove(&mut self, forwarder: &mut Forwarder, prefix: &Name, key: RouteKey) -> bool {
        let Some(entry) = self.entries.get_mut(prefix) else { return false };
        let before = entry.passed_on();
        let Some(route) = entry.routes.remove(&key) else { return false };
        let is_passed_on = entry.passed_on() != before;
        if entry.routes.is_empty()
            && let Some(entry) = self.entries.remove(prefix)
        {
            for (face, _) in entry.hops {
                forwarder.remove_route(face, prefix.as_ref());
            }
        }
        self.memory -= bytes(prefix);
        if let Some(at) = route.expires {
            self.expiries.remove(&(at, prefix.clone(), key));
        }
        if let Some(of_face) = self.by_face.get_mut(&key.face) {
            of_face.remove(&(prefix.clone(), key.origin));
            if of_face.is_empty() {
                self.by_face.remove(&key.face);
            }
        }
        self.spread(forwarder, prefix, is_passed_on);
        true
    }

    /// Updates the FIB for a prefix's routes, and for those that longer prefixes inherit if they
    /// have changed.
    fn spread(&mut self, forwarder: &mut Forwarder, prefix: &Name, below: bool) {
        if !below {
            return self.refresh(forwarder, prefix);
        }
        let from_here = self.entries.range(prefix.clone()..).map(|(name, _)| name);
        let below = from_here.take_while(|name| name.as_ref().starts_with(prefix.as_ref()));
        let names: Vec<Name> = below.cloned().collect();
        names.iter().for_each(|name| self.refresh(forwarder, name));
    }

    fn refresh(&mut self, forwarder: &mut Forwarder, prefix: &Name) {
        let hops = self.hops(prefix.as_ref());
        let Some(entry) = self.entries.get_mut(prefix) else { return };
        for (face, _) in entry.hops.iter().filter(|(face, _)| !hops.contains_key(face)) {
            forwarder.remove_route(*face, prefix.as_ref());
        }
        let before = std::mem::take(&mut entry.hops);
        for (face, cost) in hops {
            if !before.contains(&(face, cost))
                && let Err(error) = forwarder.add_route(face, prefix.as_ref(), cost)
            {
                tracing::warn!(%prefix, %face, %error, "a route is not inherited");
            } else {
                entry.hops.push((face, cost));
            }
        }
    }

    /// The next hops of a prefix with routes.
    fn hops(&self, prefix: NameRef<'_>) -> Hops {
        let Some(entry) = self.entries.get(&prefix.to_name()) else { return Hops::new() };
        let (mut hops, mut captured) = (entry.cheapest(0), entry.captures());
        for length in (0..prefix.len()).rev() {
            if captured {
                break;
            }
            let Some(above) = self.entries.get(&prefix.prefix(length).to_name()) else { continue };
            for (face, cost) in above.cheapest(CHILD_INHERIT) {
                hops.entry(face).or_insert(cost);
            }
            captured = above.captures();
        }
        hops
    }

    /// The face is gone, and its routes with it.
    pub fn face_gone(&mut self, forwarder: &mut Forwarder, face: FaceId) {
        let routes = self.by_face.get(&face).into_iter().flatten();
        for (prefix, origin) in routes.cloned().collect::<Vec<_>>() {
            self.remove(forwarder, &prefix, RouteKey { face, origin });
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
            tracing::info!(%prefix, face = %key.face, origin = key.origin, "route expired");
            self.remove(forwarder, &prefix, key);
            // An expiry without a route must not block the loop.
            self.expiries.remove(&(at, prefix, key));
        }
    }
}

#[cfg(test)]
mod tests;
