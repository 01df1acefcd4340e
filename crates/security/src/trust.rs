//! Whom a consumer trusts.

use packet::{Data, KeyLocator, Name, SignatureType};

use crate::certificate::{self, Certificate};
use crate::verify::{verify_digest, verify_signature};
use crate::{Digest, Proof, PublicKey, VerifyError};

/// A public key that a consumer trusts, and what for.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    name: Name,
    scope: Name,
    public: PublicKey,
    digest: Digest,
}

impl TrustedKey {
    /// Trusts the key named `name` (`/<identity>/KEY/<KeyId>`) for names under `scope`. The empty
    /// name as scope means any name.
    #[must_use]
    pub fn new(name: Name, public: PublicKey, scope: Name) -> TrustedKey {
        let digest = public.digest();
        TrustedKey { name, scope, public, digest }
    }

    /// Trusts a certificate's key for names under its identity. Whether the certificate is within
    /// its validity period is for the caller to ask, who has a clock.
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
    fn is_meant_by(&self, locator: KeyLocator<'_>) -> bool {
        match locator {
            KeyLocator::Name(name) => {
                let key = self.name.as_ref();
                name.starts_with(key) && name.len() <= key.len() + certificate::SUFFIX_LEN
            }
            KeyLocator::Digest(digest) => digest == self.digest,
        }
    }
}

/// What a consumer demands of a packet's signature.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TrustPolicy {
    /// The packet carries DigestSha256 and it matches. Protects from damage on the way, and from
    /// nothing else: whoever can answer an Interest can make such a packet. Signed packets are
    /// refused, because nobody has checked them.
    DigestOnly,
    /// The packet is signed by one of these keys, within its scope. Protects from damage and from
    /// forgery by anyone who has none of the secret keys. It does not protect from an old packet
    /// that was validly signed once, and it follows no chain of certificates: each key that is to
    /// be trusted is listed.
    Keys(Vec<TrustedKey>),
    /// Any packet whose signature is not known to be wrong. A digest is checked; a signature by one
    /// of these keys is checked; a signature by another key, or of a type that is not implemented,
    /// is let through as [`Proof::Unchecked`]. Protects from damage of digest-signed packets only:
    /// for reading what other tools publish, when the bytes are checked by other means.
    AnySigned(Vec<TrustedKey>),
}

impl TrustPolicy {
    /// Checks a packet's signature.
    pub fn verify(&self, data: &Data<'_>) -> Result<Proof, VerifyError> {
        let info = data.signature_info();
        let digest = info.signature_type() == SignatureType::DigestSha256;
        match self {
            TrustPolicy::DigestOnly | TrustPolicy::AnySigned(_) if digest => {
                verify_digest(data).map(|()| Proof::Digest)
            }
            TrustPolicy::DigestOnly => Err(VerifyError::NoTrustedKeys(data.name().to_name())),
            TrustPolicy::Keys(_) if digest => Err(VerifyError::NotSigned(data.name().to_name())),
            TrustPolicy::Keys(keys) => verify_by(keys, data).map(Proof::Key),
            TrustPolicy::AnySigned(keys) => match verify_by(keys, data) {
                Ok(key) => Ok(Proof::Key(key)),
                Err(
                    VerifyError::UnknownKey { .. }
                    | VerifyError::NoKeyLocator(_)
                    | VerifyError::UnsupportedSignatureType { .. },
                ) => Ok(Proof::Unchecked),
                Err(wrong) => Err(wrong),
            },
        }
    }
}

/// Finds the key that the packet names among `keys`, checks the signature, and returns its name.
fn verify_by(keys: &[TrustedKey], data: &Data<'_>) -> Result<Name, VerifyError> {
    let info = data.signature_info();
    let name = || data.name().to_name();
    let found = info.signature_type();
    if found != SignatureType::Ed25519 {
        return Err(VerifyError::UnsupportedSignatureType { name: name(), found });
    }
    let locator = info.key_locator().ok_or_else(|| VerifyError::NoKeyLocator(name()))?;
    let mut meant = keys.iter().filter(|key| key.is_meant_by(locator)).peekable();
    let Some(first) = meant.peek().copied() else {
        return Err(VerifyError::UnknownKey { name: name(), key: describe(locator) });
    };
    // The same key may be listed several times, with different scopes.
    let in_scope = meant.find(|key| data.name().starts_with(key.scope.as_ref()));
    let Some(key) = in_scope else {
        let (key, scope) = (first.name.clone(), first.scope.clone());
        return Err(VerifyError::OutOfScope { name: name(), key, scope });
    };
    verify_signature(data, &key.public, &key.name)?;
    Ok(key.name.clone())
}

fn describe(locator: KeyLocator<'_>) -> String {
    match locator {
        KeyLocator::Name(name) => name.to_string(),
        KeyLocator::Digest(digest) => digest.iter().map(|octet| format!("{octet:02x}")).collect(),
    }
}
