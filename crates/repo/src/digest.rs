//! Digests of blobs, also as text.

/// The SHA-256 of a blob.
pub type Digest = [u8; 32];

/// The digits of a digest.
pub fn hex(digest: &Digest) -> String {
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// The digest with these digits.
pub fn parse(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let is_upper = text.bytes().any(|c| c.is_ascii_uppercase());
    if pairs.len() != digest.len() || !rest.is_empty() || is_upper {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|c| char::from(c).to_digit(16));
        *byte = (high? * 16 + low?) as u8;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_one_text() {
        let digest: Digest = std::array::from_fn(|n| n as u8 * 7);
        assert_eq!(parse(&hex(&digest)), Some(digest));
        for bad in ["", "00", &hex(&digest).to_uppercase(), &hex(&digest)[1..]] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
