//! `client.conf`, the file that gives NDN programs the forwarder's address.

use crate::bounded;
use std::path::{Path, PathBuf};

/// Where it may be besides the home directory.
const PLACES: [&str; 3] =
    ["/usr/local/etc/ndn/client.conf", "/opt/local/etc/ndn/client.conf", "/etc/ndn/client.conf"];

/// The paths of the file, in the order of the search; the first existing one counts. As in
/// ndn-cxx, `TEST_HOME` comes before `HOME`.
pub(super) fn places() -> Vec<PathBuf> {
    let own = home().map(|home| home.join("client.conf"));
    own.into_iter().chain(PLACES.map(PathBuf::from)).collect()
}

/// The user's own folder for NDN.
pub(super) fn home() -> Option<PathBuf> {
    let home = ["TEST_HOME", "HOME"].into_iter().find_map(std::env::var_os);
    home.map(|home| Path::new(&home).join(".ndn"))
}

/// The transport in the first file, and the path of that file.
pub(super) fn transport(places: &[PathBuf]) -> Option<(String, PathBuf)> {
    setting(places, "transport")
}

/// The value of a key in the first file that has it, and that file.
pub(super) fn setting(places: &[PathBuf], key: &str) -> Option<(String, PathBuf)> {
    let found = places.iter().find_map(|path| Some((bounded::text(path).ok()?, path)));
    let (text, path) = found?;
    Some((value(&text, key)?.to_owned(), path.clone()))
}

/// The value of a key in an INI file: `key = value`, where a semicolon begins a comment.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(k, v)| (k.trim(), v.trim())).find(|(k, v)| *k == key && !v.is_empty()).map(|p| p.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other projects' programs, "Finding a forwarder": [peer-42].
    #[test]
    fn the_file_is_read_as_other_tools_read_it() {
        let text =
            "; a comment\npib=pib-sqlite3\n  transport = unix:///a.sock ; here\ntransport=x\n";
        assert_eq!(value(text, "transport"), Some("unix:///a.sock"));
        assert_eq!(value(";transport=unix:///a\ntransport=\n", "transport"), None);
    }

    // Other projects' programs, "Finding a forwarder": [peer-42].
    #[test]
    fn the_first_existing_file_counts_whatever_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["none", "first", "second"].map(|name| folder.path().join(name));
        std::fs::write(&paths[2], "transport=tcp://127.0.0.1").unwrap();
        let found = transport(&paths);
        assert_eq!(found, Some(("tcp://127.0.0.1".to_owned(), paths[2].clone())));
        std::fs::write(&paths[1], "tpm=tpm-file").unwrap();
        assert_eq!(transport(&paths), None);
    }
}
