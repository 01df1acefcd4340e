//! The division of runs into panels and lines, and the looks of the lines.

use super::PlotError;
use super::request::Request;
use super::table::{Key, Table};
use crate::captions::{MOST_LINES, MOST_PANELS};
use crate::colours::{self, TONES};
use crate::dashes::dashes_of_panels;
use std::collections::{BTreeMap, BTreeSet};

/// Panels of a file at most: more could not be seen on a page.
const MOST_IN_FILE: usize = 36;

/// The fields that make panels and lines, and their combinations that occur.
pub struct Division {
    /// Fields with a line for each combination of their values.
    pub by: Vec<usize>,
    /// Fields with a panel for each combination of their values.
    pub facet: Vec<usize>,
    /// The drawn panels, in the order of the fields' values.
    pub panels: Vec<Key>,
    /// The number of panels.
    pub all: usize,
    /// The lines of all panels.
    pub lines: Vec<Look>,
}

/// A line and its look.
#[derive(Clone, Debug)]
pub struct Look {
    pub key: Key,
    pub label: String,
    pub colour: usize,
    pub dash: usize,
}

impl Division {
    /// Chooses lines and panels by the request. No two combinations are mixed: an unnamed field
    /// makes lines of its own, or panels if the lines would be too many. Of points, such a field is
    /// a condition: it makes panels, because the best of one condition is not available under
    /// another.
    pub fn new(
        table: &Table<'_>,
        request: &Request,
        taken: &[usize],
    ) -> Result<Division, PlotError> {
        let mut by =
            request.by.iter().map(|name| table.field(name)).collect::<Result<Vec<_>, _>>()?;
        let mut facet: Vec<usize> =
            request.facet.iter().map(|name| table.field(name)).collect::<Result<_, _>>()?;
        if by.is_empty() {
            let free = table.varying(&[taken, &facet].concat());
            let scheme = free.iter().copied().find(|place| table.fields[*place].is_scheme());
            by.extend(scheme);
        }
        let rest = table.varying(&[taken, &by, &facet].concat());
        if request.is_scatter {
            // Without a scheme, the fields are the choices.
            if !by.is_empty() {
                facet.extend(&rest);
            }
        } else {
            let all = [by.as_slice(), &rest].concat();
            if table.keys(&all).len() <= MOST_LINES {
                by = all;
            } else {
                facet.extend(&rest);
            }
            // Too many lines are each in a panel of their own.
            if facet.is_empty() && table.keys(&by).len() > MOST_LINES {
                facet.clone_from(&by);
            }
        }
        let mut panels = table.keys(&facet);
        let all = panels.len();
        match request.is_on_page {
            true => panels.truncate(MOST_PANELS),
            false if all > MOST_IN_FILE => {
                return Err(PlotError::Panels { count: all, most: MOST_IN_FILE });
            }
            false => {}
        }
        let lines = looks(table, &by, &facet);
        Ok(Division { by, facet, panels, all, lines })
    }

    /// The drawn panels, if they are not all.
    pub fn panels_note(&self) -> String {
        match self.panels.len() < self.all {
            true => format!(
                " Drawn are the first {} of {} panels, in the order of the sweep, because more \
                 would be too many to compare; weir plot draws up to {MOST_IN_FILE}.",
                self.panels.len(),
                self.all
            ),
            false => String::new(),
        }
    }
}

/// The lines of all panels, with the same look in each.
fn looks(table: &Table<'_>, by: &[usize], facet: &[usize]) -> Vec<Look> {
    let keys = table.keys(by);
    let scheme = by.iter().position(|place| table.fields[*place].is_scheme());
    // A single line of a single scheme.
    let known = table.fields.iter().find(|field| field.is_scheme() && field.values.len() == 1);
    let alone = known.map(|field| field.values[0].as_str()).filter(|_| keys.len() == 1);
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut colours = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let colour = match scheme {
            Some(part) => {
                // Lines of one scheme have tones of its colour.
                let own = colours::scheme(&table.fields[by[part]].values[key[part]]);
                let mut tones = (0..TONES).map(|tone| colours::toned(own, tone));
                tones.find(|colour| !used.contains(colour)).unwrap_or(own)
            }
            None => alone.map_or(number % colours::BRIGHT, colours::scheme),
        };
        used.insert(colour);
        colours.push(colour);
    }
    let mut panels: BTreeMap<Key, BTreeSet<Key>> = BTreeMap::new();
    for row in &table.rows {
        panels.entry(row.key(by)).or_default().insert(row.key(facet));
    }
    // Keys are in the order of the map.
    let panels: Vec<BTreeSet<Key>> = panels.into_values().collect();
    let dashes = dashes_of_panels(&colours, |one, other| !panels[one].is_disjoint(&panels[other]));
    let looks = keys.into_iter().zip(colours).zip(dashes);
    looks
        .map(|((key, colour), dash)| {
            let label = table.label(by, &key);
            Look { key, label, colour, dash }
        })
        .collect()
}
