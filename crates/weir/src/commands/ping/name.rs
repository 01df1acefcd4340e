//! The names of Interests.

use packet::{Component, Name};

/// The component behind the prefix.
const PING: &[u8] = b"ping";

/// The prefix of all Interests.
pub fn below(prefix: &Name) -> Name {
    prefix.clone().with(&Component::generic(PING))
}
