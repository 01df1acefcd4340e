//! Ed25519 (RFC 8032).

use std::fmt;

use ed25519::pkcs8::spki::DecodePublicKey as _;
use ed25519::pkcs8::{
    DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, KeypairBytes,
};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use super::error::KeyError;

/// Bytes of a signature.
pub(super) const SIGNATURE_LEN: usize = 64;

/// The secret of [`super::SecretKey::Ed25519`]. It is boxed so that moving the key leaves no
/// copies.
#[derive(Clone)]
pub struct Ed25519Secret(Box<SigningKey>);

impl Ed25519Secret {
    pub(super) fn new(random: &[u8; 32]) -> Ed25519Secret {
        Ed25519Secret(Box::new(SigningKey::from_bytes(random)))
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Option<Ed25519Secret> {
        SigningKey::from_pkcs8_der(der).ok().map(|key| Ed25519Secret(Box::new(key)))
    }

    pub(super) fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let document = pair.to_pkcs8_der().expect("32 bytes always fit the structure");
        document.to_bytes()
    }

    pub(super) fn public(&self) -> Ed25519Public {
        Ed25519Public(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_LEN] {
        self.0.sign(message).to_bytes()
    }
}

/// The point of [`super::PublicKey::Ed25519`].
#[derive(Clone, PartialEq, Eq)]
pub struct Ed25519Public(VerifyingKey);

impl Ed25519Public {
    pub(super) fn from_spki(der: &[u8]) -> Option<Result<Ed25519Public, KeyError>> {
        let key = VerifyingKey::from_public_key_der(der).ok()?;
        Some(if key.is_weak() { Err(KeyError::Weak) } else { Ok(Ed25519Public(key)) })
    }

    pub(super) fn to_spki(&self) -> Vec<u8> {
        let document = self.0.to_public_key_der().expect("32 bytes always fit the structure");
        document.into_vec()
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = <&[u8; SIGNATURE_LEN]>::try_from(signature) else {
            return false;
        };
        self.0.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Debug for Ed25519Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519:")?;
        self.0.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
