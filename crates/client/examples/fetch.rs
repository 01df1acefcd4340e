//! Fetches an object into a file: `cargo run --package client --example fetch -- NAME FILE`.

use client::{Client, Verified};
use std::error::Error;
use std::io::{Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: fetch NAME FILE".into());
    };
    let received = Client::connect("")?.request(name).to_file(&file)?;
    let proof = match received.verified {
        Verified::Key(key) => format!("signed by {key}"),
        _ => "not signed by a trusted key".to_owned(),
    };
    writeln!(stdout(), "{}: {} bytes, {proof}", received.name, received.bytes)?;
    Ok(())
}
