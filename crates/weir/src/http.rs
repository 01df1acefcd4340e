//! Requests and answers of `weir gateway`, as pure functions of their bytes.
//!
//! [`router::guard`] decides whether the sender may send requests at all, [`ask`] reads a request,
//! [`plan`] plans the answer when the object is known, and [`timing`] describes its origin. [`put`]
//! reads uploads.

pub mod ask;
pub mod encoding;
pub mod media;
pub mod mirror;
pub mod parts;
pub mod plan;
pub mod put;
pub mod range;
pub mod timing;
