//! `series.parquet`: a row for every value of every quantity.

use super::pages;
use super::records::write_column;
use super::schema::{properties, schema};
use crate::parquet_file::table::{Constant, ReadRow, SERIES};
use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use scenario::series::Row;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The number of rows held until they are written.
const GROUP: usize = 65_536;

#[derive(Default)]
struct Held {
    run: Vec<i64>,
    time: Vec<f64>,
    subject: Vec<ByteArray>,
    entity: Vec<ByteArray>,
    quantity: Vec<ByteArray>,
    value: Vec<f64>,
}

/// Writes the rows of one run.
pub struct SeriesWriter {
    run: i64,
    /// Columns behind the others.
    constants: Vec<Constant>,
    out: SerializedFileWriter<File>,
    held: Held,
    entities: BTreeMap<Arc<str>, ByteArray>,
}

impl SeriesWriter {
    /// Begins a file.
    pub fn create(
        path: &Path,
        run: usize,
        constants: Vec<Constant>,
    ) -> Result<SeriesWriter, ParquetError> {
        let more = constants.iter().map(|constant| &constant.column);
        let schema = schema(&SERIES.iter().chain(more).cloned().collect::<Vec<_>>())?;
        let out = SerializedFileWriter::new(File::create(path)?, schema, properties())?;
        let run = i64::try_from(run).unwrap_or(i64::MAX);
        Ok(SeriesWriter { run, constants, out, held: Held::default(), entities: BTreeMap::new() })
    }

    /// Adds a row.
    pub fn row(&mut self, row: &Row<'_>) -> Result<(), ParquetError> {
        let entity = match self.entities.get(row.entity) {
            Some(known) => known.clone(),
            None => {
                let bytes = copied(row.entity);
                self.entities.insert(Arc::clone(row.entity), bytes.clone());
                bytes
            }
        };
        self.held.run.push(self.run);
        self.held.time.push(row.time_s);
        self.held.subject.push(fixed(row.subject.as_str()));
        self.held.entity.push(entity);
        self.held.quantity.push(fixed(row.quantity));
        self.held.value.push(row.value);
        if self.held.run.len() >= GROUP { self.write() } else { Ok(()) }
    }

    /// Adds a row from another file.
    pub fn copy(&mut self, row: &ReadRow<'_>) -> Result<(), ParquetError> {
        self.held.run.push(self.run);
        self.held.time.push(row.time_s);
        self.held.subject.push(copied(row.subject));
        self.held.entity.push(copied(row.entity));
        self.held.quantity.push(copied(row.quantity));
        self.held.value.push(row.value);
        if self.held.run.len() >= GROUP { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let held = std::mem::take(&mut self.held);
        let mut group = self.out.next_row_group()?;
        put::<Int64Type>(&mut group, &held.run)?;
        put::<DoubleType>(&mut group, &held.time)?;
        put::<ByteArrayType>(&mut group, &held.subject)?;
        put::<ByteArrayType>(&mut group, &held.entity)?;
        put::<ByteArrayType>(&mut group, &held.quantity)?;
        put::<DoubleType>(&mut group, &held.value)?;
        for Constant { column, value } in &self.constants {
            write_column(&mut group, column, std::iter::repeat_n(value, held.run.len()))?;
        }
        group.close().map(drop)
    }

    /// Writes the buffered rows, and ends the file.
    pub fn close(mut self) -> Result<(), ParquetError> {
        if !self.held.run.is_empty() {
            self.write()?;
        }
        self.out.close().map(drop)
    }
}

fn fixed(text: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(text.as_bytes()))
}

fn copied(text: &str) -> ByteArray {
    ByteArray::from(text.as_bytes().to_vec())
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("there is no such column".to_owned()))?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

