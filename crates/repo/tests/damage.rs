//! Stores that are damaged: each byte of the index and of a blob.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use packet::Name;
use proptest::prelude::*;
use repo::{Store, StoreError, View};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use support::{insert, object, packet};

/// Bytes of the header of an index.
const HEADER: usize = 320;

/// A store with some objects, made once.
fn original() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Store::create(&folder).unwrap();
        let members = [packet("/a/KEY/1/self/v=1", b"key"), object("/a/x/y", 1, b"member")];
        insert(&store, &object("/a/x", 7, &[3; 20_000]), &members).unwrap();
        insert(&store, &object("/a/z", 7, b"small"), &[]).unwrap();
        folder
    })
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// All objects are read and verified, or the damage is reported.
fn read(folder: &Path) -> Result<usize, StoreError> {
    let store = Store::open(folder)?;
    let view = View::new(&store)?;
    let mut damaged = 0;
    let tops = view.tops(None, 10)?;
    assert!(tops.len() >= 2, "an acknowledged object is gone");
    for (number, _) in tops {
        damaged += store.verify(&view, number)?.damage.len();
    }
    view.find("/a/x/v=7/seg=1".parse::<Name>().unwrap().as_ref())?;
    Ok(damaged)
}

fn blob(folder: &Path, size: u64) -> PathBuf {
    let folders = fs::read_dir(folder.join("blobs")).unwrap().flatten();
    let mut files = folders.flat_map(|f| fs::read_dir(f.path()).unwrap().flatten());
    files.find(|file| file.metadata().unwrap().len() == size).unwrap().path()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_damaged_index_is_reported_or_read_as_it_was(
        at in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        let path = folder.path().join("index");
        let mut index = fs::read(&path).unwrap();
        let at = at.index(index.len());
        index[at] ^= change;
        fs::write(&path, index).unwrap();
        match read(folder.path()) {
            // A byte that no page uses.
            Ok(damaged) => prop_assert_eq!(damaged, 0, "at {}", at),
            Err(error) => {
                let known = matches!(
                    error,
                    StoreError::Damaged { .. } | StoreError::Index { .. } | StoreError::Newer { .. }
                );
                prop_assert!(known, "at {}: {}", at, error);
            }
        }
    }

    #[test]
    fn an_index_that_ends_early_is_reported_or_whole(at in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        let path = folder.path().join("index");
        let index = fs::read(&path).unwrap();
        fs::write(&path, &index[..at.index(index.len())]).unwrap();
        prop_assert_eq!(read(folder.path()).unwrap_or(0), 0);
    }

    #[test]
    fn a_damaged_blob_is_found(at in any::<prop::sample::Index>(), change in 1u8..) {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        let path = blob(folder.path(), 20_000);
        let mut bytes = fs::read(&path).unwrap();
        bytes[at.index(20_000)] ^= change;
        fs::write(&path, bytes).unwrap();
        prop_assert_eq!(read(folder.path()).unwrap(), 1);
    }
}

#[test]
fn no_damaged_header_takes_the_last_insertion_away() {
    let index = fs::read(original().join("index")).unwrap();
    for at in 0..HEADER {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        let mut index = index.clone();
        index[at] ^= 0x55;
        fs::write(folder.path().join("index"), index).unwrap();
        assert_eq!(read(folder.path()).unwrap_or(0), 0, "at {at}");
    }
}

#[test]
fn an_empty_index_is_no_new_store() {
    let folder = tempfile::tempdir().unwrap();
    copy(original(), folder.path());
    fs::write(folder.path().join("index"), "").unwrap();
    for store in [Store::open(folder.path()), Store::create(folder.path())] {
        assert!(matches!(store.err(), Some(StoreError::Damaged { .. })));
    }
    assert!(blob(folder.path(), 20_000).exists());
}

#[test]
fn a_damaged_blob_is_replaced_by_the_same_bytes() {
    for (name, version) in [("/b", 1), ("/a/x", 7)] {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        fs::write(blob(folder.path(), 20_000), [4; 20_000]).unwrap();
        assert_eq!(read(folder.path()).unwrap(), 1);
        let store = Store::open(folder.path()).unwrap();
        let inserted = insert(&store, &object(name, version, &[3; 20_000]), &[]).unwrap();
        assert_eq!(inserted.new_bytes, 0);
        drop(store);
        assert_eq!(read(folder.path()).unwrap(), 0, "{name}");
    }
}

#[test]
fn a_blob_that_is_gone_or_shorter_is_found_and_stored_again() {
    let folder = tempfile::tempdir().unwrap();
    copy(original(), folder.path());
    let path = blob(folder.path(), 20_000);
    fs::write(&path, [3; 19_999]).unwrap();
    assert_eq!(read(folder.path()).unwrap(), 1);
    fs::remove_file(&path).unwrap();
    assert_eq!(read(folder.path()).unwrap(), 1);
    let store = Store::open(folder.path()).unwrap();
    // The same bytes under another name bring them back.
    insert(&store, &object("/b", 1, &[3; 20_000]), &[]).unwrap();
    drop(store);
    assert_eq!(read(folder.path()).unwrap(), 0);
}

#[test]
fn a_damaged_record_leaves_the_others_readable() {
    let tables: [redb::TableDefinition<'_, u64, &[u8]>; 2] =
        [redb::TableDefinition::new("tops"), redb::TableDefinition::new("entries")];
    for table in tables {
        let folder = tempfile::tempdir().unwrap();
        copy(original(), folder.path());
        let numbers: Vec<u64> = {
            let store = Store::open(folder.path()).unwrap();
            let tops = View::new(&store).unwrap().tops(None, 10).unwrap();
            tops.into_iter().map(|(number, _)| number).collect()
        };
        let db = redb::Database::open(folder.path().join("index")).unwrap();
        let write = db.begin_write().unwrap();
        write.open_table(table).unwrap().insert(numbers[0], &b"\xff\xff"[..]).unwrap();
        write.commit().unwrap();
        drop(db);
        let store = Store::open(folder.path()).unwrap();
        let view = View::new(&store).unwrap();
        let tops = view.tops(None, 10).unwrap();
        assert_eq!(tops.len(), numbers.len());
        let is_broken = |at: usize| tops[at].1.is_none() || view.entry(numbers[at]).is_err();
        assert!(is_broken(0) && !is_broken(1));
        let damage = |at: usize| store.verify(&view, numbers[at]).unwrap().damage;
        let found: Vec<String> = damage(0).into_iter().map(|damage| damage.name).collect();
        let is_entry = redb::TableHandle::name(&table) == "entries";
        assert_eq!(found == [format!("entry {} of the index", numbers[0])], is_entry);
        assert!(damage(1).is_empty());
    }
}
