//! The interface of an option.

/// A hop-by-hop option.
pub trait HopOption: Sized {
    /// Its type: 849 to 959 and divisible by 4, so that others ignore it (NDNLPv2).
    const TYPE: u32;
    /// The answering node copies it to the Data; see [`answer`](crate::options::answer).
    const ECHO: bool = false;
    /// The rejecting node copies it to the Nack.
    const ECHO_IN_NACKS: bool = false;
    /// Appends its value.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads its value; `None` if malformed.
    fn decode(value: &[u8]) -> Option<Self>;
    /// A cheap check whether it can be decoded.
    #[must_use]
    fn is_well_formed(value: &[u8]) -> bool {
        Self::decode(value).is_some()
    }
    /// The copy of an Interest's option for its answer or Nack.
    fn answered(self) -> Option<Self> {
        Some(self)
    }
}
