//! Bytes between a fetch and their reader, which may be slower than the network: a player with a
//! full buffer, a terminal, a client of the gateway.
//!
//! The fetch's thread never waits here. It requests no more from the network than the pipe has room
//! for, and a bell wakes it when the pipe has room again.

use packet::Bytes;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use thiserror::Error;

/// The number of bytes that are handed to the reader at a time, if they are there.
const CHUNK: usize = 64 * 1024;

/// The reader's error if the bytes end before the object does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("truncated before its end")]
pub struct Cut;

struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The writer is done: all was written, or not.
    end: Option<Result<(), Cut>>,
    /// The reader is done, and why if it is for a bad reason.
    left: bool,
    failure: Option<io::Error>,
    waker: Option<Waker>,
}

struct Shared {
    state: Mutex<State>,
    capacity: usize,
    bell: OwnedFd,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // It is full only if it rings already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }
}

/// Both ends of a pipe that holds at most `capacity` bytes.
///
/// # Errors
/// The system has no bell left.
pub fn pipe(capacity: usize) -> io::Result<(Writer, Reader)> {
    let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
    let state = State {
        waiting: VecDeque::new(),
        bytes: 0,
        end: None,
        left: false,
        failure: None,
        waker: None,
    };
    let shared = Arc::new(Shared { state: Mutex::new(state), capacity, bell });
    Ok((Writer(Arc::clone(&shared)), Reader(shared)))
}

/// The end that a fetch writes to.
pub struct Writer(Arc<Shared>);

impl Writer {
    /// The number of bytes that it has room for. Bytes beyond it are held as well.
    pub fn room(&self) -> usize {
        self.0.capacity.saturating_sub(self.0.lock().bytes)
    }

    /// The descriptor that becomes readable when the pipe has room again, or the reader has gone.
    ///
    /// # Errors
    ///
    /// The system has no descriptor left.
    pub fn bell(&self) -> io::Result<OwnedFd> {
        self.0.bell.try_clone()
    }

    /// The reader reads no more.
    pub fn is_left(&self) -> bool {
        self.0.lock().left
    }

    /// The reason why the reader ended early, once.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.0.lock().failure.take()
    }

    /// Adds bytes.
    pub fn write(&mut self, content: &[u8]) {
        if content.is_empty() {
            return;
        }
        let mut state = self.0.lock();
        state.bytes += content.len();
        match state.waiting.back_mut().filter(|last| last.len() + content.len() <= CHUNK) {
            Some(last) => last.extend_from_slice(content),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK.max(content.len()));
                chunk.extend_from_slice(content);
                state.waiting.push_back(chunk);
            }
        }
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// All of it was written. Without this the reader learns that it was not.
    pub fn end(&mut self) {
        self.close(Ok(()));
    }

    fn close(&mut self, end: Result<(), Cut>) {
        let mut state = self.0.lock();
        state.end.get_or_insert(end);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close(Err(Cut));
    }
}

/// The end of the reader.
pub struct Reader(Arc<Shared>);

impl Reader {
    /// The next bytes; `None` behind the last.
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Bytes, Cut>>> {
        let mut state = self.0.lock();
        if let Some(chunk) = state.waiting.pop_front() {
            let before = state.bytes;
            state.bytes -= chunk.len();
            // Not at each chunk: the writer has enough to do while half of it is free.
            let half = self.0.capacity / 2;
            if before > half && state.bytes <= half {
                self.0.ring();
            }
            return Poll::Ready(Some(Ok(Bytes::from(chunk))));
        }
        match state.end {
            Some(end) => Poll::Ready(end.err().map(Err)),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// The same, for a thread without other work.
    pub fn wait_next(&mut self) -> Option<Result<Bytes, Cut>> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        loop {
            match self.poll_next(&Context::from_waker(&waker)) {
                Poll::Ready(next) => return next,
                Poll::Pending => std::thread::park(),
            }
        }
    }

    /// Reads no more, because it has all or because of an error.
    pub fn leave(self, why: io::Result<()>) {
        let mut state = self.0.lock();
        (state.left, state.failure) = (true, why.err());
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if !std::mem::replace(&mut state.left, true) {
            state.failure = Some(ErrorKind::BrokenPipe.into());
        }
        drop(state);
        self.0.ring();
    }
}

struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(writer: &Writer) -> bool {
        rustix::io::read(&writer.0.bell, &mut [0; 8]).is_ok()
    }

    #[test]
    fn bytes_arrive_unchanged_and_the_end_differs_from_an_abort() {
        for whole in [true, false] {
            let (mut writer, mut reader) = pipe(1 << 20).unwrap();
            let thread = std::thread::spawn(move || {
                let mut all = Vec::new();
                loop {
                    match reader.wait_next() {
                        Some(Ok(chunk)) => all.extend_from_slice(&chunk),
                        other => return (all, other),
                    }
                }
            });
            let content: Vec<u8> = (0..700_000_u32).map(|n| n as u8).collect();
            content.chunks(8000).for_each(|part| writer.write(part));
            if whole {
                writer.end();
            }
            drop(writer);
            let (all, end) = thread.join().unwrap();
            assert!(all == content);
            assert_eq!(end, (!whole).then_some(Err(Cut)));
        }
    }

    #[test]
    fn the_bell_rings_when_half_of_it_is_free_again() {
        let (mut writer, mut reader) = pipe(4 * CHUNK).unwrap();
        for _ in 0..4 {
            writer.write(&[0; CHUNK]);
        }
        assert_eq!((writer.room(), rings(&writer)), (0, false));
        reader.wait_next().unwrap().unwrap();
        assert_eq!((writer.room(), rings(&writer)), (CHUNK, false));
        reader.wait_next().unwrap().unwrap();
        assert_eq!((writer.room(), rings(&writer)), (2 * CHUNK, true));
        reader.wait_next().unwrap().unwrap();
        assert!(!rings(&writer));
    }

    #[test]
    fn a_reader_that_leaves_is_known_at_once() {
        let (mut writer, reader) = pipe(1000).unwrap();
        assert!(writer.take_failure().is_none());
        drop(reader);
        assert!(rings(&writer));
        assert_eq!(writer.take_failure().unwrap().kind(), ErrorKind::BrokenPipe);
        let (mut writer, reader) = pipe(1000).unwrap();
        reader.leave(Err(ErrorKind::StorageFull.into()));
        assert_eq!(writer.take_failure().unwrap().kind(), ErrorKind::StorageFull);
        let (mut writer, reader) = pipe(1000).unwrap();
        reader.leave(Ok(()));
        assert!(writer.is_left() && rings(&writer) && writer.take_failure().is_none());
    }
}
