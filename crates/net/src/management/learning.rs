//! Routes that a strategy learns of from prefix announcements.

use super::Management;
use super::announcement::{Announcement, announced};
use super::certificates::{ReceivedAnnouncement, Waiting, What};
use super::names::is_reserved;
use super::rib::{CHILD_INHERIT, ORIGIN_ANNOUNCEMENT, Route, RouteKey};
use super::routes::ANNOUNCED_COST;
use control::{Duration, Time};
use forwarder::{FaceId, Forwarder, LearnedRoute};
use packet::{Bytes, Name};
use std::fmt::Display;

/// When an announcement was received, and on which face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub now: Time,
    /// When it came, and in milliseconds since 1970.
    pub since: Time,
    pub wall_ms: u64,
    pub face: FaceId,
    /// True if missing certificates will not come any more.
    pub is_last: bool,
}

/// The maximum number of known announcements: one neighbour must not fill the tables.
const MOST: usize = 10_000;

impl Management {
    /// Sets whether announcements add routes.
    pub fn set_accept_announcements(&mut self, accept: bool) {
        self.accepts_announcements = accept;
    }

    /// Applies a learned route, `wall_ms` milliseconds after the beginning of 1970: an announcement
    /// adds a route that expires, a Nack removes it at once.
    pub fn learn(
        &mut self,
        forwarder: &mut Forwarder,
        now: Time,
        wall_ms: u64,
        learned_route: LearnedRoute,
    ) {
        if !self.accepts_announcements {
            return;
        }
        match learned_route {
            LearnedRoute::Announced { face, announcement, longest } => {
                let reception = Reception { now, since: now, wall_ms, face, is_last: false };
                self.receive_announcement(
                    forwarder,
                    reception,
                    ReceivedAnnouncement { announcement, longest },
                );
            }
            LearnedRoute::Withdrawn { face, name } => {
                let key = RouteKey { face, origin: ORIGIN_ANNOUNCEMENT };
                let name = name.as_ref();
                let prefixes = (0..=name.len()).rev().map(|n| name.prefix(n).to_name());
                for prefix in prefixes {
                    if self.rib.remove(forwarder, &prefix, key) {
                        tracing::debug!(%prefix, %face, "learned route withdrawn");
                        break;
                    }
                }
                self.forget_announcements(forwarder);
            }
        }
    }

    /// An announcement was received: it makes a route, waits for certificates or is rejected.
    pub(super) fn receive_announcement(
        &mut self,
        forwarder: &mut Forwarder,
        reception: Reception,
        received: ReceivedAnnouncement,
    ) {
        let Reception { now, since, wall_ms, face, is_last } = reception;
        let read = match Announcement::read(&received.announcement, wall_ms) {
            Ok(read) => read,
            Err(doubt) => return note_rejected(face, &doubt),
        };
        if let Err(doubt) = self.announcers.judge(&received.announcement, wall_ms) {
            let rejected = self.wait_or_reject(forwarder, now, doubt, || Waiting {
                what: What::Announcement(received),
                from: face,
                since,
                wall_ms,
                is_last,
            });
            if let Some(rejection) = rejected {
                note_rejected(face, &rejection);
            }
            return;
        }
        let life = received.longest.min(Duration::from_millis(read.expires_in_ms));
        match self.add_learned(forwarder, &read.prefix, face, since + life) {
            Ok(()) => self.know(forwarder, &received.announcement),
            Err(why) => note_rejected(face, &why),
        }
    }

    fn add_learned(
        &mut self,
        forwarder: &mut Forwarder,
        prefix: &Name,
        face: FaceId,
        ends: Time,
    ) -> Result<(), String> {
        if is_reserved(prefix.as_ref()) {
            return Err("the prefix belongs to the forwarder".to_owned());
        }
        if !self.announced.contains(prefix) && self.announced.len() >= MOST {
            return Err("the limit of announced prefixes is reached".to_owned());
        }
        let route = Route { cost: ANNOUNCED_COST, flags: CHILD_INHERIT, expires: Some(ends) };
        let key = RouteKey { face, origin: ORIGIN_ANNOUNCEMENT };
        let added = self.rib.add(forwarder, prefix, key, route);
        added.map_err(|error| error.to_string())?;
        tracing::debug!(%prefix, %face, "route learned from an announcement");
        Ok(())
    }

