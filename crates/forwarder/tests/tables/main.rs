//! Every table against a naive model, under random sequences of operations.

mod content_store;
mod dead_nonces;
mod fib;
mod pit;
mod strategy_choice;
mod support;
