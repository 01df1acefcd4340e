//! The section `[record]`.

use crate::model::{Pick, Recording, Scenario};
use crate::places::Places;
use crate::schema::RecordSection;
use document::{Document, Read, Section, shown};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads `[record]`; all defaults if it is not there.
pub fn read<'d>(
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    places: &Places<'_>,
) -> Option<Recording> {
    let section = Section::of::<RecordSection>(doc, table);
    let RecordSection { interval, warmup, .. } = RecordSection::read(&section)?;
    Some(Recording {
        interval,
        flows: pick(&section, "flows", &|value, field| places.names.find(value, field, doc)),
        links: pick(&section, "links", &|value, field| link(doc, places, value, field)),
        nodes: pick(&section, "nodes", &|value, field| places.names.find(value, field, doc)),
        warmup,
    })
}

/// `"all"`, `"none"` or a list, each entry of which `one` understands.
fn pick(
    section: &Section<'_>,
    field: &str,
    one: &dyn Fn(&Spanned<DeValue<'_>>, &str) -> Option<usize>,
) -> Pick {
    let Some(value) = section.given(field) else { return Pick::All };
    if let Some(list) = value.get_ref().as_array() {
        let mut found: Vec<usize> = list.iter().filter_map(|value| one(value, field)).collect();
        found.sort_unstable();
        found.dedup();
        return Pick::These(found);
    }
    match value.get_ref().as_str() {
        Some("all") => Pick::All,
        Some("none") => Pick::These(Vec::new()),
        _ => {
            let given = shown(value.get_ref());
            section.mistake(field, &format!("it is \"all\", \"none\" or a list, not {given}"));
            Pick::All
        }
    }
}

/// `["a", "b"]`
fn link(
    doc: &Document<'_>,
    places: &Places<'_>,
    value: &Spanned<DeValue<'_>>,
    field: &str,
) -> Option<usize> {
    let ends = value.get_ref().as_array().filter(|list| list.len() == 2);
    let Some([a, b]) = ends.and_then(|list| list.get(0..2)) else {
        let given = shown(value.get_ref());
        let why = format!("`{field}`: a link is two nodes, [\"a\", \"b\"], not {given}");
        doc.mistake(value.span(), why);
        return None;
    };
    let ends = [places.names.find(a, field, doc), places.names.find(b, field, doc)];
    let [Some(a), Some(b)] = ends else { return None };
    let found = Scenario::link_between(places.links, a, b);
    if found.is_none() {
        doc.mistake(value.span(), format!("`{field}`: {}", places.no_link(a, b)));
    }
    found.map(|(link, _)| link)
}
