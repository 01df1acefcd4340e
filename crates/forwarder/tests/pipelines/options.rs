//! Malformed options: taken off, counted by reason, and nothing else becomes of them.

use crate::support::{Bench, data, frame, interest};
use forwarder::caching::{CachesBelow, CachesPassed};
use forwarder::{FaceId, OptionFault};
use packet::options::{AddressChallenge, AddressEcho, Offers};
use packet::options::{
    Anticipated, Capability, Exclude, ExpectedBytes, PathId, PathLabel, Range, RateStamp,
    ResidenceTime, RttHint, RttSpread, ServedBy, SteeringHint, TrafficClass,
};
use packet::tlv::{put_header, put_tlv, types};
use packet::{HopOption, LpHeader, NackReason};

/// An option that no forwarder knows: it goes through as it is.
const UNKNOWN: (u32, &[u8]) = (956, b"whatever");

/// Nine packets to exclude.
const COUNTING: [u8; 72] = {
    let mut value = [0; 72];
    let mut at = 0;
    while at < value.len() {
        value[at] = at as u8;
        at += 1;
    }
    value
};

/// Values that are malformed in one way, each with its type.
fn wrong(fault: OptionFault) -> (u32, Vec<Vec<u8>>) {
    let holder = [&[0, 0, 0, 0, 0, 0, 0, 7][..], &[0x80, 255, 0]].concat();
    let announced = |holders: usize| {
        (0..holders).fold(vec![1, 5], |value, n| {
            [&value, &[0, 0, 0, 0, 0, 0, 0, n as u8][..], &holder[8..]].concat()
        })
    };
    let (typ, values): (u32, &[&[u8]]) = match fault {
        OptionFault::Range => (Range::TYPE, &[&[], &[0xfd, 1]]),
        OptionFault::RangeCount => (
            Range::TYPE,
            &[&[0], &[1], &[1, 0x80], &[0xfd, 1, 1], &[0xff, 255, 255, 255, 255, 0, 0, 0, 1]],
        ),
        OptionFault::RangeBitmap => (
            Range::TYPE,
            // Of 12 segments: too short, too long, empty, one behind the last.
            &[&[12, 0x90], &[12, 0x90, 0x10, 0], &[12, 0, 0], &[12, 0x90, 0x18]],
        ),
        OptionFault::TrafficClass => (TrafficClass::TYPE, &[&[], &[2], &[0; 3]]),
        OptionFault::RateStamp => (RateStamp::TYPE, &[&[], &[9], &[9, 9, 9], &[9, 0xfe, 1]]),
        OptionFault::PathId => (PathId::TYPE, &[&[], &[1; 7], &[1; 9]]),
        OptionFault::PathLabel => (PathLabel::TYPE, &[&[], &[0; 3], &[0; 4 + 65]]),
        OptionFault::SteeringHint => (SteeringHint::TYPE, &[&[], &[2], &[3, 1], &[2; 66]]),
        OptionFault::Anticipated => (
            Anticipated::TYPE,
            &[
                &[],
                &[0],
                &[65],
                &[2, 5],
                &[2, 5, 0],
                &[2, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1],
                &[&[1, 5][..], &holder[..9]].concat(),
                &[&[1, 5][..], &holder, &holder].concat(),
                &[&[1, 5][..], &holder[..8], &[0x40, 255, 0]].concat(),
                &[&[1, 5][..], &holder[..8], &[0, 255, 0]].concat(),
                &announced(17),
            ],
        ),
        OptionFault::ServedBy => (ServedBy::TYPE, &[&[7], &[0; 8], &[0; 10]]),
        OptionFault::ExpectedBytes => (ExpectedBytes::TYPE, &[&[], &[1; 3], &[1; 9]]),
        OptionFault::RttHint => (RttHint::TYPE, &[&[], &[1; 3], &[1; 9]]),
        OptionFault::Capability => (Capability::TYPE, &[&[], &[1; 3]]),
        OptionFault::AddressChallenge => (AddressChallenge::TYPE, &[&[], &[1; 7], &[1; 9]]),
        OptionFault::AddressEcho => (AddressEcho::TYPE, &[&[], &[1; 7], &[1; 9]]),
        OptionFault::Offers => (
            Offers::TYPE,
            // Empty, cut off, four, in the wrong order, two of a link.
            &[&[], &[1; 3], &[1; 16], &[2, 0, 0, 1, 1, 0, 0, 2], &[1, 0, 0, 1, 2, 0, 0, 1]],
        ),
        OptionFault::RttSpread => (RttSpread::TYPE, &[&[], &[1; 3], &[1; 9]]),
        OptionFault::ResidenceTime => (ResidenceTime::TYPE, &[&[], &[1; 3], &[1; 9]]),
        OptionFault::CachesBelow => (CachesBelow::TYPE, &[&[], &[1], &[1, 2, 3, 4]]),
        OptionFault::CachesPassed => (CachesPassed::TYPE, &[&[], &[1, 2, 3, 4]]),
        OptionFault::Exclude => (Exclude::TYPE, &[&[], &[1; 7], &[1; 16], &COUNTING, &[1; 9]]),
        // These are not about one value.
        OptionFault::RangeMisplaced
        | OptionFault::RangeUnproved
        | OptionFault::Repeated
        | OptionFault::TooManyBytes => (0, &[]),
    };
    (typ, values.iter().map(|value| value.to_vec()).collect())
}

