//! Folders on their way into a store.

use super::copy::{Watched, changed, copy, prepare, unreadable};
use super::keep::{self, Ready};
use crate::cli::repo::RepoPutArgs;
use crate::exit::{Failure, Kind};
use crate::folder::{self, Catalogue, Filter, Publisher};
use packet::{Bytes, Component, Name};
use repo::{Body, Entry, Object, Place, Staging, Store, View};
use security::Signer;
use std::collections::BTreeSet;
use std::fs::File;
use transport::publish::{Preparation, Spec};

/// Copies a folder, and makes its tree. If the store has the same tree, it is of the same version.
pub fn prepare_tree(
    args: &RepoPutArgs,
    signer: &Signer,
    store: &Store,
    staging: &mut Staging,
    watched: &Watched<'_>,
) -> Result<Ready, Failure> {
    let at = args.file.canonicalize().map_err(|error| unreadable(&args.file, &error))?;
    let publisher = Publisher {
        base: args.name.clone(),
        folder: at,
        signer: signer.clone(),
        filter: Filter::new(&args.filter)?,
        hashes: None,
    };
    let observers = folder::Watched { progress: watched.progress, stop: watched.stop };
    let mut made = publisher.publish(None, &BTreeSet::new(), &observers)?;
    made.version = version(&made, store)?;
    for path in made.files.keys() {
        file(&made, path, staging, watched)?;
    }
    for packet in made.pages.iter().map(|(_, packet)| packet) {
        hold_packet(staging, packet.clone())?;
    }
    let mut top = None;
    for path in made.directories.keys() {
        let entry = directory(&made, path)?;
        hold_packet(staging, made.directory_metadata(path))?;
        match path.is_empty() {
            true => top = Some(entry),
            false => staging.hold(&entry).map_err(|error| keep::unwritable(&error))?,
        }
    }
    let missing = || Failure::new(Kind::Failed, "the tree has no root");
    let (bytes, files) = (made.top().map_or(0, |top| top.totals.bytes), made.files.len() as u64);
    let entry = top.ok_or_else(missing)?;
    Ok(Ready {
        entry,
        bytes,
        files: Some(files),
        prefixes: Vec::new(),
        is_verified: true,
        media_type: None,
    })
}

/// Copies a file of the folder, and holds its entry.
fn file(
    made: &Catalogue,
    path: &[u8],
    staging: &mut Staging,
    watched: &Watched<'_>,
) -> Result<(), Failure> {
    let at = made.file_path(path);
    let mut input = File::open(&at).map_err(|error| unreadable(&at, &error))?;
    let staged = copy(staging, &mut input, &at, watched)?;
    let Some(record) = made.files.get(path) else { return Err(changed(&at)) };
    let spec = Catalogue::spec(&made.base, path, record.hashed.version);
    let entry = prepare(spec, &staged, &made.signer, watched)?;
    // The pages list the digests of the file as it was hashed.
    if entry.object().is_none_or(|object| object.below != *record.hashed.below) {
        return Err(changed(&at));
    }
    staging.hold(&entry).map_err(|error| keep::unwritable(&error))
}

/// The newest version in the store, if it is the same tree; otherwise a newer one.
fn version(made: &Catalogue, store: &Store) -> Result<u64, Failure> {
    let view = View::new(store)?;
    let (name, content) = listed(made, &[])?;
    let Some(newest) = view.newest(name.as_ref())? else { return Ok(made.version) };
    let number = view.number(name.as_ref(), newest)?;
    // A record that cannot be read is not the same.
    let entry = number.and_then(|number| view.entry(number).ok().flatten());
    let place = entry.as_ref().and_then(Entry::object).map(|object| &object.place);
    Ok(match place {
        Some(Place::Inline(known)) if known[..] == content[..] => newest,
        _ => made.version.max(newest.saturating_add(1)),
    })
}

/// The name of a directory's object, without the version, and its content.
fn listed(made: &Catalogue, path: &[u8]) -> Result<(Name, Vec<u8>), Failure> {
    let Some(record) = made.directories.get(path) else {
        return Err(Failure::new(Kind::Failed, "the tree has no such directory"));
    };
    let mut content = Vec::new();
    record.root.encode_into(&mut content);
    let name = ::tree::name_of(&made.base, path).with(&Component::keyword(::tree::KEYWORD));
    Ok((name, content))
}

/// The object of a directory.
fn directory(made: &Catalogue, path: &[u8]) -> Result<Entry, Failure> {
    let (name, content) = listed(made, path)?;
    let spec = Spec::new(name.clone(), made.version);
    let place = Place::Inline(Bytes::copy_from_slice(&content));
    let mut object = Preparation::new(spec, content, &made.signer)?.run(&made.signer)?;
    let object = Object::of(&mut object, place)?;
    Ok(Entry { name, version: made.version, body: Body::Object(Box::new(object)) })
}

fn hold_packet(staging: &mut Staging, wire: Bytes) -> Result<(), Failure> {
    let Some(entry) = keep::packet(wire) else { return Ok(()) };
    staging.hold(&entry).map_err(|error| keep::unwritable(&error))
}
