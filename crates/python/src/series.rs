//! Time series in memory: columns that grow, and become Arrow arrays without a copy.

use crate::table::{Table, described, failed};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::prelude::*;
use report::{Column, SERIES};
use scenario::result::{SweptField, Value};
use scenario::series::{Row, Rows};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most rows in memory: 1.4 GB of them.
pub const MOST_ROWS: u64 = 50_000_000;

/// The rows of one run.
#[derive(Default)]
pub struct Series {
    time_s: Vec<f64>,
    kind: Coded,
    entity: Coded,
    quantity: Coded,
    value: Vec<f64>,
}

/// Texts, of which there are few, by their numbers.
#[derive(Default)]
struct Coded {
    texts: Vec<String>,
    /// By the text's place in memory, which stays the same during a run.
    numbers: BTreeMap<usize, i32>,
    codes: Vec<i32>,
}

impl Coded {
    fn push(&mut self, text: &str) {
        let next = i32::try_from(self.texts.len()).unwrap_or(i32::MAX);
        let code = *self.numbers.entry(text.as_ptr() as usize).or_insert_with(|| {
            self.texts.push(text.to_owned());
            next
        });
        self.codes.push(code);
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        let texts = Arc::new(StringArray::from(self.texts));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(Int32Array::from(self.codes), texts)?))
    }
}

/// The series of a batch, by run.
#[derive(Default)]
pub struct Collected {
    runs: Mutex<BTreeMap<usize, Series>>,
    rows: AtomicU64,
}

impl Collected {
    /// Takes the rows of a run.
    pub fn begin(
        self: &Arc<Collected>,
        run: usize,
        beside: Option<Box<dyn Rows>>,
    ) -> Box<dyn Rows> {
        Box::new(Collector { to: Arc::clone(self), run, series: Series::default(), beside })
    }

    /// There are more rows than there may be.
    pub fn is_full(&self) -> bool {
        self.rows.load(Ordering::Relaxed) > MOST_ROWS
    }

    /// The series, by run.
    pub fn take(&self) -> BTreeMap<usize, Series> {
        std::mem::take(&mut *self.runs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Collector {
    to: Arc<Collected>,
    run: usize,
    series: Series,
    /// The same rows go to disk.
    beside: Option<Box<dyn Rows>>,
}

impl Rows for Collector {
    fn row(&mut self, row: &Row<'_>) {
        if let Some(beside) = &mut self.beside {
            beside.row(row);
        }
        if self.to.rows.fetch_add(1, Ordering::Relaxed) >= MOST_ROWS {
            return;
        }
        self.series.time_s.push(row.time_s);
        self.series.kind.push(row.subject.as_str());
        self.series.entity.push(row.entity);
        self.series.quantity.push(row.quantity);
        self.series.value.push(row.value);
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let mut runs = self.to.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.insert(self.run, std::mem::take(&mut self.series));
    }
}

/// The table of the series of these runs, with the values of the swept fields.
pub fn table(
    series: BTreeMap<usize, Series>,
    swept: &[SweptField],
    settings: impl Fn(usize) -> Vec<(String, String)>,
) -> PyResult<Table> {
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let own = SERIES.iter().map(|column| {
        let kind = match column.name.as_ref() {
            "run" => DataType::UInt64,
            "time_s" | "value" => DataType::Float64,
            _ => words.clone(),
        };
        described(Field::new(column.name.as_ref(), kind, false), column.help)
    });
    let swept_columns: Vec<Column> = swept.iter().map(Column::swept).collect();
    let fields = own.chain(swept_columns.iter().map(crate::table::field));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let batches = series.into_iter().map(|(run, series)| {
        let count = series.value.len();
        let settings = settings(run);
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(vec![run as u64; count])),
            Arc::new(Float64Array::from(series.time_s)),
            series.kind.finish()?,
            series.entity.finish()?,
            series.quantity.finish()?,
            Arc::new(Float64Array::from(series.value)),
        ];
        arrays.extend(swept.iter().map(|field| constant(&field.value(&settings), field, count)));
        RecordBatch::try_new(Arc::clone(&schema), arrays)
    });
    let batches = batches.collect::<Result<Vec<_>, ArrowError>>().map_err(failed)?;
    Ok(Table::new(schema, batches))
}

/// A column with the same value in all rows.
fn constant(value: &Value, field: &SweptField, count: usize) -> ArrayRef {
    if field.dimension.is_some() {
        let number = match value {
            Value::Number(number) => Some(*number),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        };
        return Arc::new(Float64Array::from(vec![number; count]));
    }
    let text = match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    Arc::new(StringArray::from(vec![text; count]))
}