struct Path {
    bench: Bench,
    down: FaceId,
    up: FaceId,
}

impl Path {
    fn new() -> Path {
        let mut bench = Bench::new();
        let (down, up) = (bench.face(), bench.face());
        bench.route("/a", up);
        Path { bench, down, up }
    }

    /// An Interest goes up with these options, then Data or a Nack down: what each goes on with.
    fn there_and_back(&mut self, n: u32, header: LpHeader, nack: bool) -> [Vec<(u32, Vec<u8>)>; 2] {
        let uri = format!("/a/v=1/seg={n}");
        let asked = interest(&uri, n).encode();
        self.bench.receive(self.down, &frame(&header, &asked));
        let up = self.bench.one(self.up);
        let mut back = header;
        back.nack = nack.then_some(NackReason::NoRoute);
        let answer = if nack { up.packet } else { data(&uri, b"content").to_vec() };
        self.bench.receive(self.up, &frame(&back, &answer));
        let down = self.bench.one(self.down);
        assert_eq!(down.header.nack, nack.then_some(NackReason::NoRoute));
        [up.header, down.header].map(|header| {
            let options = header.options.iter();
            options.map(|(typ, value)| (typ, value.to_vec())).collect()
        })
    }

    /// The counts on either face; the forwarder's own counts include all of them.
    fn counted(&self, fault: OptionFault) -> [u64; 2] {
        let counters = |face| self.bench.fw.counters(face).unwrap();
        let counts = [self.down, self.up].map(|face| counters(face).malformed_options.of(fault));
        let stats = self.bench.fw.stats();
        assert_eq!(stats.malformed_options.of(fault), counts[0] + counts[1], "{fault}");
        assert_eq!(stats.drops.total(), 0, "{fault}: options are ignored, not packets");
        counts
    }
}

#[test]
fn every_malformed_option_is_ignored_and_counted_by_reason() {
    for fault in OptionFault::ALL {
        let (typ, values) = wrong(*fault);
        for (nack, value) in [false, true].iter().flat_map(|n| values.iter().map(move |v| (n, v))) {
            let mut path = Path::new();
            let mut header = LpHeader::default();
            assert!(header.options.set_raw(typ, value) && header.options.set_raw(956, UNKNOWN.1));
            let went_on = path.there_and_back(1, header, *nack);
            let left = vec![(UNKNOWN.0, UNKNOWN.1.to_vec())];
            assert_eq!(went_on, [left.clone(), left], "{fault}: {value:?}, Nack: {nack}");
            assert_eq!(path.counted(*fault), [1, 1], "{fault}: {value:?}, Nack: {nack}");
            assert_eq!(path.bench.fw.stats().malformed_options.total(), 2, "{fault}: {value:?}");
        }
    }
}

