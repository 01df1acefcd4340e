//! Concatenates several files of one schema without encoding their content again.

use super::schema::{properties, schema};
use crate::parquet_file::table::Column;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Writes the row groups of the parts, in their order, to a new file.
pub fn concatenate(columns: &[Column], parts: &[PathBuf], to: &Path) -> Result<(), ParquetError> {
    let mut out = SerializedFileWriter::new(File::create(to)?, schema(columns)?, properties())?;
    for part in parts {
        let file = File::open(part)?;
        let reader = SerializedFileReader::new(file.try_clone()?)?;
        for group in reader.metadata().row_groups() {
            let mut next = out.next_row_group()?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                    rows_written: u64::try_from(group.num_rows()).unwrap_or(0),
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                next.append_column(&file, close)?;
            }
            next.close()?;
        }
    }
    out.close().map(drop)
}
