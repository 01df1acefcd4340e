use super::*;

/// Made by `tests/interop/python-ndn/vectors.py` with Python's own SQLite: pages of 512 bytes,
/// 300 rows, so that the tree has levels, and values that need pages of their own.
fn file() -> Vec<u8> {
    let text = include_str!("../../../tests/python-ndn/table.b64");
    crate::base64_text::decode(text).unwrap().to_vec()
}

#[test]
fn rows_of_a_tree_with_levels_and_long_values() {
    let file = file();
    let rows = Sqlite::open(&file).unwrap().table("things").unwrap();
    assert_eq!(rows.len(), 300);
    for (i, (number, row)) in rows.iter().enumerate() {
        let i = i as i64;
        assert_eq!(*number, i + 1);
        let long = vec![i as u8; if i % 50 == 0 { i as usize * 7 } else { 3 }];
        let expected = [
            Value::Null,
            Value::Bytes(format!("row {i}").into_bytes()),
            Value::Bytes(long),
            Value::Integer((i - 150).pow(3) * 1_000_003),
            Value::Real,
        ];
        assert_eq!(row[..], expected, "{i}");
    }
}

#[test]
fn missing_tables_and_invalid_files_are_reported() {
    let file = file();
    let none = Sqlite::open(&file).unwrap().table("nothing");
    assert_eq!(none, Err(SqliteError::NoTable("nothing")));
    for other in [&b""[..], b"SQLite format 3\0", &[0; 4096]] {
        assert_eq!(Sqlite::open(other).unwrap_err(), SqliteError::NoDatabase);
    }
    let mut utf16 = file.clone();
    utf16[59] = 2;
    assert_eq!(Sqlite::open(&utf16).unwrap_err(), SqliteError::Encoding);
    let mut odd = file;
    odd[16..18].copy_from_slice(&[3, 0]);
    assert_eq!(Sqlite::open(&odd).unwrap_err(), SqliteError::Damaged);
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let file = file();
    for len in (100..file.len()).step_by(509) {
        let _ = Sqlite::open(&file[..len]).and_then(|sqlite| sqlite.table("things"));
    }
    // Each byte of the first pages, one after the other.
    for at in 16..4096 {
        let mut file = file.clone();
        file[at] ^= 0xff;
        let _ = Sqlite::open(&file).and_then(|sqlite| sqlite.table("things"));
    }
}

#[test]
fn a_tree_that_leads_in_circles_ends() {
    let mut file = file();
    let sqlite = Sqlite::open(&file).unwrap();
    let root = sqlite.rows(SCHEMA).unwrap().into_iter().find_map(|(_, row)| match row[3] {
        Value::Integer(root) => Some(root as usize),
        _ => None,
    });
    // The right-most child of the root is the root itself.
    let page = (root.unwrap() - 1) * 512;
    assert_eq!(file[page], INTERIOR);
    file[page + 8..page + 12].copy_from_slice(&(root.unwrap() as u32).to_be_bytes());
    let verdict = Sqlite::open(&file).unwrap().table("things");
    assert_eq!(verdict, Err(SqliteError::Damaged));
}

/// A number as the format has it, of one or two bytes.
fn short(number: usize) -> Vec<u8> {
    match u8::try_from(number) {
        Ok(one) if one < 0x80 => vec![one],
        _ => vec![0x80 | (number >> 7) as u8, number as u8 & 0x7f],
    }
}

/// The values of a row as a record: texts and bytes, numbers of one byte.
fn record_of(values: &[Value]) -> Vec<u8> {
    let (mut header, mut body) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Integer(number) => {
                header.push(1);
                body.push(*number as u8);
            }
            Value::Bytes(bytes) => {
                header.extend(short(12 + 2 * bytes.len()));
                body.extend_from_slice(bytes);
            }
            Value::Null | Value::Real => header.push(0),
        }
    }
    [short(header.len() + 1), header, body].concat()
}

/// Puts cells into a page that is a leaf, whose own header begins at `at`.
fn fill(page: &mut [u8], at: usize, cells: &[Vec<u8>]) {
    page[at] = LEAF;
    page[at + 3..at + 5].copy_from_slice(&(cells.len() as u16).to_be_bytes());
    let mut end = page.len();
    for (i, cell) in cells.iter().enumerate() {
        let start = end - cell.len();
        page[start..end].copy_from_slice(cell);
        let pointer = at + 8 + 2 * i;
        page[pointer..pointer + 2].copy_from_slice(&(start as u16).to_be_bytes());
        end = start;
    }
}

