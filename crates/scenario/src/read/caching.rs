//! Content stores: `[caching]`, and what a `[[node]]` says of its own.

use super::places::Names;
use super::values::from;
use crate::model::{Content, Node, Share, Warmup};
use crate::schema::SECTIONS;
use control::Size;
use document::{Document, Section, spoken, text};
use forwarder::tables::{Admission, ContentStoreConfig, PolicyKind};
use toml::de::{DeTable, DeValue};

/// A content store, and the share of all content that bounds it, if one does.
pub type Store = (ContentStoreConfig, Option<Share>);

/// The store that a section describes.
pub fn store(s: &Section<'_>) -> Option<Store> {
    let policies = PolicyKind::ALL;
    let bound = s.get("content_store", bound)?;
    let (capacity, packets, share) = match bound {
        Bound::Bytes(bytes) => (bytes, usize::MAX, None),
        Bound::Packets(packets) => (MOST_BYTES, packets, None),
        // How many they are is known when content is.
        Bound::Share(share) => (MOST_BYTES, 0, Some(share)),
    };
    let policy = policies[s.word("policy").min(policies.len() - 1)];
    let admission = s.get("admission", |v| spoken(v, &Admission::WORDS))?;
    Some((ContentStoreConfig { capacity, packets, policy, admission }, share))
}

/// As good as no bound, and yet two of them can be added.
const MOST_BYTES: usize = usize::MAX / 4;

enum Bound {
    Bytes(usize),
    Packets(usize),
    Share(Share),
}

/// `"1 MB"`, `"1000 packets"`, `"2 %"`.
fn bound(value: &DeValue<'_>) -> Result<Bound, String> {
    let given = text(value)?;
    if let Some(number) = given.trim().strip_suffix("packets") {
        let number = number.trim().replace('_', "");
        let wrong = |_| format!("`{given}` is not a number of packets; write \"1000 packets\"");
        return number.parse().map(Bound::Packets).map_err(wrong);
    }
    if given.trim().ends_with('%') {
        return given.parse().map(Bound::Share).map_err(|e: control::QuantityError| e.to_string());
    }
    let size: Size = given.parse().map_err(|e| format!("{e}, \"1000 packets\", \"2 %\""))?;
    usize::try_from(size.0).map(Bound::Bytes).map_err(|_| "it is too large".to_owned())
}

/// Reads `[caching]`: gives nodes that say nothing of their own a store. `own` says which do.
pub fn read<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    nodes: &mut [Node],
    own: &[bool],
    contents: &[Content],
) -> Option<Warmup> {
    let s = Section::single(doc, SECTIONS, table, "caching").filter(Section::is_there);
    let Some(s) = s else { return Some(Warmup::Detected) };
    let selected = selected(&s, nodes, contents)?;
    let (config, share) = store(&s)?;
    for node in selected.into_iter().filter(|node| !own.get(*node).copied().unwrap_or(false)) {
        (nodes[node].content_store, nodes[node].share) = (config, share);
    }
    s.get("warmup", |v| match text(v)? {
        "auto" => Ok(Warmup::Detected),
        given => match given.parse() {
            Ok(span) => Ok(Warmup::Until(span)),
            Err(e) => Err(format!("{e}; or it is \"auto\"")),
        },
    })
}

fn selected(s: &Section<'_>, nodes: &[Node], contents: &[Content]) -> Option<Vec<usize>> {
    let word = s.given("at").map_or(Some("routers"), |value| value.get_ref().as_str());
    match word {
        Some("all") => Some((0..nodes.len()).collect()),
        Some("routers") => {
            let produces = |node: &usize| contents.iter().any(|c| c.at.contains(node));
            Some((0..nodes.len()).filter(|node| !produces(node)).collect())
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
