//! Runs by the values of their fields.

use super::PlotError;
use crate::results::Results;
use scenario::result::{Amount, Dimension, RunResult, SweptField};
use std::collections::{BTreeMap, BTreeSet};

/// The field of runs that all have one congestion control.
const CONTROL: &str = "control";
/// The field of runs from several folders.
const FOLDER: &str = "folder";
/// A run without a value of a field.
const NONE: &str = "-";

/// A field and its values in all runs.
pub struct Field {
    pub name: String,
    pub dimension: Option<Dimension>,
    /// Different values: numbers in their order, texts as they occur.
    pub values: Vec<String>,
}

impl Field {
    /// The field of a column with a value for each run. One without a value in some run has texts.
    fn new(name: &str, dimension: Option<Dimension>, column: &[String]) -> Field {
        let dimension = dimension.filter(|_| column.iter().all(|value| value != NONE));
        let values = different(column, dimension.is_some());
        Field { name: name.to_owned(), dimension, values }
    }

    /// It has several values, which are numbers.
    pub fn is_numeric(&self) -> bool {
        self.dimension.is_some() && self.values.len() > 1
    }

    /// Its values are names of schemes.
    pub fn is_scheme(&self) -> bool {
        let last = self.name.rsplit('.').next();
        last.is_some_and(|last| last == CONTROL || last == "scheme")
    }

    /// A value in words: a number with the name of its field, without the section.
    fn named(&self, value: &str) -> String {
        let name = self.name.rsplit('.').next().unwrap_or(&self.name);
        match self.dimension {
            Some(_) => format!("{name}: {value}"),
            None => value.to_owned(),
        }
    }

    pub fn number(value: &str) -> Option<f64> {
        Amount::parse(value).map(|amount| amount.value)
    }
}

/// The values of some fields, by their places among the fields' values.
pub type Key = Vec<usize>;

/// A run.
pub struct Row<'r> {
    /// Its values, in the order of the fields, by their places among the fields' values.
    values: Key,
    pub run: &'r RunResult,
}

impl Row<'_> {
    /// Its values of several fields.
    pub fn key(&self, fields: &[usize]) -> Key {
        fields.iter().map(|field| self.values[*field]).collect()
    }
}

/// The uninterrupted runs of results.
pub struct Table<'r> {
    pub fields: Vec<Field>,
    pub rows: Vec<Row<'r>>,
}

impl<'r> Table<'r> {
    pub fn new(results: &'r Results) -> Table<'r> {
        let runs: Vec<(usize, &RunResult)> = results
            .groups
            .iter()
            .flat_map(|group| group.runs.iter().map(move |run| (group.source, run)))
            .filter(|(_, run)| !run.interrupted)
            .collect();
        let swept = SweptField::of(runs.iter().map(|(_, run)| run.id.settings.as_slice()));
        // The values of each field, in the order of the runs.
        let mut columns: Vec<Vec<String>> = Vec::new();
        let mut fields = Vec::new();
        for field in &swept {
            let texts = runs.iter().map(|(_, run)| field.text(&run.id.settings).unwrap_or(NONE));
            let column: Vec<String> = texts.map(str::to_owned).collect();
            fields.push(Field::new(&field.name, field.dimension, &column));
            columns.push(column);
        }
        let controls: Option<Vec<String>> =
            runs.iter().map(|(_, run)| control(run).map(str::to_owned)).collect();
        if let Some(controls) = controls.filter(|_| swept.iter().all(|f| f.name != CONTROL)) {
            fields.push(Field::new(CONTROL, None, &controls));
            columns.push(controls);
        }
        if results.sources.len() > 1 {
            let names = runs.iter().map(|(at, _)| results.sources[*at].name.clone());
            let column: Vec<String> = names.collect();
            fields.push(Field::new(FOLDER, None, &column));
            columns.push(column);
        }
        let places: Vec<BTreeMap<&str, usize>> = fields
            .iter()
            .map(|field| field.values.iter().enumerate().map(|(i, v)| (v.as_str(), i)).collect())
            .collect();
        let mut rows = Vec::new();
        for (number, (_, run)) in runs.into_iter().enumerate() {
            let values = columns
                .iter()
                .zip(&places)
                .map(|(column, known)| known.get(column[number].as_str()).copied().unwrap_or(0))
                .collect();
            rows.push(Row { values, run });
        }
        Table { rows, fields }
    }

    /// The combinations of these fields that occur, in the order of their values.
    pub fn keys(&self, fields: &[usize]) -> Vec<Key> {
        let all: BTreeSet<Key> = self.rows.iter().map(|row| row.key(fields)).collect();
        all.into_iter().collect()
    }

    /// Values of several fields, in words.
    pub fn label(&self, fields: &[usize], key: &[usize]) -> String {
        let mut names = Vec::new();
        for (field, value) in fields.iter().zip(key) {
            let field = &self.fields[*field];
            names.push(field.named(&field.values[*value]));
        }
        names.join(", ")
    }

    /// The field with a name.
    pub fn field(&self, name: &str) -> Result<usize, PlotError> {
        let found = self.fields.iter().position(|field| field.name == name);
        found.ok_or_else(|| PlotError::Field { name: name.to_owned(), known: self.known() })
    }

    /// The fields in words.
    pub fn known(&self) -> String {
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        for field in &self.fields {
            match field.dimension {
                Some(_) => numbers.push(field.name.as_str()),
                None => texts.push(field.name.as_str()),
            }
        }
        match [&*numbers.join(", "), &*texts.join(", ")] {
            ["", ""] => "the results have no swept field".to_owned(),
            ["", texts] => format!("fields with texts: {texts}"),
            [numbers, ""] => format!("fields with numbers: {numbers}"),
            [numbers, texts] => format!("fields with numbers: {numbers}; with texts: {texts}"),
        }
    }

    /// The field for an x axis: that with most numbers.
    pub fn numeric(&self) -> Option<usize> {
        let fields = self.fields.iter().enumerate().filter(|(_, field)| field.is_numeric());
        fields.rev().max_by_key(|(_, field)| field.values.len()).map(|(place, _)| place)
    }

    /// The fields with several values, except these and those that follow from others.
    pub fn varying(&self, except: &[usize]) -> Vec<usize> {
        (0..self.fields.len())
            .filter(|place| self.fields[*place].values.len() > 1)
            .filter(|place| !except.contains(place) && !self.is_derived(*place))
            .collect()
    }

    /// The derived control of runs whose schemes are swept by another name.
    fn is_derived(&self, place: usize) -> bool {
        let field = &self.fields[place];
        field.name == CONTROL
            && self
                .fields
                .iter()
                .any(|other| other.name != CONTROL && other.is_scheme() && other.values.len() > 1)
    }
}

/// The congestion control of all flows of a run.
fn control(run: &RunResult) -> Option<&str> {
    let controls: BTreeSet<&str> = run.flows.iter().map(|flow| flow.control.as_str()).collect();
    controls.first().copied().filter(|_| controls.len() == 1)
}

/// Different values: numbers in their order, texts as they occur.
fn different(column: &[String], is_numeric: bool) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut values: Vec<String> =
        column.iter().filter(|value| seen.insert(value.as_str())).cloned().collect();
    if is_numeric {
        values.sort_by(|a, b| {
            Field::number(a).unwrap_or(0.0).total_cmp(&Field::number(b).unwrap_or(0.0))
        });
    }
    values
}
