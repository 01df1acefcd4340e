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

    /// Changes what all of it may be together, where that is limited. What is beyond goes by and
    /// by, the content store's at once.
    pub fn set_memory_limit(&mut self, bytes: usize) {
        self.faces.set_memory_limit(bytes, &mut self.tables);
    }

    /// The driver keeps so many bytes for a face now, besides what the face was made with: frames
    /// that it took and has not sent, for instance.
    pub fn set_outside(&mut self, id: FaceId, bytes: usize) {
        self.faces.set_outside(id, bytes);
    }

    /// The driver keeps so many bytes now that are for no face.
    pub fn set_driver_memory(&mut self, bytes: usize) {
        self.faces.set_driver_memory(bytes);
    }

    /// Whether what everything takes together is counted, because it is limited.
    #[must_use]
    pub fn counts_memory(&self) -> bool {
        self.faces.counts_memory()
    }

    /// Whether there is much more memory than everything needs, or no limit: then nothing has to be
    /// saved.
    #[must_use]
    pub fn has_ample_memory(&self) -> bool {
        self.faces.has_ample_memory()
    }

    /// Whether there is memory for one more route for which the driver keeps `outside` bytes; if
    /// not, that is counted.
    pub fn has_room_for_route(&mut self, outside: usize) -> bool {
        self.faces.has_room_for_route(outside, &mut self.tables)
    }

    /// Whether there is memory for one more face of this scope for which the driver keeps `outside`
    /// bytes; if not, that is counted. Remote faces leave half of the memory for faces to this
    /// host's applications.
    pub fn has_room_for_face(&mut self, scope: Scope, outside: usize) -> bool {
        self.faces.has_room_for_face(scope, outside, &mut self.tables)
    }
}
