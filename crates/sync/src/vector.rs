//! State vectors and their encoding.

use packet::tlv::{self, DecodeError, Fault, Reader};
use packet::{Name, NameRef};
use std::collections::BTreeMap;

/// TLV types of the specification, section 3.
mod types {
    pub const NAME: u64 = 7;
    pub const STATE_VECTOR: u64 = 201;
    pub const STATE_VECTOR_ENTRY: u64 = 202;
    pub const SEQ_NO_ENTRY: u64 = 210;
    pub const BOOTSTRAP_TIME: u64 = 212;
    pub const SEQ_NO: u64 = 214;
}

/// The publications of a member since one start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    /// The member.
    pub name: Name,
    /// The bootstrap time: the start, in seconds since 1970.
    pub boot: u64,
}

/// The sequence numbers of all streams of a group. A stream that is absent has number 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vector {
    /// In the canonical order of names, and in the order of bootstrap times.
    streams: BTreeMap<Name, BTreeMap<u64, u64>>,
}

impl Vector {
    /// A vector without streams.
    #[must_use]
    pub fn new() -> Vector {
        Vector::default()
    }

    /// The sequence number of a stream; 0 if it is absent.
    #[must_use]
    pub fn get(&self, name: &Name, boot: u64) -> u64 {
        self.streams.get(name).and_then(|boots| boots.get(&boot)).copied().unwrap_or(0)
    }

    /// Raises the number of a stream to `seq`, unless it is as large already.
    pub fn raise(&mut self, name: &Name, boot: u64, seq: u64) {
        if seq > self.get(name, boot) {
            self.streams.entry(name.clone()).or_default().insert(boot, seq);
        }
    }

    /// Merges another vector: each number is the larger of both (specification, section 3).
    pub fn merge(&mut self, other: &Vector) {
        for (name, boot, seq) in other.iter() {
            self.raise(name, boot, seq);
        }
    }

    /// True if a number here is smaller than in `other`, or absent.
    #[must_use]
    pub fn is_outdated_to(&self, other: &Vector) -> bool {
        other.iter().any(|(name, boot, seq)| self.get(name, boot) < seq)
    }

    /// All streams with their numbers, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, u64, u64)> {
        self.streams
            .iter()
            .flat_map(|(name, boots)| boots.iter().map(move |(boot, seq)| (name, *boot, *seq)))
    }

    /// True if it has no streams.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Decodes the element StateVector. Entries may have any order. Of several numbers for one
    /// stream, the largest counts; the number 0 counts as absent.
    ///
    /// # Errors
    /// The bytes are something else, or more than this element.
    pub fn decode(wire: &[u8]) -> Result<Vector, DecodeError> {
        decode(wire).map_err(|fault| DecodeError::new("StateVector", fault))
    }

    /// Appends the element StateVector.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let entries = self.streams.iter().map(|(name, boots)| entry_len(name.as_ref(), boots));
        tlv::put_header(out, types::STATE_VECTOR, entries.sum());
        for (name, boots) in &self.streams {
            tlv::put_header(out, types::STATE_VECTOR_ENTRY, entry_value_len(name.as_ref(), boots));
            name.encode_into(out);
            for (boot, seq) in boots {
                tlv::put_header(out, types::SEQ_NO_ENTRY, number_value_len(*boot, *seq));
                tlv::put_nni_tlv(out, types::BOOTSTRAP_TIME, *boot);
                tlv::put_nni_tlv(out, types::SEQ_NO, *seq);
            }
        }
    }
}

fn number_value_len(boot: u64, seq: u64) -> usize {
    tlv::nni_tlv_len(types::BOOTSTRAP_TIME, boot) + tlv::nni_tlv_len(types::SEQ_NO, seq)
}

fn entry_value_len(name: NameRef<'_>, boots: &BTreeMap<u64, u64>) -> usize {
    let numbers = boots.iter().map(|(boot, seq)| number_value_len(*boot, *seq));
    name.encoded_len() + numbers.map(|len| tlv::tlv_len(types::SEQ_NO_ENTRY, len)).sum::<usize>()
}

