//! `weir repo put`

use super::copy::{Watched, changed, copy, prepare, unreadable};
use super::keep::{self, Ready, certificates, interruptible};
use super::store::create;
use super::tree;
use crate::cli::repo::RepoPutArgs;
use crate::commands::put::{reject_depth, reject_version};
use crate::exit::{Failure, Kind};
use crate::file::FileSource;
use crate::identity::{self, Signing};
use crate::output::{self, Progress};
use crate::signals::Stop;
use net::clock::unix_millis;
use repo::Staging;
use security::Signer;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use transport::publish::{Source, Spec};

/// Stores a file or folder.
pub fn run(args: &RepoPutArgs) -> Result<(), Failure> {
    reject_version(&args.name)?;
    reject_depth(&args.name, &args.file)?;
    let is_folder = args.file.is_dir();
    let is_filtered = !args.filter.include.is_empty() || !args.filter.exclude.is_empty();
    if is_filtered && !is_folder {
        return Err(Failure::new(Kind::Usage, "--include and --exclude are for folders")
            .then("name a folder"));
    }
    let Signing { signer, chain, remark } = identity::signing(args.sign.as_ref(), &args.name)?;
    if let Some(remark) = remark.filter(|_| !args.output.quiet) {
        output::note(&remark);
    }
    let stop = Stop::listen().map_err(|error| Failure::new(Kind::Failed, error))?;
    let store = create(&args.keep.store)?;
    let mut staging = store.stage()?;
    interruptible(&mut staging, &stop);
    let progress = Progress::new(&format!("storing {}", args.file.display()), args.output.quiet);
    let watched = Watched { progress: &progress, stop: &stop };
    let ready = match is_folder {
        true => tree::prepare_tree(args, &signer, &store, &mut staging, &watched),
        false => file(args, &signer, &mut staging, &watched),
    };
    progress.end();
    let mut ready = ready.map_err(|failure| interrupted(&stop, failure))?;
    ready.prefixes = certificates(&mut staging, &args.name, &chain)?;
    keep::insert(&store, &mut staging, ready, &args.keep, &args.output)
}

fn file(
    args: &RepoPutArgs,
    signer: &Signer,
    staging: &mut Staging,
    watched: &Watched<'_>,
) -> Result<Ready, Failure> {
    let (staged, version) = if args.file.as_os_str() == "-" {
        let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let mut input = input.map_err(|error| unreadable(&args.file, &error))?;
        watched.progress.begin(None, 0);
        (
            copy(staging, &mut watched.stop.interrupts(&mut input), &args.file, watched)?,
            unix_millis(),
        )
    } else {
        let source =
            FileSource::open(&args.file).map_err(|error| unreadable(&args.file, &error))?;
        let watch = source.watch().map_err(|error| unreadable(&args.file, &error))?;
        let mut input = File::open(&args.file).map_err(|error| unreadable(&args.file, &error))?;
        watched.progress.begin(Some(source.size()), 0);
        let staged = copy(staging, &mut input, &args.file, watched)?;
        if watch.changed().is_some() {
            return Err(changed(&args.file));
        }
        (staged, source.version())
    };
    let spec = Spec::new(args.name.clone(), version);
    let entry = prepare(spec, &staged, signer, watched)?;
    Ok(Ready {
        entry,
        bytes: staged.size,
        files: None,
        prefixes: Vec::new(),
        is_verified: true,
        media_type: None,
    })
}

/// The failure of an insertion: the user's interruption, if that is the reason.
fn interrupted(stop: &Stop, failure: Failure) -> Failure {
    match stop.requested() {
        true => Failure::new(Kind::Interrupted, "interrupted")
            .then("nothing was stored; run the same command again"),
        false => failure,
    }
}
