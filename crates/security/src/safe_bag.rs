//! SafeBags: a certificate and its secret key under a passphrase, for carrying keys between hosts
//! and tools (NDN packet specification, "Certificate Format"; `ndnsec export` and `import`).

use packet::Bytes;
use packet::tlv::{self, Reader};
use pkcs8::PrivateKeyInfoRef;

use crate::base64_text;
use crate::certificate::Certificate;
use crate::key::SecretKey;

#[cfg_attr(not(feature = "safe-bag"), path = "safe_bag/no_cipher.rs")]
mod cipher;
mod error;
mod limits;

pub(crate) use cipher::{decrypt, encrypt};
pub use error::SafeBagError;
pub use limits::SEAL_RANDOM;

const SAFE_BAG: u64 = 128;
const ENCRYPTED_KEY: u64 = 129;

/// A certificate with its secret key, encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeBag {
    certificate: Certificate,
    encrypted: Vec<u8>,
}

impl SafeBag {
    /// Encrypts `secret` under `passphrase`. `random` is the caller's best randomness, new for each
    /// bag.
    ///
    /// # Errors
    /// This program is built without encryption.
    pub fn seal(
        certificate: Certificate,
        secret: &SecretKey,
        passphrase: &[u8],
        random: &[u8; SEAL_RANDOM],
    ) -> Result<SafeBag, SafeBagError> {
        let der = secret.to_pkcs8();
        let key = PrivateKeyInfoRef::try_from(der.as_slice()).expect("it was just written");
        let encrypted = encrypt(&key, passphrase, random)?;
        Ok(SafeBag { certificate, encrypted })
    }

    /// Reads a SafeBag.
    pub fn decode(wire: &[u8]) -> Result<SafeBag, SafeBagError> {
        let value = tlv::only(wire, SAFE_BAG).map_err(|_| SafeBagError::NoBag)?;
        let mut reader = Reader::new(value);
        let (Ok(Some(certificate)), Ok(Some(key))) = (reader.next_element(), reader.next_element())
        else {
            return Err(SafeBagError::NoBag);
        };
        if certificate.typ != tlv::types::DATA || key.typ != ENCRYPTED_KEY {
            return Err(SafeBagError::NoBag);
        }
        let mut packet = Vec::new();
        tlv::put_tlv(&mut packet, certificate.typ, certificate.value);
        let certificate = Certificate::decode(Bytes::from(packet))?;
        Ok(SafeBag { certificate, encrypted: key.value.to_vec() })
    }

    /// Reads a SafeBag as the NDN tools print it: in base64.
    pub fn from_base64(text: &str) -> Result<SafeBag, SafeBagError> {
        SafeBag::decode(&base64_text::decode(text).ok_or(SafeBagError::Base64)?)
    }

    /// The bag in base64, in lines of 64 columns.
    #[must_use]
    pub fn to_base64(&self) -> String {
        let mut value = self.certificate.wire().to_vec();
        tlv::put_tlv(&mut value, ENCRYPTED_KEY, &self.encrypted);
        let mut wire = Vec::new();
        tlv::put_tlv(&mut wire, SAFE_BAG, &value);
        base64_text::encode(&wire).to_string()
    }

    /// The certificate, which is not encrypted.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Decrypts the secret key, which takes a moment on purpose.
    pub fn open(&self, passphrase: &[u8]) -> Result<SecretKey, SafeBagError> {
        let der = decrypt(&self.encrypted, passphrase)?;
        let secret = SecretKey::from_pkcs8(der.as_bytes())?;
        if secret.public() != *self.certificate.public_key() {
            return Err(SafeBagError::OtherKey);
        }
        Ok(secret)
    }
}

#[cfg(test)]
mod tests;
