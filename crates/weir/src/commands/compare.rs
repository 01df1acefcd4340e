//! `weir compare`

mod tables;

use crate::cli::CompareArgs;
use crate::exit::{Failure, Kind};
use crate::file;
use crate::output;
use report::comparison::{Case, label};
use report::{Comparison, ReportError};
use std::path::{Path, PathBuf};

/// The default page.
const PAGE: &str = "compare.html";
/// The default tolerance for marks.
const WITHIN: f64 = 0.05;
/// The maximum number of differences that the error names.
const MOST_NAMED: usize = 5;

/// Compares, shows and writes.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let folders = [args.first.clone(), args.second.clone()];
    let within = args.within.map_or(WITHIN, control::Ratio::get);
    let (comparison, page) =
        report::compare(&folders, within).map_err(|error| unreadable(&error))?;
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(PAGE));
    file::replace(&path, &page).map_err(|error| super::report::unwritable(&path, &error))?;
    match (args.json, args.quiet) {
        (true, _) => output::json(&comparison)?,
        (false, true) => {}
        (false, false) => {
            tables::comparison(&comparison)?;
            output::note(&format!("written to {}", path.display()));
        }
    }
    match args.within {
        Some(_) => verdict(&comparison, &path),
        None => Ok(()),
    }
}

fn unreadable(error: &ReportError) -> Failure {
    let next = match error {
        ReportError::Same { .. } => "name two folders that `weir sim run --out` wrote",
        ReportError::NothingInCommon { .. } => "name two results of one scenario",
        other => return super::report::unreadable(other),
    };
    Failure::new(Kind::Usage, error).then(next)
}

/// Fails unless all decisive quantities are within the tolerance.
fn verdict(comparison: &Comparison, page: &Path) -> Result<(), Failure> {
    if comparison.agrees() {
        return Ok(());
    }
    let alone = comparison.cases.iter().flat_map(Case::alone);
    let alone = alone.map(|thing| format!("{} {} (in one alone)", thing.kind, thing.entity));
    let apart = comparison.beyond().map(|(case, one)| {
        let with = match comparison.cases.len() {
            1 => String::new(),
            _ => format!(" with {}", label(&case.settings)),
        };
        format!("{}{with} ({})", one.name(), one.how_far())
    });
    let Comparison { beyond, main, .. } = comparison;
    let all = beyond + comparison.alone;
    let mut named: Vec<String> = alone.chain(apart).take(MOST_NAMED).collect();
    if all > MOST_NAMED {
        named.push(format!("{} more", all - MOST_NAMED));
    }
    let what = format!(
        "{beyond} of {main} goodputs, completion times and mean queues are more than {} apart: {}",
        comparison.tolerated(),
        named.join(", ")
    );
    let next = format!("see {} for why, or allow more with --within", page.display());
    Err(Failure::new(Kind::Failed, what).then(&next))
}
