//! Interests, Data packets and replies, as programs see them.

use crate::error::Error;
use crate::name::AsName;
use crate::trust::Verified;
use packet::interest::DEFAULT_LIFETIME_MS;
use packet::{Bytes, ContentType, DataBuf, InterestBuf, Name};
use std::time::Duration;

/// An Interest: a request for one Data packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interest {
    /// The name. In a received Interest with parameters, the last component is their digest.
    pub name: Name,
    /// Data below the name answers it, too.
    pub can_be_prefix: bool,
    /// Only Data that is fresh answers it.
    pub must_be_fresh: bool,
    /// Its lifetime: from a millisecond up.
    pub lifetime: Duration,
    /// The number of forwarders that it may pass; `None`: no limit.
    pub hop_limit: Option<u8>,
    /// Parameters for the producer.
    pub parameters: Option<Vec<u8>>,
}

impl Interest {
    /// An Interest for exactly this name, with a lifetime of 4 s.
    ///
    /// # Errors
    /// [`Error::Usage`]: the text is not a name.
    pub fn new(name: impl AsName) -> Result<Interest, Error> {
        Ok(Interest {
            name: name.as_name()?,
            can_be_prefix: false,
            must_be_fresh: false,
            lifetime: Duration::from_millis(DEFAULT_LIFETIME_MS),
            hop_limit: None,
            parameters: None,
        })
    }

    /// Data below the name answers it, too.
    #[must_use]
    pub fn prefix(self) -> Interest {
        Interest { can_be_prefix: true, ..self }
    }

    /// Only fresh Data answers it.
    #[must_use]
    pub fn fresh(self) -> Interest {
        Interest { must_be_fresh: true, ..self }
    }

    /// Its lifetime.
    #[must_use]
    pub fn lifetime(self, lifetime: Duration) -> Interest {
        Interest { lifetime, ..self }
    }

    /// Parameters for the producer. Their digest is appended to the name.
    #[must_use]
    pub fn parameters(self, parameters: impl Into<Vec<u8>>) -> Interest {
        Interest { parameters: Some(parameters.into()), ..self }
    }

    /// A received Interest; `None` if its name has another digest of its parameters.
    pub(crate) fn received(view: &packet::Interest<'_>) -> Option<Interest> {
        if !view.check_parameters_digest() {
            return None;
        }
        Some(Interest {
            name: view.name().to_name(),
            can_be_prefix: view.can_be_prefix(),
            must_be_fresh: view.must_be_fresh(),
            lifetime: Duration::from_millis(view.stated_lifetime_ms().unwrap_or(4000)),
            hop_limit: view.hop_limit(),
            parameters: view.parameters().map(<[u8]>::to_vec),
        })
    }

    /// The packet, with this nonce.
    pub(crate) fn packet(&self, nonce: u32) -> InterestBuf {
        InterestBuf {
            can_be_prefix: self.can_be_prefix,
            must_be_fresh: self.must_be_fresh,
            nonce: Some(nonce),
            lifetime_ms: Some(u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX).max(1)),
            hop_limit: self.hop_limit,
            parameters: self.parameters.as_deref().map(Bytes::copy_from_slice),
            ..InterestBuf::new(self.name.clone())
        }
    }
}

/// A Data packet that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Data {
    /// The name.
    pub name: Name,
    /// The content.
    pub content: Vec<u8>,
    /// The type of the content: 0 for plain bytes, 2 for a key, 3 for an application's "no".
    pub content_type: u64,
    /// The time for which it is fresh.
    pub freshness: Option<Duration>,
    /// The proof by its signature.
    pub verified: Verified,
}

impl Data {
    pub(crate) fn accepted(view: &packet::Data<'_>, verified: Verified) -> Data {
        Data {
            name: view.name().to_name(),
            content: view.content().to_vec(),
            content_type: view.content_type(),
            freshness: view.freshness_ms().map(Duration::from_millis),
            verified,
        }
    }
}

/// The reply to an Interest: a Data packet, silence or a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    name: Option<Name>,
    content: Vec<u8>,
    content_type: u64,
    freshness: Option<Duration>,
    kind: Kind,
}

/// The kind of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Data,
    Silence,
    Failure,
}

impl Reply {
    /// A Data packet with the Interest's name, never fresh. It is signed by the key of the
    /// registration. Content, name and signature have room for 8800 bytes in all.
    pub fn new(content: impl Into<Vec<u8>>) -> Reply {
        Reply {
            name: None,
            content: content.into(),
            content_type: ContentType::BLOB,
            freshness: None,
            kind: Kind::Data,
        }
    }

    /// No answer at all: the consumer waits until its Interest expires. This is for prefixes with
    /// several producers, of which another may answer.
    #[must_use]
    pub fn silence() -> Reply {
        Reply { kind: Kind::Silence, ..Reply::new("") }
    }

    /// The program has no reply because it failed: the Interest is rejected, and counted by
    /// [`Registration::failed`](crate::Registration::failed).
    #[must_use]
    pub fn failure() -> Reply {
        Reply { kind: Kind::Failure, ..Reply::new("") }
    }

    /// Another name, below that of an Interest that permits it.
    #[must_use]
    pub fn named(self, name: Name) -> Reply {
        Reply { name: Some(name), ..self }
    }

    /// Caches may answer with it for this time to Interests for fresh Data.
    #[must_use]
    pub fn fresh_for(self, freshness: Duration) -> Reply {
        Reply { freshness: Some(freshness), ..self }
    }

    /// Another type of content than plain bytes: see [`Data::content_type`].
    #[must_use]
    pub fn content_type(self, content_type: u64) -> Reply {
        Reply { content_type, ..self }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The packet, without a signature.
    pub(crate) fn into_packet(self, interest: &Interest) -> DataBuf {
        let name = self.name.unwrap_or_else(|| interest.name.clone());
        DataBuf {
            content_type: self.content_type,
            freshness_ms: self.freshness.map(|f| u64::try_from(f.as_millis()).unwrap_or(u64::MAX)),
            ..DataBuf::new(name, self.content)
        }
    }
}
