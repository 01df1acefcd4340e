//! Entries as bytes of the index. A sum at their end shows damage.

use crate::entry::{Body, Entry, Object, Place, Top};
use packet::tlv::{self, Element, Reader};
use packet::{Bytes, Fault, Name, NameRef};
use transport::publish::SignedPackets;
use xxhash_rust::xxh3::xxh3_64;

/// Elements of a record.
mod types {
    pub const NAME: u64 = 7;
    pub const VERSION: u64 = 0x81;
    pub const PACKET: u64 = 0x83;
    pub const INLINE: u64 = 0x85;
    pub const BLOB: u64 = 0x87;
    pub const SIZE: u64 = 0x89;
    pub const SEGMENT_SIZE: u64 = 0x8b;
    pub const FANOUT: u64 = 0x8d;
    pub const BELOW: u64 = 0x8f;
    pub const METADATA: u64 = 0x91;
    pub const ROOT: u64 = 0x93;
    pub const MANIFEST: u64 = 0x95;
    pub const ADDED: u64 = 0x97;
    pub const FILES: u64 = 0x99;
    pub const MEDIA_TYPE: u64 = 0x9b;
}

/// Bytes of the sum.
const SUM: usize = 8;

/// A record with its sum.
pub fn seal(mut record: Vec<u8>) -> Vec<u8> {
    let sum = xxh3_64(&record);
    record.extend_from_slice(&sum.to_be_bytes());
    record
}

/// The record of one with its sum; `None` if it is damaged.
pub fn open(record: &[u8]) -> Option<&[u8]> {
    let (content, sum) = record.split_last_chunk::<SUM>()?;
    (xxh3_64(content).to_be_bytes() == *sum).then_some(content)
}

/// The record of an entry.
pub fn encode(entry: &Entry) -> Vec<u8> {
    let mut out = Vec::new();
    entry.name.encode_into(&mut out);
    tlv::put_nni_tlv(&mut out, types::VERSION, entry.version);
    match &entry.body {
        Body::Packet(packet) => tlv::put_tlv(&mut out, types::PACKET, packet),
        Body::Object(object) => {
            match &object.place {
                Place::Inline(bytes) => tlv::put_tlv(&mut out, types::INLINE, bytes),
                Place::Blob(digest) => tlv::put_tlv(&mut out, types::BLOB, digest),
            }
            tlv::put_nni_tlv(&mut out, types::SIZE, object.size);
            tlv::put_nni_tlv(&mut out, types::SEGMENT_SIZE, object.segment_size.into());
            tlv::put_nni_tlv(&mut out, types::FANOUT, object.fanout.into());
            tlv::put_tlv(&mut out, types::BELOW, object.below.as_flattened());
            tlv::put_tlv(&mut out, types::METADATA, &object.signed.metadata);
            tlv::put_tlv(&mut out, types::ROOT, &object.signed.root);
            tlv::put_tlv(&mut out, types::MANIFEST, &object.signed.manifest);
        }
    }
    seal(out)
}

/// The entry of a record; `None` if the record is damaged.
pub fn decode(record: &[u8]) -> Option<Entry> {
    read_entry(open(record)?).ok()
}

fn read_entry(content: &[u8]) -> Result<Entry, Fault> {
    let mut reader = Reader::new(content);
    let name = name(reader.expect(types::NAME)?.value)?;
    let version = reader.expect(types::VERSION)?.nni()?;
    let bytes = Bytes::copy_from_slice;
    if let Some(packet) = reader.optional(types::PACKET)? {
        return Ok(Entry { name, version, body: Body::Packet(bytes(packet.value)) });
    }
    let place = match reader.optional(types::INLINE)? {
        Some(inline) => Place::Inline(bytes(inline.value)),
        None => {
            let digest = reader.expect(types::BLOB)?.value;
            Place::Blob(digest.try_into().map_err(|_| Fault::BadLength(types::BLOB))?)
        }
    };
    let size = reader.expect(types::SIZE)?.nni()?;
    let segment_size = short(&mut reader, types::SEGMENT_SIZE)?;
    let fanout = short(&mut reader, types::FANOUT)?;
    let (below, rest) = reader.expect(types::BELOW)?.value.as_chunks();
    if !rest.is_empty() {
        return Err(Fault::BadLength(types::BELOW));
    }
    let below = below.to_vec();
    let signed = SignedPackets {
        metadata: bytes(reader.expect(types::METADATA)?.value),
        root: bytes(reader.expect(types::ROOT)?.value),
        manifest: bytes(reader.expect(types::MANIFEST)?.value),
    };
    let object = Object { place, size, segment_size, fanout, below, signed };
    Ok(Entry { name, version, body: Body::Object(Box::new(object)) })
}

