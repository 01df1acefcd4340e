//! One limit for the whole process: what of it the forwarder's parts share, and the bounds of
//! single parts that follow from it where the file gives none.

use super::file::Config;
use super::process::Given;
use control::Size;
use document::{DeValue, Queue, Section, text};
use forwarder::ForwarderConfig;
use forwarder::tables::dead_nonces::DEFAULT_LIFETIME;
use forwarder::tables::{ContentStoreConfig, DeadNonces, PitConfig};

/// The memory of a process that has nothing to forward: program, libraries, buffers shared by all
/// faces. Measured, with room for another libc.
pub(super) const PROCESS: u64 = 10_000_000;

/// The least memory that has room for the packets in flight of one fast transfer.
pub(super) const FEWEST: u64 = 16_000_000;

/// The allocator needs more than the requested bytes, because new blocks do not always fit into
/// freed ones: this part of the memory beyond the process itself is kept in reserve.
const HOLES: u64 = 8;

/// Bytes of a pending Interest, for the defaults of the table's limits.
const PENDING: usize = 512;

/// The largest part of the shared memory for remembered nonces.
const DEAD_NONCES: usize = 16;

/// Kernel buffers are not memory of the process, but of the same host: one of them takes at most
/// this part of the limit.
const RECEIVE_BUFFER: u64 = 32;

/// Without a limit in the file the process takes this part of the memory of the host or of its
/// control group,
const OF_HOST: u64 = 4;

/// at most this much,
const MOST: u64 = 2_000_000_000;

/// and this much if the system does not report its memory.
const UNKNOWN: u64 = 256_000_000;

/// The sections with limits.
pub(super) struct Sections<'a, 'd> {
    pub(super) daemon: &'a Section<'d>,
    pub(super) listen: &'a Section<'d>,
    pub(super) content_store: &'a Section<'d>,
    pub(super) forwarder: &'a Section<'d>,
    /// Those with faces' links, in the order of the file.
    pub(super) links: Vec<&'a Section<'d>>,
}

/// The part of a process's limit that the forwarder's parts share.
pub(super) fn shared(memory: Size) -> usize {
    let left = memory.0.saturating_sub(PROCESS);
    usize::try_from(left - left / HOLES).unwrap_or(usize::MAX - 1)
}

/// True if the host's memory decides.
fn is_auto(s: &Section<'_>) -> bool {
    s.given("memory").is_none_or(|v| text(v.get_ref()) == Ok("auto"))
}

/// Compares the sizes in the file with the memory of the host. A limit that no process can reach
/// protects the host from nothing, so a larger one is a mistake. Returns true if there is none.
pub(super) fn fit_host(of: &Sections<'_, '_>, host: u64) -> bool {
    let fields = [
        (of.daemon, "memory"),
        (of.content_store, "capacity"),
        (of.forwarder, "pending_memory"),
        (of.forwarder, "dead_nonces"),
        (of.listen, "receive_buffer"),
    ];
    let queues = of.links.iter().map(|link| (*link, "queue"));
    let mut fit = true;
    for (section, field) in fields.into_iter().chain(queues) {
        // Other forms, and texts that are no sizes, have their own mistakes.
        let size = section.given(field).and_then(|v| match v.get_ref() {
            DeValue::Integer(n) => Some(Size(nonces(n.as_str().parse().ok()?) as u64)),
            other => text(other).ok()?.parse().ok(),
        });
        let Some(size) = size.filter(|size| size.0 > host) else { continue };
        let why = format!(
            "{size} is more than the {} of memory that this host or its control group has; give \
             less, or leave it out",
            Size(host),
        );
        section.mistake(field, &why);
        fit = false;
    }
    fit
}

