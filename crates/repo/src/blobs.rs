//! Digests as text, and the files of blobs.

use crate::Digest;
use crate::error::StoreError;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The number of bytes of one read.
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

/// Makes the names of blobs in a folder durable.
pub fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(StoreError::file(path))
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
