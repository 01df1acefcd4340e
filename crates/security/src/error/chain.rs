//! Why a chain does not end at an anchor.

use std::fmt;

use packet::Name;

use super::certificate::CertificateError;
use crate::validity::{Validity, human};

/// An untrusted packet, with the reason and the valid part of its chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not trusted: {}{}", .why.about(.name), trail(.chain))]
pub struct ChainError {
    /// The packet.
    pub name: Name,
    /// The certificates found, from the packet's signer upwards.
    pub chain: Vec<Name>,
    /// The reason of its end.
    pub why: Broken,
}

impl ChainError {
    /// The missing certificate, if it is the reason; perhaps it can be fetched.
    #[must_use]
    pub fn missing(&self) -> Option<&Name> {
        match &self.why {
            Broken::Missing(name) => Some(name),
            _ => None,
        }
    }
}

fn trail(chain: &[Name]) -> String {
    if chain.is_empty() {
        return String::new();
    }
    let names: Vec<_> = chain.iter().map(ToString::to_string).collect();
    format!("; the valid part of its chain: {}", names.join(", signed by "))
}

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A required certificate is missing.
    #[error("the certificate {0} is needed and could not be fetched")]
    Missing(Name),
    /// The fetched certificate is malformed.
    #[error("the received packet is not a certificate: {0}")]
    NoCertificate(CertificateError),
    /// No rule lets the key sign the packet.
    #[error("no rule lets {key} sign {packet}")]
    NotAllowed {
        /// The signed packet.
        packet: Name,
        /// The key.
        key: Name,
    },
    /// No anchor is above the key, so no chain can lead to it.
    #[error("{packet} is signed by {key}, a key that is not trusted: no anchor is above that key")]
    NoAnchor {
        /// The signed packet.
        packet: Name,
        /// The key.
        key: Name,
    },
    /// The certificate is not yet valid, or has expired.
    #[error("the certificate {certificate} {}", when(.validity, *.now))]
    NotValid {
        /// Its name.
        certificate: Name,
        /// When it is valid.
        validity: Validity,
        /// The time of the check.
        now: u64,
    },
    /// The chain returns to an earlier certificate.
    #[error("the chain is circular: it comes back to {0}")]
    Circular(Name),
    /// A certificate is signed only by its own key.
    #[error("{0} is self-signed, and is not one of the anchors")]
    Unknown(Name),
    /// More certificates than are followed.
    #[error("no anchor signed any of the first {0} certificates of the chain")]
    TooDeep(usize),
    /// A signature is not that of the key it names.
    #[error("the signature of {packet} is not by {key}: one of them was forged or damaged")]
    Signature {
        /// The signed packet.
        packet: Name,
        /// The key that it names.
        key: Name,
    },
    /// A signature is of another type than the key's.
    #[error("the signature of {packet} is of another type than those by {key}")]
    WrongType {
        /// The signed packet.
        packet: Name,
        /// The key that it names.
        key: Name,
    },
    /// A signature does not name its key.
    #[error("the signature of {0} does not name its key")]
    NoKeyLocator(Name),
    /// A signature names its key by a digest that is no anchor's.
    #[error("the signature of {0} names its key by a digest only, and no anchor has it")]
    OnlyDigest(Name),
    /// A signature names something that is no key.
    #[error("the signature of {packet} names {locator}, which is neither key nor certificate")]
    NoKey {
        /// The signed packet.
        packet: Name,
        /// The named key.
        locator: Name,
    },
}

impl Broken {
    /// The text behind the name of the packet: it names the packet again only if it is another one.
    fn about(&self, name: &Name) -> String {
        match self {
            Broken::NotAllowed { packet, key } if packet == name => {
                format!("no rule lets {key} sign it")
            }
            Broken::NoAnchor { packet, key } if packet == name => format!(
                "it is signed by {key}, a key that is not trusted: no anchor is above that key"
            ),
            Broken::Signature { packet, key } if packet == name => {
                format!("its signature is not by {key}: one of them was forged or damaged")
            }
            Broken::NoKeyLocator(packet) if packet == name => {
                "its signature does not name its key".to_owned()
            }
            other => other.to_string(),
        }
    }
}

fn when(validity: &Validity, now: u64) -> impl fmt::Display {
    let (state, at) = match now < validity.not_before() {
        true => ("is not valid before", validity.not_before()),
        false => ("has expired at", validity.not_after()),
    };
    format!("{state} {} (it is {} here)", human(at), human(now))
}
