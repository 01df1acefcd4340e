//! `weir report`

use crate::cli::ReportArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use report::{REPORT, ReportError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes the report.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let page = report::page(&args.folders).map_err(|error| {
        let next = match &error {
            ReportError::NoResults { .. } => "name a folder that `weir sim run --out` wrote",
            _ => "",
        };
        Failure::new(Kind::File, error).then(next)
    })?;
    let path = match (&args.output, &*args.folders) {
        (Some(path), _) => path.clone(),
        (None, [only]) => only.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    write(&path, &page).map_err(|error| {
        Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
            .then("choose another file with --output")
    })?;
    output::result(&format!("written to {}", path.display()))
}

/// Written beside its place and moved there, so that it is never half written.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
