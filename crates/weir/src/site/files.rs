//! The files below one folder, by the paths of URLs, and no other files of the disk.

use crate::exit::{Failure, Kind};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The page of a folder.
const INDEX: &str = "index.html";
/// A pipe without a writer is opened at once, too.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The files of a folder.
pub struct SiteFiles {
    root: OwnedFd,
}

/// The file of a URL.
#[derive(Debug)]
pub enum Found {
    /// A file.
    File {
        /// Its content.
        file: File,
        /// Its size.
        bytes: u64,
        /// Its path from the folder.
        name: String,
    },
    /// The path is that of a folder, whose page is at this path.
    Moved(String),
}

impl SiteFiles {
    /// The files below this folder.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(folder: &Path) -> Result<SiteFiles, Failure> {
        let flags = READ.union(OFlags::DIRECTORY);
        let root = rustix::fs::open(folder, flags, Mode::empty()).map_err(|error| {
            let what = format!("cannot open {}: {error}", folder.display());
            Failure::new(Kind::File, what).then("make it readable for your user")
        })?;
        Ok(SiteFiles { root })
    }

    /// The file at the path of a URL, if it exists. Links may lead only to other files of the
    /// folder.
    pub fn get(&self, path: &str) -> Option<Found> {
        let inner = path.strip_prefix('/')?;
        let is_folder = inner.is_empty() || inner.ends_with('/');
        let name = if is_folder { format!("{inner}{INDEX}") } else { inner.to_owned() };
        if !name.split('/').all(is_plain) {
            return None;
        }
        // The kernel keeps the way below the folder, also through links, and while files change.
        let flags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
        let file = openat2(&self.root, name.as_str(), READ, Mode::empty(), flags).ok()?;
        let stat = fstat(&file).ok()?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let bytes = u64::try_from(stat.st_size).ok()?;
                Some(Found::File { file: File::from(file), bytes, name })
            }
            FileType::Directory if !is_folder => Some(Found::Moved(format!("{path}/"))),
            _ => None,
        }
    }
}

/// Returns `true` for a name in the form of the documentation's files. Such a name needs no
/// encoding in a URL, so nothing has to be decoded.
fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    /// The content at a path; `moved to PATH`, or `none`.
    fn content(files: &SiteFiles, path: &str) -> String {
        match files.get(path) {
            Some(Found::File { mut file, bytes, .. }) => {
                let mut text = String::new();
                assert_eq!(file.read_to_string(&mut text).unwrap() as u64, bytes);
                text
            }
            Some(Found::Moved(to)) => format!("moved to {to}"),
            None => "none".to_owned(),
        }
    }

    /// A folder with a site in it, and a secret beside the site.
    fn disk() -> tempfile::TempDir {
        let disk = tempfile::tempdir().unwrap();
        let (site, secret) = (disk.path().join("site"), disk.path().join("secret"));
        std::fs::create_dir_all(site.join("0.1.0/a")).unwrap();
        for (file, text) in [("index.html", "first"), ("0.1.0/index.html", "page"), (".x", "x")] {
            std::fs::write(site.join(file), text).unwrap();
        }
        std::fs::write(&secret, "secret").unwrap();
        let links = [("0.1.0", "latest"), ("../secret", "out"), ("..", "up"), ("loop", "loop")];
        for (to, name) in links {
            symlink(to, site.join(name)).unwrap();
        }
        symlink(&secret, site.join("absolute")).unwrap();
        let (pipe, mode) = (site.join("pipe"), Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, pipe, FileType::Fifo, mode, 0).unwrap();
        disk
    }

    #[test]
    fn files_and_pages_of_folders_are_found() {
        let disk = disk();
        let files = SiteFiles::open(&disk.path().join("site")).unwrap();
        for (path, expected) in [
            ("/", "first"),
            ("/index.html", "first"),
            ("/0.1.0/", "page"),
            ("/0.1.0", "moved to /0.1.0/"),
            ("/latest/", "page"),
            ("/latest/index.html", "page"),
            ("/latest", "moved to /latest/"),
            ("/0.1.0/a", "moved to /0.1.0/a/"),
        ] {
            assert_eq!(content(&files, path), expected, "{path}");
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_found() {
        let disk = disk();
        let files = SiteFiles::open(&disk.path().join("site")).unwrap();
        for path in [
            "",
            "*",
            "//",
            "/0.1.0/a/",
            "/gone",
            "/../secret",
            "/0.1.0/../../secret",
            "/out",
            "/absolute",
            "/up",
            "/up/",
            "/up/secret",
            "/loop",
            "/pipe",
            "/.x",
            "/./index.html",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "/index.html/",
            "//index.html",
            "/0.1.0//index.html",
            "/index.html\0",
            "/a\\..\\b",
            "index.html",
        ] {
            assert_eq!(content(&files, path), "none", "{path:?}");
        }
    }
}
