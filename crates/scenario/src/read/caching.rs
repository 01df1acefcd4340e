//! Content stores: `[caching]`, and what a `[[node]]` says of its own.

use crate::model::{Content, Node, Warmup};
use crate::places::Names;
use crate::schema::CachingSection;
use crate::values::from;
use document::{Document, Read, Section};
use std::collections::BTreeSet;
use toml::de::DeTable;

/// Reads `[caching]`: gives nodes that say nothing of their own a store. `own` says which do.
pub fn read<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    nodes: &mut [Node],
    own: &[bool],
    contents: &[Content],
) -> Option<Warmup> {
    let s = Section::of::<CachingSection>(doc, table);
    let CachingSection { store, warmup, .. } = CachingSection::read(&s)?;
    if !s.is_there() {
        return Some(warmup);
    }
    let selected = selected(&s, nodes, contents)?;
    let (config, share) = store.config();
    for node in selected.into_iter().filter(|node| !own.get(*node).copied().unwrap_or(false)) {
        (nodes[node].content_store, nodes[node].share) = (config, share);
    }
    Some(warmup)
}

fn selected(s: &Section<'_>, nodes: &[Node], contents: &[Content]) -> Option<Vec<usize>> {
    let word = s.given("at").map_or(Some("routers"), |value| value.get_ref().as_str());
    match word {
        Some("all") => Some((0..nodes.len()).collect()),
        Some("routers") => {
            let producers: BTreeSet<usize> =
                contents.iter().flat_map(|content| content.at.iter().copied()).collect();
            Some((0..nodes.len()).filter(|node| !producers.contains(node)).collect())
        }
        _ => {
            let names = Names::new(nodes, true, None);
            let given = s.given("at")?;
            // The words are no nodes, but may have been meant.
            if let Some(word) = given.get_ref().as_str()
                && names.known(word).is_err()
            {
                let valid = document::valid_words(word, ["all", "routers"]);
                from(s, "at", given, |_| -> Result<(), String> {
                    Err(format!("there is no node `{word}`; {valid}, or nodes"))
                });
                return None;
            }
            let found = names.several(s, "at");
            (!found.is_empty()).then_some(found)
        }
    }
}
