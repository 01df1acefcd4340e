//! ECDSA over P-256 with SHA-256 (FIPS 186-5), signatures in DER.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use p256::SecretKey as Scalar;
use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{DerSignature, SigningKey, VerifyingKey};
use p256::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use zeroize::Zeroizing;

use super::explicit;

/// The most bytes that a signature has: two integers of 33 bytes in DER.
pub(super) const SIGNATURE_LEN: usize = 72;

/// The secret of [`super::SecretKey::Ecdsa`]. It is boxed so that moving the key leaves no copies.
#[derive(Clone)]
pub struct EcdsaSecret(Box<SigningKey>);

impl EcdsaSecret {
    /// The first number from the generator that is below the order of the curve.
    pub(super) fn generate(random: &[u8; 32]) -> EcdsaSecret {
        let mut rng = ChaCha20Rng::from_seed(*random);
        loop {
            let mut bytes = Zeroizing::new([0; 32]);
            rng.fill_bytes(&mut *bytes);
            if let Ok(key) = SigningKey::from_slice(&*bytes) {
                return EcdsaSecret(Box::new(key));
            }
        }
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Option<EcdsaSecret> {
        let key = SigningKey::from_pkcs8_der(der).ok().or_else(|| explicit::from_pkcs8(der));
        key.map(|key| EcdsaSecret(Box::new(key)))
    }

    /// Reads the structure ECPrivateKey (RFC 5915).
    pub(super) fn from_sec1(der: &[u8]) -> Option<EcdsaSecret> {
        let key = Scalar::from_sec1_der(der).ok().map(|key| SigningKey::from(&key));
        key.or_else(|| explicit::from_sec1(der)).map(|key| EcdsaSecret(Box::new(key)))
    }

    pub(super) fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        self.0.to_pkcs8_der().expect("a scalar always fits the structure").to_bytes()
    }

    pub(super) fn public(&self) -> EcdsaPublic {
        EcdsaPublic(*self.0.verifying_key())
    }

    /// The nonce is derived from secret and message (RFC 6979), so equal packets have equal
    /// signatures and bad randomness cannot reveal the key.
    pub(super) fn sign(&self, message: &[u8]) -> DerSignature {
        self.0.sign(message)
    }
}

/// The point of [`super::PublicKey::Ecdsa`].
#[derive(Clone, PartialEq, Eq)]
pub struct EcdsaPublic(VerifyingKey);

impl EcdsaPublic {
    pub(super) fn from_spki(der: &[u8]) -> Option<EcdsaPublic> {
        let key = VerifyingKey::from_public_key_der(der).ok();
        key.or_else(|| explicit::from_spki(der)).map(EcdsaPublic)
    }

    pub(super) fn to_spki(&self) -> Vec<u8> {
        self.0.to_public_key_der().expect("a point always fits the structure").into_vec()
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        DerSignature::try_from(signature)
            .is_ok_and(|signature| self.0.verify(message, &signature).is_ok())
    }
}
