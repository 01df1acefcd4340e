//! Hashes of a name and of all its prefixes, in one pass.

use control::Rng;
use packet::NameRef;
use packet::tlv::types::IMPLICIT_DIGEST;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The longest prefix that tables match by, in components. Routes, strategy choices and Interests
/// with CanBePrefix longer than this are refused; names as a whole may be longer. The bound keeps
/// the work for a packet of nothing but tiny components within that for an ordinary one.
pub const MAX_PREFIX: usize = 64;

/// Type and length of an implicit digest component.
pub(super) const DIGEST_HEADER: [u8; 2] = [IMPLICIT_DIGEST as u8, 32];

/// Hashes names with SipHash-1-3 under a secret key, so that nobody who does not know the key can
/// make names that fall into one bucket.
#[derive(Clone, Debug)]
pub struct NameHasher {
    keyed: SipHasher13,
}

/// A name with the hashes of its prefixes: made once for a packet, used by every table.
#[derive(Clone, Debug)]
pub struct HashedName<'a> {
    name: NameRef<'a>,
    components: usize,
    /// Prefixes in `hashes`, the empty one not counted.
    prefixes: usize,
    hashes: [u64; MAX_PREFIX + 1],
    /// Where in the name's octets each prefix ends.
    ends: [u16; MAX_PREFIX + 1],
    /// The state after the whole name; [`HashedName::with_component`] goes on from there.
    state: SipHasher13,
}

impl NameHasher {
    /// A hasher whose key comes from `seed`, which must be secret where names come from strangers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::stream(seed, &["name hash"]);
        NameHasher { keyed: SipHasher13::new_with_keys(rng.next_u64(), rng.next_u64()) }
    }

    /// The name with the hashes of its prefixes.
    #[must_use]
    pub fn hash<'a>(&self, name: NameRef<'a>) -> HashedName<'a> {
        let octets = name.as_bytes();
        let mut hashed = HashedName {
            name,
            components: 0,
            prefixes: 0,
            hashes: [0; MAX_PREFIX + 1],
            ends: [0; MAX_PREFIX + 1],
            state: self.keyed,
        };
        hashed.hashes[0] = hashed.state.finish();
        let mut start = 0;
        for end in name.prefix_ends() {
            hashed.components += 1;
            // A name that does not fit in a packet (it is longer than 65535 octets) is a local
            // mistake; its long prefixes match nothing.
            if let (..=MAX_PREFIX, Ok(short)) = (hashed.components, u16::try_from(end)) {
                hashed.state.write(&octets[start..end]);
                start = end;
                hashed.prefixes = hashed.components;
                hashed.hashes[hashed.prefixes] = hashed.state.finish();
                hashed.ends[hashed.prefixes] = short;
            }
        }
        hashed.state.write(&octets[start..]);
        hashed
    }

    /// A key for the pair of a name and a nonce, from the hash of the name.
    #[must_use]
    pub fn nonce_key(&self, name: u64, nonce: u32) -> u64 {
        let mut state = self.keyed;
        state.write_u64(name);
        state.write_u32(nonce);
        state.finish()
    }
}

impl<'a> HashedName<'a> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> NameRef<'a> {
        self.name
    }

    /// Components of the whole name.
    #[must_use]
    pub fn components(&self) -> usize {
        self.components
    }

    /// The longest prefix that has a hash of its own, in components: the whole name, or
    /// [`MAX_PREFIX`].
    #[must_use]
    pub fn longest_prefix(&self) -> usize {
        self.prefixes
    }

    /// The hash of the whole name, however long.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.state.finish()
    }

    /// Hash and octets of the prefix of `components`; `None` beyond [`HashedName::longest_prefix`].
    #[must_use]
    pub fn prefix(&self, components: usize) -> Option<(u64, &'a [u8])> {
        if components > self.prefixes {
            return None;
        }
        let end = usize::from(self.ends[components]);
        Some((self.hashes[components], &self.name.as_bytes()[..end]))
    }

    /// The digest that the name ends in, if its last component is an implicit digest.
    #[must_use]
    pub fn implicit_digest(&self) -> Option<&'a [u8]> {
        let last = self.components.checked_sub(1)?;
        let component = match self.prefix(last) {
            Some((_, before)) => &self.name.as_bytes()[before.len()..],
            None => {
                return self.name.last().filter(|c| c.typ() == IMPLICIT_DIGEST).map(|c| c.value());
            }
        };
        component.strip_prefix(&DIGEST_HEADER)
    }

    /// The hash of this name with one more component, given as it is encoded.
    #[must_use]
    pub fn with_component(&self, encoded: &[u8]) -> u64 {
        let mut state = self.state;
        state.write(encoded);
        state.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Name;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn a_prefix_hashes_as_the_name_that_it_is() {
        let hasher = NameHasher::new(1);
        let long = name("/a/bc/%00/seg=3/32=x");
        let hashed = hasher.hash(long.as_ref());
        assert_eq!((hashed.components(), hashed.longest_prefix()), (5, 5));
        for n in 0..=5 {
            let prefix = long.as_ref().prefix(n);
            let (hash, octets) = hashed.prefix(n).unwrap();
            assert_eq!(octets, prefix.as_bytes());
            assert_eq!(hash, hasher.hash(prefix).whole());
        }
        assert_eq!(hashed.prefix(6), None);
        assert_eq!(hashed.with_component(&[8, 1, b'z']), {
            let longer = name("/a/bc/%00/seg=3/32=x/z");
            hasher.hash(longer.as_ref()).whole()
        });
    }

    #[test]
    fn very_long_names_have_a_bounded_number_of_prefixes() {
        let hasher = NameHasher::new(1);
        let long = name(&"/x".repeat(200));
        let hashed = hasher.hash(long.as_ref());
        assert_eq!((hashed.components(), hashed.longest_prefix()), (200, MAX_PREFIX));
        assert_eq!(hashed.prefix(MAX_PREFIX + 1), None);
        let other = name(&"/x".repeat(199));
        assert_ne!(hashed.whole(), hasher.hash(other.as_ref()).whole());
    }

    #[test]
    fn digests_are_recognised_by_type() {
        let hasher = NameHasher::new(1);
        let mut cases = vec![(name("/a/b"), None), (Name::new(), None)];
        for depth in [1, 3, 100] {
            let digest = packet::Component::implicit_digest([7; 32]);
            cases.push((name(&"/x".repeat(depth)).with(&digest), Some([7; 32])));
            let other = packet::Component::parameters_digest([7; 32]);
            cases.push((name(&"/x".repeat(depth)).with(&other), None));
        }
        for (name, digest) in cases {
            let hashed = hasher.hash(name.as_ref());
            assert_eq!(hashed.implicit_digest(), digest.as_ref().map(|d| &d[..]), "{name}");
        }
    }

    #[test]
    fn the_seed_is_a_key() {
        let a = name("/a");
        assert_ne!(
            NameHasher::new(1).hash(a.as_ref()).whole(),
            NameHasher::new(2).hash(a.as_ref()).whole()
        );
        let hasher = NameHasher::new(1);
        assert_ne!(hasher.nonce_key(1, 2), hasher.nonce_key(2, 1));
    }
}
