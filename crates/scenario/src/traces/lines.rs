//! The events of packets, as lines of JSON.

use super::first_error::FirstError;
use super::places::Places;
use crate::model::Scenario;
use control::{Kind, Rate, Time};
use packet::{Data, Interest, LpPacket, NameRef};
use serde::Serialize;
use sim::{Fate, Fault, FlowTrace, Lost, PacketTrace, Tracer};
use std::io::{self, Write};

/// The kinds of lines, by the words that choose them, and what each says.
pub const EVENTS: &[(&str, &str)] = &[
    ("enqueued", "a packet waits in the queue of the face towards `to`"),
    ("dropped", "a packet is dropped, with the `reason`"),
    ("sent", "the first bit of a packet is put on a link"),
    ("lost", "a link loses a packet, with the `reason`"),
    ("received", "the last bit of a packet arrived at `to`"),
    ("flow-start", "a consumer starts"),
    ("flow-end", "a consumer is done, or gave up"),
    ("fault", "something happens to the network"),
];

/// Writes a line for everything that happens at chosen places and is of chosen kinds; the first
/// line says what run it is.
pub struct EventLog<W: Write> {
    out: W,
    names: Vec<String>,
    /// For each direction of each link its ends.
    ends: Vec<[usize; 2]>,
    places: Places,
    kinds: Vec<String>,
    first_error: FirstError,
}

/// The line about a packet.
#[derive(Serialize)]
struct PacketLine<'a> {
    t_ns: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<usize>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    mark: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    corrupted: bool,
    #[serde(skip_serializing_if = "is_false")]
    duplicated: bool,
}

/// The line about a flow.
#[derive(Serialize)]
struct FlowLine<'a> {
    t_ns: u64,
    event: &'static str,
    node: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<usize>,
    name: &'a str,
    control: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The line about a fault.
#[derive(Default, Serialize)]
struct FaultLine<'a> {
    t_ns: u64,
    event: &'static str,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_bps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(is: &bool) -> bool {
    !is
}

impl<W: Write> EventLog<W> {
    /// Begins a log. `kinds` are words of [`EVENTS`]; all of them, if there is none.
    ///
    /// # Errors
    /// It cannot be written, or a word is none of them.
    pub fn new(
        mut out: W,
        scenario: &Scenario,
        seed: u64,
        places: Places,
        kinds: &[String],
        first_error: FirstError,
    ) -> io::Result<EventLog<W>> {
        check(kinds).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let (name, version) = (&scenario.name, 1);
        let first = serde_json::json!({
            "t_ns": 0, "event": "run", "scenario": name, "seed": seed, "version": version,
        });
        writeln!(out, "{first}")?;
        let ends = scenario.links.iter().flat_map(|link| {
            let [a, b] = link.ends;
            [[a, b], [b, a]]
        });
        Ok(EventLog {
            out,
            names: scenario.nodes.iter().map(|node| node.name.clone()).collect(),
            ends: ends.collect(),
            places,
            kinds: kinds.to_vec(),
            first_error,
        })
    }

    fn wants(&self, event: &str) -> bool {
        !self.first_error.has_occurred()
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == event))
    }

    fn line(out: &mut W, first_error: &FirstError, line: &impl Serialize) {
        let done = serde_json::to_writer(&mut *out, line).map_err(io::Error::from);
        first_error.note(done.and_then(|()| out.write_all(b"\n")));
    }
}

/// Checks that all of these are words of [`EVENTS`].
///
/// # Errors
///
/// One is not; lists the words.
pub fn check(kinds: &[String]) -> Result<(), String> {
    let words: Vec<&str> = EVENTS.iter().map(|(word, _)| *word).collect();
    match kinds.iter().find(|kind| !words.contains(&kind.as_str())) {
        Some(kind) => {
            let valid = document::valid_words(kind, words);
            Err(format!("there is no event `{kind}`; {valid}"))
        }
        None => Ok(()),
    }
}

fn lost(why: Lost) -> &'static str {
    match why {
        Lost::Loss => "loss",
        Lost::LinkDown => "link-down",
        Lost::NodeDown => "node-down",
    }
}

