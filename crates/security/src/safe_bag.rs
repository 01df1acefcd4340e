//! SafeBags: a certificate and its secret key under a passphrase, for carrying keys between hosts
//! and tools (NDN packet specification, "Certificate Format"; `ndnsec export` and `import`).

use packet::Bytes;
use packet::tlv::{self, Reader};
use pkcs8::PrivateKeyInfoRef;

use crate::base64_text;
use crate::certificate::Certificate;
use crate::certificate::CertificateError;
use crate::key::{KeyError, SecretKey};

#[cfg_attr(not(feature = "safe-bag"), path = "safe_bag/no_cipher.rs")]
mod cipher;

pub(crate) use cipher::{decrypt, encrypt};

const SAFE_BAG: u64 = 128;
const ENCRYPTED_KEY: u64 = 129;

/// The maximum rounds for a bag, some seconds of work. The bag's maker chooses the number.
const MAX_ROUNDS: u32 = 10_000_000;

/// Bytes of randomness that [`SafeBag::seal`] takes: salt and initialization vector.
pub const SEAL_RANDOM: usize = 32;

/// Why a SafeBag cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SafeBagError {
    /// Text that is not base64.
    #[error("its base64 is broken")]
    Base64,
    /// Not the TLV of a SafeBag.
    #[error("it is no SafeBag, which holds a certificate and an encrypted key")]
    NoBag,
    /// Its certificate is malformed.
    #[error("the certificate in it: {0}")]
    Certificate(#[from] CertificateError),
    /// The key is encrypted in another way.
    #[error(
        "its key is not encrypted as is usual (PKCS#8 with PBES2, PBKDF2 of up to {MAX_ROUNDS} \
         rounds, AES-CBC)"
    )]
    Scheme,
    /// This program cannot encrypt and decrypt.
    #[error(
        "this program is built without SafeBags (feature `safe-bag`); use one that has them, as \
         `weir` has"
    )]
    NotBuilt,
    /// The decrypted bytes are malformed.
    #[error("the passphrase is wrong, or the bag is damaged")]
    Passphrase,
    /// The decrypted key is malformed.
    #[error("the key in it: {0}")]
    Key(#[from] KeyError),
    /// Certificate and key do not belong together.
    #[error("its certificate is not for its key")]
    OtherKey,
}

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
