//! NDN certificates, version 2: a public key under a name, for a time, signed.
//!
//! Follows the NDN Certificate Format 2.0: a Data packet named
//! `/<identity>/KEY/<KeyId>/<IssuerId>/<version>` of ContentType KEY, whose content is the key's
//! SubjectPublicKeyInfo and whose SignatureInfo has a ValidityPeriod.

use packet::tlv::{self, types};
use packet::{Bytes, Component, ContentType, Data, DataBuf, KeyLocator, Name, NameRef};

use crate::base64_text;
pub use crate::error::CertificateError;
use crate::error::VerifyError;
use crate::key::{PublicKey, SecretKey};
use crate::signer::Signer;
use crate::validity::{self, Validity};
use crate::verify::verify_signature;

/// Components that a key's name has after its identity: `KEY` and the key's id.
pub(crate) const KEY_LEN: usize = 2;

/// Components that a certificate's name has after its key's name: issuer and version.
pub(crate) const SUFFIX_LEN: usize = 2;

/// The freshness period of a certificate in ms, as the format recommends.
pub const FRESHNESS_MS: u64 = 3_600_000;

/// The component between identity and key id.
pub(crate) const KEY: &[u8] = b"KEY";

/// The issuer of a certificate that a key has signed for itself.
const SELF: &[u8] = b"self";

/// Bytes of the public key's digest that a key's id is made of, in hexadecimal.
pub(crate) const KEY_ID_BYTES: usize = 8;

/// An issuer's statement about a key.
#[derive(Debug, Clone)]
pub struct Issue {
    /// The component of the name for the issuer: `self` in a self-signed certificate, otherwise the
    /// issuer's choice.
    pub issuer: Component,
    /// The validity period of the certificate.
    pub validity: Validity,
    /// Its version, by the field's habit the time in ms since 1970.
    pub version: u64,
}

/// A certificate: its packet, and its decoded fields.
///
/// Decoding proves nothing about its signature. A certificate is trusted because its owner handed
/// it over ([`crate::TrustedKey::from_certificate`]), not by its own content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    wire: Bytes,
    name: Name,
    public: PublicKey,
    validity: Validity,
}

impl Certificate {
    /// A certificate for `identity`'s key, signed by the key itself.
    ///
    /// `version` is by the field's habit the time in ms since 1970: a later certificate of the same
    /// key must have a greater one.
    #[must_use]
    pub fn self_signed(
        identity: NameRef<'_>,
        secret: &SecretKey,
        validity: Validity,
        version: u64,
    ) -> Certificate {
        let key = key_name(identity, &secret.public());
        Certificate::self_signed_as(&key, secret, validity, version)
    }

    /// The same for a key with a known name.
    #[must_use]
    pub fn self_signed_as(
        key: &Name,
        secret: &SecretKey,
        validity: Validity,
        version: u64,
    ) -> Certificate {
        let signer = Signer::Key { secret: secret.clone(), key_locator: key.clone() };
        let issue = Issue { issuer: Component::generic(SELF), validity, version };
        Certificate::issue(key, secret.public(), &signer, &issue)
    }

    /// A certificate for the same key by the issuer `signer`.
    #[must_use]
    pub fn issued(&self, signer: &Signer, issue: &Issue) -> Certificate {
        Certificate::issue(&self.key_name(), self.public.clone(), signer, issue)
    }

    /// A certificate with the statement that the key named `key` is `public`.
    #[must_use]
    pub fn issue(key: &Name, public: PublicKey, signer: &Signer, issue: &Issue) -> Certificate {
        let version = Component::version(issue.version);
        let name = key.clone().with(&issue.issuer).with(&version);
        let data = DataBuf {
            name: name.clone(),
            content_type: ContentType::KEY,
            freshness_ms: Some(FRESHNESS_MS),
            final_block: None,
            content: Bytes::from(public.to_spki()),
        };
        let period = encode_validity(issue.validity);
        let info = signer.info().with_element(types::VALIDITY_PERIOD, &period);
        let mut wire = Vec::new();
        data.encode_into(&info, |portion| signer.sign(portion), &mut wire);
        Certificate { wire: wire.into(), name, public, validity: issue.validity }
    }

    /// Reads a certificate's packet.
    pub fn decode(wire: Bytes) -> Result<Certificate, CertificateError> {
        let data = Data::decode(&wire)?;
        let name = data.name().to_name();
        if !is_certificate_name(data.name()) {
            return Err(CertificateError::Name(name));
        }
        if data.content_type() != ContentType::KEY {
            return Err(CertificateError::ContentType(data.content_type()));
        }
        let public = PublicKey::from_spki(data.content())?;
        let validity = data
            .signature_info()
            .element(types::VALIDITY_PERIOD)
            .and_then(Validity::read)
            .ok_or(CertificateError::Validity)?;
        Ok(Certificate { wire, name, public, validity })
    }

