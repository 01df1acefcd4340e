//! The sections of a file of trust rules.

use crate::bounded;
use control::Duration;
use document::schema::Form;
use document::{DeValue, Fields, Read, Section, Value, text};
use security::certificate::CertificateError;
use security::keychain::StoredShared;
use security::trust::{LightVerSec, ModelError, Pattern};
use security::{Certificate, TrustedKey};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How far chains of certificates are followed.
#[derive(Fields, Read)]
#[section(name = "trust")]
pub(super) struct Trust {
    /// The maximum number of certificates between a verified packet and an anchor.
    #[field(default = 8, range = 0..=64)]
    pub depth: usize,
    /// A Light VerSec model as python-ndn compiles and saves it (`Checker.save()`), instead of
    /// `[[rule]]`s. Of functions, `$eq` and `$eq_type` are known.
    #[field(form = "file's path")]
    pub model: Option<PathBuf>,
    /// The largest accepted difference between this host's clock and those of issuers.
    #[field(default = "1 min")]
    pub clock_skew: Duration,
}

/// A certificate that is trusted directly. At least one is needed, or a shared key.
#[derive(Fields, Read)]
#[section(name = "anchor", repeated)]
pub(super) struct Anchor {
    /// The file, as `weir key new` and `weir key export` print it; beside this one unless the path
    /// is absolute.
    #[field(form = "file's path", by = certificate)]
    pub certificate: Certificate,
}

/// A shared key, with which all its holders sign (HMAC-SHA256). It may sign the same names as a key
/// of its name, but no certificates.
#[derive(Fields, Read)]
#[section(name = "shared", repeated)]
pub(super) struct Shared {
    /// The file that `weir key new --type hmac` names, or one like it, beside this one unless the
    /// path is absolute. Only its owner may be able to read it (mode 0600).
    #[field(form = "file's path", by = shared_key)]
    pub key: TrustedKey,
}

/// Rights to sign; names that no rule allows are rejected. Without any rule, a key may sign names
/// under its identity, certificates for identities under its own, and commands about names under
/// it.
#[derive(Fields, Read)]
#[section(name = "rule", repeated)]
pub(super) struct ListedRule {
    /// Names of Data packets other than certificates.
    #[field(form = PATTERN, with = pattern)]
    pub data: Option<Pattern>,
    /// Identities that certificates are for: their names without `KEY` and what follows.
    #[field(form = PATTERN, with = pattern)]
    pub certificate: Option<Pattern>,
    /// Names that management commands are about, as the prefix that is registered; `/` if a command
    /// is about none. For `[[authorize]]` of a daemon.
    #[field(form = PATTERN, with = pattern)]
    pub command: Option<Pattern>,
    /// Identities whose keys may sign that: the names of keys without `KEY` and the key's id. Its
    /// words are words of `data`, `certificate` or `command`.
    #[field(required, form = PATTERN, with = pattern)]
    pub signer: Option<Pattern>,
}

const PATTERN: Form = Form::As("pattern of names");

fn pattern(value: &DeValue<'_>) -> Result<Pattern, String> {
    Pattern::from_str(text(value)?).map_err(|why| why.to_string())
}

fn certificate(section: &Section<'_>, field: &str) -> Option<Certificate> {
    used(section, field, &section.get(field, PathBuf::read)?, |path| {
        let text = bounded::text(path).map_err(|error| error.to_string())?;
        Certificate::from_base64(&text).map_err(|why: CertificateError| why.to_string())
    })
}

fn shared_key(section: &Section<'_>, field: &str) -> Option<TrustedKey> {
    used(section, field, &section.get(field, PathBuf::read)?, |path| {
        let shared = StoredShared::read(path).map_err(|why| why.to_string())?;
        Ok(shared.trusted())
    })
}

pub(super) fn model(section: &Section<'_>, path: &Path) -> Option<LightVerSec> {
    used(section, "model", path, |path| {
        let bytes = bounded::bytes(path).map_err(|error| error.to_string())?;
        LightVerSec::decode(&bytes).map_err(|why: ModelError| why.to_string())
    })
}

/// Reads a file whose path may be relative to that of the section.
fn used<T>(
    section: &Section<'_>,
    field: &str,
    path: &Path,
    read: impl Fn(&Path) -> Result<T, String>,
) -> Option<T> {
    let path = section.doc.folder().join(path);
    match read(&path) {
        Ok(value) => Some(value),
        Err(why) => {
            section.mistake(field, &format!("cannot use {}: {why}", path.display()));
            None
        }
    }
}
