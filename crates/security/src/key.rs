//! Secret and public keys.

use std::fmt;

use ed25519::pkcs8::spki::DecodePublicKey as _;
use ed25519::pkcs8::{
    DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, KeypairBytes,
};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use packet::SignatureType;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::Digest;

/// Octets of an Ed25519 signature.
const ED25519_SIGNATURE_LEN: usize = 64;

/// Why octets are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not PKCS#8, or of an algorithm that is not known here.
    #[error("the secret key is not an Ed25519 key in PKCS#8 form (RFC 8410)")]
    Secret,
    /// Not SubjectPublicKeyInfo, or of an algorithm that is not known here.
    #[error("the public key is not an Ed25519 SubjectPublicKeyInfo (RFC 8410)")]
    Public,
    /// A curve point of small order: signatures by it verify for many messages.
    #[error("the public key is weak: a signature by it would prove nothing")]
    Weak,
}

/// A key that signs. Its octets are overwritten when it is dropped and never printed.
#[derive(Clone)]
#[non_exhaustive]
pub enum SecretKey {
    /// Ed25519 (RFC 8032): deterministic, so that equal packets have equal signatures.
    Ed25519(Ed25519Secret),
}

/// The secret of [`SecretKey::Ed25519`]. It is boxed so that moving the key leaves no copies.
#[derive(Clone)]
pub struct Ed25519Secret(Box<SigningKey>);

impl SecretKey {
    /// An Ed25519 key from 32 octets of the caller's best randomness.
    #[must_use]
    pub fn ed25519(random: &[u8; 32]) -> SecretKey {
        SecretKey::Ed25519(Ed25519Secret(Box::new(SigningKey::from_bytes(random))))
    }

    /// Reads a PKCS#8 structure (RFC 5958, RFC 8410), with or without the public key in it.
    pub fn from_pkcs8(der: &[u8]) -> Result<SecretKey, KeyError> {
        let key = SigningKey::from_pkcs8_der(der).map_err(|_| KeyError::Secret)?;
        Ok(SecretKey::Ed25519(Ed25519Secret(Box::new(key))))
    }

    /// The PKCS#8 structure, of version 1: the public key is left out because older readers refuse
    /// version 2.
    #[must_use]
    pub fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        let SecretKey::Ed25519(Ed25519Secret(key)) = self;
        let pair = KeypairBytes { secret_key: key.to_bytes(), public_key: None };
        let document = pair.to_pkcs8_der().expect("32 octets always fit the structure");
        document.to_bytes()
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        let SecretKey::Ed25519(Ed25519Secret(key)) = self;
        PublicKey::Ed25519(Ed25519Public(key.verifying_key()))
    }

    /// The type that signatures by this key have.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        self.public().signature_type()
    }

    /// Octets of a signature by this key.
    #[must_use]
    pub fn signature_len(&self) -> usize {
        ED25519_SIGNATURE_LEN
    }

    /// Signs `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; ED25519_SIGNATURE_LEN] {
        let SecretKey::Ed25519(Ed25519Secret(key)) = self;
        key.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({:?})", self.public())
    }
}

impl fmt::Debug for Ed25519Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519Secret")
    }
}

/// A key that checks signatures.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// Ed25519 (RFC 8032).
    Ed25519(Ed25519Public),
}

/// The point of [`PublicKey::Ed25519`].
#[derive(Clone, PartialEq, Eq)]
pub struct Ed25519Public(VerifyingKey);

impl PublicKey {
    /// Reads a DER SubjectPublicKeyInfo (RFC 5280, RFC 8410), the content of an NDN certificate.
    pub fn from_spki(der: &[u8]) -> Result<PublicKey, KeyError> {
        let key = VerifyingKey::from_public_key_der(der).map_err(|_| KeyError::Public)?;
        if key.is_weak() {
            return Err(KeyError::Weak);
        }
        Ok(PublicKey::Ed25519(Ed25519Public(key)))
    }

    /// The DER SubjectPublicKeyInfo.
    #[must_use]
    pub fn to_spki(&self) -> Vec<u8> {
        let PublicKey::Ed25519(Ed25519Public(key)) = self;
        let document = key.to_public_key_der().expect("32 octets always fit the structure");
        document.into_vec()
    }

    /// SHA-256 of the SubjectPublicKeyInfo: what a KeyDigest in a KeyLocator holds, and where
    /// the id in [`crate::certificate::key_name`] comes from.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Sha256::digest(self.to_spki()).into()
    }

    /// The type that signatures by this key have.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        match self {
            PublicKey::Ed25519(_) => SignatureType::Ed25519,
        }
    }

    /// True if `signature` is this key's over `message`. Weak points and the second forms of a
    /// valid signature are refused.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let PublicKey::Ed25519(Ed25519Public(key)) = self;
        let Ok(signature) = <&[u8; ED25519_SIGNATURE_LEN]>::try_from(signature) else {
            return false;
        };
        key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PublicKey::Ed25519(Ed25519Public(key)) = self;
        f.write_str("Ed25519:")?;
        key.as_bytes().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

#[cfg(test)]
mod tests;
