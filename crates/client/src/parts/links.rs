//! Symbolic links where files are to be written.

use rustix::io::Errno;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many links as Linux follows (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// The file that is to be written when `path` is: the target of a symbolic link, even a missing
/// one, so that a new file can take the name there and the link stays a link.
///
/// # Errors
/// Links lead in a circle, or another user has put one into a folder that this user shares.
pub fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        // Other errors of the path appear when it is opened.
        let Ok(target) = std::fs::read_link(&path) else { return Ok(path) };
        if is_planted(&path)? {
            let why = "a symbolic link of another user of this host is there";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        path.pop();
        path.push(target);
    }
    Err(Errno::LOOP.into())
}

/// True if a symbolic link may be another user's trap: in a folder that others may write it is
/// followed only if it belongs to this user, to root or to the folder's owner (as Linux does in
/// sticky folders by `fs.protected_symlinks`, proc(5)).
fn is_planted(link: &Path) -> io::Result<bool> {
    let folder = match link.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let (folder, owner) = (std::fs::metadata(folder)?, std::fs::symlink_metadata(link)?.uid());
    let own = rustix::process::geteuid().as_raw();
    Ok(folder.mode() & 0o022 != 0 && ![own, 0, folder.uid()].contains(&owner))
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
    fn a_link_that_another_user_has_put_into_a_shared_folder_is_not_followed() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::{PermissionsExt, lchown};
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("secret", &link).unwrap();
        let shared = |mode| set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
        shared(0o1777);
        assert!(behind_links(&link).is_ok(), "a link of one's own");
        // Only root can give a link away.
        if lchown(&link, Some(65_534), None).is_err() {
            return;
        }
        for mode in [0o1777, 0o777, 0o775] {
            shared(mode);
            assert!(behind_links(&link).is_err(), "{mode:o}");
        }
        shared(0o755);
        assert!(behind_links(&link).is_ok(), "no other user may write there");
    }

    #[test]
    fn a_circle_of_links_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        symlink("b", &a).unwrap();
        symlink("a", &b).unwrap();
        let error = behind_links(&a).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::LOOP.raw_os_error()));
        assert!(!is_open_file(&a));
    }

    #[test]
    fn paths_of_open_files_are_recognized() {
        assert!(is_open_file(Path::new("/dev/stdout")));
        assert!(is_open_file(Path::new("/dev/fd/2")));
        assert!(!is_open_file(Path::new("/tmp/file")));
        assert!(!is_open_file(Path::new("file")));
    }
}
