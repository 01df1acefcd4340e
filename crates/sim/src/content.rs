//! Virtual content, which takes no memory: a function of the object's name and the offset.

use packet::Name;
use std::io;
use transport::publish::Source;
use xxhash_rust::xxh3::xxh3_64;

/// The virtual content of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Virtual {
    seed: u64,
    size: u64,
}

impl Virtual {
    pub fn new(name: &Name, size: u64) -> Virtual {
        Virtual { seed: xxh3_64(name.as_ref().as_bytes()), size }
    }

    /// The bytes 8n to 8n + 7. Multiplication by an odd number and the shift are invertible, so no
    /// two words of an object are equal. The product grows by a constant from word to word, so
    /// compilers can vectorise the loop.
    fn word(&self, n: u64) -> [u8; 8] {
        let z = self.seed.wrapping_add(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (z ^ (z >> 32)).to_le_bytes()
    }

    /// Fills `buffer` with the bytes from `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let skip = (offset % 8) as usize;
        let (first, rest) = buffer.split_at_mut(((8 - skip) % 8).min(buffer.len()));
        let mut word = offset / 8;
        if !first.is_empty() {
            first.copy_from_slice(&self.word(word)[skip..skip + first.len()]);
            word += 1;
        }
        let (words, last) = rest.as_chunks_mut::<8>();
        for bytes in words {
            *bytes = self.word(word);
            word += 1;
        }
        last.copy_from_slice(&self.word(word)[..last.len()]);
    }
}

impl Source for Virtual {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.size) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.fill(offset, buffer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_is_part_of_the_whole() {
        let name: Name = "/a".parse().unwrap();
        let source = Virtual::new(&name, 100);
        let mut whole = vec![0; 100];
        source.read_at(0, &mut whole).unwrap();
        for from in 0..40 {
            for len in 0..40 {
                let mut part = vec![0; len];
                source.read_at(from as u64, &mut part).unwrap();
                assert_eq!(part, whole[from..from + len]);
            }
        }
        assert!(source.read_at(61, &mut [0; 40]).is_err());
        let mut other = vec![0; 100];
        Virtual::new(&"/b".parse().unwrap(), 100).fill(0, &mut other);
        assert_ne!(whole, other);
    }
}
