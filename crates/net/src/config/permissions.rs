//! The sections that say whom the daemon obeys and believes, and what it tells.

use super::model::{Announcements, Authorize, Config};
use crate::management::authority::{MODULES, Origin};
use document::{Section, listed, name, text, valid_words};
use packet::Name;
use std::path::PathBuf;

/// `[announcements]`
pub(super) fn announcements(s: &Section<'_>) -> Announcements {
    let accept = s.word("accept");
    let trust = s.get("trust", |v| text(v).map(PathBuf::from));
    match (accept, s.given("trust").is_some()) {
        (1, true) => {
            let why = "with `trust` the signatures are verified: write `\"trusted\"` or `\"off\"`";
            s.doc.mistake(s.place("accept"), why);
        }
        (2, false) => {
            let why = "`trusted` needs `trust`, the file that says who may sign";
            s.doc.mistake(s.place("accept"), why);
        }
        _ => {}
    }
    Announcements { accept: accept > 0, trust }
}

/// `[[authorize]]`
pub(super) fn authorize(s: &Section<'_>) -> Option<Authorize> {
    let from = [Origin::Local, Origin::Remote][s.word("from").min(1)];
    let is_module = |word: &str| match MODULES.contains(&word) {
        true => Ok(word.to_owned()),
        false => Err(valid_words(word, MODULES)),
    };
    let modules = s.get("commands", |v| listed(v, is_module));
    let path = |field| s.get(field, |v| text(v).map(PathBuf::from));
    let (key, trust) = (path("key"), path("trust"));
    let [user, group] = ["user", "group"].map(|field| {
        let names = s.get(field, |v| listed(v, |name| Ok(name.to_owned())));
        names.unwrap_or_default()
    });
    let (all, given) = (MODULES.map(str::to_owned).to_vec(), s.given("commands").is_some());
    if key.is_some() && trust.is_some() {
        let why = "a section has a `key` or `trust`; write two sections for both";
        s.doc.mistake(s.place("trust"), why);
    }
    if from == Origin::Remote {
        if key.is_none() && trust.is_none() {
            s.doc.mistake(s.place("from"), "peers may command only with a `key` or `trust`");
        }
        if !user.is_empty() || !group.is_empty() {
            s.doc.mistake(
                s.place("from"),
                "of peers the user is not known; write a `key` or `trust`",
            );
        }
        if modules.iter().flatten().any(|module| module != "rib") {
            s.doc.mistake(s.place("commands"), "peers may command only `rib`");
        }
    }
    let modules = match modules {
        None if given => return None,
        None if from == Origin::Remote => vec!["rib".to_owned()],
        other => other.unwrap_or(all),
    };
    let prefix = s.get("prefix", name)?;
    Some(Authorize { from, modules, prefix, user, group, key, trust, skew: s.quantity("skew")? })
}

impl Config {
    /// What is allowed, and perhaps not meant: a line for each `[[authorize]]` that names nobody.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let rules = (1..).zip(&self.authorize);
        rules.filter(|(_, rule)| rule.is_for_everybody()).map(|(n, rule)| rule.warning(n)).collect()
    }
}

impl Authorize {
    fn is_for_everybody(&self) -> bool {
        let (users, keys) = (self.user.len() + self.group.len(), [&self.key, &self.trust]);
        self.from == Origin::Local && users == 0 && keys.iter().all(|key| key.is_none())
    }

    fn warning(&self, number: usize) -> String {
        let which = match self.modules.len() {
            most if most == MODULES.len() => "all commands".to_owned(),
            _ => format!("the commands of {}", self.modules.join(", ")),
        };
        format!(
            "[[authorize]] number {number} lets every program of this host send {which}; name a \
             `user`, a `group` or a `key` in it"
        )
    }
}

/// `[hub]`
pub(super) fn routable(s: &Section<'_>) -> Option<Vec<Name>> {
    names(s, "prefixes")
}

/// A name, a list of names, or nothing.
pub(super) fn names(s: &Section<'_>, field: &str) -> Option<Vec<Name>> {
    if s.given(field).is_none() {
        return Some(Vec::new());
    }
    s.get(field, |v| listed(v, |text| text.parse().map_err(|e| format!("`{text}`: {e}"))))
}
