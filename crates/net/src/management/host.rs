//! The services of the daemon for management.

use super::authority::Account;
use super::face_info::FaceInfo;
use forwarder::{FaceId, Forwarder};

/// The services of the daemon that management needs for a call.
pub struct Host<'a> {
    /// The forwarder.
    pub forwarder: &'a mut Forwarder,
    /// The faces, in the order of their numbers, without the internal one.
    pub faces: &'a dyn Fn(&Forwarder) -> Vec<FaceInfo>,
    /// The listening addresses, as face URIs.
    pub channels: &'a [String],
    /// The user whose program is at the other end of a face; `None` if unknown.
    pub account: &'a dyn Fn(FaceId) -> Option<Account>,
}
