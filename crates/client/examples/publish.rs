//! Publishes a file until a line comes from standard input:
//! `cargo run --package client --example publish -- NAME FILE`.

use client::Client;
use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: publish NAME FILE".into());
    };
    let publication = Client::connect("")?.publish(name, PathBuf::from(file))?;
    writeln!(stdout(), "serving {}; Enter ends it", publication.name())?;
    stdin().read_line(&mut String::new())?;
    writeln!(stdout(), "{} packets were sent", publication.answered())?;
    Ok(())
}
