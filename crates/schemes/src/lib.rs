//! Published schemes, one file each with all its parts: consumer, queue management, shaping,
//! stamping, strategy, parameters and citation. Parts that several schemes have in common are in
//! the folder `shared`.
//!
//! A scheme is chosen by a line of text, [`Choice`]: `"cubic"`, `"cubic:beta=0.8,C=0.4"`.
#![forbid(unsafe_code)]

pub mod added;
pub mod choice;
pub mod defaults;
pub mod instance;
pub mod reference;
mod shared;
#[cfg(test)]
mod testing;
mod text;

pub use added::{AddError, add, all};
pub use choice::{Choice, ChoiceError, find};

control::registry! {
    aimd,
    asf,
    bbr,
    best_route,
    bic,
    ccncatchunks2,
    ccnd,
    cctcp,
    chopcop,
    codel,
    contug,
    copa,
    cubic,
    dctcp,
    drop_tail,
    e2e_aqm,
    fisp in chopcop,
    fixed,
    hbh in hr_icp,
    his,
    hobhis,
    hr_icp,
    icp,
    ictp,
    learned,
    ledbat,
    mircc,
    multicast,
    nfd_mark,
    packet_pair,
    path_label,
    pcon,
    prague,
    raaqm,
    random in weighted,
    rate,
    rcp,
    red,
    rem in chopcop,
    ric in chopcop,
    self_learning,
    sluice,
    weighted,
}
