//! The filter of `faces/query`.

use super::face_info::FaceInfo;
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
            match element.typ {
                n::FACE_ID => filter.face_id = Some(element.nni()?),
                URI_SCHEME => filter.scheme = Some(element.value.to_vec()),
                n::URI => filter.uri = Some(element.value.to_vec()),
                n::LOCAL_URI => filter.local_uri = Some(element.value.to_vec()),
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
        let schemes = [&face.uri, &face.local_uri]
            .map(|uri| uri.split("://").next().unwrap_or_default().as_bytes());
        self.scheme.as_deref().is_none_or(|scheme| schemes.contains(&scheme))
            && self.uri.as_ref().is_none_or(|uri| uri == face.uri.as_bytes())
            && self.local_uri.as_ref().is_none_or(|uri| uri == face.local_uri.as_bytes())
            && self.face_id.is_none_or(|id| id == face.id.0)
            && self.scope.is_none_or(|scope| scope == u64::from(face.local))
            && self.persistency.is_none_or(|persistency| persistency == face.persistency as u64)
            && self.link_type.is_none_or(|link_type| link_type == u64::from(face.is_group))
    }
}
