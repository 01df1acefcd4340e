//! A file to fetch, and its segments that the folder has.

use super::target::Dress;
use packet::Name;
use security::Digest;
use std::fs::File;
use std::os::unix::fs::FileExt;
use transport::fetch::batch::Known;
use transport::publish::segment_digest;
use xxhash_rust::xxh3::Xxh3;

/// A file to fetch.
pub struct FileJob {
    /// The directory below the folder.
    pub directory: Vec<u8>,
    /// The name in it.
    pub name: Vec<u8>,
    /// Its attributes.
    pub dress: Dress,
    /// Its object.
    pub object: Name,
    /// Bytes of the file.
    pub size: u64,
    /// Bytes of content in a segment.
    pub segment_size: u64,
    /// The number of its last segment.
    pub last: u64,
    /// Its content is kept in memory until it is complete.
    pub is_small: bool,
    /// Bytes of the file of this name in the folder, if it exists.
    pub former_size: Option<u64>,
    /// The former file changed while it was compared.
    pub is_changing: bool,
    /// Its digests, to request it again; `None` if it is small.
    pub known: Option<Known>,
}

/// A run of segments in the former file.
pub struct Same {
    first: u64,
    count: u64,
    /// The XXH3 of their content.
    sum: u64,
}

impl FileJob {
    /// The path below the folder.
    pub fn path(&self) -> Vec<u8> {
        super::scan::below(&self.directory, &self.name)
    }

    /// The place and the length of a segment.
    pub fn range_of(&self, segment: u64) -> (u64, usize) {
        let offset = segment.saturating_mul(self.segment_size);
        (offset, self.size.saturating_sub(offset).min(self.segment_size) as usize)
    }

    /// True if a file of the right size is in the folder, and does not change.
    pub fn may_be_same(&self) -> bool {
        self.former_size == Some(self.size) && !self.is_changing
    }

    /// The run of segments that begins with `first`, if the former file has all of them.
    pub fn same(&self, former: &File, first: u64, digests: &[Digest]) -> Option<Same> {
        let mut sum = Xxh3::new();
        for (segment, digest) in (first..).zip(digests) {
            sum.update(&self.segment_in(former, segment, digest)?);
        }
        Some(Same { first, count: digests.len() as u64, sum: sum.digest() })
    }

    /// Copies segments of the former file, which must not have changed.
    ///
    /// # Errors
    /// They have changed, or a file cannot be read or written.
    pub fn copy(&self, same: &[Same], former: Option<&File>, part: &File) -> std::io::Result<()> {
        for run in same {
            let former = former.ok_or(std::io::ErrorKind::NotFound)?;
            let mut sum = Xxh3::new();
            for segment in run.first..run.first.saturating_add(run.count) {
                let (offset, len) = self.range_of(segment);
                let mut content = vec![0; len];
                former.read_exact_at(&mut content, offset)?;
                sum.update(&content);
                part.write_all_at(&content, offset)?;
            }
            if sum.digest() != run.sum {
                return Err(std::io::Error::other("another program has changed it meanwhile"));
            }
        }
        Ok(())
    }

    /// The content of a segment in `file`, if it is the wanted one.
    pub fn segment_in(&self, file: &File, segment: u64, digest: &Digest) -> Option<Vec<u8>> {
        let (offset, len) = self.range_of(segment);
        let mut content = vec![0; len];
        file.read_exact_at(&mut content, offset).ok()?;
        let found = segment_digest(&self.object, self.last, segment, &content);
        (found == *digest).then_some(content)
    }
}
