//! The shape of a manifest tree: pure arithmetic on segment and node numbers.

use std::ops::Range;

/// The default number of digests in a node.
///
/// 250 digests of 32 bytes leave 800 bytes of the 8800 of a packet for the name, the signature and
/// the key locator; [`super::largest_fanout`] gives less for long names.
pub const DEFAULT_FANOUT: u32 = 250;

/// The maximum number of digests in a node, limited by a packet of 8800 bytes.
pub const MAX_FANOUT: u32 = 256;

/// Most segments of one object (two exabytes at 8 kB each). The bound keeps every sum of node
/// counts and every product of spans far from the end of 64 bits.
pub const MAX_SEGMENTS: u64 = 1 << 48;

/// A segment count or fan-out that no manifest tree can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// An object has at least one segment, and at most [`MAX_SEGMENTS`].
    #[error("an object has 1 to {MAX_SEGMENTS} segments, not {0}")]
    Segments(u64),
    /// A tree needs at least two children per node; [`MAX_FANOUT`] is the limit of a packet.
    #[error("a manifest node lists 2 to {MAX_FANOUT} digests, not {0}")]
    Fanout(u64),
}

/// The places of the nodes in a manifest tree, computed from two numbers.
///
/// Level 0 has the leaves: leaf `i` covers the segments from `i * fanout`. Each further level
/// covers the nodes of the level below in the same way, until a level has one node, the root. Nodes
/// are numbered: first the leaves, then each level from left to right, so the root has the last
/// number. The number is the node's segment component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    segments: u64,
    fanout: u32,
}

/// The children whose digests a node lists, as a run of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Children {
    /// Segments of the object: the node is a leaf.
    Segments(Range<u64>),
    /// Nodes of the level below.
    Nodes(Range<u64>),
}

impl Children {
    /// The run as plain numbers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        match self {
            Children::Segments(range) | Children::Nodes(range) => range.clone(),
        }
    }
}

/// A node's level, its index within the level, and the numbers to find its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    level: u32,
    index: u64,
    /// Number of the first node of this level.
    base: u64,
    /// Nodes of this level.
    count: u64,
    /// Number of the first node of the level below (0 for leaves), and the number of nodes there
    /// (of segments, for leaves).
    below_base: u64,
    below_count: u64,
}

impl Layout {
    /// The tree over `segments` segments with at most `fanout` digests a node.
    pub fn new(segments: u64, fanout: u32) -> Result<Layout, LayoutError> {
        if segments == 0 || segments > MAX_SEGMENTS {
            return Err(LayoutError::Segments(segments));
        }
        if !(2..=MAX_FANOUT).contains(&fanout) {
            return Err(LayoutError::Fanout(u64::from(fanout)));
        }
        Ok(Layout { segments, fanout })
    }

    /// Segments of the object.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Most digests that a node lists; every node but the last of its level lists exactly as many.
    #[must_use]
    pub fn fanout(&self) -> u32 {
        self.fanout
    }

    /// Levels of the tree, including leaves and root: 1 if the only leaf is the root.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.places().last().map_or(0, |place| place.level + 1)
    }

    /// Nodes of `level` (0 = leaves); 0 above the root.
    #[must_use]
    pub fn nodes_at(&self, level: u32) -> u64 {
        self.places().find(|place| place.level == level).map_or(0, |place| place.count)
    }

    /// All nodes of the tree.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.root() + 1
    }

    /// Nodes of level 0.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        self.segments.div_ceil(u64::from(self.fanout))
    }

    /// Number of the root: the last one.
    #[must_use]
    pub fn root(&self) -> u64 {
        self.places().last().map_or(0, |place| place.base)
    }

    /// Level of `node` (0 = leaf); `None` if the node does not exist.
    #[must_use]
    pub fn level_of(&self, node: u64) -> Option<u32> {
        self.place(node).map(|place| place.level)
    }

    /// Number of the node at `index` within `level`; `None` if it does not exist.
    #[must_use]
    pub fn node_at(&self, level: u32, index: u64) -> Option<u64> {
        let place = self.places().find(|place| place.level == level)?;
        (index < place.count).then(|| place.base + index)
    }

    /// The leaf that lists `segment`; `None` beyond the last segment.
    #[must_use]
    pub fn leaf_of(&self, segment: u64) -> Option<u64> {
        (segment < self.segments).then(|| segment / u64::from(self.fanout))
    }

    /// The node that lists `node`; `None` for the root and beyond it.
    #[must_use]
    pub fn parent_of(&self, node: u64) -> Option<u64> {
        let place = self.place(node)?;
        (place.count > 1).then(|| place.base + place.count + place.index / u64::from(self.fanout))
    }

    /// The children of `node`; `None` if the node does not exist.
    #[must_use]
    pub fn children(&self, node: u64) -> Option<Children> {
        let place = self.place(node)?;
        let fanout = u64::from(self.fanout);
        let first = place.index * fanout;
        let end = place.below_count.min(first + fanout);
        let range = place.below_base + first..place.below_base + end;
        Some(match place.level {
            0 => Children::Segments(range),
            _ => Children::Nodes(range),
        })
    }

    /// The segments under `node`, through all levels; empty if the node does not exist.
    #[must_use]
    pub fn cover(&self, node: u64) -> Range<u64> {
        let Some(place) = self.place(node) else { return 0..0 };
        let span = u64::from(self.fanout).saturating_pow(place.level + 1);
        let first = place.index.saturating_mul(span);
        first..self.segments.min(first.saturating_add(span))
    }

    fn place(&self, node: u64) -> Option<Place> {
        self.places().find_map(|level| {
            let index = node.checked_sub(level.base)?;
            (index < level.count).then_some(Place { index, ..level })
        })
    }

    /// The levels from the leaves up, each as the place of its first node. At most 48, with a
    /// fan-out of two; three or four in practice.
    fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let fanout = u64::from(self.fanout);
        let leaves = Place {
            level: 0,
            index: 0,
            base: 0,
            count: self.leaves(),
            below_base: 0,
            below_count: self.segments,
        };
        std::iter::successors(Some(leaves), move |below| {
            if below.count <= 1 {
                return None;
            }
            Some(Place {
                level: below.level + 1,
                index: 0,
                base: below.base + below.count,
                count: below.count.div_ceil(fanout),
                below_base: below.base,
                below_count: below.count,
            })
        })
    }
}

#[cfg(test)]
mod tests;
