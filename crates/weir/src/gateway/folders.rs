//! The reader of folders.

use crate::consumer::Verified;
use crate::exit::Failure;
use crate::signals::Stop;
use packet::Name;
use tree::Entry;

/// Reads folders.
pub trait Folders: Send + Sync {
    /// Calls `take` with the path from the folder and with each entry of the folder, and of those
    /// below if `recursive`, until it returns false. `stop` ends the work.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be fetched or verified.
    fn read(
        &self,
        name: &Name,
        recursive: bool,
        stop: &Stop,
        take: &mut dyn FnMut(&[u8], &Entry) -> bool,
    ) -> Result<Root, Failure>;
}

/// The tree of a folder.
pub struct Root {
    /// The object's versioned name.
    pub object: Name,
    /// Components of the tree's own name.
    pub base: usize,
    /// The proof by the signature, and the key that signed.
    pub verified: Verified,
    /// See above.
    pub key: Option<String>,
}
