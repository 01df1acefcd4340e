//! Rocketfuel's maps of Internet providers (N. Spring, R. Mahajan, D. Wetherall, SIGCOMM 2002;
//! R. Mahajan and others, IMW 2002).

use super::found::{Found, MAX_LINKS, metric, number};
use super::sketch::{Line, Sketch, Way, paired};
use crate::places::MAX_NODES;
use crate::source::Source;
use control::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a map of routers (`.cch`): lines `uid @place [+] [bb] (n) [&e] -> <uid> … {-euid} … =name
/// r`. Nodes are named by their `uid`. Nodes outside of the provider (`-euid`) are left out.
pub fn maps(source: &Source<'_>) -> Option<Sketch> {
    let mut found = Found::default();
    let mut wanted = Vec::new();
    for (at, line) in source.lines() {
        let place = at..at + line.len();
        let uid = line.split_whitespace().next().unwrap_or_default();
        if uid.strip_prefix('-').is_some_and(is_number) {
            continue;
        }
        let Some((_, near)) = line.split_once("->").filter(|_| is_number(uid)) else {
            let why = "this is not a line of a map; it is like `12 @Place (2) -> <3> <4> =name r0`";
            source.mistake(place, why);
            continue;
        };
        if found.known(uid).is_some() {
            source.mistake(place, format!("there are two nodes `{uid}`"));
            continue;
        }
        let node = found.of(uid);
        if node >= MAX_NODES {
            source.mistake(place, format!("at most {MAX_NODES} nodes are taken"));
            return None;
        }
        for word in near.split_whitespace() {
            let near = word.strip_prefix('<').and_then(|word| word.strip_suffix('>'));
            wanted.extend(near.map(|near| (node, near.to_owned(), at)));
        }
        if wanted.len() > 2 * MAX_LINKS {
            source.mistake(place, format!("at most {MAX_LINKS} links are taken"));
            return None;
        }
    }
    let (mut sketch, mut known) = (Sketch::default(), BTreeSet::new());
    for (node, near, at) in wanted {
        let Some(other) = found.known(&near) else {
            source.mistake(at..at + 1, format!("there is no node `{near}` in this map"));
            continue;
        };
        // Both ends of a link name it.
        if node != other && known.insert([node.min(other), node.max(other)]) {
            sketch.links.push(Line::between(node, other));
            if let Some(line) = sketch.links.last_mut() {
                line.at = at;
            }
        }
    }
    sketch.nodes = found.spots;
    source.is_sound().then_some(sketch)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Lines `from to number`, each for one direction.
type Rows = Vec<(String, String, f64, usize)>;

fn rows(source: &Source<'_>) -> Option<Rows> {
    let mut rows = Vec::new();
    for (at, line) in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let row = match words[..] {
            [from, to, given] => {
                let given = number(given).filter(|n| (0.0..=1e9).contains(n));
                given.map(|given| (from.to_owned(), to.to_owned(), given, at))
            }
            _ => None,
        };
        match row {
            Some(row) => rows.push(row),
            None => {
                let why = "this is not a line of three words, `from to number`";
                source.mistake(at..at + line.len(), why);
            }
        }
        if rows.len() > MAX_LINKS {
            source.mistake(at..at + 1, format!("at most {MAX_LINKS} links are taken"));
            return None;
        }
    }
    source.is_sound().then_some(rows)
}

/// Reads `latencies.intra`: milliseconds.
pub fn latencies(source: &Source<'_>) -> Option<Sketch> {
    joined(source, rows(source)?, |ms, _| Way {
        delay: Some(Duration::from_secs_f64(ms / 1000.0)),
        ..Way::default()
    })
}

/// Reads `weights.intra`: routing metrics; and the delays from `latencies.intra`, if it is named.
pub fn weights(source: &Source<'_>, latencies: Option<&Source<'_>>) -> Option<Sketch> {
    let delays: BTreeMap<(String, String), f64> = match latencies {
        Some(source) => rows(source)?.into_iter().map(|(a, b, ms, _)| ((a, b), ms)).collect(),
        None => BTreeMap::new(),
    };
    joined(source, rows(source)?, |weight, ends| Way {
        metric: metric(weight),
        delay: delays.get(ends).map(|ms| Duration::from_secs_f64(ms / 1000.0)),
        ..Way::default()
    })
}

fn joined(
    source: &Source<'_>,
    rows: Rows,
    way: impl Fn(f64, &(String, String)) -> Way,
) -> Option<Sketch> {
    let mut found = Found::default();
    let mut directed = Vec::new();
    for (from, to, given, at) in rows {
        let ends = [found.of(&from), found.of(&to)];
        if found.spots.len() > MAX_NODES {
            source.mistake(at..at + 1, format!("at most {MAX_NODES} nodes are taken"));
            return None;
        }
        directed.push((ends, way(given, &(from, to)), at));
    }
    Some(Sketch { links: paired(directed), nodes: found.spots })
}
