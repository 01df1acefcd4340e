//! `weir repo`

mod ask;
mod change;
mod copy;
mod fetch;
mod keep;
mod list;
mod mirror;
mod put;
mod run;
mod shelf;
mod signed;
mod tree;
mod verify;

use crate::cli::repo::{RepoCommand, StoreArgs};
use crate::exit::{Failure, Kind};
use crate::identity;
use ::repo::{Entry, Store, StoreError, Top, View};
use packet::{Component, Name, NameRef};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Does what the command says.
pub fn run(command: &RepoCommand) -> Result<(), Failure> {
    match command {
        RepoCommand::Run(args) => run::run(args),
        RepoCommand::Put(args) => put::run(args),
        RepoCommand::Fetch(args) => fetch::run(args),
        RepoCommand::Ls(args) => list::ls(args),
        RepoCommand::Stat(args) => list::stat(args),
        RepoCommand::Rm(args) => change::rm(args),
        RepoCommand::Verify(args) => verify::run(args),
        RepoCommand::Export(args) => change::export(args),
        RepoCommand::Gc(args) => change::gc(args),
    }
}

/// The folder of the store.
fn folder(args: &StoreArgs) -> Result<PathBuf, Failure> {
    if let Some(folder) = &args.store {
        return Ok(folder.clone());
    }
    let keys = identity::key_dir()?;
    Ok(keys.parent().unwrap_or(&keys).join("repo"))
}

/// The store, which is made if it is not there.
fn create(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(Store::create(&folder(args)?)?)
}

/// The store, which must be there.
fn open(args: &StoreArgs) -> Result<Store, Failure> {
    Ok(Store::open(&folder(args)?)?)
}

/// A named thing in a store.
struct Named {
    number: u64,
    top: Top,
    entry: Entry,
}

impl Named {
    /// The name of a tree or object, with its version.
    fn name(&self) -> String {
        self.entry.versioned().to_string()
    }

    /// The name without keyword and version, with a slash at the end of a tree's.
    fn place(&self) -> String {
        match is_tree(&self.entry) {
            true => format!("{}/", self.entry.name.as_ref().parent()),
            false => self.entry.name.to_string(),
        }
    }

    /// True if this is what the user means: with a version, or all of that name.
    fn is_meant(&self, name: &Name) -> bool {
        let entry = self.entry.name.as_ref();
        let own = if is_tree(&self.entry) { entry.parent() } else { entry };
        let version = Component::version(self.entry.version);
        own == name.as_ref()
            || entry == name.as_ref()
            || self.entry.versioned() == *name
            || own.to_name().with(&version) == *name
    }
}

fn is_tree(entry: &Entry) -> bool {
    entry.name.as_ref().last().is_some_and(|last| last.is_keyword(::tree::KEYWORD))
}

/// Rows of the index that are read at a time.
const ROWS: usize = 1000;

/// Calls `take` with each named thing in the store.
fn each(view: &View, take: &mut dyn FnMut(Named) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let rows = view.tops(after, ROWS)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(*last);
        for (number, top) in rows {
            if let Some(entry) = view.entry(number)? {
                take(Named { number, top, entry })?;
            }
        }
    }
}

/// The named things at or below a name.
fn below(view: &View, name: Option<NameRef<'_>>) -> Result<Vec<Named>, Failure> {
    let mut found = Vec::new();
    each(view, &mut |named| {
        if name.is_none_or(|name| named.entry.versioned().as_ref().starts_with(name)) {
            found.push(named);
        }
        Ok(())
    })?;
    found.sort_by_cached_key(|named| (named.place(), named.entry.version));
    Ok(found)
}

/// The named things that the user means.
fn meant(view: &View, name: &Name, store: &Store) -> Result<Vec<Named>, Failure> {
    let mut found = Vec::new();
    each(view, &mut |named| {
        if named.is_meant(name) {
            found.push(named);
        }
        Ok(())
    })?;
    found.sort_by_key(|named| named.entry.version);
    if found.is_empty() {
        return Err(unknown(name, store));
    }
    Ok(found)
}

fn unknown(name: &Name, store: &Store) -> Failure {
    let message = format!("{} has no {name}", store.folder().display());
    Failure::new(Kind::NotFound, message).then("`weir repo ls` lists what it has")
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let full =
            |kind: ErrorKind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        let (kind, next) = match &error {
            error if error.io().is_some_and(|error| full(error.kind())) => {
                (Kind::File, "make room and run the same command again")
            }
            StoreError::File { .. } | StoreError::Index { .. } => {
                (Kind::File, "check the folder, its permissions and its disk")
            }
            StoreError::Damaged { .. } => {
                (Kind::File, "move the store away, and put its content into a new one")
            }
            StoreError::None(_) => {
                (Kind::File, "name another one by --store, or make one by `weir repo put`")
            }
            StoreError::Newer { .. } => (Kind::File, "use a newer weir"),
            StoreError::Served(_) => {
                (Kind::Usage, "end that one first; other commands work while it runs")
            }
            StoreError::Conflict { .. } => {
                (Kind::Usage, "remove that with `weir repo rm`, or put a newer file")
            }
            StoreError::Quota { .. } => {
                (Kind::File, "remove something with `weir repo rm`, or raise --quota")
            }
        };
        Failure::new(kind, error).then(next)
    }
}
