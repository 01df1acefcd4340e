//! The format in a program built without it: nothing can be written or read.

use super::table::{Column, Constant, ReadRow};
use scenario::result::Value;
use scenario::series::Row;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file cannot be written or read.
#[derive(Debug, Error)]
pub enum ParquetError {
    /// This program has no such format.
    #[error("this program is built without Parquet; build it with the feature `parquet`")]
    NotBuilt,
    /// A file is damaged.
    #[error("{0}")]
    General(String),
}

impl From<std::io::Error> for ParquetError {
    fn from(error: std::io::Error) -> ParquetError {
        ParquetError::General(error.to_string())
    }
}

impl From<ParquetError> for std::io::Error {
    fn from(error: ParquetError) -> std::io::Error {
        std::io::Error::other(error)
    }
}

/// Writes the rows of one run; does not exist here.
pub enum SeriesWriter {}

impl SeriesWriter {
    pub fn create(_: &Path, _: usize, _: Vec<Constant>) -> Result<SeriesWriter, ParquetError> {
        Err(ParquetError::NotBuilt)
    }

    pub fn row(&mut self, _: &Row<'_>) -> Result<(), ParquetError> {
        match *self {}
    }

    pub fn copy(&mut self, _: &ReadRow<'_>) -> Result<(), ParquetError> {
        match *self {}
    }

    pub fn close(self) -> Result<(), ParquetError> {
        match self {}
    }
}

pub fn read_series(
    _: &Path,
    _: impl FnMut(&ReadRow<'_>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    Err(ParquetError::NotBuilt)
}

pub fn write_records(
    _: &Path,
    _: &[Column],
    _: impl Iterator<Item = Vec<Value>>,
) -> Result<(), ParquetError> {
    Err(ParquetError::NotBuilt)
}

pub fn concatenate(_: &[Column], _: &[PathBuf], _: &Path) -> Result<(), ParquetError> {
    Err(ParquetError::NotBuilt)
}
