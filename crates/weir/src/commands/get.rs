//! `weir get`

mod least;
mod pages;
mod root;
mod tree;

#[cfg(feature = "mount")]
pub use least::version_of;
pub use pages::{Page, each_page};
pub use root::{Found, Room, Search};
#[cfg(test)]
pub use tree::Summary as TreeSummary;
pub use tree::fetch as fetch_tree;

use crate::cli::GetArgs;
use crate::consumer::{self, Absence, Summary, Target, Watch};
use crate::exit::{Failure, Kind};
use crate::file::is_same;
use crate::output::{self, Progress};
use crate::reach::Reach;
use crate::record::Record;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::Event;
use packet::NameRef;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir::http::media::called;

/// Fetches.
pub fn run(args: &GetArgs) -> Result<(), Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    if args.name.below {
        if args.record.is_some() {
            let message = "--record is for the transfer of a single object";
            return Err(Failure::new(Kind::Usage, message).then("fetch the tree without it"));
        }
        return tree::run(args, &folder(args)?, &transfers);
    }
    reject_options_of_trees(args)?;
    let path = match &args.output_file {
        Some(path) => path.clone(),
        None => file_name(args.name.name.as_ref())?,
    };
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let target = Target::new(&path, &stop)?;
    let mut config = transfers.config(args.name.name.clone())?;
    config.in_order = target.is_stream();
    let invalid = Arc::new(AtomicU64::new(0));
    config.tap = tap(args.output.verbose, &invalid);
    if args.record.as_deref().is_some_and(|record| record == path || is_same(record, &path)) {
        let message = format!("{} cannot be both output and record", path.display());
        return Err(Failure::new(Kind::Usage, message).then("choose another file with --record"));
    }
    let mut reach = Reach::consumer(&args.reach)?;
    let record = args.record.as_deref().map(|file| Record::begin(file, args.record_every));
    let record = record.transpose()?;
    let bell = target.bell().map_err(|error| Failure::new(Kind::Failed, error))?;
    bell.into_iter().for_each(|bell| reach.connection.wake_on(bell));
    let mut fetch = transfers.fetch(config)?;
    // Bytes on a terminal and a bar on the same terminal do not go together.
    let on_terminal = path.as_os_str() == "-" && std::io::stdout().is_terminal();
    let hidden = args.output.quiet || on_terminal;
    let progress = Progress::new(&args.name.name.to_string(), hidden);
    let (verbose, resumes) = (args.output.verbose, !target.is_stream());
    let (patience, quiet) = (args.transfer.patience, args.output.quiet);
    let absence = Some(Absence { patience, quiet });
    let (progress_of, rate) = (&progress, args.limit_rate);
    let watch = Watch { progress: progress_of, stop: &stop, verbose, resumes, absence, rate };
    let result = consumer::run(&mut reach.connection, &mut fetch, target, &watch, record);
    progress.end();
    let took = result.map_err(|failure| reach.explain(failure))?;
    let summary = Summary::of(&fetch, &transfers.control(), took);
    let count = invalid.load(Ordering::Relaxed);
    if count > 0 {
        let what = "actions of the model were not numbers; the rule of `learned` acted instead";
        output::note(&format!("weir: {count} {what}"));
    }
    if args.output.json && path.as_os_str() != "-" {
        output::json(&summary)?;
    } else if args.output.json {
        output::json_note(&summary);
    } else if !args.output.quiet {
        output::note(&summary.line());
    }
    Ok(())
}

/// Receives the events of a fetch: counts actions of a policy that were not numbers, and shows all
/// events if `verbose`.
fn tap(verbose: bool, invalid: &Arc<AtomicU64>) -> Box<dyn FnMut(Event) + Send> {
    let invalid = Arc::clone(invalid);
    Box::new(move |event| {
        if event.name == schemes::learned::INVALID {
            invalid.store(event.value as u64, Ordering::Relaxed);
        }
        if verbose {
            let (at, name, value) = (event.at.as_secs_f64(), event.name, event.value);
            output::note(&format!("{at:.6} {name} {value}"));
        }
    })
}

/// The folder for a tree.
fn folder(args: &GetArgs) -> Result<PathBuf, Failure> {
    match (&args.folder, &args.output_file) {
        (Some(_), Some(_)) => {
            let message = "a tree is fetched into one folder, and both DIR and -o name one";
            Err(Failure::new(Kind::Usage, message).then("leave out -o"))
        }
        (_, Some(file)) if file.as_os_str() == "-" => {
            let message = "a tree has no place on standard output";
            Err(Failure::new(Kind::Usage, message).then("name a folder: weir get NAME/ DIR"))
        }
        (Some(folder), None) | (None, Some(folder)) => Ok(folder.clone()),
        (None, None) => file_name(args.name.name.as_ref()),
    }
}

/// Options that would have no effect on a file.
fn reject_options_of_trees(args: &GetArgs) -> Result<(), Failure> {
    let filtered = !args.filter.include.is_empty() || !args.filter.exclude.is_empty();
    let for_trees = args.delete || args.checksum || args.older || filtered;
    if args.folder.is_none() && !for_trees {
        return Ok(());
    }
    let name = &args.name.name;
    let message = "DIR, --delete, --checksum, --older, --include and --exclude are for trees";
    let next = format!("write {name}/ with a slash to fetch a tree, or choose a file with -o FILE");
    Err(Failure::new(Kind::Usage, message).then(&next))
}

/// The default file of a name: its last component that is neither version nor segment, if that is a
/// plain file name.
pub fn file_name(name: NameRef<'_>) -> Result<PathBuf, Failure> {
    let plain = called(name).filter(|text| {
        !text.is_empty()
            && !text.starts_with('.')
            && !text.chars().any(|c| c == '/' || c.is_control())
    });
    plain.map(PathBuf::from).ok_or_else(|| {
        let message = format!("the name {name} gives no file name");
        Failure::new(Kind::Usage, message).then("say where to put it with -o FILE")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_come_from_names_and_never_lead_elsewhere() {
        let of = |uri: &str| file_name(uri.parse::<packet::Name>().unwrap().as_ref());
        assert_eq!(of("/a/report.pdf").unwrap(), PathBuf::from("report.pdf"));
        assert_eq!(of("/a/report.pdf/v=3").unwrap(), PathBuf::from("report.pdf"));
        for bad in ["/", "/v=1", "/a/%2E%2E%2E..", "/a/..%2Fetc", "/a/x%2Fy", "/a/%FF", "/a/..."] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
