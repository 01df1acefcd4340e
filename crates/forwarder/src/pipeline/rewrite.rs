//! The two changes of an Interest that move its bytes: a nonce is added where there is none, and a
//! forwarding hint that has brought the Interest to its region is taken out.

use packet::Interest;
use packet::tlv::{Reader, put_header, put_tlv, tlv_len, types};

/// Writes the Interest to `out` with these changes. Elements keep their order; the nonce is put
/// where the format wants it.
pub(crate) fn rewrite(interest: &Interest<'_>, nonce: u32, strip_hint: bool, out: &mut Vec<u8>) {
    out.clear();
    let Ok(value) = packet::tlv::only(interest.wire(), types::INTEREST) else { return };
    let add_nonce = interest.nonce().is_none();
    let dropped = strip_hint.then_some(types::FORWARDING_HINT);
    let kept: usize =
        elements(value).filter(|e| Some(e.typ) != dropped).map(|e| e.whole.len()).sum();
    let len = kept + if add_nonce { tlv_len(types::NONCE, 4) } else { 0 };
    put_header(out, types::INTEREST, len);
    let mut missing = add_nonce;
    for element in elements(value) {
        if missing && comes_after_nonce(element.typ) {
            put_tlv(out, types::NONCE, &nonce.to_be_bytes());
            missing = false;
        }
        if Some(element.typ) != dropped {
            out.extend_from_slice(element.whole);
        }
    }
    if missing {
        put_tlv(out, types::NONCE, &nonce.to_be_bytes());
    }
}

fn comes_after_nonce(typ: u64) -> bool {
    matches!(
        typ,
        types::INTEREST_LIFETIME
            | types::HOP_LIMIT
            | types::APPLICATION_PARAMETERS
            | types::INTEREST_SIGNATURE_INFO
            | types::INTEREST_SIGNATURE_VALUE
    )
}

fn elements(value: &[u8]) -> impl Iterator<Item = packet::tlv::Element<'_>> {
    let mut reader = Reader::new(value);
    std::iter::from_fn(move || reader.next_element().ok().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::InterestBuf;

    fn interest() -> InterestBuf {
        InterestBuf {
            can_be_prefix: true,
            must_be_fresh: true,
            lifetime_ms: Some(1000),
            hop_limit: Some(9),
            ..InterestBuf::new("/a/b".parse().unwrap())
        }
    }

    #[test]
    fn a_nonce_is_put_in_its_place() {
        let mut out = Vec::new();
        for parameters in [None, Some(packet::Bytes::from_static(b"x"))] {
            let without = InterestBuf { parameters: parameters.clone(), ..interest() };
            let with = InterestBuf { nonce: Some(0x0102_0304), parameters, ..interest() };
            rewrite(&Interest::decode(&without.encode()).unwrap(), 0x0102_0304, false, &mut out);
            assert_eq!(out, with.encode());
        }
        let bare = InterestBuf::new("/a".parse().unwrap());
        rewrite(&Interest::decode(&bare.encode()).unwrap(), 7, false, &mut out);
        assert_eq!(Interest::decode(&out).unwrap().nonce(), Some(7));
    }

    #[test]
    fn a_hint_is_taken_out_and_nothing_else() {
        let mut out = Vec::new();
        let plain = InterestBuf { nonce: Some(5), ..interest() };
        let hinted = InterestBuf { forwarding_hint: vec!["/r".parse().unwrap()], ..plain.clone() };
        rewrite(&Interest::decode(&hinted.encode()).unwrap(), 6, true, &mut out);
        assert_eq!(out, plain.encode());
    }
}
