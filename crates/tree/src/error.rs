//! The errors of trees.

use packet::Fault;
use thiserror::Error;

/// The reason why bytes are not a page or a root of a tree, or cannot become one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// Broken TLV, or an element that is missing, out of place or unknown and critical.
    #[error("it is malformed: {0}")]
    Tlv(#[from] Fault),
    /// The root has another format than this program supports.
    #[error("it has the format {0}, which this version does not support; 1 is supported")]
    Format(u64),
    /// No file may have this name.
    #[error("it has an entry named `{name}`, which is no name of a file: {why}")]
    Name {
        /// The name, with control characters escaped.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The entries are not in ascending order: names are repeated or unsorted.
    #[error("its entry `{0}` does not follow the one before it: names are repeated or unsorted")]
    Order(String),
    /// A page has entries outside the run of names that its parent gives it.
    #[error("its entry `{0}` belongs into another page")]
    Place(String),
    /// A file's digests do not fit its size.
    #[error("the digests of `{0}` do not fit its size")]
    Digests(String),
    /// The numbers of entries and bytes contradict each other.
    #[error("it has {found} entries or bytes where the page above says {expected}")]
    Totals {
        /// The number in the page above.
        expected: u64,
        /// The number in this page.
        found: u64,
    },
    /// The tree has more entries than permitted.
    #[error("it has {entries} entries, more than the limit of {limit}")]
    TooMany {
        /// The number of entries in the root.
        entries: u64,
        /// The limit.
        limit: u64,
    },
    /// All paths together are longer than permitted.
    #[error("its paths have more than {limit} bytes together")]
    Paths {
        /// The limit.
        limit: u64,
    },
    /// A path is too deep or too long.
    #[error("the path `{0}` is longer than a file system allows, or deeper than names allow")]
    TooDeep(String),
    /// An entry, or the tree's name, is too long for a packet.
    #[error("the entry `{0}` does not fit into a packet: use a shorter name for the tree")]
    TooLarge(String),
}
