//! Data packets of runs.

use super::name::{Run, Wanted, metadata_name};
use control::Rng;
use packet::{Component, ContentType, DataParts, MAX_PACKET, Name, NameRef, SignatureInfoBuf};
use security::Signer;
use transport::rdr::{self, Metadata};

/// The FreshnessPeriod of segments: a run is over soon.
const FRESHNESS_MS: u64 = 1000;
/// The maximum number of bytes of a segment's packet besides its name, its content, the signature
/// and the SignatureInfo: types, lengths, the segment number, FreshnessPeriod and FinalBlockId.
const BESIDES: usize = 64;
/// The maximum number of bytes of metadata besides the object's name.
const FACTS: usize = 64;

/// Makes the Data packets of runs.
pub struct Maker {
    /// Random bytes. The content of a segment begins at a place that depends on run and segment.
    bytes: Vec<u8>,
    signer: Signer,
    info: SignatureInfoBuf,
    content: Vec<u8>,
}

impl Maker {
    /// Signs by `signer`.
    pub fn new(signer: Signer) -> Maker {
        let mut rng = Rng::stream(0, &["perf"]);
        let words = (0..2 * MAX_PACKET / 8).flat_map(|_| rng.next_u64().to_be_bytes());
        let info = signer.info();
        Maker { bytes: words.collect(), signer, info, content: Vec::new() }
    }

    /// True if every packet of the run is small enough. `len` is the length of the name.
    pub fn fits(&self, run: &Run, len: usize) -> bool {
        let signature = self.info.as_bytes().len() + self.signer.signature_len();
        // A packet with facts has the name twice.
        let content = (run.segment_size as usize).max(len + FACTS);
        content + len + signature + BESIDES <= MAX_PACKET
    }

    /// Appends the packet, and returns the number of bytes of content. `object` is the name with
    /// the version.
    pub fn encode(
        &mut self,
        run: &Run,
        wanted: Wanted,
        object: NameRef<'_>,
        out: &mut Vec<u8>,
    ) -> usize {
        match wanted {
            Wanted::Metadata => {
                let last = Component::segment(0);
                self.facts(run, object, &metadata_name(object.parent()), Some(&last), out);
                0
            }
            Wanted::Root => {
                self.facts(run, object, &rdr::root_name(object), None, out);
                0
            }
            Wanted::Segment(segment) => {
                let (component, last) =
                    (Component::segment(segment), Component::segment(run.segments() - 1));
                let content = self.content(run, segment);
                let parts = DataParts {
                    name: object,
                    last: Some(component.as_ref()),
                    content_type: ContentType::BLOB,
                    freshness_ms: Some(FRESHNESS_MS),
                    final_block: Some(last.as_ref()),
                    content,
                };
                self.signer.encode_parts(&parts, &self.info, out);
                content.len()
            }
        }
    }

    fn content(&self, run: &Run, segment: u64) -> &[u8] {
        let places = (self.bytes.len() - MAX_PACKET) as u64;
        let begin = (run.id.wrapping_add(segment.wrapping_mul(61)) % places) as usize;
        &self.bytes[begin..begin + run.length(segment)]
    }

    /// Appends a packet with the facts about a run: consumers need the sizes.
    fn facts(
        &mut self,
        run: &Run,
        object: NameRef<'_>,
        name: &Name,
        final_block: Option<&Component>,
        out: &mut Vec<u8>,
    ) {
        let metadata = Metadata {
            final_block: Some(Component::segment(run.segments() - 1)),
            segment_size: Some(run.segment_size),
            size: Some(run.bytes),
            ..Metadata::bare(object.to_name())
        };
        self.content.clear();
        metadata.encode_into(&mut self.content);
        let parts = DataParts {
            name: name.as_ref(),
            last: None,
            content_type: ContentType::BLOB,
            freshness_ms: Some(FRESHNESS_MS),
            final_block: final_block.map(Component::as_ref),
            content: &self.content,
        };
        self.signer.encode_parts(&parts, &self.info, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::perf::name::base;
    use packet::Data;

    #[test]
    fn packets_fit_and_depend_on_run_and_segment_only() {
        let base = base(&"/a/b".parse().unwrap());
        let mut run = Run { id: u64::MAX, segment_size: 8800, bytes: u64::MAX };
        let object = run.object(&base);
        let mut maker = Maker::new(Signer::Digest);
        let len = object.as_ref().as_bytes().len();
        while !maker.fits(&run, len) {
            run.segment_size -= 1;
        }
        // The size that fits is nearly all of a packet.
        assert!(run.segment_size > 8500, "{}", run.segment_size);
        let object = run.object(&base);
        let segment = Wanted::Segment(run.segments() - 2);
        let (mut one, mut other) = (Vec::new(), Vec::new());
        assert_eq!(maker.encode(&run, segment, object.as_ref(), &mut one) as u64, run.segment_size);
        Maker::new(Signer::Digest).encode(&run, segment, object.as_ref(), &mut other);
        assert!(one.len() <= MAX_PACKET && one == other);
        let data = Data::decode(&one).unwrap();
        other.clear();
        maker.encode(&run, Wanted::Segment(0), object.as_ref(), &mut other);
        assert_ne!(data.content(), Data::decode(&other).unwrap().content());
    }

    #[test]
    fn metadata_of_a_long_name_fit_or_are_not_made() {
        let run = Run { id: u64::MAX, segment_size: 1, bytes: u64::MAX };
        let mut maker = Maker::new(Signer::Digest);
        let mut fits = |n: usize| {
            let object = run.object(&base(&format!("/{}", "a".repeat(n)).parse().unwrap()));
            if !maker.fits(&run, object.as_ref().as_bytes().len()) {
                return false;
            }
            for wanted in [Wanted::Metadata, Wanted::Root] {
                let mut wire = Vec::new();
                maker.encode(&run, wanted, object.as_ref(), &mut wire);
                assert!(wire.len() <= MAX_PACKET, "{n}: {}", wire.len());
            }
            true
        };
        assert!(fits(4000) && !fits(5000));
        assert!((4000..4400).any(|n| !fits(n)));
    }

    #[test]
    fn metadata_have_the_sizes() {
        let run = Run { id: 1, segment_size: 100, bytes: 250 };
        let object = run.object(&base(&"/a".parse().unwrap()));
        let mut maker = Maker::new(Signer::Digest);
        for wanted in [Wanted::Metadata, Wanted::Root] {
            let mut wire = Vec::new();
            maker.encode(&run, wanted, object.as_ref(), &mut wire);
            let data = Data::decode(&wire).unwrap();
            let name = object.as_ref().parent();
            let metadata = Metadata::decode(name, data.content()).unwrap();
            assert_eq!((metadata.segment_size, metadata.size), (Some(100), Some(250)));
            assert_eq!(metadata.object, object);
        }
    }
}
