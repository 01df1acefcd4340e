//! The options of an answer.

use super::list::HopOptions;
use super::option::HopOption;
use super::{Anticipated, PathLabel, Range, ResidenceTime, ServedBy, SteeringHint, TrafficClass};

/// The options of the answer to an Interest with the options `asked`: echoed ones, the answering
/// node if requested, and no residence time, for the answer is at hand. `node` is the identity of
/// the content store's or producer's node; `None` in a Nack.
#[must_use]
pub fn answer(asked: &HopOptions, node: Option<u64>) -> HopOptions {
    let mut options = HopOptions::new();
    if asked.is_empty() {
        return options;
    }
    echo::<Range>(asked, node, &mut options);
    echo::<TrafficClass>(asked, node, &mut options);
    echo::<PathLabel>(asked, node, &mut options);
    echo::<SteeringHint>(asked, node, &mut options);
    echo::<Anticipated>(asked, node, &mut options);
    if node.is_some() && asked.get_raw(ResidenceTime::TYPE).is_some() {
        options.set(&ResidenceTime::of(0));
    }
    if let Some(node) = node
        && asked.get_raw(ServedBy::TYPE).is_some()
    {
        options.set(&ServedBy { node, hops: 0 });
    }
    options
}

fn echo<T: HopOption>(asked: &HopOptions, node: Option<u64>, options: &mut HopOptions) {
    let echoed = if node.is_some() { T::ECHO } else { T::ECHO_IN_NACKS };
    if echoed && let Some(option) = asked.get::<T>().and_then(T::answered) {
        options.set(&option);
    }
}
