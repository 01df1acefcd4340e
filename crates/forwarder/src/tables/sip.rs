//! SipHash-1-3 of an octet string and of its beginnings, in one pass.
//!
//! Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012, with one compression
//! and three finalisation rounds. Libraries hash one string; the prefixes of a name are beginnings
//! of one string, and the words that they share are compressed once here.

/// The state after whole words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sip {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl Sip {
    /// The state before the first word.
    #[inline]
    pub(super) fn new([k0, k1]: [u64; 2]) -> Sip {
        Sip {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        }
    }

    #[inline(always)]
    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.rotate_left(32);
    }

    /// Takes the next eight bytes, the first one lowest.
    #[inline(always)]
    pub(super) fn word(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.v0 ^= word;
    }

    /// The hash of a string of `len` bytes whose last `len % 8` are `rest`, the first one lowest.
    #[inline(always)]
    pub(super) fn finish(mut self, rest: u64, len: usize) -> u64 {
        self.word((len as u64) << 56 | rest);
        self.v2 ^= 0xff;
        self.round();
        self.round();
        self.round();
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }

    /// Takes the bytes of `string` from `start`, the end of a word, as far as they are whole words
    /// before `end`; gives where they end.
    #[inline(always)]
    pub(super) fn words(&mut self, string: &[u8], start: usize, end: usize) -> usize {
        let (words, _) = string[start..end].as_chunks::<8>();
        for bytes in words {
            self.word(u64::from_le_bytes(*bytes));
        }
        start + 8 * words.len()
    }

    /// The hash of `string[..end]`, of which the bytes before `start` were taken and fewer than
    /// eight are left.
    #[inline(always)]
    pub(super) fn end(self, string: &[u8], start: usize, end: usize) -> u64 {
        let left = end - start;
        debug_assert!(left < 8, "whole words are taken first");
        let rest = if let Some(bytes) = string[start..].first_chunk::<8>() {
            u64::from_le_bytes(*bytes) & ((1 << (8 * left)) - 1)
        } else {
            string[start..end].iter().rev().fold(0, |rest, byte| rest << 8 | u64::from(*byte))
        };
        self.finish(rest, end)
    }

    /// The hash of a string.
    #[inline]
    pub(super) fn hash(mut self, string: &[u8]) -> u64 {
        let start = self.words(string, 0, string.len());
        self.end(string, start, string.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use siphasher::sip::SipHasher13;

    #[test]
    fn it_is_the_hash_that_the_library_makes() {
        let string: Vec<u8> = (0..600u32).map(|i| ((i * i) >> 3) as u8).collect();
        for keys in [[0, 0], [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]] {
            let library = SipHasher13::new_with_keys(keys[0], keys[1]);
            for end in 0..string.len() {
                assert_eq!(Sip::new(keys).hash(&string[..end]), library.hash(&string[..end]));
            }
            // Beginnings of a longer string, on the way.
            let (mut sip, mut start) = (Sip::new(keys), 0);
            for end in [0, 3, 7, 8, 9, 23, 24, 100, 599] {
                start = sip.words(&string, start, end);
                assert_eq!(sip.end(&string, start, end), library.hash(&string[..end]), "{end}");
            }
        }
    }
}
