//! The caches on the path of a packet, counted in hop-by-hop options.

use control::Duration;
use packet::{HopOption, tlv};

/// The count, on an Interest, of the caches between its consumer and this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachesBelow {
    /// How many there are.
    pub caches: u64,
    /// Their capacity together, in the unit that the network uses: bytes, or packets if all caches
    /// are bounded in packets.
    pub capacity: u64,
}

impl HopOption for CachesBelow {
    const TYPE: u32 = 908;

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.caches.min(MOST_CACHES) as u8);
        tlv::put_nni(out, self.capacity);
    }

    fn decode(value: &[u8]) -> Option<CachesBelow> {
        let (caches, capacity) = value.split_first()?;
        Some(CachesBelow { caches: u64::from(*caches), capacity: number(capacity)? })
    }
}

/// The count, on Data, of the caches between the answering node and this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachesPassed {
    /// How many there are.
    pub caches: u64,
    /// The age that the last of them gave its copy.
    pub age: Option<Duration>,
}

impl HopOption for CachesPassed {
    const TYPE: u32 = 912;

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.caches.min(MOST_CACHES) as u8);
        if let Some(age) = self.age {
            tlv::put_nni(out, age.0);
        }
    }

    fn decode(value: &[u8]) -> Option<CachesPassed> {
        let (caches, age) = value.split_first()?;
        let age = if age.is_empty() { None } else { Some(Duration(number(age)?)) };
        Some(CachesPassed { caches: u64::from(*caches), age })
    }
}

/// No path is this long. A larger number is an error or an attack.
const MOST_CACHES: u64 = 255;

fn number(value: &[u8]) -> Option<u64> {
    match value.len() {
        1 | 2 | 4 | 8 => Some(value.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))),
        _ => None,
    }
}

/// The position of Data between the answering node and the consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Caches that it has passed.
    pub passed: CachesPassed,
    /// Caches that are before it.
    pub below: CachesBelow,
    /// The capacity of this cache, in the unit of `below`.
    pub capacity: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: HopOption>(option: &T) -> Option<T> {
        let mut value = Vec::new();
        option.encode(&mut value);
        T::decode(&value)
    }

    #[test]
    fn options_come_back_as_they_were_and_nonsense_does_not() {
        for (caches, capacity) in [(0, 0), (3, 70_000), (255, u64::MAX)] {
            let below = CachesBelow { caches, capacity };
            assert_eq!(round(&below), Some(below));
            for age in [None, Some(Duration(0)), Some(Duration(capacity))] {
                let passed = CachesPassed { caches, age };
                assert_eq!(round(&passed), Some(passed));
            }
        }
        let long = CachesBelow { caches: 1000, capacity: 1 };
        assert_eq!(round(&long).map(|below| below.caches), Some(255));
        for value in [&[][..], &[1], &[1, 2, 3, 4]] {
            assert_eq!(CachesBelow::decode(value), None, "{value:?}");
        }
        assert_eq!(CachesPassed::decode(&[]), None);
        assert_eq!(CachesPassed::decode(&[1, 2, 3, 4]), None);
    }
}
