//! Prefix announcements in applications' commands: their validity and its duration.

use packet::{Name, PrefixAnnouncement, SignatureType};
use security::Validity;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The content of an announcement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    pub prefix: Name,
    /// The remaining lifetime of a route by it, in milliseconds.
    pub expires_in_ms: u64,
}

/// Why an announcement is rejected.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum AnnouncementError {
    #[error("{0}")]
    Malformed(String),
    #[error("the prefix announcement's digest is wrong")]
    Damaged,
    #[error("the prefix announcement is not valid now")]
    NotNow,
}

impl AnnouncementError {
    pub fn code(&self) -> u64 {
        match self {
            AnnouncementError::Malformed(_) => 400,
            AnnouncementError::Damaged | AnnouncementError::NotNow => 403,
        }
    }
}

impl Announcement {
    /// Reads a Data packet, `wall_ms` milliseconds after the beginning of 1970.
    pub fn read(bytes: &[u8], wall_ms: u64) -> Result<Announcement, AnnouncementError> {
        let read = PrefixAnnouncement::decode(bytes)
            .map_err(|error| AnnouncementError::Malformed(error.to_string()))?;
        let data = read.data();
        if data.signature_info().signature_type() == SignatureType::DigestSha256
            && Sha256::digest(data.signed_portion()).as_slice() != data.signature_value()
        {
            return Err(AnnouncementError::Damaged);
        }
        let mut expires_in_ms = read.expiration_ms();
        if let Some(period) = read.validity() {
            let Some(validity) = Validity::read(period) else {
                let why = "the prefix announcement's ValidityPeriod is malformed";
                return Err(AnnouncementError::Malformed(why.to_owned()));
            };
            if !validity.contains(wall_ms / 1000) {
                return Err(AnnouncementError::NotNow);
            }
            expires_in_ms = expires_in_ms.min((validity.not_after() + 1) * 1000 - wall_ms);
        }
        Ok(Announcement { prefix: read.prefix().to_name(), expires_in_ms })
    }
}

/// The prefix that a packet announces.
pub(super) fn announced(bytes: &[u8]) -> Option<Name> {
    Some(PrefixAnnouncement::decode(bytes).ok()?.prefix().to_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::parameters::numbers;
    use packet::tlv::{self, types};
    use packet::{ContentType, DataBuf};

    fn announcement(name: &str, content: &[u8], kind: u64) -> Vec<u8> {
        let mut data = DataBuf::new(name.parse().unwrap(), content.to_vec());
        data.content_type = kind;
        data.encode_digest().to_vec()
    }

    fn content(ms: u64, validity: Option<(&str, &str)>) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::put_nni_tlv(&mut out, numbers::EXPIRATION_PERIOD, ms);
        if let Some((from, to)) = validity {
            let mut period = Vec::new();
            tlv::put_tlv(&mut period, types::NOT_BEFORE, from.as_bytes());
            tlv::put_tlv(&mut period, types::NOT_AFTER, to.as_bytes());
            tlv::put_tlv(&mut out, types::VALIDITY_PERIOD, &period);
        }
        out
    }

    const NAME: &str = "/a/b/32=PA/v=1/seg=0";
    const KIND: u64 = ContentType::PREFIX_ANNOUNCEMENT;

    #[test]
    fn a_route_lives_as_long_as_both_times_allow() {
        let wire = announcement(NAME, &content(5000, None), KIND);
        let found = Announcement::read(&wire, 0).unwrap();
        assert_eq!(found, Announcement { prefix: "/a/b".parse().unwrap(), expires_in_ms: 5000 });
        let period = Some(("19700101T000010", "19700101T000020"));
        let wire = announcement(NAME, &content(5000, period), KIND);
        // The last second is within.
        assert_eq!(Announcement::read(&wire, 18_000).unwrap().expires_in_ms, 3000);
        for outside in [9_999, 21_000] {
            assert_eq!(Announcement::read(&wire, outside), Err(AnnouncementError::NotNow));
        }
    }

    // PrefixAnnouncement, "Prefix Announcement Object": [mgmt-24], [mgmt-25].
    #[test]
    fn invalid_announcements_are_rejected() {
        let read = |wire: &[u8]| Announcement::read(wire, 0).unwrap_err();
        let good = content(1, None);
        for wire in [
            announcement("/v=1/seg=0", &good, KIND),
            announcement("/a/PA/v=1/seg=0", &good, KIND),
            announcement(NAME, &good, ContentType::BLOB),
            announcement(NAME, b"", KIND),
            announcement(NAME, &content(1, Some(("now", "then"))), KIND),
            b"junk".to_vec(),
        ] {
            assert_eq!(read(&wire).code(), 400, "{}", read(&wire));
        }
        let mut damaged = announcement(NAME, &good, KIND);
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(read(&damaged), AnnouncementError::Damaged);
    }
}
