//! Published schemes, one file each with all its parts: consumer, queue management, shaping,
//! stamping, strategy, parameters and citation.
//!
//! A scheme is chosen by a line of text, [`Choice`]: `"cubic"`, `"cubic:beta=0.8,C=0.4"`.
#![forbid(unsafe_code)]

pub mod choice;
mod explicit_rate;
mod hystart;
mod path_id;
pub mod reference;
mod sources;
mod suppression;
#[cfg(test)]
mod testing;

pub use choice::{Choice, ChoiceError, find};

control::registry! {
    aimd,
    bbr,
    best_route,
    bic,
    cctcp,
    codel,
    contug,
    cubic,
    drop_tail,
    fixed,
    icp,
    ictp,
    mircc,
    multicast,
    nfd_mark,
    packet_pair,
    path_label,
    pcon,
    raaqm,
    rate,
    rcp,
    red,
}
