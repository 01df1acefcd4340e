use super::*;

/// Made by `tests/interop/python-ndn/vectors.py` with Python's own SQLite: pages of 512 octets,
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
            Value::Octets(format!("row {i}").into_bytes()),
            Value::Octets(long),
            Value::Integer((i - 150).pow(3) * 1_000_003),
            Value::Real,
        ];
        assert_eq!(row[..], expected, "{i}");
    }
}

#[test]
fn what_is_not_there_is_said() {
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
    // Each octet of the first pages, one after the other.
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
