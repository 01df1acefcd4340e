//! The C library `libweir`: the crate `client` behind a header, `include/weir.h`.
//!
//! All unsafe code of the library is in this crate: pointers become references and slices in
//! `pointers.rs`, and the functions that C calls are `unsafe` because only their caller knows that
//! pointers are valid. Each of them checks for null, rejects text that is not UTF-8, and catches
//! panics, so that none crosses into C.

mod connect;
mod fetch;
mod group;
mod pointers;
mod publish;
mod register;
mod status;
