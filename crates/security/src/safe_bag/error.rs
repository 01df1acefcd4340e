//! Errors of SafeBags.

use super::limits::MAX_ROUNDS;
use crate::certificate::CertificateError;
use crate::key::KeyError;

/// Why a SafeBag cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SafeBagError {
    /// Text that is not base64.
    #[error("its base64 is broken")]
    Base64,
    /// Not the TLV of a SafeBag.
    #[error("it is not a SafeBag, which holds a certificate and an encrypted key")]
    NoBag,
    /// Its certificate is malformed.
    #[error("the certificate in it: {0}")]
    Certificate(#[from] CertificateError),
    /// The key is encrypted in another way.
    #[error(
        "its key is not encrypted as is usual (PKCS#8 with PBES2, PBKDF2 of up to {MAX_ROUNDS} \
         rounds, AES-CBC)"
    )]
    Scheme,
    /// This program cannot encrypt and decrypt.
    #[error(
        "this program is built without SafeBags (feature `safe-bag`); use one that has them, as \
         `weir` has"
    )]
    NotBuilt,
    /// The decrypted bytes are malformed.
    #[error("the passphrase is wrong, or the bag is damaged")]
    Passphrase,
    /// The decrypted key is malformed.
    #[error("the key in it: {0}")]
    Key(#[from] KeyError),
    /// Certificate and key do not belong together.
    #[error("its certificate is not for its key")]
    OtherKey,
}
