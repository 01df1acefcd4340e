//! The first error of writing.

use std::io;
use std::sync::{Arc, Mutex};

/// The first error of writing: nothing was written after it.
#[derive(Clone, Debug, Default)]
pub struct FirstError(Arc<Mutex<Option<io::Error>>>);

impl FirstError {
    /// True if there was an error.
    #[must_use]
    pub fn has_occurred(&self) -> bool {
        self.0.lock().is_ok_and(|error| error.is_some())
    }

    /// The error.
    #[must_use]
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().ok()?.take()
    }

    /// Remembers an error, if it is the first.
    pub fn note(&self, done: io::Result<()>) {
        if let (Err(error), Ok(mut first)) = (done, self.0.lock()) {
            first.get_or_insert(error);
        }
    }
}
