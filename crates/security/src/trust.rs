//! A consumer's trust.

pub mod chain;
pub mod light_versec;
pub mod pattern;
pub mod rules;
pub mod signed;
mod trusted_key;

use std::sync::Arc;

use packet::{Data, KeyLocator, Name, SignatureType};

pub use chain::{Broken, ChainError, Validator};
pub use light_versec::{LightVerSec, ModelError};
pub use pattern::{Pattern, PatternError};
pub use rules::{Rule, Schema, Subject};
pub use signed::{Role, Signed};
pub use trusted_key::TrustedKey;

use crate::error::VerifyError;
use crate::verify::{Proof, verify_digest};

/// A consumer's requirements for a packet's signature.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TrustPolicy {
    /// The packet has DigestSha256 and it matches. This protects only from damage on the path: any
    /// node that answers an Interest can make such a packet. Signed packets are rejected, because
    /// their signature is not checked.
    DigestOnly,
    /// The packet is signed by one of these keys, within its scope. This protects from damage and
    /// from forgery without one of the secret keys. It does not protect from an old packet with a
    /// valid signature. It follows no certificate chain: each trusted key is listed.
    Keys(Vec<TrustedKey>),
    /// Any packet whose signature is not known to be wrong. Digests and signatures by these keys
    /// are checked. A signature by another key, or of an unsupported type, is accepted as
    /// [`Proof::Unchecked`]. This protects digest-signed packets from damage, and is for reading
    /// other tools' content when the bytes are checked by other means.
    AnySigned(Vec<TrustedKey>),
    /// The packet is signed by a key with a certificate chain from an anchor, by the rules. This
    /// protects like [`TrustPolicy::Keys`], if all key owners in the chain are trustworthy.
    Chains(Chains),
}

/// A validator at an instant.
#[derive(Debug, Clone)]
pub struct Chains {
    /// The validator. Fetches that share it share its verified certificates.
    pub validator: Arc<Validator>,
    /// Seconds since 1970.
    pub now: u64,
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
            TrustPolicy::Keys(_) | TrustPolicy::Chains(_) if digest => {
                Err(VerifyError::NotSigned(data.name().to_name()))
            }
            TrustPolicy::Chains(Chains { validator, now }) => {
                validator.verify(data, *now).map(Proof::Key).map_err(Into::into)
            }
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

impl TrustPolicy {
    /// True if only signatures by trusted keys are accepted.
    #[must_use]
    pub fn needs_key(&self) -> bool {
        matches!(self, TrustPolicy::Keys(_) | TrustPolicy::Chains(_))
    }

    /// Takes a certificate that [`VerifyError::missing`] named, so that packets signed with it can
    /// be verified again.
    pub fn offer(&self, certificate: &Data<'_>) -> Result<(), VerifyError> {
        match self {
            TrustPolicy::Chains(chains) => Ok(chains.validator.offer(certificate)?),
            _ => Ok(()),
        }
    }
}

/// Finds the key that the packet names among `keys`, checks the signature, and returns its name.
fn verify_by(keys: &[TrustedKey], data: &Data<'_>) -> Result<Name, VerifyError> {
    let info = data.signature_info();
    let name = data.name();
    let found = info.signature_type();
    if matches!(found, SignatureType::Null | SignatureType::Other(_)) {
        return Err(VerifyError::UnsupportedSignatureType { name: name.to_name(), found });
    }
    let Some(locator) = info.key_locator() else {
        return Err(VerifyError::NoKeyLocator(name.to_name()));
    };
    let mut meant = keys.iter().filter(|key| key.is_meant_by(locator)).peekable();
    let Some(first) = meant.peek().copied() else {
        return Err(VerifyError::UnknownKey { name: name.to_name(), key: describe(locator) });
    };
    // The same key may be listed several times, with different scopes.
    let Some(key) = meant.find(|key| name.starts_with(key.scope().as_ref())) else {
        let (key, scope) = (first.name().clone(), first.scope().clone());
        return Err(VerifyError::OutOfScope { name: name.to_name(), key, scope });
    };
    key.verify(data)?;
    Ok(key.name().clone())
}

fn describe(locator: KeyLocator<'_>) -> String {
    match locator {
        KeyLocator::Name(name) => name.to_string(),
        KeyLocator::Digest(digest) => digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
