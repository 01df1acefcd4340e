//! Packets of another library, read and compared.

use crate::fields;
use packet::{
    Data, DataBuf, Interest, InterestBuf, LpHeader, LpPacket, Name, Signature, SignatureInfoBuf,
};
use serde_json::Value;
use std::io::BufRead as _;

pub fn run() -> Result<(), String> {
    let mut wrong = 0_usize;
    let mut right = 0_usize;
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        match check(&line) {
            Ok(written) => {
                right += 1;
                println!("{}", fields::hex(&written));
            }
            Err(message) => {
                wrong += 1;
                println!();
                eprintln!("line {}: {message}\n{line}", number + 1);
            }
        }
    }
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} of {} packets differ", wrong + right)) }
}

/// Compares what the bytes of a line say with its fields, and writes the packet again.
fn check(line: &str) -> Result<Vec<u8>, String> {
    let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let wire = line["wire"].as_str().and_then(fields::unhex).ok_or("no bytes in `wire`")?;
    let text = |error: packet::DecodeError| error.to_string();
    let (found, written, uri) = match line["kind"].as_str() {
        Some("interest") => {
            let view = Interest::decode(&wire).map_err(text)?;
            let written = InterestBuf::from_view(&view).encode().to_vec();
            (fields::interest(&view), written, Some(view.name().to_name()))
        }
        Some("data") => {
            let view = Data::decode(&wire).map_err(text)?;
            (fields::data(&view), write_data(&view), Some(view.name().to_name()))
        }
        Some("link") => {
            let view = LpPacket::decode(&wire).map_err(text)?;
            let mut written = Vec::new();
            LpHeader::from(&view).encode_into(view.fragment().unwrap_or_default(), &mut written);
            (fields::link(&view), written, None)
        }
        other => return Err(format!("the kind {other:?} is not known")),
    };
    compare(&line["fields"], &found)?;
    if let (Some(name), Some(uri)) = (uri, line["uri"].as_str()) {
        let parsed: Name = uri.parse().map_err(|error: packet::UriError| error.to_string())?;
        if parsed != name {
            return Err(format!("`{uri}` is read as {parsed}, and means {name}"));
        }
    }
    Ok(written)
}

fn write_data(view: &Data<'_>) -> Vec<u8> {
    let info = SignatureInfoBuf::from_view(&view.signature_info());
    let value = Signature::new(view.signature_value());
    let mut written = Vec::new();
    DataBuf::from_view(view).encode_into(&info, |_| value, &mut written);
    written
}

fn compare(expected: &Value, found: &Value) -> Result<(), String> {
    let (Some(expected), Some(found)) = (expected.as_object(), found.as_object()) else {
        return Err("no fields in `fields`".to_owned());
    };
    for key in expected.keys().chain(found.keys()) {
        let (expected, found) = (expected.get(key), found.get(key));
        if expected != found {
            return Err(format!("{key}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}
