//! RSA in a program that is built without it: keys are recognized, and none can be used.

use pkcs8::spki::SubjectPublicKeyInfoRef;
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use std::convert::Infallible;
use zeroize::Zeroizing;

use super::error::KeyError;

/// rsaEncryption of RFC 8017.
const ALGORITHM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// The secret of [`super::SecretKey::Rsa`], which does not exist here.
#[derive(Clone)]
pub enum RsaSecret {}

impl RsaSecret {
    pub(super) fn generate(_: &[u8; 32]) -> Result<RsaSecret, KeyError> {
        Err(KeyError::NoRsa)
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Option<Result<RsaSecret, KeyError>> {
        let info = PrivateKeyInfoRef::try_from(der).ok()?;
        (info.algorithm.oid == ALGORITHM).then_some(Err(KeyError::NoRsa))
    }

    /// RSAPrivateKey (RFC 8017, A.1.2) does not name its algorithm.
    pub(super) fn from_pkcs1(_: &[u8]) -> Option<Result<RsaSecret, KeyError>> {
        None
    }

    pub(super) fn to_pkcs8(&self) -> Zeroizing<Vec<u8>> {
        match *self {}
    }

    pub(super) fn public(&self) -> RsaPublic {
        match *self {}
    }

    pub(super) fn signature_len(&self) -> usize {
        match *self {}
    }

    pub(super) fn sign(&self, _: &[u8]) -> Box<[u8]> {
        match *self {}
    }
}

/// The key of [`super::PublicKey::Rsa`], which does not exist here.
#[derive(Clone, PartialEq, Eq)]
pub struct RsaPublic(Infallible);

impl RsaPublic {
    pub(super) fn from_spki(der: &[u8]) -> Option<Result<RsaPublic, KeyError>> {
        let info = SubjectPublicKeyInfoRef::try_from(der).ok()?;
        (info.algorithm.oid == ALGORITHM).then_some(Err(KeyError::NoRsa))
    }

    pub(super) fn to_spki(&self) -> Vec<u8> {
        match self.0 {}
    }

    pub(super) fn verifies(&self, _: &[u8], _: &[u8]) -> bool {
        match self.0 {}
    }
}
