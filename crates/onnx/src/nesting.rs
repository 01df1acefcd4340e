//! Messages in messages of a file. The library reads them by calling itself, so that a file of
//! graphs in graphs would end its stack. No operator that is evaluated has a graph: a model with
//! one is rejected here, without a call for each.
//!
//! Numbers of fields are those of onnx.proto; the coding is that of Protocol Buffers ("Encoding",
//! message structure).

use crate::fault::Fault;

/// A kind of message, by the fields that lead on.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    ValueInfo,
    Type,
}

/// The meaning of a field.
enum Field {
    Within(Kind),
    Rejected(&'static str),
    Plain,
}

impl Kind {
    fn field(self, number: u64) -> Field {
        match (self, number) {
            (Kind::Model, 7) => Field::Within(Kind::Graph),
            (Kind::Graph, 1) => Field::Within(Kind::Node),
            (Kind::Graph, 11..=13) => Field::Within(Kind::ValueInfo),
            (Kind::Node, 5) => Field::Within(Kind::Attribute),
            (Kind::ValueInfo, 2) => Field::Within(Kind::Type),
            (Kind::Attribute, 6 | 11) => Field::Rejected("an operator with a graph of its own"),
            (Kind::Model, 25) => Field::Rejected("a function"),
            (Kind::Type, 4 | 5 | 9) => Field::Rejected("a value that is not a tensor"),
            _ => Field::Plain,
        }
    }
}

/// Checks the messages of a file.
pub fn check(bytes: &[u8]) -> Result<(), Fault> {
    check_message(bytes, Kind::Model)
}

fn cut() -> Fault {
    Fault::NotAModel("it is cut off, or no Protocol Buffers message".to_owned())
}

/// Calls itself as deep as the kinds are.
fn check_message(mut rest: &[u8], kind: Kind) -> Result<(), Fault> {
    while !rest.is_empty() {
        let tag = varint(&mut rest).ok_or_else(cut)?;
        let length = match tag & 7 {
            0 => {
                varint(&mut rest).ok_or_else(cut)?;
                continue;
            }
            1 => 8,
            2 => usize::try_from(varint(&mut rest).ok_or_else(cut)?).map_err(|_| cut())?,
            5 => 4,
            _ => return Err(cut()),
        };
        let (field, after) = rest.split_at_checked(length).ok_or_else(cut)?;
        rest = after;
        match kind.field(tag >> 3) {
            Field::Within(kind) if tag & 7 == 2 => check_message(field, kind)?,
            Field::Rejected(what) => return Err(Fault::Operator(what.to_owned())),
            _ => {}
        }
    }
    Ok(())
}

/// A number of seven bits in each byte, the lowest first.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
