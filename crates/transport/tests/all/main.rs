//! Fetches and producers from outside, one module for each matter. They are one program, so that
//! the crate is linked once. `cargo test -p transport --test all heads::` runs one module.

mod batch;
mod bounds;
mod certificates;
mod changed;
mod forged;
mod head_interests;
mod heads;
mod in_flight;
mod loss;
mod others;
mod outage;
mod pacing;
mod producer;
mod producers;
mod ranges;
mod room;
mod signed;
mod storms;
mod support;
mod transfer;
