//! The encryption of secret keys in a program that is built without it.

use pkcs8::{PrivateKeyInfoRef, SecretDocument};

use super::error::SafeBagError;
use super::limits::SEAL_RANDOM;

pub(crate) fn encrypt(
    _: &PrivateKeyInfoRef<'_>,
    _: &[u8],
    _: &[u8; SEAL_RANDOM],
) -> Result<Vec<u8>, SafeBagError> {
    Err(SafeBagError::NotBuilt)
}

pub(crate) fn decrypt(_: &[u8], _: &[u8]) -> Result<SecretDocument, SafeBagError> {
    Err(SafeBagError::NotBuilt)
}
