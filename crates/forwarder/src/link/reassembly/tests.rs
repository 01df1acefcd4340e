use super::*;
use control::Duration;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A packet in fragments: the payloads, in order.
fn fragments(packet: &[u8], count: usize) -> Vec<Vec<u8>> {
    packet.chunks(packet.len().div_ceil(count)).map(<[u8]>::to_vec).collect()
}

struct Bench {
    reassembler: Reassembler,
    drops: Vec<DropReason>,
}

impl Bench {
    fn new(limits: ReassemblyLimits) -> Bench {
        Bench { reassembler: Reassembler::new(limits), drops: Vec::new() }
    }

    fn give(&mut self, now: u64, place: (u64, u64, u64), payload: &[u8]) -> Option<Vec<u8>> {
        self.give_by(0, now, place, payload)
    }

    fn give_by(
        &mut self,
        sender: u128,
        now: u64,
        (sequence, index, count): (u64, u64, u64),
        payload: &[u8],
    ) -> Option<Vec<u8>> {
        let place = Place { sender: Sender(sender, 0), sequence, index, count };
        let frame = [b"frame ", payload].concat();
        let fragment = Fragment { place, frame: &frame, payload, mark: index };
        let drops = &mut self.drops;
        let whole = self.reassembler.receive(Time(now), &fragment, &mut |r| drops.push(r))?;
        let packet = whole.packet.clone();
        self.reassembler.recycle(whole);
        Some(packet)
    }

    fn pass(&mut self, now: u64) {
        let drops = &mut self.drops;
        self.reassembler.on_deadline(Time(now), &mut |r| drops.push(r));
    }
}

const MS: u64 = 1_000_000;

#[test]
fn absurd_numbers_are_rejected() {
    let mut bench = Bench::new(ReassemblyLimits::default());
    assert_eq!(bench.give(0, (0, 0, 401), b"x"), None);
    assert_eq!(bench.give(0, (0, 5, 5), b"x"), None);
    assert_eq!(bench.give(0, (0, 0, u64::MAX), b"x"), None);
    assert_eq!(bench.give(0, (0, 1, 3), b""), None);
    assert_eq!(bench.drops, [DropReason::FragmentInvalid; 4]);
    assert_eq!(bench.reassembler.packets(), 0);
}

#[test]
fn the_first_fragment_stays_when_numbers_are_contradictory() {
    let mut bench = Bench::new(ReassemblyLimits::default());
    assert_eq!(bench.give(0, (10, 0, 3), b"abc"), None);
    assert_eq!(bench.give(0, (10, 0, 3), b"zzz"), None, "the same fragment twice");
    assert_eq!(bench.give(0, (11, 1, 2), b"zzz"), None, "another count");
    assert_eq!(bench.drops, [DropReason::FragmentInvalid; 2]);
    assert_eq!(bench.give(0, (12, 2, 3), b"g"), None);
    assert_eq!(bench.give(0, (11, 1, 3), b"def").as_deref(), Some(&b"abcdefg"[..]));
}

#[test]
fn a_packet_that_grows_too_large_is_dropped_as_a_whole() {
    let mut bench = Bench::new(ReassemblyLimits::default());
    let half = vec![1; MAX_PACKET / 2];
    assert_eq!(bench.give(0, (0, 0, 3), &half), None);
    assert_eq!(bench.give(0, (1, 1, 3), &half), None);
    assert_eq!(bench.give(0, (2, 2, 3), b"x"), None);
    assert_eq!(bench.drops, [DropReason::TooBig]);
    assert_eq!((bench.reassembler.packets(), bench.reassembler.bytes()), (0, 0));
}

#[test]
fn a_packet_waits_half_a_second_for_its_next_fragment() {
    let mut bench = Bench::new(ReassemblyLimits::default());
    bench.give(0, (0, 0, 3), b"a");
    assert_eq!(bench.reassembler.next_deadline(), Some(Time(500 * MS)));
    bench.give(400 * MS, (1, 1, 3), b"b");
    bench.pass(500 * MS);
    assert_eq!(bench.reassembler.next_deadline(), Some(Time(900 * MS)));
    bench.pass(900 * MS - 1);
    assert!(bench.drops.is_empty());
    bench.pass(900 * MS);
    assert_eq!(bench.drops, [DropReason::ReassemblyTimeout]);
    assert_eq!(bench.give(901 * MS, (2, 2, 3), b"c"), None, "too late");
}

