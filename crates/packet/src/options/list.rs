//! The options of one packet.

use super::option::HopOption;
use smallvec::SmallVec;

/// NDNLPv2: the Interest is no discovery of self-learning.
pub const NON_DISCOVERY: u32 = 844;
/// NDNLPv2: the announcement of the prefix that the Data are of, a Data packet.
pub const PREFIX_ANNOUNCEMENT: u32 = 848;

/// The maximum number of options of a packet: one of each type, and the two fields.
pub const MAX_OPTIONS: usize = 29;

/// The maximum number of bytes of all option values of one packet. Pending Interests keep their
/// options, and a sender must not control how much memory they use.
pub const MAX_OPTION_BYTES: usize = 1024;

/// The options of one packet, in the order of their types. Without options, nothing is allocated.
///
/// Two hop-by-hop fields of NDNLPv2 itself are stored and written in the same way:
/// [`NON_DISCOVERY`] and [`PREFIX_ANNOUNCEMENT`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HopOptions(Vec<(u32, SmallVec<[u8; 16]>)>);

impl Clone for HopOptions {
    /// Most packets have none: this is checked without a call.
    #[inline]
    fn clone(&self) -> HopOptions {
        if self.is_empty() { HopOptions::new() } else { HopOptions(self.0.clone()) }
    }
}

impl HopOptions {
    /// No options.
    #[must_use]
    pub const fn new() -> HopOptions {
        HopOptions(Vec::new())
    }

    /// Returns `true` if `typ` may be the type of an option.
    #[must_use]
    pub const fn is_option_type(typ: u64) -> bool {
        typ >= 849 && typ <= 959 && typ & 3 == 0
    }

    /// Returns `true` if there are none.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The option of that type, if present and well-formed.
    #[must_use]
    pub fn get<T: HopOption>(&self) -> Option<T> {
        T::decode(self.get_raw(T::TYPE)?)
    }

    /// The bytes of the option of type `typ`.
    #[must_use]
    pub fn get_raw(&self, typ: u32) -> Option<&[u8]> {
        let at = self.0.binary_search_by_key(&typ, |(t, _)| *t).ok()?;
        Some(&self.0[at].1)
    }

    /// The number of bytes of all values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(_, value)| value.len()).sum()
    }

    /// Sets an option, replacing one of the same type. Returns `false`, and changes nothing, if the
    /// type is not an option's, or if the total would exceed [`MAX_OPTION_BYTES`].
    pub fn set<T: HopOption>(&mut self, option: &T) -> bool {
        let mut value = Vec::new();
        option.encode(&mut value);
        self.set_raw(T::TYPE, &value)
    }

    /// As [`HopOptions::set`], from bytes.
    pub fn set_raw(&mut self, typ: u32, value: &[u8]) -> bool {
        if !HopOptions::is_option_type(u64::from(typ)) && !is_standard(typ) {
            return false;
        }
        let found = self.0.binary_search_by_key(&typ, |(t, _)| *t);
        let before = found.map_or(0, |at| self.0[at].1.len());
        if self.bytes() - before + value.len() > MAX_OPTION_BYTES {
            return false;
        }
        match found {
            Ok(at) => self.0[at].1 = SmallVec::from_slice(value),
            Err(at) => self.0.insert(at, (typ, SmallVec::from_slice(value))),
        }
        true
    }

    /// Returns `true` if there is a field of NDNLPv2 itself.
    #[must_use]
    pub fn has_standard(&self) -> bool {
        // Their types are the smallest.
        self.0.first().is_some_and(|(typ, _)| is_standard(*typ))
    }

    /// Only the fields of NDNLPv2 itself.
    #[must_use]
    pub fn standard(mut self) -> HopOptions {
        self.0.retain(|(typ, _)| is_standard(*typ));
        self
    }

    /// Removes the option of type `typ`.
    pub fn remove(&mut self, typ: u32) {
        self.0.retain(|(t, _)| *t != typ);
    }

    /// Type and bytes of each, in the order of the types.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.0.iter().map(|(typ, value)| (*typ, &value[..]))
    }
}

const fn is_standard(typ: u32) -> bool {
    matches!(typ, NON_DISCOVERY | PREFIX_ANNOUNCEMENT)
}
