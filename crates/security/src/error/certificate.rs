//! Why bytes are no certificate.

use packet::{DecodeError, Name};

use crate::key::KeyError;

/// Why bytes are no certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// Text that is not base64.
    #[error("its base64 is broken")]
    Base64,
    /// Not a Data packet.
    #[error("it is not a well-formed Data packet: {0}")]
    Packet(#[from] DecodeError),
    /// The name is not a certificate's.
    #[error("{0} is not the name of a certificate, /<identity>/KEY/<key id>/<issuer>/<version>")]
    Name(Name),
    /// Not of ContentType KEY.
    #[error("its ContentType is {0}, not 2 (KEY)")]
    ContentType(u64),
    /// The content is not a key that is known here.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The validity period is missing or not one.
    #[error("it has no ValidityPeriod, or a malformed one")]
    Validity,
}
