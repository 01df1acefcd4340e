//! Names: a borrowed, checked view and an owned form that compare, order and hash alike.

use crate::component::{Component, ComponentRef};
use crate::tlv::{self, DecodeError, Fault, Reader, types};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The maximum number of components of a name. Packets of 8800 bytes could hold 4400; real names
/// have about ten. The limit bounds the work that one packet can cause.
pub const MAX_COMPONENTS: usize = 256;

/// The maximum number of components of a name that an Interest with CanBePrefix has, and of a
/// prefix that a forwarder's tables match by. The bound keeps the work for a packet of nothing but
/// tiny components within that for an ordinary one.
pub const MAX_PREFIX: usize = 64;

/// The TLV-VALUE of a Name, checked.
#[derive(Clone, Copy, Default)]
pub struct NameRef<'a> {
    value: &'a [u8],
    len: usize,
}

/// An owned name.
#[derive(Clone, Default)]
pub struct Name {
    value: Vec<u8>,
    len: usize,
}

impl<'a> NameRef<'a> {
    /// Checks a Name's TLV-VALUE.
    ///
    /// # Errors
    /// Truncated elements, component types outside 1 to 65535, digests that do not have 32 bytes,
    /// more than [`MAX_COMPONENTS`] components.
    pub fn decode(value: &'a [u8]) -> Result<NameRef<'a>, DecodeError> {
        let mut at = 0;
        let checked = check(value, &mut at);
        let (len, _) = checked.map_err(|fault| DecodeError::new("Name", fault).at(at))?;
        Ok(NameRef { value, len })
    }

    /// Like [`NameRef::decode`], for callers that do not report the place of the fault.
    #[inline]
    pub(crate) fn check(value: &'a [u8]) -> Result<NameRef<'a>, Fault> {
        NameRef::check_counting(value).map(|(name, _)| name)
    }

    /// As [`NameRef::check`]; counts the parameters digests, too.
    #[inline]
    pub(crate) fn check_counting(value: &'a [u8]) -> Result<(NameRef<'a>, usize), Fault> {
        check(value, &mut 0).map(|(len, digests)| (NameRef { value, len }, digests))
    }

    /// Checks a whole Name element.
    ///
    /// # Errors
    /// As [`NameRef::decode`], or if `wire` is not exactly one Name.
    pub fn decode_tlv(wire: &'a [u8]) -> Result<NameRef<'a>, DecodeError> {
        let value = tlv::only(wire, types::NAME).map_err(|f| DecodeError::new("Name", f))?;
        NameRef::decode(value)
    }

    /// The encoded components, without the Name's own type and length.
    #[must_use]
    #[inline]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.value
    }

    /// How many components it has.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` for a name without components: the root of all names.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The components, from both ends.
    #[must_use]
    pub fn components(&self) -> Components<'a> {
        Components { front: Reader::new(self.value), name: *self, at: 0, end: self.len() }
    }

    /// Component `i`, counted from 0.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<ComponentRef<'a>> {
        self.components().nth(i)
    }

