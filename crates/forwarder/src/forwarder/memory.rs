//! The memory of a forwarder, as a driver sees and limits it.

use super::Forwarder;
use crate::config::Scope;
use crate::state::MemoryUse;
use crate::tables::FaceId;

impl Forwarder {
    /// The memory that it takes, part by part.
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        self.faces.memory(&self.tables)
    }

    /// Changes the memory limit. The content store shrinks to it at once, everything else over
    /// time.
    pub fn set_memory_limit(&mut self, bytes: usize) {
        self.faces.set_memory_limit(bytes, &mut self.tables);
    }

    /// Sets the bytes that the driver holds for a face, besides those of its configuration: frames
    /// accepted and not sent yet, for instance.
    pub fn set_outside(&mut self, id: FaceId, bytes: usize) {
        self.faces.set_outside(id, bytes);
    }

    /// Sets the bytes that the driver holds for no face.
    pub fn set_driver_memory(&mut self, bytes: usize) {
        self.faces.set_driver_memory(bytes);
    }

    /// True if a memory limit is set, so that memory is counted.
    #[must_use]
    pub fn counts_memory(&self) -> bool {
        self.faces.counts_memory()
    }

    /// True if there is no memory limit or far more memory than is used, so that nothing has to be
    /// saved.
    #[must_use]
    pub fn has_ample_memory(&self) -> bool {
        self.faces.has_ample_memory()
    }

    /// True if one more route fits into memory for which the driver holds `outside` bytes. A denial
    /// is counted.
    pub fn has_room_for_route(&mut self, outside: usize) -> bool {
        self.faces.has_room_for_route(outside, &mut self.tables)
    }

    /// True if one more face of this scope fits into memory for which the driver holds `outside`
    /// bytes. A denial is counted. Remote faces may use at most half of the face memory; the rest
    /// is reserved for local applications.
    pub fn has_room_for_face(&mut self, scope: Scope, outside: usize) -> bool {
        self.faces.has_room_for_face(scope, outside, &mut self.tables)
    }
}
