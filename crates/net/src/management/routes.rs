//! The commands of the modules `rib` and `fib`.

use super::announcement::Announcement;
use super::command::Arrival;
use super::names::is_reserved;
use super::parameters::ControlParameters;
use super::response::ControlResponse;
use super::rib::{
    CAPTURE, CHILD_INHERIT, ORIGIN_ANNOUNCEMENT, ORIGIN_APPLICATION, Rib, Route, RouteKey,
};
use control::Duration;
use forwarder::tables::fib::{Added, FibError};
use forwarder::{FaceId, Forwarder};
use packet::Name;

/// The cost of a route by a prefix announcement: other routes are preferred (NFD's number).
pub(super) const ANNOUNCED_COST: u64 = 2048;

/// The time and the face of a command's arrival, and its limits.
pub(super) struct RouteCommand {
    pub arrival: Arrival,
    /// Routes that a face may have.
    pub per_face: usize,
    /// The command is another user's: its routes hold for their own prefix, and are not inherited
    /// by longer ones, which may be the names of others.
    pub is_bounded: bool,
}

/// The state that a command of these modules changes.
pub(super) struct Routes<'a> {
    forwarder: &'a mut Forwarder,
    rib: &'a mut Rib,
    command: RouteCommand,
}

impl<'a> Routes<'a> {
    pub fn new(forwarder: &'a mut Forwarder, rib: &'a mut Rib, command: RouteCommand) -> Self {
        Routes { forwarder, rib, command }
    }

    /// A command of the module `rib`, but for `rib/announce`.
    pub fn rib(&mut self, verb: &[u8], asked: &ControlParameters) -> ControlResponse {
        match verb {
            b"register" => self.register(asked),
            b"unregister" => self.unregister(asked),
            _ => ControlResponse::unsupported(),
        }
    }

    /// A command of the module `fib`.
    pub fn fib(&mut self, verb: &[u8], asked: &ControlParameters) -> ControlResponse {
        match verb {
            b"add-nexthop" => self.add_next_hop(asked),
            b"remove-nexthop" => self.remove_next_hop(asked),
            _ => ControlResponse::unsupported(),
        }
    }

    /// The flags of a new route. A limited command cannot set `CHILD_INHERIT` or `CAPTURE`.
    fn flags(&self, asked: u64) -> u64 {
        if self.command.is_bounded { asked & !(CHILD_INHERIT | CAPTURE) } else { asked }
    }

