//! Why a chain does not end at an anchor.

use std::fmt;

use packet::Name;

use crate::Validity;
use crate::certificate::CertificateError;
use crate::validity::human;

/// A packet that is not trusted: which, why, and how far its chain came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not trusted: {why}{}", trail(.chain))]
pub struct ChainError {
    /// The packet.
    pub name: Name,
    /// The certificates that were found, from the packet's signer upwards.
    pub chain: Vec<Name>,
    /// Where it ends.
    pub why: Broken,
}

impl ChainError {
    /// The certificate that is missing, if that is why; perhaps it can be fetched.
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
    format!("; its chain as far as it went: {}", names.join(", signed by "))
}

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A certificate is needed that is not there.
    #[error("the certificate {0} is needed and could not be fetched")]
    Missing(Name),
    /// What came for a certificate is none.
    #[error("what should be a certificate is none: {0}")]
    NoCertificate(CertificateError),
    /// No rule lets the key sign the packet.
    #[error("no rule lets {key} sign {packet}")]
    NotAllowed {
        /// What it signed.
        packet: Name,
        /// The key.
        key: Name,
    },
    /// No anchor is above the key, so that no chain can lead to it.
    #[error("{packet} is signed by {key}, a key that is not trusted: no anchor is above it")]
    NoAnchor {
        /// What it signed.
        packet: Name,
        /// The key.
        key: Name,
    },
    /// The certificate is not valid yet, or not any more.
    #[error("the certificate {certificate} {}", when(.validity, *.now))]
    NotValid {
        /// Its name.
        certificate: Name,
        /// When it is valid.
        validity: Validity,
        /// When it was asked for.
        now: u64,
    },
    /// The chain comes back to where it was.
    #[error("the chain is circular: it comes back to {0}")]
    Circular(Name),
    /// A certificate vouches for itself, and nobody else does.
    #[error("{0} is signed by itself, and is none of the anchors")]
    Unknown(Name),
    /// More certificates than are followed.
    #[error("no anchor signed any of the first {0} certificates of the chain")]
    TooDeep(usize),
    /// A signature is not that of the key it names.
    #[error("the signature of {packet} is not by {key}: one of them was forged or damaged")]
    Signature {
        /// What is signed.
        packet: Name,
        /// The key that it names.
        key: Name,
    },
    /// A signature is of another type than the key's.
    #[error("the signature of {packet} is of another type than those by {key}")]
    WrongType {
        /// What is signed.
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
        /// What is signed.
        packet: Name,
        /// What it names.
        locator: Name,
    },
}

fn when(validity: &Validity, now: u64) -> impl fmt::Display {
    let (state, at) = match now < validity.not_before() {
        true => ("is not valid before", validity.not_before()),
        false => ("has expired at", validity.not_after()),
    };
    format!("{state} {} (it is {} here)", human(at), human(now))
}
