//! Trust rules.

use packet::NameRef;

use super::light_versec::LightVerSec;
use super::pattern::{Captures, Pattern};
use super::signed::{Role, Signed};
use crate::certificate::{self, SUFFIX_LEN};

/// The subject of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Data other than certificates, by their names.
    Data,
    /// Certificates, by their identities.
    Certificate,
    /// Commands, by the names that they are about.
    Command,
}

/// One rule: names of this form may be signed by keys of such identities.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its subject.
    pub subject: Subject,
    /// Names of Data, identities of certificates, or names that commands are about.
    pub names: Pattern,
    /// Identities whose keys may sign it; words have the same values as in `names`.
    pub signer: Pattern,
}

impl Rule {
    fn allows(&self, subject: Subject, name: NameRef<'_>, signer: NameRef<'_>) -> bool {
        let mut captures = Captures::default();
        self.subject == subject
            && self.names.matches(name, &mut captures)
            && self.signer.matches(signer, &mut captures)
    }
}

/// A trust schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Schema {
    /// A key may sign names under its identity, certificates for identities under its own, and
    /// commands about names under it.
    Hierarchy,
    /// These rules decide.
    Rules(Vec<Rule>),
    /// A compiled model decides.
    LightVerSec(LightVerSec),
}

impl Schema {
    /// True if the key of that name may sign this. If its certificate is not known yet, true if it
    /// might.
    pub(super) fn allows(
        &self,
        what: &Signed<'_>,
        key: NameRef<'_>,
        certificate: Option<NameRef<'_>>,
    ) -> bool {
        let (signer, name) = (identity(key), what.name);
        let (subject, name, whole) = match what.role {
            Role::Command { about, interest } => (Subject::Command, about, interest),
            Role::Packet if certificate::is_certificate_name(name) => {
                (Subject::Certificate, identity(name.prefix(name.len() - SUFFIX_LEN)), name)
            }
            Role::Packet => (Subject::Data, name, name),
        };
        match self {
            Schema::Hierarchy => name.starts_with(signer),
            Schema::Rules(rules) => rules.iter().any(|rule| rule.allows(subject, name, signer)),
            Schema::LightVerSec(model) => certificate.is_none_or(|by| model.allows(whole, by)),
        }
    }
}

/// `key` is `/<identity>/KEY/<KeyId>`.
fn identity(key: NameRef<'_>) -> NameRef<'_> {
    key.prefix(key.len().saturating_sub(certificate::KEY_LEN))
}
