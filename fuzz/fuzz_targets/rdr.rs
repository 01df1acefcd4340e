//! RDR metadata from any node: a packet that can be read can be written again and
//! means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::tlv::{Reader, types};
use packet::{Data, NameRef};
use transport::head;
use transport::rdr::{self, Metadata};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(data) = Data::decode(bytes) {
        understood(data.name(), data.content());
        for len in 0..=data.name().len().min(4) {
            head_of(data.name().prefix(len), &data);
        }
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
    let first = Reader::new(bytes).next_element().ok().flatten();
    let named = first.filter(|element| element.typ == types::NAME);
    if let Some(name) = named.and_then(|element| NameRef::decode(element.value).ok()) {
        for len in [0, name.len() / 2, name.len()] {
            understood(name.prefix(len), bytes);
        }
    }
});

/// A head says of an object what its segment says, and can be made again from what was understood.
fn head_of(name: NameRef<'_>, data: &Data<'_>) {
    let Some(head) = head::decode(name, data) else { return };
    let (segment, version) = head::parse(data.name(), name).expect("it has a head's name");
    let object = head.metadata.object.as_ref();
    assert_eq!(object.parent(), name);
    assert_eq!(object.last().and_then(|last| last.as_version()), version);
    assert_eq!(head.segment.name().parent(), object);
    let mut again = Vec::new();
    head::encode_into(&head.metadata, segment, head.segment.wire(), 4000, &mut again);
    // Unknown fields may have made room for the fields that are always there.
    let Ok(again) = Data::decode(&again) else { return };
    let again = head::decode(name, &again).expect("it was just made");
    assert_eq!((again.metadata, again.segment.wire()), (head.metadata, head.segment.wire()));
}

fn understood(name: NameRef<'_>, content: &[u8]) {
    let Some(metadata) = Metadata::decode(name, content) else { return };
    assert!(metadata.object.as_ref().starts_with(name) && metadata.object.len() > name.len());
    assert!(metadata.segment_size != Some(0));
    let mut again = Vec::new();
    metadata.encode_into(&mut again);
    assert_eq!(Metadata::decode(name, &again), Some(metadata));
}
