//! Keys that a consumer trusts.

use packet::{Data, KeyLocator, Name, SignatureType};

use crate::certificate::{self, Certificate};
use crate::digest::Digest;
use crate::error::VerifyError;
use crate::key::{PublicKey, SharedKey};
use crate::verify::{verify_shared, verify_signature};

/// A key that a consumer trusts, and its scope.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    name: Name,
    scope: Name,
    key: Key,
    digest: Digest,
}

/// The key for checking signatures.
#[derive(Debug, Clone)]
enum Key {
    Public(PublicKey),
    Shared(SharedKey),
}

impl TrustedKey {
    /// Trusts the key named `name` (`/<identity>/KEY/<KeyId>`) for names under `scope`. The empty
    /// name as scope means any name.
    #[must_use]
    pub fn new(name: Name, public: PublicKey, scope: Name) -> TrustedKey {
        let digest = public.digest();
        TrustedKey { name, scope, key: Key::Public(public), digest }
    }

    /// Trusts all holders of the shared secret named `name`, for names under `scope`.
    #[must_use]
    pub fn shared(name: Name, secret: SharedKey, scope: Name) -> TrustedKey {
        let digest = secret.digest();
        TrustedKey { name, scope, key: Key::Shared(secret), digest }
    }

    /// Trusts a certificate's key for names under its identity. The caller, who has a clock, checks
    /// the certificate's validity period.
    #[must_use]
    pub fn from_certificate(certificate: &Certificate) -> TrustedKey {
        let public = certificate.public_key().clone();
        TrustedKey::new(certificate.key_name(), public, certificate.identity())
    }

    /// The same key, trusted for names under `scope` instead.
    #[must_use]
    pub fn for_names_under(mut self, scope: Name) -> TrustedKey {
        self.scope = scope;
        self
    }

    /// The key's name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Prefix of the names that it may sign.
    #[must_use]
    pub fn scope(&self) -> &Name {
        &self.scope
    }

    /// True if a KeyLocator means this key: by its name, by the name of one of its certificates, or
    /// by its digest.
    pub(super) fn is_meant_by(&self, locator: KeyLocator<'_>) -> bool {
        match locator {
            KeyLocator::Name(name) => {
                let key = self.name.as_ref();
                name.starts_with(key) && name.len() <= key.len() + certificate::SUFFIX_LEN
            }
            KeyLocator::Digest(digest) => digest == self.digest,
        }
    }

    /// Type of the signatures made.
    pub(super) fn signature_type(&self) -> SignatureType {
        match &self.key {
            Key::Public(key) => key.signature_type(),
            Key::Shared(_) => SignatureType::HmacWithSha256,
        }
    }

    /// True if the signature is this key's over that.
    pub(super) fn verifies(&self, portion: &[u8], value: &[u8]) -> bool {
        match &self.key {
            Key::Public(key) => key.verifies(portion, value),
            Key::Shared(key) => key.verifies(portion, value),
        }
    }

    pub(super) fn verify(&self, data: &Data<'_>) -> Result<(), VerifyError> {
        match &self.key {
            Key::Public(key) => verify_signature(data, key, &self.name),
            Key::Shared(key) => verify_shared(data, key, &self.name),
        }
    }
}
