//! Every table against a naive model, under random sequences of operations.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod content_store;
mod dead_nonces;
mod fib;
mod pit;
mod pit_bounds;
mod store_bounds;
mod strategy_choice;
mod support;
