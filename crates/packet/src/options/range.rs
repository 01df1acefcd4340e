//! Range Interests request a run of segments at once.

use super::list::HopOptions;
use super::option::HopOption;
use crate::tlv;

/// The longest run in one Interest.
pub const MAX_RANGE: u16 = 256;

/// A set of segments of a run, by their distance from its first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentBits([u64; 4]);

impl SegmentBits {
    /// The empty set.
    pub const NONE: SegmentBits = SegmentBits([0; 4]);

    /// The first `count` segments of a run, at most [`MAX_RANGE`].
    #[must_use]
    pub fn first(count: u16) -> SegmentBits {
        let mut words = [0; 4];
        for (at, word) in words.iter_mut().enumerate() {
            let bits = usize::from(count).saturating_sub(at * 64);
            *word = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        }
        SegmentBits(words)
    }

    /// Returns `true` if segment `at` is in it.
    #[must_use]
    pub fn has(&self, at: u16) -> bool {
        self.0.get(usize::from(at / 64)).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Puts segment `at` into it, if it is below [`MAX_RANGE`].
    pub fn insert(&mut self, at: u16) {
        if let Some(word) = self.0.get_mut(usize::from(at / 64)) {
            *word |= 1 << (at % 64);
        }
    }

    /// Removes segment `at`; returns `true` if it was in it.
    pub fn remove(&mut self, at: u16) -> bool {
        let had = self.has(at);
        if had {
            self.0[usize::from(at / 64)] &= !(1 << (at % 64));
        }
        had
    }

    /// How many segments are in it.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.0.iter().map(|word| word.count_ones() as u16).sum()
    }

    /// Returns `true` for the empty set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The segments in it, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        let mut words = self.0;
        std::iter::from_fn(move || {
            let (at, word) = words.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
            let bit = word.trailing_zeros() as u16;
            *word &= *word - 1;
            Some(at as u16 * 64 + bit)
        })
    }

    /// Its first `count` segments.
    #[must_use]
    pub fn limited_to(self, count: u16) -> SegmentBits {
        if self.count() <= count {
            return self;
        }
        self.iter().take(count.into()).collect()
    }

    /// The intersection.
    #[must_use]
    pub fn and(self, other: SegmentBits) -> SegmentBits {
        SegmentBits(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// The union.
    #[must_use]
    pub fn or(self, other: SegmentBits) -> SegmentBits {
        SegmentBits(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// The segments in this one and not in the other.
    #[must_use]
    pub fn without(self, other: SegmentBits) -> SegmentBits {
        SegmentBits(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

impl FromIterator<u16> for SegmentBits {
    fn from_iter<I: IntoIterator<Item = u16>>(segments: I) -> SegmentBits {
        let mut bits = SegmentBits::NONE;
        segments.into_iter().for_each(|at| bits.insert(at));
        bits
    }
}

/// Requests a run of segments, or some of a run, that begins with the segment in the Interest's
/// name. In a Nack, the rejected segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    count: u16,
    wanted: SegmentBits,
}

impl Range {
    /// A whole run; `None` unless it has 2 to [`MAX_RANGE`] segments.
    #[must_use]
    pub fn whole(count: u16) -> Option<Range> {
        Range::new(count, SegmentBits::first(count))
    }

    /// Some of a run of `count` segments. `None` unless that is 2 to [`MAX_RANGE`], at least one of
    /// them is wanted, and none beyond them.
    #[must_use]
    pub fn new(count: u16, wanted: SegmentBits) -> Option<Range> {
        let beyond = wanted.without(SegmentBits::first(count));
        let ok = (2..=MAX_RANGE).contains(&count) && !wanted.is_empty() && beyond.is_empty();
        ok.then_some(Range { count, wanted })
    }

    /// These segments, as a run that ends with the last of them; `None` if there are none.
    #[must_use]
    pub fn of(wanted: SegmentBits) -> Option<Range> {
        let count = wanted.iter().last()?.saturating_add(1).max(2);
        Range::new(count, wanted)
    }

    /// How many segments the run has.
    #[must_use]
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// The wanted segments: at least one.
    #[must_use]
    pub const fn wanted(&self) -> SegmentBits {
        self.wanted
    }
}

/// How many segments an Interest or Nack with these options is about.
#[must_use]
pub fn segments_in(options: &HopOptions) -> u16 {
    if options.is_empty() {
        return 1;
    }
    options.get::<Range>().map_or(1, |range| range.wanted().count())
}

impl HopOption for Range {
    const TYPE: u32 = 864;
    const ECHO_IN_NACKS: bool = true;

    fn encode(&self, out: &mut Vec<u8>) {
        tlv::put_var(out, u64::from(self.count));
        if self.wanted == SegmentBits::first(self.count) {
            return;
        }
        let bytes = self.wanted.0.iter().flat_map(|word| word.reverse_bits().to_be_bytes());
        out.extend(bytes.take(usize::from(self.count).div_ceil(8)));
    }

    fn decode(value: &[u8]) -> Option<Range> {
        let (count, len) = tlv::read_var(value).ok()?;
        let count = u16::try_from(count).ok().filter(|count| *count <= MAX_RANGE)?;
        let bitmap = &value[len..];
        if bitmap.is_empty() {
            return Range::whole(count);
        }
        if bitmap.len() != usize::from(count).div_ceil(8) {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..bitmap.len()].copy_from_slice(bitmap);
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_be_bytes(bytes.try_into().ok()?).reverse_bits();
        }
        Range::new(count, SegmentBits(words))
    }
}
