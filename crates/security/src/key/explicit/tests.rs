//! Output of OpenSSL 3.0.19: `openssl ecparam -name prime256v1 -param_enc explicit -genkey`, then
//! `openssl pkcs8` and `openssl ec -pubout`.

use super::*;
use crate::key::{PublicKey, SecretKey};

const SEC1: &str = "\
    308201680201010420b6e215779a797e26e000eb7df4c50109a84ecae3d971811d7091b6b79c13c126a081fa30 \
    81f7020101302c06072a8648ce3d0101022100ffffffff00000001000000000000000000000000ffffffffffff \
    ffffffffffff305b0420ffffffff00000001000000000000000000000000fffffffffffffffffffffffc04205a \
    c635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b031500c49d360886e704936a6678 \
    e1139d26b7819f7e900441046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964f \
    e342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5022100ffffffff00000000ffffff \
    ffffffffffbce6faada7179e84f3b9cac2fc632551020101a144034200048ce0a6c9d44e50156d045ffc915655 \
    f7a356bf433aa19f1fd563fa95a2ef1a81e0811d47841ee75d32bd71b61adb6204e82ff380adb98b9007a33698 \
    c9e57112";
const PKCS8: &str = "\
    308201790201003082010306072a8648ce3d02013081f7020101302c06072a8648ce3d0101022100ffffffff00 \
    000001000000000000000000000000ffffffffffffffffffffffff305b0420ffffffff00000001000000000000 \
    000000000000fffffffffffffffffffffffc04205ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63b \
    ce3c3e27d2604b031500c49d360886e704936a6678e1139d26b7819f7e900441046b17d1f2e12c4247f8bce6e5 \
    63a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececb \
    b6406837bf51f5022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551020101 \
    046d306b0201010420b6e215779a797e26e000eb7df4c50109a84ecae3d971811d7091b6b79c13c126a1440342 \
    00048ce0a6c9d44e50156d045ffc915655f7a356bf433aa19f1fd563fa95a2ef1a81e0811d47841ee75d32bd71 \
    b61adb6204e82ff380adb98b9007a33698c9e57112";
const SPKI: &str = "\
    3082014b3082010306072a8648ce3d02013081f7020101302c06072a8648ce3d0101022100ffffffff00000001 \
    000000000000000000000000ffffffffffffffffffffffff305b0420ffffffff00000001000000000000000000 \
    000000fffffffffffffffffffffffc04205ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e \
    27d2604b031500c49d360886e704936a6678e1139d26b7819f7e900441046b17d1f2e12c4247f8bce6e563a440 \
    f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb64068 \
    37bf51f5022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551020101034200 \
    048ce0a6c9d44e50156d045ffc915655f7a356bf433aa19f1fd563fa95a2ef1a81e0811d47841ee75d32bd71b6 \
    1adb6204e82ff380adb98b9007a33698c9e57112";
/// Its secret scalar and its public point.
const SECRET: &str = "b6e215779a797e26e000eb7df4c50109a84ecae3d971811d7091b6b79c13c126";
const POINT: &str = "\
    048ce0a6c9d44e50156d045ffc915655f7a356bf433aa19f1fd563fa95a2ef1a81e0811d47841ee75d32bd71b6 \
    1adb6204e82ff380adb98b9007a33698c9e57112";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn keys_that_spell_p256_out_are_those_that_name_it() {
    let scalar = SigningKey::from_slice(&bytes(SECRET)).unwrap();
    assert_eq!(*scalar.verifying_key(), VerifyingKey::from_sec1_bytes(&bytes(POINT)).unwrap());
    let public = PublicKey::from_spki(&bytes(SPKI)).unwrap();
    for der in [bytes(PKCS8), bytes(SEC1)] {
        assert_eq!(SecretKey::from_der(&der).unwrap().public(), public);
    }
    let signature = SecretKey::from_pkcs8(&bytes(PKCS8)).unwrap().sign(b"hello");
    assert!(public.verifies(b"hello", signature.as_bytes()));
    assert_eq!(from_spki(&bytes(SPKI)).unwrap(), *scalar.verifying_key());
}

#[test]
fn another_curve_is_not_taken_for_it() {
    let spelled = bytes(SPKI);
    // The last byte of each number, and the generator's prefix.
    for number in [P, A, B, SEED, G_X, G_Y, N] {
        let at = spelled.windows(number.len() / 2).position(|w| w == bytes(number)).unwrap();
        let mut other = spelled.clone();
        other[at + number.len() / 2 - 1] ^= 1;
        assert!(PublicKey::from_spki(&other).is_err(), "{number}");
    }
    let mut sec1 = bytes(SEC1);
    let at = sec1.windows(32).position(|w| w == bytes(G_X)).unwrap();
    sec1[at] ^= 1;
    assert!(SecretKey::from_der(&sec1).is_err());
    sec1.truncate(40);
    assert!(SecretKey::from_der(&sec1).is_err());
}

#[test]
fn seed_and_cofactor_may_be_left_out_and_the_generator_compressed() {
    let point = bytes(POINT);
    let algorithm = "06072a8648ce3d0201";
    let field = sequence(&format!("06072a8648ce3d0101022100{P}"));
    let curve = sequence(&format!("0420{A}0420{B}"));
    let parameters = sequence(&format!("020101{field}{curve}042103{G_X}022100{N}"));
    let head = sequence(&format!("{algorithm}{parameters}"));
    let bits: String = point.iter().map(|byte| format!("{byte:02x}")).collect();
    // A SEQUENCE of more than 255 bytes has two for its length.
    let content = bytes(&format!("{head}034200{bits}"));
    let mut spki = vec![0x30, 0x82, (content.len() >> 8) as u8, content.len() as u8];
    spki.extend_from_slice(&content);
    assert_eq!(from_spki(&spki).unwrap(), VerifyingKey::from_sec1_bytes(&point).unwrap());
}

#[test]
fn p256_of_another_algorithm_or_structure_is_not_taken() {
    // id-ecDH (RFC 5480) in place of id-ecPublicKey.
    let (ecdsa, ecdh) = (bytes("06072a8648ce3d0201"), bytes("06052b8104010c"));
    assert_eq!(ecdsa.len(), ecdh.len() + 2);
    for der in [bytes(PKCS8), bytes(SPKI)] {
        let at = der.windows(9).position(|w| w == ecdsa).unwrap();
        let mut other = der.clone();
        // Another last number of the same length keeps the structure around it.
        other[at + 8] = 2;
        assert!(from_pkcs8(&other).is_none() && from_spki(&other).is_none());
    }
    // ECPrivateKey has version 1, and its public key has an explicit tag.
    let good = bytes(SEC1);
    assert!(from_sec1(&good).is_some());
    let version = good.windows(3).position(|w| w == [2, 1, 1]).unwrap();
    let mut other = good.clone();
    other[version + 2] = 2;
    assert!(from_sec1(&other).is_none());
    let secret = bytes(SECRET);
    let at = good.windows(32).position(|w| w == secret).unwrap() + 32;
    let mut unnamed = good[..at].to_vec();
    let len = unnamed.len() - 4;
    unnamed.drain(1..4);
    unnamed.insert(1, len as u8);
    assert!(from_sec1(&unnamed).is_none(), "no parameters at all");
}
