//! The commands of the module `cs`.

use super::parameters::ControlParameters;
use super::response::ControlResponse;
use super::status;
use forwarder::Forwarder;

/// Packets that one `cs/erase` removes at most (NFD's number).
const MOST_ERASED: usize = 256;

/// `cs/config`: the maximum number of packets, and whether the store inserts and answers.
pub(super) fn config(forwarder: &mut Forwarder, asked: &ControlParameters) -> ControlResponse {
    let (flags, mask) = match (asked.flags, asked.mask) {
        (Some(flags), Some(mask)) => (flags, mask),
        (None, None) => (0, 0),
        _ => {
            let why = "Flags and Mask must be given together";
            return ControlResponse::new(400, why, asked.clone());
        }
    };
    if mask & !(status::CS_ADMIT | status::CS_SERVE) != 0 {
        let why = "a content store has only the flags 1 (admit) and 2 (serve)";
        return ControlResponse::new(400, why, asked.clone());
    }
    if let Some(packets) = asked.capacity {
        forwarder.set_content_store_packets(usize::try_from(packets).unwrap_or(usize::MAX));
    }
    let flags = (status::store_flags(forwarder.content_store()) & !mask) | (flags & mask);
    forwarder.switch_content_store(flags & status::CS_ADMIT != 0, flags & status::CS_SERVE != 0);
    tracing::info!(capacity = asked.capacity, flags, "content store configured");
    let body = ControlParameters {
        capacity: Some(forwarder.content_store().most_packets() as u64),
        flags: Some(flags),
        ..ControlParameters::default()
    };
    ControlResponse::new(200, "OK", body)
}

/// `cs/erase`: a Capacity in the reply means that more packets can be erased.
pub(super) fn erase(forwarder: &mut Forwarder, asked: &ControlParameters) -> ControlResponse {
    let Some(prefix) = &asked.name else {
        return ControlResponse::new(400, "cs/erase needs a Name", asked.clone());
    };
    if asked.count == Some(0) {
        return ControlResponse::new(400, "a Count of zero erases nothing", asked.clone());
    }
    let wanted = asked.count.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let erased = forwarder.erase_content(prefix.as_ref(), wanted.min(MOST_ERASED));
    let stopped = erased == MOST_ERASED && wanted > MOST_ERASED;
    let more = stopped && forwarder.has_content(prefix.as_ref());
    tracing::debug!(%prefix, erased, "content erased");
    let body = ControlParameters {
        name: Some(prefix.clone()),
        count: Some(erased as u64),
        capacity: more.then_some(MOST_ERASED as u64),
        ..ControlParameters::default()
    };
    ControlResponse::new(200, "OK", body)
}
