//! Where metrics are to be had.

use super::error::DaemonError;
use super::{Daemon, ServeMetrics};
use std::any::Any;
use std::net::SocketAddr;

/// The addresses at which somebody answers.
#[derive(Debug, Default)]
pub(super) struct Served {
    serve: Option<ServeMetrics>,
    /// Each with what ends it when it is dropped.
    at: Vec<(SocketAddr, Box<dyn Any + Send>)>,
}

impl Daemon {
    /// Has `serve` answer with metrics at these addresses, and at others when the configuration is
    /// read again.
    ///
    /// # Errors
    /// Of the addresses that are not to be had, the first.
    pub fn serve_metrics(
        &mut self,
        serve: ServeMetrics,
        addresses: &[SocketAddr],
    ) -> Result<(), DaemonError> {
        self.metrics.serve = Some(serve);
        self.adopt_metrics(addresses).into_iter().next().map_or(Ok(()), Err)
    }

    /// Ends what is not wanted any more, and begins what is. Gives what cannot be had, and why.
    pub(super) fn adopt_metrics(&mut self, wanted: &[SocketAddr]) -> Vec<DaemonError> {
        let Some(serve) = self.metrics.serve else { return Vec::new() };
        self.metrics.at.retain(|(address, _)| wanted.contains(address));
        let mut failed = Vec::new();
        for address in wanted {
            if self.metrics.at.iter().any(|(known, _)| known == address) {
                continue;
            }
            match self.observer().and_then(|observer| serve(*address, observer)) {
                Ok(served) => {
                    tracing::info!(%address, "metrics");
                    self.metrics.at.push((*address, served));
                }
                Err(source) => failed.push(DaemonError::Metrics { address: *address, source }),
            }
        }
        failed
    }
}
