//! Parquet files: the series, row group by row group, and records whose columns describe
//! themselves.

#[cfg_attr(not(feature = "parquet"), path = "parquet_file/no_format.rs")]
mod format;
mod table;

pub use format::{ParquetError, SeriesWriter, concatenate, read_series, write_records};
pub use table::{Column, Constant, SERIES};
