use super::*;
use proptest::prelude::*;
use smallvec::SmallVec;

fn wire<T: HopOption>(option: &T) -> Vec<u8> {
    let mut value = Vec::new();
    option.encode(&mut value);
    let mut out = Vec::new();
    crate::tlv::put_tlv(&mut out, u64::from(T::TYPE), &value);
    out
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The option is these bytes, and they are the option.
fn is<T: HopOption + PartialEq + std::fmt::Debug>(option: &T, bytes: &str) {
    assert_eq!(wire(option), hex(bytes), "{option:?}");
    // Every type takes 3 bytes, and every length here one.
    assert_eq!(T::decode(&hex(bytes)[4..]).as_ref(), Some(option));
}

fn labelled(flags: u8, hop_count: u8, bitmap: &str) -> PathLabel {
    let bitmap = hex(bitmap);
    PathLabel::decode(&[&[flags, hop_count, 0, 0][..], &bitmap].concat()).unwrap()
}

#[test]
fn the_examples_of_the_reference() {
    let bits: SegmentBits = [0, 3, 11].into_iter().collect();
    is(&Range::whole(32).unwrap(), "fd0360 01 20");
    is(&Range::new(12, bits).unwrap(), "fd0360 03 0c 9010");
    is(&TrafficClass::Secondary, "fd0364 01 01");
    let stamp = RateStamp { primary: 10_000_000, secondary: 2_500_000 };
    is(&stamp, "fd0368 0a fe00989680 fe002625a0");
    is(&PathId(0x0123_4567_89ab_cdef), "fd036c 08 0123456789abcdef");
    is(&labelled(PathLabel::FALLBACK, 2, "abc123"), "fd0370 07 01 02 0000 abc123");
    let bytes = SmallVec::from_slice(&[0xc0, 0xff, 0xee, 0x01]);
    is(&SteeringHint { kind: SteeringKind::Random, bytes }, "fd0374 05 02 c0ffee01");
    let mut ahead = Anticipated::wanting([1003, 1000, 1001, 1000]);
    let holder = Holder { node: 7, held: 0b110, elapsed: 5_000_000, hops: Some(1) };
    assert!(ahead.add(holder));
    let nodes = "0000000000000007 60 01 fe004c4b40";
    is(&ahead, &format!("fd0378 15 03 fd03e8 01 02 {nodes}"));
    assert_eq!(ahead.held(&holder).collect::<Vec<_>>(), [1001, 1003]);
    is(&ServedBy { node: 7, hops: 2 }, "fd037c 09 0000000000000007 02");
    is(&ServedBy::ASK, "fd037c 00");
    is(&ExpectedBytes(8300), "fd0380 02 206c");
    is(&RttHint(60_000_000), "fd0384 04 03938700");
    is(&Capability::ALL, "fd0388 01 03");
    is(&AddressChallenge(0x0123_4567_89ab_cdef), "fd0394 08 0123456789abcdef");
    is(&AddressEcho(0), "fd0398 08 0000000000000000");
    let mut offers = Offers::new();
    offers.add(Offer { rate: 26_624, link: 1 });
    offers.add(Offer { rate: 23_552, link: 0xbeef });
    is(&offers, "fd039c 08 5c00 beef 6800 0001");
    is(&RttSpread(590_000_000), "fd03a0 04 232aaf80");
    is(&ResidenceTime::of(7_000_000), "fd03a4 02 1b58");
    is(&excluding(1..=2), "fd03ac 10 0101010101010101 0202020202020202");
}

/// Excludes the packets whose digests are 32 times each of these bytes.
fn excluding(bytes: impl IntoIterator<Item = u8>) -> Exclude {
    let mut exclude = Exclude::new();
    bytes.into_iter().for_each(|byte| assert!(exclude.add(&[byte; 32])));
    exclude
}

#[test]
fn an_exclusion_is_bounded_and_keeps_the_latest() {
    let mut exclude = excluding(0..8);
    assert!(!exclude.add(&[3; 32]), "it is there already");
    assert_eq!((exclude.len(), exclude.excludes(&[0; 32])), (MAX_EXCLUDED, true));
    assert!(exclude.add(&[8; 32]));
    assert_eq!((exclude.len(), exclude.excludes(&[0; 32])), (MAX_EXCLUDED, false));
    assert!((1..=8).all(|byte| exclude.excludes(&[byte; 32])));
    for (len, why) in [(0, "nothing"), (7, "cut off"), (9, "more"), (72, "nine packets")] {
        let value: Vec<u8> = (0..len).collect();
        assert_eq!(Exclude::decode(&value), None, "{why}");
    }
    assert_eq!(Exclude::decode(&[7; 16]), None, "a packet twice");
    assert_eq!(Exclude::decode(&[7; 8]), Some(excluding([7])));
}

#[test]
fn invalid_options_decode_to_none() {
    for (value, why) in [
        ("", "no count"),
        ("01", "a run of one"),
        ("00", "of none"),
        ("fd0101", "257 segments"),
        ("ffffffffffffffffff", "2^64 - 1"),
        ("0c90", "bitmap too short"),
        ("0c901000", "bitmap too long"),
        ("0c9018", "a segment beyond the run"),
        ("0c0000", "nothing wanted"),
    ] {
        assert_eq!(Range::decode(&hex(value)), None, "{why}");
    }
    assert_eq!(Range::decode(&hex("fd0100")).map(|r| r.wanted().count()), Some(256));
    assert_eq!(TrafficClass::decode(&[2]), None);
    assert_eq!(RateStamp::decode(&hex("00")), None, "one rate");
    assert_eq!(RateStamp::decode(&hex("000000")), None, "three");
    assert_eq!(
        RateStamp::decode(&hex("00ffffffffffffffffff")).map(|s| s.secondary),
        Some(u64::MAX)
    );
    assert_eq!(PathId::decode(&[0; 7]), None);
    assert_eq!(PathLabel::decode(&[0; 3]), None);
    assert!(PathLabel::decode(&[0; 4 + 64]).is_some() && PathLabel::decode(&[0; 69]).is_none());
    assert_eq!(SteeringHint::decode(&[3, 1]), None, "unknown kind");
    assert_eq!(SteeringHint::decode(&[1]), None, "no bytes");
    assert!(SteeringHint::decode(&[1; 65]).is_some() && SteeringHint::decode(&[1; 66]).is_none());
    assert_eq!(ServedBy::decode(&[0; 8]), None);
    assert_eq!((AddressEcho::decode(&[1; 7]), AddressChallenge::decode(&[1; 9])), (None, None));
    assert_eq!(ExpectedBytes::decode(&[0; 3]), None, "no width of a NonNegativeInteger");
}

#[test]
fn an_announcement_is_bounded() {
    let mut names = Vec::new();
    crate::tlv::put_var(&mut names, 10_000);
    names.extend([1; 10_000]);
    assert_eq!(Anticipated::decode(&names), None);
    assert_eq!(Anticipated::wanting(0..10_000).wanted().len(), MAX_WANTED);
    assert_eq!(Anticipated::decode(&hex("00")), None, "nothing wanted");
    assert_eq!(Anticipated::decode(&hex("020500")), None, "the same segment twice");
    assert_eq!(Anticipated::decode(&hex("02ffffffffffffffffff01")), None, "beyond 2^64");
    let node = |held: &str, n: u8| format!("00000000000000{n:02x} {held} ff 00");
    let nodes = |held: &str, n: u8| (0..n).map(|i| node(held, i)).collect::<String>();
    assert!(Anticipated::decode(&hex(&format!("0105{}", nodes("80", 16)))).is_some());
    assert_eq!(Anticipated::decode(&hex(&format!("0105{}", nodes("80", 17)))), None);
    assert_eq!(Anticipated::decode(&hex(&format!("0105{}", node("40", 1)))), None, "not wanted");
    let twice = format!("0105{}{}", node("80", 1), node("80", 1));
    assert_eq!(Anticipated::decode(&hex(&twice)), None, "a node twice");
    // The largest one fits into the limit of all options of a packet.
    let mut ahead = Anticipated::wanting((0..64).map(|n| n << 58));
    for node in 1..=32 {
        ahead.add(Holder { node, held: u64::MAX, elapsed: 1 << 60, hops: None });
    }
    assert_eq!(ahead.holders().len(), MAX_HOLDERS);
    assert!(HopOptions::new().set(&ahead));
}

#[test]
fn labels_are_pushed_and_popped_in_turn() {
    // Four hops up, 12 bits each: 6 bytes. RFC 9531, section 3.2.
    let asked = labelled(0, 4, "");
    let mut label = asked.answered().unwrap();
    assert_eq!((label.hop_count, label.bitmap()), (0, &[0; 6][..]));
    for next in [0xabc, 0x123, 0x456, 0xdef] {
        assert!(label.push(next));
    }
    assert!(!label.push(1), "no slot is left");
    assert_eq!(label.bitmap(), hex("abc123456def"));
    label.set_mode(LabelMode::Strict);
    let way: Vec<u16> = std::iter::from_fn(|| label.pop()).collect();
    assert_eq!(way, [0xdef, 0x456, 0x123, 0xabc], "nearest to the consumer first");
    assert_eq!(label.answered().map(|l| l.slots()), Some(4), "as many as it had");
    let lying = labelled(PathLabel::STRICT, 255, "");
    assert_eq!(lying.clone().pop(), None);
    assert_eq!(labelled(0, 255, "").answered().unwrap().bitmap().len(), 64);
    assert_eq!(labelled(3, 255, "").answered(), None, "both flags");
}

#[test]
fn an_answer_takes_what_is_to_be_echoed() {
    let mut asked = HopOptions::new();
    asked.set(&TrafficClass::Secondary);
    asked.set(&RateStamp::MAX);
    asked.set(&labelled(0, 2, ""));
    let bytes = SmallVec::from_slice(&[1]);
    asked.set(&SteeringHint { kind: SteeringKind::Bloom, bytes: bytes.clone() });
    asked.set(&Anticipated::wanting([7]));
    asked.set(&ServedBy::ASK);
    asked.set(&RttHint(1));
    asked.set_raw(956, &[1]);
    let types = |options: &HopOptions| options.iter().map(|(typ, _)| typ).collect::<Vec<_>>();
    let data = answer(&asked, Some(9));
    assert_eq!(types(&data), [868, 880, 888, 892]);
    assert_eq!(data.get(), Some(ServedBy { node: 9, hops: 0 }));
    assert_eq!(data.get::<PathLabel>().unwrap().slots(), 2);
    assert_eq!(types(&answer(&asked, None)), [868, 880], "a Nack");
    asked.set(&SteeringHint { kind: SteeringKind::Random, bytes });
    assert!(answer(&asked, Some(9)).get::<SteeringHint>().is_some());
    assert!(answer(&HopOptions::new(), Some(9)).is_empty());
}

#[test]
fn path_ids_depend_on_all_hops_and_their_order() {
    let path = |hops: &[(u64, u64)]| {
        hops.iter().fold(PathId::default(), |id, (node, face)| id.folded(*node, *face))
    };
    let ways = [&[(1, 1), (2, 1)][..], &[(2, 1), (1, 1)], &[(1, 1)], &[(1, 2)], &[(2, 1)], &[]];
    for (at, one) in ways.iter().enumerate() {
        for other in &ways[..at] {
            assert_ne!(path(one), path(other), "{one:?} {other:?}");
        }
    }
    assert_eq!(path(ways[0]), path(&[(1, 1), (2, 1)]));
}

/// Decoding gives either `None`, or a value that survives a round trip.
fn survives<T: HopOption + PartialEq + std::fmt::Debug>(value: &[u8]) {
    if let Some(option) = T::decode(value) {
        let mut again = Vec::new();
        option.encode(&mut again);
        assert_eq!(T::decode(&again), Some(option));
    }
}

fn all_survive(value: &[u8]) {
    survives::<Range>(value);
    survives::<TrafficClass>(value);
    survives::<RateStamp>(value);
    survives::<PathId>(value);
    survives::<PathLabel>(value);
    survives::<SteeringHint>(value);
    survives::<Anticipated>(value);
    survives::<ServedBy>(value);
    survives::<ExpectedBytes>(value);
    survives::<RttHint>(value);
    survives::<RttSpread>(value);
    survives::<ResidenceTime>(value);
    survives::<Capability>(value);
    survives::<AddressChallenge>(value);
    survives::<AddressEcho>(value);
    survives::<Offers>(value);
}

/// An option survives a round trip; truncated anywhere, it is `None` or another option.
fn round<T: HopOption + PartialEq + std::fmt::Debug>(option: &T) {
    let mut value = Vec::new();
    option.encode(&mut value);
    assert_eq!(T::decode(&value).as_ref(), Some(option));
    for len in 0..value.len() {
        assert_ne!(T::decode(&value[..len]).as_ref(), Some(option), "cut to {len}");
    }
    (0..=value.len()).for_each(|len| all_survive(&value[..len]));
}

fn bytes(len: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), len)
}

