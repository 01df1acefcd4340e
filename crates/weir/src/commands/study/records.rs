//! Records of runs in a folder, by keys that only equal runs share.

use crate::exit::{Failure, Kind};
use crate::file;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of digits of a key, as in keys of points of a sweep.
const DIGITS: usize = 32;

/// Keys of runs. Files that many runs name are read once.
#[derive(Default)]
pub struct Keys {
    hashes: BTreeMap<PathBuf, String>,
}

impl Keys {
    /// The key of a run, from its identity and its scenario with all defaults.
    ///
    /// # Errors
    /// A file that the scenario names cannot be read.
    pub fn key(&mut self, identity: &str, filled: &str) -> Result<String, Failure> {
        let mut hash = Sha256::new();
        add(&mut hash, env!("WEIR_VERSION"));
        add(&mut hash, identity);
        add(&mut hash, filled);
        for path in scenario::files(filled) {
            add(&mut hash, self.hash(&path)?);
        }
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(digits[..DIGITS].to_owned())
    }

    fn hash(&mut self, path: &Path) -> Result<&str, Failure> {
        if !self.hashes.contains_key(path) {
            let content = std::fs::read(path).map_err(|error| {
                let what = format!("cannot read {}: {error}", path.display());
                Failure::new(Kind::File, what).then("the results of the study depend on it")
            })?;
            let hash = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
            self.hashes.insert(path.to_owned(), hash);
        }
        Ok(self.hashes.get(path).map_or("", String::as_str))
    }
}

/// A run in the plan of a study.
#[derive(Serialize)]
pub struct Planned {
    /// Its place among all runs.
    pub number: usize,
    /// Its key.
    pub key: String,
    /// Simulated seconds.
    pub seconds: f64,
}

/// The runs of a study or of an arena.
#[derive(Serialize)]
pub struct Plan {
    /// The folder of the study.
    pub folder: PathBuf,
    /// The runs, in their order.
    pub runs: Vec<Planned>,
}

/// A folder of records.
pub struct Folder {
    place: PathBuf,
    keys: Vec<String>,
    /// The number of records used.
    found: AtomicUsize,
}

impl Folder {
    /// The records of the runs of a plan.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(place: &Path, plan: Plan) -> Result<Folder, Failure> {
        std::fs::create_dir_all(place).map_err(|error| {
            let what = format!("cannot make {}: {error}", place.display());
            Failure::new(Kind::File, what).then("choose another folder with --records")
        })?;
        let keys = plan.runs.into_iter().map(|run| run.key).collect();
        Ok(Folder { place: place.to_owned(), keys, found: AtomicUsize::new(0) })
    }

    /// The numbers of runs given as `NUMBER:KEY`.
    ///
    /// # Errors
    /// A run does not exist, or has another key here.
    pub fn numbers(&self, given: &[String]) -> Result<Vec<usize>, Failure> {
        let mut numbers = Vec::with_capacity(given.len());
        for text in given {
            let (number, key) = text.split_once(':').unwrap_or((text, ""));
            match number.parse() {
                Ok(number) if self.keys.get(number).is_some_and(|own| own == key) => {
                    numbers.push(number);
                }
                _ => {
                    let message = format!("there is no run {text}");
                    return Err(Failure::new(Kind::Usage, message).then(
                        "the study, or this program, differs from the one that made the plan; \
                         share the folder, and install the same package everywhere",
                    ));
                }
            }
        }
        Ok(numbers)
    }

    /// The number of records used.
    pub fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    fn path(&self, run: usize) -> Option<PathBuf> {
        self.keys.get(run).map(|key| self.place.join(format!("{key}.json")))
    }
}

impl study::Records for Folder {
    fn find(&self, run: usize) -> Option<String> {
        std::fs::read_to_string(self.path(run)?).ok()
    }

    fn used(&self) {
        self.found.fetch_add(1, Ordering::Relaxed);
    }

    fn keep(&self, run: usize, record: &str) {
        // Without a record, the run is repeated next time; this command is not affected.
        if let Some(path) = self.path(run)
            && let Err(error) = file::replace(&path, record)
        {
            note(&path, &error);
        }
    }
}

fn note(path: &Path, error: &std::io::Error) {
    crate::output::note(&format!("weir: cannot keep {}: {error}", path.display()));
}

/// Adds a text so that it cannot run into the next.
fn add(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

/// The plan of a study.
///
/// # Errors
/// A file that a scenario names cannot be read.
pub fn of_study(study: &study::Study) -> Result<Plan, Failure> {
    let mut keys = Keys::default();
    let mut runs = Vec::new();
    for (number, (experiment, run)) in study.runs().enumerate() {
        let Some((identity, filled)) = study::identity(study, number) else { continue };
        let duration = study.experiments[experiment].batch.runs[run].scenario.duration;
        let key = keys.key(&identity, &filled)?;
        runs.push(Planned { number, key, seconds: duration.as_secs_f64() });
    }
    Ok(Plan { folder: study.folder.clone(), runs })
}
