//! PIT tokens as they are kept in in-records.

/// The longest token that NDNLPv2 allows, in octets.
pub const MAX_TOKEN: usize = 32;

/// Octets that fit without an allocation. Peers send 6 or 8.
const INLINE: usize = 14;

/// The PIT token of a downstream: 0 to 32 octets that mean something to the downstream alone and go
/// back to it unchanged on Data and Nacks. No token and an empty one are the same.
#[derive(Clone, Debug)]
pub struct PitToken(Octets);

#[derive(Clone, Debug)]
enum Octets {
    Inline(u8, [u8; INLINE]),
    Boxed(u8, Box<[u8; MAX_TOKEN]>),
}

impl PitToken {
    /// No token.
    pub const NONE: PitToken = PitToken(Octets::Inline(0, [0; INLINE]));

    /// A token of these octets; `None` if they are more than [`MAX_TOKEN`].
    #[must_use]
    pub fn new(octets: &[u8]) -> Option<PitToken> {
        let len = octets.len();
        if len <= INLINE {
            let mut inline = [0; INLINE];
            inline[..len].copy_from_slice(octets);
            Some(PitToken(Octets::Inline(len as u8, inline)))
        } else if len <= MAX_TOKEN {
            let mut boxed = Box::new([0; MAX_TOKEN]);
            boxed[..len].copy_from_slice(octets);
            Some(PitToken(Octets::Boxed(len as u8, boxed)))
        } else {
            None
        }
    }

    /// Its octets; empty if there is no token.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Octets::Inline(len, octets) => &octets[..usize::from(*len)],
            Octets::Boxed(len, octets) => &octets[..usize::from(*len)],
        }
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    /// Octets of memory outside the token itself.
    pub(crate) fn heap(&self) -> usize {
        match self.0 {
            Octets::Inline(..) => 0,
            Octets::Boxed(..) => super::memory::block(MAX_TOKEN),
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
        let octets: Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            let token = PitToken::new(&octets[..len]);
            assert_eq!(token.is_some(), len <= 32);
            if let Some(token) = token {
                assert_eq!(token.as_bytes(), &octets[..len]);
                assert_eq!(token.is_empty(), len == 0);
            }
        }
        assert_eq!(size_of::<PitToken>(), 16);
    }
}
