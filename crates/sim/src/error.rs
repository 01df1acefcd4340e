//! Errors in building a network.

use forwarder::tables::fib::FibError;
use thiserror::Error;
use transport::publish::PublishError;

/// An error in building a network.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The node is not at either end of the link.
    #[error("the node {node} is at neither end of the link that its route uses")]
    NotAtLink {
        /// The node's name.
        node: String,
    },
    /// The forwarder rejects the route.
    #[error(transparent)]
    Route(#[from] FibError),
    /// The object cannot be published.
    #[error(transparent)]
    Object(#[from] PublishError),
}
