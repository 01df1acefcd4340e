//! Routes that strategies learn from packets and announce.

use bytes::Bytes;
use control::{Action, Duration};
use packet::options::PREFIX_ANNOUNCEMENT;
use packet::{HopOptions, Name, NameRef};
use std::collections::VecDeque;

use super::Pipeline;
use crate::tables::FaceId;

/// Learned routes that wait for the driver. Further ones are dropped; the next packet brings them
/// again.
const MOST_LEARNED: usize = 64;

/// A change of routes that a strategy has learned and the driver is to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearnedRoute {
    /// Data brought an announcement: a route to the face that it came by.
    Announced {
        /// The face.
        face: FaceId,
        /// The announcement, a Data packet that has not been verified.
        announcement: Bytes,
        /// How long the route may live at most.
        longest: Duration,
    },
    /// The other end of the face has no route for the name any more.
    Refused {
        /// The face.
        face: FaceId,
        /// The name.
        name: Name,
    },
}

/// Learned routes that wait for the driver.
#[derive(Debug, Default)]
pub(crate) struct LearnedRoutes(VecDeque<LearnedRoute>);

impl LearnedRoutes {
    pub(crate) fn push(&mut self, route: LearnedRoute) {
        if self.0.len() < MOST_LEARNED {
            self.0.push_back(route);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<LearnedRoute> {
        self.0.pop_front()
    }
}

/// Applies the strategy's actions about Data from a face. Returns for how long the entry lingers
/// for further Data, if it does.
pub(super) fn apply(
    p: &mut Pipeline<'_>,
    face: FaceId,
    name: NameRef<'_>,
    options: &mut HopOptions,
) -> Option<Duration> {
    let mut linger = None;
    for action in p.tables.strategies().actions() {
        match *action {
            Action::Linger(time) => linger = Some(time),
            Action::Learn(longest) => {
                let bytes = options.get_raw(PREFIX_ANNOUNCEMENT);
                if let Some(announcement) = bytes.map(Bytes::copy_from_slice) {
                    p.learned.push(LearnedRoute::Announced { face, announcement, longest });
                }
            }
            Action::Announce => {
                if let Some(known) = p.tables.announcement(name) {
                    options.set_raw(PREFIX_ANNOUNCEMENT, known);
                }
            }
            _ => {}
        }
    }
    linger
}
