//! The thread that writes lines, and the queue before it.

use super::printed::{LeftOut, Printed};
use crate::output;
use net::limit::Limit;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Lines that wait.
const QUEUE: usize = 1000;
/// The interval at which the writer looks for lines that were left out.
const LOOK: Duration = Duration::from_secs(1);
/// The time for which the end of the program waits for the lines before it.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line.
#[derive(Debug)]
pub enum Line {
    /// For standard output.
    Result(String),
    /// For standard error.
    Note(String),
    /// For the access log.
    Access(String),
}

#[derive(Debug)]
enum Order {
    Write(Line),
    /// All lines before it are written.
    Finish(SyncSender<()>),
}

/// The queue's end at which lines come in. It never waits, except at the end.
#[derive(Clone, Debug)]
pub struct Writer {
    queue: SyncSender<Order>,
    /// Lines for which the queue had no room.
    lost: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread. It writes the number of lines that `limit` left out, too, as JSON or as
    /// text.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        json: bool,
        limit: Arc<Limit>,
        write: impl FnMut(Line) + Send + 'static,
    ) -> io::Result<Writer> {
        let (queue, orders) = sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let mut thread = Thread { json, limit, lost: Arc::clone(&lost), write };
        std::thread::Builder::new().name("log".to_owned()).spawn(move || thread.run(&orders))?;
        Ok(Writer { queue, lost })
    }

    /// Queues a line, or counts it if the queue is full.
    pub fn send(&self, line: Line) {
        if self.queue.try_send(Order::Write(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits a while until the lines are written.
    pub fn finish(&self) {
        let (done, finished) = sync_channel(1);
        if self.queue.try_send(Order::Finish(done)).is_ok() {
            let _ = finished.recv_timeout(PATIENCE);
        }
    }
}

struct Thread<W> {
    json: bool,
    limit: Arc<Limit>,
    lost: Arc<AtomicU64>,
    write: W,
}

impl<W: FnMut(Line)> Thread<W> {
    fn run(&mut self, orders: &Receiver<Order>) {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(Order::Write(line)) => (self.write)(line),
                Ok(Order::Finish(done)) => {
                    self.report();
                    // The other side has stopped waiting if it fails.
                    let _ = done.try_send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.report(),
            }
            self.report();
        }
    }

    fn report(&mut self) {
        if self.limit.has_left_out() {
            for (of, lines) in self.limit.take(self.limit.now()) {
                self.left_out(lines, &of, "too many in a second");
            }
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            self.left_out(lost, "all kinds", "they were not read in time");
        }
    }

    fn left_out(&mut self, lines: u64, of: &str, why: &'static str) {
        (self.write)(if self.json {
            let left_out = LeftOut { left_out: lines, of: of.to_owned(), why };
            Line::Result(output::json_text(&Printed::LeftOut(left_out)))
        } else {
            Line::Note(format!("left out {lines} lines about {of}: {why}"))
        });
    }
}