    /// `rib/register`
    fn register(&mut self, asked: &ControlParameters) -> ControlResponse {
        let Some(prefix) = &asked.name else { return missing_name(asked) };
        let face = self.face(asked);
        let origin = asked.origin.unwrap_or(ORIGIN_APPLICATION);
        let period = asked.expiration_ms.filter(|ms| *ms < u64::MAX).map(Duration::from_millis);
        let route = Route {
            cost: asked.cost.unwrap_or(0),
            flags: self.flags(asked.flags.unwrap_or(CHILD_INHERIT)),
            expires: period.map(|period| self.command.arrival.now + period),
        };
        if let Some(rejection) = self.add(prefix, RouteKey { face, origin }, route, asked) {
            return rejection;
        }
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

    /// `rib/announce`: a route by an announcement that the producer has signed.
    pub fn announce(&mut self, bytes: &[u8]) -> ControlResponse {
        let none = ControlParameters::default();
        let announcement = match Announcement::read(bytes, self.command.arrival.wall_ms) {
            Ok(announcement) => announcement,
            Err(rejection) => {
                return ControlResponse::new(rejection.code(), rejection.to_string(), none);
            }
        };
        let route = Route {
            cost: ANNOUNCED_COST,
            flags: self.flags(CHILD_INHERIT),
            expires: Some(
                self.command.arrival.now + Duration::from_millis(announcement.expires_in_ms),
            ),
        };
        let key = RouteKey { face: self.command.arrival.from, origin: ORIGIN_ANNOUNCEMENT };
        if let Some(rejection) = self.add(&announcement.prefix, key, route, &none) {
            return rejection;
        }
        let body = ControlParameters {
            name: Some(announcement.prefix),
            face_id: Some(self.command.arrival.from.0),
            origin: Some(ORIGIN_ANNOUNCEMENT),
            cost: Some(route.cost),
            flags: Some(route.flags),
            expiration_ms: Some(announcement.expires_in_ms),
            ..none
        };
        ControlResponse::new(200, "Success", body)
    }

    /// Adds a route. A rejection reports `asked`.
    fn add(
        &mut self,
        prefix: &Name,
        key: RouteKey,
        route: Route,
        asked: &ControlParameters,
    ) -> Option<ControlResponse> {
        let RouteKey { face, origin } = key;
        if let Some(rejection) = self.unusable(prefix, face, asked) {
            return Some(rejection);
        }
        if !self.rib.has(prefix, key) && self.rib.routes_of(face) >= self.command.per_face {
            return Some(self.too_many(face, asked));
        }
        if route.expires.is_some_and(|at| at <= self.command.arrival.now) {
            // The route has expired already. It also replaces an older one, which is removed.
            self.rib.remove(self.forwarder, prefix, key);
            return None;
        }
        match self.rib.add(self.forwarder, prefix, key, route) {
            Ok(()) => {
                let Route { cost, flags, .. } = route;
                tracing::debug!(%prefix, %face, origin, cost, flags, "route registered");
                None
            }
            Err(error) => Some(fib_rejection(error, asked)),
        }
    }

    /// `rib/unregister`; removing a missing route is a success, too.
    fn unregister(&mut self, asked: &ControlParameters) -> ControlResponse {
        let Some(prefix) = &asked.name else { return missing_name(asked) };
        let face = self.face(asked);
        let origin = asked.origin.unwrap_or(ORIGIN_APPLICATION);
        if self.rib.remove(self.forwarder, prefix, RouteKey { face, origin }) {
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

    /// `fib/add-nexthop`: a next hop that no route accounts for.
    fn add_next_hop(&mut self, asked: &ControlParameters) -> ControlResponse {
        let Some(prefix) = &asked.name else { return missing_name(asked) };
        let (face, cost) = (self.face(asked), asked.cost.unwrap_or(0));
        if let Some(rejection) = self.unusable(prefix, face, asked) {
            return rejection;
        }
        match self.forwarder.add_route(face, prefix.as_ref(), cost) {
            Ok(Added::New) if self.forwarder.fib().routes_of(face) > self.command.per_face => {
                self.forwarder.remove_route(face, prefix.as_ref());
                return self.too_many(face, asked);
            }
            Ok(_) => {}
            Err(error) => return fib_rejection(error, asked),
        }
        let body = ControlParameters {
            name: Some(prefix.clone()),
            face_id: Some(face.0),
            cost: Some(cost),
            ..ControlParameters::default()
        };
        ControlResponse::new(200, "Success", body)
    }

    /// `fib/remove-nexthop`; removing a missing next hop is a success, too.
    fn remove_next_hop(&mut self, asked: &ControlParameters) -> ControlResponse {
        let Some(prefix) = &asked.name else { return missing_name(asked) };
        let face = self.face(asked);
        if is_reserved(prefix.as_ref()) {
            return reserved(prefix, asked);
        }
        self.forwarder.remove_route(face, prefix.as_ref());
        let body = ControlParameters {
            name: Some(prefix.clone()),
            face_id: Some(face.0),
            ..ControlParameters::default()
        };
        ControlResponse::new(200, "Success", body)
    }

    /// The face of the command: by its number, or that of its arrival.
    fn face(&self, asked: &ControlParameters) -> FaceId {
        asked.face_id.filter(|id| *id != 0).map_or(self.command.arrival.from, FaceId)
    }

    fn too_many(&self, face: FaceId, asked: &ControlParameters) -> ControlResponse {
        let text = format!("face {face} has {} routes, its limit", self.command.per_face);
        ControlResponse::new(403, text, asked.clone())
    }

    /// The reason why the face cannot be a next hop of this prefix.
    fn unusable(
        &self,
        prefix: &Name,
        face: FaceId,
        asked: &ControlParameters,
    ) -> Option<ControlResponse> {
        if self.forwarder.counters(face).is_none() {
            let text = format!("there is no face {face}");
            return Some(ControlResponse::new(410, text, asked.clone()));
        }
        is_reserved(prefix.as_ref()).then(|| reserved(prefix, asked))
    }
}

fn missing_name(asked: &ControlParameters) -> ControlResponse {
    ControlResponse::new(400, "the command needs a Name", asked.clone())
}

fn reserved(prefix: &Name, asked: &ControlParameters) -> ControlResponse {
    ControlResponse::new(403, format!("{prefix} belongs to the forwarder"), asked.clone())
}

fn fib_rejection(error: FibError, asked: &ControlParameters) -> ControlResponse {
    let code = match error {
        FibError::TooDeep(_) => 414,
        FibError::Full { .. } | FibError::Memory => 500,
    };
    ControlResponse::new(code, error.to_string(), asked.clone())
}
