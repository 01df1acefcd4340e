//! The part of SQLite's file format that small tables need: one pass over a table's B-tree.
//!
//! The key chains of other tools are SQLite databases of a few pages. This reader is enough for
//! them; a database engine would have to be compiled in, with its C. Nothing is written. The
//! format: <https://www.sqlite.org/fileformat2.html>.

/// Why bytes are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SqliteError {
    /// Another kind of file.
    #[error("it is not an SQLite database")]
    NoDatabase,
    /// Text in another encoding.
    #[error("its text is not UTF-8")]
    Encoding,
    /// The pages contradict each other.
    #[error("the SQLite database is damaged")]
    Damaged,
    /// No such table.
    #[error("it has no table `{0}`")]
    NoTable(&'static str),
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// An unused kind of number.
    Real,
    /// Bytes, or the UTF-8 bytes of a text.
    Bytes(Vec<u8>),
}

/// A row: its number, and its values in the order of the table's columns.
pub type Row = (i64, Vec<Value>);

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Bytes of the header of the file, in front of the first page's own.
const HEADER: usize = 100;
/// The table of tables begins at the first page.
const SCHEMA: u32 = 1;
const LEAF: u8 = 13;
const INTERIOR: u8 = 5;
const UTF8: u32 = 1;

/// A database, whole in memory.
#[derive(Debug)]
pub struct Sqlite<'a> {
    file: &'a [u8],
    page_size: usize,
    /// Bytes of a page that are for tables.
    usable: usize,
}

impl<'a> Sqlite<'a> {
    /// Looks at the header of a file.
    pub fn open(file: &'a [u8]) -> Result<Sqlite<'a>, SqliteError> {
        if file.len() < HEADER || !file.starts_with(MAGIC) {
            return Err(SqliteError::NoDatabase);
        }
        let page_size = match u16::from_be_bytes([file[16], file[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let usable = page_size.saturating_sub(usize::from(file[20]));
        if !page_size.is_power_of_two() || usable < 480 {
            return Err(SqliteError::Damaged);
        }
        // A database without any write has no encoding yet.
        match u32_at(file, 56).ok_or(SqliteError::Damaged)? {
            0 | UTF8 => Ok(Sqlite { file, page_size, usable }),
            _ => Err(SqliteError::Encoding),
        }
    }

    /// All rows of a table, in order.
    pub fn table(&self, name: &'static str) -> Result<Vec<Row>, SqliteError> {
        let root = self.rows(SCHEMA)?.into_iter().find_map(|(_, row)| match row.as_slice() {
            [Value::Bytes(kind), Value::Bytes(found), _, Value::Integer(root), ..] => {
                (kind == b"table" && found == name.as_bytes()).then_some(*root)
            }
            _ => None,
        });
        let root = root.ok_or(SqliteError::NoTable(name))?;
        self.rows(u32::try_from(root).map_err(|_| SqliteError::Damaged)?)
    }

    fn rows(&self, root: u32) -> Result<Vec<Row>, SqliteError> {
        let mut rows = Vec::new();
        let mut waiting = vec![root];
        // No page belongs to two places of a tree, so a longer walk is circular.
        let mut pages = self.file.len() / self.page_size;
        while let Some(number) = waiting.pop() {
            pages = pages.checked_sub(1).ok_or(SqliteError::Damaged)?;
            let (page, at) = self.page(number).ok_or(SqliteError::Damaged)?;
            let cells = self.cells(page, at).ok_or(SqliteError::Damaged)?;
            match page[at] {
                LEAF => {
                    for cell in cells {
                        rows.push(self.row(page, cell).ok_or(SqliteError::Damaged)?);
                    }
                }
                INTERIOR => {
                    let children = cells.iter().map(|cell| u32_at(page, *cell));
                    let children =
                        children.chain([u32_at(page, at + 8)]).collect::<Option<Vec<_>>>();
                    waiting.extend(children.ok_or(SqliteError::Damaged)?.into_iter().rev());
                }
                _ => return Err(SqliteError::Damaged),
            }
        }
        Ok(rows)
    }

    /// A page, and the offset of its header.
    fn page(&self, number: u32) -> Option<(&'a [u8], usize)> {
        let start = (number.checked_sub(1)? as usize).checked_mul(self.page_size)?;
        let page = self.file.get(start..start.checked_add(self.page_size)?)?;
        Some((page, if number == SCHEMA { HEADER } else { 0 }))
    }

    /// The offsets of the cells of a page.
    fn cells(&self, page: &[u8], at: usize) -> Option<Vec<usize>> {
        let count = usize::from(u16_at(page, at + 3)?);
        let first = at + if *page.get(at)? == INTERIOR { 12 } else { 8 };
        (0..count).map(|i| u16_at(page, first + 2 * i).map(usize::from)).collect()
    }

    fn row(&self, page: &[u8], cell: usize) -> Option<Row> {
        let mut at = cell;
        let len = usize::try_from(varint(page, &mut at)?).ok()?;
        let number = varint(page, &mut at)?;
        let local = self.local(len);
        let mut payload = page.get(at..at.checked_add(local)?)?.to_vec();
        if local < len {
            // The rest follows in a list of pages. No payload is longer than the file.
            if len > self.file.len() {
                return None;
            }
            let mut next = u32_at(page, at + local)?;
            while payload.len() < len {
                let (page, _) = self.page(next)?;
                next = u32_at(page, 0)?;
                let more = (self.usable - 4).min(len - payload.len());
                payload.extend_from_slice(&page[4..4 + more]);
            }
        }
        Some((number, record(&payload)?))
    }

    /// Bytes of a payload of `len` that lie in the cell itself.
    fn local(&self, len: usize) -> usize {
        let most = self.usable - 35;
        if len <= most {
            return len;
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (len - least) % (self.usable - 4);
        if fitting <= most { fitting } else { least }
    }
}

/// The values of a record: a header of types, then the values.
fn record(payload: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let header = usize::try_from(varint(payload, &mut at)?).ok()?;
    let mut body = payload.get(header..)?;
    let header = payload.get(..header)?;
    let mut values = Vec::new();
    while at < header.len() {
        let typ = varint(header, &mut at)?;
        let len = match typ {
            0 | 8 | 9 => 0,
            1..=4 => typ as usize,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((typ - 12) / 2).ok()?,
            _ => return None,
        };
        let (value, rest) = body.split_at_checked(len)?;
        body = rest;
        values.push(match typ {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(value)),
            7 => Value::Real,
            8 | 9 => Value::Integer(typ - 8),
            _ => Value::Bytes(value.to_vec()),
        });
    }
    Some(values)
}

/// A signed number of up to eight bytes.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let start = if negative { -1 } else { 0 };
    bytes.iter().fold(start, |value, byte| (value << 8) | i64::from(*byte))
}

/// A number of one to nine bytes, seven bits in each but the ninth, which has eight.
fn varint(bytes: &[u8], at: &mut usize) -> Option<i64> {
    let mut value: u64 = 0;
    for i in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if i == 8 {
            return Some(((value << 8) | u64::from(byte)) as i64);
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value as i64);
        }
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
pub(super) mod tests;
