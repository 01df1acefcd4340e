//! `weir repo verify`

use super::named::below;
use super::store::open;
use crate::cli::repo::RepoLsArgs;
use crate::exit::{Failure, Kind};
use crate::output::{self, Progress};
use crate::signals::Stop;
use control::Size;
use repo::View;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `weir repo verify`.
#[derive(JsonSchema, Serialize)]
pub struct Summary {
    /// Objects and trees that were read.
    objects: u64,
    /// Objects and packets in them.
    entries: u64,
    /// Bytes of content that were read.
    bytes: u64,
    /// The entries that are damaged.
    damaged: Vec<Damaged>,
}

/// A damaged entry.
#[derive(JsonSchema, Serialize)]
pub struct Damaged {
    /// Its name.
    name: String,
    /// The damage.
    why: String,
}

/// Reads everything, and compares it with its digests.
pub fn run(args: &RepoLsArgs) -> Result<(), Failure> {
    let store = open(&args.store)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let view = View::new(&store)?;
    let (found, broken) = below(&view, args.name.as_ref().map(packet::Name::as_ref))?;
    let progress = Progress::new("verifying", args.output.quiet);
    progress.begin(Some(found.iter().map(|named| named.top.bytes).sum()), 0);
    let mut summary = Summary { objects: 0, entries: 0, bytes: 0, damaged: Vec::new() };
    for name in broken.names() {
        summary.entries += 1;
        let why = "it cannot be read".to_owned();
        if !args.output.json {
            progress.warn(&format!("damaged: {name}: {why}"));
        }
        summary.damaged.push(Damaged { name, why });
    }
    for named in &found {
        if stop.requested() {
            progress.end();
            return Err(Failure::new(Kind::Interrupted, "interrupted"));
        }
        let checked = store.verify(&view, named.number)?;
        summary.objects += 1;
        summary.entries += checked.entries;
        summary.bytes += checked.bytes;
        progress.at(summary.bytes);
        for damage in checked.damage {
            let (name, why) = (damage.name, damage.why);
            if !args.output.json {
                progress.warn(&format!("damaged: {name}: {why}"));
            }
            summary.damaged.push(Damaged { name, why });
        }
    }
    progress.end();
    let (objects, count) = (summary.objects, summary.damaged.len());
    let bytes = Size(summary.bytes);
    if args.output.json {
        output::json(&summary)?;
    }
    let folder = store.title();
    if count > 0 {
        let message = format!("{count} of the entries in {folder} are damaged");
        return Err(Failure::new(Kind::NotVerified, message)
            .then("remove their objects with `weir repo rm`, and store them again"));
    }
    if !args.output.json && !args.output.quiet {
        let objects = output::counted(objects, "object");
        output::note(&format!("{folder}: {objects}, {bytes}, all intact"));
    }
    Ok(())
}
