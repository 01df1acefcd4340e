//! What an allocation really takes.

/// The octets that the allocator sets aside for a block of `size` octets: what was asked for, a
/// header of one word, rounded up to 16, at least 32 (the GNU C library's allocator; musl and the
/// size classes of others differ by a few percent). Nothing is allocated for an empty block.
#[must_use]
pub const fn block(size: usize) -> usize {
    if size == 0 {
        return 0;
    }
    let rounded = (size + 8 + 15) & !15;
    if rounded < 32 { 32 } else { rounded }
}

/// Where in `outer` its part `inner` begins.
pub(super) fn offset_of(outer: &[u8], inner: &[u8]) -> usize {
    if inner.is_empty() {
        return 0;
    }
    let at = (inner.as_ptr() as usize).wrapping_sub(outer.as_ptr() as usize);
    assert!(at < outer.len() && inner.len() <= outer.len() - at, "a view lies within its packet");
    at
}

#[cfg(test)]
mod tests {
    use super::block;

    #[test]
    fn blocks_are_rounded_as_the_allocator_does() {
        // malloc_usable_size is 24 for requests of 1 to 24, 40 for 25 to 40 …; the header adds 8.
        assert_eq!([0, 1, 24, 25, 40, 41].map(block), [0, 32, 32, 48, 48, 64]);
    }
}
