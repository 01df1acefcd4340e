//! From a scenario to the numbers that its optimum follows from: rates, paths, sizes.

use crate::fluid::{Demand, Pipes};
use crate::model::{Cell, Limits};
use scenario::Scenario;
use scenario::model::{FaultKind, Manner};
use std::collections::BTreeSet;

/// Bytes of a plain Data packet besides its content: type and length, a name as `/example/one` with
/// version and segment, meta information, and an empty signature. Options of schemes are not in it.
const HEADERS: f64 = 53.0;
/// Bytes of a plain Interest for it.
const INTEREST: f64 = 35.0;
/// Queueing delay of this number of packets at the bottleneck does not count.
const FREE_PACKETS: f64 = 10.0;
/// Nor does this time, in seconds.
const FREE_S: f64 = 0.005;
/// Paths of a fetch: a network with more is not for this arena.
const MOST_PATHS: usize = 512;

/// The numbers of a cell.
#[derive(Debug)]
pub struct Network {
    /// Links as pipes, which carry content.
    pub pipes: Pipes,
    /// The consumers of the file, in its order.
    pub consumers: Vec<Source>,
    /// Where flows of workloads come up: node, content and what follows from them.
    pub sources: Vec<(usize, usize, Source)>,
    /// Bytes of content in a segment.
    pub segment: f64,
    /// Indices of the nodes with producers.
    pub producers: BTreeSet<usize>,
    /// The end of the run in seconds.
    pub until: f64,
}

/// Where a flow comes up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Its group in the pipes.
    pub group: usize,
    /// When it begins, in seconds.
    pub start: f64,
    /// Its size in bits of content.
    pub bits: f64,
    /// Its constant rate in bits of content per second, if it has one.
    pub cap: Option<f64>,
    /// The empty round trip of its shortest path, in seconds.
    pub shortest: f64,
    /// The empty round trip of its longest path.
    pub longest: f64,
    /// Queueing delay that does not count, in seconds.
    pub free: f64,
}

impl Source {
    /// The flow, whose first bit comes a round trip after its start.
    #[must_use]
    pub fn demand(&self, start: f64, bits: f64) -> Demand {
        Demand { start: start + self.shortest, bits, cap: self.cap, group: self.group }
    }
}

impl Network {
    /// The numbers of a scenario.
    ///
    /// # Errors
    /// The arena cannot compute an optimum for something in it; the text says for what.
    pub fn new(scenario: &Scenario, cell: &Cell) -> Result<Network, String> {
        let segment = one_segment_size(scenario)?;
        let mut builder = Builder { scenario, segment, groups: Vec::new(), used: BTreeSet::new() };
        let consumers: Result<Vec<Source>, String> =
            scenario.consumers.iter().map(|consumer| builder.consumer(consumer)).collect();
        let mut sources = Vec::new();
        for workload in &scenario.workloads {
            for at in &workload.at {
                for content in &workload.contents {
                    let source = builder.source(*at, *content)?;
                    sources.push((*at, *content, source));
                }
            }
        }
        let consumers = consumers?;
        if cell.has_strategy && builder.groups.iter().all(|paths| paths.len() < 2) {
            return Err("no fetch has several paths, so strategies decide nothing".to_owned());
        }
        if let Some(watched) = &cell.watched {
            let mut nodes = scenario.consumers.iter().map(|consumer| consumer.at);
            if !nodes.any(|at| scenario.nodes[at].name == *watched) {
                return Err(format!("no consumer is at `{watched}`, the watched node"));
            }
        }
        let steps = builder.steps(cell)?;
        let producers = scenario.contents.iter().flat_map(|content| content.at.iter().copied());
        Ok(Network {
            pipes: Pipes::new(steps, builder.groups),
            consumers,
            sources,
            segment,
            producers: producers.collect(),
            until: scenario.duration.as_secs_f64(),
        })
    }

    /// The limits that the optimum of these consumers sets.
    #[must_use]
    pub fn limits(&self, consumers: &[usize], optimum_bits: f64, span: f64) -> Limits {
        let sources: Vec<&Source> = match consumers.is_empty() {
            true => self.sources.iter().map(|(_, _, source)| source).collect(),
            false => consumers.iter().map(|consumer| &self.consumers[*consumer]).collect(),
        };
        let longest = sources.iter().map(|source| source.longest).fold(0.0, f64::max);
        let free = sources.iter().map(|source| source.free).fold(0.0, f64::max);
        Limits {
            optimum_mbps: if span > 0.0 { optimum_bits / span / 1e6 } else { 0.0 },
            round_trip_ms: longest * 1e3,
            free_delay_ms: free * 1e3,
        }
    }
}

