//! The newest version of a tree that a folder has received, kept in the user's state directory, so
//! that an old copy of the tree does not replace newer files.
//!
//! A record has a line with the version and one with the identity of the folder. A folder that was
//! removed and made again has another identity. The newest records are kept, even those of missing
//! folders: their disk may not be mounted.

use packet::Name;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::xxh3_128;

/// The most records.
const MOST: usize = 1000;

/// The record of one tree in one folder.
pub struct Version {
    /// The file; `None` without a state directory.
    place: Option<PathBuf>,
    folder: PathBuf,
}

impl Version {
    /// The record of the tree `name` in `folder`, below the state directory `home`.
    pub fn of(home: Option<&Path>, name: &Name, folder: &Path) -> Version {
        // A folder that cannot be resolved keeps the given path.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let place = home.map(|home| {
            let key = format!("{name}\n{}", folder.display());
            home.join("copies").join(format!("{:032x}", xxh3_128(key.as_bytes())))
        });
        Version { place, folder }
    }

    /// The newest version, if one is known of this very folder.
    pub fn read(&self) -> Option<u64> {
        let record = std::fs::read(self.place.as_ref()?).ok()?;
        let (version, identity) = fields(&record)?;
        (identity == self::identity(&self.folder)?).then_some(version)
    }

    /// Keeps the version of a file in the folder. A new record may remove the oldest ones.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, version: u64) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        let Some(identity) = identity(&self.folder) else { return Ok(()) };
        let records = place.parent().unwrap_or(Path::new("."));
        crate::file::private_folder(records)?;
        if !place.exists() {
            clean(records, MOST)?;
        }
        let mut file = tempfile::NamedTempFile::new_in(records)?;
        write!(file, "{version}\n{identity}\n")?;
        file.persist(place).map(|_| ()).map_err(|failed| failed.error)
    }
}

/// Version and identity of a record.
fn fields(record: &[u8]) -> Option<(u64, &str)> {
    let mut lines = std::str::from_utf8(record).ok()?.lines();
    Some((lines.next()?.parse().ok()?, lines.next()?))
}

/// Distinguishes a folder from earlier folders with its path. Numbers of inodes are used again, so
/// the identity includes the time of creation, if the file system has it. Numbers of devices change
/// when a host or a disk starts.
fn identity(folder: &Path) -> Option<String> {
    let meta = std::fs::metadata(folder).ok()?;
    let made = meta.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let made = made.map_or(0, |made| made.as_nanos());
    Some(format!("{} {made}", meta.ino()))
}

/// Removes the oldest records, so that fewer than `most` are left.
fn clean(records: &Path, most: usize) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(records)? {
        let entry = entry?;
        let name = entry.file_name();
        // Another `weir get` may be writing a temporary file, or have removed one of these.
        let is_record = name.len() == 32 && name.as_bytes().iter().all(u8::is_ascii_hexdigit);
        if let Some(meta) = entry.metadata().ok().filter(|_| is_record) {
            all.push(((meta.mtime(), meta.mtime_nsec()), entry.path()));
        }
    }
    all.sort_unstable();
    let beyond = (all.len() + 1).saturating_sub(most);
    all.iter().take(beyond).for_each(|(_, path)| drop(std::fs::remove_file(path)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_belongs_to_a_tree_and_a_folder() {
        let home = tempfile::tempdir().unwrap();
        let (x, y) = (home.path().join("x"), home.path().join("y"));
        let of = |name: &str, folder: &Path| {
            Version::of(Some(home.path()), &name.parse().unwrap(), folder)
        };
        std::fs::create_dir(&x).unwrap();
        std::fs::create_dir(&y).unwrap();
        assert_eq!(of("/a", &x).read(), None);
        of("/a", &x).write(17).unwrap();
        of("/a", &y).write(3).unwrap();
        assert_eq!(of("/a", &x).read(), Some(17));
        assert_eq!(of("/b", &x).read(), None);
        let none = Version::of(None, &Name::new(), &x);
        none.write(1).unwrap();
        assert_eq!(none.read(), None);
    }

    #[test]
    fn a_folder_that_was_made_again_has_no_record() {
        let home = tempfile::tempdir().unwrap();
        let x = home.path().join("x");
        let of = |folder: &Path| Version::of(Some(home.path()), &Name::new(), folder);
        std::fs::create_dir(&x).unwrap();
        of(&x).write(17).unwrap();
        std::fs::rename(&x, home.path().join("moved")).unwrap();
        std::fs::create_dir(&x).unwrap();
        assert_eq!(of(&x).read(), None);
        // A disk is unmounted, and mounted again.
        std::fs::remove_dir(&x).unwrap();
        std::fs::create_dir(home.path().join("y")).unwrap();
        of(&home.path().join("y")).write(1).unwrap();
        std::fs::rename(home.path().join("moved"), &x).unwrap();
        assert_eq!(of(&x).read(), Some(17));
    }

    #[test]
    fn the_newest_records_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let second = |n: u64| UNIX_EPOCH + std::time::Duration::from_secs(n);
        for n in 0..5 {
            let file = std::fs::File::create(home.path().join(format!("{n:032x}"))).unwrap();
            file.set_modified(second(100 - n)).unwrap();
        }
        std::fs::write(home.path().join(".tmp123"), "").unwrap();
        clean(home.path(), 4).unwrap();
        let left: Vec<_> =
            (0..5).filter(|n| home.path().join(format!("{n:032x}")).exists()).collect();
        assert_eq!(left, [0, 1, 2], "one is about to be written");
        assert!(home.path().join(".tmp123").exists());
    }
}
