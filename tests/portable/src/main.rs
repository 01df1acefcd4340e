//! Prints the fingerprint of a run for each of some seeds.
#![allow(clippy::print_stdout, reason = "a program that prints")]

use portable::{SEEDS, fingerprint};

fn main() {
    for seed in SEEDS {
        let (trace, results) = fingerprint(seed);
        println!("{seed} {trace:016x} {results:016x}");
    }
}
