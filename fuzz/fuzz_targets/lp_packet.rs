//! A link packet that is accepted can be written again from its header and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::options::MAX_OPTION_BYTES;
use packet::{Data, Interest, LpHeader, LpPacket, NameRef};

fuzz_target!(|frame: &[u8]| {
    let Ok(view) = LpPacket::decode(frame) else { return };
    let header = LpHeader::from(&view);
    // Options beyond the bound of their bytes are left out.
    let bytes: usize = view.options().map(|(_, value)| value.len()).sum();
    if bytes <= MAX_OPTION_BYTES {
        assert_eq!(view.options().count(), header.options.len());
        assert_eq!(view.has_options(), !header.options.is_empty());
    }
    assert!(header.options.bytes() <= MAX_OPTION_BYTES);
    assert!(view.frag_index() < view.frag_count());

    let fragment = view.fragment().unwrap_or_default();
    let mut written = Vec::new();
    header.encode_into(fragment, &mut written);
    assert_eq!(written.len(), header.encoded_len(fragment.len()));
    // Without any header the fragment stands alone, and may be anything.
    if header.headers_len() == 0 && !fragment.is_empty() {
        assert_eq!(written, fragment);
    } else {
        let again = LpPacket::decode(&written).expect("what is written can be read");
        assert_eq!(LpHeader::from(&again), header);
        assert_eq!(again.fragment(), view.fragment());
    }

    if let Ok(interest) = Interest::decode(fragment) {
        assert!(Data::decode(fragment).is_err());
        assert!(
            interest.forwarding_hint().all(|name| NameRef::decode(name.as_bytes()) == Ok(name))
        );
    }
});
