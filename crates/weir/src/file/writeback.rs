//! Writing to the disk during a transfer.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Sends written bytes to the disk during the transfer, so that the end need not wait for all of
/// them.
pub struct Writeback {
    due: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    written: usize,
}

impl Writeback {
    /// The number of bytes after which the disk is synchronised.
    const EVERY: usize = 4 << 20;

    /// Calls `synchronise` from a thread of its own, and waits for it when dropped.
    pub fn start(synchronise: impl Fn() + Send + 'static) -> Writeback {
        // One place: while the disk is busy, further requests are the same request.
        let (due, requests) = sync_channel(1);
        let thread = std::thread::spawn(move || requests.iter().for_each(|()| synchronise()));
        Writeback { due: Some(due), thread: Some(thread), written: 0 }
    }

    /// Counts written bytes.
    pub fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written >= Writeback::EVERY {
            self.written = 0;
            let _ = self.due.as_ref().map(|due| due.try_send(()));
        }
    }
}

impl Drop for Writeback {
    fn drop(&mut self) {
        self.due = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// The number of times that the disk was synchronised after writes of these sizes.
    fn synchronised(writes: &[usize]) -> usize {
        let (done, calls) = channel();
        let mut writeback = Writeback::start(move || done.send(()).unwrap());
        writes.iter().for_each(|&bytes| writeback.wrote(bytes));
        drop(writeback);
        calls.iter().count()
    }

    #[test]
    fn the_disk_is_synchronised_once_enough_was_written() {
        assert_eq!(synchronised(&[Writeback::EVERY - 1]), 0);
        assert_eq!(synchronised(&[Writeback::EVERY]), 1);
        assert_eq!(synchronised(&[Writeback::EVERY / 2; 3]), 1);
    }
}
