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

/// The runs of results that were not interrupted.
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
        let mut columns: Vec<Vec<String>> = Vec::new();
        let mut fields = Vec::new();
        let mut add = |name: &str, dimension: Option<Dimension>, column: Vec<String>| {
            let dimension = dimension.filter(|_| column.iter().all(|value| value != NONE));
            let values = different(&column, dimension.is_some());
            columns.push(column);
            fields.push(Field { name: name.to_owned(), dimension, values });
        };
        for field in &swept {
            let text = |run: &RunResult| field.text(&run.id.settings).unwrap_or(NONE).to_owned();
            let column = runs.iter().map(|(_, run)| text(run)).collect();
            add(&field.name, field.dimension, column);
        }
        let controls: Option<Vec<String>> =
            runs.iter().map(|(_, run)| control(run).map(str::to_owned)).collect();
        if let Some(controls) = controls.filter(|_| swept.iter().all(|f| f.name != CONTROL)) {
            add(CONTROL, None, controls);
        }
        if results.sources.len() > 1 {
            let column = runs.iter().map(|(at, _)| results.sources[*at].name.clone()).collect();
            add(FOLDER, None, column);
        }
        let places: Vec<BTreeMap<&str, usize>> = fields
            .iter()
            .map(|field| field.values.iter().enumerate().map(|(i, v)| (v.as_str(), i)).collect())
            .collect();
        let row = |number: usize, run| {
            let places = columns.iter().zip(&places);
            let place = |(column, known): (&Vec<String>, &BTreeMap<&str, usize>)| {
                known.get(column[number].as_str()).copied().unwrap_or(0)
            };
            Row { values: places.map(place).collect(), run }
        };
        let rows = runs.iter().enumerate().map(|(number, (_, run))| row(number, *run)).collect();
        Table { rows, fields }
    }

    /// The combinations of these fields that occur, in the order of their values.
    pub fn keys(&self, fields: &[usize]) -> Vec<Key> {
        let all: BTreeSet<Key> = self.rows.iter().map(|row| row.key(fields)).collect();
        all.into_iter().collect()
    }

    /// Values of several fields, in words.
    pub fn label(&self, fields: &[usize], key: &[usize]) -> String {
        let name = |(field, value): (&usize, &usize)| {
            let field = &self.fields[*field];
            field.named(&field.values[*value])
        };
        fields.iter().zip(key).map(name).collect::<Vec<_>>().join(", ")
    }

    /// The field with a name.
    pub fn field(&self, name: &str) -> Result<usize, PlotError> {
        let found = self.fields.iter().position(|field| field.name == name);
        found.ok_or_else(|| PlotError::Field { name: name.to_owned(), known: self.known() })
    }

    /// The fields in words.
    pub fn known(&self) -> String {
        let names = |is_wanted: &dyn Fn(&Field) -> bool| {
            let found = self.fields.iter().filter(|field| is_wanted(field));
            found.map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let numbers = names(&|field| field.dimension.is_some());
        let texts = names(&|field| field.dimension.is_none());
        match [&*numbers, &*texts] {
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
        let is_wanted = |place: &usize| {
            self.fields[*place].values.len() > 1
                && !except.contains(place)
                && !self.is_derived(*place)
        };
        (0..self.fields.len()).filter(is_wanted).collect()
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
        let number = |value: &String| Field::number(value).unwrap_or(0.0);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    values
}
