//! The bytes of a published file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use transport::publish::Source;

/// Segments are requested mostly in order; reading this number of bytes at a time saves system
/// calls.
const BLOCK: usize = 256 * 1024;

/// A published file. It is not read as a whole: memory stays small whatever its size.
pub struct FileSource {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    is_named: bool,
    /// The last block read.
    block: Mutex<Block>,
}

/// Bytes of a file, from the offset `start`.
#[derive(Default)]
struct Block {
    start: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// The `len` bytes of the file at `offset`; `None` if the block has not all of them.
    fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }
}

/// Attributes that change with a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: (i64, i64),
    /// Device and inode: another file may have taken the name.
    identity: (u64, u64),
}

impl FileSource {
    /// Opens a regular file.
    ///
    /// # Errors
    /// It cannot be opened, or is no regular file.
    pub fn open(path: &Path) -> io::Result<FileSource> {
        // A pipe is not waited for.
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        FileSource::new(file, path.to_owned(), true)
    }

    /// Opens a regular file, but no symbolic link.
    ///
    /// # Errors
    /// As for [`FileSource::open`].
    pub fn open_here(path: &Path) -> io::Result<FileSource> {
        let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        FileSource::new(file, path.to_owned(), true)
    }

    /// The time of the modification when the file was opened, in nanoseconds since 1970.
    #[must_use]
    pub fn modified(&self) -> u64 {
        let (seconds, nanoseconds) = self.stamp.modified;
        let all = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
        u64::try_from(all).unwrap_or(0)
    }

    /// Copies all of `input`, such as standard input, into a temporary file that ends with the
    /// process, because the producer needs all of it before it can sign.
    ///
    /// # Errors
    /// Reading fails, or the temporary file cannot be written.
    pub fn spool(input: &mut dyn Read) -> io::Result<FileSource> {
        let mut file = tempfile::tempfile()?;
        io::copy(input, &mut file)?;
        FileSource::new(file, PathBuf::from("standard input"), false)
    }

    fn new(file: File, path: PathBuf, is_named: bool) -> io::Result<FileSource> {
        let stamp = Stamp::of(&file)?;
        if stamp.size == 0 && file.read_at(&mut [0], 0)? > 0 && Stamp::of(&file)?.size == 0 {
            let why = "the system makes its bytes when it is read, as in /proc: copy it first";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(FileSource { file, path, stamp, is_named, block: Mutex::default() })
    }

    /// The version under which the file is published: the time of its last change, in milliseconds
    /// since 1970. An unchanged file has the same version, segments and signatures when it is
    /// published again, so that interrupted transfers resume after a producer's restart.
    #[must_use]
    pub fn version(&self) -> u64 {
        let (seconds, nanoseconds) = self.stamp.modified;
        let millis = seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000);
        u64::try_from(millis).unwrap_or(0)
    }

    /// A second source of the same file, which detects changes since it was opened.
    ///
    /// # Errors
    ///
    /// The system has no more file descriptors.
    pub fn watch(&self) -> io::Result<Watch> {
        let (path, stamp, is_named) = (self.path.clone(), self.stamp, self.is_named);
        Ok(Watch { file: self.file.try_clone()?, path, stamp, is_named })
    }
}

/// Detects changes of a published file.
pub struct Watch {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    /// The path is that of the file, and no description of it.
    is_named: bool,
}

impl Watch {
    /// The file's path, if the file has changed.
    #[must_use]
    pub fn changed(&self) -> Option<&Path> {
        let same = Stamp::of(&self.file).is_ok_and(|stamp| stamp == self.stamp);
        // The name may be gone: the file is still open. It may also be another file's by now.
        let named = std::fs::metadata(&self.path).ok().filter(|_| self.is_named);
        let replaced = named.is_some_and(|meta| Stamp::from(&meta) != self.stamp);
        (!same || replaced).then_some(&self.path)
    }
}

impl Stamp {
    fn of(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::from(&file.metadata()?))
    }

    fn from(meta: &Metadata) -> Stamp {
        Stamp {
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            identity: (meta.dev(), meta.ino()),
        }
    }
}

impl Source for FileSource {
    fn size(&self) -> u64 {
        self.stamp.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read(offset, buffer).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
        })
    }

    fn may_change(&self) -> bool {
        true
    }
}

impl FileSource {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Several threads hash one file: a thread that does not get the block reads for itself.
        let Ok(mut block) = self.block.try_lock() else {
            return self.file.read_exact_at(buffer, offset);
        };
        if block.get(offset, buffer.len()).is_none() {
            let left = self.stamp.size.saturating_sub(offset);
            let len = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK).max(buffer.len());
            block.bytes.resize(len, 0);
            block.start = offset;
            if let Err(error) = self.file.read_exact_at(&mut block.bytes, offset) {
                block.bytes.clear();
                return Err(error);
            }
        }
        let bytes = block.get(offset, buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn every_byte_is_where_it_was() {
        let content: Vec<u8> = (0..700_000u32).map(|n| (n % 251) as u8).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        let source = FileSource::open(file.path()).unwrap();
        for offset in [0, 8000, 255_000, 256_000, 692_000, 4, 699_000] {
            let len = 8000.min(content.len() - offset);
            let mut buffer = vec![0; len];
            source.read_at(offset as u64, &mut buffer).unwrap();
            assert!(buffer == content[offset..offset + len], "at {offset}");
        }
        assert!(source.read_at(699_999, &mut [0; 2]).is_err(), "beyond the end");
    }

    #[test]
    fn files_without_a_size_are_rejected_and_empty_ones_are_not() {
        let rejected = FileSource::open(Path::new("/proc/self/status")).map(drop).unwrap_err();
        assert!(rejected.to_string().contains("copy it first"), "{rejected}");
        let empty = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(FileSource::open(empty.path()).unwrap().size(), 0);
    }

    #[test]
    fn a_change_shows() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"before").unwrap();
        let watch = FileSource::open(file.path()).unwrap().watch().unwrap();
        assert_eq!(watch.changed(), None);
        file.write_all(b"after").unwrap();
        assert_eq!(watch.changed(), Some(file.path()));
    }

    #[test]
    fn another_file_of_the_name_is_a_change_and_no_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("file"), dir.path().join("other"));
        std::fs::write(&path, "before").unwrap();
        std::fs::write(&other, "before").unwrap();
        let watch = FileSource::open(&path).unwrap().watch().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(watch.changed(), None);
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(watch.changed(), Some(&*path));
    }

    #[test]
    fn a_stream_is_spooled_and_a_directory_rejected() {
        let source = FileSource::spool(&mut &b"from a pipe"[..]).unwrap();
        let mut buffer = [0; 4];
        source.read_at(7, &mut buffer).unwrap();
        assert_eq!((source.size(), &buffer), (11, b"pipe"));
        assert!(FileSource::open(Path::new("/")).is_err());
    }
}