    /// Neighbours that make discoveries get this announcement, while a route by it exists.
    pub(super) fn know(&mut self, forwarder: &mut Forwarder, announcement: &[u8]) {
        let Some(prefix) = announced(announcement) else { return };
        let bytes = Bytes::copy_from_slice(announcement);
        // A prefix that fits a route fits here.
        let _ = forwarder.set_announcement(prefix.as_ref(), Some(bytes));
        self.announced.insert(prefix);
    }

    /// Announcements whose routes have ended are handed on no more.
    pub(super) fn forget_announcements(&mut self, forwarder: &mut Forwarder) {
        let Management { announced, rib, .. } = self;
        announced.retain(|prefix: &Name| {
            let lives = rib.has_origin(prefix, ORIGIN_ANNOUNCEMENT);
            if !lives {
                let _ = forwarder.set_announcement(prefix.as_ref(), None);
            }
            lives
        });
    }
}

fn note_rejected(face: FaceId, why: &dyn Display) {
    let why = why.to_string();
    tracing::debug!(%face, why, "prefix announcement rejected");
}

#[cfg(test)]
mod tests {
    use super::*;
    use forwarder::{FaceConfig, ForwarderConfig};
    use packet::PrefixAnnouncement;

    struct Node {
        forwarder: Forwarder,
        management: Management,
        face: FaceId,
    }

    impl Node {
        fn new(accept: bool) -> Node {
            let strategy = schemes::Choice::named("self-learning").unwrap().strategy().unwrap();
            let mut forwarder = Forwarder::new(ForwarderConfig::new(strategy));
            let own = forwarder.add_face(Time(0), FaceConfig::default());
            let face = forwarder.add_face(Time(0), FaceConfig::default());
            let mut management = Management::new(own, 100, 0);
            management.set_accept_announcements(accept);
            Node { forwarder, management, face }
        }

        fn receive(&mut self, prefix: &str, expiration_ms: u64) {
            let prefix: Name = prefix.parse().unwrap();
            let data = PrefixAnnouncement::build(prefix.as_ref(), 1, expiration_ms);
            self.receive_bytes(data.encode_digest());
        }

        fn receive_bytes(&mut self, announcement: Bytes) {
            let (face, longest) = (self.face, Duration::from_secs(600));
            let learned_route = LearnedRoute::Announced { face, announcement, longest };
            self.management.learn(&mut self.forwarder, Time(0), 0, learned_route);
        }

        fn reject(&mut self, name: &str) {
            let learned_route =
                LearnedRoute::Withdrawn { face: self.face, name: name.parse().unwrap() };
            self.management.learn(&mut self.forwarder, Time(0), 0, learned_route);
        }

        /// Prefixes with their routes: cost, and seconds until the end.
        fn routes(&self) -> Vec<(String, u64, u64)> {
            let mut all = Vec::new();
            for (prefix, routes) in self.management.rib.iter() {
                for (key, route) in routes {
                    let origin = ORIGIN_ANNOUNCEMENT;
                    assert_eq!(*key, RouteKey { face: self.face, origin });
                    let end = route.expires.unwrap().0 / 1_000_000_000;
                    all.push((prefix.to_string(), route.cost, end));
                }
            }
            all
        }
    }

    #[test]
    fn an_announcement_is_a_route_with_an_end() {
        let mut node = Node::new(true);
        node.receive("/short", 60_000);
        node.receive("/long", 86_400_000);
        let expected = [("/long".to_owned(), 2048, 600), ("/short".to_owned(), 2048, 60)];
        assert_eq!(node.routes(), expected);
        assert_eq!(node.forwarder.fib().len(), 2);
        let at = node.management.next_deadline().unwrap();
        assert_eq!(at, Time(60_000_000_000));
        node.management.on_deadline(&mut node.forwarder, at);
        assert_eq!(node.routes(), [("/long".to_owned(), 2048, 600)]);
        assert_eq!(node.forwarder.fib().len(), 1);
        assert_eq!(node.management.announced.len(), 1);
    }

