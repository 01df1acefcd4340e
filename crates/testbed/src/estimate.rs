//! An estimate of the resources of a testbed, before anything is built.

use crate::plan::Plan;
use control::{Rate, Size};
use scenario::model::{Asked, Consumer, Manner, Objects, Requests, Scenario};
use std::path::Path;

/// Processor seconds for a packet over a link, from the sending daemon's pipeline to the receiving
/// one's, with both system calls. `docs/explanation/testbed.md` describes the measurement.
const PER_PACKET: f64 = 20e-6;
/// Bytes of a packet besides its content.
const AROUND: u64 = 100;
/// The memory of a daemon without a content store.
const PER_DAEMON: u64 = 12_000_000;
/// The share of the processors beyond which daemons wait for each other.
const BUSY: f64 = 0.9;

/// The resources that a testbed needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Processors.
    pub cores: f64,
    /// The part of applications without a command-line tool: they share one thread.
    pub applications: f64,
    /// Memory.
    pub memory: Size,
    /// Space for contents and fetched files.
    pub disk: Size,
}

/// The resources of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Processors.
    pub cores: usize,
    /// Free memory.
    pub memory: Size,
    /// Room on the disk of temporary files.
    pub disk: Size,
}

/// The load of links and applications per second.
struct Load<'a> {
    scenario: &'a Scenario,
    /// By link: the packets of its flows, and its maximum.
    links: Vec<(f64, f64)>,
    /// Packets at the ends of flows: all, and those of applications without a tool.
    ends: (f64, f64),
}

impl Load<'_> {
    /// Adds a flow over these links that requests this many segments of this size per second, or as
    /// many as arrive; returns its bytes.
    fn add(&mut self, way: &[usize], segment: Size, asked: Option<f64>, is_tool: bool) -> f64 {
        let scenario = self.scenario;
        let directions = way.iter().flat_map(|link| &scenario.links[*link].directions);
        // If both are at one node, no link limits it.
        let Some(rate) = directions.map(|direction| direction.rate).min() else { return 0.0 };
        let bytes = segment.0 + AROUND;
        let possible = per_second(rate, bytes);
        let segments = asked.map_or(possible, |asked| asked.min(possible));
        for link in way {
            let fastest = scenario.links[*link].directions.iter().map(|d| d.rate).max();
            let fastest = fastest.map_or(0.0, |rate| 2.0 * per_second(rate, bytes));
            let (packets, most) = &mut self.links[*link];
            (*packets, *most) = (*packets + 2.0 * segments, most.max(fastest));
        }
        self.ends.0 += 4.0 * segments;
        self.ends.1 += if is_tool { 0.0 } else { 4.0 * segments };
        segments * bytes as f64
    }

    /// Adds the requests of workloads.
    fn add_workloads(&mut self) {
        let scenario = self.scenario;
        let mut ways = scenario.ways_of_workloads().into_iter();
        for workload in &scenario.workloads {
            let requests = match &workload.requests {
                Requests::Drawn { per_second, .. } => *per_second,
                Requests::Listed(list) => list.len() as f64 / scenario.duration.as_secs_f64(),
            };
            let share = requests / (workload.at.len() * workload.contents.len()).max(1) as f64;
            for content in &workload.contents {
                let content = &scenario.contents[*content];
                let segments = match workload.asked {
                    Asked::Chunk(_) => 1.0,
                    _ => (content.size.0 as f64 / content.segment.0 as f64).max(1.0),
                };
                for (_, way) in ways.by_ref().take(workload.at.len()) {
                    self.add(&way, content.segment, Some(share * segments), false);
                }
            }
        }
    }

    fn over_links(&self) -> f64 {
        self.links.iter().map(|(packets, most)| packets.min(*most)).sum()
    }
}

/// The maximum segments per second that a consumer requests, if it has a limit.
fn asked(scenario: &Scenario, consumer: &Consumer) -> Option<f64> {
    let content = &scenario.contents[consumer.content];
    match (&consumer.manner, &content.objects) {
        (Manner::Constant { per_second, range, .. }, _) => Some(per_second * f64::from(*range)),
        (Manner::Video { .. }, Objects::Video { ladder, .. }) => {
            ladder.last().map(|rate| per_second(*rate, content.segment.0))
        }
        _ => None,
    }
}

impl Estimate {
    /// The load of a scenario: every link on a flow's path carries the rate of its flows, up to its
    /// own rate.
    #[must_use]
    pub fn of(scenario: &Scenario, plan: &Plan) -> Estimate {
        let links = vec![(0.0, 0.0); scenario.links.len()];
        let mut load = Load { scenario, links, ends: (0.0, 0.0) };
        let mut fetched = 0;
        for (number, way) in scenario.ways().into_iter().enumerate() {
            let consumer = &scenario.consumers[number];
            let content = &scenario.contents[consumer.content];
            let is_tool = plan.fetches.iter().any(|fetch| fetch.consumer == number);
            let bytes = load.add(&way, content.segment, asked(scenario, consumer), is_tool);
            let time = scenario.duration.saturating_sub(consumer.start).as_secs_f64();
            fetched += if is_tool { content.size.0.min((bytes * time) as u64) } else { 0 };
        }
        load.add_workloads();
        let mut published: Vec<_> = plan.contents.iter().map(|c| (c.content, c.size.0)).collect();
        published.sort_unstable();
        published.dedup_by_key(|(content, _)| *content);
        let stores = plan.nodes.iter().map(|node| node.store);
        Estimate {
            cores: (load.over_links() + load.ends.0) * PER_PACKET,
            applications: load.ends.1 * PER_PACKET,
            memory: Size(
                stores
                    .fold(0, u64::saturating_add)
                    .saturating_add(PER_DAEMON * scenario.nodes.len() as u64),
            ),
            disk: Size(published.iter().map(|(_, size)| size).sum::<u64>() + fetched),
        }
    }

    /// The insufficient resources of a machine, with remedies.
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
        if self.applications > BUSY {
            return Some(format!(
                "its workloads, videos and what is asked for at constant rates would keep {:.1} \
                 processors busy, of which they share one: ask for {} % of it, or take larger \
                 segments",
                self.applications,
                (BUSY / self.applications * 100.0).floor()
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

fn per_second(rate: Rate, bytes: u64) -> f64 {
    rate.0 as f64 / 8.0 / bytes as f64
}

impl Machine {
    /// This machine. Unknown resources count as sufficient.
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
