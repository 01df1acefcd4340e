//! One limit for the whole process: what of it the forwarder's parts share, and the bounds of
//! single parts that follow from it where the file gives none.

use super::model::Config;
use control::Size;
use document::{Queue, Section};
use forwarder::tables::DeadNonces;
use forwarder::tables::dead_nonces::DEFAULT_LIFETIME;

/// What the process takes without anything to forward: program, libraries, buffers that all faces
/// share. Measured, with room for another libc.
pub(super) const PROCESS: u64 = 10_000_000;

/// With less there is no room for as many packets on the way as one fast transfer needs.
pub(super) const FEWEST: u64 = 16_000_000;

/// The allocator takes more than what is asked of it, because it cannot put everything where
/// something else was: of what is left beyond the process itself this part is not given away.
const HOLES: u64 = 8;

/// Octets that a pending Interest takes, as the defaults of the table's bounds reckon.
const PENDING: usize = 512;

/// Of the memory that is shared, remembered nonces take this part at most.
const DEAD_NONCES: usize = 16;

/// Kernel buffers are no memory of the process, but of the same host: one of them takes at most
/// this part of the limit.
const RECEIVE_BUFFER: u64 = 32;

/// The sections that bounds stand in.
pub(super) struct Sections<'a, 'd> {
    pub(super) daemon: &'a Section<'d>,
    pub(super) listen: &'a Section<'d>,
    pub(super) content_store: &'a Section<'d>,
    pub(super) forwarder: &'a Section<'d>,
    /// Those with faces' links, in the order of the file.
    pub(super) links: Vec<&'a Section<'d>>,
}

/// Of a limit on the process, what the forwarder's parts share.
pub(super) fn shared(memory: Size) -> usize {
    let left = memory.0.saturating_sub(PROCESS);
    usize::try_from(left - left / HOLES).unwrap_or(usize::MAX - 1)
}

/// Makes bounds of single parts fit into the limit, if there is one. Bounds that were given are
/// kept; those that are beyond it are mistakes.
pub(super) fn share(config: &mut Config, of: &Sections<'_, '_>) {
    let Some(memory) = config.daemon.memory else { return };
    if memory.0 < FEWEST {
        let why = format!(
            "{memory} is too little: the process alone takes up to {}, and packets that pass need \
             room besides; give it {} or more",
            Size(PROCESS),
            Size(FEWEST),
        );
        return of.daemon.mistake("memory", &why);
    }
    let limit = shared(memory);
    config.forwarder.memory = limit;
    let bound = |section: &Section<'_>, field: &str, given: usize| -> usize {
        if section.given(field).is_none() {
            return limit;
        }
        fits(section, field, given, memory);
        given
    };
    let store = &mut config.content_store.capacity;
    *store = bound(of.content_store, "capacity", *store);
    let tables = &mut config.forwarder;
    tables.pit.memory = bound(of.forwarder, "pending_memory", tables.pit.memory);
    if of.forwarder.given("pending_per_face").is_none() {
        // As the default does: a quarter of what fits into the table, which is half of everything.
        tables.pit.per_face = tables.pit.per_face.min(limit / 2 / PENDING / 4);
    }
    if of.forwarder.given("dead_nonces").is_none() {
        let most = DeadNonces::capacity_within(limit / DEAD_NONCES);
        tables.dead_nonces = tables.dead_nonces.min(most);
    } else {
        let table = DeadNonces::new(DEFAULT_LIFETIME, tables.dead_nonces);
        fits(of.forwarder, "dead_nonces", table.most_memory(), memory);
    }
    if of.listen.given("receive_buffer").is_none() {
        let most = Size(memory.0 / RECEIVE_BUFFER);
        config.listen.receive_buffer = config.listen.receive_buffer.min(most);
    }
    for link in &of.links {
        // One in packets is bounded by the memory itself.
        if let Some(Queue::Size(queue)) =
            link.given("queue").and_then(|q| Queue::read(q.get_ref()).ok())
        {
            fits(link, "queue", usize::try_from(queue.0).unwrap_or(usize::MAX), memory);
        }
    }
}

/// A bound beyond what is shared cannot be meant.
fn fits(section: &Section<'_>, field: &str, octets: usize, memory: Size) {
    let limit = shared(memory);
    if octets > limit {
        let why = format!(
            "{} do not fit into the {memory} that `memory` under `[daemon]` allows, of which {} \
             are for tables, packets and queues; give less, or leave it out: then what others do \
             not need is shared",
            Size(octets as u64),
            Size(limit as u64),
        );
        section.mistake(field, &why);
    }
}