#[test]
fn the_oldest_makes_room_for_the_newest() {
    let limits = ReassemblyLimits { packets: 2, ..ReassemblyLimits::default() };
    let mut bench = Bench::new(limits);
    bench.give(1, (0, 0, 2), b"a");
    bench.give(2, (10, 0, 2), b"b");
    bench.give(3, (20, 0, 2), b"c");
    assert_eq!(bench.drops, [DropReason::ReassemblyLimit]);
    assert_eq!(bench.give(4, (11, 1, 2), b"!").as_deref(), Some(&b"b!"[..]));
    assert_eq!(bench.give(4, (21, 1, 2), b"!").as_deref(), Some(&b"c!"[..]));
    assert_eq!(bench.give(4, (1, 1, 2), b"!"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Several packets, their fragments lost, repeated and out of order: whatever is whole is
    /// right, and everything of which each fragment arrived is whole.
    // NDNLPv2, "Indexed fragmentation": [lp-9].
    #[test]
    fn reassembled_packets_equal_the_sent_packets(
        lens in prop::collection::vec((1usize..3000, 2usize..12), 1..6),
        order in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..150),
        start in any::<u64>(),
    ) {
        let mut bench = Bench::new(ReassemblyLimits::default());
        let mut sequence = start;
        let mut packets = Vec::new();
        for (i, (len, count)) in lens.into_iter().enumerate() {
            let packet: Vec<u8> = (0..len).map(|j| (i * 31 + j) as u8).collect();
            let parts = fragments(&packet, count.min(len));
            let first = sequence;
            sequence = sequence.wrapping_add(parts.len() as u64);
            packets.push((first, packet, parts));
        }
        let mut seen: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); packets.len()];
        for [which, fragment] in order {
            let p = which.index(packets.len());
            let (first, packet, parts) = &packets[p];
            let f = fragment.index(parts.len());
            let place = (first.wrapping_add(f as u64), f as u64, parts.len() as u64);
            if parts.len() == 1 {
                // Such a packet is not fragmented at all.
                continue;
            }
            let whole = bench.give(0, place, &parts[f]);
            seen[p].insert(f);
            prop_assert_eq!(whole.is_some(), seen[p].len() == parts.len());
            if let Some(whole) = whole {
                prop_assert_eq!(&whole, packet);
                seen[p].clear();
            }
        }
    }

    /// Arbitrary fragments never take more than the limits, and never make a packet that is larger
    /// than a packet may be.
    #[test]
    fn any_frames_are_kept_within_bounds(
        input in prop::collection::vec(
            (0u64..40, 0u64..6, 0u64..6, 1usize..2000, 0u64..200),
            0..400,
        ),
    ) {
        let limits = ReassemblyLimits {
            packets: 4,
            bytes: 10_000,
            timeout: Duration::from_millis(500),
        };
        let mut bench = Bench::new(limits);
        let mut now = 0;
        for (sequence, index, count, len, pause) in input {
            now += pause * MS;
            if let Some(whole) = bench.give(now, (sequence, index, count), &vec![0; len]) {
                prop_assert!(whole.len() <= MAX_PACKET);
            }
            bench.pass(now);
            let r = &bench.reassembler;
            prop_assert!(r.packets() <= 4 && r.bytes() <= 10_000);
            let bytes: usize = r.partials.values().map(Partial::bytes).sum();
            prop_assert_eq!(bytes, r.bytes());
            prop_assert!(r.next_deadline().is_none_or(|at| at > Time(now)));
            prop_assert!(r.partials.is_empty() || r.next_deadline().is_some());
        }
    }
}

// NDNLPv2, "Indexed fragmentation": [lp-9].
#[test]
fn senders_number_their_fragments_by_themselves() {
    let mut bench = Bench::new(ReassemblyLimits::default());
    let (a, b) = (b"of the first sender".to_vec(), b"and of the other one".to_vec());
    let (of_a, of_b) = (fragments(&a, 2), fragments(&b, 2));
    assert_eq!(bench.give_by(1, 0, (70, 0, 2), &of_a[0]), None);
    assert_eq!(bench.give_by(2, 0, (70, 0, 2), &of_b[0]), None);
    assert_eq!(bench.give_by(2, 1, (71, 1, 2), &of_b[1]), Some(b));
    assert_eq!(bench.give_by(1, 1, (71, 1, 2), &of_a[1]), Some(a));
    assert_eq!(bench.drops, []);
}

#[test]
fn a_flood_of_senders_is_bounded() {
    let limits = ReassemblyLimits { packets: 8, bytes: 10_000, ..ReassemblyLimits::default() };
    let mut bench = Bench::new(limits);
    for sender in 0..1000 {
        bench.give_by(sender, sender as u64, (70, 0, 2), &[0; 100]);
        assert!(bench.reassembler.packets() <= 8 && bench.reassembler.bytes() <= 10_000);
    }
    assert_eq!(bench.drops.len(), 992);
    // The latest are those that are kept.
    assert!(bench.give_by(999, 1000, (71, 1, 2), &[0; 100]).is_some());
    assert!(bench.give_by(0, 1000, (71, 1, 2), &[0; 100]).is_none());
}
