//! NDN Packet Format v0.3 and NDNLPv2.
//!
//! Every packet kind has two types. A borrowed view (`Interest<'a>`, `Data<'a>`, `LpPacket<'a>`)
//! checks everything once in `decode`, so its accessors cannot fail. An owned form (`InterestBuf`,
//! `DataBuf`, `LpHeader`) encodes in one pass with precomputed lengths. Decoding allocates nothing.
//! Malformed input is a [`DecodeError`], never a panic, and costs no more than a walk over its
//! bytes.
#![forbid(unsafe_code)]

pub mod announcement;
pub mod component;
pub mod convention;
pub mod data;
pub mod interest;
pub mod interest_buf;
pub mod link;
pub mod link_header;
pub mod nack;
pub mod name;
pub mod options;
pub mod signature;
mod size;
pub mod tlv;
pub mod traceroute;
mod uri;

pub use announcement::PrefixAnnouncement;
pub use bytes::Bytes;
pub use component::{Component, ComponentRef};
pub use data::{ContentType, Data, DataBuf, DataParts};
pub use interest::Interest;
pub use interest_buf::{InterestBuf, InterestSignature};
pub use link::LpPacket;
pub use link_header::LpHeader;
pub use nack::NackReason;
pub use name::{Name, NameRef};
pub use options::{HopOption, HopOptions};
pub use signature::{KeyLocator, Signature, SignatureInfo, SignatureInfoBuf, SignatureType};
pub use size::MAX_PACKET;
pub use tlv::{DecodeError, Fault};
pub use uri::UriError;
