//! Why a fetch failed.

use crate::fetch::flight::Item;
use control::Duration;
use packet::{NackReason, Name};
use security::VerifyError;
use security::manifest::ManifestError;
use thiserror::Error;

/// Why a fetch failed. Nothing of the object is complete then; what was verified can be resumed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FetchError {
    /// No route leads to the name.
    #[error("no route leads to {0}: nobody has registered it where the forwarder can see it")]
    NoRoute(Name),
    /// A producer was reached, and has nothing of that name.
    #[error("{0} was not found: a producer was reached, but it has nothing of that name")]
    NotThere(Name),
    /// Data came, and they are no part of an object.
    #[error(
        "data came for {name}, but not what was asked for: the packet {came} with {bytes} bytes \
         is neither metadata nor a segment of an object"
    )]
    NotAnObject {
        /// The name asked for.
        name: Name,
        /// The name of the packet that came first.
        came: Name,
        /// The length of its content.
        bytes: u64,
    },
    /// A route leads there, but no answer came.
    #[error("{name} was not found: no answer in {waited}, requests: {asked}")]
    NotFound {
        /// The name asked for.
        name: Name,
        /// How long it was tried.
        waited: Duration,
        /// How often it was asked for.
        asked: u32,
    },
    /// The transfer had begun, then nothing came any more.
    #[error(
        "{missing} of {name} did not arrive: no answer for {waited} ({cause}); \
         {have} of {of} segments are there"
    )]
    Stalled {
        /// The object.
        name: Name,
        /// The missing item.
        missing: Item,
        /// How long nothing came.
        waited: Duration,
        /// The end of the last request for it.
        cause: StallCause,
        /// Segments that are there.
        have: u64,
        /// Segments of the object, as far as known.
        of: u64,
    },
    /// The object's signature, or that of a segment, was refused.
    #[error("{0}")]
    Untrusted(#[from] VerifyError),
    /// The object's manifest was refused.
    #[error("{0}")]
    Manifest(ManifestError),
    /// A segment differs from the manifest, in the answers of all sources.
    #[error(
        "segment {segment} of {name} is not what its publisher signed, in {attempts} answers; \
         a cache or producer on the way sends something else"
    )]
    Forged {
        /// The object.
        name: Name,
        /// The segment.
        segment: u64,
        /// How many wrong answers came.
        attempts: u32,
    },
    /// Segment sizes contradict the object's metadata, so that their positions are unknown.
    #[error(
        "segment {segment} of {name} has {found} bytes where its metadata says {expected}; \
         fetch it again, and tell its publisher if that does not help"
    )]
    WrongSize {
        /// The object.
        name: Name,
        /// The segment.
        segment: u64,
        /// Its content's length.
        found: u64,
        /// The size in the metadata.
        expected: u64,
    },
}

/// The end of the last request for the missing item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// No answer.
    Unanswered,
    /// The network said no.
    Nack(NackReason),
    /// Data came that are not what the manifest or signature says.
    Forged,
}

impl std::fmt::Display for StallCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StallCause::Unanswered => f.write_str("requests went unanswered"),
            StallCause::Forged => f.write_str("what came before is not what its publisher signed"),
            StallCause::Nack(reason) => write!(f, "the network said: {reason}"),
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
