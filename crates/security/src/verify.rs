//! Checking the signature of one Data packet.

use packet::{Data, Name, SignatureType};
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::error::VerifyError;
use crate::key::{PublicKey, SharedKey};

/// The proof of an accepted packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Its content matches its digest. This proves nothing about its maker.
    Digest,
    /// The key of this name, which is trusted for it, signed it.
    Key(Name),
    /// Nothing: it has a signature that could not be checked, and the policy allows that.
    Unchecked,
}

/// Checks a DigestSha256 signature.
pub fn verify_digest(data: &Data<'_>) -> Result<(), VerifyError> {
    let found = data.signature_info().signature_type();
    if found != SignatureType::DigestSha256 {
        return Err(VerifyError::UnsupportedSignatureType { name: data.name().to_name(), found });
    }
    let digest: Digest = Sha256::digest(data.signed_portion()).into();
    if data.signature_value() != digest {
        return Err(VerifyError::DigestMismatch(data.name().to_name()));
    }
    Ok(())
}

/// Checks that `key` made the signature. `key_name` is only for messages: [`crate::TrustPolicy`]
/// decides about the key's permission.
pub fn verify_signature(
    data: &Data<'_>,
    key: &PublicKey,
    key_name: &Name,
) -> Result<(), VerifyError> {
    verify_with(data, key.signature_type(), key_name, |portion, value| key.verifies(portion, value))
}

/// Checks that a holder of the shared secret `key` made the signature.
pub fn verify_shared(data: &Data<'_>, key: &SharedKey, key_name: &Name) -> Result<(), VerifyError> {
    let expected = SignatureType::HmacWithSha256;
    verify_with(data, expected, key_name, |portion, value| key.verifies(portion, value))
}

/// A signature of another type than the key's is rejected before it is checked: a public key must
/// never be used as a shared secret.
fn verify_with(
    data: &Data<'_>,
    expected: SignatureType,
    key_name: &Name,
    made: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<(), VerifyError> {
    let found = data.signature_info().signature_type();
    if found == expected && made(data.signed_portion(), data.signature_value()) {
        return Ok(());
    }
    let (name, key) = (data.name().to_name(), key_name.clone());
    Err(match found == expected {
        true => VerifyError::BadSignature { name, key },
        false => VerifyError::WrongKey { name, key, found, expected },
    })
}

#[cfg(test)]
mod tests;
