//! The forwarder's treatment of packets, rule by rule, and several forwarders together.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod brought;
mod capabilities;
mod data;
mod exclude;
mod interest;
mod learned;
mod linger;
mod link;
mod memory;
mod nack;
mod net;
mod network;
mod options;
mod parts;
mod proof;
mod range;
mod reliability;
mod residence;
mod scarce;
mod shaper;
mod steps;
mod support;
mod traceroute;