    #[test]
    fn a_rejection_ends_the_route_that_the_name_went_by() {
        let mut node = Node::new(true);
        node.receive("/a", 60_000);
        node.receive("/a/b", 60_000);
        node.reject("/a/b/c/1");
        assert_eq!(node.routes(), [("/a".to_owned(), 2048, 60)]);
        node.reject("/b");
        assert_eq!(node.routes().len(), 1);
        node.reject("/a/1");
        assert_eq!(node.routes(), []);
        assert!(node.management.announced.is_empty());
    }

    #[test]
    fn invalid_announcements_add_no_route() {
        let mut node = Node::new(false);
        node.receive("/a", 60_000);
        assert_eq!(node.routes(), [], "they are off");
        let mut node = Node::new(true);
        node.receive("/localhost/nfd", 60_000);
        node.receive("/localhost", 60_000);
        node.receive_bytes(Bytes::from_static(b"junk"));
        let prefix: Name = "/a".parse().unwrap();
        let mut damaged = PrefixAnnouncement::build(prefix.as_ref(), 1, 9).encode_digest().to_vec();
        *damaged.last_mut().unwrap() ^= 1;
        node.receive_bytes(damaged.into());
        assert_eq!(node.routes(), []);
    }

    #[test]
    fn a_signature_is_verified_where_rules_say_whose_it_has_to_be() {
        use crate::management::Host;
        use packet::{Component, LpHeader};
        use security::certificate::Issue;
        use security::trust::Schema;
        use security::{Certificate, SecretKey, Signer, Validator, Validity};
        let validity = Validity::days(0, 1);
        let key = |seed: u8, identity: &str| {
            let (secret, identity) = (SecretKey::ed25519(&[seed; 32]), identity.parse::<Name>());
            let own = Certificate::self_signed(identity.unwrap().as_ref(), &secret, validity, 1);
            let signer = Signer::Key { secret, key_locator: own.key_name() };
            (own, signer)
        };
        let (root, root_signer) = key(1, "/site");
        let (alice, signer) = key(2, "/site/alice");
        let issue = Issue { issuer: Component::generic(b"up"), validity, version: 2 };
        let alice = alice.issued(&root_signer, &issue);
        let announce = |prefix: &str| {
            let prefix: Name = prefix.parse().unwrap();
            let mut wire = Vec::new();
            signer.encode(&PrefixAnnouncement::build(prefix.as_ref(), 1, 60_000), &mut wire);
            Bytes::from(wire)
        };
        let mut node = Node::new(true);
        let validator = Validator::new(vec![root], Schema::Hierarchy);
        node.management.set_announcers(Some(std::sync::Arc::new(validator)));
        // Neither a digest nor another node's key is accepted.
        node.receive("/site/alice/a", 60_000);
        node.receive_bytes(announce("/site/bob"));
        assert!(node.management.poll_transmit(Time::ZERO).is_none());
        node.receive_bytes(announce("/site/alice/a"));
        assert_eq!(node.routes(), [], "the key is not known yet");
        assert!(node.management.poll_transmit(Time::ZERO).is_some(), "it is asked for");
        let mut frame = Vec::new();
        LpHeader::default().encode_into(alice.wire(), &mut frame);
        let Node { forwarder, management, .. } = &mut node;
        let mut host =
            Host { forwarder, faces: &|_| Vec::new(), channels: &[], account: &|_| None };
        let later = Time(1_000_000_000);
        assert!(management.receive(&mut host, later, 1000, &frame).is_none());
        assert!(management.resume(&mut host, later).is_none());
        // Its lifetime begins when it was received.
        assert_eq!(node.routes(), [("/site/alice/a".to_owned(), 2048, 60)]);
    }
}
