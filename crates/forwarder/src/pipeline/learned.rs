//! What strategies learn from packets and what they teach, besides where Interests go.

use bytes::Bytes;
use control::{Action, Duration};
use packet::options::PREFIX_ANNOUNCEMENT;
use packet::{HopOptions, Name, NameRef};

use crate::forwarder::Forwarder;
use crate::tables::FaceId;
use crate::tables::PrefixTooDeep;

/// Learned routes that wait for the driver. Further ones are dropped; the next packet brings them
/// again.
const MOST_LEARNED: usize = 64;

/// What a strategy has learned and the driver is to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearnedRoute {
    /// Data brought an announcement: a route to the face that they came by.
    Announced {
        /// The face.
        face: FaceId,
        /// The announcement, a Data packet that nobody has verified.
        announcement: Bytes,
        /// How long the route may live at most.
        longest: Duration,
    },
    /// Whoever is behind the face has no route for the name any more.
    Refused {
        /// The face.
        face: FaceId,
        /// The name.
        name: Name,
    },
}

impl Forwarder {
    /// What a strategy has learned since; to be asked after each call that hands in a packet.
    pub fn poll_learned_route(&mut self) -> Option<LearnedRoute> {
        self.learned.pop_front()
    }

    /// Knows an announcement of a prefix from now on, to be handed to neighbours that make
    /// discoveries, or knows it no longer.
    ///
    /// # Errors
    /// The prefix is too deep.
    pub fn set_announcement(
        &mut self,
        prefix: NameRef<'_>,
        announcement: Option<Bytes>,
    ) -> Result<(), PrefixTooDeep> {
        let name = self.hasher.hash(prefix);
        match announcement {
            Some(bytes) => self.announcements.insert(&name, bytes).map(drop),
            None => {
                self.announcements.remove(&name);
                Ok(())
            }
        }
    }

    /// Does what a strategy wants that was told of Data from a face; how long it wants to hear of
    /// more.
    pub(super) fn heed(
        &mut self,
        face: FaceId,
        name: NameRef<'_>,
        options: &mut HopOptions,
    ) -> Option<Duration> {
        let mut linger = None;
        for number in 0..self.scratch.actions.len() {
            match self.scratch.actions[number] {
                Action::Linger(time) => linger = Some(time),
                Action::Learn(longest) => {
                    let bytes = options.get_raw(PREFIX_ANNOUNCEMENT);
                    if let Some(announcement) = bytes.map(Bytes::copy_from_slice) {
                        self.teach(LearnedRoute::Announced { face, announcement, longest });
                    }
                }
                Action::Announce => {
                    let name = self.hasher.hash(name);
                    if let Some((_, known)) = self.announcements.longest_match(&name) {
                        options.set_raw(PREFIX_ANNOUNCEMENT, known);
                    }
                }
                _ => {}
            }
        }
        linger
    }

    pub(super) fn teach(&mut self, learned_route: LearnedRoute) {
        if self.learned.len() < MOST_LEARNED {
            self.learned.push_back(learned_route);
        }
    }
}
