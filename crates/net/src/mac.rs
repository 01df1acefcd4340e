//! Addresses of Ethernet (IEEE 802).

use std::fmt;
use std::str::FromStr;

/// An address of Ethernet: a station's, or a group's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac([u8; 6]);

impl Mac {
    /// The group of all NDN stations on a link, as NFD has it (`mcast_group` in its
    /// configuration).
    pub const NDN: Mac = Mac([0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa]);

    /// The address of these bytes, in the order in which they are sent.
    #[must_use]
    pub const fn new(bytes: [u8; 6]) -> Mac {
        Mac(bytes)
    }

    /// The bytes, in the order in which they are sent.
    #[must_use]
    pub const fn bytes(self) -> [u8; 6] {
        self.0
    }

    /// True if it is a group's, the broadcast address included: the first bit that is sent is set.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// True if a frame may come from there: a station's address, and not that of all zeros.
    #[must_use]
    pub fn is_station(self) -> bool {
        !self.is_group() && self.0 != [0; 6]
    }

    /// The address as a number.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

impl FromStr for Mac {
    type Err = &'static str;

    /// Reads six bytes of hexadecimal digits with colons between them.
    fn from_str(text: &str) -> Result<Mac, &'static str> {
        const FORM: &str = "an Ethernet address has six bytes, like [08:00:27:01:01:01]";
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().ok_or(FORM)?;
            // `from_str_radix` takes a sign, too.
            if !(1..=2).contains(&part.len()) || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(FORM);
            }
            *byte = u8::from_str_radix(part, 16).map_err(|_| FORM)?;
        }
        if parts.next().is_some() { Err(FORM) } else { Ok(Mac(bytes)) }
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, canonical) in
            [("08:00:27:01:01:01", "08:00:27:01:01:01"), ("8:0:27:1:1:AB", "08:00:27:01:01:ab")]
        {
            assert_eq!(text.parse::<Mac>().unwrap().to_string(), canonical);
        }
        assert_eq!("01:00:5e:00:17:aa".parse(), Ok(Mac::NDN));
        assert_eq!(Mac::NDN.number(), 0x0100_5e00_17aa);
        for wrong in
            ["", "08:00:27:01:01", "08:00:27:01:01:01:01", "08:00:27:01:01:+1", "g:0:0:0:0:0"]
        {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_and_zeros_are_no_stations() {
        let of = |text: &str| text.parse::<Mac>().unwrap();
        for (text, is_group, is_station) in [
            ("02:00:00:00:00:01", false, true),
            ("01:00:5e:00:17:aa", true, false),
            ("ff:ff:ff:ff:ff:ff", true, false),
            ("00:00:00:00:00:00", false, false),
        ] {
            assert_eq!((of(text).is_group(), of(text).is_station()), (is_group, is_station));
        }
    }
}
