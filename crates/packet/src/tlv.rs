//! Type-length-value: var-numbers, NonNegativeIntegers, and a reader over elements.
//!
//! NDN Packet Format v0.3, section "TLV". Numbers are sent in their shortest form. A received
//! var-number in a longer form is an error, as the format demands; a NonNegativeInteger may have
//! any of its four widths, because deployed producers send wide ones.

use thiserror::Error;

pub mod types;

/// The fault of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The input ends inside an element.
    #[error("it ends too early")]
    Truncated,
    /// A var-number is not in its shortest form.
    #[error("a number is not in its shortest form")]
    NotShortest,
    /// A type number of 0 or above 2^32 - 1.
    #[error("the type number {0} is not allowed")]
    BadType(u64),
    /// Another element than this was expected.
    #[error("element {0} was expected")]
    Expected(u64),
    /// An unknown, repeated or misplaced element that must not be ignored.
    #[error("element {0} is critical and unknown, repeated or out of order")]
    Critical(u64),
    /// An unknown, repeated or misplaced link header field that must not be ignored.
    #[error("header field {0} is unknown, repeated or out of order and may not be ignored")]
    Header(u64),
    /// The element's value has a length that it cannot have.
    #[error("element {0} has a wrong length")]
    BadLength(u64),
    /// The element's value is one that it cannot have.
    #[error("element {0} has a wrong value")]
    BadValue(u64),
    /// Bytes follow the element.
    #[error("bytes follow its end")]
    Trailing,
    /// The packet is larger than is accepted.
    #[error("it has {0} bytes, more than are accepted")]
    TooLarge(u64),
    /// A name has more components than are accepted.
    #[error("its name has too many components")]
    TooManyComponents,
}

/// The fault of an input and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("malformed {what}{}: {fault}", Place(*.at))]
pub struct DecodeError {
    /// The decoded item.
    pub what: &'static str,
    /// The fault.
    pub fault: Fault,
    /// The first byte of the faulty element, from 0, if it is one element.
    pub at: Option<u32>,
}

/// The place of a fault as text.
struct Place(Option<u32>);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |byte| write!(f, " at byte {byte}"))
    }
}

impl DecodeError {
    /// An error in the item `what`.
    #[must_use]
    pub const fn new(what: &'static str, fault: Fault) -> DecodeError {
        DecodeError { what, fault, at: None }
    }

    /// The same error, in the element that begins at byte `at`.
    #[must_use]
    pub(crate) fn at(self, at: usize) -> DecodeError {
        DecodeError { at: u32::try_from(at).ok(), ..self }
    }
}

