//! An Interest that is accepted can be written again from its fields and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::tlv::Fault;
use packet::{Interest, InterestBuf};

fuzz_target!(|wire: &[u8]| {
    let Ok(view) = Interest::decode(wire) else { return };
    assert_eq!(view.wire(), wire);
    if let Some(at) = view.nonce_at() {
        assert_eq!(
            view.nonce().map(u32::to_be_bytes).as_ref().map(|n| &n[..]),
            wire.get(at..at + 4)
        );
    }
    if let Some(at) = view.hop_limit_at() {
        assert_eq!(view.hop_limit().as_ref(), wire.get(at));
    }
    let portion = view.signed_portion();
    assert!(portion.iter().map(|piece| piece.len()).sum::<usize>() <= wire.len());

    let fields = InterestBuf::from_view(&view);
    let written = fields.encode();
    let again = match Interest::decode(&written) {
        Ok(again) => again,
        // A parameters digest that was missing has been added.
        Err(error) => {
            assert!(matches!(error.fault, Fault::TooLarge(_) | Fault::TooManyComponents));
            return;
        }
    };
    let read = InterestBuf::from_view(&again);
    assert_eq!(InterestBuf { name: fields.name.clone(), ..read.clone() }, fields);
    assert_eq!(read.encode(), written);
    assert!(again.parameters().is_none() || again.check_parameters_digest());
    if view.parameters().is_none() || view.check_parameters_digest() {
        assert_eq!(again.signed_portion()[..2], portion[..2]);
    }
});
