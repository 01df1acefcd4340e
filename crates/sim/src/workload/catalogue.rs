//! Catalogues: many objects under one name. An object takes no memory before it is requested.

use control::Rng;
use packet::{Component, Name, NameRef};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::sizes::Distribution;
use crate::spec::{ServiceSpec, Signing};

/// A class of objects, for example mice or elephants.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name in results.
    pub name: String,
    /// The share of this class, relative to the sum of all shares.
    pub share: f64,
    /// The distribution of sizes.
    pub size: Distribution,
}

/// The objects of a catalogue.
#[derive(Clone, Debug, PartialEq)]
pub enum Objects {
    /// Objects named by their numbers, such as `/prefix/17`. Their sizes are drawn.
    Numbered {
        /// The number of objects; `None` is unbounded, with a new object for each request.
        count: Option<u64>,
        /// Their classes, one or more.
        classes: Vec<Class>,
    },
    /// The given objects: the suffix of the name, which may be empty, and the size in bytes.
    Listed(Vec<(Name, u64)>),
}

/// The distribution of objects among a catalogue's producers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Every producer has all objects.
    #[default]
    Replicated,
    /// One random producer has each object.
    Objects,
    /// One random producer has each segment. All producers have the metadata and manifests.
    Segments,
}

/// An object of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The number of the object.
    pub number: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The index of its class.
    pub class: u16,
}

/// Many objects under one name.
///
/// All random properties are functions of the seed, the name and the object's number, so consumers
/// and producers agree without a table.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The prefix of all objects.
    pub name: Name,
    /// The version of every object.
    pub version: u64,
    /// Bytes of content in a segment.
    pub segment_size: usize,
    /// The signatures.
    pub signing: Signing,
    /// The service time of the producers; `None` answers at once.
    pub service: Option<ServiceSpec>,
    /// The distribution of objects among the producers.
    pub spread: Spread,
    /// The number of producers.
    pub producers: u64,
    /// The number of consecutive segments placed together with [`Spread::Segments`].
    pub together: u64,
    objects: Objects,
    numbers: BTreeMap<Name, u64>,
    key: u64,
}

impl Catalogue {
    /// A catalogue at one producer, with version 1 of all objects.
    #[must_use]
    pub fn new(seed: u64, name: Name, segment_size: usize, objects: Objects) -> Catalogue {
        let key = Rng::stream(seed, &["catalogue", &name.to_string()]).next_u64();
        let mut numbers = BTreeMap::new();
        if let Objects::Listed(list) = &objects {
            numbers.extend(list.iter().map(|(name, _)| name.clone()).zip(0..));
        }
        Catalogue {
            name,
            version: 1,
            segment_size,
            signing: Signing::Manifest,
            service: None,
            spread: Spread::Replicated,
            producers: 1,
            together: 1,
            objects,
            numbers,
            key,
        }
    }

    /// The same catalogue at several producers.
    #[must_use]
    pub fn spread(mut self, spread: Spread, producers: usize) -> Catalogue {
        (self.spread, self.producers) = (spread, producers.max(1) as u64);
        self
    }

    /// The same catalogue, with runs of `segments` segments placed together.
    #[must_use]
    pub fn together(self, segments: u64) -> Catalogue {
        Catalogue { together: segments.max(1), ..self }
    }

    /// The same catalogue with other signatures.
    #[must_use]
    pub fn signed(self, signing: Signing) -> Catalogue {
        Catalogue { signing, ..self }
    }

    /// The same catalogue with another service time.
    #[must_use]
    pub fn served(self, service: Option<ServiceSpec>) -> Catalogue {
        Catalogue { service, ..self }
    }

