//! Checking the signature of one Data packet.

use packet::{Data, Name, SignatureType};
use sha2::{Digest as _, Sha256};

use crate::trust::ChainError;
use crate::{Digest, PublicKey, SharedKey};

/// The reason why a packet is rejected. Every message names a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The signature type is one that is not implemented here.
    #[error(
        "{name} is signed with {found:?}, which cannot be verified here; \
         DigestSha256, Ed25519, ECDSA, RSA and HMAC can"
    )]
    UnsupportedSignatureType {
        /// The packet's name.
        name: Name,
        /// Its signature type.
        found: SignatureType,
    },
    /// A wrong DigestSha256: the packet was damaged or altered.
    #[error("{0} is damaged: its digest does not match its content")]
    DigestMismatch(Name),
    /// The policy requires a signature by a key, but the packet has only a digest.
    #[error("{0} carries only a digest, which anyone can make; a signature by a key is required")]
    NotSigned(Name),
    /// The policy requires digests, but the packet is signed by a key, which is not checked.
    #[error(
        "{0} is signed with a key, and no key is trusted; name the key's certificate to check it"
    )]
    NoTrustedKeys(Name),
    /// A signature by a key without its name.
    #[error("the signature of {0} does not name its key")]
    NoKeyLocator(Name),
    /// The signature names a key that is not trusted.
    #[error(
        "{name} is signed with a key that is not trusted: {key}; if you trust it, get its \
         certificate from its owner and add it to the trusted ones"
    )]
    UnknownKey {
        /// The packet's name.
        name: Name,
        /// The key's name, or its digest in hexadecimal.
        key: String,
    },
    /// The key is trusted, but not for this name.
    #[error("{name} is signed with {key}, which is trusted only for names under {scope}")]
    OutOfScope {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
        /// The scope of the key.
        scope: Name,
    },
    /// The key named is trusted but is of another kind than the signature.
    #[error("{name} has a signature of type {found:?}, but its key {key} makes {expected:?}")]
    WrongKey {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
        /// Type of the signature.
        found: SignatureType,
        /// Type of signatures by the key.
        expected: SignatureType,
    },
    /// The signature is not the key's over this packet.
    #[error("the signature of {name} is wrong: it was forged or damaged, or {key} has changed")]
    BadSignature {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
    },
    /// No chain of certificates leads from an anchor to the packet.
    #[error(transparent)]
    Chain(#[from] Box<ChainError>),
}

impl VerifyError {
    /// The missing certificate, if that is the reason.
    #[must_use]
    pub fn missing(&self) -> Option<&Name> {
        match self {
            VerifyError::Chain(error) => error.missing(),
            _ => None,
        }
    }
}

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
    let made = |portion: &[u8], value: &[u8]| key.verifies(portion, value);
    verify_with(data, key.signature_type(), key_name, made)
}

/// Checks that a holder of the shared secret `key` made the signature.
pub fn verify_shared(data: &Data<'_>, key: &SharedKey, key_name: &Name) -> Result<(), VerifyError> {
    let made = |portion: &[u8], value: &[u8]| key.verifies(portion, value);
    verify_with(data, SignatureType::HmacWithSha256, key_name, made)
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
    let name = || data.name().to_name();
    if found != expected {
        return Err(VerifyError::WrongKey { name: name(), key: key_name.clone(), found, expected });
    }
    if !made(data.signed_portion(), data.signature_value()) {
        return Err(VerifyError::BadSignature { name: name(), key: key_name.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
