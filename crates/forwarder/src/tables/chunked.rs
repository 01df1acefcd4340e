//! A vector in chunks: it grows without moving what it holds, never reserves more than one chunk
//! ahead, and gives memory back from its end.

use super::memory;

/// Items in a chunk. Small, so that a table with a small limit on its memory is not all reserve.
const CHUNK: usize = 64;

/// Items addressed by `u32`; all chunks are full of initialised items.
#[derive(Clone, Debug)]
pub(crate) struct Chunked<T> {
    chunks: Vec<Box<[T; CHUNK]>>,
}

impl<T> Chunked<T> {
    pub(crate) const fn new() -> Self {
        Chunked { chunks: Vec::new() }
    }

    /// Items there is room for; every index below it is valid.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        memory::block(self.chunks.capacity() * size_of::<Box<[T; CHUNK]>>())
            + self.chunks.len() * memory::block(CHUNK * size_of::<T>())
    }

    /// Bytes that [`Chunked::ensure`] would add for `capacity`, the old list of chunks included
    /// while it is being replaced by a longer one.
    pub(crate) fn growth(&self, capacity: usize) -> usize {
        let chunks = capacity.div_ceil(CHUNK);
        let added = chunks.saturating_sub(self.chunks.len());
        let mut bytes = added * memory::block(CHUNK * size_of::<T>());
        if chunks > self.chunks.capacity() {
            let longer = chunks.max(2 * self.chunks.capacity()).max(4);
            bytes += memory::block(longer * size_of::<Box<[T; CHUNK]>>());
        }
        bytes
    }

    /// Makes every index below `capacity` valid; `fill` makes new items.
    pub(crate) fn ensure(&mut self, capacity: usize, mut fill: impl FnMut() -> T) {
        while self.capacity() < capacity {
            let items: Box<[T]> = std::iter::repeat_with(&mut fill).take(CHUNK).collect();
            let Ok(chunk) = items.try_into() else {
                unreachable!("a chunk has exactly CHUNK items");
            };
            self.chunks.push(chunk);
        }
    }

    /// Drops whole chunks beyond the first `len` items.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.chunks.truncate(len.div_ceil(CHUNK));
        if self.chunks.len() * 4 < self.chunks.capacity() {
            self.chunks.shrink_to(self.chunks.len() * 2);
        }
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        self.chunks.get(index / CHUNK).map(|chunk| &chunk[index % CHUNK])
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        let index = index as usize;
        self.chunks.get_mut(index / CHUNK).map(|chunk| &mut chunk[index % CHUNK])
    }
}

impl<T> std::ops::Index<u32> for Chunked<T> {
    type Output = T;
    fn index(&self, index: u32) -> &T {
        let index = index as usize;
        &self.chunks[index / CHUNK][index % CHUNK]
    }
}

impl<T> std::ops::IndexMut<u32> for Chunked<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        let index = index as usize;
        &mut self.chunks[index / CHUNK][index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_chunks_and_gives_them_back() {
        let mut v: Chunked<u64> = Chunked::new();
        assert_eq!((v.capacity(), v.memory()), (0, 0));
        let before = v.growth(1);
        v.ensure(1, || 7);
        assert_eq!((v.capacity(), v.memory()), (64, before));
        assert_eq!(v.growth(64), 0);
        v.ensure(65, || 8);
        v[64] = 9;
        assert_eq!((v[63], v[64], v.get(127), v.get(128)), (7, 9, Some(&8), None));
        v.truncate(64);
        assert_eq!((v.capacity(), v.get(64)), (64, None));
    }

    #[test]
    fn growth_is_known_before_it_happens() {
        let mut v: Chunked<u64> = Chunked::new();
        // 64 numbers of 8 bytes a chunk; the list of chunks has room for 4, 8, 16 of them.
        let chunk = memory::block(512);
        for (chunks, list) in [(1, 4), (2, 0), (3, 0), (4, 0), (5, 8), (8, 0), (9, 16)] {
            let before = v.capacity() / 64;
            let listed = if list > 0 { memory::block(list * 8) } else { 0 };
            let expected = (chunks - before) * chunk + listed;
            assert_eq!(v.growth(chunks * 64), expected, "{chunks}");
            assert_eq!(v.growth(chunks * 64 - 63), expected, "{chunks}");
            v.ensure(chunks * 64, || 1);
            assert_eq!(v.growth(chunks * 64), 0);
        }
        assert_eq!(v.memory(), 9 * chunk + memory::block(16 * 8));
        // Of a list that is hardly used any more the rest is given back, too.
        v.truncate(4 * 64 - 1);
        assert_eq!((v.capacity(), v.memory()), (4 * 64, 4 * chunk + memory::block(16 * 8)));
        v.truncate(3 * 64);
        assert_eq!(v.memory(), 3 * chunk + memory::block(6 * 8));
        v.truncate(0);
        assert_eq!(v.memory(), 0);
        assert!(v.get(0).is_none() && v.get_mut(0).is_none());
    }
}