fn entry_len(name: NameRef<'_>, boots: &BTreeMap<u64, u64>) -> usize {
    tlv::tlv_len(types::STATE_VECTOR_ENTRY, entry_value_len(name, boots))
}

/// The most bytes that a stream takes in a vector, whatever its numbers.
pub(crate) fn most_bytes(name: NameRef<'_>) -> usize {
    entry_len(name, &BTreeMap::from([(u64::MAX, u64::MAX)]))
}

fn decode(wire: &[u8]) -> Result<Vector, Fault> {
    let mut reader = Reader::new(tlv::only(wire, types::STATE_VECTOR)?);
    let mut vector = Vector::new();
    while let Some(element) = reader.next_element()? {
        match element.typ {
            types::STATE_VECTOR_ENTRY => entry(element.value, &mut vector)?,
            typ if element.is_critical() => return Err(Fault::Critical(typ)),
            _ => {}
        }
    }
    Ok(vector)
}

fn entry(value: &[u8], vector: &mut Vector) -> Result<(), Fault> {
    let mut reader = Reader::new(value);
    let name = reader.expect(types::NAME)?;
    let name = NameRef::decode(name.value).map_err(|error| error.fault)?.to_name();
    while let Some(element) = reader.next_element()? {
        match element.typ {
            types::SEQ_NO_ENTRY => {
                let mut numbers = Reader::new(element.value);
                let boot = numbers.expect(types::BOOTSTRAP_TIME)?.nni()?;
                let seq = numbers.expect(types::SEQ_NO)?.nni()?;
                numbers.finish()?;
                vector.raise(&name, boot, seq);
            }
            typ if element.is_critical() => return Err(Fault::Critical(typ)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(streams: &[(&str, u64, u64)]) -> Vector {
        let mut vector = Vector::new();
        for (name, boot, seq) in streams {
            vector.raise(&name.parse().unwrap(), *boot, *seq);
        }
        vector
    }

    fn encoded(vector: &Vector) -> Vec<u8> {
        let mut out = Vec::new();
        vector.encode_into(&mut out);
        out
    }

    /// `TestSvMapTLV` of ndnd's `std/sync/svs_map_test.go`: the order of names is canonical, so
    /// shorter components come first, and bootstrap times ascend.
    #[test]
    fn ndnds_vector_has_its_order() {
        let sv = vector(&[
            ("/ndn/alice", 100, 1),
            ("/ndn/alice", 200, 4),
            ("/ndn/cathy", 150, 3),
            ("/ndn/bob", 150, 3),
            ("/ndn/bob", 50, 5),
        ]);
        let order: Vec<_> =
            sv.iter().map(|(name, boot, seq)| (name.to_string(), boot, seq)).collect();
        let expected = [
            ("/ndn/bob", 50, 5),
            ("/ndn/bob", 150, 3),
            ("/ndn/alice", 100, 1),
            ("/ndn/alice", 200, 4),
            ("/ndn/cathy", 150, 3),
        ];
        assert_eq!(order, expected.map(|(name, boot, seq)| (name.to_owned(), boot, seq)));
    }

    /// The example of the specification, section 5.3, with the bytes worked out by hand from
    /// section 3.
    #[test]
    fn the_specifications_vector_has_these_bytes() {
        let sv = vector(&[("/A", 1_636_266_330, 10), ("/A", 1_736_266_473, 1), ("/B", 7, 300)]);
        let expected = [
            &[0xc9, 45][..],
            &[0xca, 27, 7, 3, 8, 1, b'A'],
            &[0xd2, 9, 0xd4, 4, 0x61, 0x87, 0x71, 0x5a, 0xd6, 1, 10],
            &[0xd2, 9, 0xd4, 4, 0x67, 0x7d, 0x52, 0xe9, 0xd6, 1, 1],
            &[0xca, 14, 7, 3, 8, 1, b'B', 0xd2, 7, 0xd4, 1, 7, 0xd6, 2, 1, 44],
        ]
        .concat();
        assert_eq!(encoded(&sv), expected);
        assert_eq!(Vector::decode(&expected), Ok(sv));
    }

    #[test]
    fn any_order_and_repeated_streams_are_read_and_zero_is_absent() {
        let a = [7, 3, 8, 1, b'A'];
        let number = |boot, seq| [0xd2, 6, 0xd4, 1, boot, 0xd6, 1, seq];
        let entry = |parts: &[&[u8]]| {
            let value = parts.concat();
            [&[0xca, value.len() as u8][..], &value].concat()
        };
        let entries = [
            entry(&[&a, &number(9, 3), &number(2, 0)]),
            entry(&[&a, &number(1, 4), &number(9, 2)]),
        ]
        .concat();
        let wire = [&[0xc9, entries.len() as u8][..], &entries].concat();
        assert_eq!(Vector::decode(&wire), Ok(vector(&[("/A", 1, 4), ("/A", 9, 3)])));
        assert_eq!(Vector::decode(&[0xc9, 0]), Ok(Vector::new()));
    }

    #[test]
    fn malformed_vectors_are_errors() {
        for bad in [
            &[][..],
            &[0xc8, 0],
            &[0xc9, 1],
            &[0xc9, 2, 0xca, 0],
            &[0xc9, 2, 0xcb, 0],
            // A bootstrap time without a number behind it, and a number of three bytes.
            &[0xc9, 12, 0xca, 10, 7, 3, 8, 1, 65, 0xd2, 3, 0xd4, 1, 1],
            &[0xc9, 17, 0xca, 15, 7, 3, 8, 1, 65, 0xd2, 8, 0xd4, 1, 1, 0xd6, 3, 1, 1, 1],
        ] {
            assert!(Vector::decode(bad).is_err(), "{bad:?}");
        }
    }

    /// `TestSvMapNewer` of ndnd.
    #[test]
    fn a_vector_is_outdated_by_a_smaller_number_or_an_absent_name() {
        let base = [("/ndn/alice", 100, 1), ("/ndn/alice", 200, 4), ("/ndn/bob", 150, 3)];
        let mut first = vector(&base);
        let mut second = first.clone();
        assert!(!first.is_outdated_to(&second));
        second.raise(&"/ndn/alice".parse().unwrap(), 200, 99);
        assert!(first.is_outdated_to(&second) && !second.is_outdated_to(&first));
        first.raise(&"/ndn/cathy".parse().unwrap(), 100, 99);
        assert!(first.is_outdated_to(&second) && second.is_outdated_to(&first));
    }

    fn any_vector() -> impl Strategy<Value = Vector> {
        let stream = ("(/[a-e]{1,3}){1,3}", 0..1u64 << 40, 0..u64::MAX);
        proptest::collection::vec(stream, 0..20).prop_map(|streams| {
            let mut vector = Vector::new();
            for (name, boot, seq) in streams {
                vector.raise(&name.parse().unwrap(), boot, seq);
            }
            vector
        })
    }

    proptest! {
        #[test]
        fn an_encoded_vector_is_decoded(sv in any_vector()) {
            prop_assert_eq!(Vector::decode(&encoded(&sv)), Ok(sv.clone()));
            let most: usize =
                sv.iter().map(|(name, ..)| most_bytes(name.as_ref())).sum();
            prop_assert!(encoded(&sv).len() <= most + 9);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Vector::decode(&bytes);
        }

        #[test]
        fn a_merge_has_the_larger_numbers(a in any_vector(), b in any_vector()) {
            let mut merged = a.clone();
            merged.merge(&b);
            prop_assert!(!merged.is_outdated_to(&a) && !merged.is_outdated_to(&b));
            for (name, boot, seq) in merged.iter() {
                prop_assert_eq!(seq, a.get(name, boot).max(b.get(name, boot)));
            }
        }
    }
}
