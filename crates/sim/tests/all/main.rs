//! Runs of the simulator, one module for each matter. They are one program, so that the
//! simulator is linked once. `cargo test -p sim --test all crowds::` runs the tests of one module.

mod at_once;
mod caching;
mod crowds;
mod duplicates;
mod measured;
mod objects;
mod offers;
mod outside;
mod ranges;
mod rates;
mod reliability;
mod reordering;
mod routes;
mod runs;
mod schemes;
mod service;
mod shapers;
mod silence;
mod sources;
mod stamps;
mod support;
mod swarm;
mod theory;
mod timers;
mod timing;
mod tracer;
mod uneven;
mod workloads;
