//! Runs that several processes share: their plan, some of them, and the engines.

use super::records::Plan;
use crate::cli::StudyArgs;
use crate::cli::study::SharedArgs;
use crate::cli::sweep::EngineWord;
use crate::commands::sweep::hand_over;
use crate::exit::{Failure, Kind};
use crate::output;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The default folder of their pages.
pub const OUT: &str = "studies";

/// The module that runs studies on engines.
const MODULE: &str = "weir._study";
/// The folder of records beside the pages.
const RECORDS: &str = "records";

/// The folder of records, if any.
pub fn wanted(args: &SharedArgs, out: Option<&Path>) -> Option<PathBuf> {
    if args.plan {
        return None;
    }
    match &args.records {
        Some(records) => Some(records.clone()),
        None if args.engine.is_some() => Some(out.unwrap_or(Path::new(OUT)).join(RECORDS)),
        None => None,
    }
}

/// Prints plans.
pub fn print(plans: &[Plan]) -> Result<(), Failure> {
    output::json(&json!({ "version": env!("WEIR_VERSION"), "studies": plans }))
}

/// Prints the errors of runs that were requested by their numbers.
pub fn report(numbers: &[usize], errors: Vec<Option<String>>) -> Result<(), Failure> {
    if errors.len() < numbers.len() {
        let what = format!("interrupted after {} of {} runs", errors.len(), numbers.len());
        return Err(Failure::new(Kind::Interrupted, what));
    }
    let failed = numbers.iter().zip(errors).filter_map(|(number, error)| Some((number, error?)));
    let failed: Vec<_> =
        failed.map(|(number, error)| json!({ "number": number, "error": error })).collect();
    output::json(&json!({ "failed": failed }))
}

/// Hands the runs over to a cluster. Then the pages are made from their records.
pub fn on_cluster(args: &StudyArgs, engine: EngineWord) -> Result<(), Failure> {
    let records = wanted(&args.shared, args.out.as_deref()).unwrap_or_default();
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Kind::Failed, format!("cannot find this program: {error}"))
    })?;
    hand_over(
        MODULE,
        &json!({
            "program": program,
            "folder": args.folder,
            "all": args.all,
            "options": options(args),
            "engine": engine,
            "records": records,
            "out": args.out.as_deref().unwrap_or(Path::new(OUT)),
            "json": args.json,
            "quiet": args.quiet,
        }),
    )
}

/// The options that choose runs.
fn options(args: &StudyArgs) -> Vec<String> {
    let mut found = Vec::new();
    if args.quick {
        found.push("--quick".to_owned());
    }
    found.extend(args.only.iter().map(|name| format!("--only={name}")));
    found.extend(args.seeds.map(|seeds| format!("--seeds={seeds}")));
    found
}

/// Fails if a run failed.
pub fn all_ran<'f>(failures: impl Iterator<Item = &'f String>) -> Result<(), Failure> {
    let failures: Vec<&String> = failures.collect();
    match failures.first() {
        None => Ok(()),
        Some(first) => {
            let what = format!("{} of the runs failed, the first: {first}", failures.len());
            let then = "the page lists them all; `--only` runs an experiment or a cell alone";
            Err(Failure::new(Kind::Failed, what).then(then))
        }
    }
}
