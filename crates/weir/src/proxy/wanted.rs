//! The packet that an Interest requests.

use packet::{Interest, NameRef};
use transport::rdr::METADATA;
use weir::http::mirror::is_head;

/// A packet of a file, or of the document about its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// True if it belongs to the document of the headers.
    pub of_head: bool,
    /// The packet.
    pub part: Part,
}

/// A packet of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The metadata of the latest version, or of this one.
    Metadata(Option<u64>),
    /// The metadata under the name of a version.
    Root(u64),
    /// A segment of the latest version.
    First,
    /// A segment.
    Segment(u64, u64),
}

impl Wanted {
    /// The first of all in their order.
    pub const FIRST: Wanted = Wanted { of_head: false, part: Part::Metadata(None) };

    /// Reads the components from `at` on, behind the name of the file.
    pub fn read(name: NameRef<'_>, at: usize, interest: &Interest<'_>) -> Option<Wanted> {
        let of_head = is_head(name, at);
        let at = at + usize::from(of_head);
        let (is_prefix, len) = (interest.can_be_prefix(), name.len() - at);
        let Some(first) = name.get(at) else {
            // As with other producers: the bare name is for metadata, a fresh one for segments.
            let part = if interest.must_be_fresh() { Part::First } else { Part::Metadata(None) };
            return is_prefix.then_some(Wanted { of_head, part });
        };
        let part = if first.is_keyword(METADATA) {
            let version = name.get(at + 1).map(|version| version.as_version());
            let is_whole = len == 3 && name.get(at + 2)?.as_segment() == Some(0);
            match version {
                None if is_prefix => Part::Metadata(None),
                Some(Some(version)) if is_whole || len == 2 && is_prefix => {
                    Part::Metadata(Some(version))
                }
                _ => return None,
            }
        } else {
            let version = first.as_version()?;
            match name.get(at + 1) {
                None if is_prefix => Part::Segment(version, 0),
                Some(segment) if len == 2 => Part::Segment(version, segment.as_segment()?),
                Some(_) if len == 3 => {
                    let object = name.prefix(at + 1);
                    let root = transport::rdr::root_name(object);
                    (name == root.as_ref()).then_some(Part::Root(version))?
                }
                _ => return None,
            }
        };
        Some(Wanted { of_head, part })
    }
}
