//! Naming conventions: the meaning of components for applications.
//!
//! Written in revision 3 (typed components); read in revision 3 and, by the `_any` forms, in
//! revision 1, where a generic component's first byte is a marker.

use crate::component::{Component, ComponentRef};
use crate::tlv::{self, types};

/// Markers of revision 1.
mod marker {
    pub const SEGMENT: u8 = 0x00;
    pub const BYTE_OFFSET: u8 = 0xfb;
    pub const TIMESTAMP: u8 = 0xfc;
    pub const VERSION: u8 = 0xfd;
    pub const SEQUENCE: u8 = 0xfe;
}

fn number(typ: u16, n: u64) -> Component {
    let bytes = n.to_be_bytes();
    Component::new(typ, &bytes[8 - tlv::nni_len(n)..])
}

fn marked(marker: u8, n: u64) -> Component {
    let mut value = vec![marker];
    tlv::put_nni(&mut value, n);
    Component::generic(&value)
}

impl Component {
    /// Segment `n`.
    #[must_use]
    pub fn segment(n: u64) -> Component {
        number(types::SEGMENT, n)
    }

    /// A segment that begins at byte `n` of the content.
    #[must_use]
    pub fn byte_offset(n: u64) -> Component {
        number(types::BYTE_OFFSET, n)
    }

    /// Version `n`.
    #[must_use]
    pub fn version(n: u64) -> Component {
        number(types::VERSION, n)
    }

    /// `n` microseconds since 1970.
    #[must_use]
    pub fn timestamp(n: u64) -> Component {
        number(types::TIMESTAMP, n)
    }

    /// Number `n` of a sequence.
    #[must_use]
    pub fn sequence(n: u64) -> Component {
        number(types::SEQUENCE, n)
    }

    /// A keyword, such as `metadata`.
    #[must_use]
    pub fn keyword(word: &[u8]) -> Component {
        Component::new(types::KEYWORD, word)
    }

    /// Segment `n` in the form of revision 1, for producers that support no other.
    #[must_use]
    pub fn segment_rev1(n: u64) -> Component {
        marked(marker::SEGMENT, n)
    }

    /// Version `n` in the form of revision 1.
    #[must_use]
    pub fn version_rev1(n: u64) -> Component {
        marked(marker::VERSION, n)
    }
}

impl ComponentRef<'_> {
    fn typed(&self, typ: u16) -> Option<u64> {
        if self.typ() == typ { tlv::read_nni(self.value()) } else { None }
    }

    fn rev1(&self, marker: u8) -> Option<u64> {
        match self.value() {
            [first, rest @ ..] if self.typ() == types::GENERIC && *first == marker => {
                tlv::read_nni(rest)
            }
            _ => None,
        }
    }

    /// The segment number (revision 3).
    #[must_use]
    pub fn as_segment(&self) -> Option<u64> {
        self.typed(types::SEGMENT)
    }

    /// The segment number, in either revision.
    #[must_use]
    pub fn as_segment_any(&self) -> Option<u64> {
        self.as_segment().or_else(|| self.rev1(marker::SEGMENT))
    }

    /// The version (revision 3).
    #[must_use]
    pub fn as_version(&self) -> Option<u64> {
        self.typed(types::VERSION)
    }

    /// The version, in either revision.
    #[must_use]
    pub fn as_version_any(&self) -> Option<u64> {
        self.as_version().or_else(|| self.rev1(marker::VERSION))
    }

    /// The byte at which a segment begins.
    #[must_use]
    pub fn as_byte_offset(&self) -> Option<u64> {
        self.typed(types::BYTE_OFFSET)
    }

    /// The byte at which a segment begins, in either revision.
    #[must_use]
    pub fn as_byte_offset_any(&self) -> Option<u64> {
        self.as_byte_offset().or_else(|| self.rev1(marker::BYTE_OFFSET))
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn as_timestamp(&self) -> Option<u64> {
        self.typed(types::TIMESTAMP)
    }

    /// Microseconds since 1970, in either revision.
    #[must_use]
    pub fn as_timestamp_any(&self) -> Option<u64> {
        self.as_timestamp().or_else(|| self.rev1(marker::TIMESTAMP))
    }

    /// The number in a sequence.
    #[must_use]
    pub fn as_sequence(&self) -> Option<u64> {
        self.typed(types::SEQUENCE)
    }

    /// The number in a sequence, in either revision.
    #[must_use]
    pub fn as_sequence_any(&self) -> Option<u64> {
        self.as_sequence().or_else(|| self.rev1(marker::SEQUENCE))
    }

    /// It is this keyword.
    #[must_use]
    pub fn is_keyword(&self, word: &[u8]) -> bool {
        self.typ() == types::KEYWORD && self.value() == word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other projects' programs, "Packets": [peer-12].
    #[test]
    fn both_revisions_are_read() {
        assert_eq!(Component::segment(300).as_ref().value(), [1, 44]);
        assert_eq!(Component::segment(300).as_ref().as_segment_any(), Some(300));
        assert_eq!(Component::segment_rev1(300).as_ref().value(), [0, 1, 44]);
        assert_eq!(Component::segment_rev1(300).as_ref().as_segment(), None);
        assert_eq!(Component::segment_rev1(300).as_ref().as_segment_any(), Some(300));
        assert_eq!(Component::version_rev1(7).as_ref().as_version_any(), Some(7));
        assert_eq!(Component::version_rev1(7).as_ref().as_segment_any(), None);
        // A typed number with an impossible width is no number.
        assert_eq!(ComponentRef::new(types::SEGMENT, &[1, 2, 3]).as_segment_any(), None);
    }
}
