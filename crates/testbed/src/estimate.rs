//! Whether a machine can carry a testbed, estimated before anything is built.

use crate::plan::Plan;
use control::{Rate, Size};
use scenario::model::Scenario;
use std::path::Path;

/// Seconds on a processor for a packet over a link, from the sending daemon's pipeline to the
/// receiving one's, with both system calls: `docs/explanation/testbed.md` says how it was measured.
const PER_PACKET: f64 = 20e-6;
/// Octets of a packet besides its content.
const AROUND: u64 = 100;
/// What a daemon takes without a content store.
const PER_DAEMON: u64 = 12_000_000;
/// The share of the processors beyond which daemons wait for each other.
const BUSY: f64 = 0.9;

/// What a testbed takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Processors.
    pub cores: f64,
    /// Memory.
    pub memory: Size,
    /// Room for contents and what is fetched.
    pub disk: Size,
}

/// What a machine has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Processors.
    pub cores: usize,
    /// Memory that is free.
    pub memory: Size,
    /// Room on the disk of temporary files.
    pub disk: Size,
}

impl Estimate {
    /// Of a scenario: every link on a flow's way carries what its flows can bring, and no more than
    /// its rate.
    #[must_use]
    pub fn of(scenario: &Scenario, plan: &Plan) -> Estimate {
        let mut packets = vec![0.0; scenario.links.len()];
        let mut most: Vec<f64> = vec![0.0; scenario.links.len()];
        let mut at_ends = 0.0;
        let mut fetched = 0;
        for (consumer, way) in scenario.consumers.iter().zip(scenario.ways()) {
            let rates = way.iter().flat_map(|link| &scenario.links[*link].directions);
            let Some(rate) = rates.map(|direction| direction.rate).min() else { continue };
            let segment = scenario.contents[consumer.content].segment.0 + AROUND;
            let pair = 2.0 * per_second(rate, segment);
            at_ends += 2.0 * pair;
            for link in way {
                packets[link] += pair;
                let fastest = scenario.links[link].directions.iter().map(|d| d.rate).max();
                let fastest = fastest.map_or(0.0, |rate| 2.0 * per_second(rate, segment));
                most[link] = most[link].max(fastest);
            }
            let time = scenario.duration.saturating_sub(consumer.start).as_secs_f64();
            let size = scenario.contents[consumer.content].size.0;
            fetched += size.min((rate.0 as f64 / 8.0 * time) as u64);
        }
        let over_links: f64 = packets.iter().zip(&most).map(|(sum, most)| sum.min(*most)).sum();
        let mut published: Vec<_> = plan.contents.iter().map(|c| (c.content, c.size.0)).collect();
        published.sort_unstable();
        published.dedup_by_key(|(content, _)| *content);
        let stores = scenario.nodes.iter().map(|node| node.content_store.capacity as u64);
        Estimate {
            cores: (over_links + at_ends) * PER_PACKET,
            memory: Size(
                stores
                    .fold(0, u64::saturating_add)
                    .saturating_add(PER_DAEMON * scenario.nodes.len() as u64),
            ),
            disk: Size(published.iter().map(|(_, size)| size).sum::<u64>() + fetched),
        }
    }

    /// What is too little in a machine, and what to do about it.
    #[must_use]
    pub fn beyond(&self, machine: &Machine) -> Option<String> {
        let cores = machine.cores as f64 * BUSY;
        if self.cores > cores {
            let share = (cores / self.cores * 100.0).floor();
            return Some(format!(
                "it would keep about {:.1} processors busy, and this machine has {}: lower the \
                 rates of the links to {share} %, or take larger segments or fewer flows",
                self.cores, machine.cores
            ));
        }
        if self.memory > machine.memory {
            return Some(format!(
                "its daemons would take about {} of memory, and {} are free: make content stores \
                 smaller, or take fewer nodes",
                self.memory, machine.memory
            ));
        }
        (self.disk > machine.disk).then(|| {
            format!(
                "its contents would take {} on the disk of temporary files, where {} are free: \
                 make contents or the run shorter, or set TMPDIR",
                self.disk, machine.disk
            )
        })
    }
}

fn per_second(rate: Rate, octets: u64) -> f64 {
    rate.0 as f64 / 8.0 / octets as f64
}

impl Machine {
    /// This one. What it does not say is taken to be enough.
    #[must_use]
    pub fn this() -> Machine {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let memory = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
        let kilobytes = memory.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        let memory = kilobytes.map_or(u64::MAX, |kb: u64| kb * 1024);
        let disk = room(&std::env::temp_dir()).unwrap_or(u64::MAX);
        Machine { cores, memory: Size(memory), disk: Size(disk) }
    }
}

fn room(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    Some(about.f_bavail * about.f_frsize)
}
