//! Secret, public and shared keys.

mod ecdsa;
mod ed25519;
mod error;
mod explicit;
#[cfg_attr(not(feature = "rsa"), path = "key/no_rsa.rs")]
mod rsa;
mod shared;

use std::fmt;

use packet::{Signature, SignatureType};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::digest::Digest;

pub use ecdsa::{EcdsaPublic, EcdsaSecret};
pub use ed25519::{Ed25519Public, Ed25519Secret};
pub use error::KeyError;
pub use rsa::{RsaPublic, RsaSecret};
pub use shared::{MIN_SHARED_KEY, SharedKey};

/// An algorithm that keys are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// ECDSA over P-256 with SHA-256.
    Ecdsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256, 2048 bits.
    Rsa,
}

/// The name of the type.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyType::Ed25519 => "ed25519",
            KeyType::Ecdsa => "ecdsa",
            KeyType::Rsa => "rsa",
        })
    }
}

/// A key that signs. Its bytes are overwritten when it is dropped, and never printed. Signatures
/// depend only on key and message, so equal packets have equal signatures.
#[derive(Clone)]
#[non_exhaustive]
pub enum SecretKey {
    /// Ed25519 (RFC 8032).
    Ed25519(Ed25519Secret),
    /// ECDSA over P-256, with the nonces of RFC 6979.
    Ecdsa(EcdsaSecret),
    /// RSASSA-PKCS1-v1_5.
    Rsa(RsaSecret),
}

impl SecretKey {
    /// A key from 32 bytes of the caller's best randomness. The same bytes give the same key. An
    /// RSA key takes up to some seconds.
    ///
    /// # Errors
    /// This program is built without RSA.
    pub fn generate(kind: KeyType, random: &[u8; 32]) -> Result<SecretKey, KeyError> {
        Ok(match kind {
            KeyType::Ed25519 => SecretKey::ed25519(random),
            KeyType::Ecdsa => SecretKey::Ecdsa(EcdsaSecret::generate(random)),
            KeyType::Rsa => SecretKey::Rsa(RsaSecret::generate(random)?),
        })
    }

    /// An Ed25519 key from 32 bytes of the caller's best randomness.
    #[must_use]
    pub fn ed25519(random: &[u8; 32]) -> SecretKey {
        SecretKey::Ed25519(Ed25519Secret::new(random))
    }

    /// Reads a PKCS#8 structure (RFC 5958), with or without the public key in it.
    pub fn from_pkcs8(der: &[u8]) -> Result<SecretKey, KeyError> {
        if let Some(key) = Ed25519Secret::from_pkcs8(der) {
            return Ok(SecretKey::Ed25519(key));
        }
        if let Some(key) = EcdsaSecret::from_pkcs8(der) {
            return Ok(SecretKey::Ecdsa(key));
        }
        RsaSecret::from_pkcs8(der).ok_or(KeyError::Secret)?.map(SecretKey::Rsa)
    }

    /// Decodes the content of ndn-cxx's files: PKCS#8, or the older structure of the algorithm,
    /// RSAPrivateKey (RFC 8017) or ECPrivateKey (RFC 5915).
    pub fn from_der(der: &[u8]) -> Result<SecretKey, KeyError> {
        if let Some(key) = EcdsaSecret::from_sec1(der) {
            return Ok(SecretKey::Ecdsa(key));
        }
        match RsaSecret::from_pkcs1(der) {
            Some(key) => key.map(SecretKey::Rsa),
            None => SecretKey::from_pkcs8(der),
        }
    }