/// Makes limits of single parts fit into the whole limit, if there is one. Limits in the file are
/// kept; those beyond it are mistakes.
pub(super) fn share(config: &mut Config, of: &Sections<'_, '_>) {
    let given = Given {
        pending_per_face: of.forwarder.given("pending_per_face").is_some(),
        dead_nonces: of.forwarder.given("dead_nonces").is_some(),
        receive_buffer: of.listen.given("receive_buffer").is_some(),
    };
    config.daemon.shares_host = is_auto(of.daemon).then_some(given);
    let Some(memory) = config.daemon.memory else { return };
    if memory.0 < FEWEST {
        let why = format!(
            "{memory} is too little: the process alone takes up to {}, and forwarded packets need \
             room as well; give it {} or more",
            Size(PROCESS),
            Size(FEWEST),
        );
        return of.daemon.mistake("memory", &why);
    }
    let limit = shared(memory);
    config.forwarder.memory = Some(limit);
    let store = &mut config.content_store.capacity;
    *store = bound(of.content_store, "capacity", *store, memory);
    let tables = &mut config.forwarder;
    tables.pit.memory = bound(of.forwarder, "pending_memory", tables.pit.memory, memory);
    if given.dead_nonces {
        fits(of.forwarder, "dead_nonces", nonces(tables.dead_nonces), memory);
    }
    adapt(config, memory, given);
    for link in &of.links {
        // One in packets is bounded by the memory itself.
        if let Some(Queue::Size(queue)) =
            link.given("queue").and_then(|q| Queue::read(q.get_ref()).ok())
        {
            fits(link, "queue", usize::try_from(queue.0).unwrap_or(usize::MAX), memory);
        }
    }
}

/// Derives the limits that the file leaves out from the whole limit.
fn adapt(config: &mut Config, memory: Size, given: Given) {
    let (limit, tables) = (shared(memory), &mut config.forwarder);
    if !given.pending_per_face {
        // As the default does: a quarter of what fits into the table, which is half of everything.
        tables.pit.per_face = tables.pit.per_face.min(limit / 2 / PENDING / 4);
    }
    if !given.dead_nonces {
        let most = DeadNonces::capacity_within(limit / DEAD_NONCES);
        tables.dead_nonces = tables.dead_nonces.min(most);
    }
    if !given.receive_buffer {
        let most = Size(memory.0 / RECEIVE_BUFFER);
        config.listen.receive_buffer = config.listen.receive_buffer.min(most);
    }
}

impl Config {
    /// Limits the process to a share of `host` bytes of memory, if the file leaves it to that;
    /// `None` if the system does not report its memory. Limits of single parts stay as they are,
    /// and larger ones than the defaults raise the whole limit, up to the host's memory.
    pub fn share_host(&mut self, host: Option<u64>) {
        let Some(given) = self.daemon.shares_host else { return };
        let part = host.map_or(UNKNOWN, |host| host / OF_HOST).clamp(FEWEST, MOST);
        let usual = ContentStoreConfig::default().capacity;
        let store = self.content_store.capacity.saturating_sub(usual) as u64;
        let usual = PitConfig::default().memory;
        let pending = self.forwarder.pit.memory.saturating_sub(usual) as u64;
        let nonces = match given.dead_nonces {
            true => {
                let usual = nonces(ForwarderConfig::DEAD_NONCES);
                nonces(self.forwarder.dead_nonces).saturating_sub(usual) as u64
            }
            false => 0,
        };
        // Pending Interests have half of what is shared.
        let more = store.saturating_add(pending.saturating_mul(2)).saturating_add(nonces);
        let raised = part.saturating_add(more).saturating_add(more / (HOLES - 1));
        let memory = Size(host.map_or(raised, |host| raised.min(host.max(part))));
        self.daemon.memory = Some(memory);
        self.forwarder.memory = Some(shared(memory));
        adapt(self, memory, given);
    }
}

/// The most memory of a table of this many nonces.
fn nonces(most: usize) -> usize {
    DeadNonces::new(DEFAULT_LIFETIME, most).most_memory()
}

/// The field's value, which has to fit, if the file gives it; otherwise the shared memory.
fn bound(section: &Section<'_>, field: &str, given: usize, memory: Size) -> usize {
    if section.given(field).is_none() {
        return shared(memory);
    }
    fits(section, field, given, memory);
    given
}

/// A limit beyond the shared memory is a mistake.
fn fits(section: &Section<'_>, field: &str, bytes: usize, memory: Size) {
    let limit = shared(memory);
    if bytes > limit {
        let why = format!(
            "{} do not fit into the {memory} that `memory` under `[daemon]` allows, of which {} \
             are for tables, packets and queues; give less, or leave it out: then what others do \
             not need is shared",
            Size(bytes as u64),
            Size(limit as u64),
        );
        section.mistake(field, &why);
    }
}
