//! Why a packet is not accepted.

use packet::{Name, SignatureType};

use super::chain::ChainError;

/// The reason why a packet is not accepted. Every message names a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The signature type is one that is not implemented here.
    #[error(
        "{name} is signed with {found:?}, which cannot be verified here; \
         DigestSha256, Ed25519, ECDSA, RSA and HMAC can"
    )]
    UnsupportedSignatureType {
        /// The packet's name.
        name: Name,
        /// Its signature type.
        found: SignatureType,
    },
    /// DigestSha256 where the digest is another: the packet was damaged or altered.
    #[error("{0} is damaged: its digest does not match its content")]
    DigestMismatch(Name),
    /// The policy asks for a signature by a key, the packet has only a digest.
    #[error("{0} carries only a digest, which anyone can make; a signature by a key is required")]
    NotSigned(Name),
    /// The policy requires digests, but the packet is signed by a key, which is not checked.
    #[error(
        "{0} is signed with a key, and no key is trusted; name the key's certificate to check it"
    )]
    NoTrustedKeys(Name),
    /// A signature by a key that it does not name.
    #[error("the signature of {0} does not name its key")]
    NoKeyLocator(Name),
    /// The signature names a key that is not trusted.
    #[error(
        "{name} is signed with a key that is not trusted: {key}; if you trust it, get its \
         certificate from its owner and add it to the trusted ones"
    )]
    UnknownKey {
        /// The packet's name.
        name: Name,
        /// The key's name, or its digest in hexadecimal.
        key: String,
    },
    /// The key is trusted, but not for this name.
    #[error("{name} is signed with {key}, which is trusted only for names under {scope}")]
    OutOfScope {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
        /// The scope of the key.
        scope: Name,
    },
    /// The key named is trusted but is of another kind than the signature.
    #[error("{name} has a signature of type {found:?}, but its key {key} makes {expected:?}")]
    WrongKey {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
        /// Type of the signature.
        found: SignatureType,
        /// Type of signatures by the key.
        expected: SignatureType,
    },
    /// The signature is not the key's over this packet.
    #[error("the signature of {name} is wrong: it was forged or damaged, or {key} has changed")]
    BadSignature {
        /// The packet's name.
        name: Name,
        /// The key's name.
        key: Name,
    },
    /// No chain of certificates leads from an anchor to the packet.
    #[error(transparent)]
    Chain(#[from] Box<ChainError>),
}

impl VerifyError {
    /// The certificate that is missing for a decision, if that is the reason.
    #[must_use]
    pub fn missing(&self) -> Option<&Name> {
        match self {
            VerifyError::Chain(error) => error.missing(),
            _ => None,
        }
    }
}
