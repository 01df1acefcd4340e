//! HMAC-SHA256 (RFC 2104): a secret that signer and verifier share.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::digest::Digest;

/// A secret shared by signers and verifiers. Everyone who can verify with it can also sign with it.
/// Its bytes are overwritten when it is dropped, and never printed.
#[derive(Clone)]
pub struct SharedKey(Zeroizing<Vec<u8>>);

/// Fewer bytes than this can be guessed sooner than SHA-256 can be broken (RFC 2104, section 3).
pub const MIN_SHARED_KEY: usize = 32;

impl SharedKey {
    /// A shared secret. It should be random and have [`MIN_SHARED_KEY`] bytes or more.
    #[must_use]
    pub fn new(bytes: &[u8]) -> SharedKey {
        SharedKey(Zeroizing::new(bytes.to_vec()))
    }

    /// A new one from the caller's best randomness.
    #[must_use]
    pub fn generate(random: &[u8; MIN_SHARED_KEY]) -> SharedKey {
        SharedKey::new(random)
    }

    /// The secret, for storage on a disk.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// SHA-256 of the secret: the content of a KeyDigest in a KeyLocator.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Sha256::digest(&*self.0).into()
    }

    /// The signature over `message`.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Digest {
        self.mac(message).finalize().into_bytes().into()
    }

    /// True if `signature` is this secret's over `message`. The time does not depend on the first
    /// difference.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.mac(message).verify_slice(signature).is_ok()
    }

    fn mac(&self, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes any length");
        mac.update(message);
        mac
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedKey")
    }
}
