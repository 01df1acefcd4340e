//! `weir mount`

mod found;

use crate::cli::MountArgs;
use crate::consumer::Verified;
use crate::exit::{Failure, Kind};
use crate::mount::{self, Cache, Engine, EngineParts, Owner, Prepared, SourceName};
use crate::output;
use crate::reach::Reach;
use crate::signals::Stop;
use crate::transfer::Transfers;
use control::Size;
use found::Found;
use rustix::process::{getegid, geteuid};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// The line when the content is mounted, for programs.
#[derive(JsonSchema, Serialize)]
pub struct Ready {
    /// The folder, without links.
    mounted: String,
    /// The versioned name of the object, or of the tree's root.
    name: String,
    /// Files, directories and links.
    entries: u64,
    /// Bytes of all files.
    bytes: u64,
    /// The proof by the signature.
    verified: Verified,
    /// The name of the key that signed, or null.
    key: Option<String>,
}

/// Mounts, and answers until interrupted or unmounted.
pub fn run(args: &MountArgs) -> Result<(), Failure> {
    let transfers = Transfers::new(&args.transfer)?;
    let point = mount::check_point(&args.folder)?;
    let cache = cache(args)?;
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let mut reach = Reach::consumer(&args.reach)?;
    let found = Found::search(args, &transfers, &stop, &mut reach.connection);
    let Found { source, object, proof, verified, key } =
        found.map_err(|failure| reach.explain(failure))?;
    let totals = source.totals();
    let prepared = Prepared::new(cache, &source);
    let parts = EngineParts {
        transfers,
        patience: args.transfer.patience,
        name: source.name.clone(),
        cache: prepared.cache().clone(),
        listings: prepared.listings().clone(),
        quiet: args.quiet,
    };
    let (engine, asker) = Engine::new(parts, &mut reach.connection)?;
    let owner = Owner { uid: geteuid().as_raw(), gid: getegid().as_raw() };
    let is_tree = matches!(source.name, SourceName::Tree { .. });
    let files = prepared.files(source, asker, owner);
    let mounted = mount::mount(files, &point, &object)?;
    let shown = point.display().to_string();
    let (entries, bytes) = (totals.entries, totals.bytes);
    if args.json {
        output::json(&Ready { mounted: shown, name: object, entries, bytes, verified, key })?;
    } else if !args.quiet {
        let what = match is_tree {
            true if entries == 1 => format!("1 entry, {}", Size(bytes)),
            true => format!("{entries} entries, {}", Size(bytes)),
            false => format!("a file of {}", Size(bytes)),
        };
        output::note(&format!("mounted {object} on {shown}: {what}; {proof}"));
    }
    let ran = engine.run(&mut reach.connection, &stop, &|| mounted.is_over());
    let ended = mounted.end();
    ran.and(ended)
}

fn cache(args: &MountArgs) -> Result<Cache, Failure> {
    let folder = args.cache_dir.clone().unwrap_or_else(|| PathBuf::from("/var/tmp"));
    Cache::new(&folder, args.cache.0).map_err(|error| {
        let message = format!("cannot make the cache in {}: {error}", folder.display());
        Failure::new(Kind::File, message).then("choose another folder with --cache-dir")
    })
}
