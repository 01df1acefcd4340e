//! Scenarios: a TOML file that names nodes, links, content, consumers and what happens; read and
//! checked here, planned, built as a network of the simulator, run, and summed up.
//!
//! [`schema`] declares each section and field once. There is no engine here: that is
//! [`sim`]. Schemes are known by name alone.
#![forbid(unsafe_code)]

mod bandwidth_delay;
pub mod batch;
mod build;
pub mod drawing;
mod error;
mod execute;
mod filled;
pub mod json_schema;
pub mod layout;
pub mod model;
mod places;
mod read;
pub mod reference;
pub mod result;
mod routes;
pub mod schema;
pub mod series;
mod settings;
mod source;
mod statistics;
mod topology;
pub mod traces;
mod values;
pub mod warmup;

pub use batch::{Batch, LARGEST_SEED, Run};
pub use build::{BuildError, build};
pub use error::ScenarioError;
pub use execute::{Progress, Watch, execute, execute_all, execute_rest, run_parallel};
pub use filled::files;
pub use layout::Layout;
pub use model::{Manner, Scenario};
pub use sim::{Applications, FlowId, Network, OnHashing};
pub use statistics::Mean;

use document::Document;
use std::io::Read;
use std::path::Path;

/// The largest file that is read: forty nodes a kilobyte, it is more than the most nodes need.
const MAX_FILE: u64 = 4_000_000;

/// Reads and checks a file; `settings` are what `--set` takes, `KEY=VALUE`.
///
/// # Errors
/// The file cannot be read or is too large, or it or the settings have mistakes; all that were
/// found are in the error.
pub fn load(path: &Path, settings: &[String]) -> Result<Batch, ScenarioError> {
    parse(&text_of(path)?, &path.display().to_string(), settings)
}

/// Reads the text of a file.
///
/// # Errors
/// The file cannot be read or is too large.
pub fn text_of(path: &Path) -> Result<String, ScenarioError> {
    let file = std::fs::File::open(path)
        .map_err(|source| ScenarioError::Unreadable { path: path.to_owned(), source })?;
    // No more is read than is taken, whatever is said of the size: the file may be a pipe.
    let mut text = String::new();
    let read = file.take(MAX_FILE + 1).read_to_string(&mut text);
    let size = std::fs::metadata(path).map_or(0, |about| about.len()).max(text.len() as u64);
    if size > MAX_FILE {
        return Err(ScenarioError::TooLarge { path: path.to_owned(), size, limit: MAX_FILE });
    }
    read.map_err(|source| ScenarioError::Unreadable { path: path.to_owned(), source })?;
    Ok(text)
}

/// Checks the text of a file; `file` is its path in messages.
///
/// # Errors
/// All mistakes that were found.
pub fn parse(text: &str, file: &str, settings: &[String]) -> Result<Batch, ScenarioError> {
    let doc = Document::new(file, text);
    let starts: Vec<usize> = settings.iter().map(|s| doc.add(&format!("--set {s}"), s)).collect();
    let name = Path::new(file).file_stem().map_or_else(String::new, |s| s.to_string_lossy().into());
    let batch = batch::read(&doc, settings, &starts, &name);
    let mistakes = doc.finish();
    match batch {
        Some(batch) if mistakes.is_empty() => Ok(batch),
        _ => Err(ScenarioError::Mistakes(mistakes)),
    }
}

#[cfg(test)]
mod tests;