    /// The first component.
    #[must_use]
    pub fn first(&self) -> Option<ComponentRef<'a>> {
        self.get(0)
    }

    /// The last component.
    #[must_use]
    pub fn last(&self) -> Option<ComponentRef<'a>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The first `n` components, or all if there are fewer.
    #[must_use]
    pub fn prefix(&self, n: usize) -> NameRef<'a> {
        if n >= self.len() {
            return *self;
        }
        let end = n.checked_sub(1).and_then(|i| self.prefix_ends().nth(i)).unwrap_or(0);
        NameRef { value: &self.value[..end], len: n }
    }

    /// The components from number `n` on; none if there are no more than `n`.
    #[must_use]
    pub fn suffix(&self, n: usize) -> NameRef<'a> {
        let head = self.prefix(n);
        NameRef { value: &self.value[head.value.len()..], len: self.len - head.len }
    }

    /// All but the last component; the empty name stays empty.
    #[must_use]
    pub fn parent(&self) -> NameRef<'a> {
        self.prefix(self.len().saturating_sub(1))
    }

    /// Where each component ends in [`NameRef::as_bytes`]: the bytes that the prefix of 1, 2, …
    /// components has.
    pub fn prefix_ends(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (bytes, mut end) = (self.value, 0);
        std::iter::from_fn(move || {
            // The name was checked. Nearly all components have a type and a length of one byte.
            end = match bytes[end..] {
                [1..=0xfc, len @ 0..=0xfc, ..] => end + 2 + usize::from(len),
                _ => {
                    let mut reader = Reader::new(&bytes[end..]);
                    reader.next_element().ok().flatten()?;
                    bytes.len() - reader.rest().len()
                }
            };
            Some(end)
        })
    }

    /// Returns `true` if `prefix` is a prefix of it, or equal.
    #[must_use]
    #[inline]
    pub fn starts_with(&self, prefix: NameRef<'_>) -> bool {
        // Components are self-delimiting: a prefix of the bytes that is itself a name ends at the
        // end of a component.
        self.value.starts_with(prefix.value)
    }

    /// An owned copy.
    #[must_use]
    pub fn to_name(&self) -> Name {
        Name { value: self.value.to_vec(), len: self.len }
    }

    /// Bytes of the whole Name element.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        tlv::tlv_len(types::NAME, self.value.len())
    }

    /// Appends the whole Name element.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        tlv::put_tlv(out, types::NAME, self.value);
    }
}

/// Components of a Name's TLV-VALUE and, among them, parameters digests. Leaves `at` at the first
/// byte of the faulty element.
#[inline(always)]
fn check(value: &[u8], at: &mut usize) -> Result<(usize, usize), Fault> {
    let (mut rest, mut len, mut digests) = (value, 0, 0);
    while !rest.is_empty() {
        *at = value.len() - rest.len();
        let mut digest = 0;
        // Nearly all components have a type and a length of one byte each, and are no digests.
        rest = match *rest {
            [3..=0xfc, bytes @ 0..=0xfc, ref behind @ ..] => {
                behind.get(usize::from(bytes)..).ok_or(Fault::Truncated)?
            }
            _ => {
                let mut reader = Reader::new(rest);
                let Some(element) = reader.next_element()? else { break };
                let component = ComponentRef::from_element(&element)?;
                digest = usize::from(component.typ() == types::PARAMETERS_DIGEST);
                reader.rest()
            }
        };
        if len == MAX_COMPONENTS {
            return Err(Fault::TooManyComponents);
        }
        (len, digests) = (len + 1, digests + digest);
    }
    Ok((len, digests))
}

/// The components of a name.
#[derive(Clone)]
pub struct Components<'a> {
    front: Reader<'a>,
    name: NameRef<'a>,
    at: usize,
    end: usize,
}

impl<'a> Iterator for Components<'a> {
    type Item = ComponentRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<ComponentRef<'a>> {
        if self.at == self.end {
            return None;
        }
        let element = self.front.next_element().ok().flatten()?;
        self.at += 1;
        Some(ComponentRef::new(element.typ as u16, element.value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.at, Some(self.end - self.at))
    }
}

impl DoubleEndedIterator for Components<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.at == self.end {
            return None;
        }
        self.end -= 1;
        self.name.components().nth(self.end)
    }
}

impl ExactSizeIterator for Components<'_> {}

impl Name {
    /// The empty name.
    #[must_use]
    pub const fn new() -> Name {
        Name { value: Vec::new(), len: 0 }
    }

