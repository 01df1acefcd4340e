//! A key taken from the disk.

use crate::certificate::Certificate;
use crate::key::SecretKey;
use crate::signer::Signer;

/// A key taken from the disk.
#[derive(Debug, Clone)]
pub struct StoredKey {
    /// Signs.
    pub secret: SecretKey,
    /// Identifies the signer.
    pub certificate: Certificate,
}

impl StoredKey {
    /// A signer that names the certificate in the KeyLocator, so that a consumer can ask for it.
    #[must_use]
    pub fn signer(&self) -> Signer {
        let key_locator = self.certificate.name().clone();
        Signer::Key { secret: self.secret.clone(), key_locator }
    }
}
