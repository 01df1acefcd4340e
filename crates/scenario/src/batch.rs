//! The runs of a file: one, or those of a sweep.

use crate::model::Scenario;
use crate::schema::SECTIONS;
use crate::{filled, read, settings};
use document::Document;
use std::sync::Arc;

/// The largest seed: numbers in TOML are signed.
pub const LARGEST_SEED: u64 = i64::MAX as u64;

/// Runs that belong together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The scenario's name.
    pub name: String,
    /// The runs, repetitions of a combination one behind the other.
    pub runs: Vec<Run>,
    /// How often each combination is run.
    pub repetitions: u64,
    /// The file has a sweep.
    pub is_sweep: bool,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The fields that the sweep sets, and their values.
    pub settings: Vec<(String, String)>,
    /// Its seed.
    pub seed: u64,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The file with the settings of the run and all defaults, as TOML.
    pub filled: Arc<str>,
}

/// Reads the file of the document and what was set beside it. Mistakes are remembered by the
/// document.
pub(crate) fn read<'d>(
    doc: &'d Document<'d>,
    arguments: &'d [String],
    starts: &[usize],
    file_name: &str,
) -> Option<Batch> {
    let mut table = doc.table(SECTIONS)?;
    let mut written = table.clone();
    let (mut replaced, mut fixed) = (Vec::new(), Vec::new());
    for (text, start) in arguments.iter().zip(starts) {
        if let Some(setting) = settings::argument(doc, text, *start) {
            replaced.extend(settings::replaced(doc, &written, &setting));
            settings::apply(doc, &mut table, &setting);
            fixed.push(setting);
        }
    }
    let sweep = settings::sweep(doc, &table, &fixed)?;
    let sweep_at = table.remove("sweep").map(|section| section.span());
    let is_sweep = sweep_at.is_some();
    written.remove("sweep");
    for setting in sweep.combinations.iter().take(1).flatten() {
        replaced.extend(settings::replaced(doc, &written, setting));
    }
    if !replaced.is_empty() {
        // Removing the sweep or the argument must not uncover new mistakes.
        let written = &written;
        doc.only_within(&replaced, || drop(read::scenario(doc, written, file_name)));
    }
    let mut batch =
        Batch { name: String::new(), runs: Vec::new(), repetitions: sweep.repetitions, is_sweep };
    for combination in &sweep.combinations {
        let mut table = table.clone();
        for setting in combination {
            settings::apply(doc, &mut table, setting);
        }
        let scenario = {
            // Values of the clone live no longer than it, mistakes do.
            let table = &table;
            read::scenario(doc, table, file_name)
        };
        let Some(scenario) = scenario else { continue };
        let last = scenario.seed.checked_add(sweep.repetitions - 1);
        if let Some(at) = &sweep_at
            && last.is_none_or(|last| last > LARGEST_SEED)
        {
            let why = format!(
                "`repetitions`: their seeds would go beyond the largest, {LARGEST_SEED}; set a \
                 smaller `seed` under `[scenario]`"
            );
            doc.mistake(at.clone(), why);
        }
        batch.name.clone_from(&scenario.name);
        let (scenario, filled) =
            (Arc::new(scenario), Arc::from(filled::toml(&table, &doc.folder())));
        let mut shown = Vec::new();
        for setting in combination {
            let value = setting.value.get_ref();
            let text = value.as_str().map_or_else(|| filled::shown(value), str::to_owned);
            shown.push((setting.key.clone(), text));
        }
        batch.runs.extend((0..sweep.repetitions).map(|repetition| Run {
            settings: shown.clone(),
            // The sum is checked above.
            seed: scenario.seed.saturating_add(repetition),
            scenario: Arc::clone(&scenario),
            filled: Arc::clone(&filled),
        }));
    }
    (!batch.runs.is_empty()).then_some(batch)
}
