//! Status datasets: versioned, segmented objects, made on request.

use super::response::FRESHNESS_MS;
use control::{Duration, Time};
use forwarder::tables::memory;
use packet::{Bytes, Component, DataBuf, Interest, NameRef};
use std::collections::VecDeque;

/// Bytes of content in one packet.
const PAYLOAD: usize = 8000;

/// The time for which segments behind the first can be requested.
const KEPT: Duration = Duration::from_secs(10);

/// The maximum number of kept datasets with more than one segment.
const MAX_KEPT: usize = 16;

/// The maximum number of kept datasets with one segment: ndnd's tools ask for the version first,
/// and then for the first segment again, by its name.
const MAX_SHORT: usize = 64;

/// The latest datasets, kept while a client may request their segments.
#[derive(Debug, Default)]
pub(super) struct Datasets {
    /// The time of removal of each, and its packets by name.
    kept: VecDeque<(Time, Vec<Bytes>)>,
    /// The same of those with one packet.
    short: VecDeque<(Time, Vec<Bytes>)>,
    /// Bytes of memory that these take.
    memory: usize,
}

impl Datasets {
    /// The segment of an earlier dataset that answers the Interest.
    pub fn published(&self, now: Time, interest: &Interest<'_>) -> Option<Bytes> {
        interest.name().last()?.as_segment()?;
        self.kept
            .iter()
            .chain(&self.short)
            .filter(|(until, _)| *until > now)
            .flat_map(|(_, segments)| segments)
            .find(|wire| packet::Data::decode(wire).is_ok_and(|data| data.satisfies(interest)))
            .cloned()
    }

    /// Makes a dataset of `content` and returns its first segment; `None` if the Interest asks for
    /// a version or segment, or only for the bare name. Drops earlier ones that take more than
    /// `most` bytes of memory.
    pub fn publish(
        &mut self,
        now: Time,
        version: u64,
        interest: &Interest<'_>,
        content: &[u8],
        most: usize,
    ) -> Option<Bytes> {
        let name = interest.name();
        let last = name.last()?;
        let versioned = last.as_version().is_some() || last.as_segment().is_some();
        if versioned || !interest.can_be_prefix() {
            return None;
        }
        let segments = segments(name, version, content);
        let first = segments.first().cloned();
        self.forget(now);
        let is_short = segments.len() == 1;
        let limit = if is_short { MAX_SHORT } else { MAX_KEPT };
        let mut made = memory_of(&segments);
        let shelf = if is_short { &mut self.short } else { &mut self.kept };
        while shelf.len() == limit || (self.memory > most && !shelf.is_empty()) {
            self.memory -= shelf.pop_front().map_or(0, |(_, segments)| memory_of(&segments));
        }
        if !is_short || self.memory + made <= most {
            shelf.push_back((now + KEPT, segments));
        } else {
            made = 0;
        }
        self.memory += made;
        first
    }

