//! The space that a tree needs on the disk.

use rustix::fs::Stat;
use std::io;

/// The bytes that the files listed so far need beyond those in the folder. It is an estimate: a
/// tree is rejected only if it does not fit in any case.
pub struct Space {
    /// The bytes that were free at first, if known.
    free: Option<u64>,
    needed: u64,
}

impl Space {
    /// Without any listed file.
    pub fn new(free: Option<u64>) -> Space {
        Space { free, needed: 0 }
    }

    /// Counts more bytes; an error if the missing bytes have no room. `fetched` bytes of the
    /// counted ones are on the disk.
    pub fn take(
        &mut self,
        bytes: u64,
        what: &str,
        fetched: u64,
        free: impl Fn() -> Option<u64>,
    ) -> io::Result<()> {
        self.needed = self.needed.saturating_add(bytes);
        if self.free.is_none_or(|free| self.needed <= free) {
            return Ok(());
        }
        // Removed files have made room meanwhile.
        let missing = self.needed.saturating_sub(fetched);
        match free().filter(|free| missing > *free) {
            Some(free) => Err(crate::file::too_little(what, missing, free)),
            None => Ok(()),
        }
    }
}

/// The bytes that a file of `size` bytes needs beyond those of its former and its incomplete file.
pub fn beyond(size: u64, former: Option<&Stat>, part: Option<&Stat>) -> u64 {
    // Nothing is written if the content is equal to that of the former file.
    if former.is_some_and(|stat| stat.st_size as u64 == size) {
        return 0;
    }
    // A sparse or compressed file has fewer blocks, and so may the next one.
    let former = former.map_or(0, |stat| (stat.st_size as u64).max(stat.st_blocks as u64 * 512));
    let part = part.map_or(0, |stat| stat.st_blocks as u64 * 512);
    size.saturating_sub(former.saturating_add(part))
}

/// True if files may take less than their size on this file system.
#[cfg(target_os = "linux")]
pub fn compresses(file: impl std::os::fd::AsFd) -> bool {
    // The f_type of btrfs, ZFS, bcachefs and F2FS.
    const KINDS: [u32; 4] = [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e, 0xf2f5_2010];
    rustix::fs::fstatfs(file).is_ok_and(|stat| KINDS.contains(&(stat.f_type as u32)))
}

/// True if files may take less than their size on this file system.
#[cfg(not(target_os = "linux"))]
pub fn compresses(_file: impl std::os::fd::AsFd) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::stat;

    #[test]
    fn the_space_is_read_again_before_a_tree_is_rejected() {
        let mut space = Space { free: Some(100), needed: 0 };
        space.take(100, "it", 0, || unreachable!()).unwrap();
        // 60 bytes are written, and 25 were removed.
        space.take(20, "it", 60, || Some(65)).unwrap();
        space.take(5, "it", 60, || Some(65)).unwrap();
        let error = space.take(1, "it", 60, || Some(65)).unwrap_err();
        assert!(error.to_string().contains("it needs 66.0 B more, and 65.0 B are free"), "{error}");
        Space { free: None, needed: 0 }.take(u64::MAX, "it", 0, || Some(0)).unwrap();
    }

    #[test]
    fn former_files_count_with_their_holes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        std::fs::File::create(&path).unwrap().set_len(1_000_000).unwrap();
        let former = stat(&path).unwrap();
        assert!((former.st_blocks as u64) < 1000);
        assert_eq!(beyond(1_000_000, Some(&former), None), 0);
        assert_eq!(beyond(1_000_001, Some(&former), None), 1);
        assert_eq!(beyond(1_000_001, None, None), 1_000_001);
    }
}
