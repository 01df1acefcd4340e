//! Sockets as faces see them: connected UDP with segmentation offload, Ethernet frames, byte
//! streams, WebSockets, listeners.

#[cfg_attr(not(target_os = "linux"), path = "socket/no_ether.rs")]
pub mod ether;
pub mod listen;
pub mod owner;
mod peer;
mod progress;
mod sending;
pub mod stream;
pub mod udp;
#[cfg_attr(not(feature = "websocket"), path = "socket/no_websocket.rs")]
pub mod websocket;

pub use progress::Progress;
pub use sending::{SendError, SendFrames};
