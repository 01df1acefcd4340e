//! Why there is no scenario.

use document::Mistake;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no scenario.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is larger than any scenario that people write.
    #[error("{path} has {size} bytes, a scenario at most {limit}", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// The most that are read.
        limit: u64,
    },
    /// The file, or what was set beside it, has mistakes, in the order in which they stand there.
    #[error("{}", document::mistake::lines(.0))]
    Mistakes(Vec<Mistake>),
}

impl ScenarioError {
    /// The message about `file` and the next step, with every mistake and its line at the end.
    #[must_use]
    pub fn report(&self, file: &str) -> [String; 2] {
        let mistakes = match self {
            ScenarioError::Unreadable { .. } => {
                return [self.to_string(), "name a scenario file that can be read".to_owned()];
            }
            ScenarioError::TooLarge { .. } => {
                return [self.to_string(), "let [topology] make the nodes".to_owned()];
            }
            ScenarioError::Mistakes(mistakes) => mistakes,
        };
        let (many, them) = match mistakes.len() {
            1 => ("a mistake".to_owned(), "it"),
            n => (format!("{n} mistakes"), "them"),
        };
        let next = format!("fix {them} and try `weir scenario check {file}`:\n{self}");
        [format!("{file} has {many}; nothing was run"), next]
    }
}
