//! Seeds that break a rule because of a known defect: `known.toml`.

use crate::rules::{Breach, Rule};
use serde::Deserialize;

/// The file.
const TEXT: &str = include_str!("../known.toml");

/// The known defects by seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// One for each seed and rule.
    #[serde(default)]
    pub known: Vec<Entry>,
}

/// A seed that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The seed.
    pub seed: u64,
    /// The rule's name.
    pub rule: String,
    /// The defect.
    pub why: String,
}

impl Known {
    /// The defects that this crate lists.
    ///
    /// # Errors
    /// The file has a mistake.
    pub fn read() -> Result<Known, toml::de::Error> {
        toml::from_str(TEXT)
    }

    /// The known reason why a seed breaks a rule.
    #[must_use]
    pub fn why(&self, seed: u64, breach: &Breach) -> Option<&str> {
        self.known
            .iter()
            .find(|entry| entry.seed == seed && entry.rule == breach.rule.name())
            .map(|entry| entry.why.as_str())
    }

    /// The entries of a seed whose rules were not broken: to be taken off the list.
    pub fn fixed<'a>(
        &'a self,
        seed: u64,
        breaches: &'a [Breach],
    ) -> impl Iterator<Item = &'a Entry> {
        self.known.iter().filter(move |entry| {
            entry.seed == seed && breaches.iter().all(|breach| breach.rule.name() != entry.rule)
        })
    }

    /// Entries of rules that there are not.
    pub fn strange(&self) -> impl Iterator<Item = &Entry> {
        self.known.iter().filter(|entry| Rule::ALL.iter().all(|rule| rule.name() != entry.rule))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

    use super::*;

    #[test]
    fn a_known_defect_excuses_its_seed_and_rule_alone() {
        let text = "[[known]]\nseed = 3\nrule = \"completes\"\nwhy = \"it hangs\"\n";
        let known: Known = toml::from_str(text).unwrap();
        let breach = |rule| Breach { rule, why: String::new() };
        assert_eq!(known.why(3, &breach(Rule::Completes)), Some("it hangs"));
        assert_eq!(known.why(3, &breach(Rule::Starves)), None);
        assert_eq!(known.why(4, &breach(Rule::Completes)), None);
        assert_eq!(known.fixed(3, &[breach(Rule::Starves)]).count(), 1);
        assert_eq!(known.fixed(3, &[breach(Rule::Completes)]).count(), 0);
        assert_eq!(known.fixed(4, &[]).count(), 0);
    }

    #[test]
    fn the_list_names_rules() {
        assert_eq!(Known::read().unwrap().strange().count(), 0);
    }
}
