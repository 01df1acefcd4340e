//! The contents of NFD's status datasets. Their names: `Management::read`. JSON counters, face
//! events and the hub's prefixes have files of their own.

use super::face_info::FaceInfo;
use super::parameters::numbers as n;
use super::rib::Rib;
use control::Time;
use forwarder::Forwarder;
use forwarder::tables::ContentStore;
use packet::{Name, tlv};
use std::collections::BTreeMap;

pub(crate) const NFD_VERSION: u64 = 128;
pub(crate) const START_TIMESTAMP: u64 = 129;
pub(crate) const CURRENT_TIMESTAMP: u64 = 130;
pub(crate) const N_NAME_TREE_ENTRIES: u64 = 131;
pub(crate) const N_FIB_ENTRIES: u64 = 132;
pub(crate) const N_PIT_ENTRIES: u64 = 133;
pub(crate) const N_MEASUREMENTS_ENTRIES: u64 = 134;
pub(crate) const N_CS_ENTRIES: u64 = 135;
pub(crate) const N_IN_INTERESTS: u64 = 144;
pub(crate) const N_IN_DATA: u64 = 145;
pub(crate) const N_OUT_INTERESTS: u64 = 146;
pub(crate) const N_OUT_DATA: u64 = 147;
pub(crate) const N_IN_BYTES: u64 = 148;
pub(crate) const N_OUT_BYTES: u64 = 149;
pub(crate) const N_IN_NACKS: u64 = 151;
pub(crate) const N_OUT_NACKS: u64 = 152;
pub(crate) const N_SATISFIED_INTERESTS: u64 = 153;
pub(crate) const N_UNSATISFIED_INTERESTS: u64 = 154;

/// An entry of a list, in every list but that of channels.
pub(crate) const ENTRY: u64 = 128;
/// A next hop or route within an entry.
pub(crate) const RECORD: u64 = 129;
pub(crate) const FACE_SCOPE: u64 = 132;
pub(crate) const LINK_TYPE: u64 = 134;
pub(crate) const CHANNEL: u64 = 130;
pub(crate) const N_HITS: u64 = 129;
pub(crate) const N_MISSES: u64 = 130;

/// Face flag: IncomingFaceId and NextHopFaceId are exchanged with the application.
pub const LOCAL_FIELDS: u64 = 1;
/// Face flag: lost frames are sent again.
pub const RELIABILITY: u64 = 1 << 1;
/// Face flag: its queue is managed, and packets are marked.
pub const CONGESTION_MARKING: u64 = 1 << 2;

/// Content store flag: Data is taken in.
pub(super) const CS_ADMIT: u64 = 1;
/// Content store flag: Interests are answered.
pub(super) const CS_SERVE: u64 = 1 << 1;

fn number(out: &mut Vec<u8>, typ: u64, value: u64) {
    tlv::put_nni_tlv(out, typ, value);
}

fn text(out: &mut Vec<u8>, typ: u64, value: &str) {
    tlv::put_tlv(out, typ, value.as_bytes());
}

/// Puts the bytes that `write` appends into an element.
fn nested(out: &mut Vec<u8>, typ: u64, write: impl FnOnce(&mut Vec<u8>)) {
    let mut value = Vec::new();
    write(&mut value);
    tlv::put_tlv(out, typ, &value);
}

/// `status/general`.
pub(super) fn general(forwarder: &Forwarder, started_ms: u64, now_ms: u64) -> Vec<u8> {
    let stats = forwarder.stats();
    let routes = forwarder.fib().len() as u64;
    let mut out = Vec::new();
    text(&mut out, NFD_VERSION, concat!("weir-", env!("CARGO_PKG_VERSION")));
    number(&mut out, START_TIMESTAMP, started_ms);
    number(&mut out, CURRENT_TIMESTAMP, now_ms);
    // Weir has no name tree and no measurements table; the fields are mandatory.
    number(&mut out, N_NAME_TREE_ENTRIES, 0);
    number(&mut out, N_FIB_ENTRIES, routes);
    number(&mut out, N_PIT_ENTRIES, forwarder.pit().len() as u64);
    number(&mut out, N_MEASUREMENTS_ENTRIES, 0);
    number(&mut out, N_CS_ENTRIES, forwarder.content_store().len() as u64);
    number(&mut out, N_IN_INTERESTS, stats.received.interests);
    number(&mut out, N_IN_DATA, stats.received.data);
    number(&mut out, N_IN_NACKS, stats.received.nacks);
    number(&mut out, N_OUT_INTERESTS, stats.sent.interests);
    number(&mut out, N_OUT_DATA, stats.sent.data);
    number(&mut out, N_OUT_NACKS, stats.sent.nacks);
    number(&mut out, N_SATISFIED_INTERESTS, stats.satisfied);
    number(&mut out, N_UNSATISFIED_INTERESTS, stats.expired + stats.nacked);
    out
}

