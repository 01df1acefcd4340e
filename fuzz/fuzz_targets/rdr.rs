//! RDR metadata, as whoever answers first sends it: what is understood can be written again and
//! means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::tlv::{Reader, types};
use packet::{Data, NameRef};
use transport::rdr::{self, Metadata};

fuzz_target!(|octets: &[u8]| {
    if let Ok(data) = Data::decode(octets) {
        understood(data.name(), data.content());
        if let Some((object, _)) = rdr::split_segment(&data) {
            assert_eq!(object.len() + 1, data.name().len());
        }
        let last = data.final_block().and_then(|last| last.as_segment_any());
        assert_eq!(
            rdr::segments_from(data.final_block()),
            last.and_then(|last| last.checked_add(1))
        );
    }
    // The name that the metadata is for is a prefix of the first name in it.
    let first = Reader::new(octets).next_element().ok().flatten();
    let named = first.filter(|element| element.typ == types::NAME);
    if let Some(name) = named.and_then(|element| NameRef::decode(element.value).ok()) {
        for len in [0, name.len() / 2, name.len()] {
            understood(name.prefix(len), octets);
        }
    }
});

fn understood(name: NameRef<'_>, content: &[u8]) {
    let Some(metadata) = Metadata::decode(name, content) else { return };
    assert!(metadata.object.as_ref().starts_with(name) && metadata.object.len() > name.len());
    assert!(metadata.segment_size != Some(0));
    let mut again = Vec::new();
    metadata.encode_into(&mut again);
    assert_eq!(Metadata::decode(name, &again), Some(metadata));
}
