//! Range Interests at the ends of a link.
//!
//! A range Interest stands for one Interest for each segment that it wants, and a Nack with a Range
//! for as many Nacks (`docs/reference/wire.md`, "Range Interests"). They are expanded as they
//! arrive, and joined as they leave if the peer understands ranges. Tables, strategies and parts of
//! schemes see single Interests.

use packet::options::{MAX_RANGE, Range, SegmentBits};
use packet::tlv::{put_header, tlv_len, types};
use packet::{Component, ComponentRef, Interest};

/// The number of a segment, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    number: u64,
    is_typed: bool,
}

impl Segment {
    /// The segment that a component names, if it is written in its shortest form: other forms are
    /// other names.
    fn of(last: ComponentRef<'_>) -> Option<Segment> {
        let number = last.as_segment_any()?;
        let segment = Segment { number, is_typed: last.as_segment().is_some() };
        (segment.component().as_ref() == last).then_some(segment)
    }

    fn component(self) -> Component {
        match self.is_typed {
            true => Component::segment(self.number),
            false => Component::segment_rev1(self.number),
        }
    }
}

/// An Interest whose name ends in a segment, around that.
#[derive(Clone, Copy, Debug)]
struct Parted<'a> {
    /// The components of the name before the segment.
    parent: &'a [u8],
    segment: Segment,
    /// The elements after the name.
    rest: &'a [u8],
}

impl<'a> Parted<'a> {
    /// `None` if there can be no range of such Interests: the name does not end in a segment, or
    /// there are CanBePrefix or parameters.
    fn of(interest: &Interest<'a>) -> Option<Parted<'a>> {
        if interest.can_be_prefix() || interest.parameters().is_some() {
            return None;
        }
        let name = interest.name();
        let segment = Segment::of(name.last()?)?;
        let value = packet::tlv::only(interest.wire(), types::INTEREST).ok()?;
        let rest = value.get(tlv_len(types::NAME, name.as_bytes().len())..)?;
        Some(Parted { parent: name.parent().as_bytes(), segment, rest })
    }

    /// Writes the Interest for another segment.
    fn write(&self, segment: Segment, out: &mut Vec<u8>) {
        let last = segment.component();
        let last = last.as_ref();
        let name_len = self.parent.len() + last.encoded_len();
        out.clear();
        put_header(out, types::INTEREST, tlv_len(types::NAME, name_len) + self.rest.len());
        put_header(out, types::NAME, name_len);
        out.extend_from_slice(self.parent);
        last.encode_into(out);
        out.extend_from_slice(self.rest);
    }
}

/// The segments that an Interest or Nack with a Range is about, in ascending order.
#[derive(Debug)]
pub(crate) struct Expansion<'a> {
    first: Parted<'a>,
    left: SegmentBits,
}

impl<'a> Expansion<'a> {
    /// `None` if the Interest can have no Range.
    pub(crate) fn new(interest: &Interest<'a>, range: &Range) -> Option<Expansion<'a>> {
        let first = Parted::of(interest)?;
        first.segment.number.checked_add(u64::from(range.count()))?;
        Some(Expansion { first, left: range.wanted() })
    }

    /// Writes the Interest for the next segment, whose place from the first one is returned.
    pub(crate) fn write_next(&mut self, out: &mut Vec<u8>) -> Option<u16> {
        let at = self.left.iter().next()?;
        self.left.remove(at);
        let Segment { number, is_typed } = self.first.segment;
        self.first.write(Segment { number: number + u64::from(at), is_typed }, out);
        Some(at)
    }
}

/// Interests, or Nacks, that can leave as one with a Range.
#[derive(Debug)]
pub(super) struct Run<'a> {
    first: Parted<'a>,
    bits: SegmentBits,
}

impl<'a> Run<'a> {
    /// A run that begins with this Interest; `None` if it can have no Range.
    pub(super) fn new(packet: &'a [u8]) -> Option<Run<'a>> {
        let first = Parted::of(&Interest::decode(packet).ok()?)?;
        Some(Run { first, bits: SegmentBits::first(1) })
    }

    /// The next place if this Interest is for a later segment within reach of a range, and the same
    /// in everything else.
    pub(super) fn place_of(&self, packet: &[u8]) -> Option<u16> {
        let next = Parted::of(&Interest::decode(packet).ok()?)?;
        let same = next.parent == self.first.parent
            && next.segment.is_typed == self.first.segment.is_typed
            && next.rest == self.first.rest;
        let at = next.segment.number.checked_sub(self.first.segment.number)?;
        let at = u16::try_from(at).ok().filter(|at| *at < MAX_RANGE)?;
        (same && !self.bits.has(at)).then_some(at)
    }

    /// Adds the segment at a place.
    pub(super) fn add(&mut self, at: u16) {
        self.bits.insert(at);
    }

    /// How many segments it has.
    pub(super) fn count(&self) -> u16 {
        self.bits.count()
    }

    /// The Range of its segments; `None` if there is only one.
    pub(super) fn range(&self) -> Option<Range> {
        if self.count() > 1 { Range::of(self.bits) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{InterestBuf, Name};
    use proptest::prelude::*;

    fn wire(name: Name) -> Vec<u8> {
        InterestBuf { nonce: Some(7), hop_limit: Some(9), ..InterestBuf::new(name) }
            .encode()
            .to_vec()
    }

    fn name(n: u64, is_typed: bool) -> Name {
        let parent: Name = "/a/b".parse().unwrap();
        parent.with(&Segment { number: n, is_typed }.component())
    }

    #[test]
    fn a_segment_has_one_form_of_each_convention() {
        for is_typed in [true, false] {
            for number in [0, 255, 256, 65_536, u64::MAX >> 8] {
                let segment = Segment { number, is_typed };
                assert_eq!(Segment::of(segment.component().as_ref()), Some(segment));
            }
        }
        let longer = Component::new(types::SEGMENT, &[0, 7]);
        assert_eq!(Segment::of(longer.as_ref()), None);
        assert_eq!(Segment::of(Component::generic(b"seg").as_ref()), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// The Interests that are written for a range are those that a consumer would have made,
        /// and a run of them is the range again.
        #[test]
        fn what_is_expanded_is_joined_to_the_same(
            first in prop_oneof![0u64..600, 65_000u64..66_000, Just(u64::MAX >> 9)],
            is_typed in any::<bool>(),
            places in prop::collection::btree_set(0u16..MAX_RANGE, 2..40),
        ) {
            let range = Range::of(places.iter().copied().collect()).unwrap();
            let asked = wire(name(first, is_typed));
            let interest = Interest::decode(&asked).unwrap();
            let mut expansion = Expansion::new(&interest, &range).unwrap();
            let (mut buffer, mut made) = (Vec::new(), Vec::new());
            while let Some(at) = expansion.write_next(&mut buffer) {
                prop_assert_eq!(&buffer, &wire(name(first + u64::from(at), is_typed)));
                made.push(buffer.clone());
            }
            prop_assert_eq!(made.len(), places.len());
            let mut run = Run::new(&made[0]).unwrap();
            for packet in &made[1..] {
                let at = run.place_of(packet).unwrap();
                run.add(at);
                prop_assert_eq!(run.place_of(packet), None, "it is there already");
            }
            let least = *places.first().unwrap();
            let moved: SegmentBits = places.iter().map(|at| at - least).collect();
            prop_assert_eq!(run.range(), Range::of(moved));
        }
    }
}
