//! The commands of the module `strategy-choice`.

use super::parameters::ControlParameters;
use super::response::ControlResponse;
use forwarder::Forwarder;
use forwarder::tables::fib::FibError;
use forwarder::tables::memory;
use packet::Name;
use schemes::{ChoiceError as Unknown, instance};
use std::collections::BTreeMap;

/// Prefixes with strategies beyond which commands get no more: each has a strategy of its own.
pub(super) const MOST: usize = 1000;

/// Bytes of memory that a choice takes: the strategy, and the names in three places.
pub(super) fn bytes(prefix: &Name, instance: &Name) -> usize {
    let [prefix, instance] =
        [prefix, instance].map(|name| memory::block(name.as_ref().as_bytes().len()));
    640 + 3 * prefix + instance
}

/// `strategy-choice/set`
pub(super) fn set(
    forwarder: &mut Forwarder,
    chosen: &mut BTreeMap<Name, Name>,
    asked: &ControlParameters,
) -> ControlResponse {
    let (Some(prefix), Some(strategy)) = (&asked.name, &asked.strategy) else {
        let why = "strategy-choice/set needs a Name and a Strategy";
        return ControlResponse::new(400, why, asked.clone());
    };
    let chosen_now = instance::choose(strategy.as_ref())
        .and_then(|choice| Ok((instance::name(&choice), choice.strategy()?)));
    let (instance, made) = match chosen_now {
        Ok(both) => both,
        Err(error @ (Unknown::NoSuchStrategy { .. } | Unknown::NoSuchVersion { .. })) => {
            return ControlResponse::new(404, error.to_string(), asked.clone());
        }
        Err(error) => return ControlResponse::new(409, error.to_string(), asked.clone()),
    };
    if !chosen.contains_key(prefix) {
        if chosen.len() >= MOST {
            let why = format!("{MOST} prefixes have strategies, which is the limit");
            return ControlResponse::new(500, why, asked.clone());
        }
        if !forwarder.has_room_for_route(bytes(prefix, &instance)) {
            return ControlResponse::new(500, FibError::Memory.to_string(), asked.clone());
        }
    }
    if let Err(error) = forwarder.set_strategy(prefix.as_ref(), made) {
        return ControlResponse::new(414, error.to_string(), asked.clone());
    }
    tracing::info!(%prefix, strategy = %instance, "strategy chosen");
    chosen.insert(prefix.clone(), instance.clone());
    let body = ControlParameters {
        name: Some(prefix.clone()),
        strategy: Some(instance),
        ..ControlParameters::default()
    };
    ControlResponse::new(200, "OK", body)
}

/// `strategy-choice/unset`; unsetting a prefix without a choice is a success, too.
pub(super) fn unset(
    forwarder: &mut Forwarder,
    chosen: &mut BTreeMap<Name, Name>,
    asked: &ControlParameters,
) -> ControlResponse {
    let Some(prefix) = &asked.name else {
        return ControlResponse::new(400, "strategy-choice/unset needs a Name", asked.clone());
    };
    if prefix.is_empty() {
        let why = "the root's strategy can only be replaced";
        return ControlResponse::new(400, why, asked.clone());
    }
    if forwarder.unset_strategy(prefix.as_ref()) {
        tracing::info!(%prefix, "strategy unset");
    }
    chosen.remove(prefix);
    let body = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
    ControlResponse::new(200, "OK", body)
}
