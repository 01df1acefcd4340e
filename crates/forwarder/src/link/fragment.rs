//! Cutting a packet into NDNLPv2 frames that fit a datagram.
//!
//! All frames of a packet have the same size, the last one at most that, so that the kernel can cut
//! them from one buffer (UDP segmentation offload). The header fields are on fragment 0 alone,
//! where NFD looks for them, so that fragment carries less of the packet than the others.

use packet::LpHeader;
use packet::tlv::{nni_tlv_len, tlv_len, types, var_len};
use std::ops::Range;

use super::reassembly::MAX_FRAGMENTS;

/// The frames that a packet became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    /// Bytes of all of them.
    pub(crate) len: usize,
    /// Bytes of each but the last; `None` if there is only one frame.
    pub(crate) segment: Option<usize>,
    pub(crate) count: u64,
}

impl Frames {
    /// One frame: the packet as it is.
    pub(crate) const fn bare(len: usize) -> Frames {
        Frames { len, segment: None, count: 1 }
    }
}

/// How a packet is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    frame: usize,
    count: u64,
}

/// The share of a packet that each of its frames carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) count: u64,
    /// Bytes of the packet in the first frame, in one with an index of one byte, and in others.
    first: usize,
    short: usize,
    long: usize,
}

impl Layout {
    /// The bytes of a packet of `len` that the frame of this index carries.
    pub(crate) fn part(&self, index: u64, len: usize) -> Range<usize> {
        self.start(index).min(len)..self.start(index + 1).min(len)
    }

    /// The first byte of that frame in a packet that is long enough.
    fn start(&self, index: u64) -> usize {
        match index {
            0 => 0,
            1..=256 => self.first + (index as usize - 1) * self.short,
            _ => self.first + 255 * self.short + (index as usize - 256) * self.long,
        }
    }
}

/// A face's next numbers.
#[derive(Debug)]
pub(crate) struct Numbers<'a> {
    /// Of frames; taken where a packet is cut, and where frames are to be acknowledged.
    pub(crate) sequence: &'a mut u64,
    /// The TxSequence of the first frame, if each frame is to be acknowledged.
    pub(crate) tx: Option<u64>,
}

/// Appends the frames of a packet, none of which has more than `mtu` bytes. `None`, and nothing
/// appended, if the packet needs more than [`MAX_FRAGMENTS`] frames or the header leaves no room.
pub(crate) fn put_frames(
    header: &mut LpHeader,
    packet: &[u8],
    mtu: Option<usize>,
    numbers: &mut Numbers<'_>,
    out: &mut Vec<u8>,
) -> Option<(Frames, Layout)> {
    let start = out.len();
    let tx = numbers.tx;
    header.tx_sequence = tx.or(header.tx_sequence);
    header.sequence = tx.map(|_| *numbers.sequence);
    let whole = header.encoded_len(packet.len());
    if mtu.is_none_or(|mtu| whole <= mtu) {
        header.encode_into(packet, out);
        *numbers.sequence = numbers.sequence.wrapping_add(u64::from(tx.is_some()));
        let layout = Layout { count: 1, first: packet.len(), ..Layout::default() };
        return Some((Frames::bare(out.len() - start), layout));
    }
    header.sequence = None;
    let fields = header.headers_len();
    let each = if tx.is_some() { tlv_len(types::LP_TX_SEQUENCE, 8) } else { 0 };
    let cut = cut(fields, each, packet.len(), mtu?)?;
    let room = |index, fields| payload(fields + numbers_len(index, cut.count), cut.frame);
    let long = if cut.count > 256 { room(256, each)? } else { 0 };
    let layout = Layout { count: cut.count, first: room(0, fields)?, short: room(1, each)?, long };
    out.reserve(cut.frame * cut.count as usize);
    for index in 0..cut.count {
        let mut others = LpHeader::default();
        let header = if index == 0 { &mut *header } else { &mut others };
        header.sequence = Some(numbers.sequence.wrapping_add(index));
        header.frag_index = index;
        header.frag_count = cut.count;
        header.tx_sequence = tx.map(|tx| tx.wrapping_add(index)).or(header.tx_sequence);
        header.encode_into(&packet[layout.part(index, packet.len())], out);
    }
    *numbers.sequence = numbers.sequence.wrapping_add(cut.count);
    let frames = Frames { len: out.len() - start, segment: Some(cut.frame), count: cut.count };
    Some((frames, layout))
}

/// Bytes of Sequence, FragIndex and FragCount.
fn numbers_len(index: u64, count: u64) -> usize {
    tlv_len(types::LP_SEQUENCE, 8)
        + nni_tlv_len(types::LP_FRAG_INDEX, index)
        + nni_tlv_len(types::LP_FRAG_COUNT, count)
}

/// The payload that makes a frame of exactly `frame` bytes together with `fields` bytes of header
/// fields. `None` if there is no room, or no such payload: lengths from 253 on take three bytes
/// where 252 takes one, so some sizes are skipped.
fn payload(fields: usize, frame: usize) -> Option<usize> {
    let value = value_of(frame)?;
    value_of(value.checked_sub(fields)?).filter(|len| *len > 0)
}

/// The length of the value of an element of one-byte type that takes `whole` bytes.
fn value_of(whole: usize) -> Option<usize> {
    [1, 3, 5].into_iter().find_map(|len_len| {
        let value = whole.checked_sub(1 + len_len)?;
        (var_len(value as u64) == len_len).then_some(value)
    })
}

