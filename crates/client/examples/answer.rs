//! Answers Interests with the number of Interests before, and asks itself, over a forwarder in this
//! process: `cargo run --package client --example answer`.

use client::{Embedded, Interest, Reply};
use std::error::Error;
use std::io::{Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let forwarder = Embedded::start()?;
    let client = forwarder.client()?;
    let mut count = 0;
    let _registration = client.register("/demo/count", move |_| {
        count += 1;
        Some(Reply::new(count.to_string()))
    })?;
    for question in ["first", "second", "third"] {
        let data = client.express(&Interest::new(format!("/demo/count/{question}"))?)?;
        writeln!(stdout(), "{}: {}", data.name, String::from_utf8_lossy(&data.content))?;
    }
    Ok(())
}
