//! The digests of files, kept between runs: a file is hashed again only if its size or time has
//! changed.
//!
//! Each line of the file is a JSON value: first the tree that it belongs to, then the files. A
//! digest may be wrong, because the file was damaged or altered: then a segment that does not fit
//! is not sent, and the file is hashed again.

use security::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The digests of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// Bytes of the file.
    pub size: u64,
    /// The time of its modification, in nanoseconds since 1970.
    pub modified: u64,
    /// The version of its object.
    pub version: u64,
    /// Bytes of content in a segment.
    pub segment_size: u32,
    /// The fan-out of its manifest.
    pub fanout: u32,
    /// The digests of its segments or of the leaves of its manifest: those that
    /// [`security::manifest::Unsigned::new`] needs.
    pub below: Arc<[Digest]>,
}

/// The first line of the file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the tree: digests depend on it.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The version of the tree.
    pub version: u64,
    /// The digest of its top page, in hexadecimal digits, with the folder's attributes.
    pub top: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    size: u64,
    modified: u64,
    version: u64,
    segment_size: u32,
    fanout: u32,
    digests: String,
}

/// Reads the digests of a tree; none if the file is missing or belongs to another tree.
pub fn read(path: &Path, name: &str, folder: &Path) -> (Header, BTreeMap<Vec<u8>, Hashed>) {
    read_same(path, name, folder).unwrap_or_else(|| {
        let header =
            Header { name: name.to_owned(), folder: folder.to_owned(), ..Header::default() };
        (header, BTreeMap::new())
    })
}

/// `None` without a file of this tree.
fn read_same(
    path: &Path,
    name: &str,
    folder: &Path,
) -> Option<(Header, BTreeMap<Vec<u8>, Hashed>)> {
    let file = File::open(path).ok()?;
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let header: Header = serde_json::from_str(&lines.next()?).ok()?;
    if header.name != name || header.folder != folder {
        return None;
    }
    let files = lines.filter_map(|line| {
        let line: Line = serde_json::from_str(&line).ok()?;
        let Line { path, size, modified, version, segment_size, fanout, .. } = line;
        let below = from_hex(&line.digests)?;
        let hashed = Hashed { size, modified, version, segment_size, fanout, below };
        Some((path.into_bytes(), hashed))
    });
    let files = files.collect();
    Some((header, files))
}

/// Writes the digests of a tree, in place of the former file.
///
/// # Errors
/// The file cannot be written.
pub fn write<'a>(
    path: &Path,
    header: &Header,
    files: impl Iterator<Item = (&'a [u8], &'a Hashed)>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    crate::file::private_folder(folder)?;
    let mut out = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    serde_json::to_writer(&mut out, header)?;
    out.write_all(b"\n")?;
    for (path, hashed) in files {
        // Names in other encodings are rare, and hashed again after a restart.
        let Ok(path) = std::str::from_utf8(path) else { continue };
        let line = Line {
            path: path.to_owned(),
            size: hashed.size,
            modified: hashed.modified,
            version: hashed.version,
            segment_size: hashed.segment_size,
            fanout: hashed.fanout,
            digests: to_hex(hashed.below.as_flattened()),
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path)?;
    Ok(())
}

/// Bytes as hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn from_hex(text: &str) -> Option<Arc<[Digest]>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = Vec::with_capacity(pairs.len());
    for [high, low] in pairs {
        let (high, low) = (char::from(*high).to_digit(16)?, char::from(*low).to_digit(16)?);
        bytes.push((high * 16 + low) as u8);
    }
    let (digests, left) = bytes.as_chunks();
    if !rest.is_empty() || !left.is_empty() || digests.is_empty() {
        return None;
    }
    Some(digests.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_were_written_and_only_for_their_tree() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trees/a.json");
        let of = |n: u8| Hashed {
            size: 7,
            modified: 1_700_000_000_123_456_789,
            version: 3,
            segment_size: 8000,
            fanout: 250,
            below: vec![[n; 32], [0xa5; 32]].into(),
        };
        let header = Header {
            name: "/a".to_owned(),
            folder: "/srv".into(),
            version: 9,
            top: "ab".to_owned(),
        };
        let files = [(&b"x/y"[..], of(1)), (b"\xff", of(2)), (b"z", of(3))];
        let all = files.iter().map(|(path, hashed)| (*path, hashed));
        write(&path, &header, all).unwrap();
        let (again, found) = read(&path, "/a", Path::new("/srv"));
        assert_eq!(again, header);
        let expected = [(b"x/y".to_vec(), of(1)), (b"z".to_vec(), of(3))];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
        for (name, folder) in [("/b", "/srv"), ("/a", "/other")] {
            assert!(read(&path, name, Path::new(folder)).1.is_empty());
        }
    }

    #[test]
    fn damage_costs_no_more_than_hashing_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        for text in ["", "{", "\0\0", "{\"name\":\"/a\"}\n{}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(read(&path, "/a", Path::new("/srv")).1.is_empty(), "{text}");
        }
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex(&"0g".repeat(32)), None);
        assert_eq!(from_hex(&"0f".repeat(32)).unwrap()[..], [[15; 32]]);
    }
}
