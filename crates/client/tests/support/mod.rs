//! A daemon in a thread, and content.
#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use client::{Builder, Client};
use net::client::{Address, Connection, lists};
use net::daemon::{Daemon, DaemonError, Stopper};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer than anything takes on the slowest machine.
pub const LONG: Duration = Duration::from_secs(60);

/// A running daemon; it is stopped when it goes.
pub struct Running {
    pub socket: PathBuf,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<(), DaemonError>>>,
}

impl Running {
    /// Starts one with this socket.
    pub fn start(socket: &Path) -> Running {
        let text =
            format!("[listen]\nunix = \"{}\"\nudp = \"off\"\ntcp = \"off\"\n", socket.display());
        let config = net::config::parse(&text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
        let daemon = Daemon::new(&config).unwrap();
        let stopper = daemon.stopper().unwrap();
        let thread = Some(std::thread::spawn(move || daemon.run()));
        Running { socket: socket.to_owned(), stopper, thread }
    }

    pub fn builder(&self) -> Builder {
        Client::builder().forwarder(self.socket.display().to_string())
    }

    pub fn client(&self) -> Client {
        self.builder().connect().unwrap()
    }

    /// The prefixes of applications.
    pub fn registered(&self) -> Vec<String> {
        let mut connection = Connection::open(Address::Unix(self.socket.clone())).unwrap();
        let routes = lists::routes(&mut connection).unwrap();
        let names = routes.into_iter().map(|route| route.prefix.to_string());
        names.filter(|name| !name.starts_with("/localhost")).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

/// Bytes that no test expects by chance.
pub fn random(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}
