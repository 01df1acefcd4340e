//! The parts of the program that need neither a network nor a clock: the requests of `weir gateway`
//! and the plans of their answers, and the messages of `weir chat`. The program uses them, and
//! fuzzing reaches them here.

pub mod http;
#[path = "chat/message.rs"]
pub mod message;