impl<W: Write + Send> Tracer for EventLog<W> {
    fn packet(&mut self, p: &PacketTrace<'_>) {
        let is_here = match p.link {
            Some((link, _)) => self.places.has_link(link.index() / 2),
            None => self.places.has_node(p.node.index()),
        };
        if !is_here {
            return;
        }
        let (event, reason) = match p.fate {
            Fate::Enqueued => ("enqueued", None),
            Fate::Dropped(reason) => ("dropped", Some(reason.name())),
            Fate::Sent { .. } => ("sent", None),
            Fate::Lost(why) => ("lost", Some(lost(why))),
            Fate::Received => ("received", None),
        };
        let content = read(p.packet, p.kind);
        let direction = p.link.map(|(link, back)| link.index() + usize::from(back));
        let [from, to] = match direction.and_then(|direction| self.ends.get(direction)) {
            Some(ends) => ends.map(|end| Some(self.names[end].as_str())),
            None => [None; 2],
        };
        let mut line = PacketLine {
            t_ns: p.at.0,
            event,
            node: from.is_none().then(|| self.names[p.node.index()].as_str()),
            from,
            to,
            link: direction.map(|direction| direction / 2),
            kind: match p.kind {
                Kind::Interest => "interest",
                Kind::Data => "data",
                Kind::Nack => "nack",
            },
            name: content.name.map(|name| name.to_string()),
            size: p.packet.len(),
            nonce: content.nonce,
            mark: content.mark,
            reason,
            corrupted: matches!(p.fate, Fate::Sent { corrupted: true, .. }),
            duplicated: matches!(p.fate, Fate::Sent { duplicated: true, .. }),
        };
        let (wants, wants_lost) = (self.wants(event), self.wants("lost"));
        if wants {
            Self::line(&mut self.out, &self.first_error, &line);
        }
        if let (Fate::Sent { lost: Some(why), .. }, true) = (p.fate, wants_lost) {
            (line.event, line.reason) = ("lost", Some(lost(why)));
            Self::line(&mut self.out, &self.first_error, &line);
        }
    }

    fn flow(&mut self, f: &FlowTrace<'_>) {
        let event = if f.ended.is_some() { "flow-end" } else { "flow-start" };
        if !self.wants(event) || !self.places.has_node(f.node.index()) {
            return;
        }
        let line = FlowLine {
            t_ns: f.at.0,
            event,
            node: &self.names[f.node.index()],
            flow: f.flow,
            name: f.name.0,
            control: f.name.1,
            complete: f.ended.map(|result| result.transfer.complete),
            bytes: f.ended.map(|result| result.transfer.bytes),
            error: f.ended.and_then(|result| result.transfer.error.as_deref()),
        };
        Self::line(&mut self.out, &self.first_error, &line);
    }

    fn fault(&mut self, at: Time, fault: &Fault) {
        if !self.wants("fault") {
            return;
        }
        let mut line = FaultLine { t_ns: at.0, event: "fault", ..FaultLine::default() };
        // The link and whether its direction is the backward one, and the node.
        let (what, link, node) = match fault {
            Fault::LinkDown(link) => ("link-down", Some((link, false)), None),
            Fault::LinkUp(link) => ("link-up", Some((link, false)), None),
            Fault::NodeCrash(node) => ("node-crash", None, Some(node)),
            Fault::NodeRestart(node) => ("node-restart", None, Some(node)),
            Fault::AddRoute { at, prefix, link, .. } => {
                line.prefix = Some(prefix.to_string());
                ("route-add", Some((link, false)), Some(at))
            }
            Fault::RemoveRoute { at, prefix, link } => {
                line.prefix = Some(prefix.to_string());
                ("route-remove", Some((link, false)), Some(at))
            }
            Fault::Rate { link, backward, rate } => {
                line.rate_bps = rate.map(|Rate(bits)| bits);
                ("link-rate", Some((link, *backward)), None)
            }
            Fault::Delay { link, backward, delay } => {
                line.delay_ns = Some(delay.0);
                ("link-delay", Some((link, *backward)), None)
            }
            Fault::Loss { link, backward, loss } => {
                line.loss = Some(loss.to_string());
                ("link-loss", Some((link, *backward)), None)
            }
        };
        line.what = what;
        line.node = node.and_then(|node| self.names.get(node.index())).map(String::as_str);
        if let Some((link, is_back)) = link {
            let ends = self.ends[link.index() + usize::from(is_back)];
            [line.from, line.to] = ends.map(|end| Some(self.names[end].as_str()));
            line.link = Some(link.index() / 2);
        }
        Self::line(&mut self.out, &self.first_error, &line);
    }
}

impl<W: Write> Drop for EventLog<W> {
    /// Writes what is buffered.
    fn drop(&mut self) {
        let done = self.out.flush();
        self.first_error.note(done);
    }
}

/// The fields read from a packet.
#[derive(Default)]
struct Read<'a> {
    name: Option<NameRef<'a>>,
    nonce: Option<u32>,
    mark: u64,
}

/// Reads a frame or a network packet.
fn read(bytes: &[u8], kind: Kind) -> Read<'_> {
    let (packet, mark) = match LpPacket::decode(bytes) {
        Ok(link) => (link.fragment().unwrap_or_default(), link.congestion_mark()),
        Err(_) => (bytes, 0),
    };
    match kind {
        Kind::Data => {
            let name = Data::decode(packet).ok().map(|data| data.name());
            Read { name, mark, nonce: None }
        }
        Kind::Interest | Kind::Nack => {
            let interest = Interest::decode(packet).ok();
            let nonce = interest.as_ref().and_then(Interest::nonce);
            Read { name: interest.map(|interest| interest.name()), nonce, mark }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_event() {
        let page = include_str!("../../../../docs/reference/traces.md");
        for (event, _) in EVENTS {
            assert!(page.contains(&format!("| `{event}` | ")), "{event}");
        }
        assert!(check(&["lost".to_owned()]).is_ok());
        let why = check(&["losst".to_owned()]).unwrap_err();
        assert!(why.contains("did you mean `lost`?"), "{why}");
    }
}
