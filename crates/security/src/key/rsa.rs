//! RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017), moduli of 2048 bits and more.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs1v15::{Signature, SigningKey, VerifyingKey};
use rsa::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use rsa::signature::{RandomizedSigner as _, SignatureEncoding as _, Verifier as _};
use rsa::traits::PublicKeyParts as _;
use rsa::{RsaPrivateKey, RsaPublicKey};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::error::KeyError;

/// Bits of a new modulus, and the minimum that is accepted.
const BITS: usize = 2048;

/// The secret of [`super::SecretKey::Rsa`]. It is boxed so that moving the key leaves no copies.
#[derive(Clone)]
pub struct RsaSecret(Box<RsaPrivateKey>);

impl RsaSecret {
    pub(super) fn generate(random: &[u8; 32]) -> Result<RsaSecret, KeyError> {
        let mut rng = ChaCha20Rng::from_seed(*random);
        let key = RsaPrivateKey::new(&mut rng, BITS).expect("there are primes of this size");
        Ok(RsaSecret(Box::new(key)))
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Option<Result<RsaSecret, KeyError>> {
        RsaPrivateKey::from_pkcs8_der(der).ok().map(RsaSecret::checked)
    }

    /// Reads the structure RSAPrivateKey (RFC 8017, A.1.2).
    pub(super) fn from_pkcs1(der: &[u8]) -> Option<Result<RsaSecret, KeyError>> {
        RsaPrivateKey::from_pkcs1_der(der).ok().map(RsaSecret::checked)
    }

    fn checked(key: RsaPrivateKey) -> Result<RsaSecret, KeyError> {
        check_size(key.n().bits())?;
        Ok(RsaSecret(Box::new(key)))
    }

    pub(super) fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        self.0.to_pkcs8_der().expect("a key always fits the structure").to_bytes()
    }

    pub(super) fn public(&self) -> RsaPublic {
        RsaPublic(self.0.to_public_key())
    }

    pub(super) fn signature_len(&self) -> usize {
        self.0.size()
    }

    /// The signature is a function of the message. The blinding against timing attacks is derived
    /// from secret and message, so it cannot be guessed.
    pub(super) fn sign(&self, message: &[u8]) -> Box<[u8]> {
        let secret = self.to_pkcs8();
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).expect("HMAC takes any length");
        mac.update(message);
        let mut rng = ChaCha20Rng::from_seed(mac.finalize().into_bytes().into());
        let key = SigningKey::<Sha256>::new((*self.0).clone());
        key.sign_with_rng(&mut rng, message).to_bytes()
    }
}

/// The modulus and exponent of [`super::PublicKey::Rsa`].
#[derive(Clone, PartialEq, Eq)]
pub struct RsaPublic(RsaPublicKey);

impl RsaPublic {
    pub(super) fn from_spki(der: &[u8]) -> Option<Result<RsaPublic, KeyError>> {
        let key = RsaPublicKey::from_public_key_der(der).ok()?;
        Some(check_size(key.n().bits()).map(|()| RsaPublic(key)))
    }

    pub(super) fn to_spki(&self) -> Vec<u8> {
        self.0.to_public_key_der().expect("a key always fits the structure").into_vec()
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = VerifyingKey::<Sha256>::new(self.0.clone());
        Signature::try_from(signature)
            .is_ok_and(|signature| key.verify(message, &signature).is_ok())
    }
}

fn check_size(bits: u32) -> Result<(), KeyError> {
    if (bits as usize) < BITS { Err(KeyError::Short { bits }) } else { Ok(()) }
}
