//! Packets as JSON lines, to compare this crate with other NDN libraries.
//!
//!     vectors emit SEED COUNT   writes COUNT random packets: kind, bytes, fields
//!     vectors check             reads such lines, compares the fields that it finds in the bytes
//!                               with those of the line, and writes the bytes that it would have
//!                               sent for these fields, in the order of the lines
//!
//! Bytes are hexadecimal. A field that is not there is null.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program talks on its streams")]

use std::process::ExitCode;

mod check;
mod dice;
mod emit;
mod fields;
mod keys;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["emit", seed, count] => emit::run(seed, count),
        ["check"] => check::run(),
        _ => Err("usage: vectors emit SEED COUNT | vectors check".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("vectors: {message}");
            ExitCode::FAILURE
        }
    }
}
