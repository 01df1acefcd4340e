//! Schemes that a program adds to the published ones while it runs, such as one in another
//! language. They are chosen by name like all others.

use crate::SCHEMES;
use control::Scheme;
use std::sync::{PoisonError, RwLock};
use thiserror::Error;

/// Later ones replace earlier ones of the same name. A replaced scheme stays in memory: scenarios
/// that were read before still refer to it.
static ADDED: RwLock<Vec<&'static Scheme>> = RwLock::new(Vec::new());

/// Why a scheme was not added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// A published scheme has the name.
    #[error("`{0}` is the name of a published scheme; choose another name")]
    Published(String),
    /// The name cannot be written where schemes are chosen.
    #[error(
        "`{0}` is not the name of a scheme; it has lower-case letters, digits and hyphens, and \
         begins with a letter"
    )]
    BadName(String),
}

/// Adds a scheme, or replaces the added scheme of the same name.
///
/// # Errors
/// The name is that of a published scheme, or cannot be written.
pub fn add(scheme: Scheme) -> Result<&'static Scheme, AddError> {
    let name = scheme.name;
    let is_plain = name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
    if !is_plain || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(AddError::BadName(name.to_owned()));
    }
    if SCHEMES.iter().any(|published| published.name == name) {
        return Err(AddError::Published(name.to_owned()));
    }
    let scheme: &'static Scheme = Box::leak(Box::new(scheme));
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|other| other.name != name);
    added.push(scheme);
    Ok(scheme)
}

/// Every scheme: the published ones in alphabetical order, then the added ones in theirs.
#[must_use]
pub fn all() -> Vec<&'static Scheme> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    SCHEMES.iter().chain(added.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, find};
    use control::Params;

    /// A published law that shows the key of its parameters in its first window.
    fn scheme(name: &'static str, key: u64) -> Scheme {
        let make = |params: &Params| -> Box<dyn control::Controller> {
            assert_eq!(params.key(), 77);
            find("fixed").and_then(|s| s.controller).unwrap()(&Params::defaults(
                find("fixed").unwrap().params,
            ))
        };
        Scheme { name, key, controller: Some(make), ..Scheme::EMPTY }
    }

    #[test]
    fn an_added_scheme_is_chosen_by_name_with_its_key() {
        assert!(find("added-one").is_none());
        add(scheme("added-one", 76)).unwrap();
        add(scheme("added-one", 77)).unwrap();
        let choice: Choice = "added-one".parse().unwrap();
        assert!(choice.controller().is_ok(), "the later one, whose key is 77");
        let error = "codel".parse::<Choice>().unwrap().controller().err().unwrap();
        assert!(error.to_string().contains("`added-one`"), "{error}");
        let count = all().iter().filter(|scheme| scheme.name == "added-one").count();
        assert_eq!(count, 1, "a later one replaces it");
    }

    #[test]
    fn names_that_are_taken_or_cannot_be_written_are_rejected() {
        let rejected = |name| add(scheme(name, 1)).unwrap_err();
        assert_eq!(rejected("cubic"), AddError::Published("cubic".into()));
        for name in ["", "Steady", "a:b", "a b", "a+b", "a,b", "2fast", "a_b"] {
            assert_eq!(rejected(name), AddError::BadName(name.into()));
        }
    }
}
