//! Keys, certificates, signing, verification and signed manifests.
//!
//! The cryptography is that of RustCrypto and `ed25519-dalek`. It is pure Rust, so the same code
//! runs in a browser, and uses the processor's SHA and vector instructions if available. Time and
//! random numbers are arguments. Only [`keychain`] and [`pib`] access a disk.

#![forbid(unsafe_code)]

mod base64_text;
pub mod certificate;
mod digest;
mod error;
mod key;
#[cfg(not(target_family = "wasm"))]
pub mod keychain;
pub mod manifest;
#[cfg(not(target_family = "wasm"))]
pub mod pib;
pub mod safe_bag;
mod signer;
pub mod trust;
mod validity;
mod verify;

pub use certificate::Certificate;
pub use digest::Digest;
pub use error::VerifyError;
pub use key::{KeyError, KeyType, MIN_SHARED_KEY, PublicKey, SecretKey, SharedKey};
#[cfg(not(target_family = "wasm"))]
pub use keychain::KeyChain;
pub use safe_bag::SafeBag;
pub use signer::Signer;
pub use trust::{Chains, TrustPolicy, TrustedKey, Validator};
pub use validity::{MAX_INSTANT, Validity, human as human_instant};
pub use verify::{Proof, verify_digest, verify_shared, verify_signature};
