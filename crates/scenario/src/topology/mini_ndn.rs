//! Mini-NDN's topologies: sections `[nodes]`, `[switches]`, `[links]` and `[faces]` with lines like
//! `a: _ radius=0.5 angle=2.6` and `a:b delay=10ms bw=100`.

use super::found::{Found, MAX_LINKS, metric, number, rate};
use super::sketch::{Line, Sketch, Way};
use crate::model::{Loss, Queue};
use crate::places::MAX_NODES;
use crate::source::Source;
use control::{Duration, math};
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

/// The nodes and links that were read so far.
#[derive(Default)]
struct Network {
    found: Found,
    links: Vec<Line>,
    /// Places in `links`, by the ends as the file has them.
    known: BTreeMap<[usize; 2], usize>,
}

/// Reads a file.
pub fn read(source: &Source<'_>) -> Option<Sketch> {
    let mut network = Network::default();
    let mut section = "";
    for (at, line) in source.lines().filter(|(_, line)| !line.starts_with(';')) {
        let place = at..at + line.len();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            match name {
                "nodes" | "switches" | "links" | "faces" => section = name,
                "stations" | "accessPoints" | "cars" => {
                    let why = format!("`[{name}]`: networks without wires cannot be read");
                    source.mistake(place, why);
                    return None;
                }
                _ => {
                    let valid = "`[nodes]`, `[switches]`, `[links]` and `[faces]`";
                    let why = format!("the section `[{name}]` is unknown; there are {valid}");
                    source.mistake(place, why);
                    return None;
                }
            }
            continue;
        }
        let read = match section {
            "nodes" | "switches" => network.node(line),
            "links" => network.link(line, at),
            "faces" => network.face(line),
            _ => {
                let why = "the file begins with a line `[nodes]`; after the nodes comes `[links]`";
                source.mistake(place, why);
                return None;
            }
        };
        if let Err(why) = read {
            source.mistake(place.clone(), why);
        }
        if network.found.spots.len() > MAX_NODES || network.links.len() > MAX_LINKS {
            let why = format!("at most {MAX_NODES} nodes and {MAX_LINKS} links are taken");
            source.mistake(place, why);
            return None;
        }
    }
    source.is_sound().then_some(Sketch { nodes: network.found.spots, links: network.links })
}

impl Network {
    /// `a: _ radius=0.5 angle=2.6`: parameters of routing protocols have no meaning here, except
    /// that hyperbolic coordinates give the place in drawings.
    fn node(&mut self, line: &str) -> Result<(), String> {
        let (name, options) = split(line);
        let name = name.split(':').next().unwrap_or_default().to_lowercase();
        if name.is_empty() {
            return Err("a node is like `a: _`".to_owned());
        }
        if self.found.known(&name).is_some() {
            return Err(format!("there are two nodes `{name}`"));
        }
        let node = self.found.of(&name);
        let mut polar = [None, None];
        for (key, value) in options.filter(|(key, value)| (*key, *value) != ("_", None)) {
            let Some(value) = value else {
                return Err(format!("`{key}`: an option is like `key=value`"));
            };
            match key {
                "radius" => polar[0] = number(value),
                "angle" => polar[1] = number(value),
                _ => {}
            }
        }
        if let [Some(radius), Some(angle)] = polar {
            let sine = math::cos(angle - FRAC_PI_2);
            self.found.spots[node].position = Some([radius * math::cos(angle), -radius * sine]);
        }
        Ok(())
    }

    /// `a:b`, both nodes.
    fn ends(&self, word: &str) -> Result<[usize; 2], String> {
        let [from, to] = word.split(':').collect::<Vec<_>>()[..] else {
            return Err(format!("`{word}`: both ends are like `a:b`"));
        };
        match [self.end(from)?, self.end(to)?] {
            [a, b] if a == b => Err("both ends are the same node".to_owned()),
            ends => Ok(ends),
        }
    }

