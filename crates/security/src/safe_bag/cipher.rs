//! The encryption of secret keys (PKCS#8 with PBES2).

use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::{Kdf, Parameters};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};

use super::error::SafeBagError;
use super::limits::{MAX_ROUNDS, SEAL_RANDOM};

/// Rounds of PBKDF2 in new bags, as OWASP recommends for HMAC-SHA256.
const ROUNDS: u32 = 600_000;

/// EncryptedPrivateKeyInfo (RFC 5958) of a PrivateKeyInfo.
pub(crate) fn encrypt(
    key: &PrivateKeyInfoRef<'_>,
    passphrase: &[u8],
    random: &[u8; SEAL_RANDOM],
) -> Result<Vec<u8>, SafeBagError> {
    let (salt, iv) = random.split_at(16);
    let iv = iv.try_into().expect("half of 32 bytes");
    let scheme = Parameters::generate_pbkdf2_sha256_aes256cbc(ROUNDS, salt, iv);
    let encrypted = scheme.map_err(Into::into).and_then(|s| key.encrypt_with_params(s, passphrase));
    Ok(encrypted.expect("AES-CBC takes any length").as_bytes().to_vec())
}

/// The PrivateKeyInfo in an EncryptedPrivateKeyInfo.
pub(crate) fn decrypt(encrypted: &[u8], passphrase: &[u8]) -> Result<SecretDocument, SafeBagError> {
    let info = EncryptedPrivateKeyInfoRef::try_from(encrypted);
    let info = info.map_err(|_| SafeBagError::Scheme)?;
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        return Err(SafeBagError::Scheme);
    };
    // Other ways to derive a key may take any amount of memory.
    let Kdf::Pbkdf2(kdf) = &parameters.kdf else { return Err(SafeBagError::Scheme) };
    if kdf.iteration_count > MAX_ROUNDS {
        return Err(SafeBagError::Scheme);
    }
    info.decrypt(passphrase).map_err(|_| SafeBagError::Passphrase)
}
