//! The fields that each command may have.

use super::parameters::numbers as n;
use packet::tlv::{Reader, types};

/// The fields of the protocol, as its documents call them.
const FIELDS: [(u64, &str); 16] = [
    (types::NAME, "Name"),
    (n::FACE_ID, "FaceId"),
    (n::URI, "Uri"),
    (n::LOCAL_URI, "LocalUri"),
    (n::ORIGIN, "Origin"),
    (n::COST, "Cost"),
    (n::CAPACITY, "Capacity"),
    (n::COUNT, "Count"),
    (n::FLAGS, "Flags"),
    (n::MASK, "Mask"),
    (n::STRATEGY, "Strategy"),
    (n::EXPIRATION_PERIOD, "ExpirationPeriod"),
    (n::FACE_PERSISTENCY, "FacePersistency"),
    (n::BASE_CONGESTION_MARKING_INTERVAL, "BaseCongestionMarkingInterval"),
    (n::DEFAULT_CONGESTION_THRESHOLD, "DefaultCongestionThreshold"),
    (n::MTU, "Mtu"),
];

/// The fields of both commands that set properties of a face.
macro_rules! face {
    ($($more:expr),*) => {
        &[
            $($more,)*
            n::FACE_PERSISTENCY,
            n::BASE_CONGESTION_MARKING_INTERVAL,
            n::DEFAULT_CONGESTION_THRESHOLD,
            n::MTU,
            n::FLAGS,
            n::MASK,
        ]
    };
}

/// The fields of each command (ndn-cxx, `mgmt/nfd/control-command.cpp`).
fn of(module: &[u8], verb: &[u8]) -> Option<&'static [u64]> {
    Some(match (module, verb) {
        (b"faces", b"create") => face![n::URI, n::LOCAL_URI],
        (b"faces", b"update") => face![n::FACE_ID],
        (b"faces", b"destroy") => &[n::FACE_ID],
        (b"fib", b"add-nexthop") => &[types::NAME, n::FACE_ID, n::COST],
        (b"fib", b"remove-nexthop") => &[types::NAME, n::FACE_ID],
        (b"cs", b"config") => &[n::CAPACITY, n::FLAGS, n::MASK],
        (b"cs", b"erase") => &[types::NAME, n::COUNT],
        (b"strategy-choice", b"set") => &[types::NAME, n::STRATEGY],
        (b"strategy-choice", b"unset") => &[types::NAME],
        (b"rib", b"register") => {
            &[types::NAME, n::FACE_ID, n::ORIGIN, n::COST, n::FLAGS, n::EXPIRATION_PERIOD]
        }
        (b"trace", b"start") => &[types::NAME, n::FACE_ID, n::FLAGS, n::MASK],
        (b"rib", b"unregister") => &[types::NAME, n::FACE_ID, n::ORIGIN],
        _ => return None,
    })
}

/// The first field among `parameters`, the value of a ControlParameters element, that is useless in
/// this command. NFD rejects it too, so that no client assumes an effect. Elements that are no
/// fields of the protocol are ignored, as in NFD.
pub(super) fn misplaced(module: &[u8], verb: &[u8], parameters: &[u8]) -> Option<&'static str> {
    let useful = of(module, verb)?;
    let mut reader = Reader::new(parameters);
    while let Ok(Some(element)) = reader.next_element() {
        let field = FIELDS.iter().find(|(typ, _)| *typ == element.typ);
        if let Some((_, name)) = field.filter(|(typ, _)| !useful.contains(typ)) {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // Other projects' programs, "Commands": [peer-46].
    #[test]
    fn a_field_is_misplaced_where_the_command_has_no_use_for_it() {
        let look = |module: &str, verb: &str, bytes: &[u8]| {
            misplaced(module.as_bytes(), verb.as_bytes(), bytes)
        };
        let (name, cost, mask) = (&[7, 0][..], &[0x6a, 1, 5][..], &[0x70, 1, 1][..]);
        assert_eq!(look("rib", "register", &[name, cost].concat()), None);
        assert_eq!(look("rib", "unregister", &[name, cost].concat()), Some("Cost"));
        assert_eq!(look("rib", "register", &[name, mask].concat()), Some("Mask"));
        assert_eq!(look("faces", "update", mask), None);
        assert_eq!(look("faces", "destroy", name), Some("Name"));
        assert_eq!(
            look("cs", "erase", &[0xfd, 0xf6, 0x40, 1, 1]),
            None,
            "no field of the protocol"
        );
        assert_eq!(look("cs", "erase", &[0x6a, 9]), None, "broken ones are another's business");
        assert_eq!(look("cs", "unheard-of", cost), None);
    }
}
