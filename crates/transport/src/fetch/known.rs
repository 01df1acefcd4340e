//! Digests of objects that are known before their content is fetched.

use security::Digest;
use security::manifest::Layout;

/// The digests of an object, as a verified list has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// The implicit digests of all segments.
    Segments(Box<[Digest]>),
    /// The object has a manifest of this layout. The digest is the SHA-256 of the Content of its
    /// root.
    Manifest(Layout, Digest),
}
