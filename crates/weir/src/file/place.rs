//! The names of new files, as file systems take them.

use client::parts::behind_links;
use client::parts::own::named;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Finds out whether a file can get its name later. FAT and NTFS reject a dot or a space at the
/// end, or omit it, so that `name.part` may exist and never become `name.`. Other names that they
/// reject fail with the ending, too.
///
/// # Errors
/// The file cannot get the name.
pub fn check_name(path: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    if !matches!(name.as_bytes().last(), Some(b'.' | b' ')) {
        return Ok(());
    }
    // In a folder of its own, it is never seen beside other files.
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = tempfile::tempdir_in(folder.unwrap_or(Path::new(".")))?;
    File::create_new(folder.path().join(name)).map_err(named)?;
    let mut there = std::fs::read_dir(folder.path())?.flatten();
    match there.any(|entry| entry.file_name() == name) {
        true => Ok(()),
        false => Err(named(Errno::INVAL.into())),
    }
}

/// True if both paths lead to one file, or would if it were made. Devices and pipes are no files:
/// they may take several outputs.
pub fn is_same(one: &Path, other: &Path) -> bool {
    if [one, other].iter().any(|path| path.metadata().is_ok_and(|about| !about.is_file())) {
        return false;
    }
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => place_of(one).is_some_and(|place| Some(place) == place_of(other)),
        _ => false,
    }
}

/// Where a file would be made: its folder, and its name in it.
fn place_of(path: &Path) -> Option<PathBuf> {
    let path = behind_links(path).ok()?;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn two_paths_to_one_file_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("there"), "").unwrap();
        std::fs::hard_link(at("there"), at("hard")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink("there", at("soft")).unwrap();
        symlink("new", at("dangling")).unwrap();
        for same in ["there", "hard", "soft", "folder/../there", "./there"] {
            assert!(is_same(&at("there"), &at(same)), "{same}");
        }
        for same in ["new", "folder/../new", "dangling"] {
            assert!(is_same(&at("new"), &at(same)), "{same}");
        }
        for other in ["new", "folder/there", "folder", "none/there"] {
            assert!(!is_same(&at("there"), &at(other)), "{other}");
        }
        assert!(!is_same(Path::new("/dev/null"), Path::new("/dev/null")));
    }

    #[test]
    fn names_that_the_file_system_takes_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["name", "name.", "name ", "..."] {
            check_name(&dir.path().join(name)).unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
