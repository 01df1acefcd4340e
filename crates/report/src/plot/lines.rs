//! The division of runs into panels and lines, and the looks of the lines.

use super::table::Table;
use super::{PlotError, Request};
use crate::captions::MOST_LINES;
use crate::colours;
use std::collections::BTreeMap;

/// The fields that make panels and lines.
pub struct Division {
    /// Fields with a line for each combination of their values.
    pub by: Vec<usize>,
    /// Fields with a panel for each combination of their values.
    pub facet: Vec<usize>,
}

impl Division {
    /// As it is asked for. No two combinations are mixed: a field that is not named makes lines of
    /// its own, or panels if there would be too many lines.
    pub fn new(
        table: &Table<'_>,
        request: &Request,
        taken: &[usize],
    ) -> Result<Division, PlotError> {
        let mut by =
            request.by.iter().map(|name| table.field(name)).collect::<Result<Vec<_>, _>>()?;
        let mut facet: Vec<usize> =
            request.facet.iter().map(|name| table.field(name)).collect::<Result<_, _>>()?;
        let except = |by: &[usize], facet: &[usize]| [taken, by, facet].concat();
        if by.is_empty() {
            let free = table.varying(&except(&by, &facet));
            let scheme = free.iter().copied().find(|place| table.fields[*place].is_scheme());
            by.extend(scheme);
        }
        let rest = table.varying(&except(&by, &facet));
        let lines = |fields: &[usize]| -> usize {
            fields.iter().map(|place| table.fields[*place].values.len()).product()
        };
        let all = [by.as_slice(), &rest].concat();
        match lines(&all) <= MOST_LINES || request.is_scatter {
            true if !request.is_scatter => by = all,
            true => {}
            false => facet.extend(&rest),
        }
        // Too many lines are each in a panel of their own.
        if facet.is_empty() && lines(&by) > MOST_LINES && !request.is_scatter {
            facet.clone_from(&by);
        }
        Ok(Division { by, facet })
    }

    /// The labels of panels, in the order of the fields' values.
    pub fn panels(&self, table: &Table<'_>) -> Vec<String> {
        labels(table, &self.facet)
    }

    /// The lines of all panels.
    pub fn lines(&self, table: &Table<'_>) -> Vec<Look> {
        let labels = labels(table, &self.by);
        let schemes = self.by.iter().position(|place| table.fields[*place].is_scheme());
        // A single line of a single scheme.
        let known = table.fields.iter().find(|field| field.is_scheme() && field.values.len() == 1);
        let alone = known.map(|field| field.values[0].as_str()).filter(|_| labels.len() == 1);
        let mut used: BTreeMap<usize, usize> = BTreeMap::new();
        let colour = |(number, label): (usize, &String)| match schemes {
            Some(part) => {
                let scheme = label.split(", ").nth(part).unwrap_or_default();
                let own = colours::scheme(scheme);
                let times = used.entry(own).or_default();
                *times += 1;
                colours::toned(own, *times - 1)
            }
            None => alone.map_or(number % colours::BRIGHT, colours::scheme),
        };
        let colours: Vec<usize> = labels.iter().enumerate().map(colour).collect();
        let dashes = colours::dashes(&colours);
        let looks = labels.into_iter().zip(colours).zip(dashes);
        looks.map(|((label, colour), dash)| Look { label, colour, dash }).collect()
    }
}

/// The look of a line.
#[derive(Clone, Debug)]
pub struct Look {
    pub label: String,
    pub colour: usize,
    pub dash: usize,
}

/// The combinations of these fields that occur, in the order of their values.
fn labels(table: &Table<'_>, fields: &[usize]) -> Vec<String> {
    let place = |field: usize, value: &str| {
        table.fields[field].values.iter().position(|known| known == value).unwrap_or(0)
    };
    let mut all: BTreeMap<Vec<usize>, String> = BTreeMap::new();
    for row in &table.rows {
        let key = fields.iter().map(|field| place(*field, row.value(*field))).collect();
        all.entry(key).or_insert_with(|| row.label(fields));
    }
    all.into_values().collect()
}
