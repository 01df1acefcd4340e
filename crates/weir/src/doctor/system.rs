//! Numbers that the kernel shows in files. Containers may lack some of these files.

use std::path::{Path, PathBuf};

/// The files below a folder, which is `/` except in tests.
pub struct System {
    root: PathBuf,
}

impl System {
    /// The files below `root`.
    pub fn below(root: &Path) -> System {
        System { root: root.to_owned() }
    }

    /// True if the file exists. `path` is relative to the root.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The number in a file.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or holds no number: a text for the user.
    pub fn number(&self, path: &str) -> Result<u64, String> {
        let text = net::bounded::text(&self.root.join(path))
            .map_err(|error| format!("cannot read /{path}: {error}"))?;
        text.trim().parse().map_err(|_| format!("/{path} holds no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_everything_else_is_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "8000000\n").unwrap();
        std::fs::write(folder.path().join("b"), "max\n").unwrap();
        let system = System::below(folder.path());
        assert_eq!(system.number("a"), Ok(8_000_000));
        assert_eq!(system.number("b"), Err("/b holds no number".to_owned()));
        assert!(system.number("c").unwrap_err().starts_with("cannot read /c: "));
        assert!(system.has("a") && !system.has("c"));
    }
}
