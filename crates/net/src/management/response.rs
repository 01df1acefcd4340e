//! Replies to commands.

use super::parameters::{ControlParameters, numbers};
use packet::tlv::{self, Fault, Reader};
use packet::{Bytes, ContentType, DataBuf, NameRef};

/// The freshness of replies, as in NFD: consumers that insist on freshness still get them.
pub const FRESHNESS_MS: u64 = 1000;
/// The length in characters to which a text is cut if it does not fit into a packet.
const SHORT: usize = 200;

/// A status with the result. It always has a body: python-ndn fails on replies without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// As in HTTP; 200 is success.
    pub code: u64,
    /// The status in words.
    pub text: String,
    /// The result, or empty.
    pub body: ControlParameters,
}

impl ControlResponse {
    /// A response.
    #[must_use]
    pub fn new(code: u64, text: impl Into<String>, body: ControlParameters) -> ControlResponse {
        ControlResponse { code, text: text.into(), body }
    }

    /// The response to an unknown command.
    #[must_use]
    pub fn unsupported() -> ControlResponse {
        ControlResponse::new(501, "Unsupported command", ControlParameters::default())
    }

    /// The whole element.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut value = Vec::new();
        tlv::put_nni_tlv(&mut value, numbers::STATUS_CODE, self.code);
        tlv::put_tlv(&mut value, numbers::STATUS_TEXT, self.text.as_bytes());
        self.body.encode_into(&mut value);
        let mut out = Vec::new();
        tlv::put_tlv(&mut out, numbers::CONTROL_RESPONSE, &value);
        out
    }

    /// Reads the whole element, as clients do.
    ///
    /// # Errors
    /// It is not a response, or has no status.
    pub fn decode(wire: &[u8]) -> Result<ControlResponse, Fault> {
        let mut reader = Reader::new(tlv::only(wire, numbers::CONTROL_RESPONSE)?);
        let code = reader.expect(numbers::STATUS_CODE)?.nni()?;
        let text = reader.expect(numbers::STATUS_TEXT)?.value;
        let text = String::from_utf8_lossy(text).into_owned();
        let mut body = ControlParameters::default();
        while let Some(element) = reader.next_element()? {
            if element.typ == numbers::CONTROL_PARAMETERS {
                body = ControlParameters::decode(element.value)?;
            }
        }
        Ok(ControlResponse { code, text, body })
    }

    /// The Data packet that refuses to answer the dataset `name`.
    #[must_use]
    pub(super) fn rejection(&self, name: NameRef<'_>) -> Bytes {
        let mut data = DataBuf::new(name.to_name(), self.encode());
        data.freshness_ms = Some(FRESHNESS_MS);
        data.content_type = ContentType::NACK;
        data.encode_digest()
    }

    /// The Data packet that answers the command `name`, signed by digest (every client accepts it).
    #[must_use]
    pub fn data(&self, name: NameRef<'_>) -> Bytes {
        let whole = self.packet(name);
        if whole.len() <= packet::MAX_PACKET {
            return whole;
        }
        // The name contains the request. Half a packet has no room to repeat it.
        let text = self.text.chars().take(SHORT).collect();
        let body = ControlParameters::default();
        ControlResponse { code: self.code, text, body }.packet(name)
    }

    fn packet(&self, name: NameRef<'_>) -> Bytes {
        let mut data = DataBuf::new(name.to_name(), self.encode());
        data.freshness_ms = Some(FRESHNESS_MS);
        data.encode_digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captured_reply_of_another_forwarder_is_understood_and_written_alike() {
        // interop sheet, section 6: ndnd's reply to `ndnd put /demo/file`.
        let wire = [
            &[0x65, 0x23, 0x66, 0x01, 0xc8, 0x67, 0x02, 0x4f, 0x4b, 0x68, 0x1a, 0x07, 0x0c][..],
            &[0x08, 0x04, 0x64, 0x65, 0x6d, 0x6f, 0x08, 0x04, 0x66, 0x69, 0x6c, 0x65][..],
            &[0x69, 0x01, 0x03, 0x6f, 0x01, 0x00, 0x6a, 0x01, 0x00, 0x6c, 0x01, 0x01][..],
        ]
        .concat();
        let expected = ControlResponse::new(
            200,
            "OK",
            ControlParameters {
                name: Some("/demo/file".parse().unwrap()),
                face_id: Some(3),
                origin: Some(0),
                cost: Some(0),
                flags: Some(1),
                ..ControlParameters::default()
            },
        );
        assert_eq!(ControlResponse::decode(&wire).unwrap(), expected);
        assert_eq!(expected.encode(), wire);
    }

    // Other projects' programs, "Commands": [peer-16].
    #[test]
    fn an_error_has_a_body_too() {
        let wire = ControlResponse::new(501, "no", ControlParameters::default()).encode();
        assert_eq!(wire[wire.len() - 2..], [0x68, 0x00]);
        assert!(ControlResponse::decode(&[0x65, 0x00]).is_err());
        assert!(ControlResponse::decode(b"\x66\x01\xc8").is_err());
    }
}
