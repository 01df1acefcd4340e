//! Traceroute: the names of probes, and the replies of forwarders.
//!
//! A probe is an Interest for `<target>/32=traceroute/58=<number>` with a HopLimit. The forwarder
//! at which the HopLimit is used up replies with Data about itself. The numbers make names unique,
//! so no content store and no pending Interest answers a probe. RFC 9507 specifies a traceroute for
//! ICN; this encoding is Weir's own. `docs/reference/wire.md` has the layout.

use crate::component::Component;
use crate::data::DataBuf;
use crate::name::{Name, NameRef};
use crate::tlv::{self, Reader, types};
use bytes::Bytes;

/// The keyword behind the target.
const KEYWORD: &[u8] = b"traceroute";
/// The reply; the other elements are in it.
const REPLY: u64 = 0xf680;
/// The number of the node, 8 bytes.
const NODE: u64 = 0xf682;
/// [`Next`] as a number.
const NEXT: u64 = 0xf684;
/// Present if the content store has Data at or below the target.
const STORED: u64 = 0xf686;

/// The least number: all numbers have eight bytes, so a name of another kind is known by its end.
const LEAST: u64 = 1 << 63;
/// The bytes before the number.
const MARK: &[u8] = b"\x20\x0atraceroute\x3a\x08";

/// The name of a probe. The highest bit of `number` is set in the name.
#[must_use]
pub fn probe(target: &Name, number: u64) -> Name {
    target.clone().with(&Component::keyword(KEYWORD)).with(&Component::sequence(number | LEAST))
}

/// The target of a probe; `None` if this is not the name of a probe. Forwarders call it for every
/// Data packet: the last bytes rule out nearly all names.
#[must_use]
pub fn target(name: NameRef<'_>) -> Option<NameRef<'_>> {
    let (before, _) = name.as_bytes().split_last_chunk::<8>()?;
    if !before.ends_with(MARK) {
        return None;
    }
    let at = name.len().checked_sub(2)?;
    name.last()?.as_sequence()?;
    name.get(at)?.is_keyword(KEYWORD).then(|| name.prefix(at))
}

/// The next hop of the target's route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is no route.
    None,
    /// Another forwarder.
    Forwarder,
    /// An application of the node.
    Application,
}

/// The reply of a forwarder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The number of the node; a new one at each start.
    pub node: u64,
    /// The name that its operator gave it.
    pub name: Option<Name>,
    /// The next hop.
    pub next: Next,
    /// Its content store has Data at or below the target.
    pub is_stored: bool,
}

impl Reply {
    /// The Data packet that answers a probe of this name.
    #[must_use]
    pub fn encode(&self, probe: NameRef<'_>) -> Bytes {
        let (mut value, mut content) = (Vec::new(), Vec::new());
        tlv::put_tlv(&mut value, NODE, &self.node.to_be_bytes());
        if let Some(name) = &self.name {
            name.encode_into(&mut value);
        }
        let next = match self.next {
            Next::None => 0,
            Next::Forwarder => 1,
            Next::Application => 2,
        };
        tlv::put_nni_tlv(&mut value, NEXT, next);
        if self.is_stored {
            tlv::put_tlv(&mut value, STORED, &[]);
        }
        tlv::put_tlv(&mut content, REPLY, &value);
        DataBuf::new(probe.to_name(), content).encode_digest()
    }

    /// Reads the content of an answer; `None` if it is not a reply. Unknown elements are ignored.
    #[must_use]
    pub fn decode(content: &[u8]) -> Option<Reply> {
        let outer = Reader::new(content).next_element().ok()??;
        let mut reader = Reader::new((outer.typ == REPLY).then_some(outer.value)?);
        let (mut node, mut name, mut next, mut is_stored) = (None, None, None, false);
        while let Some(element) = reader.next_element().ok()? {
            match element.typ {
                NODE => node = Some(u64::from_be_bytes(element.value.try_into().ok()?)),
                NEXT => {
                    next = Some(match element.nni().ok()? {
                        0 => Next::None,
                        2 => Next::Application,
                        _ => Next::Forwarder,
                    });
                }
                STORED => is_stored = true,
                types::NAME => {
                    name = Some(NameRef::decode(element.value).ok()?.to_name());
                }
                _ => {}
            }
        }
        Some(Reply { node: node?, name, next: next?, is_stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    #[test]
    fn probes_have_a_keyword_and_a_number() {
        let probe = probe(&name("/a/b"), 7);
        assert_eq!(probe, name("/a/b/32=traceroute/seq=9223372036854775815"));
        assert_eq!(target(probe.as_ref()).unwrap(), name("/a/b").as_ref());
        let number = "seq=9223372036854775815";
        for other in [
            "/",
            "/a",
            "/a/32=traceroute/seq=7",
            &format!("/a/traceroute/{number}"),
            "/a/32=traceroute/01234567",
            &format!("/{number}"),
            // The end of a component that looks like the end of a probe.
            "/a%20%0Atraceroute%3A%0801234567",
        ] {
            assert_eq!(target(name(other).as_ref()), None, "{other}");
        }
        let bare = name(&format!("/32=traceroute/{number}"));
        assert_eq!(target(bare.as_ref()).unwrap().len(), 0);
    }

    /// The example of `docs/reference/wire.md`, encoded by hand.
    #[test]
    fn the_example_of_the_manual() {
        let reply = Reply {
            node: 0x0102_0304_0506_0708,
            name: Some(name("/r")),
            next: Next::Application,
            is_stored: true,
        };
        let probe = probe(&name("/a"), 7);
        let wire = reply.encode(probe.as_ref());
        let data = Data::decode(&wire).unwrap();
        let content = b"\xfd\xf6\x80\x1a\
            \xfd\xf6\x82\x08\x01\x02\x03\x04\x05\x06\x07\x08\
            \x07\x03\x08\x01r\
            \xfd\xf6\x84\x01\x02\
            \xfd\xf6\x86\x00";
        assert_eq!(data.content(), content);
        assert_eq!(Reply::decode(data.content()), Some(reply));
        assert_eq!(data.name(), probe.as_ref());
    }

    #[test]
    fn other_content_is_no_reply() {
        for content in [
            &b""[..],
            b"\x07\x00",
            b"\xfd\xf6\x80\x00",
            b"\xfd\xf6\x80\x05\xfd\xf6\x84\x01\x02",
            b"\xfd\xf6\x80\x0b\xfd\xf6\x82\x02\x01\x02\xfd\xf6\x84\x01\x02",
            b"\xfd\xf6\x80\xff",
        ] {
            assert_eq!(Reply::decode(content), None, "{content:?}");
        }
    }
}