/// True if a name has all components of a prefix, both in URI form.
pub fn is_below(name: &str, prefix: &str) -> bool {
    prefix == "/" || name.strip_prefix(prefix).is_some_and(|r| r.is_empty() || r.starts_with('/'))
}

fn one_segment_size(scenario: &Scenario) -> Result<f64, String> {
    let sizes: BTreeSet<u64> = scenario.contents.iter().map(|content| content.segment.0).collect();
    match Vec::from_iter(sizes)[..] {
        [size] => Ok(size as f64),
        _ => Err("contents have several segment sizes; give all the same".to_owned()),
    }
}

struct Builder<'s> {
    scenario: &'s Scenario,
    segment: f64,
    groups: Vec<Vec<Vec<usize>>>,
    /// Pipes that carry Data.
    used: BTreeSet<usize>,
}

impl Builder<'_> {
    fn consumer(&mut self, consumer: &scenario::model::Consumer) -> Result<Source, String> {
        let source = self.source(consumer.at, consumer.content)?;
        let start = consumer.start.as_secs_f64();
        let bits = self.scenario.contents[consumer.content].size.0 as f64 * 8.0;
        match &consumer.manner {
            Manner::Fetch { .. } => Ok(Source { start, bits, ..source }),
            Manner::Constant { per_second, stop, range } => {
                let cap = per_second * f64::from(*range) * self.segment * 8.0;
                let end = stop.map_or(f64::INFINITY, |stop| stop.as_secs_f64());
                Ok(Source { start, bits: cap * (end - start), cap: Some(cap), ..source })
            }
            Manner::Video { .. } => Err("players of videos have no optimum".to_owned()),
        }
    }

    fn source(&mut self, at: usize, content: usize) -> Result<Source, String> {
        let paths = self.paths(at, content)?;
        self.used.extend(paths.iter().flatten());
        let all = paths.iter().map(|path| self.round_trip(path));
        let (shortest, longest) =
            all.fold((f64::INFINITY, 0.0f64), |(least, most), one| (least.min(one), most.max(one)));
        let slowest = paths.iter().flatten().map(|pipe| self.rate(*pipe));
        let packet = (self.segment + HEADERS) * 8.0 / slowest.fold(f64::INFINITY, f64::min);
        let group = self.groups.iter().position(|known| *known == paths).unwrap_or_else(|| {
            self.groups.push(paths);
            self.groups.len() - 1
        });
        let free = FREE_S.max(FREE_PACKETS * packet);
        let (start, bits, cap) = (0.0, f64::INFINITY, None);
        Ok(Source { group, start, bits, cap, shortest, longest, free })
    }

    /// The pipes of Data on all ways along routes from a node to a producer.
    fn paths(&self, at: usize, content: usize) -> Result<Vec<Vec<usize>>, String> {
        let content = &self.scenario.contents[content];
        let name = content.name.to_string();
        // By node: the links of its most specific routes.
        let mut routes: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); self.scenario.nodes.len()];
        for route in &self.scenario.routes {
            let prefix = route.prefix.to_string();
            if !is_below(&name, &prefix) {
                continue;
            }
            let (length, links) = &mut routes[route.at];
            if prefix.len() > *length {
                (*length, *links) = (prefix.len(), Vec::new());
            }
            if prefix.len() == *length && !links.contains(&route.link) {
                links.push(route.link);
            }
        }
        let mut found = Vec::new();
        let mut open = vec![(at, Vec::new(), vec![at])];
        while let Some((node, pipes, seen)) = open.pop() {
            if content.at.contains(&node) {
                found.push(pipes);
                if found.len() > MOST_PATHS {
                    return Err(format!("a fetch has more than {MOST_PATHS} paths; use fewer"));
                }
                continue;
            }
            for link in &routes[node].1 {
                let [a, b] = self.scenario.links[*link].ends;
                let (next, pipe) = if a == node { (b, 2 * link + 1) } else { (a, 2 * link) };
                if !seen.contains(&next) {
                    let (mut pipes, mut seen) = (pipes.clone(), seen.clone());
                    pipes.push(pipe);
                    seen.push(next);
                    open.push((next, pipes, seen));
                }
            }
        }
        found.sort();
        match found.is_empty() {
            true => Err(format!("no route leads from a consumer to {name}")),
            false => Ok(found),
        }
    }

    fn rate(&self, pipe: usize) -> f64 {
        self.scenario.links[pipe / 2].directions[pipe % 2].rate.0 as f64
    }

    /// Propagation both ways, and the transmission of an Interest and its Data at each link.
    fn round_trip(&self, path: &[usize]) -> f64 {
        path.iter()
            .map(|pipe| {
                let both = &self.scenario.links[pipe / 2].directions;
                let wires: f64 = both.iter().map(|one| one.delay.as_secs_f64()).sum();
                let data = (self.segment + HEADERS) * 8.0 / self.rate(*pipe);
                wires + data + INTEREST * 8.0 / self.rate(pipe ^ 1)
            })
            .sum()
    }

    /// By pipe: its rate over time in bits of content.
    fn steps(&self, cell: &Cell) -> Result<Vec<Vec<(f64, f64)>>, String> {
        let pipes = 2 * self.scenario.links.len();
        let mut steps: Vec<Vec<(f64, f64)>> =
            (0..pipes).map(|p| vec![(0.0, self.rate(p))]).collect();
        let mut faults: Vec<_> = self.scenario.faults.iter().collect();
        faults.sort_by_key(|fault| fault.at);
        let mut own: Vec<f64> = (0..pipes).map(|pipe| self.rate(pipe)).collect();
        for fault in faults {
            let at = fault.at.as_secs_f64();
            match fault.kind {
                FaultKind::LinkRate { link, direction, rate } => {
                    own[2 * link + direction] = rate.0 as f64;
                    steps[2 * link + direction].push((at, rate.0 as f64));
                }
                FaultKind::LinkDown(link) => {
                    for pipe in [2 * link, 2 * link + 1] {
                        steps[pipe].push((at, 0.0));
                    }
                }
                FaultKind::LinkUp(link) => {
                    for pipe in [2 * link, 2 * link + 1] {
                        steps[pipe].push((at, own[pipe]));
                    }
                }
                FaultKind::LinkDelay { .. } | FaultKind::LinkLoss { .. } => {}
                _ => return Err("faults of nodes and routes have no optimum here".to_owned()),
            }
        }
        let beyond = self.beyond_store(cell)?;
        for (pipe, steps) in steps.iter_mut().enumerate() {
            // Interests for the Data of the other direction take their part of this one.
            let is_shared = self.used.contains(&pipe) && self.used.contains(&(pipe ^ 1));
            let others = HEADERS + if is_shared { INTEREST } else { 0.0 };
            let mut content = self.segment / (self.segment + others);
            if let Some(share) =
                beyond.as_ref().and_then(|(pipes, s)| pipes.contains(&pipe).then_some(*s))
            {
                // Content from the store leaves room for as much more.
                content /= 1.0 - share;
            }
            steps.iter_mut().for_each(|(_, rate)| *rate *= content);
        }
        Ok(steps)
    }

    /// The pipes between the producers and a node with a store, and the share of the content there.
    fn beyond_store(&self, cell: &Cell) -> Result<Option<(BTreeSet<usize>, f64)>, String> {
        let Some(cached) = &cell.cached else { return Ok(None) };
        let Some(node) = self.scenario.nodes.iter().position(|node| node.name == cached.node)
        else {
            return Err(format!("there is no node `{}` with a store", cached.node));
        };
        let mut pipes = BTreeSet::new();
        for content in 0..self.scenario.contents.len() {
            pipes.extend(self.paths(node, content)?.into_iter().flatten());
        }
        Ok(Some((pipes, cached.share)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two consumers behind one link of 10 Mbit/s, one of them with 2 Mbit/s itself.
    const NETWORK: &str = r#"
        [scenario]
        duration = "4 s"
        [[node]]
        name = ["a", "b", "r", "p"]
        [[link]]
        between = ["a", "r"]
        rate = "100 Mbit/s"
        delay = "1 ms"
        [[link]]
        between = ["b", "r"]
        rate = "2 Mbit/s"
        delay = "1 ms"
        [[link]]
        between = ["r", "p"]
        rate = "10 Mbit/s"
        delay = "4 ms"
        [[content]]
        name = "/x"
        at = "p"
        size = "1 GB"
        segment = "1000 B"
        signing = "none"
        [[consumer]]
        at = "a"
        name = "/x"
        [[consumer]]
        at = "b"
        name = "/x"
        start = "1 s"
    "#;

    fn cell(more: &str) -> Cell {
        let text =
            "name = \"c\"\ntitle = \"\"\ngroup = \"\"\nfile = \"\"\nmeasures = [\"share\"]\n";
        toml::from_str(&format!("{text}{more}")).unwrap()
    }

    fn network(more: &str, cell: &Cell) -> Result<Network, String> {
        let batch = scenario::parse(&format!("{NETWORK}{more}"), "x.toml", &[]).unwrap();
        Network::new(&batch.runs[0].scenario, cell)
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    /// Bits of content of each consumer from 2 s to 4 s.
    fn later_bits(network: &Network) -> Vec<f64> {
        let demands = network.consumers.iter().map(|one| one.demand(one.start, one.bits));
        let demands: Vec<Demand> = demands.collect();
        let courses = network.pipes.courses(&demands, network.until).unwrap();
        courses.iter().map(|course| course.bits(2.0, 4.0)).collect()
    }

    #[test]
    fn the_optimum_of_a_small_network_by_hand() {
        let network = network("", &cell("")).unwrap();
        // Of 1053 bytes 1000 are content. The second consumer is limited by its own link to
        // 2 Mbit/s, the first one has the other 8: for two seconds.
        let content = 1000.0 / 1053.0;
        let found = later_bits(&network);
        close(found[0], 16e6 * content);
        close(found[1], 4e6 * content);
        // 10 ms of wires; Data and an Interest at 100 and at 10 Mbit/s.
        let packets = (1053.0 + 35.0) * 8.0 * (1.0 / 100e6 + 1.0 / 10e6);
        close(network.consumers[0].longest, 0.01 + packets);
        // Ten packets at 10 Mbit/s take 8.4 ms, more than 5 ms; at 2 Mbit/s 42 ms.
        close(network.consumers[0].free, 10.0 * 1053.0 * 8.0 / 10e6);
        close(network.consumers[1].free, 10.0 * 1053.0 * 8.0 / 2e6);
    }

    #[test]
    fn interests_of_the_other_direction_take_their_part() {
        let back = "[[content]]\nname = \"/y\"\nat = \"a\"\nsize = \"1 GB\"\nsegment = \"1000 B\"\n\
                    signing = \"none\"\n[[consumer]]\nat = \"p\"\nname = \"/y\"\n";
        let found = later_bits(&network(back, &cell("")).unwrap());
        // Only b's own link carries Data one way.
        close(found[1], 4e6 * 1000.0 / 1053.0);
        close(found[2], 20e6 * 1000.0 / 1088.0);
    }

    #[test]
    fn content_in_a_store_leaves_room_beyond_it() {
        let half = cell("cached = { node = \"r\", share = 0.5 }\n");
        let found = later_bits(&network("", &half).unwrap());
        // Half of the content passes the link of 10 Mbit/s, so 20 Mbit/s are possible.
        close(found[0] + found[1], 2.0 * 20e6 * 1000.0 / 1053.0);
        let nowhere = cell("cached = { node = \"z\", share = 0.5 }\n");
        assert!(network("", &nowhere).unwrap_err().contains("no node `z`"));
    }

    #[test]
    fn faults_of_links_change_the_optimum() {
        let fault = "[[fault]]\nat = \"3 s\"\nkind = \"link-rate\"\nlink = [\"p\", \"r\"]\n\
                     rate = \"2 Mbit/s\"\n";
        let found = later_bits(&network(fault, &cell("")).unwrap());
        // 8 Mbit in one second, and half of 2 in the other.
        close(found[0], 9e6 * 1000.0 / 1053.0);
        let crash = "[[fault]]\nat = \"3 s\"\nkind = \"node-crash\"\nnode = \"p\"\n";
        assert!(network(crash, &cell("")).unwrap_err().contains("no optimum"));
    }

    struct Still;

    impl scenario::Watch for Still {
        fn seconds(&self) -> f64 {
            0.0
        }
    }

    #[test]
    fn headers_are_those_of_plain_packets() {
        let text = "[scenario]\nduration = \"1 s\"\n[[node]]\nname = [\"a\", \"p\"]\n[[link]]\n\
                    between = [\"a\", \"p\"]\nrate = \"10 Mbit/s\"\n[[content]]\n\
                    name = \"/example/one\"\nat = \"p\"\nsize = \"1 GB\"\nsegment = \"1000 B\"\n\
                    signing = \"none\"\n[[consumer]]\nat = \"a\"\nname = \"/example/one\"\n\
                    rate = \"500 /s\"\n";
        let batch = scenario::parse(text, "x.toml", &[]).unwrap();
        let result = scenario::execute(&batch, 0, &Still).unwrap();
        let [there, back] = &result.links[..] else { panic!("one link") };
        let data = back.bytes as f64 / back.data as f64;
        let interest = there.bytes as f64 / there.interests as f64;
        assert!((data - 1000.0 - HEADERS).abs() < 2.0, "Data of {data} bytes");
        assert!((interest - INTEREST).abs() < 2.0, "Interests of {interest} bytes");
    }

    #[test]
    fn a_constant_rate_is_a_cap() {
        let constant = "[[consumer]]\nat = \"a\"\nname = \"/x\"\nrate = \"250 /s\"\n";
        let found = later_bits(&network(constant, &cell("")).unwrap());
        close(found[2], 2.0 * 250.0 * 8000.0);
    }
}
