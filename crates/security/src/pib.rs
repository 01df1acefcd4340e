//! The key chain of ndn-cxx, which python-ndn and others share: certificates in a SQLite database
//! (PIB, `~/.ndn/pib.db`), secrets in files beside it (TPM, `~/.ndn/ndnsec-key-file`). It is read,
//! never written.

pub(crate) mod sqlite;

use std::fs;
use std::path::{Path, PathBuf};

use packet::{Bytes, Name, NameRef};
use sha2::{Digest as _, Sha256};

use crate::base64_text;
use crate::certificate::{self, Certificate};
use crate::key::SecretKey;
use crate::keychain::error::{KeyChainError, Problem};
use crate::keychain::file;
use crate::keychain::stored::StoredKey;

pub use sqlite::{Row, Sqlite, SqliteError, Value};

/// More than any such database has.
const MOST: u64 = 64 * 1024 * 1024;

/// A key chain of ndn-cxx, as its database describes it.
#[derive(Debug)]
pub struct Pib {
    path: PathBuf,
    secrets: PathBuf,
    keys: Vec<PibKey>,
}

/// A key in it.
#[derive(Debug, Clone)]
pub struct PibKey {
    /// `/<identity>/KEY/<KeyId>`
    pub name: Name,
    /// Its default certificate, or another one if it has no default.
    pub certificate: Certificate,
    /// It is the default key of its identity.
    pub default: bool,
    /// Its identity is the default one.
    pub default_identity: bool,
}

impl Pib {
    /// Reads the database at `path`; the secrets are in the directory `secrets`.
    pub fn open(path: &Path, secrets: &Path) -> Result<Pib, KeyChainError> {
        // Changes that others have not yet merged are in a file beside it.
        let log = PathBuf::from(format!("{}-wal", path.display()));
        if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            let problem = Problem::InUse;
            return Err(KeyChainError::Damaged { path: path.to_owned(), problem });
        }
        let metadata = fs::metadata(path).map_err(KeyChainError::io("read", path))?;
        if metadata.len() > MOST {
            let problem = Problem::TooBig;
            return Err(KeyChainError::Damaged { path: path.to_owned(), problem });
        }
        let file = fs::read(path).map_err(KeyChainError::io("read", path))?;
        let keys = keys(&file).map_err(KeyChainError::damaged(path))?;
        Ok(Pib { path: path.to_owned(), secrets: secrets.to_owned(), keys })
    }

    /// The keys that have a certificate which can be used here.
    #[must_use]
    pub fn keys(&self) -> &[PibKey] {
        &self.keys
    }

    /// The key of that name, or the default key of that identity.
    pub fn get(&self, name: NameRef<'_>) -> Result<StoredKey, KeyChainError> {
        let found = self
            .keys
            .iter()
            .filter(|key| key.name.as_ref() == name || key.certificate.identity().as_ref() == name);
        match found.max_by_key(|key| (key.default, key.certificate.version())) {
            Some(key) => self.load(key),
            None => Err(KeyChainError::NotFound { name: name.to_name(), dir: self.path.clone() }),
        }
    }

    fn load(&self, key: &PibKey) -> Result<StoredKey, KeyChainError> {
        let path = self.secret_path(&key.name);
        let text = file::read(&path, true)?;
        let Some(der) = base64_text::decode(&text) else {
            return Err(KeyChainError::Damaged { path, problem: Problem::Base64 });
        };
        let secret = SecretKey::from_der(&der).map_err(KeyChainError::damaged(&path))?;
        if *key.certificate.public_key() != secret.public() {
            let certificate = key.certificate.name().clone();
            return Err(KeyChainError::OtherCertificate { certificate, key: key.name.clone() });
        }
        Ok(StoredKey { secret, certificate: key.certificate.clone() })
    }

    /// Where the secret of a key is: in a file called by the digest of its encoded name.
    #[must_use]
    pub fn secret_path(&self, key: &Name) -> PathBuf {
        let mut encoded = Vec::new();
        key.encode_into(&mut encoded);
        let digest = Sha256::digest(&encoded);
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.secrets.join(format!("{digits}.privkey"))
    }
}

/// The keys of a database, by name.
fn keys(file: &[u8]) -> Result<Vec<PibKey>, SqliteError> {
    let sqlite = Sqlite::open(file)?;
    let mut default_identities = Vec::new();
    for (number, columns) in sqlite.table("identities")? {
        if columns.get(2) == Some(&Value::Integer(1)) {
            default_identities.push(Value::Integer(number));
        }
    }
    let certificates = sqlite.table("certificates")?;
    let mut keys = Vec::new();
    for (number, columns) in sqlite.table("keys")? {
        let Some(certificate) = certificate_of(&certificates, number) else { continue };
        let [_, identity, _, _, default, ..] = columns.as_slice() else { continue };

        keys.push(PibKey {
            name: certificate.key_name(),
            certificate,
            default: *default == Value::Integer(1),
            default_identity: default_identities.contains(identity),
        });
    }
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(keys)
}

/// A key's certificate: the default one, else the newest that can be used.
fn certificate_of(rows: &[Row], key: i64) -> Option<Certificate> {
    let usable = rows.iter().filter_map(|(_, columns)| match columns.as_slice() {
        [_, Value::Integer(of), _, Value::Bytes(wire), default, ..] if *of == key => {
            let certificate = Certificate::decode(Bytes::copy_from_slice(wire)).ok()?;
            Some((*default == Value::Integer(1), certificate))
        }
        _ => None,
    });
    let best = usable.max_by_key(|(default, certificate)| (*default, certificate.version()));
    best.map(|(_, certificate)| certificate)
        .filter(|certificate| certificate::is_key_name(certificate.key_name().as_ref()))
}

#[cfg(test)]
mod tests;
