//! Hashes of a name and of its prefixes, in one pass.

use control::Rng;
use packet::NameRef;
use packet::tlv::types::IMPLICIT_DIGEST;
use smallvec::SmallVec;

use super::sip::Sip;

// Routes, strategy choices and Interests with CanBePrefix longer than this are rejected; names as a
// whole may be longer.
pub use packet::name::MAX_PREFIX;

/// Type and length of an implicit digest component.
pub(super) const DIGEST_HEADER: [u8; 2] = [IMPLICIT_DIGEST as u8, 32];

/// Lengths of prefixes in components, as bits; see [`NameHasher::hash_prefixes`].
pub type Lengths = u128;

/// Hashes names with SipHash-1-3 under a secret key, so that a sender without the key cannot make
/// names that fall into one bucket.
#[derive(Clone, Debug)]
pub struct NameHasher {
    keys: [u64; 2],
    keyed: Sip,
    /// The hash of the empty name.
    empty: u64,
}

/// A prefix whose hash was made on the way to that of the whole name.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    hash: u64,
    components: u8,
    end: u16,
}

/// Prefixes that are kept without an allocation: names are rarely deeper, tables rarely more mixed.
const USUAL_PREFIXES: usize = 4;

/// A name with the hashes of prefixes: made once for a packet, used by every table.
#[derive(Clone, Debug)]
pub struct HashedName<'a> {
    name: NameRef<'a>,
    keys: [u64; 2],
    /// The longest prefix that has a hash of its own.
    longest: usize,
    whole: u64,
    /// By their lengths. A hash that is not here is made when it is asked for.
    made: SmallVec<[Prefix; USUAL_PREFIXES]>,
}

impl NameHasher {
    /// A hasher whose key comes from `seed`, which must be secret where peers choose names.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::stream(seed, &["name hash"]);
        let keys = [rng.next_u64(), rng.next_u64()];
        let keyed = Sip::new(keys);
        NameHasher { keys, keyed, empty: keyed.finish(0, 0) }
    }

    /// The name with the hashes of all its prefixes.
    #[must_use]
    pub fn hash<'a>(&self, name: NameRef<'a>) -> HashedName<'a> {
        self.hash_prefixes(name, Lengths::MAX)
    }

    /// The name with the hashes of its prefixes of these lengths. Those of others can be had too,
    /// but each costs a pass over the bytes.
    #[must_use]
    #[inline]
    pub fn hash_prefixes<'a>(&self, name: NameRef<'a>, lengths: Lengths) -> HashedName<'a> {
        let bytes = name.as_bytes();
        let mut made = SmallVec::new();
        // The state after the first `start` bytes, whole words all: a prefix costs the bytes that
        // are left over, and none is gone through twice but for those.
        let mut state = self.keyed;
        let (mut start, mut components) = (0, 0);
        // A prefix that ends later than any packet is a local mistake and matches nothing.
        let deepest = name.len().min(MAX_PREFIX);
        if lengths & 1 == 1 {
            made.push(Prefix { hash: self.empty, components: 0, end: 0 });
        }
        // The lowest bit is for the next component's end. The name itself is no prefix.
        let proper = deepest.saturating_sub(usize::from(name.len() <= MAX_PREFIX));
        let those = u64::MAX.checked_shr((MAX_PREFIX - proper) as u32).unwrap_or(0);
        let mut wanted = (lengths >> 1) as u64 & those;
        let mut ends = name.prefix_ends();
        while wanted != 0
            && let Some(end) = ends.next()
        {
            components += 1;
            if wanted & 1 == 1
                && let Ok(short) = u16::try_from(end)
            {
                start = state.words(bytes, start, end);
                let hash = state.end(bytes, start, end);
                made.push(Prefix { hash, components, end: short });
            }
            wanted >>= 1;
        }
        let start = state.words(bytes, start, bytes.len());
        let whole = state.end(bytes, start, bytes.len());
        HashedName { name, keys: self.keys, longest: deepest, whole, made }
    }

    /// A key for the pair of a name and a nonce, from the hash of the name.
    #[must_use]
    pub fn nonce_key(&self, name: u64, nonce: u32) -> u64 {
        let mut state = self.keyed;
        state.word(name);
        state.finish(u64::from(nonce), 12)
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
    #[inline]
    pub fn components(&self) -> usize {
        self.name.len()
    }

    /// The longest prefix that has a hash of its own, in components: the whole name, or
    /// [`MAX_PREFIX`].
    #[must_use]
    #[inline]
    pub fn longest_prefix(&self) -> usize {
        self.longest
    }

    /// The hash of the whole name, however long.
    #[must_use]
    #[inline]
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// Hash and bytes of the prefix of `components`; `None` beyond [`HashedName::longest_prefix`].
    #[must_use]
    pub fn prefix(&self, components: usize) -> Option<(u64, &'a [u8])> {
        let bytes = self.name.as_bytes();
        if components == self.name.len() && components <= self.longest {
            return Some((self.whole, bytes));
        }
        if let Some(made) = self.made.iter().find(|p| usize::from(p.components) == components) {
            return Some((made.hash, &bytes[..usize::from(made.end)]));
        }
        (components <= self.longest).then(|| self.make(components))
    }

    #[cold]
    fn make(&self, components: usize) -> (u64, &'a [u8]) {
        let bytes = self.name.prefix(components).as_bytes();
        (Sip::new(self.keys).hash(bytes), bytes)
    }

    /// The digest that the name ends in, if its last component is an implicit digest.
    #[must_use]
    pub fn implicit_digest(&self) -> Option<&'a [u8]> {
        // Such a component has exactly 34 bytes; most names say at once that they end otherwise.
        let at = self.name.as_bytes().len().checked_sub(DIGEST_HEADER.len() + 32)?;
        if !self.name.as_bytes()[at..].starts_with(&DIGEST_HEADER) {
            return None;
        }
        self.name.last().filter(|c| c.typ() == IMPLICIT_DIGEST).map(|c| c.value())
    }

    /// The hash of this name with one more component, given as it is encoded.
    #[must_use]
    pub fn with_component(&self, encoded: &[u8]) -> u64 {
        let mut longer = self.name.as_bytes().to_vec();
        longer.extend_from_slice(encoded);
        Sip::new(self.keys).hash(&longer)
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
            let (hash, bytes) = hashed.prefix(n).unwrap();
            assert_eq!(bytes, prefix.as_bytes());
            assert_eq!(hash, hasher.hash(prefix).whole());
        }
        assert_eq!(hashed.prefix(6), None);
        assert_eq!(hashed.with_component(&[8, 1, b'z']), {
            let longer = name("/a/bc/%00/seg=3/32=x/z");
            hasher.hash(longer.as_ref()).whole()
        });
    }

    #[test]
    fn a_hash_is_the_same_whether_it_was_asked_for_beforehand_or_not() {
        let hasher = NameHasher::new(1);
        for depth in [0, 1, 5, 9, 64, 65, 80] {
            let name = if depth == 0 { Name::new() } else { name(&"/xy".repeat(depth)) };
            let all = hasher.hash(name.as_ref());
            for lengths in [0, 1, 0b10_0010, Lengths::MAX << 7, 1 << depth.min(64)] {
                let some = hasher.hash_prefixes(name.as_ref(), lengths);
                assert_eq!((some.whole(), some.components()), (all.whole(), depth));
                (0..70).for_each(|n| assert_eq!(some.prefix(n), all.prefix(n), "{n} of {depth}"));
            }
        }
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
