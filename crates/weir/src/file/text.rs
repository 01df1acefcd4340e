//! Texts written as a whole.

use client::parts::own::named;
use client::parts::{behind_links, is_open_file};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Written beside its place and moved there, so that it is never half written. A symbolic link
/// stays one. A device, a pipe or an open file of this process is written to: a file in its place
/// would take it away from all programs.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let is_special = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
    if is_special || is_open_file(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(content.as_ref());
    }
    let path = behind_links(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(content.as_ref())?;
    file.persist(path).map(drop).map_err(|error| named(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, symlink};

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::from(0o600)).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        // An implementation that replaces the pipe leaves the reader without a writer.
        let replaced = replace(&pipe, "text");
        let kind = fs::symlink_metadata(&pipe).unwrap().file_type();
        assert!(replaced.is_ok() && kind.is_fifo());
        assert_eq!(reader.join().unwrap(), "text");
    }

    #[test]
    fn a_full_device_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("full");
        symlink("/dev/full", &link).unwrap();
        assert_eq!(replace(&link, "text").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(
            link.is_symlink() && fs::metadata("/dev/full").unwrap().file_type().is_char_device()
        );
    }

    #[test]
    fn a_link_stays_one_and_its_target_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (link, target) = (dir.path().join("link"), dir.path().join("target"));
        symlink("target", &link).unwrap();
        for text in ["new", "newer"] {
            replace(&link, text).unwrap();
            assert!(link.is_symlink());
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
