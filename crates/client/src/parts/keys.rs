//! Keys on this machine: whose signatures are made, and whose are trusted.

use net::client::KeyPlaces;
use net::clock::unix_millis;
use net::trust::TrustError;
use packet::Name;
use packet::UriError;
use security::certificate::{self, CertificateError};
use security::keychain::{KeyChainError, Listing, StoredKey, StoredShared};
use security::pib::Pib;
use security::trust::{Chains, Schema, Validator};
use security::{Certificate, KeyChain, Signer, TrustPolicy, TrustedKey};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The variable that names Weir's own directory instead of `~/.weir`.
const HOME_VARIABLE: &str = "WEIR_HOME";

/// The reason why keys of this machine cannot be used, or anchors of trust cannot be read.
#[derive(Debug, Error)]
pub enum KeysError {
    /// The user has no home directory.
    #[error("no home directory was found for the keys")]
    NoHome,
    /// The key chain has no such key, or cannot be read.
    #[error(transparent)]
    KeyChain(#[from] KeyChainError),
    /// The wanted key is for other names.
    #[error("{0}")]
    Elsewhere(Box<OutOfScope>),
    /// An anchor is neither a file nor a name.
    #[error("the trust anchor {anchor} is not a file, and {why}")]
    NoAnchor {
        /// The given text.
        anchor: String,
        /// The reason why it is not a name.
        why: UriError,
    },
    /// A file of rules is one of several anchors.
    #[error("the trust anchor {0} is a file of rules, which has anchors of its own")]
    Rules(String),
    /// The file of an anchor cannot be read.
    #[error("cannot read the trust anchor {anchor}: {error}")]
    Unreadable {
        /// The given text.
        anchor: String,
        /// The system's error.
        error: io::Error,
    },
    /// The file of an anchor is no certificate.
    #[error("the trust anchor {anchor} is not a certificate: {error}")]
    NoCertificate {
        /// The given text.
        anchor: String,
        /// The reason why it is not a certificate.
        error: CertificateError,
    },
    /// The rules cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// An anchor is not valid at present.
    #[error("the certificate {0} is not valid now")]
    Outdated(Name),
}

/// A key that is for other names than the published one.
#[derive(Clone, Debug, Error)]
#[error("the key {key} is for names under {identity}, not for {name}")]
pub struct OutOfScope {
    /// The key.
    pub key: Name,
    /// Its identity.
    pub identity: Name,
    /// The published name.
    pub name: Name,
    /// The longest identity with a key here under which the name is.
    pub covering: Option<Name>,
}

/// Where the user's keys are.
///
/// # Errors
/// The user has no home directory.
pub fn key_dir() -> Result<PathBuf, KeysError> {
    key_dir_of(std::env::var_os(HOME_VARIABLE), std::env::home_dir())
}

/// Where the keys are with this value of the variable and this home directory. An empty one counts
/// as unset, as the XDG Base Directory Specification has it for such variables: otherwise it would
/// be the current directory.
fn key_dir_of(own: Option<OsString>, home: Option<PathBuf>) -> Result<PathBuf, KeysError> {
    let own = own.filter(|own| !own.is_empty()).map(PathBuf::from);
    let home = home.filter(|home| !home.as_os_str().is_empty());
    let home = own.or_else(|| home.map(|home| home.join(".weir")));
    Ok(home.ok_or(KeysError::NoHome)?.join("keys"))
}

/// The user's key chain, if it exists: looking for keys makes no directory for them.
///
/// # Errors
/// It cannot be read.
pub fn keychain() -> Result<Option<KeyChain>, KeysError> {
    keychain_in(key_dir()?)
}

/// An unreadable directory is not a missing one: its keys would not sign, and not verify. The same
/// holds for a directory behind a dangling link, such as one to a disk that is not mounted.
fn keychain_in(dir: PathBuf) -> Result<Option<KeyChain>, KeysError> {
    let is_link = |path: &Path| path.is_symlink() && !path.exists();
    match std::fs::metadata(&dir) {
        Ok(_) => Ok(Some(KeyChain::open(dir)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !dir.ancestors().any(is_link) => {
            Ok(None)
        }
        Err(source) => Err(KeyChainError::Io { doing: "read", path: dir, source }.into()),
    }
}

/// The key chain of ndn-cxx, if the user has one.
///
/// # Errors
/// It cannot be read.
pub fn pib() -> Result<Option<Pib>, KeyChainError> {
    let places = KeyPlaces::find().filter(|places| places.pib.is_file());
    places.map(|places| Pib::open(&places.pib, &places.tpm)).transpose()
}

/// The user's key of this name, or of this identity; if the user has none, that of ndn-cxx.
///
/// # Errors
/// The key does not exist, or cannot be used.
pub fn key(name: &Name) -> Result<StoredKey, KeysError> {
    let dir = key_dir()?;
    let found = match keychain()? {
        Some(keys) => keys.get(name.as_ref()),
        None => Err(KeyChainError::NotFound { name: name.clone(), dir }),
    };
    let missing = match found {
        Err(missing @ KeyChainError::NotFound { .. }) => missing,
        other => return Ok(other?),
    };
    match pib()?.map(|pib| pib.get(name.as_ref())) {
        None | Some(Err(KeyChainError::NotFound { .. })) => Err(missing.into()),
        Some(found) => Ok(found?),
    }
}

/// The user's shared key of this name, or of this identity.
///
/// # Errors
/// The key does not exist, or cannot be used.
pub fn shared_key(name: &Name) -> Result<StoredShared, KeyChainError> {
    match keychain() {
        Ok(Some(keys)) => keys.get_shared(name.as_ref()),
        _ => Err(KeyChainError::NotFound { name: name.clone(), dir: PathBuf::new() }),
    }
}

/// A key of this name, of either kind: one with a certificate first.
///
/// # Errors
/// The key does not exist, or cannot be used.
pub fn any_key(name: &Name) -> Result<AnyKey, KeysError> {
    let missing = match key(name) {
        Ok(key) => return Ok(AnyKey::Own(Box::new(key))),
        Err(missing) => missing,
    };
    match shared_key(name) {
        Ok(shared) => Ok(AnyKey::Shared(shared)),
        Err(KeyChainError::NotFound { .. }) => Err(missing),
        Err(other) => Err(other.into()),
    }
}

/// A key of the user.
pub enum AnyKey {
    /// With a certificate.
    Own(Box<StoredKey>),
    /// Shared with others.
    Shared(StoredShared),
}

impl AnyKey {
    /// The prefix of the names that it signs.
    #[must_use]
    pub fn identity(&self) -> Name {
        match self {
            AnyKey::Own(key) => key.certificate.identity(),
            AnyKey::Shared(shared) => shared.identity(),
        }
    }

    fn name(&self) -> Name {
        match self {
            AnyKey::Own(key) => key.certificate.key_name(),
            AnyKey::Shared(shared) => shared.name.clone(),
        }
    }

    fn signer(&self) -> Signer {
        match self {
            AnyKey::Own(key) => key.signer(),
            AnyKey::Shared(shared) => shared.signer(),
        }
    }

    /// The certificates that consumers can request: the key's, and the local ones above it.
    fn chain(&self) -> Vec<Certificate> {
        match self {
            AnyKey::Own(key) => chain(&key.certificate),
            AnyKey::Shared(_) => Vec::new(),
        }
    }
}

/// The user's default key, if it exists.
fn default_key() -> Result<Option<StoredKey>, KeysError> {
    match keychain()?.map(|keys| keys.get_default()) {
        None | Some(Err(KeyChainError::NoDefault { .. })) => Ok(None),
        Some(found) => Ok(Some(found?)),
    }
}

/// The identity of the wanted key, or of the default key.
///
/// # Errors
/// The key is not there.
pub fn identity_of(wanted: Option<&Name>) -> Result<Option<Name>, KeysError> {
    Ok(match wanted {
        Some(wanted) => Some(any_key(wanted)?.identity()),
        None => default_key()?.map(|key| key.certificate.identity()),
    })
}

/// The signer, and the certificates that consumers need.
#[derive(Debug)]
pub struct Signing {
    /// Signs.
    pub signer: Signer,
    /// The certificate, and the local ones above it.
    pub chain: Vec<Certificate>,
    /// The default key, if it is for other names; then the signer is a digest.
    pub unused: Option<OutOfScope>,
}

impl Signing {
    /// A digest in place of a signature. `unused` is the default key, if any.
    fn unsigned(unused: Option<OutOfScope>) -> Signing {
        Signing { signer: Signer::Digest, chain: Vec::new(), unused }
    }
}

/// The signer of `name`: the wanted key, or the default key if it is for such names, or none, which
/// leaves a digest.
///
/// Consumers trust a key for names under its identity only, so all consumers that know the key
/// would reject a signature elsewhere.
///
/// # Errors
/// The wanted key does not exist, or is for other names; or the key chain cannot be read.
pub fn signing(wanted: Option<&Name>, name: &Name) -> Result<Signing, KeysError> {
    let key = match wanted {
        Some(wanted) => Some(any_key(wanted)?),
        None => default_key()?.map(|key| AnyKey::Own(Box::new(key))),
    };
    let Some(key) = key else { return Ok(Signing::unsigned(None)) };
    let identity = key.identity();
    if name.as_ref().starts_with(identity.as_ref()) {
        return Ok(Signing { signer: key.signer(), chain: key.chain(), unused: None });
    }
    let (key, name) = (key.name(), name.clone());
    if wanted.is_some() {
        let key = OutOfScope { key, identity, name, covering: None };
        return Err(KeysError::Elsewhere(Box::new(key)));
    }
    let covering = covering(&name)?;
    Ok(Signing::unsigned(Some(OutOfScope { key, identity, name, covering })))
}

/// The longest identity with a key here under which the name is.
fn covering(name: &Name) -> Result<Option<Name>, KeysError> {
    let own = keychain()?.map_or(Ok(Listing::default()), |keys| keys.list())?;
    let identities = own.keys.iter().map(|key| key.certificate.identity());
    let covering = identities.filter(|identity| name.as_ref().starts_with(identity.as_ref()));
    Ok(covering.max_by_key(|identity| identity.as_ref().len()))
}

/// The certificate, and those of the user's own keys that vouch for it.
fn chain(certificate: &Certificate) -> Vec<Certificate> {
    let mut chain = vec![certificate.clone()];
    while let Some(issuer) = chain.last().and_then(Certificate::issuer) {
        let Some(name) = certificate::key_of(issuer.as_ref()) else { break };
        let Ok(above) = key(&name) else { break };
        let known = chain.iter().any(|below| below.name() == above.certificate.name());
        if known || !above.certificate.name().as_ref().starts_with(issuer.as_ref()) {
            break;
        }
        chain.push(above.certificate);
    }
    chain
}

/// The policy of these anchors: a file of rules, or certificates, shared keys and own keys; keys
/// that they certify are trusted too. Without any, the user's own keys are checked and others are
/// accepted as [`security::Proof::Unchecked`].
///
/// # Errors
/// An anchor cannot be read, is not an anchor, or is not valid now.
pub fn policy(trusted: &[String]) -> Result<TrustPolicy, KeysError> {
    if trusted.is_empty() {
        let own = keychain()?.map_or(Ok(Listing::default()), |keys| keys.list())?;
        let keys = own.keys.iter().map(|key| TrustedKey::from_certificate(&key.certificate));
        let shared = own.shared.iter().map(|shared| shared.stored.trusted());
        return Ok(TrustPolicy::AnySigned(keys.chain(shared).collect()));
    }
    let validator = match trusted {
        [file] if is_rules(file) => net::trust::load(Path::new(file))?,
        several => {
            let (mut anchors, mut shared) = (Vec::new(), Vec::new());
            for text in several {
                match anchor(text)? {
                    Anchor::Certificate(certificate) => anchors.push(*certificate),
                    Anchor::Shared(key) => shared.push(key.trusted()),
                }
            }
            Validator::new(anchors, Schema::Hierarchy).with_shared(shared)
        }
    };
    let now = unix_millis() / 1000;
    if let Some(anchor) = validator.outdated(now) {
        return Err(KeysError::Outdated(anchor.name().clone()));
    }
    Ok(TrustPolicy::Chains(Chains { validator: Arc::new(validator), now }))
}

/// The same policy at this instant.
#[must_use]
pub fn at_present(policy: &TrustPolicy) -> TrustPolicy {
    let mut policy = policy.clone();
    if let TrustPolicy::Chains(chains) = &mut policy {
        chains.now = unix_millis() / 1000;
    }
    policy
}

/// True for a file of rules, false for a certificate. An unreadable file is neither, and is
/// reported later.
fn is_rules(text: &str) -> bool {
    let path = Path::new(text);
    path.is_file() && net::bounded::text(path).is_ok_and(|text| net::trust::is_meant(&text))
}

/// An anchor of trust.
enum Anchor {
    Certificate(Box<Certificate>),
    Shared(StoredShared),
}

fn anchor(text: &str) -> Result<Anchor, KeysError> {
    // A key's name may also be that of a folder, so only a file is taken for one.
    if !Path::new(text).is_file() {
        let name =
            text.parse().map_err(|why| KeysError::NoAnchor { anchor: text.to_owned(), why })?;
        return Ok(match any_key(&name)? {
            AnyKey::Own(key) => Anchor::Certificate(Box::new(key.certificate)),
            AnyKey::Shared(shared) => Anchor::Shared(shared),
        });
    }
    if is_rules(text) {
        return Err(KeysError::Rules(text.to_owned()));
    }
    let file = net::bounded::text(Path::new(text))
        .map_err(|error| KeysError::Unreadable { anchor: text.to_owned(), error })?;
    if StoredShared::is_meant(&file) {
        return Ok(Anchor::Shared(StoredShared::read(Path::new(text))?));
    }
    let certificate = Certificate::from_base64(&file)
        .map_err(|error| KeysError::NoCertificate { anchor: text.to_owned(), error })?;
    Ok(Anchor::Certificate(Box::new(certificate)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_names_no_directory() {
        let of = |own: Option<&str>, home: Option<&str>| {
            key_dir_of(own.map(OsString::from), home.map(PathBuf::from)).ok()
        };
        let usual = Some(PathBuf::from("/users/alice/.weir/keys"));
        assert_eq!(of(None, Some("/users/alice")), usual);
        assert_eq!(of(Some(""), Some("/users/alice")), usual);
        assert_eq!(of(Some("/x"), Some("/users/alice")), Some(PathBuf::from("/x/keys")));
        assert_eq!(of(Some(""), Some("")), None);
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_not_a_missing_one() {
        let home = tempfile::tempdir().unwrap();
        assert!(keychain_in(home.path().join("none/keys")).unwrap().is_none());
        let file = home.path().join("file");
        std::fs::write(&file, "").unwrap();
        // No user can look into a file, not even root.
        let rejected = keychain_in(file.join("keys")).unwrap_err().to_string();
        assert!(
            rejected.contains("cannot read") && rejected.contains("Not a directory"),
            "{rejected}"
        );
        // A link that leads nowhere, to the directory or above it.
        for (link, keys) in [("keys", "keys"), (".weir", ".weir/keys")] {
            std::os::unix::fs::symlink("not-mounted", home.path().join(link)).unwrap();
            assert!(keychain_in(home.path().join(keys)).is_err(), "{link}");
        }
    }
}