    /// Drops datasets that are too old.
    pub fn forget(&mut self, now: Time) {
        for shelf in [&mut self.kept, &mut self.short] {
            while shelf.front().is_some_and(|(until, _)| *until <= now) {
                self.memory -= shelf.pop_front().map_or(0, |(_, segments)| memory_of(&segments));
            }
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

fn memory_of(segments: &[Bytes]) -> usize {
    segments.iter().map(|wire| memory::packet(wire.len())).sum()
}

/// `content` as signed packets `<name>/v=<version>/seg=<n>`, the final block on each.
fn segments(name: NameRef<'_>, version: u64, content: &[u8]) -> Vec<Bytes> {
    let versioned = name.to_name().with(&Component::version(version));
    let count = content.len().div_ceil(PAYLOAD).max(1);
    let last = Component::segment(count as u64 - 1);
    (0..count)
        .map(|i| {
            let end = content.len().min((i + 1) * PAYLOAD);
            let payload = Bytes::copy_from_slice(&content[i * PAYLOAD..end]);
            let name = versioned.clone().with(&Component::segment(i as u64));
            let mut data = DataBuf::new(name, payload);
            data.freshness_ms = Some(FRESHNESS_MS);
            data.final_block = Some(last.clone());
            data.encode_digest()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Data, InterestBuf};

    fn interest(uri: &str, prefix: bool) -> Bytes {
        let mut interest = InterestBuf::new(uri.parse().unwrap());
        interest.can_be_prefix = prefix;
        interest.must_be_fresh = prefix;
        interest.encode()
    }

    // StatusDataset, "Data Naming": [mgmt-22].
    // Other projects' programs, "Datasets": [peer-30].
    #[test]
    fn a_large_dataset_comes_in_segments_of_one_version() {
        let mut datasets = Datasets::default();
        let content: Vec<u8> = (0..17_000u32).map(|i| i as u8).collect();
        let asked = interest("/localhost/nfd/faces/list", true);
        let asked = Interest::decode(&asked).unwrap();
        let first = datasets.publish(Time(0), 77, &asked, &content, usize::MAX).unwrap();
        let mut got = Data::decode(&first).unwrap().content().to_vec();
        let last = Data::decode(&first).unwrap().final_block().unwrap().as_segment();
        assert_eq!(last, Some(2));
        for i in 1..=2 {
            let uri = format!("/localhost/nfd/faces/list/v=77/seg={i}");
            let wire = interest(&uri, false);
            let wanted = Interest::decode(&wire).unwrap();
            let packet = datasets.published(Time(KEPT.0 - 1), &wanted).unwrap();
            let data = Data::decode(&packet).unwrap();
            assert_eq!(data.final_block().unwrap().as_segment(), last);
            got.extend(data.content());
            assert!(datasets.published(Time(KEPT.0), &wanted).is_none(), "it is forgotten");
        }
        assert_eq!(got, content);
    }

    // Other projects' programs, "Datasets": [peer-30].
    #[test]
    fn only_the_bare_name_with_can_be_prefix_makes_a_new_one() {
        let mut datasets = Datasets::default();
        for (uri, prefix) in [
            ("/localhost/nfd/cs/info", false),
            ("/localhost/nfd/cs/info/v=3", true),
            ("/localhost/nfd/cs/info/v=3/seg=0", true),
        ] {
            let wire = interest(uri, prefix);
            let asked = Interest::decode(&wire).unwrap();
            assert!(datasets.publish(Time(0), 1, &asked, b"x", usize::MAX).is_none(), "{uri}");
        }
        let wire = interest("/localhost/nfd/cs/info", true);
        let asked = Interest::decode(&wire).unwrap();
        let packet = datasets.publish(Time(0), 1, &asked, b"", usize::MAX).unwrap();
        let data = Data::decode(&packet).unwrap();
        assert!(data.satisfies(&asked) && data.content().is_empty());
        assert_eq!(data.freshness_ms(), Some(1000));
        // ndnd's tools ask for it again, by the name that it has.
        let wire = interest(&data.name().to_string(), false);
        let asked = Interest::decode(&wire).unwrap();
        assert_eq!(datasets.published(Time(0), &asked), Some(packet.clone()));
    }

    #[test]
    fn kept_datasets_are_bounded() {
        let mut datasets = Datasets::default();
        let wire = interest("/localhost/nfd/fib/list", true);
        let asked = Interest::decode(&wire).unwrap();
        for version in 0..100 {
            datasets.publish(Time(0), version, &asked, &[0; 9000], usize::MAX);
        }
        assert_eq!(datasets.kept.len(), MAX_KEPT);
        datasets.publish(Time(0), 100, &asked, &[0; 9000], 40_000);
        assert_eq!(datasets.kept.len(), 5, "four earlier ones fit, and the newest");
        for version in 101..300 {
            datasets.publish(Time(0), version, &asked, &[0; 10], usize::MAX);
        }
        assert_eq!((datasets.kept.len(), datasets.short.len()), (5, MAX_SHORT), "apart");
        datasets.forget(Time(KEPT.0));
        assert_eq!((datasets.kept.len(), datasets.short.len(), datasets.memory()), (0, 0, 0));
    }
}
