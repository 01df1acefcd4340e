//! Fetched certificates: verified ones, and others.

use packet::{Name, NameRef};

use crate::certificate::Certificate;
use crate::certificate::key_of;
use crate::validity::Validity;

/// The maximum number of certificates. Any node on the path can offer any number of them.
const MOST: usize = 128;

#[derive(Debug)]
struct Entry {
    certificate: Certificate,
    /// The validity of its whole chain, once the chain has been verified.
    trusted: Option<Validity>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// In the order of arrival.
    entries: Vec<Entry>,
}

impl Pool {
    /// Their number.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keeps a certificate. A verified one is never replaced by another of its name.
    pub fn add(&mut self, certificate: Certificate) {
        let known = self.entries.iter().position(|e| e.certificate.name() == certificate.name());
        match known {
            Some(at) if self.entries[at].trusted.is_some() => return,
            Some(at) => drop(self.entries.remove(at)),
            None if self.entries.len() == MOST => {
                let at = self.entries.iter().position(|entry| entry.trusted.is_none());
                drop(self.entries.remove(at.unwrap_or(0)));
            }
            None => {}
        }
        self.entries.push(Entry { certificate, trusted: None });
    }

    /// The certificate that a KeyLocator means: of several of one key a valid one, the newest.
    pub fn find(&self, locator: NameRef<'_>, now: u64, skew: u64) -> Option<&Certificate> {
        let key = key_of(locator)?;
        let meant = self.entries.iter().map(|entry| &entry.certificate);
        meant
            .filter(|c| c.name().as_ref().starts_with(locator) && c.key_name() == key)
            .max_by_key(|c| (c.validity().contains_about(now, skew), c.version()))
    }

    /// When the chain of a certificate is valid, if it was verified and is valid now.
    pub fn trusted(&self, name: &Name, now: u64) -> Option<Validity> {
        let entry = self.entries.iter().find(|entry| entry.certificate.name() == name)?;
        entry.trusted.filter(|span| span.contains(now))
    }

    /// These were verified, for that span.
    pub fn trust(&mut self, chain: &[Certificate], span: Validity) {
        for entry in &mut self.entries {
            if chain.contains(&entry.certificate) {
                entry.trusted = Some(span);
            }
        }
    }

    /// Drops the unverified ones of a chain.
    pub fn forget(&mut self, chain: &[Certificate]) {
        self.entries.retain(|e| e.trusted.is_some() || !chain.contains(&e.certificate));
    }
}
