//! What of `weir gateway` needs neither a network nor a clock: how a request is read, who may ask,
//! and what the answer will be. The program is made of it, and fuzzing reaches it here.

pub mod http;
