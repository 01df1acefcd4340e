//! Files that no other user of this host may have made or may write. A transfer keeps such files
//! beside its target: bytes that they list as verified are not verified again. Records of the user
//! are such files, too.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Write permission of the group and of all others.
const OTHERS_WRITE: u32 = 0o022;

/// An error about a new file, with the reason where the system only reports an invalid argument:
/// file systems such as FAT and NTFS do not take every name.
#[must_use]
pub fn named(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::ILSEQ) => {
            let why = "the file system takes no such name";
            io::Error::new(ErrorKind::InvalidFilename, why)
        }
        _ => error,
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // No symbolic link is followed, and no pipe is waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.read(true).write(true).mode(0o666 & !OTHERS_WRITE).custom_flags(flags.bits() as i32);
    options
}

/// Opens such a file, if it exists. A file of this user that others may write counts for nothing
/// and is removed.
///
/// # Errors
/// It is no regular file, belongs to another user, or cannot be opened.
pub fn existing(path: &Path) -> io::Result<Option<File>> {
    let file = match options().open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Otherwise links on the way lead in a circle.
        Err(_) if path.is_symlink() => return Err(rejected("it is a symbolic link")),
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(rejected("it is not a regular file"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(rejected("it belongs to another user of this host"));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        std::fs::remove_file(path)?;
        return Ok(None);
    }
    Ok(Some(file))
}

fn rejected(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
}

/// Gives a file the permissions that new files of this process have. A complete file needs no
/// protection from the users that the umask permits.
pub fn share(file: &File) {
    let Some(mask) = umask() else { return };
    // Some file systems have no permissions to be changed.
    let _ = file.set_permissions(Permissions::from_mode(0o666 & !mask));
}

/// Makes a folder for this user alone, with those above it, if it is not there.
///
/// # Errors
/// It cannot be made.
pub fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The permissions of a complete file whose publisher has `mode`.
#[must_use]
pub fn permissions(mode: u16) -> u32 {
    u32::from(mode) & 0o777 & !umask().unwrap_or(OTHERS_WRITE)
}

/// The umask of this process. umask(2) could read it only by setting it, for all threads.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

/// Makes such a file.
///
/// # Errors
/// The file exists already, or cannot be made.
pub fn make(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_of_its_own_is_opened_and_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert!(existing(&path).unwrap().is_none());
        let made = make(&path).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & OTHERS_WRITE, 0);
        assert!(existing(&path).unwrap().is_some());
        assert_eq!(make(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    }

    #[test]
    fn the_reason_of_a_rejected_name_is_given() {
        for errno in [Errno::INVAL, Errno::ILSEQ] {
            let error = named(errno.into());
            assert_eq!(error.kind(), ErrorKind::InvalidFilename);
            assert_eq!(error.to_string(), "the file system takes no such name");
        }
        let other = named(Errno::NOSPC.into());
        assert_eq!(other.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
    }

    #[test]
    fn a_complete_file_has_the_permissions_of_new_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = make(&dir.path().join("file")).unwrap();
        share(&file);
        let usual = File::create(dir.path().join("usual")).unwrap();
        let mode = |file: &File| file.metadata().unwrap().mode();
        assert_eq!(mode(&file), mode(&usual));
    }

    #[test]
    fn links_and_pipes_are_rejected_and_what_they_lead_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link, pipe) =
            (dir.path().join("target"), dir.path().join("link"), dir.path().join("pipe"));
        std::fs::write(&target, "mine").unwrap();
        symlink(&target, &link).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from(0o600)).unwrap();
        assert!(existing(&link).unwrap_err().to_string().contains("symbolic link"));
        assert!(make(&link).is_err());
        assert!(existing(&pipe).unwrap_err().to_string().contains("regular file"));
        assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    }

    #[test]
    fn files_writable_by_others_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for mode in [0o664, 0o646, 0o666] {
            std::fs::write(&path, "planted").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(existing(&path).unwrap().is_none(), "{mode:o}");
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_file_of_another_user_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        make(&path).unwrap();
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
            let error = existing(&path).unwrap_err();
            assert!(error.to_string().contains("another user"), "{error}");
            assert!(path.exists());
        }
    }
}
