//! Records as a table: a row each, a column for each of their fields.

use super::schema::{properties, schema};
use crate::parquet_file::table::Column;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use scenario::result::{Kind, Value};
use std::fs::File;
use std::path::Path;

/// Rows of a row group.
const GROUP: usize = 16_384;

/// Writes the rows, whose values are in the order of the columns.
pub fn write_records(
    path: &Path,
    columns: &[Column],
    mut rows: impl Iterator<Item = Vec<Value>>,
) -> Result<(), ParquetError> {
    let mut out = SerializedFileWriter::new(File::create(path)?, schema(columns)?, properties())?;
    loop {
        let group: Vec<_> = rows.by_ref().take(GROUP).collect();
        if group.is_empty() {
            return out.close().map(drop);
        }
        let mut next = out.next_row_group()?;
        for (place, column) in columns.iter().enumerate() {
            write_column(&mut next, column, group.iter().map(|row| &row[place]))?;
        }
        next.close()?;
    }
}

/// Writes the values of one column.
pub fn write_column<'v>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: &Column,
    values: impl Iterator<Item = &'v Value>,
) -> Result<(), ParquetError> {
    match column.kind {
        Kind::Text => put::<ByteArrayType>(group, column, values.map(text)),
        Kind::Count => put::<Int64Type>(group, column, values.map(count)),
        Kind::Number => put::<DoubleType>(group, column, values.map(number)),
        Kind::Switch => put::<BoolType>(group, column, values.map(switch)),
    }
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: &Column,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = values.collect();
    let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let known: Vec<T::T> = values.into_iter().flatten().collect();
    let mut writer = group
        .next_column()?
        .ok_or_else(|| ParquetError::General(format!("there is no column {}", column.name)))?;
    let levels = column.optional.then_some(there.as_slice());
    writer.typed::<T>().write_batch(&known, levels, None)?;
    writer.close()
}

fn text(value: &Value) -> Option<ByteArray> {
    let Value::Text(text) = value else { return None };
    Some(ByteArray::from(text.as_bytes().to_vec()))
}

fn count(value: &Value) -> Option<i64> {
    let Value::Count(count) = value else { return None };
    Some(i64::try_from(*count).unwrap_or(i64::MAX))
}

fn number(value: &Value) -> Option<f64> {
    let Value::Number(number) = value else { return None };
    Some(*number)
}

fn switch(value: &Value) -> Option<bool> {
    let Value::Switch(switch) = value else { return None };
    Some(*switch)
}
