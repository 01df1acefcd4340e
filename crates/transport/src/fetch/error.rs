//! The errors of a fetch.

use crate::fetch::item::Item;
use control::{Duration, counted};
use packet::{NackReason, Name};
use security::VerifyError;
use security::manifest::ManifestError;
use thiserror::Error;

/// The reason for the failure of a fetch. The object is incomplete; a later fetch can resume from
/// the verified segments.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FetchError {
    /// No route leads to the name.
    #[error("no route leads to {0}: no producer has registered it where the forwarder can see it")]
    NoRoute(Name),
    /// A producer was reached, but has no object of that name.
    #[error("{0} was not found: a producer was reached, but it has nothing of that name")]
    NotThere(Name),
    /// The object was there when the fetch began. Its producer has no content of it any more, and
    /// has published no other version meanwhile.
    #[error("{missing} of {name} is not there any more: its producer has changed or removed it")]
    Gone {
        /// The object.
        name: Name,
        /// The item that the producer lacks.
        missing: Item,
    },
    /// Data arrived that is not part of an object.
    #[error(
        "data came for {name}, but not what was asked for: the packet {came} with {len} is neither \
         metadata nor a segment of an object", len = counted(*.bytes, "byte")
    )]
    NotAnObject {
        /// The requested name.
        name: Name,
        /// The name of the first such packet.
        came: Name,
        /// The length of its content.
        bytes: u64,
    },
    /// No answer arrived.
    #[error("{name} was not found: no answer in {waited}, requests: {asked}")]
    NotFound {
        /// The requested name.
        name: Name,
        /// The time spent waiting.
        waited: Duration,
        /// The number of Interests sent, without those for heads.
        asked: u32,
    },
    /// The transfer began, but made no progress any more.
    #[error(
        "{missing} of {name} did not arrive: no answer for {waited} ({cause}); \
         {have} of {of} segments are there"
    )]
    Stalled {
        /// The object.
        name: Name,
        /// The missing item.
        missing: Item,
        /// The time without progress.
        waited: Duration,
        /// The outcome of the last request for it.
        cause: StallCause,
        /// The number of segments delivered, or present before.
        have: u64,
        /// The number of segments of the object; if unknown, of those requested.
        of: u64,
    },
    /// The signature of the object, or of a segment, was rejected.
    #[error("{0}")]
    Untrusted(#[from] VerifyError),
    /// The object's manifest was rejected.
    #[error("{0}")]
    Manifest(ManifestError),
    /// All answers for a segment contradict the manifest.
    #[error(
        "segment {segment} of {name} is not what its publisher signed, in {attempts} answers; \
         a cache or producer on the way sends something else"
    )]
    Forged {
        /// The object.
        name: Name,
        /// The segment.
        segment: u64,
        /// The number of wrong answers.
        attempts: u32,
    },
    /// The size of a segment contradicts the object's metadata, so its position is unknown.
    #[error(
        "segment {segment} of {name} has {len} where its metadata says {expected}; fetch it \
         again, and inform its publisher if that does not help", len = counted(*.found, "byte")
    )]
    WrongSize {
        /// The object.
        name: Name,
        /// The segment.
        segment: u64,
        /// The length of its content in bytes.
        found: u64,
        /// The segment size in the metadata, in bytes.
        expected: u64,
    },
}

/// The outcome of the last request for the missing item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// No answer.
    Unanswered,
    /// A Nack.
    Nack(NackReason),
    /// Data that failed verification by manifest or signature.
    Forged,
}

impl std::fmt::Display for StallCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StallCause::Unanswered => f.write_str("requests went unanswered"),
            StallCause::Forged => f.write_str("the last answer is not what its publisher signed"),
            StallCause::Nack(NackReason::None) => {
                f.write_str("a producer answered that it has no such packet")
            }
            StallCause::Nack(reason) => write!(f, "rejected by the network: {reason}"),
        }
    }
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Item::Metadata => f.write_str("metadata"),
            Item::Node(n) => write!(f, "manifest node {n}"),
            Item::Segment(n) => write!(f, "segment {n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_singular() {
        let name: Name = "/a".parse().unwrap();
        let not_an_object =
            |bytes| FetchError::NotAnObject { name: name.clone(), came: name.clone(), bytes };
        assert!(not_an_object(1).to_string().contains("the packet /a with 1 byte is"));
        assert!(not_an_object(2).to_string().contains("the packet /a with 2 bytes is"));
        let wrong = FetchError::WrongSize { name, segment: 0, found: 1, expected: 4_000 };
        assert!(wrong.to_string().contains("has 1 byte where its metadata says 4000;"), "{wrong}");
    }
}
