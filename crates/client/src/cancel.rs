//! The end of an operation, as another thread asks for it.

use crate::bell::Bell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Cancels fetches from another thread.
///
/// Give a copy to [`Request::cancel`](crate::Request::cancel), and call [`Cancel::cancel`] on
/// another copy. It stays cancelled: later operations with it end at once.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_cancelled: AtomicBool,
    bells: Mutex<Vec<Weak<Bell>>>,
}

impl Cancel {
    /// A request that has not been made yet.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Ends all operations with this value. They return [`Error::Cancelled`](crate::Error).
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Release);
        let bells = self.0.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    /// True after [`Cancel::cancel`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Rings `bell` when it is cancelled.
    pub(crate) fn attach(&self, bell: &Arc<Bell>) {
        let mut bells = self.0.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|bell| bell.strong_count() > 0);
        bells.push(Arc::downgrade(bell));
    }
}
