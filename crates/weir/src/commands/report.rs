//! `weir report`

use crate::cli::ReportArgs;
use crate::exit::{Failure, Kind};
use crate::file;
use crate::output;
use report::{REPORT, ReportError};
use std::path::{Path, PathBuf};

/// Makes the report.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let page = report::page(&args.folders).map_err(|error| unreadable(&error))?;
    let path = match (&args.output, &*args.folders) {
        (Some(path), _) => path.clone(),
        (None, [only]) => only.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    file::replace(&path, &page).map_err(|error| unwritable(&path, &error))?;
    output::result(&format!("written to {}", path.display()))
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
