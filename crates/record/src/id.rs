//! Identifiers of nodes, links and flows: their numbers in the order of the network.

/// A node of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A consumer of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl NodeId {
    /// Its index in [`crate::Outcome::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The index of its direction from `a` to `b` in [`crate::Outcome::links`]; the other direction
    /// follows.
    #[must_use]
    pub fn index(self) -> usize {
        2 * self.0 as usize
    }
}

impl FlowId {
    /// The id of all flows that are not listed in [`crate::Outcome::flows`].
    pub const UNLISTED: FlowId = FlowId(u32::MAX);

    /// Its index in [`crate::Outcome::flows`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
