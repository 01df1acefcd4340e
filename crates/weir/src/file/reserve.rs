//! Disk space that is reserved before the bytes come.
//!
//! Space reserved early keeps a file in one piece and shows a full disk before hours of transfer.
//! The length of an object, though, is a claim of its sender. A claim that a trusted key has signed
//! is reserved whole. Otherwise no more is reserved than has been received, so that a sender has to
//! send bytes to take bytes.

use control::Size;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstatvfs, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// The minimum and the maximum that is reserved beyond the received bytes.
const LEAST: u64 = 1_000_000;
const MOST: u64 = 256_000_000;

/// The reserved space of a file.
#[derive(Debug)]
pub struct Reserve {
    /// Everything before is reserved, or could not be.
    end: u64,
    /// The received bytes, of this transfer and earlier ones.
    received: u64,
    /// The announced size of the file, if any.
    size: Option<u64>,
}

impl Reserve {
    /// A file with `there` bytes up to `end`, and the final `size`.
    pub fn new(end: u64, there: u64, size: Option<u64>) -> Reserve {
        Reserve { end, received: there, size }
    }

    /// `len` bytes that end at `end` are about to be written. Failed reservations are no error
    /// here: the write that needs the space reports it.
    pub fn before_write(&mut self, file: &File, end: u64, len: u64) {
        self.received = self.received.saturating_add(len);
        if end <= self.end {
            return;
        }
        let to = end.saturating_add(self.received.clamp(LEAST, MOST));
        let to = self.size.map_or(to, |size| to.min(size.max(end)));
        let reserved = reserve(file, self.end, to);
        if reserved.is_err() {
            // A partial reservation is released.
            let _ = file.metadata().and_then(|meta| file.set_len(meta.len()));
        }
        self.end = to;
    }

    /// The file will have at most `size` bytes. Rejects a size that does not fit. Reserves all of
    /// it if a trusted key has signed the size.
    ///
    /// # Errors
    /// The disk has too little space, or the file system rejects files of that length, as FAT
    /// rejects 4 GiB.
    pub fn bound(&mut self, file: &File, size: u64, is_signed: bool) -> io::Result<()> {
        self.size = Some(size);
        let there = file.metadata()?.blocks().saturating_mul(512);
        check_room(file, size.saturating_sub(there))?;
        check_length(file, size)?;
        if is_signed && size > self.end {
            reserve(file, self.end, size)?;
            self.end = size;
        }
        Ok(())
    }
}

/// Rejects a disk with less than `need`; the error has the numbers.
fn check_room(file: &File, need: u64) -> io::Result<()> {
    match free(file).filter(|free| need > *free) {
        Some(free) => Err(too_little("it", need, free)),
        None => Ok(()),
    }
}

/// The free bytes on the file system of a file or directory; `None` if they are unknown, as in some
/// file systems in user space.
pub fn free(file: impl AsFd) -> Option<u64> {
    let stat = fstatvfs(file).ok()?;
    (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The error if `what` needs more bytes than are free.
pub fn too_little(what: &str, need: u64, free: u64) -> io::Error {
    let (need, free) = (Size(need), Size(free));
    let why = format!("{what} needs {need} more, and {free} are free there");
    io::Error::new(io::ErrorKind::StorageFull, why)
}

/// Rejects a length that the file system does not allow. lseek(2) checks the limit.
fn check_length(file: &File, size: u64) -> io::Result<()> {
    match seek(file, SeekFrom::Start(size)) {
        Err(Errno::INVAL | Errno::OVERFLOW) => {
            let why = format!("the file system takes no file of {}", Size(size));
            Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
        }
        // Bytes are written at offsets of their own, so the position does not matter.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Takes the space; the file's length stays. File systems without this function are no obstacle:
/// the file has holes until they are written.
fn reserve(file: &File, from: u64, to: u64) -> io::Result<()> {
    if to <= from {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, from, to - from) {
        Err(error @ (Errno::NOSPC | Errno::FBIG | Errno::DQUOT)) => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes on the disk, if its file system reserves any.
    fn taken(file: &File) -> u64 {
        file.metadata().unwrap().blocks() * 512
    }

    #[test]
    fn unsigned_objects_reserve_at_most_one_step_ahead() {
        let file = tempfile::tempfile().unwrap();
        let mut reserve = Reserve::new(0, 0, Some(1 << 50));
        let mut end = 0;
        while end < 8 * LEAST {
            reserve.before_write(&file, end + LEAST / 2, LEAST / 2);
            end += LEAST / 2;
            // Blocks and extents are rounded up by the file system.
            let most = 2 * end + LEAST + (1 << 20);
            assert!(taken(&file) <= most && reserve.end <= most, "{end}: {}", taken(&file));
            assert!(reserve.end >= end);
        }
        assert_eq!(file.metadata().unwrap().len(), 0, "the length stays");
    }

    #[test]
    fn nothing_is_reserved_behind_the_end() {
        let file = tempfile::tempfile().unwrap();
        let mut reserve = Reserve::new(0, 0, Some(5000));
        reserve.before_write(&file, 1000, 1000);
        assert_eq!(reserve.end, 5000);
        // A size that was too small is ignored.
        reserve.before_write(&file, 7000, 1000);
        assert_eq!(reserve.end, 7000);
    }

    #[test]
    fn a_too_large_reservation_fails_with_the_numbers_and_takes_nothing() {
        for is_signed in [true, false] {
            let file = tempfile::tempfile().unwrap();
            let mut reserve = Reserve::new(0, 0, None);
            let error = reserve.bound(&file, 1_000_000_000_000_000_000, is_signed).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            let error = error.to_string();
            assert!(error.starts_with("it needs 1000000 TB more, and "), "{error}");
            assert!(error.ends_with(" are free there"), "{error}");
            assert!(taken(&file) < LEAST);
        }
    }

    #[test]
    fn a_length_that_no_file_may_have_is_rejected() {
        let file = tempfile::tempfile().unwrap();
        check_length(&file, 1_000_000).unwrap();
        let error = check_length(&file, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let error = error.to_string();
        assert!(error.starts_with("the file system takes no file of "), "{error}");
    }

    #[test]
    fn a_signed_size_is_reserved_whole_and_another_is_not() {
        for (is_signed, end) in [(true, 3 * LEAST), (false, 0)] {
            let file = tempfile::tempfile().unwrap();
            let mut reserve = Reserve::new(0, 0, Some(1 << 50));
            reserve.bound(&file, 3 * LEAST, is_signed).unwrap();
            assert_eq!(reserve.end, end);
            reserve.before_write(&file, 10 * LEAST, 1);
            assert_eq!(reserve.end, 10 * LEAST, "the bound took the hint's place");
        }
    }
}