#[test]
fn a_malformed_capability_is_counted() {
    let (_, values) = wrong(OptionFault::Capability);
    for value in values {
        let mut path = Path::new();
        let mut header = LpHeader::default();
        header.options.set_raw(Capability::TYPE, &value);
        let up = path.up;
        path.bench.receive(up, &frame(&header, &[]));
        assert_eq!(path.counted(OptionFault::Capability), [0, 1], "{value:?}");
        assert_eq!(path.bench.fw.counters(up).unwrap().idle, 1);
    }
}

#[test]
fn a_range_where_there_can_be_none_is_counted() {
    let mut path = Path::new();
    let mut header = LpHeader::default();
    header.options.set(&Range::whole(4).unwrap());
    let mut prefix = interest("/a/v=1/seg=0", 1);
    prefix.can_be_prefix = true;
    let last = interest(&format!("/a/v=1/seg={}", u64::MAX - 3), 2);
    for (n, asked) in (1..).zip([prefix, last, interest("/a/none", 3)]) {
        let down = path.down;
        path.bench.receive(down, &frame(&header, &asked.encode()));
        let up = path.up;
        assert!(path.bench.one(up).header.options.is_empty());
        assert_eq!(path.counted(OptionFault::RangeMisplaced), [n, 0]);
    }
}

#[test]
fn the_first_of_repeated_options_counts_and_so_does_what_fits() {
    let mut path = Path::new();
    let asked = interest("/a/v=1/seg=7", 1).encode();
    let mut value = Vec::new();
    // Two RateStamps, then unknown options of 500 bytes: two fit beside the stamp.
    for bytes in [[1, 1], [2, 2]] {
        put_tlv(&mut value, u64::from(RateStamp::TYPE), &bytes);
    }
    for typ in [944, 948, 952] {
        put_tlv(&mut value, typ, &[0; 500]);
    }
    put_tlv(&mut value, types::LP_FRAGMENT, &asked);
    let mut bytes = Vec::new();
    put_header(&mut bytes, types::LP_PACKET, value.len());
    bytes.extend(value);
    let (down, up) = (path.down, path.up);
    path.bench.receive(down, &bytes);
    let sent = path.bench.one(up).header.options;
    assert_eq!(sent.iter().map(|(typ, _)| typ).collect::<Vec<_>>(), [872, 944, 948]);
    assert_eq!(sent.get::<RateStamp>(), Some(RateStamp { primary: 1, secondary: 1 }));
    assert_eq!(path.counted(OptionFault::Repeated), [1, 0]);
    assert_eq!(path.counted(OptionFault::TooManyBytes), [1, 0]);
}

/// Every option in the manual of the wire is checked.
#[test]
fn every_option_of_the_manual_is_checked() {
    let manual = include_str!("../../../../docs/reference/wire.md");
    let rows = manual.lines().filter_map(|line| {
        let (typ, rest) = line.strip_prefix("| ")?.split_once(" (0x0")?;
        Some((typ.parse::<u32>().ok()?, rest.split('|').nth(1)?.trim()))
    });
    let mut listed = 0;
    for (typ, name) in rows {
        let checked = OptionFault::ALL.iter().any(|fault| wrong(*fault).0 == typ);
        assert!(checked, "{name}, {typ}, has no malformed value above");
        listed += 1;
    }
    // From 864 to 932 without a gap, and Exclude.
    assert_eq!(listed, (932 - 864) / 4 + 1 + 1);
}
