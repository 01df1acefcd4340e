//! Links and their directions.

use crate::model::Link;
use crate::places::Names;
use crate::schema::{LinkSection, needs_rate};
use document::{Document, Read, Section};
use toml::de::DeTable;

/// Reads all `[[link]]`, behind those that a generator made; whether it is known of all what they
/// join.
pub fn read<'d>(
    links: &mut Vec<Link>,
    doc: &'d Document<'d>,
    table: &'d DeTable<'d>,
    names: &Names<'_>,
) -> bool {
    let mut all_known = true;
    for section in Section::all_of::<LinkSection>(doc, table) {
        needs_rate(&section);
        let ends = names.pair(&section, "between");
        let Some(LinkSection { way, .. }) = LinkSection::read(&section) else {
            all_known = false;
            continue;
        };
        let directions = [way.direction(), way.but(&section, "back").direction()];
        match ends {
            Some(ends) => links.push(Link { ends, directions }),
            None => all_known = false,
        }
    }
    all_known
}
