//! The keys that both sides have, and signatures with them.

use ed25519_dalek::{Signer as _, SigningKey};
use packet::{Signature, SignatureType};
use sha2::{Digest as _, Sha256};

pub const HMAC_KEY: [u8; 32] = [0x5a; 32];
pub const ED25519_SEED: [u8; 32] = [7; 32];

pub fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finalize().into()
}

/// RFC 2104, with a key shorter than a block.
fn hmac_sha256(key: &[u8; 32], pieces: &[&[u8]]) -> [u8; 32] {
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let inner = block.map(|byte| byte ^ 0x36);
    let outer = block.map(|byte| byte ^ 0x5c);
    let inside = sha256(&[&[&inner[..]], pieces].concat());
    sha256(&[&outer, &inside])
}

/// A true signature where the key is of this file, `stand_in` for the other types.
pub fn sign(typ: SignatureType, pieces: &[&[u8]], stand_in: &[u8]) -> Signature {
    match typ {
        SignatureType::DigestSha256 => sha256(pieces).into(),
        SignatureType::HmacWithSha256 => hmac_sha256(&HMAC_KEY, pieces).into(),
        SignatureType::Ed25519 => {
            let key = SigningKey::from_bytes(&ED25519_SEED);
            key.sign(&pieces.concat()).to_bytes().into()
        }
        _ => Signature::new(stand_in),
    }
}
