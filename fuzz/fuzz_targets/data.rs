//! Data that is accepted can be written again from its fields and means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::traceroute::{self, Reply};
use packet::{Data, DataBuf, Signature, SignatureInfoBuf};

fuzz_target!(|wire: &[u8]| {
    let Ok(view) = Data::decode(wire) else { return };
    assert_eq!(view.wire(), wire);
    let fields = DataBuf::from_view(&view);
    let info = SignatureInfoBuf::from_view(&view.signature_info());
    let value = Signature::new(view.signature_value());

    let (mut written, mut signed) = (Vec::new(), Vec::new());
    let sign = |portion: &[u8]| {
        signed = portion.to_vec();
        value.clone()
    };
    fields.encode_into(&info, sign, &mut written);
    // An absent Content is written as an empty one, so that the packet may have grown.
    if written.len() > packet::MAX_PACKET {
        return;
    }
    let again = Data::decode(&written).expect("what is written can be read");
    assert_eq!(DataBuf::from_view(&again), fields);
    assert_eq!(SignatureInfoBuf::from_view(&again.signature_info()), info);
    assert_eq!(again.signature_value(), view.signature_value());
    assert_eq!(again.signed_portion(), signed);
    if let Some(reply) = Reply::decode(view.content()) {
        let probe = traceroute::probe(&fields.name, 0);
        assert_eq!(traceroute::target(probe.as_ref()), Some(fields.name.as_ref()));
        let wire = reply.encode(probe.as_ref());
        let again = Data::decode(&wire).ok();
        assert!(again.is_none_or(|data| Reply::decode(data.content()) == Some(reply)));
    }
});
