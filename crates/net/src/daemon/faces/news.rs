//! Reports of faces to the control plane.

use crate::management::{FaceEvent, FaceInfo};

/// A face came, went, or changed its state.
#[derive(Debug)]
pub(in crate::daemon) struct News {
    pub event: FaceEvent,
    pub face: FaceInfo,
}
