//! Files of trust rules: the certificates that are trusted directly, and the names that each key
//! may sign.
//!
//! A struct declares each section: reading, checking and the reference manual all come from it.

mod sections;

use crate::bounded;
use document::manual::write_section;
use document::{Described, Document, Mistake, Read, Section, schema};
use sections::{Anchor, ListedRule, Shared, Trust};
use security::certificate::CertificateError;
use security::keychain::StoredShared;
use security::trust::{Rule, Schema, Subject, Validator};
use security::{Certificate, MAX_INSTANT};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::de::DeTable;

/// Why there are no rules.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file cannot be read.
    #[error("cannot read the trust rules {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a certificate.
    #[error("cannot use the certificate {path}: {why}", path = path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: CertificateError,
    },
    /// The file has mistakes, in the order in which they stand there.
    #[error(
        "the trust rules have mistakes; fix them, or name the file of a certificate:\n{}",
        document::mistake::lines(.0)
    )]
    Mistakes(Vec<Mistake>),
}

/// Reads a file of trust rules, and the certificates that it names.
///
/// # Errors
/// One of the files cannot be read, or has mistakes; all that were found are in the error.
pub fn load(path: &Path) -> Result<Validator, TrustError> {
    let text = bounded::text(path)
        .map_err(|source| TrustError::Unreadable { path: path.to_owned(), source })?;
    parse(&text, &path.display().to_string())
}

/// Reads a file of trust rules, or of one certificate, which is trusted directly together with the
/// keys that it certifies.
///
/// # Errors
/// As those of [`load`], or the file is neither.
pub fn load_either(path: &Path) -> Result<Validator, TrustError> {
    let text = bounded::text(path)
        .map_err(|source| TrustError::Unreadable { path: path.to_owned(), source })?;
    if is_meant(&text) {
        return parse(&text, &path.display().to_string());
    }
    let anchor = Certificate::from_base64(&text)
        .map_err(|why| TrustError::Certificate { path: path.to_owned(), why })?;
    Ok(Validator::new(vec![anchor], Schema::Hierarchy))
}

/// Reads the text of such a file; `file` is its name in messages, and certificates lie beside it.
///
/// # Errors
/// All mistakes that were found.
pub fn parse(text: &str, file: &str) -> Result<Validator, TrustError> {
    let doc = Document::new(file, text);
    let rules = doc.table(SECTIONS).and_then(|table| sections(&doc, &table));
    let mistakes = doc.finish();
    match rules {
        Some(rules) if mistakes.is_empty() => Ok(rules),
        _ => Err(TrustError::Mistakes(mistakes)),
    }
}

fn sections<'d>(doc: &'d Document<'d>, table: &'d DeTable<'d>) -> Option<Validator> {
    let section = Section::of::<Trust>(doc, table);
    let trust = Trust::read(&section)?;
    let anchors: Vec<_> = all::<Anchor>(doc, table).map(|anchor| anchor.certificate).collect();
    let shared: Vec<_> = all::<Shared>(doc, table).map(|shared| shared.key).collect();
    if anchors.is_empty() && shared.is_empty() {
        let what = "without an [[anchor]] no key is trusted; name the file of a certificate";
        doc.mistake(section.at.clone(), what);
    }
    let rules: Vec<_> = Section::all_of::<ListedRule>(doc, table).iter().filter_map(rule).collect();
    let schema = match (table.get("rule").is_some(), section.given("model").is_some()) {
        (true, true) => {
            section.mistake("model", "it has the rules; leave out the [[rule]]s, or this");
            return None;
        }
        (false, true) => Schema::LightVerSec(sections::model(&section, &trust.model?)?),
        (true, false) => Schema::Rules(rules),
        (false, false) => Schema::Hierarchy,
    };
    let skew = (trust.clock_skew.as_millis() / 1000).min(MAX_INSTANT);
    let validator = Validator::new(anchors, schema).with_shared(shared);
    Some(validator.with_depth(trust.depth).with_skew(skew))
}

/// All sections of a kind that can be read.
fn all<'d, T: Described + Read>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
) -> impl Iterator<Item = T> {
    Section::all_of::<T>(doc, table).into_iter().filter_map(|section| T::read(&section))
}

fn rule(section: &Section<'_>) -> Option<Rule> {
    let ListedRule { data, certificate, command, signer } = ListedRule::read(section)?;
    let subjects = [
        ("data", Subject::Data, data),
        ("certificate", Subject::Certificate, certificate),
        ("command", Subject::Command, command),
    ];
    let mut given: Vec<_> =
        subjects.into_iter().filter(|(field, ..)| section.given(field).is_some()).collect();
    let (Some((field, subject, names)), true) = (given.pop(), given.is_empty()) else {
        let what = "a rule is about `data`, a `certificate` or a `command`; give one of them";
        section.doc.mistake(section.at.clone(), what);
        return None;
    };
    let (names, signer) = (names?, signer?);
    let unknown = signer.words().find(|word| !names.words().any(|known| known == *word));
    if let Some(word) = unknown {
        let what = format!(
            "`{{{word}}}` is not a word of `{field}`, so any key would match; write `{{}}` to \
             accept any key"
        );
        section.mistake("signer", &what);
    }
    Some(Rule { subject, names, signer })
}

/// All sections, in the order of the manual.
const SECTIONS: &[&schema::Section] =
    &[Trust::SECTION, Anchor::SECTION, Shared::SECTION, ListedRule::SECTION];

/// The text of `docs/reference/trust.md`.
#[must_use]
pub fn manual() -> String {
    let mut out = String::from(INTRODUCTION);
    SECTIONS.iter().for_each(|section| write_section(&mut out, section));
    out
}

/// True if the text is meant to be a file of rules, and neither a certificate nor a shared key.
#[must_use]
pub fn is_meant(text: &str) -> bool {
    // Base64 has none of these, nor the armour around a key.
    !StoredShared::is_meant(text) && text.contains(['[', '#', '"'])
}

const INTRODUCTION: &str = "\
# Trust rules

`weir get --trust FILE` reads one TOML file of this form, or a certificate, and so does a daemon
with `trust` under `[[authorize]]` and `[announcements]`. (This page is made from
`crates/net/src/trust/sections.rs`.) [Decide whom to trust](../how-to/trust-keys.md) has an example,
[Verification](../explanation/verification.md) what is verified and why.

Patterns are names with `{word}` for any one component and `{word...}` for any number of them, none
included; `{}` and `{...}` are the same without a word. A word that occurs twice, in the subject of
a rule and in its `signer`, matches the same components. A pattern has at most one part of any
length. Braces in a name itself are written `%7B` and `%7D`.
";

#[cfg(test)]
mod tests;
