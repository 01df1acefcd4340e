//! Blobs: files under their digests.

use crate::Digest;
use crate::error::StoreError;
use sha2::{Digest as _, Sha256};
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Bytes that are read at a time.
pub const BLOCK: usize = 1 << 20;

/// The digits of a digest.
pub fn hex(digest: &Digest) -> String {
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The digest with these digits.
pub fn parse(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let is_upper = text.bytes().any(|c| c.is_ascii_uppercase());
    if pairs.len() != digest.len() || !rest.is_empty() || is_upper {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|c| char::from(c).to_digit(16));
        *byte = (high? * 16 + low?) as u8;
    }
    Some(digest)
}

/// The folder of all blobs.
pub fn folder(store: &Path) -> PathBuf {
    store.join("blobs")
}

/// The file of a blob.
pub fn path(store: &Path, digest: &Digest) -> PathBuf {
    let name = hex(digest);
    folder(store).join(&name[..2]).join(name)
}

/// Moves a file to its place, and returns that. [`sync_folder`] makes it durable: of its folder, of
/// that of all blobs, and of the store.
pub fn place(store: &Path, digest: &Digest, from: &Path) -> Result<PathBuf, StoreError> {
    let to = path(store, digest);
    let parent = to.parent().unwrap_or(store);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    made.map_err(StoreError::file(parent))?;
    std::fs::rename(from, &to).map_err(StoreError::file(&to))?;
    Ok(to)
}

/// Makes the names of blobs in a folder durable.
pub fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(StoreError::file(path))
}

/// All files in the folder of blobs, with their digests; none for a file that has no such name.
/// Symbolic links are not followed and not listed: the store makes none.
pub fn all(store: &Path) -> Result<Vec<(PathBuf, Option<Digest>)>, StoreError> {
    let mut found = Vec::new();
    for folder in list(&folder(store))? {
        if is_file(&folder) {
            found.push((folder, None));
            continue;
        }
        if folder.is_symlink() {
            continue;
        }
        for file in list(&folder)?.into_iter().filter(|file| is_file(file)) {
            let digest = file.file_name().and_then(|name| parse(name.to_str()?));
            let digest = digest.filter(|digest| path(store, digest) == file);
            found.push((file, digest));
        }
    }
    Ok(found)
}

/// The SHA-256 of a file, and its size in bytes.
pub fn sum(path: &Path) -> io::Result<(Digest, u64)> {
    let (mut file, mut sum, mut len) = (File::open(path)?, Sha256::new(), 0);
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok((sum.finalize().into(), len)),
            read => {
                sum.update(&block[..read]);
                len += read as u64;
            }
        }
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

/// The entries of a folder; none if it is not there.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = StoreError::file(folder);
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_one_text() {
        let digest: Digest = std::array::from_fn(|n| n as u8 * 7);
        assert_eq!(parse(&hex(&digest)), Some(digest));
        for bad in ["", "00", &hex(&digest).to_uppercase(), &hex(&digest)[1..]] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
