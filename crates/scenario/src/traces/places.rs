//! The scope of a trace.

use crate::model::Scenario;
use std::collections::BTreeSet;

/// Returns `true` for `a-b`.
fn is_link(word: &str, a: &str, b: &str) -> bool {
    word.strip_prefix(a).and_then(|rest| rest.strip_prefix('-')) == Some(b)
}

/// The scope of a trace: some links and nodes, or all.
#[derive(Clone, Debug, Default)]
pub struct Places(Option<(BTreeSet<usize>, BTreeSet<usize>)>);

impl Places {
    /// Links (`a-b`, in either order) and nodes by their names; everything, if there is none. A
    /// node's links belong to it.
    ///
    /// # Errors
    /// There is no such link or node; what there is instead.
    pub fn of(scenario: &Scenario, words: &[String]) -> Result<Places, String> {
        if words.is_empty() {
            return Ok(Places(None));
        }
        let (mut links, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for word in words {
            let node = scenario.nodes.iter().position(|node| node.name == *word);
            let before = links.len();
            for (number, link) in scenario.links.iter().enumerate() {
                let [a, b] = link.ends.map(|node| scenario.nodes[node].name.as_str());
                if is_link(word, a, b)
                    || is_link(word, b, a)
                    || node.is_some_and(|node| link.ends.contains(&node))
                {
                    links.insert(number);
                }
            }
            nodes.extend(node);
            if node.is_none() && links.len() == before {
                let joined = scenario
                    .links
                    .iter()
                    .map(|link| link.ends.map(|node| scenario.nodes[node].name.as_str()).join("-"));
                let known: Vec<String> =
                    scenario.nodes.iter().map(|n| n.name.clone()).chain(joined).take(40).collect();
                let valid = document::valid_words(word, known.iter().map(String::as_str));
                return Err(format!("there is no link and no node `{word}`; {valid}"));
            }
        }
        Ok(Places(Some((links, nodes))))
    }

    /// True if it includes this link.
    #[must_use]
    pub fn has_link(&self, link: usize) -> bool {
        self.0.as_ref().is_none_or(|(links, _)| links.contains(&link))
    }

    /// True if it includes this node.
    #[must_use]
    pub fn has_node(&self, node: usize) -> bool {
        self.0.as_ref().is_none_or(|(_, nodes)| nodes.contains(&node))
    }
}
