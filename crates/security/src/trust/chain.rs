//! Certificate chains, from a packet up to a directly trusted certificate.
//!
//! A [`Validator`] does no I/O. It names a missing certificate; the caller fetches it, offers it,
//! and verifies again. An offered certificate is used only after its own chain has been verified.

mod pool;

use std::sync::{Mutex, MutexGuard, PoisonError};

use packet::{Bytes, Data, KeyLocator, Name, NameRef, SignatureType};

use super::rules::Schema;
use super::signed::{Role, Signed};
use super::trusted_key::TrustedKey;
use crate::certificate::{self, Certificate, key_of};
use crate::validity::{MAX_INSTANT, Validity};

pub use crate::error::{Broken, ChainError};
use pool::Pool;

/// The default maximum of certificates between a packet and an anchor.
pub const DEFAULT_DEPTH: usize = 8;

/// The default tolerance of clocks in seconds.
pub const DEFAULT_SKEW: u64 = 60;

/// Verifies packets by chains of certificates that end at an anchor, and remembers the certificates
/// that it has verified.
#[derive(Debug)]
pub struct Validator {
    anchors: Vec<Certificate>,
    /// Secrets shared with signers.
    shared: Vec<TrustedKey>,
    schema: Schema,
    depth: usize,
    skew: u64,
    pool: Mutex<Pool>,
}

