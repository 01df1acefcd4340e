//! Values of hop-by-hop options: one that is accepted can be written again and means the same.
#![no_main]

use forwarder::caching::{CachesBelow, CachesPassed};
use libfuzzer_sys::fuzz_target;
use packet::options::{
    Anticipated, Capability, ExpectedBytes, PathId, PathLabel, Range, RateStamp, RttHint,
    ResidenceTime, RttSpread, ServedBy, SteeringHint, TrafficClass, answer,
};
use packet::{HopOption, HopOptions};

fn survives<T: HopOption + PartialEq + std::fmt::Debug>(value: &[u8]) -> Option<T> {
    let option = T::decode(value)?;
    let mut again = Vec::new();
    option.encode(&mut again);
    assert_eq!(T::decode(&again).as_ref(), Some(&option));
    Some(option)
}

fuzz_target!(|value: &[u8]| {
    if let Some(range) = survives::<Range>(value) {
        assert!(range.wanted().iter().all(|at| at < range.count()));
        assert!(!range.wanted().is_empty());
    }
    survives::<TrafficClass>(value);
    survives::<RateStamp>(value);
    survives::<PathId>(value);
    if let Some(mut label) = survives::<PathLabel>(value) {
        while label.pop().is_some() {}
        while label.push(0xfff) {}
    }
    survives::<SteeringHint>(value);
    if let Some(ahead) = survives::<Anticipated>(value) {
        assert!(ahead.holders().iter().all(|holder| ahead.held(holder).count() > 0));
    }
    survives::<ServedBy>(value);
    survives::<ExpectedBytes>(value);
    survives::<RttHint>(value);
    survives::<RttSpread>(value);
    survives::<ResidenceTime>(value);
    survives::<Capability>(value);
    survives::<CachesBelow>(value);
    survives::<CachesPassed>(value);

    // Whatever an Interest says, it can be answered.
    let mut asked = HopOptions::new();
    for typ in (864..=912).step_by(4) {
        asked.set_raw(typ, value);
    }
    for node in [None, Some(1)] {
        let _ = answer(&asked, node);
    }
});
