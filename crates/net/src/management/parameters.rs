//! ControlParameters of the NFD management protocol.

use packet::tlv::{self, Element, Fault, Reader, types};
use packet::{Name, NameRef};

/// Type numbers of the protocol; some mean something else elsewhere.
pub mod numbers {
    #![allow(missing_docs, reason = "the names are those of the NFD management protocol")]
    pub const CONTROL_RESPONSE: u64 = 101;
    pub const STATUS_CODE: u64 = 102;
    pub const STATUS_TEXT: u64 = 103;
    pub const CONTROL_PARAMETERS: u64 = 104;
    pub const FACE_ID: u64 = 105;
    pub const COST: u64 = 106;
    pub const STRATEGY: u64 = 107;
    pub const FLAGS: u64 = 108;
    pub const EXPIRATION_PERIOD: u64 = 109;
    pub const ORIGIN: u64 = 111;
    pub const MASK: u64 = 112;
    pub const URI: u64 = 114;
    pub const LOCAL_URI: u64 = 129;
    pub const CAPACITY: u64 = 131;
    pub const COUNT: u64 = 132;
    pub const FACE_PERSISTENCY: u64 = 133;
    pub const BASE_CONGESTION_MARKING_INTERVAL: u64 = 135;
    pub const DEFAULT_CONGESTION_THRESHOLD: u64 = 136;
    pub const MTU: u64 = 137;
    // Weir's own, far from NFD's.
    pub const RATE: u64 = 0xf640;
    pub const RATE_IN: u64 = 0xf642;
}

use numbers as n;

/// The fields that a command or its reply may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlParameters {
    /// A prefix.
    pub name: Option<Name>,
    /// A face; 0 in a request is the face that it came from.
    pub face_id: Option<u64>,
    /// The other end of a face.
    pub uri: Option<String>,
    /// This end of a face.
    pub local_uri: Option<String>,
    /// The creator of a route.
    pub origin: Option<u64>,
    /// The cost of a route.
    pub cost: Option<u64>,
    /// Bytes of a content store.
    pub capacity: Option<u64>,
    /// A number of entries.
    pub count: Option<u64>,
    /// Bits.
    pub flags: Option<u64>,
    /// The bits to set or clear.
    pub mask: Option<u64>,
    /// A strategy's name.
    pub strategy: Option<Name>,
    /// Milliseconds that a route lives.
    pub expiration_ms: Option<u64>,
    /// The lifetime of a face.
    pub persistency: Option<u64>,
    /// Nanoseconds.
    pub marking_interval_ns: Option<u64>,
    /// Bytes.
    pub congestion_threshold: Option<u64>,
    /// Bytes.
    pub mtu: Option<u64>,
    /// Bits a second that a face is paced to.
    pub rate: Option<u64>,
    /// Bits a second that a face's link brings.
    pub rate_in: Option<u64>,
}

impl ControlParameters {
    /// Reads the element's value. Unknown elements are ignored, as NFD does here.
    ///
    /// # Errors
    /// An element is cut off or has a value that it cannot have.
    pub fn decode(value: &[u8]) -> Result<ControlParameters, Fault> {
        let mut found = ControlParameters::default();
        let mut reader = Reader::new(value);
        while let Some(element) = reader.next_element()? {
            match element.typ {
                types::NAME => {
                    let name = NameRef::decode(element.value).map_err(|e| e.fault)?;
                    found.name = Some(name.to_name());
                }
                n::URI => found.uri = Some(text(&element)?),
                n::LOCAL_URI => found.local_uri = Some(text(&element)?),
                n::STRATEGY => {
                    let name = NameRef::decode_tlv(element.value).map_err(|e| e.fault)?;
                    found.strategy = Some(name.to_name());
                }
                other => {
                    if let Some((_, field)) =
                        found.numbers_mut().into_iter().find(|(typ, _)| *typ == other)
                    {
                        *field = Some(element.nni()?);
                    }
                }
            }
        }
        Ok(found)
    }

    fn numbers_mut(&mut self) -> [(u64, &mut Option<u64>); 14] {
        [
            (n::FACE_ID, &mut self.face_id),
            (n::ORIGIN, &mut self.origin),
            (n::COST, &mut self.cost),
            (n::CAPACITY, &mut self.capacity),
            (n::COUNT, &mut self.count),
            (n::FLAGS, &mut self.flags),
            (n::MASK, &mut self.mask),
            (n::EXPIRATION_PERIOD, &mut self.expiration_ms),
            (n::FACE_PERSISTENCY, &mut self.persistency),
            (n::BASE_CONGESTION_MARKING_INTERVAL, &mut self.marking_interval_ns),
            (n::DEFAULT_CONGESTION_THRESHOLD, &mut self.congestion_threshold),
            (n::MTU, &mut self.mtu),
            (n::RATE, &mut self.rate),
            (n::RATE_IN, &mut self.rate_in),
        ]
    }

