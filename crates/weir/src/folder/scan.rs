//! The published folder: its directories, files and links.

use super::filter::Filter;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The beginning of the names of incomplete files, which `weir get` makes.
pub const PART: &str = ".weir-part-";

/// The maximum number of bytes of a path below the folder.
const MAX_PATH: usize = 4095;

/// The attributes of a file, directory or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Bytes of a file.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
    /// Permissions.
    pub mode: u16,
}

impl Attributes {
    /// The attributes that a tree keeps.
    pub fn of(meta: &Metadata) -> Attributes {
        let seconds = u64::try_from(meta.mtime()).unwrap_or(0);
        let nanoseconds = u64::try_from(meta.mtime_nsec()).unwrap_or(0);
        let modified = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        Attributes { size: meta.len(), modified, mode: (meta.mode() & 0o777) as u16 }
    }
}

/// A directory, without the directories in it.
#[derive(Debug)]
pub struct Directory {
    /// The path below the folder.
    pub path: Vec<u8>,
    /// Its own attributes.
    pub attributes: Attributes,
    /// Names of files.
    pub files: Vec<(Vec<u8>, Attributes)>,
    /// Names of links, with their targets.
    pub links: Vec<(Vec<u8>, Attributes, Vec<u8>)>,
}

/// A folder.
#[derive(Debug, Default)]
pub struct Scan {
    /// Directories, parents before their children.
    pub directories: Vec<Directory>,
    /// Notes about omitted entries.
    pub notes: Vec<String>,
    /// Entries that could not be read.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    max_depth: usize,
}

impl Scan {
    /// Reads the folder, down to paths of `max_depth` components; see [`tree::max_depth`].
    ///
    /// # Errors
    /// The folder itself cannot be read.
    pub fn of(folder: &Path, filter: &Filter, max_depth: usize) -> io::Result<Scan> {
        let mut scan = Scan { max_depth, ..Scan::default() };
        let mut open = vec![Vec::new()];
        while let Some(path) = open.pop() {
            let is_top = path.is_empty();
            let at = join(folder, &path);
            match scan.read(&at, path, filter, &mut open) {
                Err(error) if is_top => return Err(error),
                // It has been removed since its parent was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => scan.unreadable.push((at, error)),
                Ok(()) => {}
            }
        }
        scan.directories.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(scan)
    }

    fn read(
        &mut self,
        at: &Path,
        path: Vec<u8>,
        filter: &Filter,
        open: &mut Vec<Vec<u8>>,
    ) -> io::Result<()> {
        let attributes = Attributes::of(&std::fs::metadata(at)?);
        let (files, links) = (Vec::new(), Vec::new());
        let mut directory = Directory { path, attributes, files, links };
        for entry in std::fs::read_dir(at)? {
            let entry = entry?;
            let below = below(&directory.path, entry.file_name().as_bytes());
            if below.len() > MAX_PATH {
                self.leave_out(&entry, "its path is longer than 4095 bytes");
                continue;
            }
            if below.iter().filter(|byte| **byte == b'/').count() >= self.max_depth {
                self.leave_out(&entry, "it is deeper than names allow");
                continue;
            }
            if let Err(error) = self.add(&entry, below, filter, &mut directory, open) {
                // It may have been removed since the directory was read.
                if error.kind() != io::ErrorKind::NotFound {
                    self.unreadable.push((entry.path(), error));
                }
            }
        }
        self.directories.push(directory);
        Ok(())
    }

    fn add(
        &mut self,
        entry: &DirEntry,
        path: Vec<u8>,
        filter: &Filter,
        directory: &mut Directory,
        open: &mut Vec<Vec<u8>>,
    ) -> io::Result<()> {
        let kind = entry.file_type()?;
        let name = entry.file_name().into_vec();
        if is_part(&name) {
            self.leave_out(entry, "`weir get` has not completed it");
            return Ok(());
        }
        if kind.is_dir() {
            if filter.takes_directory(&path) {
                open.push(path);
            }
        } else if !filter.takes_file(&path) {
        } else if kind.is_file() {
            directory.files.push((name, Attributes::of(&entry.metadata()?)));
        } else if kind.is_symlink() {
            let target = std::fs::read_link(entry.path())?.into_os_string().into_vec();
            let depth = path.iter().filter(|byte| **byte == b'/').count();
            match tree::stays_within(&target, depth) {
                true => {
                    let attributes = Attributes::of(&entry.metadata()?);
                    directory.links.push((name, attributes, target));
                }
                false => self.leave_out(entry, "the link may lead outside the folder"),
            }
        } else {
            self.leave_out(entry, "it is neither a file nor a directory nor a link");
        }
        Ok(())
    }

    fn leave_out(&mut self, entry: &DirEntry, why: &str) {
        self.notes.push(format!("not published: {}: {why}", entry.path().display()));
    }
}

/// True if a name is that of an incomplete file.
pub fn is_part(name: &[u8]) -> bool {
    let digits = name.strip_prefix(PART.as_bytes());
    digits.is_some_and(|rest| rest.len() == 16 && rest.iter().all(u8::is_ascii_hexdigit))
}

/// The path of an entry below a directory.
pub fn below(directory: &[u8], name: &[u8]) -> Vec<u8> {
    match directory {
        [] => name.to_vec(),
        _ => [directory, b"/", name].concat(),
    }
}

/// The parent directory of a path, and the name in it.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// The path of an entry below the folder, for the file system.
pub fn join(folder: &Path, path: &[u8]) -> PathBuf {
    match path {
        [] => folder.to_owned(),
        _ => folder.join(std::ffi::OsStr::from_bytes(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_read_with_its_links_and_without_what_leads_outside() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("b/c/deeper/still")).unwrap();
        std::fs::write(at("b/c/file"), "12345").unwrap();
        std::fs::write(at("a"), "").unwrap();
        symlink("../a", at("b/up")).unwrap();
        symlink("../../a", at("b/out")).unwrap();
        symlink("/etc/passwd", at("absolute")).unwrap();
        let scan = Scan::of(folder.path(), &Filter::default(), 3).unwrap();
        let paths: Vec<_> = scan.directories.iter().map(|d| d.path.as_slice()).collect();
        assert_eq!(paths, [&b""[..], b"b", b"b/c", b"b/c/deeper"]);
        assert_eq!(scan.directories[0].files[0].0, b"a");
        assert_eq!(scan.directories[1].links[0].2, b"../a");
        assert_eq!(scan.directories[2].files[0].1.size, 5);
        assert_eq!(scan.notes.len(), 3, "{:?}", scan.notes);
        assert!(scan.notes.iter().any(|note| note.contains("deeper/still: it is deeper than")));
        assert!(scan.directories[0].links.is_empty());
    }

    #[test]
    fn a_folder_that_is_none_is_an_error() {
        assert!(Scan::of(Path::new("/nonexistent"), &Filter::default(), 9).is_err());
    }
}
