//! Nodes and links by their names.

use crate::model::{Link, Node, Route, Scenario};
use document::{Document, Section, shown, text, valid_words};
use forwarder::tables::ContentStoreConfig;
use packet::Name;
use schemes::Choice;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeValue;

/// The most nodes that a scenario may have.
pub const MAX_NODES: usize = 20_000;

/// No content store.
pub(crate) const NO_STORE: ContentStoreConfig = ContentStoreConfig::OFF;

/// The maximum number of names that a message lists.
const MOST_NAMES: usize = 20;

/// The nodes, by name.
pub(crate) struct Names<'p> {
    nodes: &'p [Node],
    index: BTreeMap<&'p str, usize>,
    /// True if every node of the file could be read: otherwise a missing node may be the unreadable
    /// one.
    all_known: bool,
    /// The scheme of consumers that name none.
    pub control: Option<Choice>,
}

/// Nodes and links.
pub(crate) struct Places<'p> {
    pub names: &'p Names<'p>,
    pub links: &'p [Link],
    /// True if both ends of every link of the file are known.
    pub all_known: bool,
}

impl<'p> Names<'p> {
    pub fn new(nodes: &'p [Node], all_known: bool, control: Option<Choice>) -> Names<'p> {
        let index = nodes.iter().enumerate().map(|(i, node)| (node.name.as_str(), i)).collect();
        Names { nodes, index, all_known, control }
    }

    /// The node of this name; a mistake if there is none.
    pub fn find(
        &self,
        value: &Spanned<DeValue<'_>>,
        field: &str,
        doc: &Document<'_>,
    ) -> Option<usize> {
        let name = match text(value.get_ref()) {
            Ok(name) => name,
            Err(why) => {
                doc.mistake(value.span(), format!("`{field}`: {why}"));
                return None;
            }
        };
        let found = self.index.get(name).copied();
        if found.is_none() && self.all_known {
            let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let valid = valid_words(name, names.iter().copied().take(MOST_NAMES));
            let more = names.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let why = format!("`{field}`: there is no node `{name}`; {valid}{more}");
            doc.mistake(value.span(), why);
        }
        found
    }

    /// The node that a field names.
    pub fn one(&self, section: &Section<'_>, field: &str) -> Option<usize> {
        self.find(section.given(field)?, field, section.doc)
    }

    /// The node of this name, or why there is none.
    pub fn known(&self, name: &str) -> Result<usize, String> {
        self.index.get(name).copied().ok_or_else(|| {
            let names = self.nodes.iter().map(|node| node.name.as_str()).take(MOST_NAMES);
            let names: Vec<&str> = names.collect();
            format!("there is no node `{name}`; {}", valid_words(name, names.iter().copied()))
        })
    }

    /// The node or nodes that a field names.
    pub fn several(&self, section: &Section<'_>, field: &str) -> Vec<usize> {
        let Some(value) = section.given(field) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            return self.find(value, field, section.doc).into_iter().collect();
        };
        let mut found = Vec::new();
        for value in list.iter() {
            match self.find(value, field, section.doc) {
                Some(node) if found.contains(&node) => {
                    let why = format!("`{field}`: it is in the list twice");
                    section.doc.mistake(value.span(), why);
                }
                node => found.extend(node),
            }
        }
        if list.is_empty() {
            section.mistake(field, "the list is empty");
        }
        found
    }

    /// The two nodes that a field names.
    pub fn pair(&self, section: &Section<'_>, field: &str) -> Option<[usize; 2]> {
        let value = section.given(field)?;
        let Some([a, b]) = value.get_ref().as_array().and_then(|list| list.get(0..2)) else {
            let given = shown(value.get_ref());
            section.mistake(field, &format!("it is two nodes, [\"a\", \"b\"], not {given}"));
            return None;
        };
        if value.get_ref().as_array().is_some_and(|list| list.len() > 2) {
            section.mistake(field, "it is two nodes, [\"a\", \"b\"], and no more");
            return None;
        }
        let ends = [self.find(a, field, section.doc), self.find(b, field, section.doc)];
        let [Some(a), Some(b)] = ends else { return None };
        if a == b {
            section.mistake(field, "both ends are the same node");
            return None;
        }
        Some([a, b])
    }

    pub fn name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", |node| node.name.as_str())
    }
}

impl Places<'_> {
    /// The link between the two nodes that a field names, and the direction from the first to the
    /// second.
    pub fn link(&self, s: &Section<'_>, field: &str) -> Option<(usize, usize)> {
        let [from, to] = self.names.pair(s, field)?;
        let found = Scenario::link_between(self.links, from, to);
        if found.is_none() && self.all_known {
            s.mistake(field, &self.no_link(from, to));
        }
        found
    }

    /// The route of node `at` to the neighbour `via`.
    pub fn route(
        &self,
        s: &Section<'_>,
        at: Option<usize>,
        prefix: Option<Name>,
        cost: u64,
    ) -> Option<Route> {
        let via = self.names.one(s, "via");
        let (at, via) = (at?, via?);
        let Some((link, _)) = Scenario::link_between(self.links, at, via) else {
            if self.all_known {
                s.mistake("via", &self.no_link(at, via));
            }
            return None;
        };
        Some(Route { at, prefix: prefix?, link, cost })
    }

    /// Says that no link joins two nodes.
    pub fn no_link(&self, from: usize, to: usize) -> String {
        let neighbours: Vec<&str> = self
            .links
            .iter()
            .filter_map(|link| match link.ends {
                [a, b] if a == from => Some(self.names.name(b)),
                [a, b] if b == from => Some(self.names.name(a)),
                _ => None,
            })
            .collect();
        let (from, to) = (self.names.name(from), self.names.name(to));
        if neighbours.is_empty() {
            return format!("no link joins `{from}` and `{to}`; write a `[[link]]` between them");
        }
        let valid = valid_words(to, neighbours.iter().copied());
        format!("no link joins `{from}` and `{to}`; neighbours of `{from}`: {valid}")
    }
}