/// The offset of `part`, which lies in `whole`.
#[must_use]
#[inline]
pub(crate) fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// Bytes that `n` takes as a var-number.
#[must_use]
#[inline]
pub const fn var_len(n: u64) -> usize {
    match n {
        0..=0xfc => 1,
        0xfd..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Bytes of a whole element of type `typ` with a value of `len` bytes.
#[must_use]
#[inline]
pub const fn tlv_len(typ: u64, len: usize) -> usize {
    var_len(typ) + var_len(len as u64) + len
}

/// Appends `n` as a var-number.
#[inline]
pub fn put_var(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=0xfc => out.push(n as u8),
        0xfd..=0xffff => {
            out.push(0xfd);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(0xfe);
            out.extend_from_slice(&(n as u32).to_be_bytes());
        }
        _ => {
            out.push(0xff);
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

/// Appends the type and length of an element.
#[inline]
pub fn put_header(out: &mut Vec<u8>, typ: u64, len: usize) {
    put_var(out, typ);
    put_var(out, len as u64);
}

/// Appends a whole element.
#[inline]
pub fn put_tlv(out: &mut Vec<u8>, typ: u64, value: &[u8]) {
    put_header(out, typ, value.len());
    out.extend_from_slice(value);
}

/// Bytes that `n` takes as a NonNegativeInteger.
#[must_use]
#[inline]
pub const fn nni_len(n: u64) -> usize {
    match n {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// Appends `n` as a NonNegativeInteger, without type and length.
#[inline]
pub fn put_nni(out: &mut Vec<u8>, n: u64) {
    let bytes = n.to_be_bytes();
    out.extend_from_slice(&bytes[8 - nni_len(n)..]);
}

/// Appends an element whose value is a NonNegativeInteger.
#[inline]
pub fn put_nni_tlv(out: &mut Vec<u8>, typ: u64, n: u64) {
    put_header(out, typ, nni_len(n));
    put_nni(out, n);
}

/// Bytes of an element whose value is the NonNegativeInteger `n`.
#[must_use]
#[inline]
pub const fn nni_tlv_len(typ: u64, n: u64) -> usize {
    tlv_len(typ, nni_len(n))
}

/// Reads a NonNegativeInteger of any legal width.
#[must_use]
#[inline]
pub fn read_nni(value: &[u8]) -> Option<u64> {
    match *value {
        [a] => Some(u64::from(a)),
        [a, b] => Some(u64::from(u16::from_be_bytes([a, b]))),
        [a, b, c, d] => Some(u64::from(u32::from_be_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(u64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    }
}

/// Reads a var-number: the number and the bytes it takes.
#[inline]
pub fn read_var(input: &[u8]) -> Result<(u64, usize), Fault> {
    let &first = input.first().ok_or(Fault::Truncated)?;
    let (n, len) = match first {
        0..=0xfc => return Ok((u64::from(first), 1)),
        0xfd => (read_nni(input.get(1..3).ok_or(Fault::Truncated)?), 3),
        0xfe => (read_nni(input.get(1..5).ok_or(Fault::Truncated)?), 5),
        0xff => (read_nni(input.get(1..9).ok_or(Fault::Truncated)?), 9),
    };
    let n = n.ok_or(Fault::Truncated)?;
    if var_len(n) == len { Ok((n, len)) } else { Err(Fault::NotShortest) }
}

/// One element of a [`Reader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// Its type.
    pub typ: u64,
    /// Its value.
    pub value: &'a [u8],
    /// Type, length and value.
    pub whole: &'a [u8],
}

impl Element<'_> {
    /// The value as a NonNegativeInteger.
    pub fn nni(&self) -> Result<u64, Fault> {
        read_nni(self.value).ok_or(Fault::BadLength(self.typ))
    }

    /// An unknown or misplaced element of this type must not be ignored.
    #[must_use]
    #[inline]
    pub const fn is_critical(&self) -> bool {
        is_critical(self.typ)
    }
}

/// The evolvability rule: types up to 31 and odd types are critical.
#[must_use]
#[inline]
pub const fn is_critical(typ: u64) -> bool {
    typ <= 31 || typ & 1 == 1
}

/// Walks over the elements of a value.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader over `input`.
    #[must_use]
    #[inline]
    pub const fn new(input: &'a [u8]) -> Reader<'a> {
        Reader { rest: input }
    }

    /// No bytes are left.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes that are left.
    #[must_use]
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next element, or `None` at the end.
    #[inline(always)]
    pub fn next_element(&mut self) -> Result<Option<Element<'a>>, Fault> {
        // Nearly all elements have a type and a length of one byte each.
        let whole = self.rest;
        let (typ, len, header) = match whole {
            [typ @ 1..=0xfc, len @ 0..=0xfc, ..] => (*typ, usize::from(*len), 2),
            // Packets and contents: lengths of three bytes, in their shortest form.
            [typ @ 1..=0xfc, 0xfd, high, low, ..] if (*high, *low) > (0, 0xfc) => {
                (*typ, usize::from(u16::from_be_bytes([*high, *low])), 4)
            }
            [] => return Ok(None),
            _ => return self.next_wide_element(),
        };
        let Some((whole, rest)) = whole.split_at_checked(header + len) else {
            return Err(Fault::Truncated);
        };
        self.rest = rest;
        Ok(Some(Element { typ: u64::from(typ), value: &whole[header..], whole }))
    }

    /// The same for numbers of any width.
    #[inline(never)]
    fn next_wide_element(&mut self) -> Result<Option<Element<'a>>, Fault> {
        let (typ, type_len) = read_var(self.rest)?;
        if typ == 0 || typ > u64::from(u32::MAX) {
            return Err(Fault::BadType(typ));
        }
        let (len, len_len) = read_var(&self.rest[type_len..])?;
        let start = type_len + len_len;
        let left = self.rest.len() - start;
        if len > left as u64 {
            return Err(Fault::Truncated);
        }
        let end = start + len as usize;
        let whole = &self.rest[..end];
        self.rest = &self.rest[end..];
        Ok(Some(Element { typ, value: &whole[start..], whole }))
    }

    /// The next element, which must be of type `typ`.
    #[inline]
    pub fn expect(&mut self, typ: u64) -> Result<Element<'a>, Fault> {
        match self.next_element()? {
            Some(element) if element.typ == typ => Ok(element),
            _ => Err(Fault::Expected(typ)),
        }
    }

    /// The next element if it is of type `typ`; ignorable unknown elements before it are skipped
    /// only if `typ` follows them.
    #[inline]
    pub fn optional(&mut self, typ: u64) -> Result<Option<Element<'a>>, Fault> {
        let mut ahead = *self;
        while let Some(element) = ahead.next_element()? {
            if element.typ == typ {
                *self = ahead;
                return Ok(Some(element));
            }
            if element.is_critical() {
                break;
            }
        }
        Ok(None)
    }

    /// Checks that all remaining elements may be ignored.
    pub fn finish(mut self) -> Result<(), Fault> {
        while let Some(element) = self.next_element()? {
            if element.is_critical() {
                return Err(Fault::Critical(element.typ));
            }
        }
        Ok(())
    }
}

/// Reads the one element of type `typ` that `wire` consists of and returns its value.
pub fn only(wire: &[u8], typ: u64) -> Result<&[u8], Fault> {
    let mut reader = Reader::new(wire);
    let element = reader.expect(typ)?;
    if reader.is_empty() { Ok(element.value) } else { Err(Fault::Trailing) }
}

/// Frames of a stream: the length of the packet at the start of `buffer`, once its type and length
/// have arrived; `None` while more bytes are needed.
///
/// # Errors
/// The stream is broken (it cannot be resynchronised): the first element is not an Interest, Data
/// or LpPacket, or has more than `max` bytes.
pub fn frame_len(buffer: &[u8], max: usize) -> Result<Option<usize>, DecodeError> {
    first_len(buffer, max).map_err(|fault| DecodeError::new("stream", fault))
}

fn first_len(buffer: &[u8], max: usize) -> Result<Option<usize>, Fault> {
    match buffer.first().copied().map(u64::from) {
        None => return Ok(None),
        Some(types::INTEREST | types::DATA | types::LP_PACKET) => {}
        Some(other) => return Err(Fault::BadType(other)),
    }
    match read_var(&buffer[1..]) {
        Ok((len, len_len)) => {
            let whole = len.saturating_add(1 + len_len as u64);
            if whole > max as u64 { Err(Fault::TooLarge(whole)) } else { Ok(Some(whole as usize)) }
        }
        Err(Fault::Truncated) => Ok(None),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests;
