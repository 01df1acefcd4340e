//! ndnSIM's annotated topologies: a section `router` with lines `node comment yPos xPos`, and a
//! section `link` with lines `from to bandwidth metric delay queue error`.

use super::found::{Found, MAX_LINKS, metric, number, rate};
use super::sketch::{Line, Sketch, Way};
use crate::model::{Loss, Queue};
use crate::places::MAX_NODES;
use crate::source::Source;
use control::{Duration, Rate};
use std::collections::BTreeSet;

/// Reads a file.
pub fn read(source: &Source<'_>) -> Option<Sketch> {
    let mut found = Found::default();
    let mut links: Vec<Line> = Vec::new();
    let mut known = BTreeSet::new();
    let mut section = "";
    for (at, line) in source.lines() {
        let place = at..at + line.len();
        if line == "router" || line == "link" {
            section = line;
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match section {
            "router" => {
                if let Err(why) = router(&words, &mut found) {
                    source.mistake(place.clone(), why);
                }
            }
            "link" => match link(&words, &found) {
                // As ndnSIM has it: a link that is listed from both of its ends is one link.
                Ok((ends, _)) if known.contains(&[ends[1], ends[0]]) => {}
                Ok((ends, way)) => {
                    known.insert(ends);
                    links.push(Line { ends, is_access: false, ways: [way; 2], at });
                }
                Err(why) => source.mistake(place.clone(), why),
            },
            _ => {
                let why = "the file begins with a line `router`; after the nodes comes `link`";
                source.mistake(place, why);
                return None;
            }
        }
        if found.spots.len() > MAX_NODES || links.len() > MAX_LINKS {
            let why = format!("at most {MAX_NODES} nodes and {MAX_LINKS} links are taken");
            source.mistake(place, why);
            return None;
        }
    }
    source.is_sound().then_some(Sketch { nodes: found.spots, links })
}

fn router(words: &[&str], found: &mut Found) -> Result<(), String> {
    let [name, rest @ ..] = words else { return Ok(()) };
    if found.known(name).is_some() {
        return Err(format!("there are two nodes `{name}`"));
    }
    let node = found.of(name);
    if let [_, down, right, ..] = rest {
        let place = number(down).zip(number(right));
        let Some((down, right)) = place else {
            return Err("a node is like `name comment yPos xPos`, both numbers".to_owned());
        };
        // In ndnSIM's own pictures y grows upwards, and (0, 0) says nothing.
        found.spots[node].position = (down != 0.0 || right != 0.0).then_some([right, -down]);
    }
    Ok(())
}

fn end(name: &str, found: &Found) -> Result<usize, String> {
    found.known(name).ok_or_else(|| {
        let valid = document::valid_words(name, found.names());
        format!("there is no node `{name}`; {valid}")
    })
}

fn link(words: &[&str], found: &Found) -> Result<([usize; 2], Way), String> {
    let [from, to, rest @ ..] = words else {
        return Err("a link is like `from to 10Mbps 1 5ms 100`".to_owned());
    };
    let ends = [end(from, found)?, end(to, found)?];
    if ends[0] == ends[1] {
        return Err("both ends are the same node".to_owned());
    }
    if let Some(word) = rest.get(5) {
        return Err(format!("`{word}`: a link has seven words at most"));
    }
    let mut way = Way::default();
    let mut rest = rest.iter();
    if let Some(text) = rest.next() {
        way.rate = Some(bandwidth(text)?);
    }
    if let Some(text) = rest.next() {
        let known = number(text).and_then(metric);
        way.metric =
            Some(known.ok_or_else(|| format!("the metric `{text}` is not a number from 0 on"))?);
    }
    if let Some(text) = rest.next() {
        way.delay = Some(time(text)?);
    }
    if let Some(text) = rest.next() {
        way.queue = Some(queue(text)?);
    }
    if let Some(text) = rest.next() {
        way.loss = Some(loss(text)?);
    }
    Ok((ends, way))
}

/// A number and the unit behind it.
fn split(text: &str) -> (Option<f64>, &str) {
    let unit = text.char_indices().find(|(at, c)| {
        // An exponent belongs to the number.
        let rest = &text[at + c.len_utf8()..];
        let digit = rest.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        c.is_ascii_alphabetic() && !(matches!(c, 'e' | 'E') && digit)
    });
    let at = unit.map_or(text.len(), |(at, _)| at);
    (number(&text[..at]), &text[at..])
}

/// The bits a second of a unit of ns-3's DataRate.
fn bits_in(unit: &str) -> Option<f64> {
    let (unit, eight) = match unit.strip_suffix("ps").or(unit.strip_suffix("/s"))? {
        bits if bits.ends_with('b') => (bits.strip_suffix('b')?, 1.0),
        bytes => (bytes.strip_suffix('B')?, 8.0),
    };
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(factor * eight)
}

/// As ns-3's DataRate: `10Mbps`, `1Gb/s`, `512kBps`; bytes with `B`, binary prefixes with `i`.
fn bandwidth(text: &str) -> Result<Rate, String> {
    let (many, unit) = split(text);
    let unit = if unit.is_empty() { Some(1.0) } else { bits_in(unit) };
    let known = many.zip(unit).and_then(|(many, unit)| rate(many, unit));
    known.ok_or_else(|| format!("`{text}` is not a bandwidth above zero; write it like `10Mbps`"))
}

/// As ns-3's Time: `10ms`; without a unit it is seconds.
fn time(text: &str) -> Result<Duration, String> {
    let (many, unit) = split(text);
    let unit = match unit {
        "ns" => Some(1e-9),
        "us" => Some(1e-6),
        "ms" => Some(1e-3),
        "" | "s" => Some(1.0),
        "min" => Some(60.0),
        _ => None,
    };
    let seconds = many.zip(unit).map(|(many, unit)| many * unit).filter(|s| *s < 1e9);
    match seconds {
        Some(seconds) if seconds < 0.0 => Err(format!("the delay `{text}` is negative")),
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err(format!("`{text}` is not a delay; write it like `10ms`")),
    }
}

/// A number of packets, or a queue of ns-3 with its `MaxPackets`.
fn queue(text: &str) -> Result<Queue, String> {
    let named = text.split(',').find_map(|part| match part.strip_prefix("MaxPackets=") {
        Some(packets) => Some(packets),
        None => part.strip_prefix("MaxSize=")?.strip_suffix('p'),
    });
    match named.unwrap_or(text).parse::<u64>() {
        Ok(0) => Err("a queue that holds nothing lets nothing pass".to_owned()),
        Ok(packets) => Ok(Queue::Packets(packets)),
        Err(_) => Err(format!("the queue `{text}` is not a number of packets")),
    }
}

/// `ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_PACKET,ErrorRate=0.01`
fn loss(text: &str) -> Result<Loss, String> {
    let mut parts = text.split(',');
    let is_rate = parts.next() == Some("ns3::RateErrorModel");
    let (mut share, mut is_packets) = (None, false);
    for part in parts {
        match part.split_once('=') {
            Some(("ErrorRate", given)) => share = number(given).filter(|s| (0.0..=1.0).contains(s)),
            Some(("ErrorUnit", unit)) => is_packets = unit.ends_with("ERROR_UNIT_PACKET"),
            _ => {}
        }
    }
    match share.filter(|_| is_rate && is_packets) {
        Some(share) if share > 0.0 => Ok(Loss::Random(share)),
        Some(_) => Ok(Loss::None),
        None => Err(format!(
            "`{text}`: of ns-3's error models the one with a share of packets is read, \
             `ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_PACKET,ErrorRate=0.01`; say `loss` in \
             `[topology]` instead"
        )),
    }
}
