//! The bound of a queue, as it is written.

use crate::value::quantity;
use control::Size;
use std::fmt;
use std::str::FromStr;
use toml::de::DeValue;

/// The bound of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// In bytes.
    Size(Size),
    /// In packets.
    Packets(u64),
}

impl Queue {
    /// Reads a field.
    ///
    /// # Errors
    /// It is neither a size nor a number of packets, or nothing fits into it.
    pub fn read(value: &DeValue<'_>) -> Result<Queue, String> {
        quantity(value)
    }

    /// Its limits in bytes and packets: `n` packets of any size must fit.
    #[must_use]
    pub fn bounds(self) -> (Size, usize) {
        match self {
            Queue::Size(size) => (size, usize::MAX),
            Queue::Packets(packets) => {
                let bytes = packets.saturating_mul(packet::MAX_PACKET as u64);
                (Size(bytes), usize::try_from(packets).unwrap_or(usize::MAX))
            }
        }
    }
}

/// `"1500 kB"` or `"100 packets"`.
impl FromStr for Queue {
    type Err = String;

    fn from_str(given: &str) -> Result<Queue, String> {
        let Some(number) = given.trim().strip_suffix("packets").map(str::trim) else {
            return given
                .parse::<Size>()
                .map_err(|e| format!("{e}, \"100 packets\""))
                .and_then(|size| (size.0 > 0).then_some(Queue::Size(size)).ok_or_else(nothing));
        };
        let packets = number.replace('_', "").parse::<u64>().map_err(|_| {
            format!("`{given}` is not a number of packets; write it like \"100 packets\"")
        })?;
        (packets > 0).then_some(Queue::Packets(packets)).ok_or_else(nothing)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Queue::Size(size) => size.fmt(f),
            Queue::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

fn nothing() -> String {
    "a queue that holds nothing lets nothing pass; write it like \"100 packets\"".to_owned()
}
