//! The format itself.

mod concatenate;
mod pages;
mod records;
mod schema;
mod series;

pub use concatenate::concatenate;
pub use parquet::errors::ParquetError;
pub use records::write_records;
pub use series::{SeriesWriter, read_series};
