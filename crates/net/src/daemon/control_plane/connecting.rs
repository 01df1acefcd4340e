//! Faces that commands have asked for and that are not connected yet.

use crate::management::orders::Order;
use control::Time;
use forwarder::FaceId;

/// A face that a command waits for.
#[derive(Debug)]
pub(super) struct Connecting {
    pub face: FaceId,
    pub order: Order,
    pub until: Time,
}
