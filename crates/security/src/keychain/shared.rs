//! Shared secrets on disk and between hosts.
//!
//! Like a key, a secret has a name that its signatures contain. It has no certificate, which would
//! reveal it. Its file, mode 0600, is editable text: the line `Name: /<identity>/KEY/<KeyId>`, and
//! the secret in base64 between two lines of armour. With a passphrase it has the form of other
//! secret keys (PKCS#8, RFC 5958), with the algorithm id-hmacWithSHA256.

use std::path::{Path, PathBuf};

use packet::{Component, Name, NameRef};
use pkcs8::der::asn1::{AnyRef, OctetStringRef};
use pkcs8::spki::AlgorithmIdentifier;
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use zeroize::Zeroizing;

use super::error::{KeyChainError, Problem};
use super::file;
use crate::certificate::{self, KEY, KEY_ID_BYTES, KEY_LEN};
use crate::key::{MIN_SHARED_KEY, SharedKey};
use crate::safe_bag::{self, SEAL_RANDOM, SafeBagError};
use crate::signer::Signer;
use crate::trust::TrustedKey;

/// The extension of files of shared secrets.
pub(super) const EXTENSION: &str = "shared";

const WARNING: &str = "A shared key for Named Data Networking: whoever has this file can sign with \
                       it, and check what others signed.";
const PLAIN: [&str; 2] = ["-----BEGIN SHARED KEY-----", "-----END SHARED KEY-----"];
/// As RFC 7468 has it, section 11.
const SEALED: [&str; 2] =
    ["-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"];
/// id-hmacWithSHA256 of RFC 8018.
const ALGORITHM: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.9");

/// A shared secret and its name.
#[derive(Clone, Debug)]
pub struct StoredShared {
    /// `/<identity>/KEY/<KeyId>`
    pub name: Name,
    /// Signs and verifies.
    pub secret: SharedKey,
}

impl StoredShared {
    /// A new secret of `identity`, from the caller's best randomness for the secret and for its id.
    /// An id derived from the secret would help an attacker to guess it.
    #[must_use]
    pub fn generate(
        identity: NameRef<'_>,
        secret: &[u8; MIN_SHARED_KEY],
        id: &[u8; MIN_SHARED_KEY],
    ) -> StoredShared {
        let id: String = id[..KEY_ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        let key = [KEY, id.as_bytes()].map(Component::generic);
        let name = key.iter().fold(identity.to_name(), |name, component| name.with(component));
        StoredShared { name, secret: SharedKey::generate(secret) }
    }

    /// The identity whose names it may sign.
    #[must_use]
    pub fn identity(&self) -> Name {
        let name = self.name.as_ref();
        name.prefix(name.len().saturating_sub(KEY_LEN)).to_name()
    }

    /// A signer that names the key in the KeyLocator.
    #[must_use]
    pub fn signer(&self) -> Signer {
        Signer::Shared { secret: self.secret.clone(), key_locator: self.name.clone() }
    }

    /// Trust in all holders, for names under its identity.
    #[must_use]
    pub fn trusted(&self) -> TrustedKey {
        TrustedKey::shared(self.name.clone(), self.secret.clone(), self.identity())
    }

    /// The text of such a file.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        file::armoured(WARNING, &self.name, PLAIN, self.secret.bytes())
    }

    /// True if the text has the form of a shared secret, with or without a passphrase.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.contains(PLAIN[0]) || StoredShared::is_sealed(text)
    }

    /// True if a passphrase is needed.
    #[must_use]
    pub fn is_sealed(text: &str) -> bool {
        text.contains(SEALED[0])
    }

    /// Parses such a text.
    ///
    /// # Errors
    /// It is malformed, or the secret is easy to guess.
    pub fn from_text(text: &str) -> Result<StoredShared, Problem> {
        let bytes = file::parse_armoured(text, PLAIN)?;
        StoredShared::from_parts(text, &bytes)
    }

    /// Reads a file of such text, if no other user can read it.
    ///
    /// # Errors
    /// The file cannot be read, other users can read it too, or its content is malformed.
    pub fn read(path: &Path) -> Result<StoredShared, KeyChainError> {
        let text = file::read(path, true)?;
        StoredShared::from_text(&text).map_err(KeyChainError::damaged(path))
    }

    /// The text that [`StoredShared::unseal`] reads with the passphrase.
    ///
    /// # Errors
    /// This program is built without encryption.
    pub fn seal(
        &self,
        passphrase: &[u8],
        random: &[u8; SEAL_RANDOM],
    ) -> Result<Zeroizing<String>, SafeBagError> {
        let algorithm = AlgorithmIdentifier { oid: ALGORITHM, parameters: Some(AnyRef::NULL) };
        let secret = OctetStringRef::new(self.secret.bytes()).expect("a secret is not that long");
        let info = PrivateKeyInfoRef::new(algorithm, secret);
        let encrypted = safe_bag::encrypt(&info, passphrase, random)?;
        Ok(file::armoured("A shared key under a passphrase.", &self.name, SEALED, &encrypted))
    }

    /// Decrypts a sealed text.
    ///
    /// # Errors
    /// It is malformed, or the passphrase is wrong.
    pub fn unseal(text: &str, passphrase: &[u8]) -> Result<StoredShared, SharedError> {
        let der = safe_bag::decrypt(&file::parse_armoured(text, SEALED)?, passphrase)?;
        let info = PrivateKeyInfoRef::try_from(der.as_bytes()).ok();
        let info = info.filter(|info| info.algorithm.oid == ALGORITHM).ok_or(Problem::NoShared)?;
        Ok(StoredShared::from_parts(text, info.private_key.as_bytes())?)
    }

    fn from_parts(text: &str, bytes: &[u8]) -> Result<StoredShared, Problem> {
        if bytes.len() < MIN_SHARED_KEY {
            return Err(Problem::ShortShared(bytes.len()));
        }
        let name = file::parse_name(text)?;
        if !certificate::is_key_name(name.as_ref()) {
            return Err(Problem::NoName);
        }
        Ok(StoredShared { name, secret: SharedKey::new(bytes) })
    }
}

/// Why there is no shared secret in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharedError {
    /// The text is damaged.
    #[error(transparent)]
    Text(#[from] Problem),
    /// It is encrypted in another way, or with another passphrase.
    #[error(transparent)]
    Sealed(#[from] SafeBagError),
}

/// A shared secret as the list shows it.
#[derive(Debug, Clone)]
pub struct SharedEntry {
    /// `/<identity>/KEY/<KeyId>`
    pub name: Name,
    /// The stored secret.
    pub stored: StoredShared,
    /// Where it is.
    pub path: PathBuf,
}

#[cfg(test)]
mod tests;
