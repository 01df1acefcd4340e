//! Verified bytes between the thread of the network and the thread of the program.

use crate::bell::Bell;
use crate::error::Error;
use crate::trust::Verified;
use packet::Name;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that wait for the program at most.
const MOST: u64 = 8_000_000;
/// The maximum number of bytes that a block takes besides its content: its place in the list, which
/// may be twice as long as needed, and the allocator's share.
const EACH: u64 = 128;

/// The object of a fetch.
#[derive(Clone, Debug)]
pub struct Found {
    /// The versioned name.
    pub name: Name,
    /// Its size, if it is known.
    pub size: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    blocks: VecDeque<Vec<u8>>,
    /// Bytes in `blocks` and for them.
    waiting: u64,
    found: Option<Found>,
    verified: Option<Verified>,
    end: Option<Result<(), Error>>,
    /// The program takes no more.
    is_abandoned: bool,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    bell: Arc<Bell>,
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Result<Queue, Error> {
        let bell = Arc::new(Bell::new()?);
        Ok(Queue { state: Mutex::default(), changed: Condvar::new(), bell })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bell of the network's thread.
    pub fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Bytes that may be pushed now.
    pub fn room(&self) -> u64 {
        MOST.saturating_sub(self.state().waiting)
    }

    /// Appends a block.
    pub fn push(&self, block: Vec<u8>) {
        let mut state = self.state();
        state.waiting += block.len() as u64 + EACH;
        state.blocks.push_back(block);
        self.changed.notify_one();
    }

    /// The object was found.
    pub fn find(&self, found: Found) {
        self.state().found = Some(found);
    }

    /// The object of the fetch.
    pub fn found(&self) -> Option<Found> {
        self.state().found.clone()
    }

    /// The object's signature was checked.
    pub fn verify(&self, verified: Verified) {
        self.state().verified = Some(verified);
    }

    /// The proof of the object.
    pub fn verified(&self) -> Option<Verified> {
        self.state().verified.clone()
    }

    /// The fetch is over; the first call counts.
    pub fn finish(&self, end: Result<(), Error>) {
        self.state().end.get_or_insert(end);
        self.changed.notify_one();
    }

    /// Waits for the next block; `None` at the end.
    pub fn next(&self) -> Option<Result<Vec<u8>, Error>> {
        let mut state = self.state();
        loop {
            if let Some(block) = state.blocks.pop_front() {
                let before = state.waiting;
                state.waiting -= block.len() as u64 + EACH;
                // The network may wait for room only when more than half is in use.
                if before > MOST / 2 {
                    self.bell.ring();
                }
                return Some(Ok(block));
            }
            if let Some(end) = &state.end {
                return end.clone().err().map(Err);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The program takes no more: the network's thread ends.
    pub fn abandon(&self) {
        self.state().is_abandoned = true;
        self.bell.ring();
    }

    /// True after [`Queue::abandon`].
    pub fn is_abandoned(&self) -> bool {
        self.state().is_abandoned
    }
}
