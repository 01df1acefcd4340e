//! Traces of other simulators: text files with a row on each line, read as Arrow tables.
//!
//! A file is checked once as a whole. Its rows are read again, piece by piece, each time that they
//! are needed, so that a trace may be larger than memory.

mod format;
mod lines;
mod ndnsim;

use crate::errors::raise;
use crate::table::{columns, described, schema_capsule, stream_capsule};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchReader,
    StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use format::{Format, Kind};
use lines::Lines;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows in a piece.
const PIECE: usize = 1 << 16;

/// A file that has been checked.
#[pyclass(frozen, module = "weir._weir")]
pub struct Trace {
    path: PathBuf,
    format: &'static Format,
    schema: SchemaRef,
    rows: usize,
}

#[pymethods]
impl Trace {
    /// Checks a file as a whole.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Trace> {
        py.detach(|| check(path)).map_err(|text| raise(py, "ResultsError", (text,)))
    }

    /// The name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.format.name
    }

    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let (lines, format) =
            open(&self.path).map_err(|text| raise(py, "ResultsError", (text,)))?;
        stream_capsule(py, Box::new(Batches::new(lines, format)))
    }

    /// The Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    /// The columns: name, type and meaning.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String)> {
        columns(&self.schema)
    }
}

/// Reads a file as a whole, and keeps nothing of it.
fn check(path: PathBuf) -> Result<Trace, String> {
    let (lines, format) = open(&path)?;
    let mut batches = Batches::new(lines, format);
    let mut rows = 0;
    for batch in &mut batches {
        rows += batch.map_err(|error| inner(&error))?.num_rows();
    }
    Ok(Trace { path, format, schema: batches.schema, rows })
}

/// The text of an error, without the words that Arrow puts before it.
fn inner(error: &ArrowError) -> String {
    match error {
        ArrowError::ParseError(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Opens a file behind its first line, which says the format.
fn open(path: &Path) -> Result<(Lines, &'static Format), String> {
    let mut lines = Lines::open(path)?;
    let first = lines.read()?.unwrap_or_default();
    let words: Vec<&str> = first.trim_end().split('\t').collect();
    let found = ndnsim::FORMATS.iter().copied().find(|format| format.header == words);
    let format = found.ok_or_else(|| {
        let known: Vec<_> =
            ndnsim::FORMATS.iter().map(|format| format!("`{}`", format.header.join(" "))).collect();
        lines.wrong(&format!(
            "the first line is not a known head of a trace; there are {}, with tabs between",
            known.join(", ")
        ))
    })?;
    Ok((lines, format))
}

/// The rows of a file, piece by piece.
struct Batches {
    lines: Lines,
    format: &'static Format,
    schema: SchemaRef,
    ended: bool,
}

impl Batches {
    fn new(lines: Lines, format: &'static Format) -> Batches {
        let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut fields = Vec::new();
        for column in format.columns {
            let (kind, optional) = match column.kind {
                Kind::Text => (words.clone(), false),
                Kind::Number(_) => (DataType::Float64, false),
                Kind::Count | Kind::Bytes(_) => (DataType::UInt64, false),
                Kind::OptionalCount => (DataType::UInt64, true),
            };
            fields.push(described(Field::new(column.name, kind, optional), column.help));
        }
        Batches { lines, format, schema: Arc::new(Schema::new(fields)), ended: false }
    }

    fn piece(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut values: Vec<Values> =
            self.format.columns.iter().map(|column| Values::of(column.kind)).collect();
        let mut rows = 0;
        while rows < PIECE {
            let Some(line) = self.lines.read().map_err(ArrowError::ParseError)? else { break };
            if let Err(why) = push(self.format, line, &mut values) {
                return Err(ArrowError::ParseError(self.lines.wrong(&why)));
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = values.into_iter().map(Values::finish).collect::<Result<_, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map(Some)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let piece = self.piece();
        self.ended = !matches!(piece, Ok(Some(_)));
        piece.transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Takes the values of a line.
fn push(format: &Format, line: &str, values: &mut [Values]) -> Result<(), String> {
    let wanted = format.header.len();
    let mut words = [""; 16];
    let mut found = 0;
    for word in line.split('\t') {
        if let Some(place) = words.get_mut(found) {
            *place = word;
        }
        found += 1;
    }
    // A line may end in a tab, as the first one of some tracers does.
    if found == wanted + 1 && words[wanted].is_empty() {
        found = wanted;
    }
    if found != wanted {
        let columns = format.header.join(" ");
        return Err(format!("{found} columns, but {wanted} are expected: {columns}"));
    }
    for (column, values) in format.columns.iter().zip(values) {
        let word = words[column.word];
        values.push(word, column.kind).ok_or_else(|| {
            let expected = match column.kind {
                Kind::Text => "a text",
                Kind::Number(_) => "a number",
                Kind::Bytes(_) => "a number from 0 on",
                Kind::Count => "a whole number from 0 on",
                Kind::OptionalCount => "a whole number",
            };
            format!("column `{}` is `{word}`; {expected} is expected", format.header[column.word])
        })?;
    }
    Ok(())
}

/// A finite number.
fn finite(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The values of a column.
enum Values {
    Text { codes: Vec<i32>, texts: Vec<String>, known: BTreeMap<String, i32> },
    Numbers(Vec<f64>),
    Counts(Vec<Option<u64>>),
}

impl Values {
    fn of(kind: Kind) -> Values {
        match kind {
            Kind::Text => {
                Values::Text { codes: Vec::new(), texts: Vec::new(), known: BTreeMap::new() }
            }
            Kind::Number(_) => Values::Numbers(Vec::new()),
            Kind::Count | Kind::OptionalCount | Kind::Bytes(_) => Values::Counts(Vec::new()),
        }
    }

    /// Takes a value; `None` if the word is not of this kind.
    fn push(&mut self, word: &str, kind: Kind) -> Option<()> {
        match self {
            Values::Text { codes, texts, known } => {
                let code = if let Some(code) = known.get(word) {
                    *code
                } else {
                    let next = i32::try_from(texts.len()).ok()?;
                    texts.push(word.to_owned());
                    known.insert(word.to_owned(), next);
                    next
                };
                codes.push(code);
            }
            Values::Numbers(numbers) => {
                let Kind::Number(factor) = kind else { return None };
                numbers.push(finite(word)? * factor);
            }
            Values::Counts(counts) => counts.push(match kind {
                Kind::Bytes(unit) => {
                    let bytes = (finite(word)? * unit).round();
                    Some((0.0..9e15).contains(&bytes).then_some(bytes as u64)?)
                }
                Kind::OptionalCount => u64::try_from(word.parse::<i64>().ok()?).ok(),
                // Counts are printed as floating-point numbers by some tracers: 1.5e+06.
                _ => match word.parse() {
                    Ok(count) => Some(count),
                    Err(_) => {
                        let count = finite(word)?;
                        let is_whole = count.fract() == 0.0 && (0.0..9e15).contains(&count);
                        Some(is_whole.then_some(count as u64)?)
                    }
                },
            }),
        }
        Some(())
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Values::Text { codes, texts, .. } => {
                let texts = Arc::new(StringArray::from(texts));
                let codes = Int32Array::from(codes);
                Arc::new(DictionaryArray::<Int32Type>::try_new(codes, texts)?)
            }
            Values::Numbers(numbers) => Arc::new(Float64Array::from(numbers)),
            Values::Counts(counts) => Arc::new(UInt64Array::from(counts)),
        })
    }
}
