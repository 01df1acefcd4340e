//! `weir repo rm`, `weir repo export` and `weir repo gc`

use super::named::{is_tree, meant, unknown};
use super::store::open;
use crate::cli::repo::{RepoExportArgs, RepoGcArgs, RepoRmArgs};
use crate::exit::{Failure, Kind};
use crate::output;
use client::parts::{behind_links, is_open_file};
use control::Size;
use packet::{Component, Name};
use repo::{Entry, Freed, Place, Store, StoreError, View};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// The pauses before a removal on a full disk fails. A process that serves the store renews its
/// view several times a second.
const PAUSES: usize = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// The result of `weir repo rm`.
#[derive(JsonSchema, Serialize)]
pub struct Removed {
    /// The names of the removed objects and trees.
    removed: Vec<String>,
    /// Bytes that were removed from the disk.
    freed_bytes: u64,
}

/// The result of `weir repo gc`.
#[derive(JsonSchema, Serialize)]
pub struct Collected {
    /// Unreferenced files that were removed.
    files: u64,
    /// Bytes in them.
    freed_bytes: u64,
}

/// The result of `weir repo export`; on standard error if the content is on standard output.
#[derive(JsonSchema, Serialize)]
pub struct Exported {
    /// The name of the object, with its version.
    name: String,
    /// Bytes of content.
    bytes: u64,
    /// The file.
    file: String,
}

/// Removes named things.
pub fn rm(args: &RepoRmArgs) -> Result<(), Failure> {
    let store = open(&args.store)?;
    let view = View::new(&store)?;
    let mut all = Vec::new();
    // If one of the names is wrong, all things stay.
    for name in &args.names {
        all.extend(meant(&view, name, &store)?);
    }
    let (mut removed, mut freed_bytes) = (Vec::new(), 0);
    for named in all {
        if let Some(Freed { bytes, .. }) = remove(&store, named.number)? {
            removed.push(named.name());
            freed_bytes += bytes;
        }
    }
    if args.output.json {
        return output::json(&Removed { removed, freed_bytes });
    }
    if !args.output.quiet {
        removed.iter().for_each(|name| output::note(&format!("removed {name}")));
        output::note(&format!("{} freed", Size(freed_bytes)));
    }
    Ok(())
}

/// Removes a named thing. On a full disk, the process that serves the store may have to release the
/// pages of its view first.
#[expect(clippy::disallowed_methods, reason = "this command has nothing else to do")]
fn remove(store: &Store, number: u64) -> Result<Option<Freed>, StoreError> {
    for _ in 0..PAUSES {
        match store.remove(number) {
            Err(error) if error.is_full() => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    store.remove(number)
}

/// Removes unreferenced data.
pub fn gc(args: &RepoGcArgs) -> Result<(), Failure> {
    let Freed { files, bytes } = open(&args.store)?.gc()?;
    if args.output.json {
        return output::json(&Collected { files, freed_bytes: bytes });
    }
    if !args.output.quiet {
        let what = output::counted(files, "file");
        output::note(&format!("removed {what} without references, {} freed", Size(bytes)));
    }
    Ok(())
}

/// Writes an object into a file.
pub fn export(args: &RepoExportArgs) -> Result<(), Failure> {
    let store = open(&args.store)?;
    let view = View::new(&store)?;
    let entry = find(&view, &args.name)?.ok_or_else(|| no_object(&view, &args.name, &store))?;
    let Some(object) = entry.object() else { return Err(unknown(&args.name, &store)) };
    if args.file.as_os_str() == "-" {
        write(&store, &view, &entry, &mut io::stdout().lock())?;
    } else if is_special(&args.file) {
        let opened = File::options().write(true).open(&args.file);
        let mut out = opened.map_err(|error| unwritable(&args.file, &error))?;
        write(&store, &view, &entry, &mut out)?;
    } else {
        let path = behind_links(&args.file).map_err(|error| unwritable(&args.file, &error))?;
        let path = &path;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let made = tempfile::NamedTempFile::new_in(parent.unwrap_or(Path::new(".")));
        let mut file = made.map_err(|error| unwritable(path, &error))?;
        write(&store, &view, &entry, &mut file)?;
        crate::file::share(file.as_file());
        file.as_file().sync_all().map_err(|error| unwritable(path, &error))?;
        file.persist(path).map_err(|failed| unwritable(path, &failed.error))?;
    }
    let (name, bytes) = (entry.versioned().to_string(), object.size);
    let file = args.file.display().to_string();
    if args.output.json {
        let exported = Exported { name, bytes, file };
        match args.file.as_os_str() == "-" {
            true => output::json_note(&exported),
            false => output::json(&exported)?,
        }
    } else if !args.output.quiet {
        output::note(&format!("{name}: {} in {file}", Size(bytes)));
    }
    Ok(())
}

/// The object of a name, with or without a version.
fn find(view: &View, name: &Name) -> Result<Option<Entry>, Failure> {
    let Some((number, _)) = view.find(name.as_ref())? else { return Ok(None) };
    let entry = view.entry(number)?;
    Ok(entry.filter(|entry| entry.name == *name || entry.versioned() == *name))
}

/// The failure of a name that no object has: it may be that of a tree.
fn no_object(view: &View, name: &Name, store: &Store) -> Failure {
    let tree = name.clone().with(&Component::keyword(::tree::KEYWORD));
    let found = find(view, &tree).ok().flatten();
    if found.is_some_and(|entry| is_tree(&entry)) {
        return Failure::new(Kind::Usage, format!("{name} is a folder, not a file")).then(
            &format!(
                "export the files in it, or run the repository and fetch it: weir get {name}/"
            ),
        );
    }
    unknown(name, store)
}

/// True for a device, a pipe or an open file: a new file in its place would take it away from all
/// programs.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) || is_open_file(path)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Kind::File, format!("cannot write {}: {error}", path.display()))
        .then("make room, or choose another file")
}

fn cannot_export(entry: &Entry, error: &io::Error) -> Failure {
    let message = format!("cannot export {}: {error}", entry.versioned());
    Failure::new(Kind::File, message).then("`weir repo verify` finds what is damaged")
}

/// Writes the bytes of an object, and checks them meanwhile.
fn write(store: &Store, view: &View, entry: &Entry, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(object) = entry.object() else { return Ok(()) };
    let digest = match &object.place {
        Place::Inline(bytes) => return out.write_all(bytes).map_err(|e| output::unwritable(&e)),
        Place::Blob(digest) => digest,
    };
    let source = store.volume().source(&view.blob(digest, object.size)?);
    let (mut sum, mut block, mut at) = (Sha256::new(), vec![0; 1 << 20], 0);
    while at < object.size {
        let len = (object.size - at).min(block.len() as u64) as usize;
        let read = source.read_at(at, &mut block[..len]);
        read.map_err(|error| cannot_export(entry, &error))?;
        sum.update(&block[..len]);
        out.write_all(&block[..len]).map_err(|error| output::unwritable(&error))?;
        at += len as u64;
    }
    out.flush().map_err(|error| output::unwritable(&error))?;
    if <[u8; 32]>::from(sum.finalize()) != *digest {
        let message = format!("{} is damaged in the store", entry.versioned());
        return Err(Failure::new(Kind::NotVerified, message)
            .then("remove it with `weir repo rm`, and store it again"));
    }
    Ok(())
}
