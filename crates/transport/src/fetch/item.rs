//! The items that Interests request.

/// The item that an Interest requests. The order is the order of retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// The object's RDR metadata, or any packet under its bare name.
    Metadata,
    /// A node of the manifest.
    Node(u64),
    /// A segment.
    Segment(u64),
}

impl Item {
    /// Its number in the sequence of all objects of a batch.
    pub(super) const fn number(self) -> u64 {
        match self {
            Item::Segment(n) | Item::Node(n) => n,
            Item::Metadata => u64::MAX,
        }
    }

    /// The segment number that controllers receive; 0 for metadata and nodes.
    #[must_use]
    pub const fn segment(self) -> u64 {
        match self {
            Item::Segment(n) => n,
            Item::Metadata | Item::Node(_) => 0,
        }
    }

    /// The segment at distance `at` after this one; for other items, the item itself.
    #[must_use]
    pub const fn behind(self, at: u16) -> Item {
        match self {
            Item::Segment(n) => Item::Segment(n.saturating_add(at as u64)),
            Item::Metadata | Item::Node(_) => self,
        }
    }
}