    fn end(&self, name: &str) -> Result<usize, String> {
        let name = name.to_lowercase();
        self.found.known(&name).ok_or_else(|| {
            let valid = document::valid_words(&name, self.found.names());
            format!("there is no node `{name}`; {valid}")
        })
    }

    fn link(&mut self, line: &str, at: usize) -> Result<(), String> {
        let (word, options) = split(line);
        let ends = self.ends(word)?;
        if self.known.contains_key(&ends) {
            return Err(format!("there are two links `{word}`"));
        }
        let (mut way, mut jitter) = (Way::default(), None);
        for (key, value) in options {
            let value = value.ok_or_else(|| format!("`{key}`: an option is like `delay=10ms`"))?;
            match key {
                "delay" => way.delay = Some(time(value)?),
                "bw" => {
                    let known = number(value).and_then(|mbit| rate(mbit, 1e6));
                    way.rate = Some(known.ok_or_else(|| {
                        format!("`bw={value}` is not a number of Mbit/s above zero")
                    })?);
                }
                "loss" => {
                    let known = number(value).filter(|share| (0.0..=100.0).contains(share));
                    let share = known.ok_or_else(|| format!("`loss={value}` is not 0 to 100"))?;
                    way.loss =
                        Some(if share > 0.0 { Loss::Random(share / 100.0) } else { Loss::None });
                }
                "max_queue_size" => {
                    let known = value.parse().ok().filter(|packets| *packets > 0);
                    way.queue = Some(Queue::Packets(known.ok_or_else(|| {
                        format!("`max_queue_size={value}` is not a number of packets")
                    })?));
                }
                "jitter" => jitter = Some(time(value)?),
                // The kernel's means to the same end.
                "use_htb" | "use_hfsc" | "use_tbf" => {}
                _ => {
                    let valid = "`bw`, `delay`, `jitter`, `loss` and `max_queue_size`";
                    return Err(format!("the option `{key}` cannot be read; there are {valid}"));
                }
            }
        }
        if let Some(jitter) = jitter {
            // The kernel's is more or less than the delay, ours more.
            let delay = way
                .delay
                .filter(|delay| *delay >= jitter)
                .ok_or("a jitter needs a delay that is as large in the same line")?;
            way.delay = Some(Duration(delay.0 - jitter.0));
            way.jitter = Some(Duration(jitter.0 * 2));
        }
        self.known.insert(ends, self.links.len());
        self.links.push(Line { ends, is_access: false, ways: [way; 2], at });
        Ok(())
    }

    /// `a:b cost=10`: the metric of the link between these nodes. Faces over switches have none.
    fn face(&mut self, line: &str) -> Result<(), String> {
        let (word, options) = split(line);
        let [a, b] = self.ends(word)?;
        for (_, value) in options.filter(|(key, _)| *key == "cost") {
            let cost = value.and_then(number).and_then(metric);
            let cost = cost.ok_or_else(|| "a cost is a number from 0 on".to_owned())?;
            for ends in [[a, b], [b, a]] {
                if let Some(link) = self.known.get(&ends) {
                    self.links[*link].ways.iter_mut().for_each(|way| way.metric = Some(cost));
                }
            }
        }
        Ok(())
    }
}

/// The first word, and the options behind it.
fn split(line: &str) -> (&str, impl Iterator<Item = (&str, Option<&str>)>) {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let options = words.map(|word| match word.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (word, None),
    });
    (first, options)
}

/// As `tc` has it: `10ms`; without a unit it is microseconds.
fn time(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[at..] {
        "s" | "sec" | "secs" => Some(1.0),
        "ms" | "msec" | "msecs" => Some(1e-3),
        "us" | "usec" | "usecs" | "" => Some(1e-6),
        _ => None,
    };
    let seconds = number(&text[..at]).zip(unit).map(|(many, unit)| many * unit);
    match seconds.filter(|seconds| (0.0..1e9).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err(format!("`{text}` is not a time from 0 on; write it like `10ms`")),
    }
}