/// The claimed maker of a signature.
enum Signer<'a> {
    /// A directly trusted signer.
    Anchor(&'a Certificate),
    /// A holder of a shared secret.
    Shared(&'a TrustedKey),
    /// A key that others must certify.
    Certificate(&'a Certificate),
}

impl Validator {
    /// Trusts `anchors` directly, and those of the keys certified by them that `schema` allows.
    #[must_use]
    pub fn new(anchors: Vec<Certificate>, schema: Schema) -> Validator {
        let (shared, pool) = (Vec::new(), Mutex::default());
        Validator { anchors, shared, schema, depth: DEFAULT_DEPTH, skew: DEFAULT_SKEW, pool }
    }

    /// Trusts all holders of these shared secrets, if the schema allows the keys of their names.
    /// They sign no certificates: each holder could make any certificate, and so act as any
    /// certified key.
    #[must_use]
    pub fn with_shared(mut self, shared: Vec<TrustedKey>) -> Validator {
        self.shared = shared;
        self
    }

    /// Sets the maximum number of certificates between a packet and an anchor.
    #[must_use]
    pub fn with_depth(mut self, certificates: usize) -> Validator {
        self.depth = certificates;
        self
    }

    /// Sets the tolerance of clocks in seconds.
    #[must_use]
    pub fn with_skew(mut self, seconds: u64) -> Validator {
        self.skew = seconds;
        self
    }

    /// The certificates that are trusted for themselves.
    #[must_use]
    pub fn anchors(&self) -> &[Certificate] {
        &self.anchors
    }

    /// An anchor that is not valid at `now`, if there is one: nothing below it can be verified.
    #[must_use]
    pub fn outdated(&self, now: u64) -> Option<&Certificate> {
        self.anchors.iter().find(|anchor| !anchor.validity().contains_about(now, self.skew))
    }

    /// Verifies a packet at `now`, in seconds since 1970, and returns the name of the key that
    /// signed it. If [`ChainError::missing`] names a certificate, pass it to [`Validator::offer`]
    /// and verify again.
    pub fn verify(&self, data: &Data<'_>, now: u64) -> Result<Name, Box<ChainError>> {
        self.verify_signed(&Signed::from(data), now)
    }

    /// The same for any signed item.
    pub fn verify_signed(&self, what: &Signed<'_>, now: u64) -> Result<Name, Box<ChainError>> {
        let mut pool = self.pool();
        let mut chain: Vec<Certificate> = Vec::new();
        let verdict = self.climb(&pool, what, now, &mut chain);

        match verdict {
            Ok(span) => {
                let key = match chain.first() {
                    Some(certificate) => certificate.key_name(),
                    None => self.named_anchor(what),
                };
                pool.trust(&chain, span);
                Ok(key)
            }
            Err(why) => {
                // A forged certificate under that name may be the reason: the next caller gets
                // another chance.
                if !matches!(why, Broken::Missing(_)) {
                    pool.forget(&chain);
                }
                let chain = chain.iter().map(|certificate| certificate.name().clone()).collect();
                Err(Box::new(ChainError { name: what.name.to_name(), chain, why }))
            }
        }
    }

    /// Takes a requested certificate.
    pub fn offer(&self, data: &Data<'_>) -> Result<(), Box<ChainError>> {
        let wire = Bytes::copy_from_slice(data.wire());
        let certificate = Certificate::decode(wire).map_err(|why| {
            let (name, why) = (data.name().to_name(), Broken::NoCertificate(why));
            Box::new(ChainError { name, chain: Vec::new(), why })
        })?;
        self.pool().add(certificate);
        Ok(())
    }

    /// Follows the chain to an anchor, or to a verified certificate. Leaves the certificates on the
    /// path in `chain`, and returns the time when all of them are valid.
    fn climb(
        &self,
        pool: &Pool,
        what: &Signed<'_>,
        now: u64,
        chain: &mut Vec<Certificate>,
    ) -> Result<Validity, Broken> {
        let certificate = match self.signer_of(pool, what, now)? {
            Signer::Anchor(anchor) => {
                self.check(what, anchor, now)?;
                return Ok(anchor.validity());
            }
            Signer::Shared(key) => {
                agrees(what, key.name(), key.signature_type(), |portion, value| {
                    key.verifies(portion, value)
                })?;
                return Ok(Validity::days(0, MAX_INSTANT));
            }
            Signer::Certificate(certificate) => certificate,
        };
        if chain.iter().any(|before| before.name() == certificate.name()) {
            return Err(Broken::Circular(certificate.name().clone()));
        }
        if chain.len() == self.depth {
            return Err(Broken::TooDeep(self.depth));
        }
        chain.push(certificate.clone());
        self.check(what, certificate, now)?;
        let above = match pool.trusted(certificate.name(), now) {
            Some(known) => known,
            None => {
                let next = Data::decode(certificate.wire());
                let next = next.map_err(|why| Broken::NoCertificate(why.into()))?;
                self.climb(pool, &Signed::from(&next), now, chain)?
            }
        };
        Ok(certificate.validity().within(above))
    }

    /// Finds the certificate of the claimed signing key, if that key may sign this.
    fn signer_of<'s>(
        &'s self,
        pool: &'s Pool,
        what: &Signed<'_>,
        now: u64,
    ) -> Result<Signer<'s>, Broken> {
        let name = what.name;
        let locator = match what.key {
            Some(KeyLocator::Name(locator)) => locator,
            Some(KeyLocator::Digest(digest)) => {
                let mut anchors = self.anchors.iter();
                if let Some(anchor) = anchors.find(|a| a.public_key().digest() == *digest) {
                    return Ok(Signer::Anchor(anchor));
                }
                let mut shared = self.shared.iter();
                let key = shared.find(|key| key.is_meant_by(KeyLocator::Digest(digest)));
                let key = key.ok_or_else(|| Broken::OnlyDigest(name.to_name()))?;
                return self.shared_key(what, key);
            }
            None => return Err(Broken::NoKeyLocator(name.to_name())),
        };
        let Some(key) = key_of(locator) else {
            return Err(Broken::NoKey { packet: name.to_name(), locator: locator.to_name() });
        };
        if let Some(anchor) = self.anchor(&key, locator) {
            return Ok(Signer::Anchor(anchor));
        }
        if let Some(shared) = self.shared.iter().find(|shared| *shared.name() == key) {
            return self.shared_key(what, shared);
        }
        if is_certificate(what) && name.starts_with(key.as_ref()) {
            return Err(Broken::Unknown(name.to_name()));
        }
        // A key that may not sign this, or can never be certified, need not be fetched.
        self.may_sign(what, key.as_ref(), None)?;
        if matches!(self.schema, Schema::Hierarchy) && !self.is_below_an_anchor(&key) {
            return Err(Broken::NoAnchor { packet: name.to_name(), key });
        }
        let certificate = pool.find(locator, now, self.skew);
        certificate.map(Signer::Certificate).ok_or_else(|| Broken::Missing(locator.to_name()))
    }

    /// A shared secret, if it may sign this.
    fn shared_key<'s>(
        &self,
        what: &Signed<'_>,
        shared: &'s TrustedKey,
    ) -> Result<Signer<'s>, Broken> {
        let key = shared.name();
        if is_certificate(what) {
            return Err(Broken::NotAllowed { packet: what.name.to_name(), key: key.clone() });
        }
        self.may_sign(what, key.as_ref(), Some(key.as_ref()))?;
        Ok(Signer::Shared(shared))
    }

    /// The anchor of that key: the certificate named, or else another one of the same key.
    fn anchor(&self, key: &Name, locator: NameRef<'_>) -> Option<&Certificate> {
        let mut of_key = self.anchors.iter().filter(|anchor| anchor.key_name() == *key);
        let first = of_key.clone().next();
        of_key.find(|anchor| anchor.name().as_ref() == locator).or(first)
    }

    fn is_below_an_anchor(&self, key: &Name) -> bool {
        self.anchors.iter().any(|anchor| key.as_ref().starts_with(anchor.identity().as_ref()))
    }

    fn may_sign(
        &self,
        what: &Signed<'_>,
        key: NameRef<'_>,
        certificate: Option<NameRef<'_>>,
    ) -> Result<(), Broken> {
        if self.schema.allows(what, key, certificate) {
            return Ok(());
        }
        Err(Broken::NotAllowed { packet: what.name.to_name(), key: key.to_name() })
    }

    /// Checks that `certificate`'s key may sign this, is valid, and did sign it.
    fn check(&self, what: &Signed<'_>, certificate: &Certificate, now: u64) -> Result<(), Broken> {
        let key = certificate.key_name();
        self.may_sign(what, key.as_ref(), Some(certificate.name().as_ref()))?;
        let validity = certificate.validity();
        if !validity.contains_about(now, self.skew) {
            let certificate = certificate.name().clone();
            return Err(Broken::NotValid { certificate, validity, now });
        }
        let public = certificate.public_key();
        agrees(what, &key, public.signature_type(), |portion, value| {
            public.verifies(portion, value)
        })
    }

    /// The key's name of the anchor that this was verified with.
    fn named_anchor(&self, what: &Signed<'_>) -> Name {
        let digest = match what.key {
            Some(KeyLocator::Digest(digest)) => digest,
            Some(KeyLocator::Name(name)) => return key_of(name).unwrap_or_default(),
            None => return Name::default(),
        };
        let mut anchors = self.anchors.iter();
        if let Some(anchor) = anchors.find(|anchor| anchor.public_key().digest() == *digest) {
            return anchor.key_name();
        }
        let mut shared = self.shared.iter();
        let meant = shared.find(|key| key.is_meant_by(KeyLocator::Digest(digest)));
        meant.map(|key| key.name().clone()).unwrap_or_default()
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_certificate(what: &Signed<'_>) -> bool {
    matches!(what.role, Role::Packet) && certificate::is_certificate_name(what.name)
}

/// A signature of another type than the key's is rejected before it is checked: a public key must
/// never be used as a shared secret.
fn agrees(
    what: &Signed<'_>,
    key: &Name,
    kind: SignatureType,
    verifies: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<(), Broken> {
    let (packet, key) = (what.name.to_name(), key.clone());
    if what.kind != kind {
        return Err(Broken::WrongType { packet, key });
    }
    match verifies(&what.portion, what.value) {
        true => Ok(()),
        false => Err(Broken::Signature { packet, key }),
    }
}

#[cfg(test)]
mod tests;