fn holders() -> impl Strategy<Value = Vec<(u64, u64, u64, u8)>> {
    proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), 0..255u8), 0..20)
}

proptest! {
    #[test]
    fn any_bytes_are_survived(value in bytes(0..=200)) {
        all_survive(&value);
    }

    #[test]
    fn numbers_come_back(a in any::<u64>(), b in any::<u64>(), shift in 0..64) {
        let small = a >> shift;
        round(&RateStamp { primary: small, secondary: b });
        round(&ExpectedBytes(small));
        round(&RttHint(small));
        round(&RttSpread(small));
        round(&Capability(small));
        round(&PathId(a));
        round(&ServedBy { node: a, hops: b as u8 });
    }

    #[test]
    fn sets_of_segments_are_sets(
        count in 2..=256u16,
        of in proptest::collection::vec(0..256u16, 1..40),
    ) {
        let model: std::collections::BTreeSet<u16> = of.iter().map(|n| n % count).collect();
        let bits: SegmentBits = model.iter().copied().collect();
        prop_assert_eq!(bits.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!(usize::from(bits.count()), model.len());
        round(&Range::new(count, bits).unwrap());
        let rest = SegmentBits::first(count).without(bits);
        prop_assert_eq!(rest.count() + bits.count(), count);
        prop_assert!(rest.and(bits).is_empty() && rest.or(bits) == SegmentBits::first(count));
        prop_assert!((0..256).all(|at| bits.has(at) == model.contains(&at)));
    }

    #[test]
    fn announcements_come_back(
        of in proptest::collection::vec(any::<u64>(), 1..80),
        nodes in holders(),
        near in any::<bool>(),
    ) {
        let of = of.iter().map(|n| if near { n % 100 } else { *n });
        let mut ahead = Anticipated::wanting(of);
        for (node, held, elapsed, hops) in nodes {
            ahead.add(Holder { node, held, elapsed, hops: Some(hops).filter(|h| *h < 200) });
        }
        round(&ahead);
        for holder in ahead.holders() {
            prop_assert_eq!(ahead.held(holder).count() as u32, holder.held.count_ones());
        }
    }

    #[test]
    fn labels_come_back(
        flags in any::<u8>(), hops in any::<u8>(), next in any::<u16>(),
        bitmap in bytes(0..=64),
    ) {
        let mut value = vec![flags, hops];
        value.extend(next.to_be_bytes());
        value.extend(bitmap);
        round(&PathLabel::decode(&value).unwrap());
        let mut label = PathLabel::decode(&value).unwrap();
        let slots: Vec<_> = (0..label.slots()).map(|at| label.slot(at).unwrap()).collect();
        label.hop_count = 0;
        prop_assert!(slots.iter().all(|slot| label.push(*slot)));
        prop_assert!(!label.push(0) && label.slot(slots.len()).is_none());
        prop_assert_eq!(&label.bitmap()[..slots.len() * 3 / 2], &value[4..][..slots.len() * 3 / 2]);
    }

    #[test]
    fn hints_come_back(bytes in bytes(1..=64), bloom in any::<bool>()) {
        let kind = if bloom { SteeringKind::Bloom } else { SteeringKind::Random };
        round(&SteeringHint { kind, bytes: SmallVec::from_vec(bytes) });
    }
}
