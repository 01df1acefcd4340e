//! Reads the daemons' counters during a run: a thread for each, so that a slow daemon does not
//! delay the others' samples.

use crate::counters::Counters;
use crate::error::TestbedError;
use control::{Duration, Time};
use net::client::{Address, Connection};
use net::clock::monotonic;
use net::management::COUNTERS;
use packet::Name;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A daemon at an instant of the host's monotonic clock.
#[derive(Clone, Debug)]
pub struct Reading {
    /// When.
    pub at: Time,
    /// Its counters.
    pub counters: Counters,
    /// The resources of its process.
    pub usage: Option<Usage>,
}

/// The resources of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor.
    pub cpu: Duration,
    /// Bytes of memory that it holds.
    pub memory: u64,
}

impl Usage {
    /// Of a process that runs (proc_pid_stat(5)).
    #[must_use]
    pub fn of(pid: u32) -> Option<Usage> {
        Usage::read(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn read(stat: &str) -> Option<Usage> {
        // The second field is the program's name, which may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        // These begin with the third field: the others are 14, 15 and 24 (proc_pid_stat(5)).
        let [user, system, pages] =
            [14, 15, 24].map(|number| fields.get(number - 3)?.parse::<u64>().ok());
        let ticks = user? + system?;
        let cpu = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
        let memory = pages? * rustix::param::page_size() as u64;
        Some(Usage { cpu: Duration::from_secs_f64(cpu), memory })
    }
}

/// The number of the process that a daemon is now.
pub type Pid = Arc<AtomicU32>;

/// Reads the counters of one daemon again and again.
pub struct Reader {
    readings: Arc<Mutex<Vec<Reading>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts sampling every `every`, at multiples of it.
    #[must_use]
    pub fn start(socket: PathBuf, pid: Pid, from: Time, every: Duration) -> Reader {
        let readings = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::new(AtomicBool::new(false));
        let (all, end) = (Arc::clone(&readings), Arc::clone(&ends));
        let thread = std::thread::spawn(move || read_on(&socket, &pid, from, every, &all, &end));
        Reader { readings, ends, thread: Some(thread) }
    }

    /// Ends it, and gives all that it read.
    #[must_use]
    pub fn end(mut self) -> Vec<Reading> {
        self.stop();
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut readings)
    }

    fn stop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().ok();
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop();
    }
}

fn read_on(
    socket: &Path,
    pid: &AtomicU32,
    from: Time,
    every: Duration,
    readings: &Mutex<Vec<Reading>>,
    ends: &AtomicBool,
) {
    let mut connection: Option<Connection> = None;
    let mut due = from;
    while !ends.load(Ordering::Relaxed) {
        let now = monotonic();
        if now < due {
            std::thread::park_timeout(std::time::Duration::from_nanos(due.since(now).0));
            continue;
        }
        // A daemon that answered late is not asked twice for missed samples.
        while due <= now {
            due += every;
        }
        // A dead daemon may return.
        let open = connection.take().or_else(|| Connection::open(address(socket)).ok());
        let Some(mut open) = open else { continue };
        let Ok(counters) = read(&mut open, "") else { continue };
        connection = Some(open);
        let usage = Usage::of(pid.load(Ordering::Relaxed));
        let reading = Reading { at: monotonic(), counters, usage };
        readings.lock().unwrap_or_else(PoisonError::into_inner).push(reading);
    }
}

/// A daemon's current counters.
///
/// # Errors
/// It does not answer.
pub fn read(connection: &mut Connection, node: &str) -> Result<Counters, TestbedError> {
    let name: Name = match COUNTERS.parse() {
        Ok(name) => name,
        Err(error) => unreachable!("it is a name: {error}"),
    };
    let before = connection.asked();
    let bytes = connection
        .dataset(&name)
        .map_err(|error| TestbedError::Silent { node: node.to_owned(), error })?;
    let counters: Counters = serde_json::from_slice(&bytes)
        .map_err(|error| TestbedError::Counters { node: node.to_owned(), error })?;
    Ok(counters.without_questions(before))
}

/// Where a daemon's socket is.
#[must_use]
pub fn address(socket: &Path) -> Address {
    Address::Unix(socket.to_owned())
}
