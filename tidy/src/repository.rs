//! The tracked files, and findings about them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One violation, its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path from the root of the repository.
    pub path: String,
    /// Line, counted from 1; 0 for a finding about the whole file.
    pub line: usize,
    /// The violation and the remedy.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        if *line == 0 {
            write!(f, "{path}: {message}")
        } else {
            write!(f, "{path}:{line}: {message}")
        }
    }
}

/// One file of the repository.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path from the root of the repository, with `/` between its parts.
    pub path: String,
    /// The whole content.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// A finding about this file; line 0 means the whole of it.
    pub fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, message: message.into() }
    }

    /// The content as text; `None` for a binary file.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|text| !text.contains('\0'))
    }

    /// Returns `true` if the file's name ends in one of these (without the dot).
    pub fn has_extension(&self, any_of: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, ending)| any_of.contains(&ending))
    }

    /// The name of the crate in `crates/` whose file this is.
    pub fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Returns `true` for test code: by its folder, or by its name beside the tested file.
    pub fn is_test(&self) -> bool {
        let folders = ["tests", "benches", "examples", "fuzz"];
        let mut parts = self.path.split('/');
        parts.any(|part| folders.contains(&part)) || self.path.ends_with("/tests.rs")
    }
}

/// All files that are tracked, or would be if everything were committed now.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The files, ordered by path.
    pub files: Vec<SourceFile>,
}

impl Repository {
    /// Reads the repository of this crate.
    ///
    /// # Errors
    ///
    /// When git cannot list the files, or one of them cannot be read.
    pub fn read() -> io::Result<Self> {
        Self::read_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    /// Reads the files of another checkout, to compare it with this one.
    ///
    /// # Errors
    ///
    /// When git cannot list the files, or one of them cannot be read.
    pub fn read_at(root: &Path) -> io::Result<Self> {
        let listing = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()?;
        if !listing.status.success() {
            let reason = String::from_utf8_lossy(&listing.stderr).into_owned();
            return Err(io::Error::other(format!("git ls-files: {reason}")));
        }
        let listed = String::from_utf8_lossy(&listing.stdout).into_owned();
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let place: PathBuf = root.join(path);
            // A deleted but uncommitted file is listed. A link is judged at its target.
            if place.is_file() && !place.is_symlink() {
                files.push(SourceFile { path: path.to_owned(), bytes: std::fs::read(&place)? });
            }
        }
        Ok(Self { files })
    }

    /// A repository made of the given paths and texts.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| SourceFile {
            path: (*path).to_owned(),
            bytes: text.as_bytes().to_vec(),
        });
        Self { files: files.collect() }
    }

    /// Returns `true` if the path is a file, or a folder with a file in it.
    pub fn contains(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.iter().any(|file| {
                file.path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }

    /// The file at the path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text files whose names end in one of these, with their texts.
    pub fn texts<'a>(
        &'a self,
        endings: &'a [&'a str],
    ) -> impl Iterator<Item = (&'a SourceFile, &'a str)> {
        self.files
            .iter()
            .filter(|file| file.has_extension(endings))
            .filter_map(|file| Some((file, file.text()?)))
    }
}
