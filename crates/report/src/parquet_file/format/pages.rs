//! The headers of a file's pages, looked at before the library reads the pages: it takes as much
//! memory as a header claims.
//!
//! A header is a struct in Thrift's compact protocol (apache/thrift,
//! doc/specs/thrift-compact-protocol.md; its fields are in apache/parquet-format,
//! src/main/thrift/parquet.thrift).

use parquet::errors::ParquetError;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The longest header to read. Only statistics make one long.
const LONGEST: usize = 1 << 16;
/// Snappy makes three bytes of at most 64 (google/snappy, format_description.txt).
const RATIO: u64 = 22;
/// Structs and lists within each other; a header has three.
const DEEPEST: usize = 8;

/// The claims of a page.
#[derive(Default, Debug, PartialEq)]
struct Header {
    uncompressed: u64,
    compressed: u64,
    values: u64,
}

/// Checks the pages of a column in these bytes of the file: none claims more values than `most`, or
/// more bytes than its own can decompress to.
pub fn check(file: &File, start: u64, end: u64, most: u64) -> Result<(), ParquetError> {
    let mut bytes = Vec::new();
    let mut at = start;
    while at < end {
        bytes.resize(usize::try_from(end - at).unwrap_or(LONGEST).min(LONGEST), 0);
        file.read_exact_at(&mut bytes, at)?;
        let mut reader = Reader { bytes: &bytes };
        let header = reader.header().ok_or_else(|| damaged("has a malformed header"))?;
        let length = (bytes.len() - reader.bytes.len()) as u64;
        if header.values > most {
            return Err(damaged("has more values than its group has rows"));
        }
        if header.uncompressed > header.compressed.saturating_mul(RATIO) {
            return Err(damaged("is larger than what is in it can be"));
        }
        at = at.saturating_add(length).saturating_add(header.compressed);
    }
    Ok(())
}

fn damaged(why: &str) -> ParquetError {
    ParquetError::General(format!("a page {why}"))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number; negative ones have no meaning here.
    fn number(&mut self) -> Option<u64> {
        let zigzag = self.varint()?;
        (zigzag & 1 == 0).then_some(zigzag >> 1)
    }

    /// The type and the number of the next field after the field `last`; `None` within at the end.
    fn field(&mut self, last: u64) -> Option<Option<(u8, u64)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let id = match byte >> 4 {
            0 => self.number()?,
            step => last + u64::from(step),
        };
        Some(Some((byte & 0x0f, id)))
    }

    fn header(&mut self) -> Option<Header> {
        let (mut header, mut last) = (Header::default(), 0);
        while let Some((typ, id)) = self.field(last)? {
            match (id, typ) {
                // Of repeated fields the larger one counts.
                (2, 5) => header.uncompressed = header.uncompressed.max(self.number()?),
                (3, 5) => header.compressed = self.number()?,
                // The headers of data and dictionary pages have the number of values first.
                (5 | 7 | 8, 12) => header.values = header.values.max(self.values()?),
                _ => self.pass(typ, 0)?,
            }
            last = id;
        }
        Some(header)
    }

    fn values(&mut self) -> Option<u64> {
        let (mut values, mut last) = (0, 0);
        while let Some((typ, id)) = self.field(last)? {
            match (id, typ) {
                (1, 5) => values = values.max(self.number()?),
                _ => self.pass(typ, 1)?,
            }
            last = id;
        }
        Some(values)
    }

    /// Passes over a value of this type.
    fn pass(&mut self, typ: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match typ {
            // A truth value is in its type.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => self.varint().and_then(|length| self.skip(length)),
            12 => {
                let mut last = 0;
                while let Some((typ, id)) = self.field(last)? {
                    self.pass(typ, depth + 1)?;
                    last = id;
                }
                Some(())
            }
            // Headers contain no lists and no maps.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A data page's header by the specification: type 0, sizes, and 3 values in encoding 0 with
    /// both levels in encoding 3; numbers are in zigzag form.
    fn page(uncompressed: u8, compressed: u8, values: u8) -> Vec<u8> {
        let data_page = [0x15, values * 2, 0x15, 0, 0x15, 6, 0x15, 6, 0];
        let mut bytes = vec![0x15, 0, 0x15, uncompressed * 2, 0x15, compressed * 2, 0x2c];
        bytes.extend_from_slice(&data_page);
        bytes.push(0);
        bytes.extend(std::iter::repeat_n(7, usize::from(compressed)));
        bytes
    }

    fn checked(pages: &[u8], most: u64) -> Result<(), ParquetError> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(pages).unwrap();
        check(&file, 0, pages.len() as u64, most)
    }

    #[test]
    fn page_headers_claim_no_more_than_the_data() {
        let good = page(44, 2, 3);
        assert!(checked(&[good.clone(), good.clone()].concat(), 3).is_ok());
        assert!(checked(&[good.clone(), page(45, 2, 3)].concat(), 3).is_err(), "45 of 2 bytes");
        assert!(checked(&[good.clone(), page(44, 2, 4)].concat(), 3).is_err(), "4 values");
        // The library reads a page that lies partly beyond the end, and detects it.
        for end in 1..14 {
            assert!(checked(&good[..end], 3).is_err(), "{end}");
        }
        // Nothing but lists within lists.
        assert!(checked(&[0x19; 100], 3).is_err());
        assert!(checked(&[0x1c; 100], 3).is_err(), "structs within structs");
    }
}