fn short(reader: &mut Reader<'_>, typ: u64) -> Result<u32, Fault> {
    u32::try_from(reader.expect(typ)?.nni()?).map_err(|_| Fault::BadValue(typ))
}

fn name(value: &[u8]) -> Result<Name, Fault> {
    NameRef::decode(value).map(|name| name.to_name()).map_err(|_| Fault::BadValue(types::NAME))
}

fn text(element: Element<'_>) -> Result<String, Fault> {
    String::from_utf8(element.value.to_vec()).map_err(|_| Fault::BadValue(element.typ))
}

/// The record of a thing that a user has put into the store.
pub fn encode_top(top: &Top) -> Vec<u8> {
    let mut out = Vec::new();
    tlv::put_nni_tlv(&mut out, types::ADDED, top.added);
    tlv::put_nni_tlv(&mut out, types::SIZE, top.bytes);
    if let Some(files) = top.files {
        tlv::put_nni_tlv(&mut out, types::FILES, files);
    }
    if let Some(media_type) = &top.media_type {
        tlv::put_tlv(&mut out, types::MEDIA_TYPE, media_type.as_bytes());
    }
    top.prefixes.iter().for_each(|prefix| prefix.encode_into(&mut out));
    seal(out)
}

/// Reads it; `None` if it is damaged.
pub fn decode_top(record: &[u8]) -> Option<Top> {
    read_top(open(record)?).ok()
}

fn read_top(content: &[u8]) -> Result<Top, Fault> {
    let mut reader = Reader::new(content);
    let added = reader.expect(types::ADDED)?.nni()?;
    let bytes = reader.expect(types::SIZE)?.nni()?;
    let files = reader.optional(types::FILES)?.map(|files| files.nni()).transpose()?;
    let media_type = reader.optional(types::MEDIA_TYPE)?.map(text).transpose()?;
    let mut prefixes = Vec::new();
    while let Some(element) = reader.next_element()? {
        prefixes.push(name(element.value)?);
    }
    Ok(Top { added, bytes, files, prefixes, media_type })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries() -> [Entry; 2] {
        let name: Name = "/a/file".parse().unwrap();
        let signed = SignedPackets {
            metadata: Bytes::from_static(b"metadata"),
            root: Bytes::from_static(b"root"),
            manifest: Bytes::from_static(b"manifest"),
        };
        let below = vec![[7; 32], [8; 32]];
        let object = Object {
            place: Place::Blob([9; 32]),
            size: 12_345,
            segment_size: 8000,
            fanout: 250,
            below,
            signed,
        };
        let inline = Object { place: Place::Inline(Bytes::from_static(b"x")), ..object.clone() };
        let of = |object| Entry {
            name: name.clone(),
            version: 77,
            body: Body::Object(Box::new(object)),
        };
        [of(object), of(inline)]
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let packet = Body::Packet(Bytes::from_static(b"packet"));
        let packet = Entry { name: "/a/packet".parse().unwrap(), version: 0, body: packet };
        for entry in entries().into_iter().chain([packet]) {
            assert_eq!(decode(&encode(&entry)).unwrap(), entry);
        }
        for (files, media_type) in [(None, Some("text/plain".to_owned())), (Some(3), None)] {
            let prefixes = vec!["/a".parse().unwrap(), "/b/c".parse().unwrap()];
            let top = Top { added: 5, bytes: 6, files, prefixes, media_type };
            assert_eq!(decode_top(&encode_top(&top)).unwrap(), top);
        }
    }

    #[test]
    fn the_record_of_an_older_program_is_read() {
        // ADDED 5, SIZE 6, the prefix /a.
        let old = [0x97, 1, 5, 0x89, 1, 6, 7, 3, 8, 1, b'a'];
        let top = decode_top(&seal(old.to_vec())).unwrap();
        let prefixes = vec!["/a".parse().unwrap()];
        assert_eq!(top, Top { added: 5, bytes: 6, prefixes, ..Top::default() });
    }

    proptest! {
        #[test]
        fn no_damaged_record_is_read(at in any::<prop::sample::Index>(), change in 1u8..) {
            for entry in entries() {
                let mut record = encode(&entry);
                let at = at.index(record.len());
                record[at] ^= change;
                prop_assert!(decode(&record).is_none());
                prop_assert!(decode(&record[..at]).is_none());
            }
        }
    }
}
