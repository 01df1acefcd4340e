//! Signers of a producer.

use packet::{DataBuf, DataParts, Name, Signature, SignatureInfoBuf, SignatureType};
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::key::{SecretKey, SharedKey};

/// Signs Data packets.
///
/// `Digest` proves only that a packet was not damaged: it is for segments in a signed manifest, and
/// for packets without an author. `Key` proves the packet's maker to everyone who trusts the key.
/// `Shared` proves to the holders of a secret that one of them made it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Signer {
    /// DigestSha256: the signature is the SHA-256 of the signed portion; there is no KeyLocator.
    Digest,
    /// A key, and the name that consumers find it by.
    Key {
        /// Signs.
        secret: SecretKey,
        /// Goes into the KeyLocator: the name of the key or of its certificate.
        key_locator: Name,
    },
    /// HMAC-SHA256 with a shared secret and its name.
    Shared {
        /// Signs.
        secret: SharedKey,
        /// Goes into the KeyLocator.
        key_locator: Name,
    },
}

impl Signer {
    /// Type of the signatures made.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        match self {
            Signer::Digest => SignatureType::DigestSha256,
            Signer::Key { secret, .. } => secret.signature_type(),
            Signer::Shared { .. } => SignatureType::HmacWithSha256,
        }
    }

    /// The SignatureInfo of every packet signed with this.
    #[must_use]
    pub fn info(&self) -> SignatureInfoBuf {
        match self {
            Signer::Digest => SignatureInfoBuf::digest(),
            Signer::Key { key_locator, .. } | Signer::Shared { key_locator, .. } => {
                SignatureInfoBuf::new(self.signature_type(), Some(key_locator.clone()))
            }
        }
    }

    /// The signature value over a packet's signed portion.
    #[must_use]
    pub fn sign(&self, portion: &[u8]) -> Signature {
        match self {
            Signer::Digest => Signature::from(Digest::from(Sha256::digest(portion))),
            Signer::Key { secret, .. } => secret.sign(portion),
            Signer::Shared { secret, .. } => Signature::from(secret.sign(portion)),
        }
    }

    /// The most bytes that a signature value has.
    #[must_use]
    pub fn signature_len(&self) -> usize {
        match self {
            Signer::Digest | Signer::Shared { .. } => size_of::<Digest>(),
            Signer::Key { secret, .. } => secret.signature_len(),
        }
    }

    /// Encodes and signs a packet from its parts, and appends it to `out`. `info` is the result of
    /// [`Signer::info`]: a producer of many packets calls that once.
    pub fn encode_parts(&self, parts: &DataParts<'_>, info: &SignatureInfoBuf, out: &mut Vec<u8>) {
        parts.encode_into(info, self.signature_len(), |portion| self.sign(portion), out);
    }

    /// Encodes and signs `data`, appending it to `out`.
    pub fn encode(&self, data: &DataBuf, out: &mut Vec<u8>) {
        data.encode_into(&self.info(), |portion| self.sign(portion), out);
    }
}
