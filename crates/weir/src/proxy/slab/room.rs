//! The room of bytes in the file.

/// The unit in which blocks take space. Each costs four bytes of memory.
pub const PAGE: u64 = 16 * 1024;

/// A block: the number of its object, and its place there.
pub type Key = (u64, u64);

/// The places of appended bytes.
pub struct Room {
    /// Places in the file, with their lengths.
    pub runs: Vec<(u64, usize)>,
    /// Pages for which the disk has to be asked.
    pub new: Vec<u32>,
    /// The disk had no room before.
    pub is_trial: bool,
}

/// The places in the file of `len` bytes from `offset` on, and their lengths. Neighbours are one.
pub fn runs(pages: &[u32], offset: u64, len: usize) -> Vec<(u64, usize)> {
    let mut runs: Vec<(u64, usize)> = Vec::new();
    let (mut offset, mut rest) = (offset, len);
    while rest > 0 {
        let (page, within) = (offset / PAGE, offset % PAGE);
        let Some(page) = pages.get(page as usize) else { break };
        let some = rest.min((PAGE - within) as usize);
        let at = u64::from(*page) * PAGE + within;
        match runs.last_mut() {
            Some((begin, len)) if *begin + *len as u64 == at => *len += some,
            _ => runs.push((at, some)),
        }
        offset += some as u64;
        rest -= some;
    }
    runs
}
