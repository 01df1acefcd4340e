//! The errors of models.

use packet::Fault;

/// Why bytes are no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Its TLV is broken.
    #[error("it is not a compiled Light VerSec model: {0}")]
    Tlv(#[from] Fault),
    /// Something is missing, or too much.
    #[error("it is not a compiled Light VerSec model: {0}")]
    Shape(&'static str),
    /// An unknown version.
    #[error("it is a Light VerSec model of version {0:#x}; version 0x11000 is known")]
    Version(u64),
    /// A call of an unknown function.
    #[error("it calls the function {0}, which is not known here; $eq and $eq_type are")]
    Function(String),
}