/// `faces/list`.
pub(super) fn faces(forwarder: &Forwarder, faces: &[FaceInfo], now: Time) -> Vec<u8> {
    let mut out = Vec::new();
    for face in faces {
        let Some(counters) = forwarder.counters(face.id) else { continue };
        let (received, sent) = (&counters.received, &counters.sent);
        nested(&mut out, ENTRY, |entry| {
            number(entry, n::FACE_ID, face.id.0);
            text(entry, n::URI, &face.uri);
            text(entry, n::LOCAL_URI, &face.local_uri);
            if let Some(at) = face.expires {
                number(entry, n::EXPIRATION_PERIOD, at.since(now).as_millis());
            }
            number(entry, FACE_SCOPE, u64::from(face.local));
            number(entry, n::FACE_PERSISTENCY, face.persistency as u64);
            number(entry, LINK_TYPE, u64::from(face.is_group));
            if let Some(interval) = face.marking.interval_ns {
                number(entry, n::BASE_CONGESTION_MARKING_INTERVAL, interval);
            }
            if let Some(threshold) = face.marking.threshold {
                number(entry, n::DEFAULT_CONGESTION_THRESHOLD, threshold);
            }
            if let Some(mtu) = face.mtu {
                number(entry, n::MTU, mtu as u64);
            }
            number(entry, N_IN_INTERESTS, received.interests);
            number(entry, N_IN_DATA, received.data);
            number(entry, N_IN_NACKS, received.nacks);
            number(entry, N_OUT_INTERESTS, sent.interests);
            number(entry, N_OUT_DATA, sent.data);
            number(entry, N_OUT_NACKS, sent.nacks);
            number(entry, N_IN_BYTES, received.bytes);
            number(entry, N_OUT_BYTES, sent.bytes);
            number(entry, n::FLAGS, face.flags);
        });
    }
    out
}

/// `faces/channels`.
pub(super) fn channels(uris: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for uri in uris {
        nested(&mut out, CHANNEL, |entry| text(entry, n::LOCAL_URI, uri));
    }
    out
}

/// `fib/list`.
pub(super) fn fib(forwarder: &Forwarder) -> Vec<u8> {
    let mut entries: Vec<_> = forwarder.fib().iter().collect();
    entries.sort_unstable_by_key(|(prefix, _)| *prefix);
    let mut out = Vec::new();
    for (prefix, hops) in entries {
        nested(&mut out, ENTRY, |entry| {
            prefix.encode_into(entry);
            for hop in hops {
                nested(entry, RECORD, |record| {
                    number(record, n::FACE_ID, hop.face);
                    number(record, n::COST, hop.cost);
                });
            }
        });
    }
    out
}

/// `rib/list`.
pub(super) fn rib(rib: &Rib, now: Time) -> Vec<u8> {
    let mut out = Vec::new();
    for (prefix, routes) in rib.iter() {
        nested(&mut out, ENTRY, |entry| {
            prefix.encode_into(entry);
            for (key, route) in routes {
                nested(entry, RECORD, |record| {
                    number(record, n::FACE_ID, key.face.0);
                    number(record, n::ORIGIN, key.origin);
                    number(record, n::COST, route.cost);
                    number(record, n::FLAGS, route.flags);
                    if let Some(at) = route.expires {
                        number(record, n::EXPIRATION_PERIOD, at.since(now).as_millis());
                    }
                });
            }
        });
    }
    out
}

/// The flags of the content store.
pub(super) fn store_flags(store: &ContentStore) -> u64 {
    (CS_ADMIT * u64::from(store.admits())) | (CS_SERVE * u64::from(store.serves()))
}

/// `cs/info`. The capacity is in packets. If memory alone bounds the store, it is the number of the
/// smallest packets that fit.
pub(super) fn content_store(forwarder: &Forwarder) -> Vec<u8> {
    let store = forwarder.content_store();
    let mut out = Vec::new();
    nested(&mut out, ENTRY, |entry| {
        number(entry, n::CAPACITY, store.most_packets() as u64);
        number(entry, n::FLAGS, store_flags(store));
        number(entry, N_CS_ENTRIES, store.len() as u64);
        number(entry, N_HITS, store.counters().hits);
        number(entry, N_MISSES, store.counters().misses);
    });
    out
}

/// `strategy-choice/list`.
pub(super) fn strategies(forwarder: &Forwarder, named: &BTreeMap<Name, Name>) -> Vec<u8> {
    let mut out = Vec::new();
    for prefix in forwarder.strategy_prefixes() {
        let Some(strategy) = named.get(&prefix.to_name()) else { continue };
        nested(&mut out, ENTRY, |entry| {
            prefix.encode_into(entry);
            nested(entry, n::STRATEGY, |value| strategy.encode_into(value));
        });
    }
    out
}
