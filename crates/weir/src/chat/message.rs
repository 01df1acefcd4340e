//! Messages of a chat, as they are encoded in the content of publications.

use packet::tlv::{self, DecodeError, Fault, Reader};
use packet::{Name, NameRef};

/// TLV types, see docs/reference/wire.md.
mod types {
    pub const KIND: u64 = 0xf691;
    pub const TIME: u64 = 0xf693;
    pub const TEXT: u64 = 0xf695;
    pub const OBJECT: u64 = 0xf697;
    pub const SIZE: u64 = 0xf699;
}

/// Bytes of text in a message, at most: a packet has room for them, for long names, and for the
/// packet around it that carries history.
pub const MOST_TEXT: usize = 4_000;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The time by its sender's clock, in milliseconds since 1970.
    pub time_ms: u64,
    /// The content.
    pub body: Body,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The sender has joined.
    Joined,
    /// The sender leaves.
    Left,
    /// A line of text.
    Text(String),
    /// The sender has published a file.
    File {
        /// The name of its object.
        object: Name,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A kind of message that this version does not know.
    Unknown(u64),
}

impl Body {
    fn kind(&self) -> u64 {
        match self {
            Body::Text(_) => 1,
            Body::Joined => 2,
            Body::Left => 3,
            Body::File { .. } => 4,
            Body::Unknown(kind) => *kind,
        }
    }
}

impl Message {
    /// The content of its publication.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::put_nni_tlv(&mut out, types::KIND, self.body.kind());
        tlv::put_nni_tlv(&mut out, types::TIME, self.time_ms);
        match &self.body {
            Body::Text(text) => tlv::put_tlv(&mut out, types::TEXT, text.as_bytes()),
            Body::File { object, bytes } => {
                tlv::put_tlv(&mut out, types::OBJECT, object.as_bytes());
                tlv::put_nni_tlv(&mut out, types::SIZE, *bytes);
            }
            _ => {}
        }
        out
    }

    /// Decodes the content of a publication. Invalid UTF-8 in its text becomes U+FFFD.
    ///
    /// # Errors
    /// It is no message, or its text is too long.
    pub fn decode(content: &[u8]) -> Result<Message, DecodeError> {
        decode(content).map_err(|fault| DecodeError::new("message", fault))
    }
}

fn decode(content: &[u8]) -> Result<Message, Fault> {
    let mut reader = Reader::new(content);
    let kind = reader.expect(types::KIND)?.nni()?;
    let time_ms = reader.expect(types::TIME)?.nni()?;
    let body = match kind {
        1 => {
            let text = reader.expect(types::TEXT)?.value;
            if text.len() > MOST_TEXT {
                return Err(Fault::TooLarge(text.len() as u64));
            }
            Body::Text(String::from_utf8_lossy(text).into_owned())
        }
        2 => Body::Joined,
        3 => Body::Left,
        4 => {
            let object = reader.expect(types::OBJECT)?.value;
            let object = NameRef::decode(object).map_err(|error| error.fault)?.to_name();
            Body::File { object, bytes: reader.expect(types::SIZE)?.nni()? }
        }
        // Its further elements are unknown, too.
        other => return Ok(Message { time_ms, body: Body::Unknown(other) }),
    };
    reader.finish()?;
    Ok(Message { time_ms, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let object = "/alice/chat/notes.txt".parse().unwrap();
        for body in [
            Body::Text("héllo".to_owned()),
            Body::Text(String::new()),
            Body::Joined,
            Body::Left,
            Body::File { object, bytes: 1 << 40 },
            Body::Unknown(9),
        ] {
            let message = Message { time_ms: 1_736_266_473_000, body };
            assert_eq!(Message::decode(&message.encode()), Ok(message));
        }
    }

    #[test]
    fn the_documented_bytes() {
        let message = Message { time_ms: 1, body: Body::Text("hi".to_owned()) };
        let bytes = b"\xfd\xf6\x91\x01\x01\xfd\xf6\x93\x01\x01\xfd\xf6\x95\x02hi";
        assert_eq!(message.encode(), bytes);
    }

    #[test]
    fn bad_text_is_replaced_and_bad_messages_are_errors() {
        let bad = b"\xfd\xf6\x91\x01\x01\xfd\xf6\x93\x01\x01\xfd\xf6\x95\x02\xffi";
        assert_eq!(Message::decode(bad).unwrap().body, Body::Text("\u{fffd}i".to_owned()));
        let long = Message { time_ms: 1, body: Body::Text("x".repeat(MOST_TEXT + 1)) };
        assert!(Message::decode(&long.encode()).is_err());
        for bad in [&b""[..], b"hello", &bad[..9], &bad[..12]] {
            assert!(Message::decode(bad).is_err(), "{bad:?}");
        }
        // A critical element behind the text.
        let more = [&bad[..], b"\xfd\xf6\xff\x00"].concat();
        assert!(Message::decode(&more).is_err());
    }
}
