//! PIT tokens as they are kept in in-records.

/// The longest token that NDNLPv2 allows, in bytes.
pub const MAX_TOKEN: usize = 32;

/// Bytes that fit without an allocation. Peers send 6 or 8.
const INLINE: usize = 14;

/// The PIT token of a downstream: 0 to 32 bytes that mean something to the downstream alone and go
/// back to it unchanged on Data and Nacks. No token and an empty one are the same.
#[derive(Clone, Debug)]
pub struct PitToken(Bytes);

#[derive(Clone, Debug)]
enum Bytes {
    Inline(u8, [u8; INLINE]),
    Boxed(u8, Box<[u8; MAX_TOKEN]>),
}

impl PitToken {
    /// No token.
    pub const NONE: PitToken = PitToken(Bytes::Inline(0, [0; INLINE]));

    /// A token of these bytes; `None` if they are more than [`MAX_TOKEN`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<PitToken> {
        let len = bytes.len();
        if len <= INLINE {
            let mut inline = [0; INLINE];
            inline[..len].copy_from_slice(bytes);
            Some(PitToken(Bytes::Inline(len as u8, inline)))
        } else if len <= MAX_TOKEN {
            let mut boxed = Box::new([0; MAX_TOKEN]);
            boxed[..len].copy_from_slice(bytes);
            Some(PitToken(Bytes::Boxed(len as u8, boxed)))
        } else {
            None
        }
    }

    /// Its bytes; empty if there is no token.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Inline(len, bytes) => &bytes[..usize::from(*len)],
            Bytes::Boxed(len, bytes) => &bytes[..usize::from(*len)],
        }
    }

    /// True if there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Bytes of memory outside the token itself.
    pub(crate) fn heap(&self) -> usize {
        match self.0 {
            Bytes::Inline(..) => 0,
            Bytes::Boxed(..) => super::memory::block(MAX_TOKEN),
        }
    }
}

impl Default for PitToken {
    fn default() -> Self {
        PitToken::NONE
    }
}

impl PartialEq for PitToken {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for PitToken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_come_back_unchanged() {
        let bytes: Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            let token = PitToken::new(&bytes[..len]);
            assert_eq!(token.is_some(), len <= 32);
            if let Some(token) = token {
                assert_eq!(token.as_bytes(), &bytes[..len]);
                assert_eq!(token.is_empty(), len == 0);
            }
        }
        assert_eq!(size_of::<PitToken>(), 16);
    }
}
