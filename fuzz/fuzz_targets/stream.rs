//! A stream is cut at the same places however its bytes arrive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packet::LpPacket;
use packet::tlv::frame_len;

const MAX_FRAME: usize = packet::MAX_PACKET + 100;

fuzz_target!(|stream: &[u8]| {
    let mut rest = stream;
    loop {
        let whole = frame_len(rest, MAX_FRAME);
        // More bytes do not change the result of fewer.
        for len in 0..rest.len().min(12) {
            let early = frame_len(&rest[..len], MAX_FRAME);
            assert!(early == Ok(None) || early == whole);
        }
        let Ok(Some(len)) = whole else { break };
        assert!((2..=MAX_FRAME).contains(&len));
        let Some(frame) = rest.get(..len) else { break };
        if LpPacket::decode(frame).is_ok() {
            // A frame with a byte less or more is not the frame.
            assert!(LpPacket::decode(&rest[..len - 1]).is_err());
            assert!(rest.get(..len + 1).is_none_or(|more| LpPacket::decode(more).is_err()));
        }
        rest = &rest[len..];
    }
});