    /// Appends the whole element, its fields in the order of ndn-cxx (some clients insist on it).
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        let mut value = Vec::new();
        if let Some(name) = &self.name {
            name.encode_into(&mut value);
        }
        put_number(&mut value, n::FACE_ID, self.face_id);
        put_text(&mut value, n::URI, self.uri.as_deref());
        put_text(&mut value, n::LOCAL_URI, self.local_uri.as_deref());
        put_number(&mut value, n::ORIGIN, self.origin);
        put_number(&mut value, n::COST, self.cost);
        put_number(&mut value, n::CAPACITY, self.capacity);
        put_number(&mut value, n::COUNT, self.count);
        put_number(&mut value, n::FLAGS, self.flags);
        put_number(&mut value, n::MASK, self.mask);
        if let Some(strategy) = &self.strategy {
            tlv::put_header(&mut value, n::STRATEGY, strategy.encoded_len());
            strategy.encode_into(&mut value);
        }
        put_number(&mut value, n::EXPIRATION_PERIOD, self.expiration_ms);
        put_number(&mut value, n::FACE_PERSISTENCY, self.persistency);
        put_number(&mut value, n::BASE_CONGESTION_MARKING_INTERVAL, self.marking_interval_ns);
        put_number(&mut value, n::DEFAULT_CONGESTION_THRESHOLD, self.congestion_threshold);
        put_number(&mut value, n::MTU, self.mtu);
        put_number(&mut value, n::RATE, self.rate);
        put_number(&mut value, n::RATE_IN, self.rate_in);
        tlv::put_tlv(out, n::CONTROL_PARAMETERS, &value);
    }
}

fn text(element: &Element<'_>) -> Result<String, Fault> {
    String::from_utf8(element.value.to_vec()).map_err(|_| Fault::BadValue(element.typ))
}

/// Appends an element if the field has a value.
fn put_number(out: &mut Vec<u8>, typ: u64, field: Option<u64>) {
    if let Some(number) = field {
        tlv::put_nni_tlv(out, typ, number);
    }
}

/// Appends an element if the field has a value.
fn put_text(out: &mut Vec<u8>, typ: u64, field: Option<&str>) {
    if let Some(text) = field {
        tlv::put_tlv(out, typ, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> ControlParameters {
        ControlParameters {
            name: Some("/a".parse().unwrap()),
            face_id: Some(1),
            uri: Some("udp4://192.0.2.1:6363".to_owned()),
            local_uri: Some("x".to_owned()),
            origin: Some(65),
            cost: Some(2),
            capacity: Some(3),
            count: Some(4),
            flags: Some(5),
            mask: Some(6),
            strategy: Some("/s".parse().unwrap()),
            expiration_ms: Some(1_200_000),
            persistency: Some(2),
            marking_interval_ns: Some(100_000_000),
            congestion_threshold: Some(65_536),
            mtu: Some(1400),
            rate: Some(1_000_000),
            rate_in: Some(2_000_000),
        }
    }

    // ControlCommand, "ControlParameters": [mgmt-3].
    // Other projects' programs, "Commands": [peer-18].
    #[test]
    fn fields_stand_in_the_order_of_ndn_cxx() {
        let mut wire = Vec::new();
        full().encode_into(&mut wire);
        let value = tlv::only(&wire, n::CONTROL_PARAMETERS).unwrap();
        let mut reader = Reader::new(value);
        let mut order = Vec::new();
        while let Some(element) = reader.next_element().unwrap() {
            order.push(element.typ);
        }
        let expected = [
            [7, 105, 114, 129, 111, 106, 131, 132, 108],
            [112, 107, 109, 133, 135, 136, 137, n::RATE, n::RATE_IN],
        ]
        .concat();
        assert_eq!(order, expected);
        assert_eq!(ControlParameters::decode(value).unwrap(), full());
    }

    // ControlCommand, "ControlParameters": [mgmt-3].
    #[test]
    fn unknown_fields_are_ignored_and_broken_ones_are_not() {
        // Type 251 is unknown; Cost 2 follows.
        let found = ControlParameters::decode(&[251, 1, 9, 106, 1, 2]).unwrap();
        assert_eq!(found, ControlParameters { cost: Some(2), ..ControlParameters::default() });
        assert!(ControlParameters::decode(&[106, 3, 0, 0, 1]).is_err());
        assert!(ControlParameters::decode(&[106, 2, 0]).is_err());
        assert!(ControlParameters::decode(&[114, 1, 0xff]).is_err());
        assert!(ControlParameters::decode(&[107, 2, 8, 0]).is_err());
    }
}
