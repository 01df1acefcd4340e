//! Name components.

use crate::tlv::{self, Element, Fault, types};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A borrowed component: a type between 1 and 65535 and a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComponentRef<'a> {
    typ: u16,
    value: &'a [u8],
}

/// An owned component. Numbers, and other short values, are kept without an allocation.
#[derive(Clone)]
pub struct Component {
    typ: u16,
    value: SmallVec<[u8; 16]>,
}

impl<'a> ComponentRef<'a> {
    /// A component of type `typ`; type 0, which does not exist, gives a generic component.
    #[must_use]
    pub const fn new(typ: u16, value: &'a [u8]) -> ComponentRef<'a> {
        ComponentRef { typ: if typ == 0 { types::GENERIC } else { typ }, value }
    }

    /// Checks an element that should be a component.
    #[inline]
    pub(crate) fn from_element(element: &Element<'a>) -> Result<ComponentRef<'a>, Fault> {
        let typ = u16::try_from(element.typ).map_err(|_| Fault::BadType(element.typ))?;
        if typ <= types::PARAMETERS_DIGEST && element.value.len() != 32 {
            return Err(Fault::BadLength(element.typ));
        }
        Ok(ComponentRef { typ, value: element.value })
    }

    /// A generic component.
    #[must_use]
    pub const fn generic(value: &'a [u8]) -> ComponentRef<'a> {
        ComponentRef { typ: types::GENERIC, value }
    }

    /// The type.
    #[must_use]
    #[inline]
    pub const fn typ(&self) -> u16 {
        self.typ
    }

    /// The value.
    #[must_use]
    #[inline]
    pub const fn value(&self) -> &'a [u8] {
        self.value
    }

    /// Bytes of the encoding.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        tlv::tlv_len(self.typ as u64, self.value.len())
    }

    /// Appends the encoding.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        tlv::put_tlv(out, u64::from(self.typ), self.value);
    }

    /// An owned copy.
    #[must_use]
    pub fn to_component(&self) -> Component {
        Component { typ: self.typ, value: self.value.into() }
    }
}

impl Component {
    /// See [`ComponentRef::new`].
    #[must_use]
    pub fn new(typ: u16, value: &[u8]) -> Component {
        ComponentRef::new(typ, value).to_component()
    }

    /// A generic component.
    #[must_use]
    pub fn generic(value: &[u8]) -> Component {
        Component::new(types::GENERIC, value)
    }

    /// An implicit SHA-256 digest.
    #[must_use]
    pub fn implicit_digest(digest: [u8; 32]) -> Component {
        Component::new(types::IMPLICIT_DIGEST, &digest)
    }

    /// A SHA-256 digest of an Interest's parameters.
    #[must_use]
    pub fn parameters_digest(digest: [u8; 32]) -> Component {
        Component::new(types::PARAMETERS_DIGEST, &digest)
    }

    /// The borrowed form.
    #[must_use]
    pub fn as_ref(&self) -> ComponentRef<'_> {
        ComponentRef { typ: self.typ, value: &self.value }
    }
}

/// Canonical order: type, then length, then bytes. It is the order of the encodings.
impl Ord for ComponentRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.typ, self.value.len(), self.value).cmp(&(other.typ, other.value.len(), other.value))
    }
}

impl PartialOrd for ComponentRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Component {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Component {}

impl Ord for Component {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl PartialOrd for Component {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Component {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl fmt::Debug for ComponentRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}
