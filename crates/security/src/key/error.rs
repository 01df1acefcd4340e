//! Errors of keys.

/// Why bytes are no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not PKCS#8, or of an unknown algorithm.
    #[error("the secret key is not an Ed25519, ECDSA P-256 or RSA key in PKCS#8 form (RFC 5958)")]
    Secret,
    /// Not SubjectPublicKeyInfo, or of an unknown algorithm.
    #[error("the public key is not an Ed25519, ECDSA P-256 or RSA SubjectPublicKeyInfo (RFC 5280)")]
    Public,
    /// A curve point of small order: signatures by it verify for many messages.
    #[error("the public key is weak: a signature by it would prove nothing")]
    Weak,
    /// An RSA key that can be broken.
    #[error("the RSA key has {bits} bits; keys of fewer than 2048 can be broken")]
    Short {
        /// Bits of its modulus.
        bits: u32,
    },
    /// An RSA key, which this program cannot decode further.
    #[error(
        "it is an RSA key, and this program is built without RSA; use a key of Ed25519 or ECDSA, \
         or a program with RSA, as `weir` is"
    )]
    NoRsa,
}