    /// The borrowed form.
    #[must_use]
    #[inline]
    pub fn as_ref(&self) -> NameRef<'_> {
        NameRef { value: &self.value, len: self.len }
    }

    /// Adds a component at the end. A name of more than [`MAX_COMPONENTS`] can be built, but
    /// decoders reject it.
    pub fn push(&mut self, component: ComponentRef<'_>) {
        component.encode_into(&mut self.value);
        self.len += 1;
    }

    /// The name with a component added at the end.
    #[must_use]
    pub fn with(mut self, component: &Component) -> Name {
        self.push(component.as_ref());
        self
    }

    /// How many components it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// It has no components.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// See [`NameRef::as_bytes`].
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.value
    }

    /// Appends the whole Name element.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        self.as_ref().encode_into(out);
    }

    /// Bytes of the whole Name element.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.as_ref().encoded_len()
    }
}

impl FromIterator<Component> for Name {
    fn from_iter<I: IntoIterator<Item = Component>>(components: I) -> Name {
        let mut name = Name::new();
        for component in components {
            name.push(component.as_ref());
        }
        name
    }
}

impl PartialEq for NameRef<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for NameRef<'_> {}

/// Canonical order: component by component, a prefix before longer names.
impl Ord for NameRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Types and lengths in shortest form order like the numbers that they encode, so the order
        // of the bytes is the order of the components.
        self.value.cmp(other.value)
    }
}

impl PartialOrd for NameRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for NameRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Name {}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl fmt::Debug for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn prefixes_and_components() {
        let n = name("/a/bc/seg=3");
        let r = n.as_ref();
        assert_eq!(r.len(), 3);
        assert_eq!(r.prefix_ends().collect::<Vec<_>>(), [3, 7, 10]);
        assert_eq!(r.prefix(2), name("/a/bc").as_ref());
        assert_eq!(r.prefix(0), Name::new().as_ref());
        assert_eq!(r.prefix(9), r);
        assert_eq!(r.suffix(0), r);
        assert_eq!(r.suffix(1), name("/bc/seg=3").as_ref());
        assert_eq!(r.suffix(3), Name::new().as_ref());
        assert_eq!(r.suffix(9), Name::new().as_ref());
        assert!(r.starts_with(name("/a").as_ref()) && !r.starts_with(name("/a/b").as_ref()));
        assert_eq!(r.last().unwrap().as_segment(), Some(3));
        assert_eq!(
            r.components().rev().map(|c| c.to_string()).collect::<Vec<_>>(),
            ["seg=3", "bc", "a"]
        );
    }

    // name.rst, "NDN Name Format": [name-1], [name-2], [name-3].
    #[test]
    fn malformed_names_are_rejected() {
        assert!(NameRef::decode(&[8, 3, 1]).is_err());
        assert!(NameRef::decode(&[0, 0]).is_err());
        assert!(NameRef::decode(&[0xfe, 0, 1, 0, 0, 0]).is_err(), "a type above 65535");
        assert!(NameRef::decode(&[1, 2, 0, 0]).is_err(), "a digest of two bytes");
        assert!(NameRef::decode(&[2, 2, 0, 0]).is_err(), "one of parameters, too");
        assert!(NameRef::decode(&[8, 0].repeat(MAX_COMPONENTS)).is_ok());
        assert!(NameRef::decode(&[8, 0].repeat(MAX_COMPONENTS + 1)).is_err());
    }

    proptest! {
        /// The specification's definition, component by component, against the order of bytes.
        // Other projects' programs, "Packets": [peer-11].
        #[test]
        fn canonical_order_is_the_order_of_components(
            a in vec((1u16..400, vec(0u8..4, 0..4)), 0..4),
            b in vec((1u16..400, vec(0u8..4, 0..4)), 0..4),
        ) {
            let build = |list: &[(u16, Vec<u8>)]| -> Name {
                list.iter().map(|(t, v)| Component::new(*t, v)).collect()
            };
            let key = |list: &[(u16, Vec<u8>)]| -> Vec<(u16, usize, Vec<u8>)> {
                list.iter().map(|(t, v)| (*t, v.len(), v.clone())).collect()
            };
            prop_assert_eq!(build(&a).cmp(&build(&b)), key(&a).cmp(&key(&b)));
        }
    }
}
