//! Errors of scenarios that cannot be built.

use schemes::ChoiceError;
use thiserror::Error;

/// Why a scenario that has no mistake of form cannot be built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// Something cannot be part of a network.
    #[error("{what}: {source}")]
    Network {
        /// The part that cannot be built.
        what: String,
        /// Why.
        source: sim::BuildError,
    },
    /// A scheme lacks a part: reading should have found it.
    #[error(transparent)]
    Part(#[from] ChoiceError),
}
