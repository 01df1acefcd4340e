//! The part of `weir gateway` that needs neither a network nor a clock: reading a request, checking
//! its sender, and planning the answer. The program uses it, and fuzzing reaches it here.

pub mod http;
