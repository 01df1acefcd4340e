//! Prefix announcements: Data in which an application announces that it serves a prefix.
//!
//! NFD wiki, "PrefixAnnouncement"; ndn-cxx, prefix-announcement.cpp: the name is
//! `/<prefix>/32=PA/v=<version>/seg=0`, the content type 5, the content an ExpirationPeriod in
//! milliseconds and an optional ValidityPeriod as in certificates.

use crate::component::Component;
use crate::data::{ContentType, Data, DataBuf};
use crate::name::{Name, NameRef};
use crate::tlv::{self, DecodeError, Fault, Reader, types};

/// The keyword after the prefix.
const KEYWORD: &[u8] = b"PA";
/// ExpirationPeriod of the NFD management protocol.
const EXPIRATION_PERIOD: u64 = 109;

/// An announcement, checked but for its signature.
#[derive(Clone, Copy, Debug)]
pub struct PrefixAnnouncement<'a> {
    data: Data<'a>,
    expiration_ms: u64,
    validity: Option<&'a [u8]>,
}

impl<'a> PrefixAnnouncement<'a> {
    /// Reads a Data packet as an announcement.
    ///
    /// # Errors
    /// It is no Data, or its name, content type or content is not that of an announcement.
    pub fn decode(wire: &'a [u8]) -> Result<PrefixAnnouncement<'a>, DecodeError> {
        let data = Data::decode(wire)?;
        let read = check(&data).and_then(|()| content(data));
        read.map_err(|fault| DecodeError::new("prefix announcement", fault))
    }

    /// The prefix that is announced.
    #[must_use]
    pub fn prefix(&self) -> NameRef<'a> {
        let name = self.data.name();
        name.prefix(name.len().saturating_sub(3))
    }

    /// The maximum lifetime of a route made from it.
    #[must_use]
    pub const fn expiration_ms(&self) -> u64 {
        self.expiration_ms
    }

    /// The value of the ValidityPeriod, unchanged; `None` if it is always valid.
    #[must_use]
    pub const fn validity(&self) -> Option<&'a [u8]> {
        self.validity
    }

    /// The packet.
    #[must_use]
    pub const fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// The packet that announces a prefix, to be signed.
    #[must_use]
    pub fn build(prefix: NameRef<'_>, version: u64, expiration_ms: u64) -> DataBuf {
        let name: Name = prefix
            .to_name()
            .with(&Component::keyword(KEYWORD))
            .with(&Component::version(version))
            .with(&Component::segment(0));
        let mut content = Vec::new();
        tlv::put_nni_tlv(&mut content, EXPIRATION_PERIOD, expiration_ms);
        let content_type = ContentType::PREFIX_ANNOUNCEMENT;
        DataBuf { content_type, ..DataBuf::new(name, content) }
    }
}

/// Checks name and content type.
fn check(data: &Data<'_>) -> Result<(), Fault> {
    let name = data.name();
    let is_named = name.len().checked_sub(3).is_some_and(|at| {
        name.get(at).is_some_and(|c| c.is_keyword(KEYWORD))
            && name.get(at + 1).is_some_and(|c| c.as_version().is_some())
            && name.get(at + 2).is_some_and(|c| c.as_segment() == Some(0))
    });
    if !is_named {
        return Err(Fault::BadValue(types::NAME));
    }
    if data.content_type() != ContentType::PREFIX_ANNOUNCEMENT {
        return Err(Fault::BadValue(types::CONTENT_TYPE));
    }
    Ok(())
}

/// Unknown elements are ignored unless critical.
fn content(data: Data<'_>) -> Result<PrefixAnnouncement<'_>, Fault> {
    let mut reader = Reader::new(data.content());
    let (mut expiration_ms, mut validity) = (None, None);
    while let Some(element) = reader.next_element()? {
        match element.typ {
            EXPIRATION_PERIOD if expiration_ms.is_none() => expiration_ms = Some(element.nni()?),
            types::VALIDITY_PERIOD if validity.is_none() => validity = Some(element.value),
            typ if tlv::is_critical(typ) => return Err(Fault::BadType(typ)),
            _ => {}
        }
    }
    let expiration_ms = expiration_ms.ok_or(Fault::Expected(EXPIRATION_PERIOD))?;
    Ok(PrefixAnnouncement { data, expiration_ms, validity })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix() -> Name {
        "/a/b".parse().unwrap()
    }

    fn wire(change: impl FnOnce(&mut DataBuf)) -> bytes::Bytes {
        let mut data = PrefixAnnouncement::build(prefix().as_ref(), 7, 60_000);
        change(&mut data);
        data.encode_digest()
    }

    #[test]
    fn built_announcements_can_be_decoded() {
        let wire = wire(|_| {});
        let read = PrefixAnnouncement::decode(&wire).unwrap();
        assert_eq!(read.prefix().to_string(), "/a/b");
        assert_eq!(read.expiration_ms(), 60_000);
        assert_eq!(read.data().name().to_string(), "/a/b/32=PA/v=7/seg=0");
        assert_eq!(read.validity(), None);
    }

    // PrefixAnnouncement, "Prefix Announcement Object": [mgmt-23], [mgmt-24], [mgmt-25], [mgmt-26].
    #[test]
    fn malformed_announcements_are_rejected() {
        let rejected =
            |change: fn(&mut DataBuf)| PrefixAnnouncement::decode(&wire(change)).is_err();
        assert!(rejected(|data| data.content_type = ContentType::BLOB));
        assert!(rejected(|data| data.name = "/a/b/32=PA/v=7".parse().unwrap()));
        assert!(rejected(|data| data.name = "/a/b/32=PA/v=7/seg=1".parse().unwrap()));
        assert!(rejected(|data| data.name = "/a/b/PA/v=7/seg=0".parse().unwrap()));
        assert!(rejected(|data| data.name = "/seg=0".parse().unwrap()));
        assert!(rejected(|data| data.content = bytes::Bytes::new()));
        assert!(rejected(|data| data.content = vec![109, 1, 9, 109, 1, 9].into()));
        let content = vec![109, 1, 9, 253, 0, 253, 0, 253, 0, 253, 0];
        let packet = wire(|data| data.content = content.into());
        assert!(PrefixAnnouncement::decode(&packet).is_err(), "a second period");
        let packet = wire(|data| data.content = vec![109, 1, 9, 253, 0, 253, 2, 254, 0].into());
        assert_eq!(PrefixAnnouncement::decode(&packet).unwrap().validity(), Some(&[254, 0][..]));
        // An odd type is critical, an even one is not.
        assert!(rejected(|data| data.content = vec![109, 1, 9, 201, 0].into()));
        assert!(!rejected(|data| data.content = vec![109, 1, 9, 200, 0].into()));
    }
}
