//! Tables for other libraries, by the Arrow PyCapsule interface: buffers are shared, not copied.

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use report::Column;
use scenario::result::{Kind, Value};
use std::sync::Arc;

/// A table.
#[pyclass(frozen, module = "weir._weir")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// A table of these pieces, all of which have the schema.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }

    /// A table of rows, whose values stand in the order of the columns.
    ///
    /// # Errors
    /// A row lacks a value that its column must have.
    pub fn of_rows(
        columns: &[Column],
        rows: impl Iterator<Item = Vec<Value>>,
    ) -> Result<Table, ArrowError> {
        let mut builders: Vec<Builder> =
            columns.iter().map(|column| Builder::of(column.kind)).collect();
        for row in rows {
            for (builder, value) in builders.iter_mut().zip(row) {
                builder.push(value);
            }
        }
        let schema: SchemaRef =
            Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = builders.into_iter().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
        Ok(Table { schema, batches: vec![batch] })
    }
}

/// A column's field; its meaning is in the metadata.
pub fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Text => DataType::Utf8,
        Kind::Count => DataType::UInt64,
        Kind::Number => DataType::Float64,
        Kind::Switch => DataType::Boolean,
    };
    described(Field::new(column.name.as_ref(), kind, column.optional), column.help)
}

/// A field with its meaning.
pub fn described(field: Field, help: &str) -> Field {
    field.with_metadata(Metadata::from_iter([("help".to_owned(), help.trim().to_owned())]))
}

/// A table of columns that Python has: name, meaning, kind and values of each.
#[pyfunction]
pub fn table_of_columns(given: Vec<(String, String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, help, kind, values) in given {
        let array: ArrayRef = match kind.as_str() {
            "text" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            "whole" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
            "number" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
            _ => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
        };
        fields.push(described(Field::new(name, array.data_type().clone(), true), &help));
        arrays.push(array);
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(failed)?;
    Ok(Table { schema, batches: vec![batch] })
}

/// A column that grows.
enum Builder {
    Text(StringBuilder),
    Count(UInt64Builder),
    Number(Float64Builder),
    Switch(BooleanBuilder),
}

impl Builder {
    fn of(kind: Kind) -> Builder {
        match kind {
            Kind::Text => Builder::Text(StringBuilder::new()),
            Kind::Count => Builder::Count(UInt64Builder::new()),
            Kind::Number => Builder::Number(Float64Builder::new()),
            Kind::Switch => Builder::Switch(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, value: Value) {
        match (self, value) {
            (Builder::Text(column), Value::Text(text)) => column.append_value(text),
            (Builder::Count(column), Value::Count(count)) => column.append_value(count),
            (Builder::Number(column), Value::Number(number)) => column.append_value(number),
            (Builder::Number(column), Value::Count(count)) => column.append_value(count as f64),
            (Builder::Switch(column), Value::Switch(switch)) => column.append_value(switch),
            (Builder::Text(column), _) => column.append_null(),
            (Builder::Count(column), _) => column.append_null(),
            (Builder::Number(column), _) => column.append_null(),
            (Builder::Switch(column), _) => column.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Builder::Text(mut column) => Arc::new(column.finish()),
            Builder::Count(mut column) => Arc::new(column.finish()),
            Builder::Number(mut column) => Arc::new(column.finish()),
            Builder::Switch(mut column) => Arc::new(column.finish()),
        }
    }
}

/// An error of Arrow as an exception.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
pub fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface permits to ignore the wish: the receiver then converts.
        drop(requested_schema);
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        stream_capsule(py, Box::new(reader))
    }

    /// The Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns: name, type and meaning.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String)> {
        columns(&self.schema)
    }
}

/// The columns of a table: name, type and meaning.
pub fn columns(schema: &Schema) -> Vec<(String, String, String)> {
    let fields = schema.fields().iter();
    fields
        .map(|field| {
            let help = field.metadata().get("help").cloned().unwrap_or_default();
            (field.name().clone(), field.data_type().to_string(), help)
        })
        .collect()
}

/// Rows as Arrow's C stream.
///
/// # Errors
/// Python has no memory.
pub fn stream_capsule(
    py: Python<'_>,
    rows: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(rows), c"arrow_array_stream")
}

/// A schema as Arrow's C schema.
///
/// # Errors
/// A type has no form in C.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(failed)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}
