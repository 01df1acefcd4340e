//! Keys and certificates as text.

use crate::exit::{Failure, Kind};
use crate::output;
use security::Certificate;
use std::io::Read;
use std::path::Path;

/// More than any certificate or key takes.
const MOST: u64 = 64 * 1024;

pub fn print(certificate: &Certificate) -> Result<(), Failure> {
    output::result(certificate.to_base64().trim_end())
}

/// A file's text, or that of standard input.
pub fn text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().take(MOST).read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|f| f.take(MOST).read_to_string(&mut text)),
    };
    read.map_err(|error| {
        Failure::new(Kind::File, format!("cannot read {}: {error}", path.display()))
            .then("name a file that `weir key export` wrote, or `-` for standard input")
    })?;
    Ok(text)
}