    /// Reads a certificate as the NDN tools store and print it: its packet in base64.
    pub fn from_base64(text: &str) -> Result<Certificate, CertificateError> {
        let wire = base64_text::decode(text).ok_or(CertificateError::Base64)?;
        Certificate::decode(Bytes::copy_from_slice(&wire))
    }

    /// The packet in base64, in lines of 64 columns.
    #[must_use]
    pub fn to_base64(&self) -> String {
        base64_text::encode(&self.wire).to_string()
    }

    /// The packet.
    #[must_use]
    pub fn wire(&self) -> &Bytes {
        &self.wire
    }

    /// `/<identity>/KEY/<KeyId>/<IssuerId>/<version>`
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// `/<identity>/KEY/<KeyId>`
    #[must_use]
    pub fn key_name(&self) -> Name {
        let name = self.name.as_ref();
        name.prefix(name.len() - SUFFIX_LEN).to_name()
    }

    /// The identity of the key.
    #[must_use]
    pub fn identity(&self) -> Name {
        let name = self.name.as_ref();
        name.prefix(name.len() - SUFFIX_LEN - KEY_LEN).to_name()
    }

    /// The version, by convention the time of issue in ms since 1970; 0 if the last component is
    /// not a version.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.name.as_ref().last().and_then(|last| last.as_version_any()).unwrap_or(0)
    }

    /// The key that it names as its signer: the name of the key, or of a certificate of it.
    #[must_use]
    pub fn issuer(&self) -> Option<Name> {
        match Data::decode(&self.wire).ok()?.signature_info().key_locator()? {
            KeyLocator::Name(by) => Some(by.to_name()),
            KeyLocator::Digest(_) => None,
        }
    }

    /// True if it names its own key as the signer.
    #[must_use]
    pub fn is_self_signed(&self) -> bool {
        self.issuer().is_some_and(|by| by.as_ref().starts_with(self.key_name().as_ref()))
    }

    /// The key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Its validity period.
    #[must_use]
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// Checks that the key itself made the signature, as in every self-signed certificate. This
    /// detects a transcription error or a replaced key.
    pub fn verify_self_signed(&self) -> Result<(), VerifyError> {
        let Ok(data) = Data::decode(&self.wire) else {
            let (name, key) = (self.name.clone(), self.key_name());
            return Err(VerifyError::BadSignature { name, key });
        };
        verify_signature(&data, &self.public, &self.key_name())
    }
}

/// Name of `identity`'s key: `/<identity>/KEY/<KeyId>`, with the first eight bytes of the key's
/// digest in hexadecimal as its id.
#[must_use]
pub fn key_name(identity: NameRef<'_>, public: &PublicKey) -> Name {
    let digest = public.digest();
    let id: String = digest[..KEY_ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    identity.to_name().with(&Component::generic(KEY)).with(&Component::generic(id.as_bytes()))
}

/// True if `name` is `/<identity>/KEY/<KeyId>`.
#[must_use]
pub fn is_key_name(name: NameRef<'_>) -> bool {
    let key = name.len().checked_sub(KEY_LEN).and_then(|at| name.get(at));
    key == Some(Component::generic(KEY).as_ref())
}

/// True if `name` is `/<identity>/KEY/<KeyId>/<IssuerId>/<version>`. The version may use any
/// convention.
#[must_use]
pub fn is_certificate_name(name: NameRef<'_>) -> bool {
    name.len() >= SUFFIX_LEN + KEY_LEN && is_key_name(name.prefix(name.len() - SUFFIX_LEN))
}

/// The name of the key that a KeyLocator's name means: itself, or that of the key of a certificate.
#[must_use]
pub fn key_of(locator: NameRef<'_>) -> Option<Name> {
    if is_certificate_name(locator) {
        return Some(locator.prefix(locator.len() - SUFFIX_LEN).to_name());
    }
    is_key_name(locator).then(|| locator.to_name())
}

fn encode_validity(validity: Validity) -> Vec<u8> {
    let mut value = Vec::new();
    tlv::put_tlv(&mut value, types::NOT_BEFORE, &validity::encode(validity.not_before()));
    tlv::put_tlv(&mut value, types::NOT_AFTER, &validity::encode(validity.not_after()));
    value
}

#[cfg(test)]
mod tests;
