//! Which file is meant by a path that may be a symbolic link.

use std::io;
use std::path::{Path, PathBuf};

/// As many links as Linux follows (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The file that is to be written when `path` is: what a symbolic link leads to, whether there is
/// something or not, so that a new file can take the name there and the link stays a link.
///
/// # Errors
/// Links lead in a circle.
pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        // Whatever else is wrong with the path shows when it is opened.
        let Ok(target) = std::fs::read_link(&path) else { return Ok(path) };
        path.pop();
        path.push(target);
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// An open file of this process by another name, such as `/dev/stdout` or `/dev/fd/3`: it is to be
/// written to, and another file in its place is not it.
pub fn is_open_file(path: &Path) -> bool {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        if folder.is_some_and(|folder| folder.starts_with("/proc")) {
            return true;
        }
        let Ok(target) = std::fs::read_link(&path) else { return false };
        path.pop();
        path.push(target);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_their_end_even_where_nothing_is() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("folder")).unwrap();
        symlink("folder/second", at("first")).unwrap();
        symlink(at("folder/file"), at("folder/second")).unwrap();
        assert_eq!(behind_links(&at("first")).unwrap(), at("folder/file"));
        std::fs::write(at("folder/file"), "").unwrap();
        assert_eq!(behind_links(&at("first")).unwrap(), at("folder/file"));
        assert_eq!(behind_links(&at("nothing")).unwrap(), at("nothing"));
        assert_eq!(behind_links(Path::new("plain")).unwrap(), Path::new("plain"));
    }

    #[test]
    fn a_circle_of_links_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        symlink("b", &a).unwrap();
        symlink("a", &b).unwrap();
        let error = behind_links(&a).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
        assert!(!is_open_file(&a));
    }

    #[test]
    fn open_files_are_told_from_files() {
        assert!(is_open_file(Path::new("/dev/stdout")));
        assert!(is_open_file(Path::new("/dev/fd/2")));
        assert!(!is_open_file(Path::new("/tmp/file")));
        assert!(!is_open_file(Path::new("file")));
    }
}