/// A database of tables that are a page each, from the format's description; a page that is not
/// given stays empty.
pub(in super::super) fn database(
    page_size: usize,
    tables: &[(&str, Vec<Vec<u8>>)],
    pages: usize,
) -> Vec<u8> {
    let mut file = vec![0; page_size * pages];
    file[..16].copy_from_slice(MAGIC);
    file[16..18].copy_from_slice(&(page_size as u16).to_be_bytes());
    let text = |text: &str| Value::Bytes(text.as_bytes().to_vec());
    let schema = tables.iter().enumerate().map(|(i, (name, _))| {
        let root = Value::Integer(i as i64 + 2);
        let record = record_of(&[text("table"), text(name), text(name), root, text("")]);
        [short(record.len()), short(i + 1), record].concat()
    });
    fill(&mut file[..page_size], HEADER, &schema.collect::<Vec<_>>());
    for (page, (_, cells)) in file.chunks_mut(page_size).skip(1).zip(tables) {
        fill(page, 0, cells);
    }
    file
}

/// A cell with a record of these values.
pub(in super::super) fn cell(number: usize, values: &[Value]) -> Vec<u8> {
    let record = record_of(values);
    [short(record.len()), short(number), record].concat()
}

/// File format, 1.6, for a page of 512 bytes: at most 477 bytes of a payload are in its cell.
/// Otherwise 39 + (length - 39) mod 508 of them are, if that is not too much, or else 39; a page
/// of the rest has 508.
#[test]
fn payloads_of_every_length_are_split_as_the_format_requires() {
    for (len, here) in [(477, 477), (478, 39), (546, 39), (547, 39), (548, 40), (985, 477)] {
        // The header of the record has three bytes, its length and a type of two.
        let value: Vec<u8> = (0..len - 3).map(|i| i as u8).collect();
        let record = record_of(&[Value::Bytes(value.clone())]);
        assert_eq!(record.len(), len);
        let mut cell = [short(len), short(1), record[..here].to_vec()].concat();
        let mut rest = record[here..].chunks(508).collect::<Vec<_>>();
        if !rest.is_empty() {
            cell.extend([0, 0, 0, 3]);
        }
        let mut file = database(512, &[("t", vec![cell])], 5);
        for (page, part) in file.chunks_mut(512).skip(2).zip(rest.drain(..)) {
            page[3] = if part.len() == 508 { 4 } else { 0 };
            page[4..4 + part.len()].copy_from_slice(part);
            // The following bytes of the page do not belong to the row.
            page[4 + part.len()..].fill(0xee);
        }
        let rows = Sqlite::open(&file).unwrap().table("t");
        assert_eq!(rows, Ok(vec![(1, vec![Value::Bytes(value)])]), "{len}");
    }
}

#[test]
fn a_payload_longer_than_the_file_is_rejected_at_once() {
    // A length of 2^42 bytes in a number of seven bytes; the rest is in a page that follows itself.
    let mut cell = vec![0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 1];
    cell.extend([0; 100]);
    cell.resize(400, 0);
    let mut file = database(512, &[("t", vec![cell])], 3);
    file[1024 - 400 + 8..1024].copy_from_slice(&[0, 0, 0, 3].repeat(98));
    file[1024..1028].copy_from_slice(&[0, 0, 0, 3]);
    assert_eq!(Sqlite::open(&file).unwrap().table("t"), Err(SqliteError::Damaged));
}

#[test]
fn numbers_have_up_to_nine_bytes() {
    let read = |bytes: &[u8]| {
        let mut at = 0;
        varint(bytes, &mut at).map(|value| (value, at))
    };
    assert_eq!(read(&[0x7f]), Some((127, 1)));
    assert_eq!(read(&[0x81, 0x00]), Some((128, 2)));
    assert_eq!(read(&[0xff; 9]), Some((-1, 9)));
    assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Some((-255, 9)));
    // 2^8, and 2^63 less one: seven bits of each of eight bytes, then eight.
    assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x00]), Some((256, 9)));
    assert_eq!(read(&[0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some((i64::MAX, 9)));
    assert_eq!(read(&[0x80]), None);
}

#[test]
fn pages_are_no_smaller_than_the_format_allows() {
    let file = file();
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        Sqlite::open(&file).map(|_| ())
    };
    assert_eq!(with(16, &[1, 0]), Err(SqliteError::Damaged), "256 bytes a page");
    // 32 of 512 bytes may be reserved, so that 480 are left.
    assert_eq!(with(20, &[32]), Ok(()));
    assert_eq!(with(20, &[33]), Err(SqliteError::Damaged));
    // Only a header is a database without its first page.
    let header = Sqlite::open(&file[..100]).unwrap().table("things");
    assert_eq!(header, Err(SqliteError::Damaged));
}
