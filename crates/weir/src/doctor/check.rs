//! A check and its result.

use schemars::JsonSchema;
use serde::Serialize;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing to do.
    Good,
    /// It works, and would work better after a change.
    Advice,
    /// Transfers fail, or a secret is exposed.
    Wrong,
    /// The host does not show the value.
    Unchecked,
}

impl Verdict {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Advice => "advice",
            Verdict::Wrong => "wrong",
            Verdict::Unchecked => "not checked",
        }
    }
}

/// The names of all checks.
const CHECKS: [&str; 21] = [
    "receive-buffer",
    "send-buffer",
    "open-files",
    "inotify-watches",
    "inotify-instances",
    "udp-gso",
    "udp-gro",
    "mtu",
    "ethernet",
    "clock",
    "clock-synchronised",
    "forwarder",
    "forwarder-socket",
    "forwarder-folder",
    "home-folder",
    "keys-folder",
    "free-space",
    "default-key",
    "private-keys",
    "key-files",
    "certificates",
];

/// A check: the value found, the value wanted, and how to change it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Check {
    /// Its name, which never changes.
    #[schemars(extend("enum" = CHECKS))]
    pub check: &'static str,
    /// The checked interface, key, file or folder, if there may be several.
    pub subject: Option<String>,
    /// The result.
    pub result: Verdict,
    /// The value found; if there is none, the reason.
    pub found: String,
    /// The value wanted.
    pub wanted: String,
    /// The command or setting that changes it.
    pub change: Option<String>,
}

#[expect(clippy::needless_pass_by_value, reason = "callers hand over texts of many types")]
impl Check {
    /// A check without a subject that found the expected value.
    pub fn good(check: &'static str, found: impl ToString, wanted: impl ToString) -> Check {
        let (found, wanted) = (found.to_string(), wanted.to_string());
        Check { check, subject: None, result: Verdict::Good, found, wanted, change: None }
    }

    /// The same check of a subject.
    #[must_use]
    pub fn of(self, subject: impl ToString) -> Check {
        Check { subject: Some(subject.to_string()), ..self }
    }

    /// The same check with another result, and the change that helps.
    #[must_use]
    pub fn but(self, result: Verdict, change: impl ToString) -> Check {
        Check { result, change: Some(change.to_string()), ..self }
    }

    /// A check whose value could not be read, for this reason.
    pub fn unchecked(check: &'static str, why: impl ToString, wanted: impl ToString) -> Check {
        let why = net::text::without_error_numbers(&why.to_string());
        Check { result: Verdict::Unchecked, ..Check::good(check, why, wanted) }
    }
}
