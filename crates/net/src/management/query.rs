//! The filter of `faces/query`.

use super::FaceInfo;
use super::parameters::numbers as n;
use super::status::{FACE_SCOPE, LINK_TYPE};
use packet::tlv::{self, Fault, Reader};

const FILTER: u64 = 150;
const URI_SCHEME: u64 = 131;

/// A filter for faces: all of its conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    face_id: Option<u64>,
    scheme: Option<Vec<u8>>,
    uri: Option<Vec<u8>>,
    local_uri: Option<Vec<u8>>,
    scope: Option<u64>,
    persistency: Option<u64>,
    link_type: Option<u64>,
}

impl Filter {
    /// Reads a FaceQueryFilter; unknown elements are ignored, as NFD does here.
    pub fn read(bytes: &[u8]) -> Result<Filter, Fault> {
        let mut filter = Filter::default();
        let mut reader = Reader::new(tlv::only(bytes, FILTER)?);
        while let Some(element) = reader.next_element()? {
            let text = || Some(element.value.to_vec());
            match element.typ {
                n::FACE_ID => filter.face_id = Some(element.nni()?),
                URI_SCHEME => filter.scheme = text(),
                n::URI => filter.uri = text(),
                n::LOCAL_URI => filter.local_uri = text(),
                FACE_SCOPE => filter.scope = Some(element.nni()?),
                n::FACE_PERSISTENCY => filter.persistency = Some(element.nni()?),
                LINK_TYPE => filter.link_type = Some(element.nni()?),
                _ => {}
            }
        }
        Ok(filter)
    }

    /// True if the face passes the filter.
    pub fn wants(&self, face: &FaceInfo) -> bool {
        let number = |wanted: Option<u64>, has: u64| wanted.is_none_or(|wanted| wanted == has);
        let text = |wanted: &Option<Vec<u8>>, has: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == has.as_bytes())
        };
        let scheme = |uri: &str| text(&self.scheme, uri.split("://").next().unwrap_or_default());
        number(self.face_id, face.id.0)
            && (scheme(&face.uri) || scheme(&face.local_uri))
            && text(&self.uri, &face.uri)
            && text(&self.local_uri, &face.local_uri)
            && number(self.scope, u64::from(face.local))
            && number(self.persistency, face.persistency as u64)
            && number(self.link_type, u64::from(face.is_group))
    }
}