    /// The number of objects; `None` if it is unbounded.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        match &self.objects {
            Objects::Numbered { count, .. } => *count,
            Objects::Listed(list) => Some(list.len() as u64),
        }
    }

    /// True if the catalogue has no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The names of the classes.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let classes = match &self.objects {
            Objects::Numbered { classes, .. } => &classes[..],
            Objects::Listed(_) => &[],
        };
        classes.iter().map(|class| class.name.as_str())
    }

    /// A pseudo-random number in [0, 1) for an object and a role.
    fn unit(&self, number: u64, role: u8) -> f64 {
        let mut bytes = [0; 9];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8] = role;
        (xxh3_64_with_seed(&bytes, self.key) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The object of this number, if it exists.
    #[must_use]
    pub fn object(&self, number: u64) -> Option<Object> {
        match &self.objects {
            Objects::Listed(list) => {
                let (_, size) = list.get(usize::try_from(number).ok()?)?;
                Some(Object { number, size: *size, class: 0 })
            }
            Objects::Numbered { count, .. } if count.is_some_and(|n| number >= n) => None,
            Objects::Numbered { classes, .. } => {
                let mut left = match &classes[..] {
                    [_] => 0.0,
                    _ => self.unit(number, 0) * classes.iter().map(|c| c.share).sum::<f64>(),
                };
                let drawn = classes.iter().position(|class| {
                    left -= class.share;
                    left < 0.0
                });
                let class = drawn.unwrap_or(classes.len().checked_sub(1)?);
                let size = classes[class].size.at(self.unit(number, 1), self.unit(number, 2));
                Some(Object { number, size, class: class as u16 })
            }
        }
    }

    /// The object's name, without the version.
    #[must_use]
    pub fn name_of(&self, number: u64) -> Name {
        let mut name = self.name.clone();
        match &self.objects {
            Objects::Listed(list) => {
                let own = usize::try_from(number).ok().and_then(|n| list.get(n));
                own.iter()
                    .flat_map(|(own, _)| own.as_ref().components())
                    .for_each(|c| name.push(c));
            }
            Objects::Numbered { .. } => {
                name.push(Component::generic(number.to_string().as_bytes()).as_ref());
            }
        }
        name
    }

    /// The number of the object whose name is a prefix of `name`.
    #[must_use]
    pub fn number_of(&self, name: NameRef<'_>) -> Option<u64> {
        if !name.starts_with(self.name.as_ref()) {
            return None;
        }
        let depth = self.name.len();
        if let Objects::Listed(_) = &self.objects {
            let mut own = Name::default();
            let mut found = self.numbers.get(&own);
            for component in (depth..name.len()).filter_map(|i| name.get(i)) {
                if found.is_some() {
                    break;
                }
                own.push(component);
                found = self.numbers.get(&own);
            }
            return found.copied();
        }
        let digits = std::str::from_utf8(name.get(depth)?.value()).ok()?;
        let number: u64 = digits.parse().ok()?;
        // Each object has one name: `007` is not 7.
        let canonical = digits == "0" || !digits.starts_with(['0', '+']);
        (canonical && self.object(number).is_some()).then_some(number)
    }

    /// The number of segments of an object of `size` bytes.
    #[must_use]
    pub fn segments(&self, size: u64) -> u64 {
        size.div_ceil(self.segment_size as u64).max(1)
    }

    /// The number of segments of all objects; `None` if it is unbounded.
    #[must_use]
    pub fn all_segments(&self) -> Option<u64> {
        let sizes = (0..self.len()?).filter_map(|n| self.object(n));
        Some(sizes.map(|object| self.segments(object.size)).sum())
    }

    /// The index of the producer that has a segment of an object; `None` if all have it.
    #[must_use]
    pub fn producer_of(&self, number: u64, segment: u64) -> Option<usize> {
        let part = match self.spread {
            Spread::Replicated => return None,
            Spread::Objects => u64::MAX,
            Spread::Segments => segment / self.together,
        };
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&part.to_le_bytes());
        let hash = xxh3_64_with_seed(&bytes, self.key ^ 0x9e37_79b9_7f4a_7c15);
        Some(((u128::from(hash) * u128::from(self.producers)) >> 64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    fn class(name: &str, share: f64, size: u64) -> Class {
        Class { name: name.to_owned(), share, size: Distribution::Constant(size) }
    }

    #[test]
    fn names_and_numbers_belong_together() {
        let classes = vec![class("", 1.0, 10)];
        let numbered = Objects::Numbered { count: Some(12), classes };
        let c = Catalogue::new(1, name("/v"), 4, numbered);
        assert_eq!(c.name_of(11), name("/v/11"));
        assert_eq!(c.number_of(name("/v/11/v=1/seg=0").as_ref()), Some(11));
        for other in ["/v", "/v/12", "/v/007", "/v/+1", "/v/x", "/w/1"] {
            assert_eq!(c.number_of(name(other).as_ref()), None, "{other}");
        }
        assert_eq!((c.segments(10), c.all_segments()), (3, Some(36)));
        let listed = Objects::Listed(vec![(name("/hi/0"), 5), (name("/lo/0"), 3)]);
        let c = Catalogue::new(1, name("/v"), 4, listed);
        assert_eq!(c.name_of(1), name("/v/lo/0"));
        assert_eq!(c.number_of(name("/v/lo/0/v=1").as_ref()), Some(1));
        assert_eq!(c.number_of(name("/v/lo").as_ref()), None);
        let whole = Catalogue::new(1, name("/v"), 4, Objects::Listed(vec![(name("/"), 5)]));
        assert_eq!(
            (whole.name_of(0), whole.number_of(name("/v/x").as_ref())),
            (name("/v"), Some(0))
        );
    }

    #[test]
    fn classes_have_their_shares_and_sizes() {
        let classes = vec![class("mice", 9.0, 1), class("elephants", 1.0, 1000)];
        let c = Catalogue::new(7, name("/m"), 100, Objects::Numbered { count: None, classes });
        let of: Vec<_> = (0..20_000).filter_map(|n| c.object(n)).collect();
        let elephants = of.iter().filter(|object| object.class == 1).count();
        // 2,000 expected, standard deviation 42.
        assert!(elephants.abs_diff(2000) < 210, "{elephants}");
        assert!(of.iter().all(|o| o.size == if o.class == 1 { 1000 } else { 1 }));
        assert_eq!((c.object(5), c.len(), c.all_segments()), (Some(of[5]), None, None));
    }

    #[test]
    fn every_segment_is_at_exactly_one_of_the_producers() {
        let objects = || Objects::Numbered { count: None, classes: vec![class("", 1.0, 1)] };
        let c = |seed| Catalogue::new(seed, name("/m"), 100, objects());
        let segments = c(1).spread(Spread::Segments, 3);
        let mut counts = [0u32; 3];
        (0..9000).for_each(|n| counts[segments.producer_of(4, n).unwrap()] += 1);
        // 3,000 expected, standard deviation 45.
        assert!(counts.iter().all(|n| n.abs_diff(3000) < 225), "{counts:?}");
        let objects = c(1).spread(Spread::Objects, 3);
        assert!((0..50).all(|n| objects.producer_of(4, n) == objects.producer_of(4, 0)));
        assert!((0..50).any(|n| objects.producer_of(n, 0) != objects.producer_of(4, 0)));
        assert_eq!(c(1).producer_of(4, 0), None);
        let runs = segments.clone().together(32);
        assert!((0..640).all(|n| runs.producer_of(4, n) == segments.producer_of(4, n / 32)));
        let other = c(2).spread(Spread::Segments, 3);
        assert!((0..50).any(|n| other.producer_of(4, n) != segments.producer_of(4, n)));
    }
}