/// Hands on every row, in the order of the file; no more than one row group is held.
///
/// # Errors
/// The file is damaged, or `to` has an error.
pub fn read_series(
    path: &Path,
    mut to: impl FnMut(&ReadRow<'_>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let reader = SerializedFileReader::new(file.try_clone()?)?;
    let there = reader.metadata().file_metadata().schema_descr();
    let mut places = Vec::new();
    for expected in SERIES {
        let name = &expected.name;
        let place = there.columns().iter().position(|column| column.name() == name);
        places.push(
            place.ok_or_else(|| ParquetError::General(format!("there is no column `{name}`")))?,
        );
    }
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        // Equal values take little space in a file, but full memory here.
        if rows > GROUP {
            return Err(ParquetError::General(format!("more than {GROUP} rows are in a group")));
        }
        for column in group.metadata().columns() {
            let (start, end) =
                place_of(column).filter(|(_, end)| *end <= length).ok_or_else(|| {
                    ParquetError::General("a column lies outside the file".to_owned())
                })?;
            pages::check(&file, start, end, GROUP as u64)?;
        }
        let run = whole(group.get_column_reader(places[0])?, rows)?;
        let time = numbers(group.get_column_reader(places[1])?, rows)?;
        let value = numbers(group.get_column_reader(places[5])?, rows)?;
        let subject = texts(group.get_column_reader(places[2])?, rows)?;
        let entity = texts(group.get_column_reader(places[3])?, rows)?;
        let quantity = texts(group.get_column_reader(places[4])?, rows)?;
        for i in 0..rows {
            to(&ReadRow {
                run: usize::try_from(run[i]).unwrap_or(usize::MAX),
                time_s: time[i],
                subject: subject[i].as_utf8()?,
                entity: entity[i].as_utf8()?,
                quantity: quantity[i].as_utf8()?,
                value: value[i],
            })?;
        }
    }
    Ok(())
}

/// The first and last byte of the pages of a column. The library panics if a damaged file places
/// them outside of it.
fn place_of(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let (start, size) = (u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?);
    Some((start, start.checked_add(size)?))
}

fn wrong() -> ParquetError {
    ParquetError::General("a column is not of the kind that it should be".to_owned())
}

/// Reads all values of a required column.
macro_rules! read_all {
    ($name:ident, $variant:ident, $type:ty) => {
        fn $name(column: ColumnReader, rows: usize) -> Result<Vec<$type>, ParquetError> {
            let ColumnReader::$variant(mut column) = column else { return Err(wrong()) };
            // A damaged file may claim any number of rows; memory is allocated for actual ones.
            let mut values = Vec::with_capacity(rows.min(1 << 16));
            while values.len() < rows {
                let (records, _, _) =
                    column.read_records(rows - values.len(), None, None, &mut values)?;
                if records == 0 {
                    return Err(wrong());
                }
            }
            Ok(values)
        }
    };
}

read_all!(whole, Int64ColumnReader, i64);
read_all!(numbers, DoubleColumnReader, f64);
read_all!(texts, ByteArrayColumnReader, ByteArray);

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of reading a file with this many equal rows in one group.
    fn read(rows: usize) -> Result<usize, ParquetError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("series.parquet");
        let file = File::create(&path).unwrap();
        let schema = schema(SERIES).unwrap();
        let mut out = SerializedFileWriter::new(file, schema, properties()).unwrap();
        let mut group = out.next_row_group().unwrap();
        let text = vec![ByteArray::from("x"); rows];
        put::<Int64Type>(&mut group, &vec![0; rows]).unwrap();
        put::<DoubleType>(&mut group, &vec![0.5; rows]).unwrap();
        (0..3).for_each(|_| put::<ByteArrayType>(&mut group, &text).unwrap());
        put::<DoubleType>(&mut group, &vec![0.5; rows]).unwrap();
        group.close().unwrap();
        out.close().unwrap();
        let mut count = 0;
        read_series(&path, |row| {
            assert_eq!((row.run, row.entity, row.value), (0, "x", 0.5));
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    #[test]
    fn a_group_holds_as_many_rows_as_are_written_and_no_more() {
        assert_eq!(read(1000).unwrap(), 1000);
        assert_eq!(read(GROUP).unwrap(), GROUP);
        let error = read(GROUP + 1).unwrap_err().to_string();
        assert!(error.contains("more than 65536 rows"), "{error}");
    }
}