    /// The PKCS#8 structure, in version 1, because older readers reject version 2.
    #[must_use]
    pub fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        match self {
            SecretKey::Ed25519(key) => key.to_pkcs8(),
            SecretKey::Ecdsa(key) => key.to_pkcs8(),
            SecretKey::Rsa(key) => key.to_pkcs8(),
        }
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        match self {
            SecretKey::Ed25519(key) => PublicKey::Ed25519(key.public()),
            SecretKey::Ecdsa(key) => PublicKey::Ecdsa(key.public()),
            SecretKey::Rsa(key) => PublicKey::Rsa(key.public()),
        }
    }

    /// The algorithm.
    #[must_use]
    pub fn key_type(&self) -> KeyType {
        match self {
            SecretKey::Ed25519(_) => KeyType::Ed25519,
            SecretKey::Ecdsa(_) => KeyType::Ecdsa,
            SecretKey::Rsa(_) => KeyType::Rsa,
        }
    }

    /// The type that signatures by this key have.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        signature_type(self.key_type())
    }

    /// The most bytes that a signature by this key has.
    #[must_use]
    pub fn signature_len(&self) -> usize {
        match self {
            SecretKey::Ed25519(_) => ed25519::SIGNATURE_LEN,
            SecretKey::Ecdsa(_) => ecdsa::SIGNATURE_LEN,
            SecretKey::Rsa(key) => key.signature_len(),
        }
    }

    /// Signs `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Signature {
        match self {
            SecretKey::Ed25519(key) => Signature::from(key.sign(message)),
            SecretKey::Ecdsa(key) => Signature::new(key.sign(message).as_bytes()),
            SecretKey::Rsa(key) => Signature::new(&key.sign(message)),
        }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({:?})", self.public())
    }
}

/// A key that checks signatures.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// Ed25519 (RFC 8032).
    Ed25519(Ed25519Public),
    /// ECDSA over P-256.
    Ecdsa(EcdsaPublic),
    /// RSASSA-PKCS1-v1_5.
    Rsa(RsaPublic),
}

impl PublicKey {
    /// Reads a DER SubjectPublicKeyInfo (RFC 5280), the content of an NDN certificate.
    pub fn from_spki(der: &[u8]) -> Result<PublicKey, KeyError> {
        if let Some(key) = Ed25519Public::from_spki(der) {
            return key.map(PublicKey::Ed25519);
        }
        if let Some(key) = EcdsaPublic::from_spki(der) {
            return Ok(PublicKey::Ecdsa(key));
        }
        RsaPublic::from_spki(der).ok_or(KeyError::Public)?.map(PublicKey::Rsa)
    }

    /// The DER SubjectPublicKeyInfo.
    #[must_use]
    pub fn to_spki(&self) -> Vec<u8> {
        match self {
            PublicKey::Ed25519(key) => key.to_spki(),
            PublicKey::Ecdsa(key) => key.to_spki(),
            PublicKey::Rsa(key) => key.to_spki(),
        }
    }

    /// SHA-256 of the SubjectPublicKeyInfo: the content of a KeyDigest in a KeyLocator, and the
    /// source of the id in [`crate::certificate::key_name`].
    #[must_use]
    pub fn digest(&self) -> Digest {
        Sha256::digest(self.to_spki()).into()
    }

    /// The algorithm.
    #[must_use]
    pub fn key_type(&self) -> KeyType {
        match self {
            PublicKey::Ed25519(_) => KeyType::Ed25519,
            PublicKey::Ecdsa(_) => KeyType::Ecdsa,
            PublicKey::Rsa(_) => KeyType::Rsa,
        }
    }

    /// The type that signatures by this key have.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        signature_type(self.key_type())
    }

    /// True if `signature` is this key's over `message`. Weak points of Ed25519, and the second
    /// forms of its signatures, are rejected.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            PublicKey::Ed25519(key) => key.verifies(message, signature),
            PublicKey::Ecdsa(key) => key.verifies(message, signature),
            PublicKey::Rsa(key) => key.verifies(message, signature),
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let PublicKey::Ed25519(key) = self {
            return key.fmt(f);
        }
        write!(f, "{}:", self.key_type())?;
        self.digest().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn signature_type(kind: KeyType) -> SignatureType {
    match kind {
        KeyType::Ed25519 => SignatureType::Ed25519,
        KeyType::Ecdsa => SignatureType::Sha256WithEcdsa,
        KeyType::Rsa => SignatureType::Sha256WithRsa,
    }
}

#[cfg(test)]
mod tests;
