//! Digests.

/// A SHA-256 digest.
pub type Digest = [u8; 32];
