//! Keys on disk.
//!
//! A key chain is a directory, mode 0700. It has two files per key, one per shared secret, and one
//! with the name of the default key:
//!
//! | file | mode | content |
//! |---|---|---|
//! | `<stem>.key` | 0600 | the key's name and the secret as PKCS#8 in PEM |
//! | `<stem>.cert` | 0600 | the certificate in base64, as `ndnsec` reads and writes it |
//! | `<stem>.shared` | 0600 | a shared secret's name, and the secret in base64 |
//! | `default` | 0600 | the default key's name |
//!
//! The stem consists of the readable bytes of the key's name and a digest of the whole name. So no
//! name leads out of the directory, and no two names share a file. The name inside the file is
//! authoritative.
//!
//! Every file is written beside its place, flushed to the disk and then renamed, so a crash leaves
//! the old file or the new one. Leftovers of a crash have names that begin with `.tmp-` and are
//! never read.

pub(crate) mod error;
pub(crate) mod file;
mod shared;
pub(crate) mod stored;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use packet::{Name, NameRef};

use crate::certificate::{self, Certificate};
use crate::key::SecretKey;

pub use error::{KeyChainError, Problem};
pub use shared::{SharedEntry, SharedError, StoredShared};
pub use stored::StoredKey;

/// File that names the default key.
const DEFAULT: &str = "default";

/// A directory of keys.
#[derive(Debug, Clone)]
pub struct KeyChain {
    dir: PathBuf,
}

/// A key as the list shows it.
#[derive(Debug, Clone)]
pub struct KeyEntry {
    /// `/<identity>/KEY/<KeyId>`
    pub name: Name,
    /// Its certificate.
    pub certificate: Certificate,
    /// Where the secret is.
    pub path: PathBuf,
    /// True for the default key.
    pub default: bool,
}

/// Everything found in a key chain.
#[derive(Debug, Default)]
pub struct Listing {
    /// The usable keys, by name.
    pub keys: Vec<KeyEntry>,
    /// The usable shared secrets, by name.
    pub shared: Vec<SharedEntry>,
    /// The faults of the other files.
    pub problems: Vec<KeyChainError>,
}

