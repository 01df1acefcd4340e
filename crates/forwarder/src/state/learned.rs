//! Routes that strategies have learned and that wait for the driver.

use crate::tables::FaceId;
use bytes::Bytes;
use control::Duration;
use packet::Name;
use std::collections::VecDeque;

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
    Withdrawn {
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
