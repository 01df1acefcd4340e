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
    let name = |name: &Name| memory::block(name.as_ref().as_bytes().len());
    640 + 3 * name(prefix) + name(instance)
}

/// `strategy-choice/set`
pub(super) fn set(
    forwarder: &mut Forwarder,
    chosen: &mut BTreeMap<Name, Name>,
    asked: &ControlParameters,
) -> ControlResponse {
    let refuse = |code, text: String| ControlResponse::new(code, text, asked.clone());
    let (Some(prefix), Some(strategy)) = (&asked.name, &asked.strategy) else {
        return refuse(400, "strategy-choice/set needs a Name and a Strategy".to_owned());
    };
    let chosen_now = instance::choose(strategy.as_ref())
        .and_then(|choice| Ok((instance::name(&choice), choice.strategy()?)));
    let (instance, made) = match chosen_now {
        Ok(both) => both,
        Err(error @ (Unknown::NoSuchStrategy { .. } | Unknown::NoSuchVersion { .. })) => {
            return refuse(404, error.to_string());
        }
        Err(error) => return refuse(409, error.to_string()),
    };
    if !chosen.contains_key(prefix) {
        if chosen.len() >= MOST {
            return refuse(500, format!("{MOST} prefixes have strategies, which is the limit"));
        }
        if !forwarder.has_room_for_route(bytes(prefix, &instance)) {
            return refuse(500, FibError::Memory.to_string());
        }
    }
    if let Err(error) = forwarder.set_strategy(prefix.as_ref(), made) {
        return refuse(414, error.to_string());
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

/// `strategy-choice/unset`; taking back what was not chosen is a success, too.
pub(super) fn unset(
    forwarder: &mut Forwarder,
    chosen: &mut BTreeMap<Name, Name>,
    asked: &ControlParameters,
) -> ControlResponse {
    let refuse = |text: &str| ControlResponse::new(400, text, asked.clone());
    let Some(prefix) = &asked.name else { return refuse("strategy-choice/unset needs a Name") };
    if prefix.is_empty() {
        return refuse("the root's strategy can be replaced only");
    }
    if forwarder.unset_strategy(prefix.as_ref()) {
        tracing::info!(%prefix, "strategy unset");
    }
    chosen.remove(prefix);
    let body = ControlParameters { name: Some(prefix.clone()), ..ControlParameters::default() };
    ControlResponse::new(200, "OK", body)
}
