//! Runs a scenario in the simulator, and prints the results of each run:
//! `cargo run --package client --example simulate -- scenarios/tutorial/three-hops.toml`.

use std::error::Error;
use std::io::{Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: simulate SCENARIO")?;
    let results = client::simulate(&std::fs::read_to_string(file)?)?;
    for run in results.runs() {
        let goodput = run.measure("goodput").unwrap_or_default();
        writeln!(stdout(), "seed {}: {goodput:.2} Mbit/s", run.seed())?;
    }
    Ok(())
}
