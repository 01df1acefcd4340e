//! The names of a tree and of its packets.

use packet::{Component, Name};

/// The keyword of a tree's object: `<name>/32=tree/v=…`.
pub const KEYWORD: &[u8] = b"tree";

/// The keyword of pages: `<name>/32=page/<key>/seg=0`.
pub const PAGE_KEYWORD: &[u8] = b"page";

/// Bytes of the key of a page: the first bytes of the SHA-256 of its content.
pub const KEY_LEN: usize = 16;

/// The key of a page in its name.
pub type Key = [u8; KEY_LEN];

/// Components of a name of a packet beside those of the tree and of the path: a version, the
/// keyword of a manifest, a number, and a digest.
const BESIDES: usize = 4;

/// The maximum number of components of a path in a tree whose name has `components`: names of
/// packets have at most [`packet::name::MAX_COMPONENTS`].
#[must_use]
pub fn max_depth(components: usize) -> usize {
    packet::name::MAX_COMPONENTS.saturating_sub(components + BESIDES)
}

/// The name of a file or directory in the tree `base`, without a version. The path is that from the
/// tree's folder, without a slash at either end.
#[must_use]
pub fn name_of(base: &Name, path: &[u8]) -> Name {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    parts.fold(base.clone(), |name, part| name.with(&Component::generic(part)))
}
