//! Signed manifests: one signature by a key for an object of any size.
//!
//! The leaves of a tree list the implicit digests of the object's segments, the upper nodes list
//! the digests of the nodes below, and the root is signed. The wire format is in
//! `docs/reference/wire.md`, section "Manifests".
//!
//! [`Layout`] is the arithmetic, [`Builder`] and [`Tree`] the publisher's part, [`Verifier`] the
//! consumer's, [`Announcement`] the description of the manifest in an object's metadata.

mod announcement;
mod builder;
mod layout;
mod node;
mod verifier;

pub use announcement::Announcement;
pub use builder::{BuildError, Builder, Tree, Unsigned};
pub use layout::{Children, DEFAULT_FANOUT, Layout, LayoutError, MAX_FANOUT, MAX_SEGMENTS};
pub use node::{
    FRESHNESS_MS, KEYWORD, Node, NodeError, Shape, largest_fanout, manifest_data, node_name,
    node_number,
};
pub use verifier::{Check, DEFAULT_NODE_LIMIT, ManifestError, Verifier};
