//! The addresses that serve metrics.

use super::error::DaemonError;
use super::wake_up::{Observer, WakeUps};
use std::any::Any;
use std::net::SocketAddr;

/// Starts a thread that serves metrics at an address, until the returned value is dropped.
pub type ServeMetrics = fn(SocketAddr, Observer) -> std::io::Result<Box<dyn Any + Send>>;

/// The addresses that serve metrics.
#[derive(Debug, Default)]
pub(super) struct Served {
    serve: Option<ServeMetrics>,
    /// Each with a value that ends it when it is dropped.
    at: Vec<(SocketAddr, Box<dyn Any + Send>)>,
}

impl Served {
    /// Serves by this function from now on.
    pub fn serve_by(&mut self, serve: ServeMetrics) {
        self.serve = Some(serve);
    }

    /// Ends addresses that are not wanted any more, and begins others. Returns those that cannot be
    /// used, and why.
    pub fn adopt(&mut self, wanted: &[SocketAddr], wake_ups: &WakeUps) -> Vec<DaemonError> {
        let Some(serve) = self.serve else { return Vec::new() };
        self.at.retain(|(address, _)| wanted.contains(address));
        let mut failed = Vec::new();
        for address in wanted {
            if self.at.iter().any(|(known, _)| known == address) {
                continue;
            }
            match wake_ups.observer().and_then(|observer| serve(*address, observer)) {
                Ok(served) => {
                    tracing::info!(%address, "metrics");
                    self.at.push((*address, served));
                }
                Err(source) => failed.push(DaemonError::Metrics { address: *address, source }),
            }
        }
        failed
    }
}
