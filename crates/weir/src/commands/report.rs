//! `weir report`

use crate::cli::ReportArgs;
use crate::exit::{Failure, Kind};
use crate::file::{self, is_same};
use crate::output;
use report::{REPORT, ReportError, is_result};
use std::path::{Path, PathBuf};

/// Makes the report.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        keeps_results(output, &args.folders)?;
    }
    let page = report::page(&args.folders).map_err(|error| unreadable(&error))?;
    let path = match (&args.output, &*args.folders) {
        (Some(path), _) => path.clone(),
        (None, [only]) => only.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    file::replace(&path, &page).map_err(|error| unwritable(&path, &error))?;
    output::result(&format!("written to {}", path.display()))
}

/// Rejects a page in the place of the results that it shows.
fn keeps_results(output: &Path, folders: &[PathBuf]) -> Result<(), Failure> {
    let Some(name) = output.file_name().filter(|name| is_result(&name.to_string_lossy())) else {
        return Ok(());
    };
    if !folders.iter().any(|folder| is_same(output, &folder.join(name))) {
        return Ok(());
    }
    let what = format!("{} has results, and the page would overwrite them", output.display());
    Err(Failure::new(Kind::Usage, what).then("choose another file with --output"))
}

/// Results that cannot be read.
pub fn unreadable(error: &ReportError) -> Failure {
    let next = match error {
        ReportError::NoResults { .. } | ReportError::Read { .. } | ReportError::Damaged { .. } => {
            "name a folder that `weir sim run --out` wrote"
        }
        _ => "",
    };
    Failure::new(Kind::File, error).then(next)
}

/// A page that cannot be written.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
        .then("choose another file with --output")
}
