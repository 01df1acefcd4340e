//! The names of new files, as file systems take them.

use client::parts::own::named;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Finds out whether a file can get its name later. FAT and NTFS take no dot and no space at the
/// end, or leave it out, so that `name.part` may be there and not become `name.`. Other names that
/// they do not take fail with the ending, too.
///
/// # Errors
/// It cannot.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_file_system_takes_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["name", "name.", "name ", "..."] {
            check_name(&dir.path().join(name)).unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
