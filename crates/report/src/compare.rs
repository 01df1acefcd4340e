//! Two folders of results, compared.

use crate::comparison::Comparison;
use crate::error::ReportError;
use crate::page::compared;
use crate::results::Results;
use std::fs;
use std::path::PathBuf;

/// Compares two folders that `--out` wrote: returns the comparison, and the page that shows it.
/// `within` is the share up to which a difference is not marked.
///
/// # Errors
/// They are the same folder, one of them holds no results or cannot be read, or they share nothing.
pub fn compare(folders: &[PathBuf; 2], within: f64) -> Result<(Comparison, String), ReportError> {
    let whole = folders.each_ref().map(|folder| fs::canonicalize(folder).ok());
    if whole[0].is_some() && whole[0] == whole[1] {
        return Err(ReportError::Same { path: folders[1].clone() });
    }
    let results = Results::read(folders)?;
    let comparison = Comparison::new(&results, folders, within)?;
    let page = compared(&results, &comparison);
    Ok((comparison, page))
}