impl KeyChain {
    /// Opens the key chain in `dir`, and creates the directory if necessary.
    pub fn open(dir: impl Into<PathBuf>) -> Result<KeyChain, KeyChainError> {
        let dir = dir.into();
        file::prepare(&dir)?;
        Ok(KeyChain { dir })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Stores a new key with its certificate. The first key of a key chain becomes its default.
    pub fn insert(
        &self,
        secret: &SecretKey,
        certificate: &Certificate,
    ) -> Result<(), KeyChainError> {
        let name = certificate.key_name();
        if *certificate.public_key() != secret.public() {
            let certificate = certificate.name().clone();
            return Err(KeyChainError::OtherCertificate { certificate, key: name });
        }
        fits(certificate)?;
        let path = self.path(name.as_ref(), "key");
        if path.exists() {
            return Err(KeyChainError::Exists(name));
        }
        // The certificate first: it is ignored without its key, so a crash in between leaves no
        // partial entry.
        let text = certificate.to_base64();
        file::write(&self.path(name.as_ref(), "cert"), &text, true)?;
        match file::write(&path, &file::secret_text(&name, secret), false) {
            Err(KeyChainError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists =>
            {
                return Err(KeyChainError::Exists(name));
            }
            other => other?,
        }
        match self.default_key() {
            Err(KeyChainError::NoDefault { .. }) => self.set_default(name.as_ref()),
            _ => Ok(()),
        }
    }

    /// Replaces the certificate of its key.
    pub fn set_certificate(&self, certificate: &Certificate) -> Result<(), KeyChainError> {
        let key = certificate.key_name();
        let stored = self.load(key.as_ref())?;
        if *certificate.public_key() != stored.secret.public() {
            let certificate = certificate.name().clone();
            return Err(KeyChainError::OtherCertificate { certificate, key });
        }
        fits(certificate)?;
        file::write(&self.path(key.as_ref(), "cert"), &certificate.to_base64(), true)
    }

    /// All keys, by name, and all problems.
    pub fn list(&self) -> Result<Listing, KeyChainError> {
        let default = self.default_key().ok();
        let mut listing = Listing::default();
        for entry in fs::read_dir(&self.dir).map_err(KeyChainError::io("list", &self.dir))? {
            let path = entry.map_err(KeyChainError::io("list", &self.dir))?.path();
            let taken = match path.extension().and_then(|extension| extension.to_str()) {
                Some("key") => {
                    self.entry(&path, default.as_ref()).map(|entry| listing.keys.push(entry))
                }
                Some(shared::EXTENSION) => {
                    self.shared_entry(&path).map(|entry| listing.shared.push(entry))
                }
                _ => Ok(()),
            };
            listing.problems.extend(taken.err());
        }
        listing.keys.sort_by(|a, b| a.name.cmp(&b.name));
        listing.shared.sort_by(|a, b| a.name.cmp(&b.name));
        listing.problems.sort_by_key(ToString::to_string);
        Ok(listing)
    }

    /// The key of that name, or of that identity: its default key if it is one of them, otherwise
    /// the one with the newest certificate.
    pub fn get(&self, name: NameRef<'_>) -> Result<StoredKey, KeyChainError> {
        if certificate::is_key_name(name) && self.path(name, "key").exists() {
            return self.load(name);
        }
        let mut listing = self.list()?;
        let newest = listing
            .keys
            .iter()
            .filter(|entry| entry.certificate.identity().as_ref() == name)
            .max_by_key(|entry| (entry.default, entry.certificate.version()));
        if let Some(entry) = newest {
            return self.load(entry.name.as_ref());
        }
        // The requested key may be among the damaged ones.
        Err(listing.problems.pop().unwrap_or_else(|| self.not_found(name)))
    }

    /// The default key.
    pub fn get_default(&self) -> Result<StoredKey, KeyChainError> {
        self.load(self.default_key()?.as_ref())
    }

    /// Name of the default key.
    pub fn default_key(&self) -> Result<Name, KeyChainError> {
        let path = self.dir.join(DEFAULT);
        let text = match file::read(&path, false) {
            Err(KeyChainError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(KeyChainError::NoDefault { dir: self.dir.clone() });
            }
            other => other?,
        };
        let name = text.trim().parse().ok().filter(|n: &Name| certificate::is_key_name(n.as_ref()));
        name.ok_or(KeyChainError::Damaged { path, problem: Problem::NoKeyName })
    }

    /// Makes the key named `name` the default.
    pub fn set_default(&self, name: NameRef<'_>) -> Result<(), KeyChainError> {
        self.must_exist(name)?;
        file::write(&self.dir.join(DEFAULT), &format!("{name}\n"), true)
    }

    /// Deletes the key named `name` and its certificate. If it was the default, there is no default
    /// afterwards.
    pub fn delete(&self, name: NameRef<'_>) -> Result<(), KeyChainError> {
        self.must_exist(name)?;
        if self.default_key().is_ok_and(|default| default.as_ref() == name) {
            file::remove(&self.dir.join(DEFAULT))?;
        }
        file::remove(&self.path(name, "key"))?;
        file::remove(&self.path(name, "cert"))?;
        file::sync(&self.dir).map_err(KeyChainError::io("write", &self.dir))
    }

    fn must_exist(&self, name: NameRef<'_>) -> Result<(), KeyChainError> {
        if self.path(name, "key").exists() {
            return Ok(());
        }
        Err(self.not_found(name))
    }

    fn not_found(&self, name: NameRef<'_>) -> KeyChainError {
        KeyChainError::NotFound { name: name.to_name(), dir: self.dir.clone() }
    }

    fn load(&self, name: NameRef<'_>) -> Result<StoredKey, KeyChainError> {
        self.must_exist(name)?;
        let path = self.path(name, "key");
        let text = file::read(&path, true)?;
        let found = file::parse_name(&text).map_err(KeyChainError::damaged(&path))?;
        if found.as_ref() != name {
            return Err(KeyChainError::Damaged { path, problem: Problem::OtherName(found) });
        }
        let secret = file::parse_secret(&text).map_err(KeyChainError::damaged(&path))?;
        let certificate = self.certificate(name)?;
        if *certificate.public_key() != secret.public() {
            return Err(KeyChainError::OtherCertificate {
                certificate: certificate.name().clone(),
                key: found,
            });
        }
        Ok(StoredKey { secret, certificate })
    }

    fn entry(&self, path: &Path, default: Option<&Name>) -> Result<KeyEntry, KeyChainError> {
        let text = file::read(path, true)?;
        let name = file::parse_name(&text).map_err(KeyChainError::damaged(path))?;
        if self.path(name.as_ref(), "key") != path {
            let problem = Problem::OtherName(name);
            return Err(KeyChainError::Damaged { path: path.to_owned(), problem });
        }
        file::parse_secret(&text).map_err(KeyChainError::damaged(path))?;
        let certificate = self.certificate(name.as_ref())?;
        let default = default == Some(&name);
        Ok(KeyEntry { name, certificate, path: path.to_owned(), default })
    }

    fn certificate(&self, name: NameRef<'_>) -> Result<Certificate, KeyChainError> {
        let path = self.path(name, "cert");
        let text = match file::read(&path, false) {
            Err(KeyChainError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(KeyChainError::Damaged { path, problem: Problem::Missing });
            }
            other => other?,
        };
        let certificate = Certificate::from_base64(&text).map_err(KeyChainError::damaged(&path))?;
        if certificate.key_name().as_ref() != name {
            let problem = Problem::OtherName(certificate.key_name());
            return Err(KeyChainError::Damaged { path, problem });
        }
        Ok(certificate)
    }

    fn path(&self, name: NameRef<'_>, extension: &str) -> PathBuf {
        self.dir.join(format!("{}.{extension}", file::stem(name)))
    }

    /// Stores a shared secret, and returns in which file.
    ///
    /// # Errors
    /// A key has its name already, or the file cannot be written.
    pub fn insert_shared(&self, shared: &StoredShared) -> Result<PathBuf, KeyChainError> {
        let path = self.path(shared.name.as_ref(), shared::EXTENSION);
        if path.exists() || self.path(shared.name.as_ref(), "key").exists() {
            return Err(KeyChainError::Exists(shared.name.clone()));
        }
        file::write(&path, &shared.to_text(), false)?;
        Ok(path)
    }

    /// The shared secret of that name, or the only one of that identity.
    ///
    /// # Errors
    /// None exists, several do, or its file cannot be used.
    pub fn get_shared(&self, name: NameRef<'_>) -> Result<StoredShared, KeyChainError> {
        let mut listing = self.list()?;
        let mut meant = listing.shared.iter().filter(|shared| {
            shared.name.as_ref() == name || shared.stored.identity().as_ref() == name
        });
        if let Some(found) = meant.next() {
            return match meant.next() {
                Some(_) => Err(KeyChainError::Ambiguous(name.to_name())),
                None => Ok(found.stored.clone()),
            };
        }
        // The requested secret may be among the damaged ones.
        Err(listing.problems.pop().unwrap_or_else(|| self.not_found(name)))
    }

    fn shared_entry(&self, path: &Path) -> Result<SharedEntry, KeyChainError> {
        let stored = StoredShared::read(path)?;
        if self.path(stored.name.as_ref(), shared::EXTENSION) != path {
            let problem = Problem::OtherName(stored.name);
            return Err(KeyChainError::Damaged { path: path.to_owned(), problem });
        }
        Ok(SharedEntry { name: stored.name.clone(), stored, path: path.to_owned() })
    }
}

/// Rejects a certificate that no program would read again.
fn fits(certificate: &Certificate) -> Result<(), KeyChainError> {
    match certificate.wire().len() {
        len if len > packet::MAX_PACKET => Err(KeyChainError::TooLong(len)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
