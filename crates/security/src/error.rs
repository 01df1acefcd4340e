//! Errors of certificates, chains and signatures. Each kind may contain the one before.

mod certificate;
mod chain;
mod verify;

pub use certificate::CertificateError;
pub use chain::{Broken, ChainError};
pub use verify::VerifyError;