/// Finds the largest size of frames for which every frame can be exactly of that size. There are
/// three kinds of frames (the first, indexes of one byte, indexes of two); the lengths in them
/// skip at most two sizes each, and the frame's own length two more, so that few steps suffice.
/// `fields` are the bytes of header fields on the first frame, `each` those on the others.
fn cut(fields: usize, each: usize, packet: usize, mtu: usize) -> Option<Cut> {
    (mtu.saturating_sub(16)..=mtu).rev().find_map(|frame| {
        // FragCount's own size depends on the count.
        [0xff, MAX_FRAGMENTS].into_iter().find_map(|most| {
            let count = count(fields, each, packet, frame, most)?;
            Some(Cut { frame, count })
        })
    })
}

/// The number of frames of size `frame`, if the field for it takes as much as that for `most`.
fn count(fields: usize, each: usize, packet: usize, frame: usize, most: u64) -> Option<u64> {
    let mut left = packet.checked_sub(payload(fields + numbers_len(0, most), frame)?)?;
    let short = payload(each + numbers_len(1, most), frame)?;
    // Indexes 1 to 255 take one byte.
    let many = left.div_ceil(short) as u64;
    let count = if many <= 255 {
        1 + many
    } else {
        left -= 255 * short;
        256 + left.div_ceil(payload(each + numbers_len(256, most), frame)?) as u64
    };
    let same_size = numbers_len(0, count) == numbers_len(0, most);
    (count > 1 && count <= most && same_size).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::LpPacket;
    use proptest::prelude::*;

    fn put(
        packet: &[u8],
        mtu: Option<usize>,
        sequence: &mut u64,
        out: &mut Vec<u8>,
    ) -> Option<Frames> {
        let mut numbers = Numbers { sequence, tx: None };
        let put = put_frames(&mut LpHeader::default(), packet, mtu, &mut numbers, out);
        put.map(|(frames, _)| frames)
    }

    // NDNLPv2, "Indexed fragmentation": [lp-10].
    #[test]
    fn a_stream_never_sees_a_fragment() {
        let (mut out, mut sequence) = (Vec::new(), 7);
        let packet = vec![6; 8800];
        let frames = put(&packet, None, &mut sequence, &mut out).unwrap();
        assert_eq!((out, sequence, frames.segment), (packet, 7, None));
    }

    #[test]
    fn a_packet_of_8800_bytes_in_frames_of_1400() {
        // A frame of 1400 bytes: 100 (64) fd 0574, Sequence 10, FragIndex 3, FragCount 3,
        // Fragment 50 fd ....: 1400 - 4 - 16 - 4 = 1376 bytes of the packet.
        // 6 * 1376 = 8256; the seventh carries the other 544 and has 544 + 24 = 568 bytes.
        let (mut out, mut sequence) = (Vec::new(), 0);
        let packet = vec![6; 8800];
        let frames = put(&packet, Some(1400), &mut sequence, &mut out).unwrap();
        assert_eq!(frames, Frames { len: 6 * 1400 + 568, segment: Some(1400), count: 7 });
        assert_eq!(sequence, 7);
        assert_eq!(out[..5], [0x64, 0xfd, 0x05, 0x74, 0x51]);
    }

    #[test]
    fn a_packet_that_needs_too_many_frames_is_rejected() {
        let (mut out, mut sequence) = (Vec::new(), 0);
        let packet = vec![6; 8800];
        for mtu in [0, 1, 20, 30, 40] {
            assert_eq!(put(&packet, Some(mtu), &mut sequence, &mut out), None);
            assert!(out.is_empty());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        // NDNLPv2, "Sequence": [lp-7]; "Indexed fragmentation": [lp-8].
        #[test]
        fn frames_have_one_size_and_hold_the_packet(
            mtu in 100usize..9000,
            len in 1usize..8800,
            token in prop::collection::vec(any::<u8>(), 0..33),
            mark in 0u64..3,
            tx in prop::option::of(u64::MAX - 2..=u64::MAX),
        ) {
            let packet: Vec<u8> = (0..len).map(|i| (i * 7) as u8).collect();
            let mut header = LpHeader { congestion_mark: mark, ..LpHeader::default() };
            if !token.is_empty() {
                header.pit_token = token.clone().into();
            }
            let (mut out, mut sequence) = (Vec::new(), u64::MAX - 3);
            let mut numbers = Numbers { sequence: &mut sequence, tx };
            let put = put_frames(&mut header, &packet, Some(mtu), &mut numbers, &mut out);
            let (frames, layout) = put.expect("400 frames of 100 bytes hold any packet");
            prop_assert_eq!(frames.len, out.len());
            let Some(segment) = frames.segment else {
                prop_assert!(out.len() <= mtu);
                if tx.is_some() {
                    let lp = LpPacket::decode(&out).unwrap();
                    prop_assert_eq!((lp.fragment(), lp.tx_sequence()), (Some(&packet[..]), tx));
                    prop_assert_eq!(lp.sequence(), Some(u64::MAX - 3));
                }
                return Ok(());
            };
            prop_assert!(segment <= mtu && segment + 16 >= mtu);
            let mut joined = Vec::new();
            for (i, frame) in out.chunks(segment).enumerate() {
                let lp = LpPacket::decode(frame).unwrap();
                prop_assert_eq!(lp.sequence(), Some((u64::MAX - 3).wrapping_add(i as u64)));
                prop_assert_eq!((lp.frag_index(), lp.frag_count()), (i as u64, frames.count));
                let first = (i == 0).then_some(token.as_slice()).filter(|t| !t.is_empty());
                prop_assert_eq!(lp.pit_token(), first);
                prop_assert_eq!(lp.tx_sequence(), tx.map(|tx| tx.wrapping_add(i as u64)));
                prop_assert_eq!(lp.fragment(), Some(&packet[layout.part(i as u64, len)]));
                joined.extend_from_slice(lp.fragment().unwrap());
            }
            prop_assert_eq!(joined, packet);
        }
    }
}
